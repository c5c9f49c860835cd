package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
)

// pollEvery is how often a unit is asked whether it is up.
const pollEvery = 200 * time.Millisecond

// A unitSet is the units of the service, in the right order, and what became of them.
type unitSet struct {
	units    []Unit
	wait     time.Duration // for one to come up
	progress func(format string, args ...any)
	states   map[string]string // of units that did not come up
}

// A failure is why a unit did not do as it was asked.
type failure struct {
	name string
	err  error
}

// stop stops the units in the reverse of the right order, and returns those that fail.
func (s *unitSet) stop(ctx context.Context) (failed []failure) {
	for _, u := range slices.Backward(s.units) {
		if ctx.Err() != nil {
			break
		}
		s.progress("stop %s", u.Name)
		if err := u.Stop(ctx); err != nil && ctx.Err() == nil {
			failed = append(failed, failure{u.Name, err})
		}
	}
	return failed
}

// up waits until a unit answers.
func (s *unitSet) up(ctx context.Context, u Unit, until time.Time) error {
	ctx, cancel := context.WithDeadlineCause(ctx, until, fmt.Errorf("not up after %s", s.wait))
	defer cancel()
	for {
		err := u.Check(ctx)
		if err == nil {
			return nil
		}
		if pauseFor(ctx, pollEvery); ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// bringUp starts what does not answer, in the right order, also when the context
// has ended: the service is not to be left down. It returns what is wrong with those
// that do not come up.
func (s *unitSet) bringUp(ctx context.Context) (bad []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.wait)
	defer cancel()
	until := time.Now().Add(s.wait)
	for _, u := range s.units {
		if u.Check(ctx) == nil {
			continue
		}
		s.progress("start %s again", u.Name)
		err := errors.Join(u.Stop(ctx), u.Start(ctx))
		if upErr := s.up(ctx, u, until); upErr != nil {
			bad = append(bad, s.describe(ctx, u, errors.Join(err, upErr)))
		}
	}
	return bad
}

// describe says of a unit what is wrong with it, and remembers its state.
func (s *unitSet) describe(ctx context.Context, u Unit, err error) string {
	text := u.Name + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
	if asked, ok := u.Service.(Stater); ok {
		if state := asked.State(ctx); state != "" {
			s.states[u.Name] = state
			text += "; its state is " + state
		}
	}
	return text
}

// settings are the states of units that did not come up, as settings.
func (s *unitSet) settings() (out []kasoku.Setting) {
	for _, u := range s.units {
		if state := s.states[u.Name]; state != "" {
			out = append(out, kasoku.Setting{Scope: capture.ScopeUnit, Name: u.Name, Value: state})
		}
	}
	return out
}

func namesOf(units []Unit) []string {
	var out []string
	for _, u := range units {
		out = append(out, u.Name)
	}
	return out
}
