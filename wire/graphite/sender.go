package graphite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// A Protocol defines how points go to Carbon.
type Protocol string

// The protocols.
const (
	Line   Protocol = "line"   // text over TCP, port 2003
	Pickle Protocol = "pickle" // pickled lists over TCP, port 2004
	UDP    Protocol = "udp"    // text over UDP, port 2003 where the server takes it
)

// Protocols lists them.
func Protocols() []Protocol { return []Protocol{Line, Pickle, UDP} }

// Port is where Carbon listens unless it is configured otherwise.
func (p Protocol) Port() string {
	if p == Pickle {
		return "2004"
	}
	return "2003"
}

// Options configure where a Sender sends to.
type Options struct {
	Address  string // host:port
	Protocol Protocol
	Buffer   int           // points that may wait; 0: 200,000
	Timeout  time.Duration // of a connection and of a write; 0: 5 s
}

// Stats is what a Sender has done. Sent points were taken by the operating system;
// whether the server kept them is not reported.
type Stats struct {
	Sent        uint64
	Unsure      uint64 // of those, over a connection that broke, or a UDP port that refused some: not all may have been read
	Dropped     uint64 // because the buffer was full, or they were not accepted until the end
	Connections uint64 // made, UDP's as well
	Failures    uint64 // connections that could not be made or were lost
	LastError   string // of a connection; empty when there was none
}

const (
	defaultBuffer  = 200_000
	defaultTimeout = 5 * time.Second

	// perBatch is how many points are sent at once. Carbon's own relay sends 500 to a
	// message (MAX_DATAPOINTS_PER_MESSAGE).
	perBatch = 500

	firstWait = 100 * time.Millisecond // before the second try of a connection
	longest   = 10 * time.Second       // between two tries
)

// A Sender sends points over one connection. Its methods may be called from several
// goroutines.
type Sender struct {
	o    Options
	link *link         // the goroutine's own, as is inFlight
	wake chan struct{} // holds a token when there may be something to do
	room chan struct{} // holds a token when points were taken
	stop context.CancelFunc
	done chan struct{} // closed when the goroutine has ended

	inFlight int // points that were taken from the ring and are neither sent nor dropped yet

	mu      sync.Mutex // guards the following fields
	ring    []Point
	head, n int
	closed  bool
	stats   Stats
}

