package attack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// TestRunSignals sends signals to `kasoku run` at random moments, with a command and
// without. It ends in order: the run so far is kept and says why it is not whole, the
// database is as it was, the exit code is 3, and the command has gone.
func TestRunSignals(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	st := w.addStore(sandboxtest.MariaDB)
	log := w.write("access.log", "")
	loads := map[string]string{
		"command": "command = ['sh', '-c', 'sleep 1000 & sleep 1000']",
		"for":     "for = '1000s'",
	}
	var longest time.Duration
	for _, name := range sorted(loads) {
		w.write("kasoku.toml", fmt.Sprintf("interval = '100ms'\n[load]\n%s\n[mysql]\ndsn = '%s'\ndigests = true\n"+
			"[logs]\naccess = ['%s']\n", loads[name], st.dsn, log))
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			for range times(1, 6) {
				longest = max(longest, w.stoppedRun(name, s))
			}
		}
	}
	t.Logf("the longest way from a signal to the end took %.2f s", longest.Seconds())
}

// stoppedRun stops one run and returns how long its end took.
func (w *world) stoppedRun(name string, s syscall.Signal) (took time.Duration) {
	w.Helper()
	moment := time.Duration(w.rand.Int64N(int64(1500 * time.Millisecond)))
	what := fmt.Sprintf("run, %s, %s after %s", name, s, moment)
	w.unchanged(what, func() {
		p := w.start("run", "--label", "stopped")
		select {
		case <-time.After(moment):
		case <-p.ended:
		}
		_, err := os.Stat(w.path("runs")) // made before it takes signals in order
		p.signal(s)
		began := time.Now()
		code := p.wait(patience)
		took = time.Since(began)
		if err != nil && code == signalKilled+int(s) {
			return // it had not begun
		}
		w.wants(what, code, p.printed(), 3)
		w.keptRun(what, p)
	})
	_ = os.RemoveAll(w.path("runs"))
	return took
}

// keptRun wants the run so far, when one had begun.
func (w *world) keptRun(what string, p *proc) {
	w.Helper()
	paths, _ := filepath.Glob(w.path("runs") + "/*" + store.Extension) // the pattern is good
	for _, path := range paths {
		rec, err := store.Open(path)
		if err != nil {
			w.Errorf("%s: %v\n%s", what, err, tail(p.printed()))
			continue
		}
		if rec.Run.State != kasoku.Incomplete || rec.Run.StopReason == "" {
			w.Errorf("%s: the run is %s, stopped for %q", what, rec.Run.State, rec.Run.StopReason)
		}
		for _, c := range rec.Changes {
			if !c.Restored {
				w.Errorf("%s: %+v", what, c)
			}
		}
	}
}

// beLab starts private servers, as a lab does, and waits to be killed.
func beLab() {
	_, err := sandbox.Nginx(context.Background(), sandbox.NginxOptions{})
	if err == nil {
		_, err = sandbox.MariaDB(context.Background(), sandbox.Options{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = os.WriteFile(os.Getenv("LAB_READY"), nil, 0o600)
	select {}
}

// TestKilledLab kills what has started private servers with -9. They end, and the next
// start of kasoku removes their directories.
func TestKilledLab(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.unchanged("a killed lab", func() {
		ready := w.path("ready")
		lab := exec.Command(self)
		lab.Env = append(w.env(), helperEnv+"=lab", "LAB_READY="+ready)
		if cache, err := os.UserCacheDir(); err == nil { // with the data directory that all tests copy
			lab.Env = append(lab.Env, "XDG_CACHE_HOME="+cache)
		}
		var said strings.Builder
		lab.Stderr = &said
		lab.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := lab.Start(); err != nil {
			t.Fatal(err)
		}
		if !eventually(func() bool { _, err := os.Stat(ready); return err == nil }) {
			t.Errorf("the servers do not start: %s", said.String())
		}
		_ = lab.Process.Kill()
		_ = lab.Wait()
		left, _ := filepath.Glob(filepath.Join(w.dir, "tmp", "kasoku-server-*")) // the pattern is good
		if len(left) < 2 {
			t.Errorf("directories of two servers should be left: %v", left)
		}
		if !eventually(func() bool { return len(w.processes()) == 0 }) {
			t.Error("the servers live on")
		}
		code, out := w.run(patience, "list")
		w.wants("list", code, out, 0)
	})
}
