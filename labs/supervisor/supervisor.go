package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// A Supervisor owns units. Its methods are safe for concurrent use.
type Supervisor struct {
	units map[string]*unit // not changed after New
	names []string

	mu      sync.Mutex
	changed chan struct{} // closed at each change of a state, and made anew
}

// A unit is one of the supervised. Its state is guarded by the supervisor's mu;
// turn is held by who starts or stops it.
type unit struct {
	Unit
	turn sync.Mutex

	state  State
	starts []time.Time   // within the last StartLimitInterval
	stop   chan struct{} // closed to end keep; nil when it does not run
	ended  chan struct{} // closed when keep has ended
}

// New returns a supervisor of the units; none is started.
func New(units ...Unit) (*Supervisor, error) {
	s := &Supervisor{units: map[string]*unit{}, changed: make(chan struct{})}
	for _, u := range units {
		if err := u.validate(); err != nil {
			return nil, err
		}
		if s.units[u.Name] != nil {
			return nil, fmt.Errorf("unit %s is there twice", u.Name)
		}
		s.units[u.Name] = &unit{Unit: u.withDefaults(), state: State{Active: Inactive, Result: Success}}
		s.names = append(s.names, u.Name)
	}
	return s, nil
}

// Names returns the units in the order in which they were given.
func (s *Supervisor) Names() []string { return slices.Clone(s.names) }

func (s *Supervisor) unit(name string) (*unit, error) {
	if u := s.units[name]; u != nil {
		return u, nil
	}
	return nil, fmt.Errorf("no unit %q", name)
}

// Start starts a unit and returns when its program runs, not when it is ready.
// Starting one that runs, or waits to be started again, does nothing. It returns
// [ErrStartLimit] when the unit was started too often.
func (s *Supervisor) Start(name string) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	u.turn.Lock()
	defer u.turn.Unlock()
	if active := s.State(name).Active; active == Running || active == Activating {
		return nil
	}
	log, err := private.Output.Open(u.Log, os.O_APPEND)
	if err != nil {
		return fmt.Errorf("start %s: open log: %w", name, err)
	}
	p, err := s.launch(u, log)
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	u.stop, u.ended = make(chan struct{}), make(chan struct{})
	s.set(u, func(st *State) { *st = State{Active: Running, Result: Success, Pid: p.Pid()} })
	go s.keep(u, p, log)
	return nil
}

// launch runs the unit's program once, if its start limit allows.
func (s *Supervisor) launch(u *unit, log *os.File) (*command.Process, error) {
	if !s.admit(u, time.Now()) {
		say(log, "%s: Start request repeated too quickly.", u.Name)
		say(log, "%s: Failed with result '%s'.", u.Name, StartLimitHit)
		say(log, "Failed to start %s.", u.Name)
		s.set(u, func(st *State) { st.Active, st.Result, st.Pid = Failed, StartLimitHit, 0 })
		return nil, ErrStartLimit
	}
	// Before the program prints anything. systemd says so of a program that it
	// cannot execute, too, as with Type=simple it does not wait for that.
	say(log, "Started %s.", u.Name)
	p, err := command.Start(context.Background(), command.Spec{
		Path: u.Command[0], Args: u.Command[1:], Dir: u.Dir, Env: u.Env, Stdout: log, Stderr: log, DieWithParent: true,
	})
	if err != nil {
		say(log, "%s: Failed to execute %s: %v", u.Name, u.Command[0], err)
		s.set(u, func(st *State) { st.Active, st.Result, st.Pid = Failed, ExitCode, 0 })
		return nil, err
	}
	return p, nil
}

// admit counts a start and reports whether the limit allows it.
func (s *Supervisor) admit(u *unit, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.starts = slices.DeleteFunc(u.starts, func(t time.Time) bool { return now.Sub(t) >= u.StartLimitInterval })
	if len(u.starts) >= u.StartLimitBurst {
		return false
	}
	u.starts = append(u.starts, now)
	return true
}

