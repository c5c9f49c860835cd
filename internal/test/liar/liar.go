// Package liar starts processes of other users that call themselves servers.
//
// The one idea: a copy of the test binary, under a server's name and another user's
// number, is all that a local user needs to be taken for that server. A test calls
// [Main] first thing in TestMain; the copy then waits to be killed, and leaves a marker
// when it is run the way that servers are asked about themselves.
package liar

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
)

// The users that lie, and one whose files are private. No host gives them to anybody.
const (
	Eve = 61001
	Mal = 61002
	Ann = 61003
)

const marker = "it-was-run"

// Main makes the process a liar when its program bears a server's name.
func Main() {
	exe, err := os.Executable()
	if err != nil || !slices.Contains([]string{"nginx", "mysqld", "mariadbd"}, filepath.Base(exe)) {
		return
	}
	if len(os.Args) < 2 || os.Args[len(os.Args)-1] != "--lie" {
		name := filepath.Join(filepath.Dir(exe), marker)
		text := strings.Join(ancestors(), " ") + "\n" + strings.Join(os.Args, " ")
		_ = os.WriteFile(name, []byte(text), 0o644) // a test finds it, or not
		os.Exit(0)
	}
	if slices.Contains(os.Args, EndlessArgument) {
		if err := Endless(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
	}
	if _, err := os.Stdout.WriteString("lying\n"); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
	os.Exit(0)
}

// A Liar is a running one.
type Liar struct {
	PID int
	dir string
}

// Start starts a liar. Title is its argument 0, empty for its path; it ends with the
// test. It takes root: without, the test is skipped.
func Start(t testing.TB, uid int, program, title string, args ...string) *Liar {
	t.Helper()
	dir := Dir(t, uid)
	path := filepath.Join(dir, program)
	copySelf(t, path)
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	said, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := command.Start(t.Context(), command.Spec{
		Path: path, Name: title, Args: append(args, "--lie"), As: &command.Identity{UID: uid, GID: uid},
		CleanEnv: true, Dir: dir, Stdin: in, Stdout: say, DieWithParent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = p.Kill() // its end is what is wanted
		for _, f := range []*os.File{in, hold, said, say} {
			_ = f.Close() // nothing was written that counts
		}
	})
	if _, err := said.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	return &Liar{PID: p.Pid(), dir: dir}
}

// Run reports how the liar's program was run by this test or what it started; empty
// when it was not. Another kasoku on the host may fall for it meanwhile.
func (l *Liar) Run() string {
	b, _ := os.ReadFile(filepath.Join(l.dir, marker)) // there is none when it was not run
	by, how, _ := strings.Cut(string(b), "\n")
	if !slices.Contains(strings.Fields(by), strconv.Itoa(os.Getpid())) {
		return ""
	}
	return how
}

// ancestors returns the processes that this one comes from.
func ancestors() (pids []string) {
	for pid := strconv.Itoa(os.Getppid()); pid != "0" && len(pids) < 20; {
		pids = append(pids, pid)
		status, _ := os.ReadFile("/proc/" + pid + "/status") // of one that has gone there is none
		_, rest, _ := strings.Cut(string(status), "\nPPid:\t")
		pid, _, _ = strings.Cut(rest, "\n")
		if pid == "" {
			break
		}
	}
	return pids
}

// Dir makes a directory that all may enter and the user owns.
func Dir(t testing.TB, uid int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("processes of other users take root")
	}
	dir, err := os.MkdirTemp("/tmp", "kasoku-liar-") // that of the test is its user's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	own(t, dir, uid, 0o755)
	return dir
}

// Write makes a file of a user's.
func Write(t testing.TB, path, text string, uid int, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own(t, path, uid, mode)
	return path
}

// Pipe makes a FIFO that has no writer.
func Pipe(t testing.TB, path string, uid int) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	own(t, path, uid, 0o644)
	return path
}

func own(t testing.TB, path string, uid int, mode os.FileMode) {
	t.Helper()
	if err := os.Chown(path, uid, uid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// copySelf puts this test binary under another name.
func copySelf(t testing.TB, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Dir is the directory of its program.
func (l *Liar) Dir() string { return l.dir }
