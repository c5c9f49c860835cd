package tie

import (
	"bytes"
	"path"
	"slices"
	"time"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/trace"
)

// Bounds of the programs that requests start.
const (
	mostPrograms = 10_000 // processes that are followed
	mostRun      = 50     // programs that a process and those that it makes run
	mostName     = 64     // bytes of a name
	mostDistinct = 50     // programs of an endpoint
)

// A started process is one that a unit made, with what it runs, and what those run that it makes.
type started struct {
	at       time.Duration
	programs []string
}

// starts are the processes that were made, by their numbers.
type starts map[int]*started

// take takes a new process, which belongs to what its parent works for.
func (m starts) take(t *Tier, e *trace.Event) {
	if len(m) >= mostPrograms {
		clear(m)
	}
	if of := m[e.PID]; of != nil && t.Members[e.PID] == "" {
		m[e.FD] = of
		return
	}
	p := t.processes.of(e)
	u := t.unit(p, e)
	if u == nil {
		return
	}
	s := &started{at: e.At}
	m[e.FD] = s
	switch r := t.current(p, u); {
	case r != nil && r.mixed: // it may be of another one
	case r != nil && (p.golang || !r.answered):
		r.start(s)
	case len(u.started) < mostOfRequest:
		u.started = append(u.started, s)
	}
	u.last = e.At
}

// run takes the program that a process runs.
func (m starts) run(t *Tier, e *trace.Event) {
	s := m[e.PID]
	if s == nil || len(s.programs) >= mostRun || !t.room.take(programBytes) {
		return
	}
	name, _, _ := bytes.Cut(e.Bytes, []byte{0})
	s.programs = append(s.programs, string(logs.AppendSafe(nil, []byte(path.Base(string(name))), mostName)))
}

// start gives a request a process.
func (r *request) start(s *started) {
	if !r.done && len(r.started) < mostOfRequest {
		r.started = append(r.started, s)
	}
}

// takeStarted gives a request the processes that its unit made from a moment on, and what it made before to
// the request before it, where there is one.
func (u *unit) takeStarted(r, before *request) {
	for _, s := range u.started {
		switch {
		case s.at >= r.began:
			r.start(s)
		case before != nil:
			before.start(s)
		}
	}
	u.started = u.started[:0]
}

// addPrograms adds the programs that the processes of a request ran.
func (x *tally) addPrograms(processes []*started, room *budget) {
	var of []string // each once
	for _, s := range processes {
		for _, name := range s.programs {
			i := slices.IndexFunc(x.Programs, func(p trace.Program) bool { return p.Name == name })
			if i < 0 {
				if len(x.Programs) >= mostDistinct || !room.take(programBytes) {
					continue
				}
				i = len(x.Programs)
				x.Programs = append(x.Programs, trace.Program{Name: name})
			}
			p := &x.Programs[i]
			p.Count++
			if !slices.Contains(of, name) {
				of = append(of, name)
				p.With++
			}
		}
	}
}