// keep is the goroutine that owns a started unit: it waits for the program's
// end and starts it again, until it is stopped or given up.
func (s *Supervisor) keep(u *unit, p *command.Process, log *os.File) {
	defer close(u.ended)
	defer log.Close()
	for {
		select {
		case <-u.stop:
			p.Stop() //nolint:errcheck // it is about the output, which is a file
			say(log, "Stopped %s.", u.Name)
			s.set(u, func(st *State) { st.Active, st.Result, st.Pid = Inactive, Success, 0 })
			return
		case <-p.Done():
		}
		if !s.ended(u, p, log) {
			return
		}
		pause := time.NewTimer(u.RestartAfter)
		select {
		case <-u.stop:
			pause.Stop()
			s.set(u, func(st *State) { st.Active = Inactive })
			return
		case <-pause.C:
		}
		s.set(u, func(st *State) { st.Restarts++ })
		say(log, "%s: Scheduled restart job, restart counter is at %d.", u.Name, s.State(u.Name).Restarts)
		var err error
		if p, err = s.launch(u, log); err != nil {
			return
		}
		s.set(u, func(st *State) { st.Active, st.Pid = Running, p.Pid() })
	}
}

// ended notes how a program ended, and reports whether it is started again.
func (s *Supervisor) ended(u *unit, p *command.Process, log *os.File) (again bool) {
	r, _ := p.Wait() // the error is about the output, which is a file
	result, words, ok := resultOf(r)
	if ok {
		say(log, "%s: Deactivated successfully.", u.Name)
		s.set(u, func(st *State) { st.Active, st.Result, st.Pid = Inactive, result, 0 })
		return false
	}
	say(log, "%s: Main process exited, %s", u.Name, words)
	say(log, "%s: Failed with result '%s'.", u.Name, result)
	active := Activating
	if u.Restart == RestartNo {
		active = Failed
	}
	s.set(u, func(st *State) { st.Active, st.Result, st.Pid = active, result, 0 })
	return active == Activating
}

// Stop stops a unit and waits for the end of its program. Stopping one that does
// not run leaves its state.
func (s *Supervisor) Stop(name string) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	u.turn.Lock()
	defer u.turn.Unlock()
	if u.stop != nil {
		close(u.stop)
		<-u.ended
		u.stop = nil
	}
	return nil
}

// Restart stops a unit and starts it.
func (s *Supervisor) Restart(name string) error {
	if err := s.Stop(name); err != nil {
		return err
	}
	return s.Start(name)
}

// ResetFailed forgets how often a unit was started, so that it may be again.
func (s *Supervisor) ResetFailed(name string) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	s.set(u, func(st *State) {
		u.starts = nil
		if st.Active == Failed {
			*st = State{Active: Inactive, Result: Success}
		}
	})
	return nil
}

// State returns what a unit is doing; it is zero for one that is not there.
func (s *Supervisor) State(name string) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.units[name]; u != nil {
		return u.state
	}
	return State{}
}

// Await waits until a unit's state is wanted.
func (s *Supervisor) Await(ctx context.Context, name string, wanted func(State) bool) (State, error) {
	if _, err := s.unit(name); err != nil {
		return State{}, err
	}
	for {
		s.mu.Lock()
		state, changed := s.units[name].state, s.changed
		s.mu.Unlock()
		if wanted(state) {
			return state, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state, fmt.Errorf("wait for %s, which is %s: %w", name, state, context.Cause(ctx))
		}
	}
}

// set changes a unit's state and notifies those who wait.
func (s *Supervisor) set(u *unit, change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&u.state)
	close(s.changed)
	s.changed = make(chan struct{})
}

// Close stops all units, the last one first.
func (s *Supervisor) Close() error {
	var errs []error
	for _, name := range slices.Backward(s.names) {
		errs = append(errs, s.Stop(name))
	}
	return errors.Join(errs...)
}
