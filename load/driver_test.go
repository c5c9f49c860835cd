package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
	"pgregory.net/rapid"
)

// server answers each request after what delay says, in the fake time of a
// synctest bubble.
type server struct {
	delay func(n uint64) time.Duration

	mu   sync.Mutex
	seen []uint64
}

func (s *server) Do(ctx context.Context, h *Hit) {
	s.mu.Lock()
	s.seen = append(s.seen, h.N)
	s.mu.Unlock()
	t := time.NewTimer(s.delay(h.N))
	defer t.Stop()
	select {
	case <-t.C:
		h.Code = 200
	case <-ctx.Done():
		h.Err = context.Cause(ctx).Error()
	}
}

func steady(d time.Duration) *server {
	return &server{delay: func(uint64) time.Duration { return d }}
}

type collector struct {
	mu   sync.Mutex
	hits []Hit
}

func (c *collector) Hits(hits []Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits = append(c.hits, hits...)
}

func (c *collector) sorted() []Hit {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.hits, func(a, b Hit) int { return int(a.N) - int(b.N) })
	return c.hits
}

// checkOnce fails unless the hits are those of requests 0..n-1, each once.
func checkOnce(t testing.TB, hits []Hit, n int) {
	t.Helper()
	if len(hits) != n {
		t.Errorf("%d requests were accounted for, want %d", len(hits), n)
	}
	for i, h := range hits {
		if h.N != uint64(i) {
			t.Fatalf("request %d is accounted for at place %d", h.N, i)
		}
		if h.Sent < h.Due || h.Done < h.Sent {
			t.Errorf("request %d: due %s, sent %s, done %s", i, h.Due, h.Sent, h.Done)
		}
		if (h.Code == 0) != (h.Err != "") {
			t.Errorf("request %d: code %d, error %q", i, h.Code, h.Err)
		}
	}
}

func plan(t testing.TB, perSec float64, d time.Duration) Plan {
	t.Helper()
	s, err := Constant(perSec, d)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Schedule: s, Targets: []Target{{Method: "GET", URL: "http://h/a"}, {Method: "POST", URL: "http://h/b"}}}
}

func driver(s *server) *Driver {
	return &Driver{
		MaxInFlight: 1000,
		NewClient:   func() Client { return s },
		newAlarm:    func(context.Context) alarm { return newTimerAlarm() },
	}
}

func run(t testing.TB, ctx context.Context, d *Driver, p Plan) (kasoku.LoadSummary, []Hit) {
	t.Helper()
	var c collector
	sum, err := d.Run(ctx, p, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	return sum, c.sorted()
}

func TestDriverSendsEachRequestWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum, hits := run(t, t.Context(), driver(steady(250*time.Millisecond)), plan(t, 100, 3*time.Second))
		checkOnce(t, hits, 300)
		for i, h := range hits {
			if want := time.Duration(i) * 10 * time.Millisecond; h.Due != want || h.Sent != want {
				t.Fatalf("request %d: due %s, sent %s, want both %s", i, h.Due, h.Sent, want)
			}
			if h.Latency() != 250*time.Millisecond || h.Target != i%2 || h.Step != 1 {
				t.Fatalf("bad hit %+v", h)
			}
		}
		if sum.PeakInFlight < 25 || sum.PeakInFlight > 27 {
			t.Errorf("peak in flight is %d, want 25 and at most what rounds up", sum.PeakInFlight)
		}
		if sum.Wall != 3240*time.Millisecond || sum.Stopped != "" || sum.Model != "open loop" {
			t.Errorf("bad summary %+v", sum)
		}
		if want := []string{"GET /a", "POST /b"}; !slices.Equal(sum.Targets, want) {
			t.Errorf("targets are %q, want %q", sum.Targets, want)
		}
	})
}