// NewSender returns a sender, which connects when it has points. It is to be closed.
func NewSender(o Options) (*Sender, error) {
	switch o.Protocol {
	case Line, Pickle, UDP:
	default:
		return nil, fmt.Errorf("graphite: protocol %q: want line, pickle or udp", o.Protocol)
	}
	if o.Buffer <= 0 {
		o.Buffer = defaultBuffer
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sender{
		o: o, link: &link{o: o}, stop: cancel,
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		if err := contain.Run(senderPart, func() { s.run(ctx) }); err != nil {
			s.failed(err)
			s.dropRest(s.inFlight)
		}
	}()
	return s, nil
}

func wakeUp(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Offer takes points and returns at once. When the buffer is full the oldest points
// give way, and are counted as dropped: a live view wants what is new.
func (s *Sender) Offer(points []Point) {
	defer wakeUp(s.wake)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.stats.Dropped += uint64(len(points))
		return
	}
	for _, p := range points {
		if s.n == s.o.Buffer {
			s.pop()
			s.stats.Dropped++
		}
		s.push(p)
	}
}

// Write takes points and waits for room, so that none is dropped, until ctx ends. After
// Close it is an error. When it fails, some of the points may have been taken.
func (s *Sender) Write(ctx context.Context, points []Point) error {
	for len(points) > 0 {
		var closed bool
		points, closed = s.fill(points)
		wakeUp(s.wake)
		switch {
		case len(points) == 0:
			return nil
		case closed:
			return errors.New("graphite: the sender is closed")
		}
		select {
		case <-s.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fill takes as many points as there is room for, and returns the rest.
func (s *Sender) fill(points []Point) (rest []Point, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(points) > 0 && s.n < s.o.Buffer && !s.closed {
		s.push(points[0])
		points = points[1:]
	}
	return points, s.closed
}

func (s *Sender) push(p Point) {
	if s.n == len(s.ring) {
		s.grow()
	}
	s.ring[(s.head+s.n)%len(s.ring)] = p
	s.n++
}

// grow makes room in the ring, up to what may wait.
func (s *Sender) grow() {
	ring := make([]Point, min(max(2*len(s.ring), perBatch), s.o.Buffer))
	k := copy(ring, s.ring[s.head:])
	copy(ring[k:], s.ring[:s.head])
	s.ring, s.head = ring, 0
}

func (s *Sender) pop() Point {
	p := s.ring[s.head]
	s.ring[s.head] = Point{}
	s.head = (s.head + 1) % len(s.ring)
	s.n--
	return p
}

// take moves up to perBatch points into batch.
func (s *Sender) take(batch []Point) (_ []Point, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(batch) < perBatch && s.n > 0 {
		batch = append(batch, s.pop())
		s.inFlight++
	}
	if len(batch) > 0 {
		wakeUp(s.room)
	}
	return batch, s.closed
}

// senderPart names the sender where it fails.
var senderPart = contain.Part{Kind: contain.Goroutine, Name: "graphite sender"}

// run sends until the sender is closed and all is sent, or until ctx ends.
func (s *Sender) run(ctx context.Context) {
	var batch []Point
	for {
		var closed bool
		batch, closed = s.take(batch[:0])
		switch {
		case len(batch) > 0:
			if !s.deliver(ctx, batch) {
				s.dropRest(s.inFlight)
				return
			}
			s.inFlight = 0
			continue
		case closed:
			s.failed(s.link.finish(ctx))
			return
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			s.dropRest(0)
			return
		}
	}
}

// deliver sends a batch, over as many connections as that takes; false: ctx ended.
func (s *Sender) deliver(ctx context.Context, batch []Point) bool {
	wait := firstWait
	for ctx.Err() == nil {
		connected, err := s.link.send(ctx, batch)
		s.mu.Lock()
		if connected {
			s.stats.Connections++
		}
		if err == nil {
			s.stats.Sent += uint64(len(batch))
		}
		s.mu.Unlock()
		if err == nil {
			return true
		}
		s.failed(err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		wait = min(2*wait, longest)
	}
	return false
}

func (s *Sender) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	s.stats.Unsure = s.link.unsure
	s.stats.Failures++
	s.stats.LastError = err.Error()
	s.mu.Unlock()
}

// dropRest counts as dropped more points and all that still wait.
func (s *Sender) dropRest(more int) {
	s.link.abandon()
	s.mu.Lock()
	s.stats.Unsure = s.link.unsure
	s.stats.Dropped += uint64(more + s.n)
	s.head, s.n, s.closed, s.ring = 0, 0, true, nil
	s.mu.Unlock()
	wakeUp(s.room)
}

// Stats returns what was done so far.
func (s *Sender) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close sends what waits, until ctx ends, waits over TCP for the server to have read
// it, and ends the sender. The error says how many points were dropped, of all that
// the sender ever took, or that it is not known whether the server has read them all.
func (s *Sender) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	wakeUp(s.wake)
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.stop()
	<-s.done
	st := s.Stats()
	why := st.LastError
	switch {
	case st.Dropped == 0 && st.Unsure == 0:
		return nil
	case st.Dropped == 0:
		return fmt.Errorf("graphite: whether %s kept all %d points is not known: %s", s.o.Address, st.Sent, why)
	case why == "":
		why = "it takes them too slowly"
	}
	return fmt.Errorf("graphite: %d points dropped, %d sent to %s: %s", st.Dropped, st.Sent, s.o.Address, why)
}
