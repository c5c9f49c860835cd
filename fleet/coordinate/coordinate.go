// Package coordinate makes one load from many hosts of a fleet, and adds up what they
// counted.
//
// Each host sends every m-th request of one schedule, which begins at one moment: each
// host's clock is compared with the own one by questions and answers, the quickest of which
// bounds the error ([fleet.Exchange]), and the start is given on the host's own clock. What
// a host counts is fetched several times a second, checked against the schedule and added:
// counts and histograms, never percentiles. What a host was to send and does not report is
// counted as not sent, by its second, and never given to another host.
package coordinate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
)

// Bus asks hosts, as [github.com/kasoku/kasoku/fleet/bus.Conn] does.
type Bus interface {
	Ask(ctx context.Context, host, verb string, question, answer any) error
}

// Options are what to load, and from where.
type Options struct {
	Hosts    []string
	Attack   vegeta.AttackOptions // of the whole
	Patience time.Duration        // how long a host may be silent before it counts as gone; 0: DefaultPatience

	// Watch, when not nil, is called right before the load begins.
	Watch func(*vegeta.Running)
	// Note, when not nil, is called with what becomes of a host, in words for people.
	Note func(text string)
}

const (
	// DefaultPatience is more than a network that is cut for half a minute takes to be back.
	DefaultPatience = 45 * time.Second

	askTime    = 3 * time.Second
	pollEvery  = 250 * time.Millisecond
	lead       = 1500 * time.Millisecond // from the order to the start
	questions  = 32                      // about a clock
	clockSlack = 2 * time.Second         // by which a host may be ahead, with its counts
)

// A Generator is what became of one host's share.
type Generator struct {
	Host          string
	Share         load.Share
	Due, Reported uint64 // requests; Due is 0 in a closed loop

	Offset, Bound time.Duration // of its clock to the own one at the start, and the error's bound
	Drift         time.Duration // of Offset, until the end of the load; 0 when Ended is false
	DriftBound    time.Duration

	SendDelay P // of its requests
	Cores     int
	PeakCores float64
	Lost      string // why its share was not sent to the end; empty: it was
}

// P are two quantiles and the most.
type P struct{ P50, P99, Max time.Duration }

// A Result is what a load from many hosts came to.
type Result struct {
	vegeta.AttackResult
	Generators []Generator
	Skew       time.Duration // the most by which the starts of two hosts can differ, by the bounds of their clocks
}

// Run makes the load. When ctx is cancelled the hosts are asked to send no more, and what
// they have counted is fetched. An error says that the load did not begin.
func Run(ctx context.Context, b Bus, o Options) (res Result, err error) {
	l, err := prepare(ctx, b, &o)
	if err != nil {
		return res, err
	}
	if err := l.order(ctx); err != nil {
		return res, err
	}
	res.Running = vegeta.Running{Plan: l.plan, Start: l.start, Recorder: load.NewRecorder(l.plan, 0)}
	l.sum = res.Recorder
	if o.Watch != nil {
		o.Watch(&res.Running)
	}
	var all sync.WaitGroup
	for _, h := range l.hosts {
		all.Go(contain.Func(contain.Part{Kind: contain.Step, Name: "generator"}, func() { h.follow(ctx) }))
	}
	all.Wait()
	l.settle(ctx, &res)
	return res, nil
}

// A whole is a load, shared out.
type whole struct {
	bus     Bus
	opts    *Options
	run     string
	plan    load.Plan
	targets []byte
	hosts   []*host
	start   time.Time
	sum     *load.Recorder
}

// A host is one of those that send.
type host struct {
	*whole
	name   string
	share  load.Share
	greets fleet.Greeting
	clock  fleet.Exchange

	account *fleet.Account
	counts  *kasoku.Tally
	last    uint64     // frame that came
	end     *fleet.End // once it came
	lost    error      // why nothing more comes
	stopped stop
}

// A stop is when a host was asked to send no more, and when it had heard: its last request is
// due between the two.
type stop struct{ asked, heard time.Duration }