// A stall of the server must show in the latency of all requests that came due
// in it, also of those that the cap kept from being sent.
func TestDriverCountsTheWaitAtTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{delay: func(n uint64) time.Duration {
			if n == 100 {
				return time.Second
			}
			return 0
		}}
		d := driver(s)
		d.MaxInFlight = 1
		sum, hits := run(t, t.Context(), d, plan(t, 100, 3*time.Second))
		checkOnce(t, hits, 300)
		for i, h := range hits {
			want := time.Duration(0)
			if i >= 100 && i < 200 {
				want = time.Second - time.Duration(i-100)*10*time.Millisecond
			}
			if h.Latency() != want {
				t.Fatalf("latency of request %d is %s, want %s", i, h.Latency(), want)
			}
		}
		if sum.PeakInFlight != 1 {
			t.Errorf("peak in flight is %d, want 1", sum.PeakInFlight)
		}
	})
}

func TestDriverGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{delay: func(n uint64) time.Duration { return 10 * time.Second }}
		d := driver(s)
		d.MaxInFlight, d.GiveUp = 10, time.Second
		sum, hits := run(t, t.Context(), d, plan(t, 100, 2*time.Second))
		checkOnce(t, hits, 200)
		for i, h := range hits {
			switch {
			case i < 10 && h.Code == 200:
			case i >= 10 && h.Err == ErrNotSentLate.Error() && h.Latency() == time.Second:
			default:
				t.Fatalf("bad hit %+v", h)
			}
		}
		if sum.PeakInFlight != 10 || sum.Wall != 10*time.Second+90*time.Millisecond {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

func TestDriverStopsAndDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Even requests take 1 s, odd ones far longer than the drain.
		s := &server{delay: func(n uint64) time.Duration { return time.Second + time.Duration(n%2)*time.Hour }}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second+time.Millisecond, cancel)
		sum, hits := run(t, ctx, driver(s), plan(t, 10, time.Minute))
		checkOnce(t, hits, 51)
		for i, h := range hits {
			switch {
			case i%2 == 0 && h.Code == 200 && h.Latency() == time.Second:
			case i%2 == 1 && h.Err == ErrDrained.Error() && h.Done == 7*time.Second+time.Millisecond:
			default:
				t.Fatalf("bad hit %+v", h)
			}
		}
		if sum.Stopped != "interrupt" || sum.StoppedAt != 5*time.Second+time.Millisecond || sum.Wall != 7*time.Second+time.Millisecond {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

func TestDriverStopsWhileDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(errors.New("disk full")) })
		sum, hits := run(t, ctx, driver(steady(time.Hour)), plan(t, 10, time.Second))
		checkOnce(t, hits, 10)
		if sum.Stopped != "disk full" || sum.StoppedAt != 3*time.Second || sum.Wall != 5*time.Second {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

func TestDriverStopAccountsForWhatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driver(steady(time.Hour))
		d.MaxInFlight = 5
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second+time.Millisecond, cancel)
		_, hits := run(t, ctx, d, plan(t, 10, time.Minute))
		checkOnce(t, hits, 11)
		for i, h := range hits {
			want := ErrDrained.Error()
			if i >= 5 {
				want = ErrNotSentStop.Error()
			}
			if h.Err != want {
				t.Errorf("request %d: error %q, want %q", i, h.Err, want)
			}
		}
	})
}

func TestDriverHardStop(t *testing.T) {
	f := func(soft bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			hard, kill := context.WithCancel(t.Context())
			d := driver(steady(time.Hour))
			d.Hard = hard
			if soft {
				time.AfterFunc(time.Second+time.Millisecond, cancel)
			} else {
				defer cancel()
			}
			time.AfterFunc(1501*time.Millisecond, kill)
			sum, hits := run(t, ctx, d, plan(t, 10, time.Minute))
			if soft {
				checkOnce(t, hits, 11)
			} else {
				checkOnce(t, hits, 16)
			}
			for _, h := range hits {
				if h.Err != ErrAborted.Error() || h.Done != 1501*time.Millisecond {
					t.Fatalf("bad hit %+v", h)
				}
			}
			if sum.Wall != 1501*time.Millisecond || sum.Stopped != "interrupt" {
				t.Errorf("bad summary %+v", sum)
			}
		})
	}
	f(true)
	f(false)
}

func TestDriverClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Closed(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, 1, time.Second)
		p.Schedule = s
		d := driver(steady(100 * time.Millisecond))
		d.MaxInFlight = 4
		sum, hits := run(t, t.Context(), d, p)
		checkOnce(t, hits, 400)
		for _, h := range hits {
			if h.SendDelay() != 0 || h.Latency() != 100*time.Millisecond {
				t.Fatalf("bad hit %+v", h)
			}
		}
		if sum.Model != "closed loop" || sum.PeakInFlight != 4 || sum.Stopped != "" || sum.StoppedAt != 0 {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

// Each of four users has an answer in 100 ms, thinks, and sends the next request.
func TestDriverThinks(t *testing.T) {
	f := func(least, most time.Duration, want int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			p := plan(t, 1, time.Second)
			p.Schedule = &ClosedLoop{End: 10 * time.Second, ThinkMin: least, ThinkMax: most}
			d := driver(steady(100 * time.Millisecond))
			d.MaxInFlight = 4
			sum, hits := run(t, t.Context(), d, p)
			if n := len(hits); n < want-want/20 || n > want+want/20 {
				t.Errorf("%d requests, want about %d", n, want)
			}
			checkOnce(t, hits, len(hits))
			if sum.PeakInFlight != 4 || sum.Stopped != "" || sum.Wall > 10100*time.Millisecond {
				t.Errorf("bad summary %+v", sum)
			}
		})
	}
	f(150*time.Millisecond, 150*time.Millisecond, 160)
	f(50*time.Millisecond, 150*time.Millisecond, 200)
	f(0, 300*time.Millisecond, 160)
	f(time.Hour, 2*time.Hour, 4)
}

// A stop does not wait for those who think.
func TestDriverStopsWhoThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(t, 1, time.Second)
		p.Schedule = &ClosedLoop{End: Forever, ThinkMin: time.Hour, ThinkMax: time.Hour}
		d := driver(steady(time.Second))
		d.MaxInFlight = 4
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		sum, hits := run(t, ctx, d, p)
		checkOnce(t, hits, 4)
		if sum.Stopped != "interrupt" || sum.StoppedAt > sum.Wall || sum.Wall != 2*time.Second {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

// stream gives so many targets, each after a wait, and then an error.
type stream struct {
	n    int
	wait time.Duration
	err  error
}

func (s *stream) Next() (*Target, error) {
	<-time.After(s.wait)
	if s.n == 0 {
		return nil, s.err
	}
	s.n--
	return &Target{Method: "GET", URL: fmt.Sprintf("http://h/%d", s.n)}, nil
}

func TestDriverStream(t *testing.T) {
	f := func(s Stream, schedule Schedule, want int, stopped string, wall time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			d := driver(steady(100 * time.Millisecond))
			d.MaxInFlight = 2
			sum, hits := run(t, t.Context(), d, Plan{Schedule: schedule, Stream: s})
			checkOnce(t, hits, want)
			for i, h := range hits {
				if h.Own == nil || i > 0 && h.Own.URL == hits[i-1].Own.URL || h.Code != 200 {
					t.Errorf("bad hit %+v", h)
				}
			}
			if sum.Stopped != stopped || sum.Wall != wall || len(sum.Targets) != want {
				t.Errorf("bad summary %+v", sum)
			}
			<-time.After(3 * time.Second) // the stream's last read
		})
	}
	open, err := Constant(10, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	closed := &ClosedLoop{End: 10 * time.Second}
	broken := errors.New("targets:7: bad header")
	f(&stream{n: 5, err: io.EOF}, open, 5, "", 500*time.Millisecond)
	f(&stream{n: 500, err: io.EOF}, open, 100, "", 10*time.Second)
	f(&stream{n: 5, err: broken}, open, 5, broken.Error(), 500*time.Millisecond)
	f(&stream{n: 5, err: io.EOF, wait: time.Second}, open, 5, "", 6*time.Second) // late, but all of them
	f(&stream{n: 5, err: io.EOF}, closed, 5, "", 300*time.Millisecond)
	f(&stream{n: 5, err: broken}, closed, 5, broken.Error(), 300*time.Millisecond)
	f(&stream{n: 50, err: io.EOF, wait: 3 * time.Second}, closed, 3, "", 10*time.Second)
}

