//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
)

// An Engine sends the requests of a plan over raw sockets. It may run several
// loads, one after the other; each begins without connections.
type Engine struct {
	opts Options
}

var _ load.Engine = (*Engine)(nil)

// New returns an engine.
func New(o Options) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("epollhttp engine: %w", err)
	}
	return &Engine{opts: o.filled()}, nil
}

// errStream: targets that come while the load runs may lead anywhere, and names
// are resolved before the load here.
var errStream = errors.New("epollhttp engine: targets that come while the load runs need the engine nethttp")

// Run sends the requests of the plan. See [load.Engine]. It returns a
// [*load.ForbiddenError] when a target leads where no load may go.
func (e *Engine) Run(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	if err := p.Validate(); err != nil {
		return kasoku.LoadSummary{}, err
	}
	if p.Stream != nil {
		return kasoku.LoadSummary{}, errStream
	}
	templates, err := newTemplates(p.Targets, &e.opts)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	r := &run{opts: &e.opts, plan: p, start: start, sink: sink, templates: templates, order: load.NewOrder(p.Targets)}
	r.users, _ = p.Schedule.(*load.ClosedLoop)
	if r.sites, err = e.opts.sites(ctx, templates); err != nil {
		return kasoku.LoadSummary{}, err
	}
	if err := r.open(); err != nil {
		return kasoku.LoadSummary{}, err
	}
	return r.drive(ctx), nil
}

// A run is one load under way: what its shards share.
type run struct {
	opts      *Options
	plan      load.Plan
	start     time.Time
	sink      load.Sink
	templates []template // by Hit.Target
	sites     sites
	order     *load.Order
	users     *load.ClosedLoop // nil in an open loop

	slots  *slots
	shards []*shard

	// What other threads order shards to do; they look at it when woken.
	orders atomic.Int32
	stopAt time.Duration // what was due until then and is not sent is accounted for; written before orders
	mu     sync.Mutex
	closed bool // pollers, which must not be woken any more; guarded by mu

	followCtx context.Context // of the redirects that are followed
	abort     context.CancelCauseFunc
	followers sync.WaitGroup
}

// The values of run.orders, which only rise.
const (
	goOn      = iota
	stopSend  // send no more; what is in flight has load.DefaultDrain
	stopAtNow // abort what is in flight, too
)

// open makes the shards.
func (r *run) open() error {
	n := r.shardCount(runtime.GOMAXPROCS(0))
	r.slots = newSlots(r.opts.MaxInFlight, n)
	for i := range n {
		s, err := newShard(r, i, n)
		if err != nil {
			r.close()
			return fmt.Errorf("epollhttp engine: %w", err)
		}
		r.shards = append(r.shards, s)
	}
	return nil
}

// perShard is a rate that one shard keeps with ease; one that does nothing else
// reaches two to three times as much.
const perShard = 50_000

// shardCount returns how many threads send. One is enough for most rates, and a
// shard that is not needed only takes a core from a server on the same host: so
// one for each perShard requests a second, and never all the cores.
func (r *run) shardCount(cores int) int {
	n := r.opts.Shards
	if n == 0 {
		n = max(cores-1, 1)
		if r.users == nil {
			var most float64
			for _, s := range r.plan.Schedule.Steps() {
				most = max(most, s.PerSec, s.PerSecTo)
			}
			n = min(n, int(min(most, 1e9))/perShard+1)
		} else {
			n = min(n, (r.opts.MaxInFlight+15)/16)
		}
	}
	n = min(n, r.opts.MaxInFlight)
	if m := r.opts.MaxConnections; m > 0 {
		n = min(n, m)
	}
	return n
}

// shardPart names a shard where it fails: the others go on with their requests.
var shardPart = contain.Part{Kind: contain.Engine, Name: "shard"}

// drive runs the shards to the end of the load.
func (r *run) drive(ctx context.Context) kasoku.LoadSummary {
	var sum kasoku.LoadSummary
	// Cancelled only by abort; what ctx carries goes on to the redirects.
	r.followCtx, r.abort = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.abort(nil)
	stopped := context.AfterFunc(ctx, contain.Func(shardPart, func() { r.giveOrder(stopSend) }))
	defer stopped()
	hard := r.opts.Hard
	if hard != nil {
		defer context.AfterFunc(hard, contain.Func(shardPart, func() { r.giveOrder(stopAtNow) }))()
	}
	meter := load.StartMeter()
	lend := lendProcs(len(r.shards))
	var wg sync.WaitGroup
	for _, s := range r.shards {
		wg.Go(contain.Func(shardPart, s.main))
	}
	wg.Wait()
	r.followers.Wait()
	r.close()
	lend()
	meter.Stop(&sum)
	switch {
	case ctx.Err() != nil:
		sum.Stopped = load.StopReason(ctx)
	case hard != nil && hard.Err() != nil:
		sum.Stopped = load.StopReason(hard)
	}
	if sum.Stopped != "" {
		sum.StoppedAt = sum.Wall // ordered when all was over
		if r.orders.Load() != goOn {
			sum.StoppedAt = r.stopAt
		}
	}
	r.describe(&sum)
	return sum
}

// giveOrder gives an order to all shards. A lower one after a higher one is void.
func (r *run) giveOrder(order int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || order <= r.orders.Load() {
		return
	}
	if r.orders.Load() == goOn {
		r.stopAt = time.Since(r.start)
	}
	r.orders.Store(order)
	for _, s := range r.shards {
		s.poller.interrupt()
	}
}

func (r *run) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, s := range r.shards {
		s.poller.close()
	}
}

func (r *run) describe(sum *kasoku.LoadSummary) {
	sum.Engine, sum.EngineWhy = "epollhttp", "cleartext HTTP/1.1"
	sum.Model = load.ModelOpen
	if r.users != nil {
		sum.Model = load.ModelClosed
	} else {
		sum.Pacing = string(r.opts.Pacing)
	}
	names := r.plan.Names()
	slices.Sort(names)
	sum.Targets = slices.Compact(names)
	sum.MaxInFlight = r.opts.MaxInFlight
	sum.Shards = len(r.shards)
	for _, s := range r.shards {
		sum.PeakInFlight = min(sum.PeakInFlight+int(s.held.peak), sum.MaxInFlight) // their peaks need not have been at once
		sum.Connections += s.count.connections
		sum.Resent += s.count.resent
		sum.Redirected += s.follows.all
	}
}

// procs keeps two engines at once from mixing up what they lend.
var procs sync.Mutex

// lendProcs gives the scheduler n more processors, for threads that hold one
// while they wait, and returns how to take them back.
func lendProcs(n int) (takeBack func()) {
	add := func(n int) {
		procs.Lock()
		defer procs.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	add(n)
	return func() { add(-n) }
}