// CheckHosts refuses names that cannot be those of generators, each of which stands once.
func CheckHosts(names []string) error {
	if n := len(names); n == 0 || n > load.MaxShares {
		return fmt.Errorf("%d generators: want 1 to %d", n, load.MaxShares)
	}
	for i, name := range names {
		if err := fleet.CheckHost(name); err != nil {
			return err
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("generator %s stands twice", name)
		}
	}
	return nil
}

// prepare asks who is there, and reads the targets.
func prepare(ctx context.Context, b Bus, o *Options) (*whole, error) {
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if err := CheckHosts(o.Hosts); err != nil {
		return nil, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	l := &whole{bus: b, opts: o, run: hex.EncodeToString(random[:])}
	if _, err := fleet.NewOrder(l.run, &o.Attack); err != nil {
		return nil, err
	}
	if err := o.Attack.Validate(); err != nil {
		return nil, err
	}
	var err error
	if l.plan, l.targets, err = o.Attack.ReadPlan(); err != nil {
		return nil, err
	}
	if err := l.plan.Validate(); err != nil {
		return nil, err
	}
	if users := o.Attack.MaxWorkers; o.Attack.Closed() && users > 0 && users < uint64(len(o.Hosts)) {
		return nil, fmt.Errorf("%d users for %d generators: each of them sends for one or more", users, len(o.Hosts))
	}
	for i, name := range o.Hosts {
		h := &host{whole: l, name: name, share: load.Share{Index: i, Of: len(o.Hosts)}, counts: kasoku.NewTally()}
		p := l.plan
		p.Share = h.share
		h.account = fleet.NewAccount(p)
		l.hosts = append(l.hosts, h)
	}
	return l, l.each(func(h *host) error { return h.greet(ctx) })
}

// each does something for all hosts at once.
func (l *whole) each(f func(h *host) error) error {
	errs := make([]error, len(l.hosts))
	var all sync.WaitGroup
	for i, h := range l.hosts {
		all.Go(func() {
			errs[i] = contain.Do(contain.Part{Kind: contain.Step, Name: "generator"}, func() error { return f(h) })
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (h *host) ask(ctx context.Context, verb string, question, answer any) error {
	return ask(ctx, h.bus, h.name, verb, question, answer)
}

func (h *host) greet(ctx context.Context) (err error) {
	h.greets, h.clock, err = Greet(ctx, h.bus, h.name)
	return err
}

func (h *host) compare(ctx context.Context) (fleet.Exchange, error) {
	return Compare(ctx, h.bus, h.name)
}

// A RefusedError reports that a host does not carry an order out.
type RefusedError struct{ Host, Reason, Fix string }

// Error names the host.
func (e *RefusedError) Error() string { return e.Host + ": " + e.Reason }

// Hint returns what its owner can do.
func (e *RefusedError) Hint() string { return e.Fix }

// order has each host begin its share at one moment. When one refuses, all are stopped.
func (l *whole) order(ctx context.Context) error {
	now, err := fleet.Monotonic()
	if err != nil {
		return err
	}
	at := now + lead
	if l.start, err = fleet.TimeOf(at); err != nil {
		return err
	}
	base, err := fleet.NewOrder(l.run, &l.opts.Attack)
	if err != nil {
		return err
	}
	base.Targets = l.targets
	err = l.each(func(h *host) error {
		o := base
		offset, _ := h.clock.Offset()
		o.Share, o.Start = h.share, at+offset
		var ack fleet.Ack
		if err := h.ask(ctx, fleet.Load, o, &ack); err != nil {
			return err
		}
		if ack.Error != "" {
			return &RefusedError{Host: h.name, Reason: fleet.Clean(ack.Error), Fix: fleet.Clean(ack.Fix)}
		}
		return nil
	})
	if err != nil {
		l.stopAll(context.WithoutCancel(ctx))
	}
	return err
}

func (l *whole) stopAll(ctx context.Context) {
	_ = l.each(func(h *host) error { // one that cannot be asked stops by its lease
		var ack fleet.Ack
		return h.ask(ctx, fleet.Stop, fleet.StopQuestion{Run: l.run, Hard: true, Discard: true}, &ack)
	})
}

// follow fetches what the host counts until its share is over, or it is gone.
func (h *host) follow(ctx context.Context) {
	asking := context.WithoutCancel(ctx)
	heard := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	stop := ctx.Done()
	silent := false
	for h.end == nil && h.lost == nil {
		select {
		case <-stop:
			stop = nil
			h.stopped.asked = time.Since(h.start)
			h.halt(asking, false)
			h.stopped.heard = time.Since(h.start)
		case <-tick.C:
		}
		err := h.fetch(asking)
		switch {
		case err == nil:
			if silent {
				h.opts.Note(h.name + " answers again")
			}
			heard, silent = time.Now(), false
		case errors.As(err, new(*lieError)):
			h.lost = err
			h.halt(asking, true)
		case time.Since(heard) > h.opts.Patience:
			h.lost = fmt.Errorf("no answer for %s: %w", h.opts.Patience, err)
		case !silent && time.Since(heard) > askTime:
			silent = true
			h.opts.Note(h.name + " does not answer: " + err.Error())
		}
		if hard := h.opts.Attack.Engine.HTTP.Hard; hard != nil && hard.Err() != nil && h.end == nil && h.lost == nil {
			h.halt(asking, true)
			if silent {
				h.lost = errors.New("no answer when the load was stopped")
			}
		}
	}
	if h.lost != nil {
		h.opts.Note(h.name + ": " + h.lost.Error())
		return
	}
	var a fleet.FrameAnswer // the last one is acknowledged, so that the host takes another load
	_ = h.ask(asking, fleet.Frames, fleet.FrameQuestion{Run: h.run, After: h.last}, &a)
}

func (h *host) halt(ctx context.Context, hard bool) {
	var ack fleet.Ack
	_ = h.ask(ctx, fleet.Stop, fleet.StopQuestion{Run: h.run, Hard: hard}, &ack) // its lease stops it, too
}

// A lieError reports an answer that cannot be, or of an agent that has forgotten the load.
// What came before stays.
type lieError struct{ text string }

func (e *lieError) Error() string { return e.text }

// fetch asks once for frames, and acknowledges those before.
func (h *host) fetch(ctx context.Context) error {
	var a fleet.FrameAnswer
	if err := h.ask(ctx, fleet.Frames, fleet.FrameQuestion{Run: h.run, After: h.last}, &a); err != nil {
		return err
	}
	if a.Boot != h.greets.Boot {
		return &lieError{"its agent was started again, and has forgotten the load"}
	}
	if a.Error != "" {
		return &lieError{fleet.Clean(a.Error)}
	}
	for i := range a.Frames {
		f := &a.Frames[i]
		if f.Number <= h.last {
			continue // it was asked again, and has come
		}
		if f.Number != h.last+1 {
			return &lieError{fmt.Sprintf("frame %d came after %d", f.Number, h.last)}
		}
		if err := h.take(f); err != nil {
			return err
		}
		h.last = f.Number
		if f.End != nil {
			h.end = f.End
			return nil
		}
	}
	return nil
}

// take adds a frame to the sum, when it can be.
func (h *host) take(f *fleet.Frame) error {
	parts := make([]kasoku.LoadSecond, 0, len(f.Seconds))
	for i := range f.Seconds {
		s, err := f.Seconds[i].Decode()
		if err == nil {
			err = h.account.Take(&s, time.Since(h.start)+clockSlack)
		}
		if err != nil {
			return &lieError{"its counts are left out from here on: " + fleet.Clean(err.Error())}
		}
		s.Errors = cleaned(s.Errors)
		parts = append(parts, s)
	}
	for i := range parts {
		h.counts.Add(&parts[i])
	}
	h.sum.AddSeconds(parts)
	return nil
}

func cleaned(errs map[string]uint64) map[string]uint64 {
	out := make(map[string]uint64, len(errs))
	for text, n := range errs {
		out[fleet.Clean(text)] += n
	}
	return out
}
