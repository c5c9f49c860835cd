package host

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/observetest"
)

// unpack writes a txtar fixture to a new directory.
func unpack(t testing.TB, fixture string) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options(dir string) Options {
	return Options{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys")}
}

func collect(t testing.TB, s *Source) *kasoku.Frame {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func find(f *kasoku.Frame, name, instance string) *kasoku.Sample {
	for i := range f.Samples {
		if s := &f.Samples[i]; s.Name == name && s.Instance == instance {
			return s
		}
	}
	return nil
}

func TestCollect(t *testing.T) {
	s, err := New(options(unpack(t, "testdata/debian12.txtar")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frame := collect(t, s)

	f := func(name, instance string, kind kasoku.Kind, unit string, want float64) {
		t.Helper()
		got := find(frame, name, instance)
		if got == nil {
			t.Fatalf("no %s %q", name, instance)
		}
		if got.Kind != kind || got.Unit != unit || math.Abs(got.Value-want) > 1e-9*max(1, want) {
			t.Fatalf("%s %q = %+v, want %v %s", name, instance, *got, want, unit)
		}
	}
	f("cpu.user", "", kasoku.Counter, "s", 191.58)
	f("cpu.nice", "cpu0", kasoku.Counter, "s", 0.32)
	f("cpu.system", "cpu1", kasoku.Counter, "s", 50.96)
	f("cpu.idle", "", kasoku.Counter, "s", 2364.78)
	f("cpu.iowait", "", kasoku.Counter, "s", 10.05)
	f("cpu.irq", "", kasoku.Counter, "s", 0)
	f("cpu.softirq", "", kasoku.Counter, "s", 17.84)
	f("cpu.steal", "", kasoku.Counter, "s", 0.18)
	f("ctxt", "", kasoku.Counter, "count", 6040793)
	f("forks", "", kasoku.Counter, "count", 22142)
	f("procs.running", "", kasoku.Gauge, "count", 5)
	f("procs.blocked", "", kasoku.Gauge, "count", 0)
	f("mem.total", "", kasoku.Gauge, "bytes", 24684092*1024)
	f("mem.available", "", kasoku.Gauge, "bytes", 23394132*1024)
	f("mem.free", "", kasoku.Gauge, "bytes", 22999504*1024)
	f("mem.cached", "", kasoku.Gauge, "bytes", 533000*1024)
	f("mem.dirty", "", kasoku.Gauge, "bytes", 84140*1024)
	f("mem.swap_used", "", kasoku.Gauge, "bytes", 0)
	f("load.1", "", kasoku.Gauge, "count", 6.40)
	f("vm.pgmajfault", "", kasoku.Counter, "count", 3243)
	f("vm.pswpin", "", kasoku.Counter, "count", 0)
	f("vm.pswpout", "", kasoku.Counter, "count", 0)
	f("vm.oom_kill", "", kasoku.Counter, "count", 0)
	f("vm.allocstall", "", kasoku.Counter, "count", 47)
	f("intr", "", kasoku.Counter, "count", 2126956)
	f("softirq.net_rx", "", kasoku.Counter, "count", 2844143)
	f("softirq.rcu", "", kasoku.Counter, "count", 81243)
	f("softnet.processed", "", kasoku.Counter, "count", 0x19226c8e+0x1734a04d)
	f("softnet.dropped", "", kasoku.Counter, "count", 0x14bc+0x16b3)
	f("softnet.squeezed", "", kasoku.Counter, "count", 26)
	f("mem.slab", "", kasoku.Gauge, "bytes", 181976*1024)
	f("mem.writeback", "", kasoku.Gauge, "bytes", 0)
	f("vm.refault_file", "", kasoku.Counter, "count", 413095)
	f("psi.irq.full", "", kasoku.Counter, "s", 2.5)
	f("tcp.timeouts", "", kasoku.Counter, "count", 2)
	f("tcp.syncookies", "", kasoku.Counter, "count", 0)
	f("conntrack.count", "", kasoku.Gauge, "count", 26)
	f("conntrack.max", "", kasoku.Gauge, "count", 262144)
	f("conntrack.drops", "", kasoku.Counter, "count", 0x15)
	f("tasks", "", kasoku.Gauge, "count", 317)
	f("tasks.max", "", kasoku.Gauge, "count", 193000)
	f("pids.max", "", kasoku.Gauge, "count", 4194304)
	if len(s.Warnings()) != 0 {
		t.Fatal(s.Warnings())
	}
}

func TestCollectDevices(t *testing.T) {
	dir := unpack(t, "testdata/debian12.txtar")
	write(t, dir, "diskstats", ` 254       0 vda 59089 8610 3031474 15810 33517 34538 5123848 12970 0 8052 29593 9473 15 979672 615 4689 197
 254       1 vda1 59000 8610 3031000 15000 33517 34538 5123848 12970 0 8052 29593 9473 15 979672 615 0 0
   7       0 loop0 7 0 14 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
`)
	s, err := New(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frame := collect(t, s)
	f := func(name, instance string, want float64) {
		t.Helper()
		if got := find(frame, name, instance); got == nil || got.Value != want || got.Kind != kasoku.Counter {
			t.Fatalf("%s %q = %+v, want %v", name, instance, got, want)
		}
	}
	f("disk.reads", "vda", 59089)
	f("disk.read_bytes", "vda", 3031474*512)
	f("disk.read_time", "vda", 15.81)
	f("disk.writes", "vda", 33517)
	f("disk.write_bytes", "vda", 5123848*512)
	f("disk.write_time", "vda", 12.97)
	f("disk.busy", "vda", 8.052)
	f("disk.queue_time", "vda", 29.593)
	f("disk.flushes", "vda", 4689)
	f("disk.flush_time", "vda", 0.197)

	// Partitions, loop devices and what was never used are left out.
	var instances []string
	for _, sample := range frame.Samples {
		if sample.Instance != "" && !strings.HasPrefix(sample.Instance, "cpu") && !slices.Contains(instances, sample.Instance) {
			instances = append(instances, sample.Instance)
		}
	}
	if want := []string{"vda", "lo", "eth0"}; !slices.Equal(instances, want) {
		t.Fatalf("instances %q, want %q", instances, want)
	}
}

func TestMissingFilesAreAbsent(t *testing.T) {
	dir := unpack(t, "testdata/debian12.txtar")
	for _, path := range []string{"pressure", "net/netstat", "vmstat"} {
		if err := os.RemoveAll(filepath.Join(dir, "proc", path)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frame := collect(t, s)
	for _, name := range []string{"psi.cpu.some", "tcp.listen_drops", "vm.oom_kill"} {
		if find(frame, name, "") != nil {
			t.Fatalf("%s is there", name)
		}
	}
	if find(frame, "tcp.retrans", "") == nil || len(s.Warnings()) != 0 {
		t.Fatal(s.Warnings())
	}
}

// A file that turns to rubbish costs its own series and one warning.
func TestBadFileIsWarnedAboutOnce(t *testing.T) {
	dir := unpack(t, "testdata/debian12.txtar")
	write(t, dir, "diskstats", "254 0 vda 1 2 x\n")
	s, err := New(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	collect(t, s)
	frame := collect(t, s)
	if find(frame, "disk.reads", "vda") != nil || find(frame, "cpu.user", "") == nil {
		t.Fatal("wrong series")
	}
	w := s.Warnings()
	if len(w) != 1 || !strings.Contains(w[0].Text, `diskstats: bad line "254 0 vda 1 2 x"`) {
		t.Fatalf("%+v", w)
	}
}

func TestRequiredFiles(t *testing.T) {
	if _, err := New(Options{Proc: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "stat: no such file") {
		t.Fatal(err)
	}
	dir := unpack(t, "testdata/debian12.txtar")
	s, err := New(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, dir, "meminfo", "rubbish\n")
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err == nil || !strings.Contains(err.Error(), "meminfo: no known line") {
		t.Fatal(err)
	}
}

// The kernel lets iowait fall a little; the series must not.
func TestIdleTimesNeverFall(t *testing.T) {
	dir := unpack(t, "testdata/debian12.txtar")
	s, err := New(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := func(line string, idle, iowait float64) {
		t.Helper()
		write(t, dir, "stat", line+"\ncpu0 1 1 1 1 1 1 1 1\n")
		frame := collect(t, s)
		if got := find(frame, "cpu.idle", "").Value; got != idle {
			t.Fatalf("idle %v, want %v", got, idle)
		}
		if got := find(frame, "cpu.iowait", "").Value; got != iowait {
			t.Fatalf("iowait %v, want %v", got, iowait)
		}
	}
	f("cpu 0 0 0 1000 500 0 0 0 0 0", 10, 5)
	f("cpu 0 0 0 999 499 0 0 0 0 0", 10, 5)
	f("cpu 0 0 0 1001 501 0 0 0 0 0", 10.01, 5.01)
}

// absentHere are the signals that a kernel or a machine may lack.
func absentHere() observetest.Absent {
	out := observetest.Absent{VMOOMKill: "Linux before 4.13", VMRefaultFile: "Linux before 5.9", TCPReceiveQueueDrops: "Linux before 5.1"}
	for _, x := range Declared.Signals {
		switch family, _, _ := strings.Cut(x.Key, "."); {
		case family == "psi":
			out[x.Key] = "switched off, or Linux before 4.20"
		case family == "conntrack":
			out[x.Key] = "no module that tracks connections"
		case x.Entity == "disk":
			out[x.Key] = "a container without disks of its own"
		}
	}
	return out
}

func TestThisMachine(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := collect(t, s), collect(t, s)
	observetest.Sampled(t, &Declared, slices.Concat(a.Samples, b.Samples), absentHere())
	for _, name := range []string{"cpu.user", "cpu.idle", "mem.available", "tcp.established", "files.open", "load.1"} {
		if find(a, name, "") == nil {
			t.Fatalf("no %s", name)
		}
	}
	for _, sample := range b.Samples {
		if was := find(a, sample.Name, sample.Instance); was != nil && sample.Kind == kasoku.Counter && sample.Value < was.Value {
			t.Fatalf("counter fell: %+v, %+v", was, sample)
		}
	}
	if len(s.Warnings()) != 0 {
		t.Fatal(s.Warnings())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err == nil {
		t.Fatal("collected after close")
	}
}

func write(t testing.TB, dir, path, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "proc", path), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
