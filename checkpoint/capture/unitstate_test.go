package capture

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
)

func TestParseUnitState(t *testing.T) {
	f := func(show, want string) {
		t.Helper()
		if got := parseUnitState(show); got != want {
			t.Errorf("%q: %q, want %q", show, got, want)
		}
	}
	f("", "")
	f("ActiveState=active\nResult=success\nNRestarts=0\n", "active")
	f("Result=exit-code\nNRestarts=3\nActiveState=activating", "activating (exit-code), 3 restarts")
	f("Result=exit-code", "")
	f("LoadState=not-found\nActiveState=inactive\nResult=success\n", "")
}

// TestUnitState asks a stand-in for systemctl.
func TestUnitState(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	command.StandIns = []string{dir}
	t.Cleanup(func() { command.StandIns = nil })
	script := "#!/bin/sh\ntest \"$5\" = app || exit 1\nprintf 'ActiveState=failed\\nResult=start-limit-hit\\nNRestarts=5\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := UnitState(t.Context(), "app"); got != "failed (start-limit-hit), 5 restarts" {
		t.Errorf("state %q", got)
	}
	if got := UnitState(t.Context(), "other"); got != "" {
		t.Errorf("state %q of a unit that is not there", got)
	}
}

func FuzzParseUnitState(f *testing.F) {
	f.Add("ActiveState=active\nResult=success\nNRestarts=0\n")
	f.Add("=\n==\nActiveState=\n")
	f.Fuzz(func(t *testing.T, show string) {
		if got := parseUnitState(show); len(got) > len(show)+20 {
			t.Errorf("%q gives %q", show, got)
		}
	})
}
