package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/kasoku/kasoku/internal/command"
)

// MemcachedOptions configure how to run a private memcached.
type MemcachedOptions struct {
	Port int // on 127.0.0.1; 0 takes a free one
}

// A MemcachedServer is a running or stopped memcached. Its methods are safe for
// concurrent use.
type MemcachedServer struct{ Daemon }

const memcachedHint = "install it: sudo apt-get install memcached (no need to run it)"

// Memcached starts a memcached with the system's binary, as the calling user, root
// included, with 16 MiB for items. The context bounds the start alone; the server lives
// until [Daemon.Stop], or the process that started it dies.
func Memcached(ctx context.Context, o MemcachedOptions) (*MemcachedServer, error) {
	program, err := command.LookPath("memcached")
	if err != nil {
		return nil, &Error{Err: fmt.Errorf("memcached: %w", err), hint: memcachedHint}
	}
	s := &MemcachedServer{}
	if err := s.place("memcached", "", o.Port); err != nil {
		return nil, err
	}
	err = s.launch(ctx, func() (daemonSpec, error) {
		pidFile := filepath.Join(s.Dir, "memcached.pid")
		return daemonSpec{path: program, pidFile: pidFile, args: []string{
			"-l", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-U", "0", "-m", "16", "-u", "root", "-P", pidFile,
		}}, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}
