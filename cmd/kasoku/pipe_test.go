package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestReaderEnds: who reads what is printed may end first, as head does, and tee at the
// same Ctrl-C; nothing is left over then, and what was to be kept is.
func TestReaderEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("samples this host")
	}
	t.Parallel()
	start := func(command string) (dir string, out *bytes.Buffer, cmd *exec.Cmd) {
		dir, out = t.TempDir(), new(bytes.Buffer)
		if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("project = 'x'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd = exec.CommandContext(t.Context(), "timeout", "60", "bash", "-c", command+"; exit ${PIPESTATUS[0]}")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return dir, out, cmd
	}
	ends := func(dir string, out *bytes.Buffer, cmd *exec.Cmd) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "kasoku-*")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
	dir, out, cmd := start("trap '' INT; (trap - INT; exec kasoku watch --config kasoku.toml --out seen.kasoku) | (trap - INT; exec cat)")
	sandboxtest.Until(t, "a watch that listens", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "kasoku-*", "listen-*"))
		return len(files) == 1
	})
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ends(dir, out, cmd)
	if _, err := os.Stat(filepath.Join(dir, "seen.kasoku")); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	dir, out, cmd = start("kasoku export --live --to csv --only host.load.1 --interval 200ms --config kasoku.toml | head -n 3")
	ends(dir, out, cmd)
	if n := strings.Count(out.String(), ",load.1,"); n != 2 {
		t.Errorf("%d rows: %s", n, out)
	}
}
