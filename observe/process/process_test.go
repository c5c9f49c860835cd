package process

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"

	"github.com/kasoku/kasoku/internal/confine"

	kasoku "github.com/kasoku/kasoku"
)

const fixture = "testdata/two-servers.txtar"

// unpack writes the fixture to a new directory.
func unpack(t testing.TB) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range archive.Files {
		data := f.Data
		if filepath.Base(f.Name) == "cmdline" {
			data = bytes.ReplaceAll(data, []byte("\n"), []byte{0})
		}
		write(t, dir, f.Name, string(data))
	}
	return dir
}

func write(t testing.TB, dir, path, content string) {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o Options) *Source {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s.r.kept != 0 {
			t.Errorf("%d files are open", s.r.kept)
		}
	})
	return s
}

func collect(t testing.TB, s *Source) *kasoku.Frame {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

// instances returns the processes of a frame, in its order.
func instances(f *kasoku.Frame) []string {
	var out []string
	for _, s := range f.Samples {
		if s.Name == "cpu.user" && !slices.Contains(out, s.Instance) {
			out = append(out, s.Instance)
		}
	}
	return out
}

func find(f *kasoku.Frame, name, instance string) *kasoku.Sample {
	for i := range f.Samples {
		if s := &f.Samples[i]; s.Name == name && s.Instance == instance {
			return s
		}
	}
	return nil
}

// line makes a stat line.
func line(pid int, comm string, state byte, cpu, threads, start uint64) string {
	return fmt.Sprintf("%d (%s) %c 1 1 1 0 -1 4194560 0 0 0 0 %d 0 0 0 20 0 %d 0 %d 1598693376 1770 0\n", pid, comm, state, cpu, threads, start)
}

func TestCollect(t *testing.T) {
	s := open(t, Options{Proc: unpack(t), PIDs: []int{1204}})
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
	f("count", "", kasoku.Gauge, "count", 4)
	f("cpu.user", "1204 userapi", kasoku.Counter, "s", 0.15)
	f("cpu.system", "1204 userapi", kasoku.Counter, "s", 0.01)
	f("rss", "1204 userapi", kasoku.Gauge, "bytes", 1770*float64(os.Getpagesize()))
	f("threads", "1204 userapi", kasoku.Gauge, "count", 5)
	f("fds", "1204 userapi", kasoku.Gauge, "count", 4)
	f("fds_limit", "1204 userapi", kasoku.Gauge, "count", 20000)
	f("io.read_bytes", "1204 userapi", kasoku.Counter, "bytes", 0)
	f("io.write_bytes", "1204 userapi", kasoku.Counter, "bytes", 0)
	f("io.write_calls", "1204 userapi", kasoku.Counter, "count", 5)
	f("switch.voluntary", "1204 userapi", kasoku.Counter, "count", 0)
	f("switch.forced", "1204 userapi", kasoku.Counter, "count", 0)
	// The kernel cuts names at 15 characters; the command line has the rest.
	f("cpu.user", "1300 mariadbd-worker-long-name", kasoku.Counter, "s", 0.15)
	if len(s.Warnings()) != 0 || len(s.Events()) != 0 {
		t.Fatal(s.Warnings(), s.Events())
	}
}

// At the first tick the rank is by CPU time since the start, later by CPU time
// since the tick before.
func TestTopByCPU(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: 2})
	f := func(want ...string) {
		t.Helper()
		if got := instances(collect(t, s)); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f("45 kworker/0:0H", "1300 mariadbd-worker-long-name")
	f() // no process used any
	write(t, dir, "1300/stat", line(1300, "mariadbd-worker", 'S', 18, 6, 188446))
	write(t, dir, "1204/stat", line(1204, "userapi", 'S', 26, 5, 188446))
	f("1204 userapi", "1300 mariadbd-worker-long-name")
	write(t, dir, "1300/stat", line(1300, "mariadbd-worker", 'S', 20, 6, 188446))
	f("1300 mariadbd-worker-long-name")
	// A new process has series from the second tick that sees it, and counts from its start.
	write(t, dir, "2000/stat", line(2000, "gzip", 'R', 90, 1, 188900))
	f()
	write(t, dir, "2000/stat", line(2000, "gzip", 'R', 180, 1, 188900))
	f("2000 gzip")
}

