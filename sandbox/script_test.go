package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
)

const script = "../tools/mysql97"

// runScript runs tools/mysql97 and returns its exit code and all that it said.
func runScript(t *testing.T, env []string, args ...string) (int, string) {
	t.Helper()
	said := command.NewTail(64 << 10)
	res, err := command.Run(t.Context(), command.Spec{Path: script, Args: args, Env: env, Stdout: said, Stderr: said})
	var exit *command.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return res.ExitCode, said.String()
}

func TestScript_Refusals(t *testing.T) {
	f := func(env, args []string, code int, want string) {
		t.Helper()
		got, said := runScript(t, env, args...)
		if got != code || !strings.Contains(said, want) {
			t.Errorf("%v %v: exit %d\n%s", env, args, got, said)
		}
	}
	empty := "MYSQL97_HOME=" + t.TempDir()
	f(nil, nil, 2, "mysql97 start DIR PORT")
	f(nil, []string{"start"}, 2, "mysql97 start DIR PORT")
	f(nil, []string{"help"}, 0, "Exit codes:")
	f([]string{empty}, []string{"start", t.TempDir(), "1"}, 3, "run: tools/mysql97 install")
	f(nil, []string{"stop", t.TempDir()}, 3, "no server runs in")

	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "dpkg"), []byte("#!/bin/sh\necho arm64\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f([]string{empty, "PATH=" + bin + ":" + os.Getenv("PATH")}, []string{"install"}, 3, "no MySQL 9.7 packages for arm64")
}

func TestScript_Life(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	if os.Getenv("KASOKU_NO_MYSQL97") == "1" {
		t.Skip("MySQL 9.7 is left out: KASOKU_NO_MYSQL97=1")
	}
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	code, said := runScript(t, nil, "start", dir, strconv.Itoa(port))
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(said))
	if err != nil || gone(pid) {
		t.Errorf("start said %q", said)
	}
	if code, said := runScript(t, nil, "stop", dir); code != 0 || !closed("127.0.0.1:"+strconv.Itoa(port)) {
		t.Errorf("stop: exit %d\n%s", code, said)
	}
}
