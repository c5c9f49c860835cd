// Package search looks for the parameters by which a client of the game of package goldrush
// earns most, in simulated time.
//
// The one idea: one parameter after the other. Each of its values is played in the same few
// worlds; the best one is kept, and the next parameter is tried with it, until a whole round
// changes nothing. Worlds in which it was not searched say whether what was found holds.
package search

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
)

// A Knob is one parameter with the values that are tried.
type Knob struct {
	Name   string
	Values []string
	set    func(p *digger.Params, i int)
}

// knobOf makes a knob of a field.
func knobOf[T any](name string, field func(*digger.Params) *T, values ...T) Knob {
	k := Knob{Name: name, set: func(p *digger.Params, i int) { *field(p) = values[i] }}
	for _, v := range values {
		k.Values = append(k.Values, fmt.Sprint(v))
	}
	return k
}

// Knobs returns what is tried, in this order.
func Knobs() []Knob {
	const ms = time.Millisecond
	return []Knob{
		knobOf("coins of a licence", func(p *digger.Params) *int { return &p.Coins }, 0, 1, 6, 11, 21),
		knobOf("pay below digs", func(p *digger.Params) *int { return &p.PayBelow }, 1, 3, 6, 9, 12, 18, 30, 1000),
		knobOf("give up after", func(p *digger.Params) *time.Duration { return &p.GiveUp }, 0, 110*ms, 150*ms),
		knobOf("used up when sent", func(p *digger.Params) *bool { return &p.Early }, false, true),
		knobOf("CPU in flight", func(p *digger.Params) *time.Duration { return &p.Ahead }, 5*ms, 10*ms, 20*ms, 30*ms, 50*ms,
			80*ms),
		knobOf("columns waiting", func(p *digger.Params) *int { return &p.Waiting }, 2, 4, 8, 12, 20, 40),
		knobOf("strip", func(p *digger.Params) *int { return &p.Root }, 0, 1, 3, 7, 10, 15, 16, 31),
		knobOf("planned", func(p *digger.Params) *bool { return &p.Planned }, false, true),
	}
}

// Options configure a search.
type Options struct {
	Rules goldrush.Rules
	From  digger.Params
	Knobs []Knob        // nil: [Knobs]
	Lasts time.Duration // of a game
	Seed  int64         // of the first world
	Games int           // worlds
	// OnTry is called with each value that was tried; nil: not.
	OnTry func(Try)
}

// A Try is one value of a parameter.
type Try struct {
	Round  int
	Knob   string
	Value  string
	PerSec float64 // coins, the mean of the worlds
	Best   bool    // it is better than all before it
}

// A Found is what a search ends with.
type Found struct {
	Params digger.Params
	PerSec float64 // in the worlds of the search
	Others float64 // in as many others
	Before float64 // what it began with, in those others
	Tries  int
	Rounds int
}

// mostRounds ends a search that would go on for little.
const mostRounds = 5

// Search looks for the best parameters until none changes, or the context ends.
func Search(ctx context.Context, o Options) (Found, error) {
	if o.Knobs == nil {
		o.Knobs = Knobs()
	}
	best := Found{Params: o.From}
	best.PerSec = o.play(ctx, o.From, o.Seed)
	for changed := true; changed && best.Rounds < mostRounds; {
		changed = false
		best.Rounds++
		for _, k := range o.Knobs {
			from := best.Params
			for i, value := range k.Values {
				if ctx.Err() != nil {
					return best, context.Cause(ctx)
				}
				p := from
				k.set(&p, i)
				if p == best.Params || !p.Planned && p.Root == 0 {
					continue
				}
				best.Tries++
				got := o.play(ctx, p, o.Seed)
				if ctx.Err() != nil { // its games were cut off
					return best, context.Cause(ctx)
				}
				better := got > best.PerSec
				if better {
					best.Params, best.PerSec, changed = p, got, true
				}
				if o.OnTry != nil {
					o.OnTry(Try{best.Rounds, k.Name, value, got, better})
				}
			}
		}
	}
	others := o.Seed + int64(o.Games)
	found, before := o.play(ctx, best.Params, others), o.play(ctx, o.From, others)
	if ctx.Err() != nil {
		return best, context.Cause(ctx)
	}
	best.Others, best.Before = found, before
	return best, nil
}

// mostAtOnce bounds the memory of a search: a world takes 30 MB.
const mostAtOnce = 16

// play returns the mean of the worlds from a seed on, as many at a time as there are cores, up to
// a bound. When the context ends it returns within a second of a game, with no figure.
func (o *Options) play(ctx context.Context, p digger.Params, seed int64) float64 {
	scores := make([]float64, o.Games)
	slots := make(chan struct{}, min(runtime.GOMAXPROCS(0), mostAtOnce))
	var all sync.WaitGroup
	for i := range scores {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			r := play.Simulate(play.Simulated{Game: mine.Options{Rules: o.Rules, Seed: seed + int64(i)}, Params: p, Lasts: o.Lasts,
				Stop: ctx.Done()})
			scores[i] = r.PerSec()
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return 0
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	return sum / float64(o.Games)
}