// TestTopOfTrees: processes of trees have series before busier ones, half of which stay.
func TestTopOfTrees(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Proc: dir, Top: 5})
	tick := func(cpu uint64) []string {
		for pid := 10; pid < 14; pid++ {
			write(t, dir, fmt.Sprintf("%d/stat", pid), child(pid, max(10, pid-1)%pid, "fpm", uint64(20-pid)*cpu, 0))
		}
		for pid := 90; pid < 96; pid++ {
			write(t, dir, fmt.Sprintf("%d/stat", pid), child(pid, 1, "cc1", uint64(pid)*cpu, 0))
		}
		return instances(collect(t, s))
	}
	tick(1)
	if got := tick(2); !slices.Equal(got, []string{"95 cc1", "94 cc1", "93 cc1", "92 cc1", "91 cc1"}) {
		t.Fatalf("without a tree: %q", got)
	}
	s.AddTree(10)
	if got := tick(3); !slices.Equal(got, []string{"10 fpm", "11 fpm", "12 fpm", "95 cc1", "94 cc1"}) {
		t.Fatalf("with a tree: %q", got)
	}
	for pid := 91; pid < 96; pid++ {
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint(pid))); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "90/stat", child(90, 1, "cc1", 90*3, 0))
	for pid := 10; pid < 14; pid++ {
		write(t, dir, fmt.Sprintf("%d/stat", pid), child(pid, max(10, pid-1)%pid, "fpm", uint64(20-pid)*4, 0))
	}
	if got := instances(collect(t, s)); !slices.Equal(got, []string{"10 fpm", "11 fpm", "12 fpm", "13 fpm"}) {
		t.Fatalf("beside idle ones: %q", got)
	}
}

// TestManyComeAndGo: what a build starts for a few seconds each does not fill the
// file, and what stays is watched none the less.
func TestManyComeAndGo(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: 5})
	const ticks, lives = 300, 3
	seen := map[string]bool{}
	for tick := range ticks {
		for back := range lives { // the last ones that began
			pid := 10_000 + tick - back
			write(t, dir, fmt.Sprintf("%d/stat", pid), line(pid, "cc1", 'R', uint64(30*(back+1)), 1, uint64(100*pid)))
		}
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint(10_000+tick-lives))); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "9000/stat", line(9000, "userapi", 'R', uint64(50*tick), 1, 188_900))
		for _, name := range instances(collect(t, s)) {
			seen[name] = true
		}
	}
	if !seen["9000 userapi"] || len(seen) > (lives-1)*lastingShare+10 {
		t.Errorf("%d of %d processes have series; the one that stays: %v", len(seen), ticks, seen["9000 userapi"])
	}
}

func TestNamedAreAlwaysThere(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{841}})
	f := func(want ...string) {
		t.Helper()
		if got := instances(collect(t, s)); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f("841 bash")
	s.Add(1204)
	f("841 bash", "1204 userapi")
	f("841 bash", "1204 userapi")
}

func TestExitIsAnEvent(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{1204, 841}})
	f := func(want ...string) {
		t.Helper()
		collect(t, s)
		var got []string
		for _, e := range s.Events() {
			got = append(got, e.Kind+": "+e.Text)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f()
	if err := os.RemoveAll(filepath.Join(dir, "1300")); err != nil {
		t.Fatal(err)
	}
	f() // not named
	if err := os.RemoveAll(filepath.Join(dir, "1204")); err != nil {
		t.Fatal(err)
	}
	f("exit: process 1204 userapi exited")
	// Its first thread has ended, but others live on.
	write(t, dir, "841/stat", line(841, "bash", 'Z', 9, 3, 77094))
	f()
	write(t, dir, "841/stat", line(841, "bash", 'Z', 9, 1, 77094))
	f("exit: process 841 bash exited")
	f()
	s.Add(99)
	f("exit: process 99 does not exist")
	f()
}

// A number that was given to another process is not the named process.
func TestReusedNumber(t *testing.T) {
	for _, kept := range []int{maxKept, 0} {
		t.Run(fmt.Sprint("kept=", kept), func(t *testing.T) {
			dir := unpack(t)
			s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{1204}})
			s.r.keptMax = kept
			collect(t, s)
			write(t, dir, "1204/stat", line(1204, "cron", 'S', 3, 1, 200000))
			frame := collect(t, s)
			if got := instances(frame); len(got) != 0 {
				t.Fatal(got)
			}
			if e := s.Events(); len(e) != 1 || e[0].Text != "process 1204 userapi exited" {
				t.Fatal(e)
			}
			if find(frame, "count", "").Value != 4 {
				t.Fatal(frame)
			}
		})
	}
}

