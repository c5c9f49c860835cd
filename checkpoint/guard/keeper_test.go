package guard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// TestFill: a request fits into a pipe without a reader, so that a guard process finds it
// there whatever becomes of its recorder; of a longer one the rest is said.
func TestFill(t *testing.T) {
	for _, size := range []int{300, 200_000} {
		p := Process{request: Request{DSN: strings.Repeat("x", size)}, command: workload{PID: 7}}
		text := p.knowledge()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		rest, err := fill(write, text)
		if err != nil || size == 300 && len(rest) > 0 || size > 300 && (len(rest) == 0 || len(rest) == len(text)) {
			t.Errorf("%d bytes: %d are left, %v", len(text), len(rest), err)
		}
		go func() {
			_, _ = write.Write(rest)
			_ = write.Close()
		}()
		l := Watch(read)
		if l == nil || l.Request.DSN != p.request.DSN || l.command != p.command {
			t.Errorf("%d bytes: the guard process knows something else", len(text))
		}
		_ = read.Close()
	}
}

// TestLaunchLong: a guard process reads a request that is longer than a pipe, and what
// follows it.
func TestLaunchLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "read")
	p, err := Start(command.Spec{Path: "/bin/sh", Args: []string{"-c", "exec cat > \"$0\"", path}}, Request{DSN: strings.Repeat("x", 200_000)})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Started(os.Getpid()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Done(ctx, true); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(path)
	if lines := strings.Split(string(b), "\n"); err != nil || len(lines) != 4 || len(lines[0]) < 200_000 || lines[2] != `{"done":true}` {
		t.Errorf("%d bytes, %d lines, %v", len(b), len(lines), err)
	}
}
