package finalize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
)

func TestUnits_NoSystemd(t *testing.T) {
	_, err := unitsOf([]config.Unit{{Name: "app", Start: "x", Check: "y"}}, false)
	var hinted interface{ Hint() string }
	if err == nil || err.Error() != `finalize.units "app": no stop command, and there is no systemd here` || !errors.As(err, &hinted) || hinted.Hint() == "" {
		t.Errorf("%v", err)
	}
}

// TestCommands: units are run by the shell, their errors quote what was printed.
func TestCommands(t *testing.T) {
	up := filepath.Join(t.TempDir(), "up")
	units, err := unitsOf([]config.Unit{{Name: "app", Start: "touch " + up, Stop: "rm " + up, Check: "test -e " + up}}, false)
	if err != nil {
		t.Fatal(err)
	}
	u := units[0]
	if err := u.Check(t.Context()); err == nil {
		t.Error("up before the start")
	}
	if err := u.Start(t.Context()); err != nil || u.Check(t.Context()) != nil {
		t.Errorf("start: %v", err)
	}
	if err := u.Stop(t.Context()); err != nil || u.Check(t.Context()) == nil {
		t.Errorf("stop: %v", err)
	}
	if err := u.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "stop app: sh: exit status 1: rm: ") {
		t.Errorf("second stop: %v", err)
	}
	if s := u.Service.(Stater).State(t.Context()); s != "" {
		t.Errorf("state %q without systemd", s)
	}
}

// TestCommands_Systemctl: with nothing configured, systemctl does it; a stand-in
// notes how it is called.
func TestCommands_Systemctl(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s\ncase $1 in show) printf 'ActiveState=failed\\nResult=start-limit-hit\\nNRestarts=5\\n';; is-active) exit 3;; esac\n", calls)
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	command.StandIns = []string{dir}
	t.Cleanup(func() { command.StandIns = nil })
	units, err := unitsOf([]config.Unit{{Name: "app"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	u := units[0]
	if err := errors.Join(u.Stop(t.Context()), u.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := u.Check(t.Context()); err == nil {
		t.Error("is-active says no, and it is up")
	}
	if s := u.Service.(Stater).State(context.Background()); s != "failed (start-limit-hit), 5 restarts" {
		t.Errorf("state %q", s)
	}
	b, _ := os.ReadFile(calls)
	if want := "stop -- app\nreset-failed -- app\nstart -- app\nis-active -- app\nshow -p LoadState,ActiveState,Result,NRestarts -- app\n"; string(b) != want {
		t.Errorf("called\n%swant\n%s", b, want)
	}
}

func TestCommands_URL(t *testing.T) {
	code := 200
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer srv.Close()
	c := &commands{check: "GET " + srv.URL}
	f := func(answer int, up bool) {
		t.Helper()
		code = answer
		if err := c.Check(t.Context()); (err == nil) != up {
			t.Errorf("%d: %v", answer, err)
		}
	}
	f(200, true)
	f(302, true)
	f(404, false)
	f(502, false)
}
