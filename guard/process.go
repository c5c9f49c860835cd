package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/command"
)

// A Request tells the guard process what to do should the recorder die. It goes
// through a pipe, since it holds a password.
type Request struct {
	Dir    string // of the journals; empty when there are none
	DSN    string // with the password; empty without a database
	Holder Holder // the recorder
}

// A message is what a recorder tells its guard; one field of it is set.
type message struct {
	Request *Request `json:"request,omitempty"`
	Command *group   `json:"command,omitempty"`
	Done    bool     `json:"done,omitempty"`
}

// A group is a command's process group, by its first process. The zero group is
// that of a command that has ended.
type group struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// A Process is the guard process, as its recorder sees it.
type Process struct {
	proc *command.Process
	pipe *os.File
	say  *json.Encoder
}

// Start starts the guard process: the program with the arguments, which calls
// [Serve] with its standard input. It has a session of its own, so neither
// Ctrl-C nor a kill of the recorder's process group reaches it.
func Start(program command.Spec, r Request) (*Process, error) {
	read, write, err := os.Pipe() // closed in any other program that is started
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	defer read.Close()
	program.Stdin, program.Dir, program.CleanEnv, program.NewSession = read, "/", true, true
	// It outlives whatever ends the recorder.
	proc, err := command.Start(context.Background(), program)
	if err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("start guard: %w", err)
	}
	p := &Process{proc, write, json.NewEncoder(write)}
	if err := p.say.Encode(message{Request: &r}); err != nil {
		return nil, fmt.Errorf("start guard: %w", p.end(err))
	}
	return p, nil
}

func (p *Process) end(err error) error {
	_ = p.pipe.Close()
	_, _ = p.proc.Kill()
	return err
}

// Command tells of a command that is to end with the recorder, with its process
// group; 0 says that it has ended.
func (p *Process) Command(pid int) error {
	g := group{PID: pid}
	if pid != 0 {
		g.Start, _ = command.StartOf(pid)
	}
	if err := p.say.Encode(message{Command: &g}); err != nil {
		return fmt.Errorf("tell guard: %w", err)
	}
	return nil
}

// Done takes leave and waits for the end of the guard process. Without orderly
// it is left to do what it does when the recorder dies, and not waited for.
func (p *Process) Done(ctx context.Context, orderly bool) error {
	if !orderly {
		return p.pipe.Close()
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

// A Legacy is what a recorder left that died.
type Legacy struct {
	Request Request
	command group
}

// Watch reads what a recorder says until it has taken leave, and then returns
// nil, or has died.
func Watch(in io.Reader) *Legacy {
	var l Legacy
	for d := json.NewDecoder(in); ; {
		var m message
		switch err := d.Decode(&m); {
		case err != nil:
			return &l
		case m.Done:
			return nil
		case m.Command != nil:
			l.command = *m.Command
		case m.Request != nil:
			l.Request = *m.Request
		}
	}
}

// EndCommand ends the process group of the recorder's command: TERM, and KILL
// after a grace.
func (l *Legacy) EndCommand() {
	g := l.command
	// The number of a group is not given away while it has members. A first
	// process of another start means that the group is gone.
	if start, ok := command.StartOf(g.PID); g.PID <= 1 || ok && start != g.Start {
		return
	}
	if syscall.Kill(-g.PID, syscall.SIGTERM) != nil {
		return // nobody is left
	}
	grace := time.NewTimer(command.DefaultGrace)
	defer grace.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(-g.PID, 0) == nil {
		select {
		case <-tick.C:
		case <-grace.C:
			_ = syscall.Kill(-g.PID, syscall.SIGKILL) // the last of them may have ended just now
			return
		}
	}
}
