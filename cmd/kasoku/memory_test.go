package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// maxVersionKB is the most memory of its own that kasoku may take before it does
// anything: what each load, recording and report begins with. What packages compile
// or fill when the program starts is paid for by every command. Pages of the binary,
// which the kernel maps as many of as it likes and takes back, do not count.
const maxVersionKB = 4 << 10

func TestMemoryOfVersion(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds the program")
	}
	bin := filepath.Join(t.TempDir(), "kasoku")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	// A host that is busy has the runtime start a thread or two more, each with a stack and a cache:
	// up to 8 % more from start to start. What the program fills itself is in the least of them.
	kb := versionKB(t, bin)
	for range 14 {
		kb = min(kb, versionKB(t, bin))
	}
	t.Logf("%d KiB", kb)
	if kb > maxVersionKB {
		t.Errorf("kasoku version takes %d KiB, want at most %d", kb, maxVersionKB)
	}
}

// versionKB starts the program and returns its memory.
func versionKB(t *testing.T, bin string) int {
	t.Helper()
	// The most that getrusage(2) reports of a child also holds what its parent had
	// when it was forked, so the figure is read while the child lives: it waits in
	// a write to a pipe that is full.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fillPipe(t, w)
	cmd := exec.Command(bin, "version")
	cmd.Stdout = w
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // it ends when the pipe breaks
	defer r.Close()
	w.Close()
	pid := cmd.Process.Pid
	if !eventually(func() bool { return writing(pid) || ended(pid) }) || ended(pid) {
		t.Fatalf("it never came to write; its threads:\n%s", states(pid))
	}
	return anonymous(t, pid)
}

// anonymous returns what a process has resident of memory that is no file's, in KiB:
// RssAnon in proc_pid_status(5).
func anonymous(t *testing.T, pid int) (kb int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			if _, err := fmt.Sscanf(text, "%d kB", &kb); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return kb
		}
	}
	t.Fatal("no RssAnon in the status of a process")
	return 0
}

// fillPipe writes to a pipe until it takes no more, however long that takes.
func fillPipe(t *testing.T, w *os.File) {
	t.Helper()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	page := bytes.Repeat([]byte{'\n'}, os.Getpagesize())
	var full error
	err = raw.Write(func(fd uintptr) bool { // os.Pipe's ends do not block
		for full == nil || full == unix.EINTR {
			_, full = unix.Write(int(fd), page)
		}
		return true
	})
	if err != nil || full != unix.EAGAIN {
		t.Fatalf("fill a pipe: %v, %v", err, full)
	}
}

// ended reports whether a process is over, and only waited for.
func ended(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	return err != nil || bytes.Contains(b, []byte("\nState:\tZ"))
}

// states is where each thread of a process waits, and the state of the process.
func states(pid int) string {
	var out strings.Builder
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	paths, _ := filepath.Glob(filepath.Join(dir, "task", "*", "wchan"))
	for _, p := range append(paths, filepath.Join(dir, "status")) {
		b, err := os.ReadFile(p)
		fmt.Fprintf(&out, "%s: %s %v\n", p, b, err)
	}
	return out.String()
}

// writing reports whether a thread of the process waits in a write to a pipe.
func writing(pid int) bool {
	paths, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "wchan"))
	for _, p := range paths {
		if where, err := os.ReadFile(p); err == nil && strings.Contains(string(where), "pipe_write") {
			return true
		}
	}
	return false
}
