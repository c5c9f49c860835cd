package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// TestRights records as root, called by sudo and not, with a command and without, beside
// a log, a process and a directory of another user. Once all is open no thread has a
// capability that is not in the table; the sources, logs and queries are those of a
// recording that keeps all rights.
func TestRights(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("only root has rights to give up")
	}
	st := w.addStore(sandboxtest.MariaDB)
	const uid = 61001
	other := w.mkdir("other")
	sleeper := exec.Command("sleep", "1000")
	sleeper.Dir, sleeper.Env = "/", []string{victimMark}
	sleeper.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, Pdeathsig: syscall.SIGKILL}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	if err := os.Chown(other, uid, uid); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(other, 0o700)
	r := rightsCase{w: w, st: st, dir: other, pid: sleeper.Process.Pid}
	sudos, commands := []bool{false, true}, []bool{false, true}
	if !whole() {
		sudos, commands = sudos[w.rand.IntN(2):][:1], commands[w.rand.IntN(2):][:1]
	}
	for _, sudo := range sudos {
		for _, command := range commands {
			all, _ := r.record(sudo, command, true)
			less, capabilities := r.record(sudo, command, false)
			what := fmt.Sprintf("sudo %t, command %t", sudo, command)
			if d := (snapshot(all)).compare(less); len(d) > 0 {
				t.Errorf("%s: with all rights, and without: %s", what, strings.Join(d, "\n"))
			}
			w.wantCapabilities(what, capabilities, sudo, command)
		}
	}
}

// A rightsCase is a recording beside what belongs to another user.
type rightsCase struct {
	w   *world
	st  *dbServer
	dir string // the other's, closed to all others
	pid int    // of the other's process
	n   int
}

// record makes a recording and returns what it has, and what each of its threads may.
func (r *rightsCase) record(sudo, command, keep bool) (has snapshot, capabilities map[string]bool) {
	r.w.Helper()
	r.n++
	log := filepath.Join(r.dir, fmt.Sprintf("access-%d.log", r.n))
	for _, err := range []error{os.WriteFile(log, nil, 0o600), os.Chown(log, 61001, 61001)} {
		if err != nil {
			r.w.Fatal(err)
		}
	}
	file := filepath.Join(r.dir, fmt.Sprintf("run-%d.kasoku", r.n))
	args := []string{"record", "--mysql", r.st.dsn, "--digests", "--accesslog", log, "--pid", fmt.Sprint(r.pid), "--interval", "100ms", "--out", file}
	if keep {
		args = append(args, "--keep-rights")
	}
	done := filepath.Join(r.dir, fmt.Sprintf("done-%d", r.n))
	if command {
		args = append(args, "--", "sh", "-c", `until [ -e "$0" ]; do sleep 0.05; done`, done)
	}
	i := invocation{}
	if sudo {
		i.env = []string{"SUDO_UID=61001", "SUDO_GID=61001", "SUDO_USER=other"}
	}
	p := r.w.startAs(i, args...)
	began := func() bool { _, err := os.Stat(file + "-wal"); return err == nil }
	if !p.until(began) {
		r.w.Fatalf("no recording\n%s", tail(p.printed()))
	}
	opened := func() bool { rec, err := store.Open(file); return err == nil && len(rec.Series) > 0 }
	if !p.until(opened) {
		r.w.Fatalf("nothing is sampled\n%s", tail(p.printed()))
	}
	dropped := func() bool {
		capabilities = rightsOf(p.cmd.Process.Pid)
		return capabilities["Seccomp: 2"] && !capabilities["Seccomp: 0"] // the last that it gives up
	}
	if !keep && !p.until(dropped) {
		r.w.Fatalf("it gave up nothing\n%s", tail(p.printed()))
	}
	sandboxtest.Exec(r.w, r.st.db, "SELECT 'during the recording'")
	appendTo(r.w, log, strings.Repeat(accessLine(time.Now(), "/a"), 20))
	if err := os.Rename(log, log+".1"); err != nil {
		r.w.Fatal(err)
	}
	for _, err := range []error{os.WriteFile(log, []byte(strings.Repeat(accessLine(time.Now(), "/a"), 20)), 0o600), os.Chown(log, 61001, 61001)} {
		if err != nil {
			r.w.Fatal(err)
		}
	}
	info, err := os.Stat(log)
	if err != nil {
		r.w.Fatal(err)
	}
	r.w.seriesOf(file, func(s kasoku.Series) bool {
		return s.Key.Source == "log" && s.Key.Instance == log && s.Points[len(s.Points)-1].Value == float64(info.Size())
	})
	if !command {
		p.signal(syscall.SIGINT) // it was to go on until then
	} else if err := os.WriteFile(done, nil, 0o644); err != nil {
		r.w.Fatal(err)
	}
	r.w.wants("record", p.wait(patience), p.printed(), 0)
	rec, err := store.Open(file)
	if err != nil {
		r.w.Fatal(err)
	}
	return r.holdings(rec), capabilities
}

// holdings are the sources of a recording, the series of the other user's process and of
// the server's listener, how much of the log it has, and its warnings but those of a
// busy machine.
func (r *rightsCase) holdings(rec *kasoku.Recording) snapshot {
	s := snapshot{}
	for i := range rec.Series {
		key := rec.Series[i].Key
		s["source "+key.Source] = ""
		if strings.HasPrefix(key.Instance, fmt.Sprint(r.pid)+" ") || strings.Contains(key.Instance, fmt.Sprintf(":%d ", r.st.s.Port)) {
			s["series "+key.Source+" "+key.Name+" "+key.Instance] = ""
		}
	}
	for _, e := range rec.Endpoints {
		s["endpoint "+e.Method+" "+e.Route] = fmt.Sprint(e.Count)
	}
	if len(rec.Queries) == 0 {
		s["queries"] = "none"
	}
	for _, c := range rec.Changes {
		if c.Name == "sessions" { // as many as happened to be open
			continue
		}
		s["change "+c.Name] = fmt.Sprint(c.Restored)
	}
	for _, warning := range rec.Warnings {
		if !slices.Contains([]string{"sampler-missed", "sampler-late", "not-captured", "slow-log-partial", "sockets-partial"}, warning.Code) {
			s["warning "+warning.Code] = ""
		}
	}
	return s
}

// rightsOf returns the lines of rights of all threads of a process.
func rightsOf(pid int) map[string]bool {
	out := map[string]bool{}
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid)) // the pattern is good
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		for line := range strings.Lines(string(b)) {
			for _, name := range []string{"CapPrm:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:"} {
				if strings.HasPrefix(line, name) {
					out[strings.Join(strings.Fields(line), " ")] = true
				}
			}
		}
	}
	return out
}

// wantCapabilities wants these on all threads: CAP_SYS_PTRACE (bit 19) and
// CAP_DAC_READ_SEARCH (2); CAP_KILL (5) with a command; to write into the other's
// directory CAP_CHOWN (0), CAP_DAC_OVERRIDE (1) and CAP_FOWNER (3).
func (w *world) wantCapabilities(what string, is map[string]bool, _, command bool) {
	w.Helper()
	bits := 1<<19 | 1<<2 | 1<<0 | 1<<1 | 1<<3
	if command {
		bits |= 1 << 5
	}
	want := map[string]bool{"NoNewPrivs: 1": true, "Seccomp: 2": true}
	for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
		want[fmt.Sprintf("%s: %016x", set, bits)] = true
	}
	if fmt.Sprint(is) != fmt.Sprint(want) {
		w.Errorf("%s: the recorder's threads have %v, want %v", what, is, want)
	}
}
