package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// goneLimit is how long a killed process may take to vanish: a core's worth of
// dirty memory has to be given back first.
const goneLimit = 20 * time.Second

// A process is a server's process: a child of ours or, after Attach, somebody
// else's, which can only be watched through /proc.
type process struct {
	pid   int
	start string           // field 22 of /proc/PID/stat, unlike that of a later one of the same number
	child *command.Process // nil after Attach

	once sync.Once
	end  chan struct{} // of a foreign process; made by done
}

func ownProcess(c *command.Process) *process {
	p := &process{pid: c.Pid(), child: c}
	p.start, _ = startOf(p.pid)
	return p
}

// await waits until the process has written its pid, where it does, and answers. The
// pid file appears late in the start; before it, a connection could reach a stranger
// on the same port.
func (p *process) await(ctx context.Context, pidFile string, answers func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.done():
			return fmt.Errorf("it ended: %s", p.outcome())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", ctx.Err())
		case <-tick.C:
		}
		if p.wrote(pidFile) && answers() {
			return nil
		}
	}
}

// wrote reports whether the file holds the number of the process; an empty name is
// none to wait for.
func (p *process) wrote(pidFile string) bool {
	if pidFile == "" {
		return true
	}
	b, err := os.ReadFile(pidFile)
	return err == nil && strings.TrimSpace(string(b)) == strconv.Itoa(p.pid)
}

// done is closed when the process has ended.
func (p *process) done() <-chan struct{} {
	if p.child != nil {
		return p.child.Done()
	}
	p.once.Do(func() {
		p.end = make(chan struct{})
		// It ends with the process that it watches. No wait exists for a
		// process that is not a child.
		go func() {
			defer close(p.end)
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for p.alive() {
				<-tick.C
			}
		}()
	})
	return p.end
}

// alive reports whether the process runs; a zombie does not.
func (p *process) alive() bool {
	if p.child != nil {
		select {
		case <-p.child.Done():
			return false
		default:
			return true
		}
	}
	start, ok := startOf(p.pid)
	return ok && start == p.start
}

// outcome describes how a child ended.
func (p *process) outcome() string {
	if p.child == nil {
		return "gone"
	}
	res, _ := p.child.Wait()
	return res.String()
}

func (p *process) terminate() { p.signal(syscall.SIGTERM) }

// kill kills the process and waits until it is gone.
func (p *process) kill() error {
	p.signal(syscall.SIGKILL)
	limit := time.NewTimer(goneLimit)
	defer limit.Stop()
	select {
	case <-p.done():
	case <-limit.C:
		return fmt.Errorf("process %d does not end, even killed", p.pid)
	}
	return p.verifyGone()
}

func (p *process) signal(sig syscall.Signal) {
	if p.child != nil {
		_ = p.child.Signal(sig) // it fails only when the child has gone
		return
	}
	if p.alive() {
		_ = syscall.Kill(p.pid, sig)
	}
}

// verifyGone looks once more, from outside.
func (p *process) verifyGone() error {
	if start, ok := startOf(p.pid); ok && start == p.start {
		return fmt.Errorf("process %d is still there", p.pid)
	}
	return nil
}

// startOf returns when a process started, in ticks since boot; false when there
// is none or it is a zombie.
func startOf(pid int) (string, bool) {
	start, ok := command.StartOf(pid)
	return strconv.FormatUint(start, 10), ok
}

// state is what a directory says of the server that runs in it.
type state struct {
	Kind   string            `json:"kind"`
	Pid    int               `json:"pid"`
	Start  string            `json:"start"` // ticks since boot
	Port   int               `json:"port"`
	Socket string            `json:"socket"`
	Vars   map[string]string `json:"vars,omitempty"`
	Args   []string          `json:"args,omitempty"`
}

func (s *Server) statePath() string { return filepath.Join(s.Dir, "server.json") }

func (s *Server) writeState() error {
	p := s.running()
	if p == nil {
		return nil
	}
	b, err := json.MarshalIndent(state{s.Kind, p.pid, p.start, s.Port, s.Socket, s.opts.Vars, s.opts.Args}, "", "  ")
	if err == nil {
		err = os.WriteFile(s.statePath(), append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("%s: state file: %w", s.Kind, err)
	}
	return nil
}

// ErrNotRunning is what [Attach] finds in a directory without a running server.
var ErrNotRunning = errors.New("no server runs there")

// Attach returns the server that was started in a directory, by this process
// or another, and still runs.
func Attach(dir string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	s := &Server{opts: Options{Dir: dir, Detach: true}}
	s.locate(dir)
	b, err := os.ReadFile(s.statePath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("attach %s: %w", dir, ErrNotRunning)
	}
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	var st state
	if err := json.Unmarshal(b, &st); err != nil {
		return nil, fmt.Errorf("attach: %s: %w", s.statePath(), err)
	}
	s.Kind, s.Port, s.Socket = st.Kind, st.Port, st.Socket
	s.opts.Port, s.opts.Vars, s.opts.Args = st.Port, st.Vars, st.Args
	s.proc = &process{pid: st.Pid, start: st.Start}
	if !s.proc.alive() {
		return nil, fmt.Errorf("attach %s: %w", dir, ErrNotRunning)
	}
	find := findMariaDB
	if s.Kind == KindMySQL97 {
		find = findMySQL97
	}
	s.engine, err = find()
	return s, err
}
