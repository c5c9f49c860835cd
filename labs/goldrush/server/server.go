// Package server puts the game of package mine on HTTP and on the real clock.
//
// The one idea: all requests go through one game under one lock, and a goroutine moves the
// game on when something is due in it. What the host was late with is made up for: the virtual
// CPU has a second a second, whoever else uses the machine.
//
// [New] makes a [Server], which is a handler; [Serve] runs one as a process does. Statistics
// are at /metrics, in the format of Prometheus.
package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/process"
)

// never is when nothing is due.
const never = time.Duration(math.MaxInt64)

// A Server answers the calls of one game. It is safe for concurrent use.
type Server struct {
	begin time.Time
	wake  chan struct{}
	over  chan struct{} // closed when nothing is answered any more
	end   sync.Once

	mu   sync.Mutex
	mine *mine.Mine
	due  time.Duration // when the goroutine wakes
}

// New returns a server whose game is made. It answers while Run runs.
func New(o mine.Options) *Server {
	return &Server{mine: mine.New(o), begin: time.Now(), wake: make(chan struct{}, 1), over: make(chan struct{}), due: never}
}

func (s *Server) now() time.Duration { return time.Since(s.begin) }

// Run moves the game on until it is over or the context ends. Requests that are not answered by
// then are cut off.
func (s *Server) Run(ctx context.Context) {
	defer s.end.Do(func() { close(s.over) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		wait, over := s.advance()
		if over {
			return
		}
		timer.Reset(wait)
	}
}

// advance answers what is due, and returns how long nothing will be, and whether the game is over.
func (s *Server) advance() (wait time.Duration, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.mine.Advance(now)
	s.due = never
	if at, ok := s.next(); ok {
		s.due = at
		return at - now, s.mine.Over()
	}
	return time.Hour, s.mine.Over()
}

// next is when something is due in the game, or it ends.
func (s *Server) next() (time.Duration, bool) {
	at, ok := s.mine.Next()
	if end, ends := s.mine.End(); ends && (!ok || end < at) {
		return end, true
	}
	return at, ok
}

// Ask hands a request to the game and waits for the answer; ok is false where the client is
// gone before, or the game is over.
func (s *Server) Ask(ctx context.Context, r goldrush.Request) (a goldrush.Answer, ok bool) {
	answered := make(chan goldrush.Answer, 1)
	ticket, sooner := s.handIn(r, func(a goldrush.Answer) { answered <- a })
	if sooner {
		select {
		case s.wake <- struct{}{}:
		default: // it wakes already
		}
	}
	select {
	case a = <-answered:
		return a, true
	case <-ctx.Done():
	case <-s.over:
		select {
		case a = <-answered: // at the end
			return a, true
		default:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mine.Leave(ticket)
	return a, false
}

// handIn gives the game a request, and reports whether it is due sooner now than the
// goroutine wakes.
func (s *Server) handIn(r goldrush.Request, reply func(goldrush.Answer)) (t mine.Ticket, sooner bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t = s.mine.Ask(s.now(), r, reply)
	if at, ok := s.next(); ok && at < s.due {
		s.due, sooner = at, true
	}
	return t, sooner
}

// Stats returns what the game has counted, and the time since it was made.
func (s *Server) Stats() (mine.Stats, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.mine.Advance(now)
	return s.mine.Stats(), now
}

// Config configures a server as a process.
type Config struct {
	Listen string // host:port; port 0 takes a free one
	Game   mine.Options
	// Waits is how long the first request is waited for; 0: for ever.
	Waits time.Duration
	// OneRequest closes each connection after a request.
	OneRequest bool
	Log        io.Writer         // gets a line when the world is known
	Result     io.Writer         // gets the score at the end, as JSON
	Ready      func(addr string) // called once, when requests are accepted
}

// Serve makes a game and answers requests until it is over or the context ends. Then it
// writes the result.
func Serve(ctx context.Context, c Config) error {
	if c.Game.Seed != 0 {
		fmt.Fprintf(c.Log, "seed %d: the world is known, and the score does not count\n", c.Game.Seed)
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	s := New(c.Game)
	ctx, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() { end(); all.Wait() }()
	all.Go(func() { s.Run(ctx) })
	all.Go(func() {
		s.awaitEnd(ctx, c.Waits)
		end()
	})
	if c.Ready != nil {
		c.Ready(ln.Addr().String())
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 30 * time.Second}
	srv.SetKeepAlivesEnabled(!c.OneRequest)
	if err := process.Serve(ctx, srv, ln); err != nil {
		return err
	}
	stats, _ := s.Stats()
	return writeResult(c.Result, &stats)
}

// awaitEnd waits until the game is over, by its rules or the context, or has not begun after a while.
func (s *Server) awaitEnd(ctx context.Context, waits time.Duration) {
	var late <-chan time.Time // nil: the first request is waited for for ever
	if waits > 0 {
		timer := time.NewTimer(waits)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.over:
			return
		case <-late:
			if stats, _ := s.Stats(); stats.Begun < 0 {
				return
			}
		}
	}
}

// A result is what a game leaves, in the published form.
type result struct {
	Status string   `json:"status"`
	Score  *int     `json:"score,omitempty"`
	Errors []string `json:"errors,omitempty"`
}

func writeResult(w io.Writer, stats *mine.Stats) error {
	r := result{Status: "OK", Score: &stats.Balance}
	if stats.Begun < 0 {
		r = result{Status: "ERR", Errors: []string{"no request came"}}
	}
	if err := json.NewEncoder(w).Encode(r); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
