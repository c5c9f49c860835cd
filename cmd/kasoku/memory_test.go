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
	"time"

	"golang.org/x/sys/unix"
)

// maxVersionKB is the most memory of its own that kasoku may take before it does
// anything: what each load, recording and report begins with. What packages compile
// or fill when the program starts is paid for by every command. Pages of the binary,
// which the kernel maps as many of as it likes and takes back, do not count.
const maxVersionKB = 4 << 10

func TestMemoryOfVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	bin := filepath.Join(t.TempDir(), "kasoku")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
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
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // it ends when the pipe breaks
	defer r.Close()
	w.Close()
	for end := time.Now().Add(30 * time.Second); !writing(cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came to write")
		}
	}
	kb := anonymous(t, cmd.Process.Pid)
	t.Logf("%d KiB", kb)
	if kb > maxVersionKB {
		t.Errorf("kasoku version takes %d KiB, want at most %d", kb, maxVersionKB)
	}
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