func TestNameChanges(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{841}})
	f := func(comm, want string) {
		t.Helper()
		write(t, dir, "841/stat", line(841, comm, 'S', 7, 1, 77094))
		if got := instances(collect(t, s)); len(got) != 1 || got[0] != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f("bash", "841 bash")
	f("userapi", "841 userapi") // exec
	f("a) R (b", "841 a) R (b")
	f("\x1b[31m\xff", "841 ?[31m?")
	f("too often", "841 ?[31m?")
}

func TestSwitchesNeverFall(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{1204}})
	cpu := uint64(100)
	f := func(voluntary, forced float64) {
		t.Helper()
		cpu++ // of a process that used none nothing is read
		write(t, dir, "1204/stat", line(1204, "userapi", 'S', cpu, 5, 188446))
		frame := collect(t, s)
		v, n := find(frame, "switch.voluntary", "1204 userapi"), find(frame, "switch.forced", "1204 userapi")
		if v.Value != voluntary || n.Value != forced {
			t.Fatalf("got %v and %v, want %v and %v", v.Value, n.Value, voluntary, forced)
		}
	}
	thread := func(tid, voluntary, forced int) {
		t.Helper()
		write(t, dir, fmt.Sprintf("1204/task/%d/status", tid),
			fmt.Sprintf("Name:\tuserapi\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary, forced))
	}
	f(0, 0)
	thread(1204, 751, 191) // +10, +1
	f(10, 1)
	thread(1210, 5, 2) // a new thread counts whole
	f(15, 3)
	if err := os.RemoveAll(filepath.Join(dir, "1204/task/1206")); err != nil {
		t.Fatal(err)
	}
	f(15, 3)
	thread(1210, 1, 1) // its number was reused
	f(16, 4)
}

// With more threads than are read at one tick, all have their turn.
func TestManyThreads(t *testing.T) {
	const threads = 100
	dir := unpack(t)
	status := func(n int) {
		for i := range threads {
			write(t, dir, fmt.Sprintf("1204/task/%d/status", 2000+i),
				fmt.Sprintf("Name:\tuserapi\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", n, 2*n))
		}
	}
	status(1000)
	s := open(t, Options{Proc: dir, Top: -1, PIDs: []int{1204}})
	rounds := (threads+3)/threadsOfNamed + 1
	var last *kasoku.Frame
	cpu := uint64(100)
	read := func() {
		for range rounds {
			cpu++
			write(t, dir, "1204/stat", line(1204, "userapi", 'S', cpu, threads, 188446))
			last = collect(t, s)
		}
	}
	read()
	status(1010)
	read()
	if got := find(last, "switch.voluntary", "1204 userapi").Value; got != 10*threads {
		t.Fatal(got)
	}
	if got := find(last, "switch.forced", "1204 userapi").Value; got != 20*threads {
		t.Fatal(got)
	}
	if got := len(s.table.procs[1204].switches.threads); got != threads+3 {
		t.Fatal(got)
	}
}

func TestBadFilesAreWarnedAboutOnce(t *testing.T) {
	dir := unpack(t)
	write(t, dir, "1204/io", "rubbish\n")
	write(t, dir, "841/stat", "841 (bash) S x\n")
	s := open(t, Options{Proc: dir, PIDs: []int{1204}})
	collect(t, s)
	frame := collect(t, s)
	if find(frame, "io.read_bytes", "1204 userapi") != nil || find(frame, "cpu.user", "1204 userapi") == nil {
		t.Fatal(frame)
	}
	if w := s.Warnings(); len(w) != 1 || w[0].Hint == "" {
		t.Fatalf("%+v", w)
	}
}

func TestNew_Failure(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	f(Options{Proc: filepath.Join(t.TempDir(), "none")}, "no such file")
	f(Options{PIDs: []int{1 << 30}}, "watch process 1073741824: no such process")
	f(Options{PIDs: []int{-1}}, "watch process -1")
}

// Short of descriptors, processes live on and only their long files are missing.
func TestShortOfDescriptors(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, PIDs: []int{1204, 841}})
	s.r.keptMax = 3
	for range 2 {
		frame := collect(t, s)
		if find(frame, "cpu.user", "1204 userapi") == nil || find(frame, "cpu.user", "841 bash") == nil {
			t.Fatal(frame)
		}
		if find(frame, "fds", "1204 userapi") != nil {
			t.Fatal("long files were opened")
		}
		if find(frame, "count", "").Value != 4 {
			t.Fatal(frame)
		}
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0].Hint, "ulimit") || len(s.Events()) != 0 {
		t.Fatalf("%+v", w)
	}
}

