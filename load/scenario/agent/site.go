package agent

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
)

// A site is the server at the base URL, with the connections of one agent to it.
type site struct {
	a        *Agent
	addr     string // "host:port" to connect to
	hostLine string // "Host: …" and CRLF

	mu      sync.Mutex
	idle    []*conn      // the one used last is the last
	open    int          // connections, those being dialled included
	waiting []chan *conn // calls beyond MaxConns, oldest first; each gets one connection, or nil to dial one
	closed  bool
}

func newSite(a *Agent) *site {
	host, port := load.ASCIIHost(a.base.Hostname()), a.base.Port()
	if zone := strings.IndexByte(host, '%'); zone > 0 {
		host = host[:zone]
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return &site{a: a, addr: hostPort(a.base), hostLine: "Host: " + host + "\r\n"}
}

// send does a call on a connection.
func (s *site) send(x *call) error {
	c, err := s.take(x)
	if err != nil {
		return err
	}
	for {
		err := c.talk(x)
		if err == nil {
			x.code, x.reason = c.p.Code, ""
			if x.code < 200 || x.code >= 400 {
				x.reason = c.p.Status
			}
			s.give(c)
			return nil
		}
		c.close()
		// As net/http: what was lost on a connection that may have been closed while it
		// was idle is sent again when it can do no harm twice or has not left at all.
		if !c.lost || !c.used || x.resent || c.wrote && !x.idempotent() {
			s.leave()
			return err
		}
		x.resent = true
		s.a.resent.Add(1)
		if c, err = s.dial(x); err != nil {
			return err
		}
	}
}

// take returns a connection for a call: one that is idle, a new one, or the first
// that is given back.
func (s *site) take(x *call) (*conn, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	if s.open < s.a.opts.MaxConns {
		s.open++
		s.mu.Unlock()
		return s.dial(x)
	}
	turn := make(chan *conn, 1)
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	return s.wait(x, turn)
}

// wait waits until it is a call's turn.
func (s *site) wait(x *call, turn chan *conn) (*conn, error) {
	ctx, stop := x.limited()
	defer stop()
	select {
	case c := <-turn:
		x.sent = time.Now()
		if c == nil {
			return s.dial(x)
		}
		return c, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(s.waiting, turn)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		if c := <-turn; c != nil {
			s.give(c)
		} else {
			s.leave()
		}
	}
	return nil, context.Cause(ctx)
}

// limited returns the context of a call with its deadline.
func (x *call) limited() (context.Context, context.CancelFunc) {
	if x.deadline.IsZero() {
		return context.WithCancel(x.ctx)
	}
	return context.WithDeadline(x.ctx, x.deadline)
}

// give takes a connection back after an answer, and closes it if it cannot be used
// again.
func (s *site) give(c *conn) {
	c.used = true
	s.mu.Lock()
	kept := c.keeps() && !s.closed && !s.a.opts.NoKeepAlive
	switch {
	case !kept:
	case len(s.waiting) > 0:
		s.next() <- c
	default:
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !kept {
		c.close()
		s.leave()
	}
}

// leave gives the place of a connection that was closed to who waits longest.
func (s *site) leave() {
	s.mu.Lock()
	if len(s.waiting) > 0 {
		s.next() <- nil
	} else {
		s.open--
	}
	s.mu.Unlock()
}

// next takes out who has waited longest. The lock is held.
func (s *site) next() chan *conn {
	turn := s.waiting[0]
	s.waiting = slices.Delete(s.waiting, 0, 1)
	return turn
}

// close closes the connections that are idle, and the others when they become it.
func (s *site) close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.open -= len(idle)
	s.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

// dial makes a connection for a call, in a place that was taken; it is left when
// that fails.
func (s *site) dial(x *call) (*conn, error) {
	ctx, stop := x.limited()
	defer stop()
	tcp, err := s.a.dial(ctx, "tcp", s.addr)
	if err != nil {
		s.leave()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	x.sent = time.Now()
	return newConn(tcp), nil
}

// dial connects to the first address of a host and port that answers, of those
// that may be dialled.
func (a *Agent) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	addrs, err := a.resolver.Next(ctx, addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	conn, err := load.DialInOrder(ctx, &a.dialer, network, addrs)
	if err == nil {
		a.made.Add(1)
	}
	return conn, err
}
