package record

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/record/safe"
)

const (
	// profileAfter the load's beginning, profiles are taken: what only its beginning
	// does, such as opening connections and filling caches, is over by then.
	profileAfter = 5 * time.Second
	// profileFor is for how long CPU time is sampled at most.
	profileFor = 10 * time.Second
	// profileGrace is how long the CPU profile may go on when the load has ended: a
	// program without load adds nothing to it.
	profileGrace = 2 * time.Second
	// profileRest is how long the run then waits for the profiles that need no time.
	profileRest = 3 * time.Second
)

// profiling are the profiles of a run, taken once.
type profiling struct {
	over context.CancelFunc // the load has ended
	give context.CancelFunc // all of it is given up
	done chan struct{}      // closed when nothing is under way any more

	mu    sync.Mutex // guards taken
	taken []profile.Taken
}

// profileLoad sees to it that profiles are taken when the load has gone on for a
// while. known is how long it will take, 0 when that is not known. The first call
// counts. A failure is a warning.
func (s *session) profileLoad(from, known time.Duration) {
	if s.profiling != nil || len(s.o.Pprof) == 0 || !s.o.on("pprof") {
		return
	}
	wait := cmp.Or(s.o.profileAfter, profileAfter)
	all, give := context.WithCancel(context.Background())
	ctx, over := context.WithCancel(all)
	p := &profiling{over: over, give: give, done: make(chan struct{})}
	s.profiling = p
	go contain.Func(profilePart, func() {
		defer close(p.done)
		begin := time.NewTimer(from + wait - time.Since(s.start))
		defer begin.Stop()
		select {
		case <-begin.C:
		case <-ctx.Done():
			p.add(profile.Taken{Warnings: []kasoku.Warning{tooShort()}})
			return
		}
		parts := profile.Unknown()
		if known > 0 {
			if parts = profile.Whole(known-wait, profileFor); parts == nil {
				p.add(profile.Taken{Warnings: []kasoku.Warning{tooShort()}})
				return
			}
		}
		s.takeProfiles(ctx, all, parts)
	})()
}

// profilePart names the profiles of a program where they fail.
var profilePart = contain.Part{Kind: contain.Step, Name: "profiles"}

// takeProfiles asks all programs, side by side.
func (s *session) takeProfiles(ctx, all context.Context, parts []time.Duration) {
	cut := make(chan struct{})
	late := context.AfterFunc(ctx, func() { time.AfterFunc(profileGrace, func() { close(cut) }) })
	defer late()
	now := func() time.Duration { return time.Since(s.start) }
	text := "profiles begin: " + strings.Join(s.o.Pprof, ", ")
	if err := s.store.Event(kasoku.Event{At: now(), Host: s.host(), Kind: "profile", Text: safe.Text(text)}); err != nil {
		s.profiling.add(profile.Taken{Warnings: []kasoku.Warning{{Code: "store", Text: "keep when profiles began: " + err.Error()}}})
	}
	var wg sync.WaitGroup
	for _, address := range s.o.Pprof {
		wg.Go(contain.Func(profilePart, func() {
			s.profiling.add(profile.Take(all, profile.Options{Address: address, Host: s.host(), CPU: parts, Over: cut, Now: now}))
		}))
	}
	wg.Wait()
}

func tooShort() kasoku.Warning {
	return kasoku.Warning{Code: "profile", Text: fmt.Sprintf("no profiles: the load was over before they begin, %s into it", profileAfter),
		Hint: "a load of 10 s or more is profiled"}
}

func (p *profiling) add(t profile.Taken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, t)
}

// loadOver says that the load has ended.
func (s *session) loadOver() {
	if s.profiling != nil {
		s.profiling.over()
	}
}

// endProfiles waits for the profiles, a moment, and stores them.
func (s *session) endProfiles(ctx context.Context) error {
	p := s.profiling
	if p == nil {
		return nil
	}
	p.over()
	limit := time.NewTimer(profileGrace + profileRest)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
	case <-ctx.Done():
	}
	p.give()
	<-p.done
	var all []kasoku.Profile
	for _, t := range p.taken {
		for i := range t.Profiles {
			t.Profiles[i].Interval.To = min(t.Profiles[i].Interval.To, s.run.Length)
		}
		all = append(all, t.Profiles...)
		s.warn(t.Warnings...)
	}
	return s.store.SaveProfiles(all)
}
