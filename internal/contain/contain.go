// Package contain keeps a mistake of one part of the program to that part: a rule, a
// source, a parser, a section of a report. A panic becomes a [Bug], an error that says
// which part it was and where, so that who called goes on with everything else.
//
// A Bug holds nothing of what was read: of a panic's value only what the runtime
// itself says, of the stack only functions, files and lines, of the input only the
// offset. So it can be printed, stored and sent.
//
// Each Bug is remembered until the process ends, see [Bugs], and the command exits
// with 3 because of it: nothing that was lost goes unsaid.
//
// What Go cannot recover from ends the process as before: a concurrent use of a map,
// memory or stack that is exhausted. A panic in a goroutine must be recovered in that
// goroutine: see [Func] and [Go].
package contain

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// A Part is what may fail without the rest: what it is, and which.
type Part struct {
	Kind string // one of the kinds below
	Name string // such as a rule's ID; empty where there is only one
}

// The kinds of parts. [Kinds] lists them.
const (
	Command   = "command"   // all of it: the last resort
	Rule      = "rule"      // of diagnosis
	Source    = "source"    // of samples
	Check     = "check"     // of doctor and init
	Log       = "log"       // a kind of log: a record of it, or a log as a whole
	Step      = "step"      // of a run: capture, plans, the join of logs
	Section   = "section"   // of a report
	Table     = "table"     // of a run file, a comparison, a merged run
	Output    = "output"    // of values and documents for machines: a table, a series, a list
	Panel     = "panel"     // of the live view
	Engine    = "engine"    // of load: a shard, an answer
	Goroutine = "goroutine" // that serves something else
)

// Kinds returns all kinds of parts.
func Kinds() []string {
	return []string{Command, Rule, Source, Check, Log, Step, Section, Table, Output, Panel, Engine, Goroutine}
}

// String names the part: rule IDX-01.
func (p Part) String() string { return strings.TrimSpace(p.Kind + " " + p.Name) }

// A Bug is a panic that was contained.
type Bug struct {
	Part   Part
	Why    string   // what the runtime says, or the type of the panic's value
	Stack  []string // innermost first: function (file:line)
	Offset int64    // of the input, in bytes; -1 when there is none
}

// Phrase is in the text of each Bug: where only the text is kept, it says what it was.
const Phrase = "a bug of kasoku"

// Error returns which part it was, what happened and where.
func (b *Bug) Error() string {
	s := b.Part.String() + ": " + Phrase + ": " + b.Why
	if len(b.Stack) > 0 {
		s += " in " + b.Stack[0]
	}
	if b.Offset >= 0 {
		s += fmt.Sprintf(", at byte %d of its input", b.Offset)
	}
	return s
}

// Hint returns how to report it.
func (b *Bug) Hint() string {
	return "please report these lines, they hold nothing of your data: " + strings.Join(b.Stack, " < ")
}

// Run calls f. A panic in it is returned as a [*Bug].
func Run(p Part, f func()) error { return RunAt(p, nil, f) }

// RunAt is [Run] for a part that goes through an input: the offset is where it was.
func RunAt(p Part, offset *int64, f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = note(p, v, offset)
		}
	}()
	trip(p)
	f()
	return nil
}

// Do is [Run] for a function that can fail.
func Do(p Part, f func() error) (err error) {
	if bug := Run(p, func() { err = f() }); bug != nil {
		return bug
	}
	return err
}

// Func returns f as the function of a goroutine: a panic in it ends neither the
// process nor what waits for the goroutine. It is for f that leave nothing locked.
func Func(p Part, f func()) func() {
	return func() { _ = Run(p, f) }
}

// Go runs f in a goroutine. ended is closed when that is over, however it ends: who waits
// for a goroutine that is contained must not wait for what a panic leaves out.
func Go(p Part, f func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = Run(p, f)
	}()
	return done
}

// mostFrames is how much of a stack is kept: the panic's cause is at its top.
const mostFrames = 12

// note makes a Bug of what was recovered, and remembers it.
func note(p Part, v any, offset *int64) *Bug {
	b := &Bug{Part: p, Why: why(v), Stack: stack(), Offset: -1}
	if offset != nil {
		b.Offset = *offset
	}
	ledger.Lock()
	defer ledger.Unlock()
	ledger.count++
	for _, known := range ledger.bugs {
		if known.Part == b.Part && known.Why == b.Why && strings.Join(known.Stack, "") == strings.Join(b.Stack, "") {
			return b
		}
	}
	if len(ledger.bugs) < mostBugs {
		ledger.bugs = append(ledger.bugs, b)
	}
	return b
}

// why describes what a panic was without what may be content: the text of a panic may
// quote its input.
func why(v any) string {
	var planned planted
	var inside runtime.Error
	switch err, _ := v.(error); {
	case errors.As(err, &planned):
		return planned.Error()
	case errors.As(err, &inside):
		return strings.TrimPrefix(inside.Error(), "runtime error: ")
	}
	return fmt.Sprintf("panic with a %T", v)
}

// stack returns the functions between the panic and this package.
func stack() (out []string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		name := path.Base(f.Function)
		switch {
		case !panicked:
			panicked = f.Function == "runtime.gopanic"
		case strings.HasPrefix(f.Function, "runtime."):
		case strings.HasPrefix(name, "contain."):
			if len(out) > 0 {
				return out
			}
		case len(out) < mostFrames:
			out = append(out, fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line))
		}
		if !more {
			return out
		}
	}
}

// mostBugs is how many different bugs are kept.
const mostBugs = 20

var ledger struct {
	sync.Mutex
	bugs  []*Bug
	count int
}

// Bugs returns the different bugs that were contained in this process so far, at most
// twenty, and how many there were in all.
func Bugs() (different []*Bug, all int) {
	ledger.Lock()
	defer ledger.Unlock()
	return append([]*Bug{}, ledger.bugs...), ledger.count
}

// Forget empties the list of bugs. It is for tests.
func Forget() {
	ledger.Lock()
	defer ledger.Unlock()
	ledger.bugs, ledger.count = nil, 0
}

// visit is called with each part that begins; nil outside of tests.
var visit atomic.Pointer[func(Part)]

// Visit calls f with each part that begins from now on, in the goroutine of that part;
// f may panic. It is for tests; remove ends it.
func Visit(f func(Part)) (remove func()) {
	visit.Store(&f)
	return func() { visit.Store(nil) }
}

// Plant makes every part of the kind and name panic from now on; the name "*" stands
// for all. It is for tests; remove ends it.
func Plant(p Part) (remove func()) {
	return Visit(func(at Part) {
		if at.Kind == p.Kind && (at.Name == p.Name || p.Name == "*") {
			panic(planted{at})
		}
	})
}

type planted struct{ Part }

func (p planted) Error() string { return "planted in " + p.String() }

// Trip panics when the part is planted. It is for parts that recover by themselves.
func Trip(p Part) { trip(p) }

func trip(p Part) {
	if f := visit.Load(); f != nil {
		(*f)(p)
	}
}
