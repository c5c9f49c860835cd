package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// started returns a supervisor with one unit of a shell script, which is stopped
// at the end of the test.
func started(t *testing.T, script string, change func(*Unit)) (s *Supervisor, log string) {
	t.Helper()
	u := Unit{Name: "app", Command: []string{"sh", "-c", script}, Log: filepath.Join(t.TempDir(), "app.log"), RestartAfter: time.Millisecond}
	if change != nil {
		change(&u)
	}
	s, err := New(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, u.Log
}

func await(t *testing.T, s *Supervisor, want Active) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	st, err := s.Await(ctx, "app", func(st State) bool { return st.Active == want })
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func wantLog(t *testing.T, path string, want ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rest := string(b)
	for _, w := range want {
		i := strings.Index(rest, w)
		if i < 0 {
			t.Fatalf("no %q in order in\n%s", w, b)
		}
		rest = rest[i+len(w):]
	}
}

// TestStartLimit: a program that fails is started five times, then given up, and
// only a reset lets it start again.
func TestStartLimit(t *testing.T) {
	s, log := started(t, "echo refused >&2; exit 1", nil)
	if err := s.Start("app"); err != nil {
		t.Fatal(err)
	}
	if st := await(t, s, Failed); st.Result != StartLimitHit || st.Restarts != 5 || st.Pid != 0 || st.String() != "failed (start-limit-hit)" {
		t.Errorf("state %+v", st)
	}
	wantLog(t, log, "supervisor[", "]: Started app.\nrefused\n", "app: Main process exited, code=exited, status=1/FAILURE\n", "app: Failed with result 'exit-code'.\n",
		"app: Scheduled restart job, restart counter is at 1.\n", "restart counter is at 5.\n", "app: Start request repeated too quickly.\n",
		"app: Failed with result 'start-limit-hit'.\n", "Failed to start app.\n")
	b, _ := os.ReadFile(log)
	if n := strings.Count(string(b), "Main process exited"); n != 5 {
		t.Errorf("%d exits, want 5", n)
	}
	if err := s.Start("app"); !errors.Is(err, ErrStartLimit) {
		t.Errorf("a start after the limit: %v", err)
	}
	if err := s.ResetFailed("app"); err != nil {
		t.Fatal(err)
	}
	if st := s.State("app"); st != (State{Active: Inactive, Result: Success}) {
		t.Errorf("after the reset %+v", st)
	}
	if err := s.Start("app"); err != nil {
		t.Errorf("a start after the reset: %v", err)
	}
}

// TestRecovers: a program whose trouble ends in time stays up.
func TestRecovers(t *testing.T) {
	s, _ := started(t, `echo x >>starts; test $(wc -l <starts) -gt 3 || exit 1; touch up; exec sleep 60`, func(u *Unit) { u.Dir = t.TempDir() })
	if err := s.Start("app"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.Await(ctx, "app", func(st State) bool { return st.Active == Running && st.Restarts == 3 }); err != nil {
		t.Fatal(err)
	}
}

func TestStop(t *testing.T) {
	s, log := started(t, "exec sleep 60", nil)
	if err := s.Stop("app"); err != nil {
		t.Fatal("stop before a start", err)
	}
	for range 2 { // the second start finds it running
		if err := s.Start("app"); err != nil {
			t.Fatal(err)
		}
	}
	pid := s.State("app").Pid
	if err := s.Restart("app"); err != nil {
		t.Fatal(err)
	}
	if st := s.State("app"); st.Pid == pid || st.Active != Running || st.String() != "active" {
		t.Errorf("after a restart %+v", st)
	}
	if err := s.Stop("app"); err != nil {
		t.Fatal(err)
	}
	if st := s.State("app"); st.Active != Inactive || st.Pid != 0 {
		t.Errorf("after a stop %+v", st)
	}
	wantLog(t, log, "Started app.", "Stopped app.", "Started app.", "Stopped app.")
	// One that waits to be started again is stopped at once.
	s, _ = started(t, "exit 3", func(u *Unit) { u.RestartAfter = time.Hour })
	if err := s.Start("app"); err != nil {
		t.Fatal(err)
	}
	await(t, s, Activating)
	if err := s.Stop("app"); err != nil || s.State("app").Active != Inactive {
		t.Errorf("%v, %s", err, s.State("app"))
	}
}

func TestEnds(t *testing.T) {
	f := func(script, restart string, want State, line string) {
		t.Helper()
		s, log := started(t, script, func(u *Unit) { u.Restart = restart })
		if err := s.Start("app"); err != nil {
			t.Fatal(err)
		}
		if got := await(t, s, want.Active); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
		wantLog(t, log, line)
	}
	f("exit 0", "", State{Active: Inactive, Result: Success}, "app: Deactivated successfully.\n")
	f("exit 2", RestartNo, State{Active: Failed, Result: ExitCode}, "code=exited, status=2/INVALIDARGUMENT\n")
	f("exit 7", RestartNo, State{Active: Failed, Result: ExitCode}, "code=exited, status=7/n/a\n")
	f("kill -9 $$", RestartNo, State{Active: Failed, Result: Signal}, "code=killed, status=9/KILL\n")
	f("kill -USR1 $$", RestartNo, State{Active: Failed, Result: Signal}, "code=killed, status=user defined signal 1\n")
}

func TestRefuses(t *testing.T) {
	f := func(part string, units ...Unit) {
		t.Helper()
		if _, err := New(units...); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q", err, part)
		}
	}
	good := Unit{Name: "a", Command: []string{"true"}, Log: "l"}
	f("want a name", Unit{})
	f("twice", good, good)
	f(`restart "always"`, Unit{Name: "a", Command: []string{"true"}, Log: "l", Restart: "always"})
	f("negative", Unit{Name: "a", Command: []string{"true"}, Log: "l", RestartAfter: -1})
	s, log := started(t, "", func(u *Unit) { u.Command = []string{"/nowhere/app"} })
	for _, err := range []error{s.Start("b"), s.Stop("b"), s.Restart("b"), s.ResetFailed("b")} {
		if err == nil || err.Error() != `no unit "b"` {
			t.Errorf("a unit that is not there: %v", err)
		}
	}
	if err := s.Start("app"); err == nil || s.State("app").Active != Failed {
		t.Errorf("a program that is not there: %v, %s", err, s.State("app"))
	}
	wantLog(t, log, "app: Failed to execute /nowhere/app: ")
	if got := s.Names(); len(got) != 1 || got[0] != "app" {
		t.Errorf("names %q", got)
	}
}
