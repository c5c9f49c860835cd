// Package gather has hosts of a fleet record themselves for one run, and fetches what they made.
//
// Each host records itself by its own kasoku, as its own file says; the hosts begin at one moment,
// given on the clock of each, which was compared with the own one by questions and answers. While
// the run goes on each is asked how it is, which keeps it alive: one for which no one asks ends in
// order by itself and puts back what it changed. In the end the run files come in pieces, held to
// their size and their sum. A host that is gone is named, and its data is not there.
//
// A [Gathering] is safe for concurrent use; who made it calls Collect or Cancel.
package gather

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/internal/contain"
)

// Options are which hosts to record.
type Options struct {
	Hosts    []string
	Label    string
	On       string          // the request with which all begin, at whichever host it is seen; empty: at once
	Dir      string          // private, for the run files
	Hard     context.Context // its end gives up what has not come; may be nil
	Patience time.Duration   // how long a host may be silent before it counts as gone; 0: that of a load
	Analysis time.Duration   // how long it may read its logs in the end; 0: DefaultAnalysis

	Note func(text string) // called with what becomes of a host, in words for people; may be nil
}

const (
	// DefaultAnalysis is enough for logs of some ten GB.
	DefaultAnalysis = 10 * time.Minute

	askTime      = 5 * time.Second
	pollEvery    = 500 * time.Millisecond
	readyTime    = 90 * time.Second       // from the order until all is prepared, and until all runs
	lead         = 300 * time.Millisecond // from the word to the beginning
	atOnce       = 4                      // pieces of run files on their way: a hub cuts who lags by 8 MiB
	farthest     = time.Minute            // that a host's beginning may lie from the one that was asked for
	longAgo      = 3 * time.Minute        // that the request may have begun when its line is in a log
	compareEvery = time.Minute            // clocks, of hosts that wait
	fresh        = 2 * time.Second        // an answer this old is no word about whether requests still come
)

// A Gathering is recordings of hosts that are one run.
type Gathering struct {
	bus   coordinate.Bus
	opts  Options
	run   string
	hosts []*host
	done  sync.WaitGroup
	hard  context.Context
	over  context.CancelFunc // gives up
	slots chan struct{}      // of those whose run files come at a time

	mu     sync.Mutex
	begin  time.Duration // offset 0 of all, on the own CLOCK_MONOTONIC; 0: not yet. With On, the watch's
	cut    time.Duration // with On, offset 0 of all; 0: not yet
	seen   *Sighting     // with On, the first one
	stop   time.Time     // when they were asked to end; zero: not yet
	forget bool          // nothing of it is wanted
}

// A Part is what came of one host.
type Part struct {
	Host string
	Path string // of its run file; empty: it did not come
	Lost string // why not

	Began         time.Duration // offset 0 of its recording, on the own CLOCK_MONOTONIC
	Offset, Bound time.Duration // of its clock to the own one at the beginning, and the error's bound
	Drift         time.Duration // of Offset, until the end; 0 when it could not be asked
	Short         string        // why its recording ended before it was asked to; empty: it did not
}

