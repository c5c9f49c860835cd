package servecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/serve"
)

// endWithin is how long a run that is stopped may take to put back what it changed.
const endWithin = time.Minute

// keptOutput is how much of what a run prints is kept for the page.
const keptOutput = 4 << 10

// A starter begins `kasoku run` as the user would in this directory.
type starter struct {
	e *cli.Env

	runs  sync.WaitGroup
	mu    sync.Mutex
	stop  context.CancelFunc // nil while none goes on
	ended string
}

// Start implements serve.Starter.
func (s *starter) Start(label, note string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		return serve.ErrBusy
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a run: %w", err)
	}
	args := []string{"run"}
	for _, f := range []struct{ flag, value string }{{"--label", label}, {"--note", note}} {
		if f.value != "" {
			args = append(args, f.flag+"="+f.value)
		}
	}
	said, err := newSaid()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p, err := command.Start(ctx, command.Spec{Path: self, Args: args, Stdout: said.file, Stderr: said.file, Grace: endWithin,
		EndWithParent: true})
	if err != nil {
		stop()
		return errors.Join(fmt.Errorf("start a run: %w", err), said.file.Close())
	}
	s.stop, s.ended = stop, ""
	s.e.SayLine("kasoku %s, by the page", strings.Join(args, " "))
	s.runs.Add(1)
	contain.Go(contain.Part{Kind: contain.Step, Name: "run of the page"}, func() {
		defer s.runs.Done()
		defer said.file.Close()
		forget := said.forgetAlways()
		res, err := p.Wait()
		forget()
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stop = nil
		if err != nil || !res.Success() {
			s.ended = lastLines(said.last(), res.String())
		}
		s.e.SayLine("kasoku run of the page: %s", res)
	})
	return nil
}

// said is what a run prints, in memory without a name (memfd_create(2)): a pipe would end the run with the server
// that reads it, before it has put back what it changed.
type said struct{ file *os.File }

func newSaid() (said, error) {
	fd, err := unix.MemfdCreate("kasoku run", unix.MFD_CLOEXEC)
	if err != nil {
		return said{}, fmt.Errorf("start a run: %w", err)
	}
	return said{os.NewFile(uintptr(fd), "kasoku run")}, nil
}

// forgetAlways gives back the memory of what lies further back than is kept, until it is ended.
func (s said) forgetAlways() (end func()) {
	ctx, end := context.WithCancel(context.Background())
	contain.Go(contain.Part{Kind: contain.Step, Name: "output of the page's run"}, func() {
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if st, err := s.file.Stat(); err == nil && st.Size() > keptOutput {
				// Whole pages are given back; if none is, the memory stays.
				_ = unix.Fallocate(int(s.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0,
					st.Size()-keptOutput)
			}
		}
	})
	return end
}

// last is the end of it.
func (s said) last() string {
	st, err := s.file.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(st.Size(), keptOutput))
	n, _ := s.file.ReadAt(b, st.Size()-int64(len(b))) // what can be read of it
	return string(b[:n])
}

// lastLines are what a run said last, or how it ended.
func lastLines(said, ended string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	lines = lines[max(0, len(lines)-3):]
	return strings.TrimSpace(ended + ": " + strings.Join(lines, "; "))
}

// Stop implements serve.Starter.
func (s *starter) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

// Wait implements serve.Starter. It says what it waits for: the run puts back what it changed.
func (s *starter) Wait() {
	if busy, _ := s.State(); busy {
		fmt.Fprintln(s.e.Stderr, "the run that the page began ends, and puts back what it changed")
	}
	s.runs.Wait()
}

// State implements serve.Starter.
func (s *starter) State() (busy bool, ended string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop != nil, s.ended
}
