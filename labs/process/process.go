// Package process runs the service of a lab as a process of its own.
//
// The program is kasoku itself, through a link that carries the service's name, so
// that the process has that name too. It writes to a file when it accepts requests,
// and at which address.
//
// [Service] is that process as the lab sees it; [Await] and [Serve] are what it does
// itself, whichever service it is.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// startLimit is how long a service may take until it accepts requests.
const startLimit = 15 * time.Second

// Options configure what to run.
type Options struct {
	Dir     string // for the link and the file that announces the start; must exist
	Name    string // of the service
	Program string // the kasoku binary
	Listen  string // host:port; empty: a free port of 127.0.0.1
	Log     string // gets what the service writes to stderr, at its end
}

// A Service can be started, stopped and started again; it keeps its address then,
// so that clients find it. It is not safe for concurrent use.
type Service struct {
	o     Options
	addr  string
	child *command.Process // nil while it does not run
	log   *os.File
}

// New returns a service that does not run yet.
func New(o Options) *Service { return &Service{o: o} }

// Start starts the program with these arguments and --listen and --ready, and
// waits until it accepts requests. What env has, as NAME=VALUE, is added to the
// environment. The context bounds the start alone; the service lives until it is
// stopped, or the caller dies.
func (s *Service) Start(ctx context.Context, args, env []string) error {
	if s.child != nil {
		return errors.New("the service runs already")
	}
	program, err := s.Link()
	if err != nil {
		return err
	}
	ready := filepath.Join(s.o.Dir, s.o.Name+".ready")
	if err := remove(ready); err != nil {
		return err
	}
	if s.log, err = private.Output.Open(s.o.Log, os.O_APPEND); err != nil {
		return fmt.Errorf("open application log: %w", err)
	}
	s.child, err = command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: program, Args: append(args, "--listen", cmp.Or(s.addr, s.o.Listen, "127.0.0.1:0"), "--ready", ready),
		Env:    env,
		Stdout: io.Discard, Stderr: s.log, DieWithParent: true,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start service: %w", err), s.log.Close())
	}
	if s.addr, err = s.await(ctx, ready); err != nil {
		return errors.Join(err, s.Stop())
	}
	return nil
}

// Link makes the link of the service's name to the program and returns its path.
func (s *Service) Link() (string, error) {
	program, err := filepath.Abs(s.o.Program)
	if err != nil {
		return "", err
	}
	link := filepath.Join(s.o.Dir, s.o.Name)
	if err := remove(link); err != nil {
		return "", err
	}
	return link, os.Symlink(program, link)
}

// remove removes a file that may be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Service) await(ctx context.Context, ready string) (addr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(ready); err == nil && len(b) > 0 && b[len(b)-1] == '\n' {
			return strings.TrimSpace(string(b)), nil
		}
		select {
		case <-tick.C:
		case <-s.child.Done():
			return "", fmt.Errorf("the service ended at once: %s", s.lastWords())
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the service: %w", context.Cause(ctx))
		}
	}
}

// lastWords returns the last line of the log, and where that is.
func (s *Service) lastWords() string {
	b, err := os.ReadFile(s.o.Log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], "kasoku: error: ")
	return strings.ToValidUTF8(last, "?") + " (" + s.o.Log + ")"
}

// Addr returns where the service accepts requests, as it reported; empty before the
// first start.
func (s *Service) Addr() string { return s.addr }

// Pid returns the process id, 0 while the service does not run.
func (s *Service) Pid() int {
	if s.child == nil {
		return 0
	}
	return s.child.Pid()
}

// Stop ends the service in order and waits for its end. Stopping a stopped one does
// nothing.
func (s *Service) Stop() error { return s.end((*command.Process).Stop) }

// Kill ends the service as a crash would (SIGKILL) and waits for its end.
func (s *Service) Kill() error { return s.end((*command.Process).Kill) }

func (s *Service) end(how func(*command.Process) (command.Result, error)) error {
	if s.child == nil {
		return nil
	}
	_, err := how(s.child)
	s.child = nil
	return errors.Join(err, s.log.Close())
}
