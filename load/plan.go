package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/kasoku/kasoku"
)

// A Target is a template of one request. It is not changed once a load that
// uses it has begun.
type Target struct {
	Method string
	URL    string
	Header http.Header // names are sent as they are written here
	Body   []byte      // shared by all requests

	Weight int   // its share of the requests against the other targets'; 0 means 1
	Fill   *Fill // the places in URL, Header and Body that each request fills for itself; nil: none
}

// Name returns the method and the path, such as "POST /users". The host and
// the query are left out, and places have their name, as in "GET /users/:int", so
// that requests to one route have one name.
func (t Target) Name() string {
	text := t.URL
	if t.Fill != nil {
		text = labelOf(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return t.Method + " " + text
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return t.Method + " " + path
}

// A Plan is what to send and when. [NewOrder] says which target request n goes to.
type Plan struct {
	Schedule Schedule
	Targets  []Target
	Share    Share // which of its requests are sent here; zero: all

	// Stream, when not nil, gives each request its target while the load runs;
	// Targets is empty then. The load ends with the stream. It is read on a goroutine
	// of its own, one target ahead; a read that nothing comes from can outlast the load.
	Stream Stream
}

// A Stream gives targets one after the other. It returns io.EOF after the last.
// Another error ends the load and is the reason why. Not for concurrent use.
type Stream interface {
	Next() (*Target, error)
}

// Target returns the target of a hit.
func (p *Plan) Target(h *Hit) *Target {
	if h.Own != nil {
		return h.Own
	}
	return &p.Targets[h.Target]
}

// The errors of a plan that cannot be driven.
var (
	ErrNoTargets  = errors.New("no targets to attack")
	ErrNoSchedule = errors.New("plan: no schedule")

	errSharedStream = errors.New("plan: targets that come while the load runs cannot be shared out")
)

// Validate reports what is missing, a ThinkMin above ThinkMax, and weights whose
// round would be too long.
func (p Plan) Validate() error {
	if p.Schedule == nil {
		return ErrNoSchedule
	}
	if len(p.Targets) == 0 && p.Stream == nil {
		return ErrNoTargets
	}
	if err := p.Share.Validate(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if p.Share != (Share{}) && p.Stream != nil {
		return errSharedStream
	}
	if c, closed := p.Schedule.(*ClosedLoop); closed {
		if err := c.check(); err != nil {
			return err
		}
	}
	_, _, err := reduceWeights(p.Targets)
	return err
}

// Names returns the name of each target, in order; equal names repeat.
func (p Plan) Names() []string {
	out := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		out[i] = t.Name()
	}
	return out
}

// A Hit is one request and what came of it. Every request that was due is
// reported in exactly one Hit, also one that could not be sent.
type Hit struct {
	N      uint64 // number in the schedule, from 0; of the whole where a share is sent
	Step   int    // Step.Number
	Target int    // index into Plan.Targets

	Own *Target // of this hit alone, when the plan has a stream of them

	Answer *Answer // what came back, when the engine was asked to keep it; nil otherwise

	Due  time.Duration // when it should have been sent
	Sent time.Duration // when it was handed to the client; making a connection comes after
	Done time.Duration // when the answer was complete, or had failed

	Code              int // status; 0 without a complete answer
	BytesIn, BytesOut uint64
	Err               string // empty on success; the status text of an answer outside 200..399
}

// An Answer is what a server sent. It is never changed.
type Answer struct {
	Header http.Header
	Body   []byte // as far as it counts
}

// Latency returns the time from the due time to the end of the answer.
func (h *Hit) Latency() time.Duration { return h.Done - h.Due }

// SendDelay returns how late the request was sent.
func (h *Hit) SendDelay() time.Duration { return h.Sent - h.Due }

// Service returns the time from the send to the end of the answer.
func (h *Hit) Service() time.Duration { return h.Done - h.Sent }

// A Sink takes the hits of a load as they end, in no particular order. Hits is
// called from several goroutines at once and must not keep the slice.
type Sink interface {
	Hits([]Hit)
}

// An Engine sends the requests of a plan.
//
// Run returns when every request that was due has been given to the sink. When
// ctx is cancelled it sends no more and gives what is in flight at most two
// seconds; a second, harder way to stop is the engine's own option. It returns
// an error only when the load could not begin; what happens later is in the
// hits and in the summary. start is offset 0 of the schedule and may lie ahead.
type Engine interface {
	Run(ctx context.Context, p Plan, start time.Time, sink Sink) (kasoku.LoadSummary, error)
}

// Tee returns a sink that hands every batch to all the sinks, in order. It returns a
// single sink as it is.
func Tee(sinks ...Sink) Sink {
	if len(sinks) == 1 {
		return sinks[0]
	}
	return tee(sinks)
}

type tee []Sink

// Hits implements Sink.
func (t tee) Hits(hits []Hit) {
	for _, s := range t {
		s.Hits(hits)
	}
}
