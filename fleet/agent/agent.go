// Package agent answers for one host of a fleet: it says who it is and what its clock shows,
// sends its share of a load that its own flags allow, and hands over what that counted; it has
// kasoku record the host as the host's own kasoku.toml says, and hands over the run file; it has
// kasoku read the logs that its own flags name, and hands over tables.
//
// It never acts by itself: what was counted waits until it is asked for. When no one has
// asked for a while, the lease, a load stops: who ordered it is gone.
package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
)

// Options are what the owner of the host says.
type Options struct {
	Program string // kasoku's version
	Limit   fleet.Limit
	Lease   time.Duration // a load or a recording ends when no one asked for so long; 0: DefaultLease

	Recordings string                 // directory of those that no one has fetched
	Readings   string                 // directory of tables of logs
	Kasoku     func() (string, error) // returns the program that records and reads

	// Note, when not nil, is called with what was asked and done, in words for people.
	Note func(text string)
}

// DefaultLease is long enough for a network that is cut for half a minute.
const DefaultLease = time.Minute

// An Agent answers the questions for one host. It is safe for concurrent use.
type Agent struct {
	opts Options
	boot string

	mu   sync.Mutex
	part *part // of a load, under way or over; nil: none yet

	recorder *recorder // under way or over; nil: none yet
	reader   *reader   // the same
}

// New returns an agent.
func New(o Options) *Agent {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return &Agent{opts: o, boot: hex.EncodeToString(b[:])}
}

// Answer is a [bus.Answerer].
func (a *Agent) Answer(verb string, question []byte) any {
	received, err := fleet.Monotonic()
	if err != nil {
		return fleet.Ack{Error: err.Error()}
	}
	switch verb {
	case fleet.Hello:
		return fleet.Greeting{Version: fleet.Version, Program: a.opts.Program, Cores: runtime.GOMAXPROCS(0), Boot: a.boot,
			Allowed: a.opts.Limit.Allowed()}
	case fleet.Clock:
		sent, err := fleet.Monotonic()
		if err != nil {
			return fleet.Ack{Error: err.Error()}
		}
		return fleet.ClockAnswer{Received: received, Sent: sent}
	case fleet.Load:
		var o fleet.Order
		if err := json.Unmarshal(question, &o); err != nil {
			return fleet.Ack{Error: "bad order: " + err.Error()}
		}
		return a.begin(&o, received)
	case fleet.Frames:
		var q fleet.FrameQuestion
		if err := json.Unmarshal(question, &q); err != nil {
			return fleet.FrameAnswer{Boot: a.boot, Error: "bad question: " + err.Error()}
		}
		return a.frames(q)
	case fleet.Stop:
		var q fleet.StopQuestion
		if err := json.Unmarshal(question, &q); err != nil {
			return fleet.Ack{Error: "bad question: " + err.Error()}
		}
		return a.stop(q)
	case fleet.Record:
		var o fleet.RecordOrder
		if err := json.Unmarshal(question, &o); err != nil {
			return fleet.Ack{Error: "bad order: " + err.Error()}
		}
		return a.record(&o)
	case fleet.Recording:
		var q fleet.RecordingQuestion
		if err := json.Unmarshal(question, &q); err != nil {
			return fleet.RecordingAnswer{Error: "bad question: " + err.Error()}
		}
		return a.recording(&q)
	case fleet.Part:
		var q fleet.PartQuestion
		if err := json.Unmarshal(question, &q); err != nil {
			return fleet.PartAnswer{Error: "bad question: " + err.Error()}
		}
		return a.piece(&q)
	case fleet.Logs:
		var q fleet.LogsQuestion
		if err := json.Unmarshal(question, &q); err != nil {
			return fleet.LogsAnswer{State: fleet.Failed, Error: "bad question: " + err.Error()}
		}
		return a.logs(&q)
	}
	a.opts.Note("refused: an unknown question, " + verb)
	return fleet.Ack{Error: "unknown question"}
}

// begin starts a share of a load.
func (a *Agent) begin(o *fleet.Order, now time.Duration) fleet.Ack {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := o.Check(&a.opts.Limit, now)
	if err == nil && a.part != nil && !a.part.over() {
		err = &fleet.RefusedError{Reason: fleet.Busy, Fix: "wait until it is over; one whose coordinator is gone ends after " +
			a.opts.Lease.String() + ", the agent's --lease"}
	}
	var start time.Time
	if err == nil {
		start, err = fleet.TimeOf(o.Start) // reading the order took a while
	}
	if err != nil {
		a.opts.Note("load " + err.Error())
		return refusal(err)
	}
	a.part = newPart(o, &a.opts, start)
	a.opts.Note("load " + o.Run + " begins")
	return fleet.Ack{}
}

// of returns the part of a run.
func (a *Agent) of(run string) *part {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.part == nil || a.part.run != run {
		return nil
	}
	return a.part
}

func (a *Agent) frames(q fleet.FrameQuestion) fleet.FrameAnswer {
	out := fleet.FrameAnswer{Boot: a.boot}
	p := a.of(q.Run)
	if p == nil {
		out.Error = "it knows nothing of this load: it was started again"
		return out
	}
	var err error
	if out.Frames, err = p.after(q.After); err != nil {
		out.Error = err.Error()
	}
	return out
}

func (a *Agent) stop(q fleet.StopQuestion) fleet.Ack {
	p := a.of(q.Run)
	if p == nil {
		return fleet.Ack{Error: "it knows nothing of this load"}
	}
	a.opts.Note("load " + q.Run + " is stopped by who ordered it")
	p.halt(errors.New("interrupt"), q.Hard)
	if q.Discard {
		p.release(true)
	}
	return fleet.Ack{}
}

