package carbon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
)

// balanced checks that what was due is what became of it.
func balanced(t *testing.T, r *Result) {
	t.Helper()
	s := &r.Total
	if s.Nominal != s.Sent+s.Lost+s.Skipped+s.Outstanding || s.Acked > s.Sent {
		t.Errorf("it does not add up: %+v", *s)
	}
	var sum Second
	for i := range r.Seconds {
		sum.add(&r.Seconds[i])
	}
	if sum.Nominal != s.Nominal || sum.Sent != s.Sent || sum.Lost != s.Lost {
		t.Errorf("the seconds make %+v, the total is %+v", sum, *s)
	}
}

// TestRun_Haggar: the lines are those that haggar prints, in its order, over a connection for
// each flush, and one time for each flush. haggar prints with "%s %d %d\n" of
// PREFIX.agent.N.metrics.M, a value and a time.
func TestRun_Haggar(t *testing.T) {
	t.Parallel()
	s := newSink(t, nil)
	o := Options{Address: s.addr(), Protocol: "line", Names: "haggar.agent.{agent}.metrics.{metric}", Agents: 3,
		Metrics:  3 * 1200,
		Interval: 150 * time.Millisecond, Duration: 600 * time.Millisecond, OneEpoch: true, DropLate: true,
		Redial:   true,
		Launches: HaggarLaunches(3, 20*time.Millisecond, 10*time.Millisecond, rand.New(rand.NewPCG(1, 2)))}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	flushes, points := map[byte]int{}, uint64(0)
	for _, text := range s.texts() {
		got := parseLines(t, text)
		agent := text[len("haggar.agent.")]
		var want bytes.Buffer
		for i, p := range got {
			fmt.Fprintf(&want, "%s.agent.%c.metrics.%d %d %d\n", "haggar", agent, i, int(p.value), got[0].time)
		}
		if text != want.String() || len(got) != 1200 {
			t.Errorf("agent %c: %d lines, not as haggar's, from %.60q", agent, len(got), text)
		}
		flushes[agent]++
		points += uint64(len(got))
	}
	if len(flushes) != 3 || points != r.Total.Sent || r.Total.Sent == 0 || r.Total.Lost != 0 {
		t.Errorf("flushes %v, %d lines, result %+v", flushes, points, r.Total)
	}
}

// TestRun_Spread: each series once an interval, with the second at which it was due, and all
// that is sent is acknowledged.
func TestRun_Spread(t *testing.T) {
	t.Parallel()
	s := newSink(t, nil)
	o := options(s.addr())
	o.Agents, o.Metrics, o.Interval, o.Duration = 4, 1003, 500*time.Millisecond, time.Second
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	seen := map[string]int{}
	for _, text := range s.texts() {
		for _, p := range parseLines(t, text) {
			seen[p.path]++
			if off := p.time - r.Started.Unix(); off < 0 || off > 1 {
				t.Fatalf("%+v is %d s after the start", p, off)
			}
		}
	}
	for path, n := range seen {
		if n != 2 {
			t.Fatalf("%s came %d times", path, n)
		}
	}
	if len(seen) != 1003 || r.Total.Nominal != 2006 || r.Total.Acked != 2006 || r.Connections != 4 || r.Stopped {
		t.Errorf("%d series; %+v", len(seen), r.Total)
	}
}

// TestRun_UDP: whole lines in each datagram.
func TestRun_UDP(t *testing.T) {
	t.Parallel()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan int)
	go func() {
		n, b := 0, make([]byte, 1<<16)
		for {
			k, _, err := c.ReadFrom(b)
			if err != nil {
				got <- n
				return
			}
			if k > maxDatagram {
				t.Errorf("a datagram of %d bytes", k)
			}
			n += len(parseLines(t, string(b[:k])))
		}
	}()
	o := options(c.LocalAddr().String())
	o.Protocol = "udp"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n := <-got; uint64(n) != r.Total.Sent || n == 0 || r.Acknowledges() {
		t.Errorf("%d points came, %+v", n, r.Total)
	}
}

// TestRun_Refused: it says so before it begins.
func TestRun_Refused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Run(t.Context(), options(l.Addr().String())); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
	var forbidden *load.ForbiddenError
	o := options("192.0.2.1:2003")
	o.Begun = func() { t.Error("it has begun") }
	if _, err := Run(t.Context(), o); !errors.As(err, &forbidden) {
		t.Errorf("%v", err)
	}
}

