package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
)

// A Process is the guard process, as its recorder sees it. One that ends before its
// recorder, such as by a kill, is started again, up to [MostRestarts] times.
type Process struct {
	program command.Spec
	request Request
	leaving chan struct{} // closed when the recorder calls Done
	watched chan struct{} // closed when it is not started again any more

	mu       sync.Mutex // guards the fields below
	proc     *command.Process
	pipe     *os.File
	say      *json.Encoder
	command  workload // the last that it was notified of
	restarts []time.Time
	failed   error // why it was not started again
}

// MostRestarts is how often a guard process is started again; restartAfter is how
// long after its end, each time once more.
const (
	MostRestarts = 3
	restartAfter = 50 * time.Millisecond
)

// Start starts the guard process: the program with the arguments, which calls
// [Watch] with its standard input. It has a session of its own, so neither
// Ctrl-C nor a kill of the recorder's process group reaches it.
func Start(program command.Spec, r Request) (*Process, error) {
	p := &Process{program: program, request: r, leaving: make(chan struct{}), watched: make(chan struct{})}
	if err := p.launch(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.watched)
		_ = contain.Run(contain.Part{Kind: contain.Goroutine, Name: "watch of the guard"}, p.watch)
	}()
	return p, nil
}

// launch starts a guard process that knows what the last one knew. The caller holds mu,
// or is alone.
//
// What it has to know lies in the pipe before it starts. Otherwise a recorder that is
// killed just after the start would leave a guard that knows nothing, and nothing would
// be put back.
func (p *Process) launch() error {
	read, write, err := os.Pipe() // closed in any other program that is started
	if err != nil {
		return fmt.Errorf("start guard: %w", err)
	}
	defer read.Close()
	rest, err := fill(write, p.knowledge())
	if err != nil {
		_ = write.Close()
		return fmt.Errorf("start guard: %w", err)
	}
	program := p.program
	program.Stdin, program.Dir, program.CleanEnv, program.NewSession = read, "/", true, true
	// It outlives whatever ends the recorder.
	proc, err := command.Start(context.Background(), program)
	if err != nil {
		_ = write.Close()
		return fmt.Errorf("start guard: %w", err)
	}
	if _, err = write.Write(rest); err != nil {
		_ = write.Close()
		_, _ = proc.Kill()
		return fmt.Errorf("start guard: %w", err)
	}
	p.proc, p.pipe, p.say = proc, write, json.NewEncoder(write)
	return nil
}

// knowledge is what a guard process has to know at its start, as messages.
func (p *Process) knowledge() []byte {
	var b bytes.Buffer
	say := json.NewEncoder(&b)
	_ = say.Encode(message{Request: &p.request}) // strings and numbers: it cannot fail
	if p.command != (workload{}) {
		_ = say.Encode(message{Command: &p.command})
	}
	return b.Bytes()
}

// fillWithin is how long a pipe that is full is waited for: what fits needs no wait.
const fillWithin = time.Second

// fill writes to a pipe that has no reader yet, and returns what does not fit into it.
func fill(pipe *os.File, text []byte) (rest []byte, err error) {
	if err := pipe.SetWriteDeadline(time.Now().Add(fillWithin)); err != nil {
		return text, nil // a pipe without deadlines is written to when it is read from
	}
	n, err := pipe.Write(text)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return text[n:], errors.Join(err, pipe.SetWriteDeadline(time.Time{}))
}

// watch starts the guard process again when it ends too early.
func (p *Process) watch() {
	for n := 1; n <= MostRestarts; n++ {
		p.mu.Lock()
		ended := p.proc.Done()
		p.mu.Unlock()
		select {
		case <-ended:
		case <-p.leaving:
			return
		}
		pause := time.NewTimer(time.Duration(n) * restartAfter)
		select {
		case <-pause.C:
		case <-p.leaving:
			pause.Stop()
			return
		}
		p.mu.Lock()
		_ = p.pipe.Close()
		p.restarts = append(p.restarts, time.Now())
		p.failed = p.launch()
		failed := p.failed != nil
		p.mu.Unlock()
		if failed {
			return
		}
	}
}

// PID returns the process id of the guard process that runs now, or ran last.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc.Pid()
}

// String describes that it goes on trying, and for how long.
func (p *Process) String() string {
	return fmt.Sprintf("the guard process (pid %d) tries again for %s", p.PID(), RecoverWithin)
}

// Restarts returns when the guard process was started again because something had
// ended it, and why it could not be; nil when it could.
func (p *Process) Restarts() ([]time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.restarts), p.failed
}

// Starting announces a command that is about to be started and that is to end
// with the recorder. All of its processes have the mark in their environment.
func (p *Process) Starting(mark string) error { return p.announce(workload{Mark: mark}) }

// Started announces its first process, which leads a process group.
func (p *Process) Started(pid int) error {
	start, _ := command.StartOf(pid)
	return p.announce(workload{PID: pid, Start: start})
}

// Ended announces that the command has ended.
func (p *Process) Ended() error { return p.announce(workload{}) }

func (p *Process) announce(w workload) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command = w
	if err := p.say.Encode(message{Command: &w}); err != nil {
		return fmt.Errorf("notify guard: %w", err)
	}
	return nil
}

// Done ends the guard process and waits for its end. Without orderly it is left to
// do what it does when the recorder dies, and not waited for.
func (p *Process) Done(ctx context.Context, orderly bool) error {
	close(p.leaving)
	<-p.watched
	if !orderly {
		return errors.Join(p.failed, p.pipe.Close())
	}
	err := p.say.Encode(message{Done: true})
	_ = p.pipe.Close()
	select {
	case <-p.proc.Done():
	case <-ctx.Done():
		_, _ = p.proc.Kill()
	}
	res, _ := p.proc.Wait()
	if err == nil && !res.Success() {
		err = fmt.Errorf("it ended early: %s", res)
	}
	if err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	return nil
}
