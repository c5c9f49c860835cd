// Package play lets a client of package digger play the game of package goldrush: against a
// game of package mine in simulated time, or against a server by HTTP.
//
// The one idea: neither the client nor the game has a clock, so who lets them play has it.
// [Simulate] goes from one event to the next, and a minute of the game takes a part of a second;
// for a seed it comes out the same each time. [Run] waits for the answers of a real server.
// Both return the same [Result], second by second.
package play

import (
	"container/heap"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
)

// A Result is one game as its client saw it.
type Result struct {
	Lasted  time.Duration
	Counts  digger.Counts
	Seconds []Second // of a simulation that keeps them
	// CPU is how much of the virtual CPU was used, by call; zero where it was not seen.
	CPU [goldrush.Calls]time.Duration
}

// A Second is how a client stood at the end of a second of the game.
type Second struct {
	At     time.Duration
	Counts digger.Counts
	CPU    [goldrush.Calls]time.Duration
}

// Coins returns the score.
func (r *Result) Coins() int { return r.Counts.Coins() }

// PerSec returns the coins of a second.
func (r *Result) PerSec() float64 { return float64(r.Coins()) / r.Lasted.Seconds() }

// Busy returns the part of its time in which the virtual CPU worked, 0 to 1.
func (r *Result) Busy() float64 {
	var sum time.Duration
	for _, of := range r.CPU {
		sum += of
	}
	return sum.Seconds() / r.Lasted.Seconds()
}

// DefaultTrip is what a request and its answer take on the way to a server of this host, with
// what both programs do for them.
const DefaultTrip = 250 * time.Microsecond

// Simulated configures a simulation.
type Simulated struct {
	Game   mine.Options
	Params digger.Params
	Lasts  time.Duration
	Trip   time.Duration // there and back; 0: [DefaultTrip]
	Each   bool          // keep the seconds
	// Stop ends it before its time, at the end of a second of the game; nil: nothing does.
	Stop <-chan struct{}
}

// Simulate plays a game in simulated time.
func Simulate(o Simulated) *Result {
	s := &simulation{mine: mine.New(o.Game), half: o.Trip / 2}
	if o.Trip == 0 {
		s.half = DefaultTrip / 2
	}
	s.digger = digger.New(o.Params, o.Game.Rules)
	var seconds []Second
	for second := time.Second; ; second += time.Second {
		s.runUntil(min(second, o.Lasts))
		if o.Each {
			seconds = append(seconds, Second{s.now, s.digger.Counts(), s.mine.Stats().CPU})
		}
		if s.now >= o.Lasts || stopped(o.Stop) {
			break
		}
	}
	return &Result{Lasted: s.now, Counts: s.digger.Counts(), Seconds: seconds, CPU: s.mine.Stats().CPU}
}

func stopped(by <-chan struct{}) bool {
	select {
	case <-by:
		return true
	default:
		return false
	}
}

// A simulation is a client and a game with a way between them.
type simulation struct {
	digger *digger.Digger
	mine   *mine.Mine
	half   time.Duration // one way
	now    time.Duration
	way    way
	order  uint64
}

// runUntil goes from event to event. The way is what ends the turn of each side, so that
// both see of the other what is half a trip old.
func (s *simulation) runUntil(end time.Duration) {
	for {
		for sent, ok := s.digger.Next(s.now); ok; sent, ok = s.digger.Next(s.now) {
			s.post(event{sent: &sent})
		}
		at, ok := s.next()
		if !ok || at > end {
			break
		}
		s.now = at
		s.mine.Advance(at)
		for len(s.way) > 0 && s.way[0].at <= at {
			s.arrive(heap.Pop(&s.way).(event))
		}
	}
	s.now = end
}

// next is the time of the next event.
func (s *simulation) next() (at time.Duration, ok bool) {
	if len(s.way) > 0 {
		at, ok = s.way[0].at, true
	}
	for _, next := range []func() (time.Duration, bool){s.mine.Next, s.digger.Wake} {
		if x, is := next(); is && (!ok || x < at) {
			at, ok = x, true
		}
	}
	return max(at, s.now), ok
}

// post sends something on its way.
func (s *simulation) post(e event) {
	s.order++
	e.at, e.order = s.now+s.half, s.order
	heap.Push(&s.way, e)
}

// arrive hands in what has come.
func (s *simulation) arrive(e event) {
	if e.answer != nil {
		s.digger.Take(s.now, e.sent, e.answer)
		return
	}
	s.mine.Ask(s.now, e.sent.Request, func(a goldrush.Answer) { s.post(event{sent: e.sent, answer: &a}) })
}

// An event is a request, or an answer, that arrives.
type event struct {
	at     time.Duration
	order  uint64
	sent   *digger.Sent
	answer *goldrush.Answer // nil of a request
}

// A way is what has not arrived, the earliest first; of one time what was posted first.
type way []event

// Len is for package heap.
func (w way) Len() int { return len(w) }

// Less is for package heap.
func (w way) Less(i, j int) bool {
	return w[i].at < w[j].at || w[i].at == w[j].at && w[i].order < w[j].order
}

// Swap is for package heap.
func (w way) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push is for package heap.
func (w *way) Push(x any) { *w = append(*w, x.(event)) }

// Pop is for package heap.
func (w *way) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	(*w)[last] = event{}
	*w = (*w)[:last]
	return x
}
