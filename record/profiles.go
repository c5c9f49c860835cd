package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/record/outside"
	"github.com/kasoku/kasoku/store"
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

// profiles are the profiles of a run, taken once.
type profiles struct {
	*recorder
	service *serviceWatch
	over    context.CancelFunc // the load has ended; nil before profiles are to be taken
	give    context.CancelFunc // all of it is given up
	done    <-chan struct{}    // closed when nothing is under way any more

	mu    sync.Mutex // guards taken
	taken []profile.Taken
}

// begin sees to it that profiles are taken when the load has gone on for a
// while. known is how long it will take, 0 when that is not known. The first call
// counts. A failure is a warning.
func (p *profiles) begin(from, known time.Duration) {
	if p.over != nil || len(p.o.Pprof) == 0 && !p.o.Outside || !p.o.on("pprof") {
		return
	}
	wait := cmp.Or(p.o.profileAfter, profileAfter)
	all, give := context.WithCancel(context.Background())
	ctx, over := context.WithCancel(all)
	p.over, p.give = over, give
	p.done = contain.Go(profilePart, func() {
		begin := time.NewTimer(from + wait - time.Since(p.start))
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
		p.take(ctx, all, parts)
	})
}

// profilePart names the profiles of a program where they fail.
var profilePart = contain.Part{Kind: contain.Step, Name: "profiles"}

// take asks all programs, side by side.
func (p *profiles) take(ctx, all context.Context, parts []time.Duration) {
	cut := make(chan struct{})
	late := context.AfterFunc(ctx, func() { time.AfterFunc(profileGrace, func() { close(cut) }) })
	defer late()
	now := func() time.Duration { return time.Since(p.start) }
	names := slices.Clone(p.o.Pprof)
	if p.o.Outside {
		names = append(names, "members, from outside")
	}
	text := "profiles begin: " + strings.Join(names, ", ")
	if err := p.store.Event(kasoku.Event{At: now(), Host: p.host(), Kind: "profile", Text: mask.Text(text)}); err != nil {
		p.add(profile.Taken{Warnings: []kasoku.Warning{{Code: "store", Text: "keep when profiles began: " + err.Error()}}})
	}
	var wg sync.WaitGroup
	for _, address := range p.o.Pprof {
		wg.Go(contain.Func(profilePart, func() {
			p.add(profile.Take(all, profile.Options{Address: address, Host: p.host(), CPU: parts, Over: cut, Now: now}))
		}))
	}
	if p.o.Outside {
		wg.Go(contain.Func(profilePart, func() {
			p.add(outside.Take(all, outside.Options{Groups: outside.Members(p.service.known()), CPU: parts, Over: cut, Host: p.host(), From: now()}))
		}))
	}
	wg.Wait()
}

func tooShort() kasoku.Warning {
	return kasoku.Warning{Code: "profile", Text: fmt.Sprintf("no profiles: the load was over before they begin, "+
		"%s into it", profileAfter),
		Hint: "a load of 10 s or more is profiled"}
}

func (p *profiles) add(t profile.Taken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, t)
}

// endLoad notes that the load has ended.
func (p *profiles) endLoad() {
	if p.over != nil {
		p.over()
	}
}

// end waits for the profiles, a moment, and stores them.
func (p *profiles) end(ctx context.Context) error {
	if p.over == nil {
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
			t.Profiles[i].Interval.To = min(t.Profiles[i].Interval.To, p.run.Length)
		}
		all = append(all, t.Profiles...)
		p.warn(t.Warnings...)
	}
	return store.Save(p.store, outside.WithoutTwice(all))
}