// TestRun_Full: a server that takes connections and reads nothing. Writes wait, what is due
// meanwhile is outstanding, and an interrupt ends it.
func TestRun_Full(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newSink(t, func(conn net.Conn) { <-ctx.Done() })
	o := options(s.addr())
	o.Metrics, o.Interval, o.Duration = 5_000_000, time.Second, 0
	o.Watch = func(now *Result) {
		if n := len(now.Seconds); now.Seconds[n-1].Blocked > 500*time.Millisecond {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	if r.Total.Outstanding == 0 || r.Total.Blocked == 0 || r.PeakOutstanding == 0 || !r.Stopped || r.Total.Acked == 0 {
		t.Errorf("%+v", r.Total)
	}
}

// TestRun_Skipped: flushes that come due while one waits are left out and counted.
func TestRun_Skipped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := make(chan struct{})
	s := newSink(t, func(conn net.Conn) {
		<-open
		_, _ = io.Copy(io.Discard, conn)
	})
	o := options(s.addr())
	o.Metrics, o.Interval, o.Duration, o.DropLate, o.Launches = 1_000_000, 300*time.Millisecond, 0, true,
		[]time.Duration{0}
	opened := false
	o.Watch = func(now *Result) {
		if now.Total.Blocked > time.Second && !opened {
			close(open)
			opened = true
		}
		if now.Total.Skipped > 0 {
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	if r.Total.Skipped == 0 || r.Total.Skipped%1_000_000 != 0 {
		t.Errorf("%+v", r.Total)
	}
}

// TestRun_Closing: a server that closes each connection after its first bytes. Each is made
// again; what broke is counted, and nothing goes missing without a word.
func TestRun_Closing(t *testing.T) {
	t.Parallel()
	s := newSink(t, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 100))
	})
	o := options(s.addr())
	o.Metrics, o.Interval, o.Duration = 20_000, 200*time.Millisecond, time.Second
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, r)
	if r.Connections < 2 || r.Total.Broken == 0 || r.LastError == "" || strings.Contains(r.LastError, "deadline") {
		t.Errorf("%d connections, %+v, %q", r.Connections, r.Total, r.LastError)
	}
}

// TestResult_Acknowledged: where less seems to be acknowledged than before, no second makes up
// for it, and the total is what was acknowledged at last.
func TestResult_Acknowledged(t *testing.T) {
	r := &Result{}
	var before Second
	for i, acked := range []uint64{100, 80, 90, 95} {
		now := Second{To: time.Duration(i+1) * time.Second, Nominal: 100, Sent: 100, Acked: acked}
		before = r.read(now, before, i == 3)
	}
	for i, want := range []uint64{100, 0, 0, 0} {
		if got := r.Seconds[i].Acked; got != want {
			t.Errorf("second %d has %d points acknowledged, want %d", i, got, want)
		}
	}
	if r.Total.Acked != 95 || r.Total.Sent != 100 {
		t.Errorf("%+v", r.Total)
	}
}

// TestRun_Toggle: the launch of agents stops and goes on.
func TestRun_Toggle(t *testing.T) {
	t.Parallel()
	s := newSink(t, nil)
	toggle := make(chan os.Signal)
	o := options(s.addr())
	o.Agents, o.Metrics, o.Interval, o.Toggle = 3, 30, 100*time.Millisecond, toggle
	o.Launches = []time.Duration{time.Millisecond, 1200 * time.Millisecond, 1300 * time.Millisecond}
	o.Duration = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Watch = func(now *Result) {
		switch n := now.Total.Agents; {
		case n == 1 && len(now.Seconds) == 1:
			toggle <- syscall.SIGUSR1
		case n == 1 && len(now.Seconds) == 3: // without the stop all would have begun
			toggle <- syscall.SIGUSR1
		case n == 3:
			cancel()
		case n > 1 && len(now.Seconds) < 3:
			t.Errorf("%d agents after %d s", n, len(now.Seconds))
			cancel()
		}
	}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Total.Agents != 3 || r.Total.To > 30*time.Second {
		t.Errorf("%+v", r.Total)
	}
}

// TestResult_Long: of a load of a day the seconds are joined, and nothing goes missing.
func TestResult_Long(t *testing.T) {
	r := &Result{}
	for i := range 86_400 {
		r.put(Second{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Nominal: 3,
			Sent: 2, Outstanding: uint64(i)})
	}
	var sum Second
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if i > 0 && s.From != r.Seconds[i-1].To {
			t.Fatalf("%+v after %+v", *s, r.Seconds[i-1])
		}
		sum.add(s)
	}
	if len(r.Seconds) > mostSeconds || sum.Nominal != 3*86_400 || sum.To != 24*time.Hour ||
		r.Total.Nominal != 3*86_400 || r.PeakOutstanding != 86_399 {
		t.Errorf("%d stretches, %+v", len(r.Seconds), sum)
	}
}

// TestPlanted: a load that loses an agent, all of them, or who looks at a connection to a bug
// ends at its time, and what was not sent is outstanding or lost.
func TestPlanted(t *testing.T) {
	for part, check := range map[contain.Part]func(*Second) bool{
		agentPart:  func(s *Second) bool { return s.Nominal > 0 && s.Outstanding == s.Nominal },
		launchPart: func(s *Second) bool { return s.Nominal == 0 },
		readerPart: func(s *Second) bool { return s.Nominal > 0 && s.Broken > 0 },
	} {
		s := newSink(t, nil)
		remove := contain.Plant(part)
		r, err := Run(t.Context(), options(s.addr()))
		remove()
		if _, all := contain.Bugs(); err != nil || all == 0 || !check(&r.Total) {
			t.Errorf("%s: %v, %+v", part, err, r)
		}
		contain.Forget()
	}
}