// Without any descriptor left nothing can be read, but no process has ended.
func TestUnreadIsNotGone(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir, PIDs: []int{1204}})
	s.r.keptMax = 0
	collect(t, s)
	path := filepath.Join(dir, "1204/stat") // becomes a link to itself: ELOOP, for root too
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path); err != nil {
		t.Fatal(err)
	}
	frame := collect(t, s)
	if e := s.Events(); len(e) != 0 || find(frame, "count", "").Value != 4 || find(frame, "cpu.user", "1204 userapi") != nil {
		t.Fatal(e, frame)
	}
}

// Files are closed some time after a process left the watched ones, and when it goes.
func TestFilesAreClosed(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	dir := unpack(t)
	s, err := New(Options{Proc: dir})
	if err != nil {
		t.Fatal(err)
	}
	collect(t, s)
	high := count()
	for range lingerTicks + 1 {
		collect(t, s)
	}
	if got := count(); got >= high {
		t.Fatalf("%d files, %d while watched", got, high)
	}
	for pid := range maps.Clone(s.table.procs) {
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint(pid))); err != nil {
			t.Fatal(err)
		}
	}
	collect(t, s)
	if got := count(); got != before+1 || len(s.table.procs) != 0 || s.r.kept != 0 {
		t.Fatalf("%d files, %d processes", got, len(s.table.procs))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != before {
		t.Fatalf("%d files, %d before", got, before)
	}
}

// TestOfInit: what root is refused of the first process is not said; of any
// other process it is.
func TestOfInit(t *testing.T) {
	f := func(path string, err error, want int) {
		t.Helper()
		m := missing{warned: map[string]bool{}}
		m.unreadable(&fs.PathError{Op: "read", Path: path, Err: err})
		if len(m.warnings) != want {
			t.Errorf("%s %v: %+v, want %d", path, err, m.warnings, want)
		}
	}
	silent := 0
	if os.Geteuid() != 0 {
		silent = 1
	}
	f("/proc/1/io", unix.EACCES, silent)
	f("/proc/1/io", unix.EIO, 1)
	f("/proc/11/io", unix.EACCES, 1)
	f("/proc/11/io", unix.ESRCH, 0)
}

// TestUnreadableHint: that a capability is missing is said only where it is.
func TestUnreadableHint(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the hint is to run as root then
	}
	held, err := confine.Held()
	if err != nil {
		t.Fatal(err)
	}
	m := missing{warned: map[string]bool{}}
	m.unreadable(&fs.PathError{Op: "read", Path: "/proc/11/io", Err: unix.EACCES})
	lacks := strings.Contains(m.warnings[0].Hint, "lacks the capability")
	if lacks == held.Has(unix.CAP_SYS_PTRACE) {
		t.Errorf("%q, and the capabilities held are %v", m.warnings[0].Hint, held)
	}
}
