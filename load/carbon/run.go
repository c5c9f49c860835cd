package carbon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/wire/graphite"
)

const (
	// grace is how long what is due may still be sent after the end.
	grace = 2 * time.Second
	// interrupted is how long a server may take to read what was sent, after an interrupt.
	interrupted = 300 * time.Millisecond
	// settle is how long a point may be on its way from when it is due.
	settle = 10 * time.Millisecond
)

// A runner is one load.
type runner struct {
	o      *Options
	plan   plan
	start  time.Time // with the monotonic clock
	wall   time.Time // of the same moment; points have its seconds
	agents []*agent
	hard   context.Context // no wait outlives it

	stopped atomic.Int64 // ns after the start of the interrupt, from when on nothing becomes due; 0: none

	cursors []int // of each agent: the first slot that has not been counted as due
	nominal uint64
}

// Run makes the load, until its duration is over or ctx ends, and returns what came of it.
// The error reports that it could not begin: the options are wrong, the address may not be
// loaded (a [*load.ForbiddenError]), or no one listens there.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("carbon: %w", err)
	}
	r := &runner{o: &o, plan: newPlan(&o), cursors: make([]int, o.Agents)}
	conn, err := r.dial(ctx)
	var forbidden *load.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return nil, forbidden // without "dial tcp: connect:" before it: nothing was
	case err != nil:
		return nil, fmt.Errorf("carbon: %w", err)
	}
	_ = conn.Close() // only tried
	if o.Begun != nil {
		o.Begun()
	}
	hard, cancelHard := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelHard()
	r.hard = hard
	r.start = time.Now()
	r.wall = r.start.Round(0)
	for i := range o.Agents {
		a := &agent{number: i, run: r, buf: make([]byte, 0, o.bufferOf()), enc: encoder{name: o.Names.ofAgent(i),
			oldShare: o.OldShare}}
		a.enc.random = (o.Seed+uint64(i)+1)*0x9e3779b97f4a7c15 | 1
		r.agents = append(r.agents, a)
	}
	work, cancelWork := context.WithCancel(ctx)
	defer cancelWork()
	if o.Duration > 0 {
		defer time.AfterFunc(o.Duration+grace, cancelWork).Stop()
	}
	defer context.AfterFunc(work, r.interruptAll)()
	defer context.AfterFunc(ctx, func() {
		r.stopped.Store(int64(time.Since(r.start)))
		time.AfterFunc(interrupted, cancelHard)
	})()
	done := contain.Go(launchPart, func() { r.launch(work) })
	return r.watch(ctx, done), nil
}

var (
	launchPart = contain.Part{Kind: contain.Goroutine, Name: "carbon agents"}
	agentPart  = contain.Part{Kind: contain.Goroutine, Name: "carbon agent"}
)

// launch starts each agent when it is its turn, and waits for all.
func (r *runner) launch(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	var paused time.Duration
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i, a := range r.agents {
		var at time.Duration
		for waiting := true; waiting; {
			if at = paused; r.o.Launches != nil {
				at += r.o.Launches[i]
			}
			timer.Reset(time.Until(r.start.Add(at)))
			select {
			case <-timer.C:
				waiting = false
			case <-r.o.Toggle:
				since := time.Now()
				select {
				case <-r.o.Toggle:
				case <-ctx.Done():
				}
				paused += time.Since(since)
			case <-ctx.Done():
				return
			}
			if ctx.Err() != nil {
				return
			}
		}
		if r.o.Duration > 0 && at >= r.o.Duration {
			return
		}
		a.count.launched.Store(int64(at) + 1)
		group.Go(contain.Func(agentPart, func() { a.serve(ctx, at) }))
	}
}

// interruptAll ends all writes that wait.
func (r *runner) interruptAll() {
	for _, a := range r.agents {
		a.interrupt()
	}
}

// dial makes a connection to where the load goes, if it may be loaded.
func (r *runner) dial(ctx context.Context) (net.Conn, error) {
	network := "tcp"
	if r.o.Protocol == graphite.UDP {
		network = "udp"
	}
	d := net.Dialer{Timeout: dialLimit,
		Control: func(_, addr string, _ syscall.RawConn) error { return r.permitted(addr) }}
	return d.DialContext(ctx, network, r.o.Address)
}

// watch adds up, second by second, what all agents have done, until they have ended.
func (r *runner) watch(ctx context.Context, done <-chan struct{}) *Result {
	out := &Result{Options: *r.o, Started: r.wall}
	var before Second
	before.CPU = load.CPUTime()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-done:
			over = true
		}
		late := settle
		if over {
			late = 0
		}
		before = out.read(r.soFar(late), before, over)
		if r.o.Watch != nil && !over {
			r.fill(out)
			r.o.Watch(out)
		}
	}
	r.fill(out)
	out.Stopped = ctx.Err() != nil
	return out
}

// fill fills in what is no sum of seconds.
func (r *runner) fill(out *Result) {
	out.Connections, out.LastError = 0, ""
	for _, a := range r.agents {
		out.Connections += a.count.connections.Load()
		if err := a.lastErr(); err != nil {
			out.LastError = err.Error()
		}
	}
}

// soFar is all that was due and done since the start. What agents did is read first, so that
// it was due. What became due less than late ago is not said to be outstanding.
func (r *runner) soFar(late time.Duration) (s Second) {
	now := time.Now()
	for _, a := range r.agents {
		c := &a.count
		if c.launched.Load() == 0 {
			break // those after it are not launched either
		}
		s.Agents++
		out := a.outstanding()
		sent := c.sent.Load()
		s.Sent += sent
		s.Lost += c.lost.Load()
		s.Skipped += c.skipped.Load()
		s.Unsure += c.unsure.Load()
		if r.o.Protocol != graphite.UDP {
			s.Acked += sent - min(sent, out+c.unsure.Load())
		}
		s.Failures += c.dialFailures.Load()
		s.Broken += c.broken.Load()
		s.Blocked += a.meter.blocked(now)
	}
	until := time.Since(r.start) - late
	if stopped := time.Duration(r.stopped.Load()); stopped > 0 {
		until = min(until, stopped)
	}
	r.countDue(until)
	s.To = time.Since(r.start)
	s.Nominal = max(r.nominal, s.Sent+s.Lost+s.Skipped)
	s.Outstanding = s.Nominal - s.Sent - s.Lost - s.Skipped
	s.CPU = load.CPUTime()
	s.Memory, _, _ = command.Memory(os.Getpid()) // 0 with an error
	return s
}

// countDue adds to nominal what became due until then.
func (r *runner) countDue(until time.Duration) {
	for i, a := range r.agents {
		launched := time.Duration(a.count.launched.Load() - 1)
		if launched < 0 {
			return
		}
		for {
			s := r.plan.slotOf(i, r.cursors[i], launched)
			due := launched + s.due
			if due > until || r.o.Duration > 0 && due >= r.o.Duration {
				break
			}
			r.nominal += uint64(s.n)
			r.cursors[i]++
		}
	}
}

// since is what was due and done between two readings.
func (s *Second) since(before *Second) Second {
	d := *s
	d.From = before.To
	d.Nominal -= before.Nominal
	d.Sent -= before.Sent
	d.Acked -= before.Acked
	d.Lost -= before.Lost
	d.Skipped -= before.Skipped
	d.Unsure -= before.Unsure
	d.Blocked -= min(d.Blocked, before.Blocked)
	d.Failures -= before.Failures
	d.Broken -= before.Broken
	d.CPU -= before.CPU
	return d
}
