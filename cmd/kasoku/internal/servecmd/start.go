package servecmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

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
	said := command.NewTail(keptOutput)
	ctx, stop := context.WithCancel(context.Background())
	p, err := command.Start(ctx, command.Spec{Path: self, Args: args, Stdout: said, Stderr: said, Grace: endWithin,
		EndWithParent: true})
	if err != nil {
		stop()
		return fmt.Errorf("start a run: %w", err)
	}
	s.stop, s.ended = stop, ""
	s.e.SayLine("kasoku %s, by the page", strings.Join(args, " "))
	contain.Go(contain.Part{Kind: contain.Step, Name: "run of the page"}, func() {
		res, err := p.Wait()
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stop = nil
		if err != nil || !res.Success() {
			s.ended = lastLines(said.String(), res.String())
		}
		s.e.SayLine("kasoku run of the page: %s", res)
	})
	return nil
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

// State implements serve.Starter.
func (s *starter) State() (busy bool, ended string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop != nil, s.ended
}
