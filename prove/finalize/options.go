package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// The parts of the walk, in their order.
const (
	PartCollectors = "collectors"
	PartLogs       = "logs"
	PartInitialize = "initialize"
	PartRestart    = "restart"
	PartOrder      = "order" // the restart in the wrong order
	PartRun        = "run"
)

// Parts lists the parts that may be skipped.
func Parts() []string {
	return []string{PartCollectors, PartLogs, PartInitialize, PartRestart, PartOrder, PartRun}
}

// A Service is what a unit does. Its methods wait until it is done, not until
// the service answers: that is asked with Check, again and again.
type Service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Check(ctx context.Context) error // nil when it answers
}

// A Stater is a [Service] that knows what its supervisor says of it.
type Stater interface {
	State(ctx context.Context) string // such as failed (start-limit-hit)
}

// A Unit is one service that must come back.
type Unit struct {
	Name  string
	Needs []string // units that are started before it in the right order
	Service
}

// Options configure what to walk through. The zero value of a field leaves its part
// out, which the checklist then says.
type Options struct {
	Skip  []string // of Parts
	Units []Unit

	MySQL    string   // DSN of the database
	Journals []string // what kasoku noted of changes that it has not put back
	Proc     string   // /proc when empty

	Silent  []string // logs that must not grow any more
	Written []string // logs that may, but are named when they do

	Initialize string        // METHOD URL
	Limit      time.Duration // for initialize to answer; 30 s when 0
	Answers    []string      // METHOD URL, whose answers must stay the same
	Permit     load.Permit   // hosts that may be asked for them beside this one and private networks

	Wait time.Duration // for all units to come up; a minute when 0
	Gap  time.Duration // between starts in the wrong order; 5 s when 0

	// LastRun returns the options of the last run, asked for after the restarts;
	// it adds the facts to them. Nil leaves the run out.
	LastRun func(ctx context.Context, facts Facts) (record.Options, error)
	// Earlier are runs before, to hold the last one against.
	Earlier []store.Info

	Repository string // work tree of the application, whose assets must be as they were; empty: not known

	OnProgress func(text string) // called from Walk's own goroutine
}

// Facts are what the walk saw before the last run, to be kept with it.
type Facts struct {
	Configs  []kasoku.Config  // of the kind diagnose.KindProbe
	Settings []kasoku.Setting // of the scope unit
}

// Defaults of the options.
const (
	defaultLimit = 30 * time.Second
	defaultWait  = time.Minute
	// defaultGap is long enough for a unit that dies to hit systemd's limit: 5
	// starts, 100 ms apart, and the time that each of them lives.
	defaultGap = 5 * time.Second
)

// Validate refuses what cannot be walked through.
func (o *Options) Validate() error {
	for _, part := range o.Skip {
		if !slices.Contains(Parts(), part) {
			return fmt.Errorf("part %q: want %s", part, strings.Join(Parts(), ", "))
		}
	}
	if o.Limit < 0 || o.Wait < 0 || o.Gap < 0 {
		return errors.New("a negative duration")
	}
	for _, request := range append(slices.Clone(o.Answers), o.Initialize) {
		if _, _, ok := strings.Cut(request, " "); request != "" && !ok {
			return fmt.Errorf("request %q: want METHOD URL", request)
		}
	}
	_, err := orderUnits(o.Units)
	return err
}

// orderUnits returns the units so that each comes after those it needs, and otherwise
// as they were given.
func orderUnits(units []Unit) ([]Unit, error) {
	var out []Unit
	done := map[string]bool{}
	for len(out) < len(units) {
		n := len(out)
		for _, u := range units {
			if !done[u.Name] && !slices.ContainsFunc(u.Needs, func(need string) bool { return !done[need] }) {
				out, done[u.Name] = append(out, u), true
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("unit %s needs itself in the end, or one that is not there",
				firstMissing(units, done))
		}
	}
	return out, nil
}

func firstMissing(units []Unit, done map[string]bool) string {
	i := slices.IndexFunc(units, func(u Unit) bool { return !done[u.Name] })
	return units[i].Name
}