// Prepare has the hosts prepare their recordings. When one cannot, or does not allow it, none
// records.
func Prepare(ctx context.Context, b coordinate.Bus, o Options) (*Gathering, error) {
	if err := coordinate.CheckHosts(o.Hosts); err != nil {
		return nil, err
	}
	if o.Patience == 0 {
		o.Patience = coordinate.DefaultPatience
	}
	if o.Analysis == 0 {
		o.Analysis = DefaultAnalysis
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Hard == nil {
		o.Hard = context.Background()
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	g := &Gathering{bus: b, opts: o, run: hex.EncodeToString(random[:]), slots: make(chan struct{}, atOnce)}
	g.hard, g.over = context.WithCancel(o.Hard)
	for _, name := range o.Hosts {
		g.hosts = append(g.hosts, newHost(g, name))
	}
	err := g.each(func(h *host) (err error) {
		_, h.clock, err = coordinate.Greet(ctx, b, h.name)
		return err
	})
	if err == nil {
		err = g.each(func(h *host) error { return h.order(ctx) })
	}
	if err != nil {
		g.forget = true
		_ = g.each(func(h *host) error { _, err := h.ask(); return err }) // one that cannot be asked ends by its lease
		g.over()
		return nil, err
	}
	for _, h := range g.hosts {
		g.done.Go(func() { h.end(contain.Do(followPart, func() error { h.follow(); return nil })) })
	}
	return g, nil
}

var (
	hostPart   = contain.Part{Kind: contain.Step, Name: "generator"}
	followPart = contain.Part{Kind: contain.Step, Name: "recording"}
)

// each does something for all hosts at once.
func (g *Gathering) each(f func(h *host) error) error {
	errs := make([]error, len(g.hosts))
	var all sync.WaitGroup
	for i, h := range g.hosts {
		all.Go(func() { errs[i] = contain.Do(hostPart, func() error { return f(h) }) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Begin waits until all hosts are prepared, has them begin at one moment, and waits until all
// that they watch is watched. It returns a moment to begin at oneself: a number of ticks after
// theirs, so that the ticks of all coincide.
func (g *Gathering) Begin(ctx context.Context, tick time.Duration) (time.Time, error) {
	ctx, cancel := inTime(ctx)
	defer cancel()
	if err := g.Prepared(ctx); err != nil {
		return time.Time{}, err
	}
	now, err := fleet.Monotonic()
	if err != nil {
		return time.Time{}, err
	}
	g.mu.Lock()
	g.begin = now + lead
	g.mu.Unlock()
	g.nudge()
	if err := g.await(ctx, func(h *host) <-chan struct{} { return h.running }); err != nil {
		return time.Time{}, err
	}
	if now, err = fleet.Monotonic(); err != nil {
		return time.Time{}, err
	}
	const room = 20 * time.Millisecond
	next := (now + room - g.begin + tick - 1) / tick * tick
	return fleet.TimeOf(g.begin + next)
}

// Prepared waits until all hosts are prepared.
func (g *Gathering) Prepared(ctx context.Context) error {
	ctx, cancel := inTime(ctx)
	defer cancel()
	return g.await(ctx, func(h *host) <-chan struct{} { return h.ready })
}

func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, readyTime, fmt.Errorf("it was not ready within %s", readyTime))
}

// await waits for something of each host.
func (g *Gathering) await(ctx context.Context, what func(*host) <-chan struct{}) error {
	for _, h := range g.hosts {
		select {
		case <-what(h):
		case <-h.ended:
			return fmt.Errorf("%s: %s", h.name, h.part.Lost)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", h.name, context.Cause(ctx))
		}
	}
	return nil
}

// nudge has all hosts be asked at once.
func (g *Gathering) nudge() {
	for _, h := range g.hosts {
		select {
		case h.now <- struct{}{}:
		default:
		}
	}
}

// Stop has the hosts end their recordings in order. It may be called again.
func (g *Gathering) Stop() {
	g.mu.Lock()
	if g.stop.IsZero() {
		g.stop = time.Now()
	}
	g.mu.Unlock()
	g.nudge()
}

// Collect waits until each host has analysed what it recorded and its run file has come, and
// returns what came of them, in their order.
func (g *Gathering) Collect() []Part {
	g.Stop()
	g.done.Wait()
	g.over()
	out := make([]Part, len(g.hosts))
	for i, h := range g.hosts {
		out[i] = h.part
	}
	return out
}

// Cancel has the hosts end their recordings, of which nothing is wanted.
func (g *Gathering) Cancel() {
	g.mu.Lock()
	g.forget = true
	g.mu.Unlock()
	g.Stop()
	g.done.Wait()
	g.over()
}
