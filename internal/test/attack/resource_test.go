package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// maxRSS returns the most memory that a kasoku was seen to hold, in bytes.
//
// The figure of getrusage(2) is of no use here: the kernel counts to it what the process
// held before it became another program (execve), which is all that this test holds.
func maxRSS(p *proc) int64 { return p.held.Load() }

// watchMemory looks, until the process ends, at the most that it has held so far. What
// it takes in its last moment is missed.
func (p *proc) watchMemory() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	path := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	for {
		select {
		case <-tick.C:
		case <-p.ended:
			return
		}
		exe, _ := os.Readlink(path + "exe") // empty when it has gone
		b, _ := os.ReadFile(path + "status")
		_, after, ok := strings.Cut(string(b), "VmHWM:")
		fields := strings.Fields(after)
		if exe != program || !ok || len(fields) == 0 {
			continue // prlimit, which becomes kasoku
		}
		if kb, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			p.held.Store(kb << 10)
		}
	}
}

// limits are what a recorder may lack: a resource of prlimit(1), and how much of it
// there is. Where there is too little it ends with an error, in order or not; never
// with exit code 0 and half a run.
var limits = map[string][]string{
	"files": {"--nofile=8", "--nofile=14", "--nofile=15", "--nofile=16", "--nofile=17", "--nofile=18", "--nofile=19", "--nofile=20",
		"--nofile=21", "--nofile=22", "--nofile=23", "--nofile=24", "--nofile=26", "--nofile=30", "--nofile=60"},
	"memory": {"--as=100000000", "--as=600000000", "--as=1200000000", "--as=1400000000", "--as=1600000000"},
	"disk":   {"--fsize=0", "--fsize=4096", "--fsize=100000", "--fsize=300000"},
	"tasks":  {"--stack=65536", "--core=0", "--cpu=1"},
}

// TestLimits records with too little of each resource. The database is as it was.
func TestLimits(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	st := w.addStore(sandboxtest.MariaDB)
	for _, name := range sorted(limits) {
		tried := limits[name]
		if !whole() {
			tried = []string{tried[w.rand.IntN(len(tried))]}
		}
		for _, limit := range tried {
			w.limited(st, name+" "+limit, []string{"prlimit", limit})
		}
	}
}

func (w *world) limited(st *dbServer, what string, wrap []string) {
	w.Helper()
	w.unchanged(what, func() {
		p := w.startAs(invocation{wrap: wrap, quit: true}, st.recording("limited.kasoku", "sleep", "1")...)
		code := p.wait(patience)
		if code == 0 {
			w.complete(what, w.path("limited.kasoku"))
		} else if len(p.printed()) == 0 && code < signalKilled {
			w.Errorf("%s: exit %d without a word", what, code)
		}
	})
	w.forget("limited.kasoku")
}

// complete wants a run that is whole.
func (w *world) complete(what, path string) {
	w.Helper()
	rec, err := store.Open(path)
	switch {
	case err != nil:
		w.Errorf("%s: exit 0, and %v", what, err)
	case rec.Run.State != kasoku.Finished || len(rec.Damage) > 0:
		w.Errorf("%s: exit 0, and the run is %s, %v", what, rec.Run.State, rec.Damage)
	case len(rec.Series) == 0:
		w.Errorf("%s: exit 0, and the run has no samples", what)
	}
}

func (w *world) forget(name string) {
	paths, _ := filepath.Glob(w.path(name) + "*") // the pattern is good
	for _, path := range paths {
		_ = os.Remove(path)
	}
}

// TestDiskFull fills the file system of the run file, and that of the journal, in the
// middle of a recording. It ends at once and in order; the database is as it was.
func TestDiskFull(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("a file system of its own takes root")
	}
	st := w.addStore(sandboxtest.MariaDB)
	places := []string{"work/small", "state", "tmp"}
	if !whole() {
		places = []string{"work/small", places[1+w.rand.IntN(2)]}
	}
	for _, which := range places {
		for range times(1, 3) {
			w.full(st, which)
		}
	}
}

func (w *world) full(st *dbServer, which string) {
	w.Helper()
	dir := w.mkdir(which)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1500k"); err != nil {
		w.Skipf("no tmpfs: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	file := "full.kasoku"
	if which == "work/small" {
		file = "small/full.kasoku"
	}
	w.unchanged("disk full: "+which, func() {
		p := w.start("record", "--mysql", st.dsn, "--digests", "--interval", "100ms", "--for", "4s", "--out", file)
		if !p.until(func() bool { _, err := os.Stat(w.path(file)); return err == nil }) {
			w.Fatalf("no recording\n%s", tail(p.printed()))
		}
		<-time.After(time.Duration(w.rand.Int64N(int64(1500 * time.Millisecond))))
		filler := filepath.Join(dir, "filler")
		fill(filler)
		code := p.wait(patience)
		if which == "work/small" {
			w.wants("disk full: "+which, code, p.printed(), 3)
		} else {
			w.wants("disk full: "+which, code, p.printed(), 0, 3)
		}
		if n := strings.Count(p.printed(), "kasoku: error:"); n > 1 {
			w.Errorf("disk full: %s: %d lines of errors\n%s", which, n, tail(p.printed()))
		}
		_ = os.Remove(filler)
		if _, err := store.Open(w.path(file)); err != nil && which != "work/small" {
			w.Errorf("disk full: %s: %v", which, err)
		}
		w.run(patience, "restore")
	})
	w.forget("full.kasoku")
}

// fill writes until there is no room.
func fill(path string) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

// TestPorts makes a load with eight local ports, in a network of its own. Requests
// that found no port are counted as failed.
func TestPorts(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("a network of its own takes root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`ip link set lo up; echo 40000 40007 > /proc/sys/net/ipv4/ip_local_port_range
%s %s=web %s & server=$!; until (exec 3<>/dev/tcp/127.0.0.1/8099) 2>/dev/null; do sleep 0.05; done
"$0" "$@"; code=$?; kill $server; exit $code`, "env", helperEnv, self)
	for _, engine := range []string{"epollhttp", "nethttp"} {
		w.unchanged("ports, "+engine, func() {
			code, out := w.runAs(invocation{wrap: []string{"unshare", "-n", "bash", "-c", script}}, patience,
				"attack", "-target", "GET http://127.0.0.1:8099/", "-rate", "50", "-duration", "2s", "-timeout", "2s", "--engine", engine, "-o", "text", "-output", engine+".gob")
			w.wants("ports, "+engine, code, out, 0, 1, 3)
			if !strings.Contains(out, "100") {
				t.Errorf("%s does not count 100 requests\n%s", engine, tail(out))
			}
		})
	}
}