// A stop need not wait for a target, and what has none is no request.
func TestDriverStopsBeforeTheStream(t *testing.T) {
	f := func(schedule Schedule) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(1500*time.Millisecond, cancel)
			sum, hits := run(t, ctx, driver(steady(time.Millisecond)), Plan{Schedule: schedule, Stream: &stream{n: 9, wait: time.Second}})
			checkOnce(t, hits, 1)
			if sum.Stopped != "interrupt" || sum.Wall != 1500*time.Millisecond {
				t.Errorf("bad summary %+v", sum)
			}
			<-time.After(time.Second) // the stream's last read
		})
	}
	open, err := Constant(10, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	f(open)
	f(&ClosedLoop{End: Forever})
}

func TestDriverClosedLoopStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Closed(0)
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, 1, time.Second)
		p.Schedule = s
		d := driver(steady(time.Hour))
		d.MaxInFlight = 4
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		sum, hits := run(t, ctx, d, p)
		checkOnce(t, hits, 4)
		if sum.Stopped != "deadline" || sum.Wall != 5*time.Second {
			t.Errorf("bad summary %+v", sum)
		}
	})
}

func TestDriverWaitsForItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c collector
		d := driver(steady(time.Millisecond))
		began := time.Now()
		if _, err := d.Run(t.Context(), plan(t, 10, time.Second), began.Add(time.Second), &c); err != nil {
			t.Fatal(err)
		}
		checkOnce(t, c.sorted(), 10)
		if c.hits[0].Sent != 0 {
			t.Errorf("the first request was sent at %s, want 0", c.hits[0].Sent)
		}
		if d := time.Since(began); d != 1901*time.Millisecond {
			t.Errorf("the load ended after %s", d)
		}
	})
}

func TestDriver_Failure(t *testing.T) {
	f := func(d *Driver, p Plan, want string) {
		t.Helper()
		if _, err := d.Run(t.Context(), p, time.Now(), &collector{}); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	ok := plan(t, 1, time.Second)
	f(driver(steady(0)), Plan{Targets: ok.Targets}, "plan: no schedule")
	f(driver(steady(0)), Plan{Schedule: ok.Schedule}, "no targets to attack")
	f(&Driver{}, ok, "drive load: bad cap on requests in flight 0")
}

// TestDriverAccounting stops loads of any kind at any moment and checks that
// what was due is accounted for exactly once, and nothing else.
func TestDriverAccounting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		perSec := rapid.Float64Range(1, 500).Draw(rt, "perSec")
		slow := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(rt, "slow"))
		inFlight := rapid.IntRange(1, 50).Draw(rt, "inFlight")
		stopAt := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(rt, "stopAt"))
		giveUp := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(rt, "giveUp"))
		synctest.Test(t, func(t *testing.T) {
			d := driver(&server{delay: func(n uint64) time.Duration { return slow * time.Duration(n%3) }})
			d.MaxInFlight, d.GiveUp, d.Drain = inFlight, giveUp, 500*time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), stopAt)
			defer cancel()
			p := plan(t, perSec, 2*time.Second)
			sum, hits := run(t, ctx, d, p)
			total, _ := p.Schedule.Total()
			due := uint64(0)
			for due < total && p.Schedule.(*Timetable).due(due) <= stopAt {
				due++
			}
			if n := uint64(len(hits)); n != due && n != due-1 { // a request due at the very stop may go either way
				t.Errorf("%d requests accounted for, want %d", n, due)
			}
			checkOnce(t, hits, len(hits))
			if sum.PeakInFlight > inFlight {
				t.Errorf("%d in flight, more than the cap %d", sum.PeakInFlight, inFlight)
			}
		})
	})
}

func TestTee(t *testing.T) {
	var a, b collector
	Tee(&a, &b).Hits([]Hit{{N: 1}, {N: 2}})
	if fmt.Sprint(a.hits) != fmt.Sprint(b.hits) || len(a.hits) != 2 {
		t.Errorf("tee gave %v and %v", a.hits, b.hits)
	}
}