// Close stops a load and ends a recording that are under way, and waits for their end.
func (a *Agent) Close() {
	a.mu.Lock()
	p, r, l := a.part, a.recorder, a.reader
	a.mu.Unlock()
	if l != nil {
		l.halt()
		defer func() { <-l.ended }()
	}
	if r != nil {
		r.halt("its agent was ended")
		defer func() { <-r.ended }()
	}
	if p != nil {
		p.halt(errors.New("its agent was ended"), true)
		<-p.ended
	}
}

// A part is this host's share of one load.
type part struct {
	run   string
	lease *time.Timer
	of    time.Duration // the lease
	soft  context.CancelCauseFunc
	hard  context.CancelFunc
	ended chan struct{} // closed when the load is over

	mu       sync.Mutex
	recorder *load.Recorder // nil before the first request
	queue    []fleet.Frame  // counted and not acknowledged
	sizes    []int
	queued   int        // bytes, the sum of sizes
	free     bool       // no one asks for the counts, so another load may take their place
	dropped  bool       // the counts are gone, as who ordered the load wants none
	next     uint64     // number of the next frame
	end      *fleet.End // once the load is over
	closed   bool       // the frame with the end is in the queue, or was
}

func newPart(o *fleet.Order, opts *Options, start time.Time) *part {
	soft, cancelSoft := context.WithCancelCause(context.Background())
	hard, cancelHard := context.WithCancel(context.Background())
	p := &part{run: o.Run, of: opts.Lease, soft: cancelSoft, hard: cancelHard, next: 1}
	p.lease = time.AfterFunc(opts.Lease+time.Until(start), contain.Func(loadPart, func() {
		opts.Note("load " + p.run + " is stopped: no one asked for it in " + opts.Lease.String())
		p.halt(errors.New("no one asked for its counts"), false)
		p.release(false)
	}))
	attack := o.Attack()
	attack.Stdin = bytes.NewReader(o.Targets)
	attack.Start = start
	attack.Engine.HTTP.Hard = hard
	attack.Engine.HTTP.Permit.Hosts = opts.Limit.Hosts()
	attack.Watch = func(r *vegeta.Running) load.Sink {
		p.mu.Lock()
		defer p.mu.Unlock()
		r.Recorder.KeepSeconds()
		p.recorder = r.Recorder
		return nil
	}
	p.ended = make(chan struct{})
	run := contain.Go(loadPart, func() { p.finish(vegeta.Attack(soft, attack)) })
	contain.Go(loadPart, func() {
		<-run
		p.finish(vegeta.AttackResult{}, errors.New("a bug of kasoku ended the load"))
		opts.Note("load " + p.run + " is over")
		close(p.ended)
	})
	return p
}

var loadPart = contain.Part{Kind: contain.Engine, Name: "share"}

// finish notes how the load ended, the first time.
func (p *part) finish(res vegeta.AttackResult, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return
	}
	p.end = &fleet.End{Summary: res.Summary, Warnings: res.Warnings}
	if err != nil {
		p.end.Error = err.Error()
	}
}

// halt sends no more.
func (p *part) halt(why error, hard bool) {
	p.soft(why)
	if hard {
		p.hard()
	}
}

// over reports whether the load is over and its counts were fetched, or no one asked for
// them any more.
func (p *part) over() bool {
	select {
	case <-p.ended:
	default:
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed && len(p.queue) == 0 || p.free
}

// release lets another load take the place of this one once it is over. What it counted can
// be fetched until then, unless that is dropped.
func (p *part) release(drop bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = true
	if drop {
		p.dropped, p.queue, p.sizes, p.queued = true, nil, nil, 0
	}
}

// maxQueue bounds what waits to be fetched: more than hours of the most targets that are kept
// apart, from a peer that asks and never says what came.
const maxQueue = 64 << 20

// after acknowledges the frames up to one and returns those after it.
func (p *part) after(number uint64) ([]fleet.Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropped {
		return nil, errors.New("who ordered the load wanted no counts")
	}
	p.lease.Reset(p.of)
	p.free = false
	if number >= p.next {
		return nil, errors.New("frames are acknowledged that were never sent")
	}
	for len(p.queue) > 0 && p.queue[0].Number <= number {
		p.queued -= p.sizes[0]
		p.queue, p.sizes = p.queue[1:], p.sizes[1:]
	}
	if err := p.cut(); err != nil {
		return nil, err
	}
	n, size := 0, 0
	for n < len(p.queue) && (n == 0 || size+p.sizes[n] <= fleet.MaxAnswer) {
		size += p.sizes[n]
		n++
	}
	return p.queue[:n:n], nil
}

// cut makes frames of what was counted since the last time. The caller holds mu.
func (p *part) cut() error {
	if p.closed {
		return nil
	}
	ended := p.end != nil // asked before Take, so that nothing is counted after it
	if p.recorder != nil {
		frames, sizes, err := fleet.Cut(p.recorder.Take(), p.next)
		if err != nil {
			return err
		}
		p.push(frames, sizes)
	}
	if ended {
		p.push([]fleet.Frame{{Number: p.next, End: p.end}}, []int{4096})
		p.closed = true
	}
	if p.queued > maxQueue {
		p.halt(errors.New("too many of its counts wait to be fetched"), true)
	}
	return nil
}

func (p *part) push(frames []fleet.Frame, sizes []int) {
	p.queue, p.sizes, p.next = append(p.queue, frames...), append(p.sizes, sizes...), p.next+uint64(len(frames))
	for _, n := range sizes {
		p.queued += n
	}
}
