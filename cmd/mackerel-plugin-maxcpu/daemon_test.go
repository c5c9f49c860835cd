package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// newSampler is a sampler of a machine at half its limit.
func newSampler() *sampler {
	l := &load{}
	return &sampler{
		interval: time.Second, changed: make(chan struct{}, 1), taken: make(chan struct{}),
		ring:     newRing(l.second(50), time.Now()),
		read:     func() (counters, error) { return l.second(50), nil },
		replaced: func() bool { return false }, lost: func() bool { return false }, spawn: func(time.Duration) {},
	}
}

// TestIdle: the sampler ends ten minutes after it was asked last.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler()
		begin := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.loop(t.Context())
		}()
		time.Sleep(9 * time.Minute)
		if a := s.ask("agent", time.Second); a.All.Max != 50 {
			t.Errorf("got %+v", a)
		}
		<-done
		if took := time.Since(begin); took < 19*time.Minute || took > 19*time.Minute+2*watchEvery {
			t.Errorf("it ended after %s", took)
		}
		if n := len(s.ring.Samples); n != 360 {
			t.Errorf("%d samples", n)
		}
	})
}

// TestEnds: what ends the sampler, and what does not.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		for name, change := range map[string]func(*sampler){
			"taken over": func(s *sampler) { s.yield(); s.yield() },
			"lost":       func(s *sampler) { s.lost = func() bool { return true } },
			"signal":     func(*sampler) { cancel() },
		} {
			s := newSampler()
			change(s)
			begin := time.Now()
			s.loop(ctx)
			if took := time.Since(begin); took > watchEvery {
				t.Errorf("%s: ended after %s", name, took)
			}
		}
	})
}

// TestReplaced: a new binary is started once, and this one goes on until the new one
// has taken over.
func TestReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler()
		begin, changed, spawned := time.Now(), true, 0
		s.replaced = func() bool { return changed }
		s.spawn = func(interval time.Duration) {
			if interval != time.Second {
				t.Errorf("the new one samples every %s", interval)
			}
			spawned++
			changed = false
			time.AfterFunc(12*time.Second, s.yield)
		}
		s.loop(t.Context())
		if took := time.Since(begin); spawned != 1 || took != watchEvery+12*time.Second {
			t.Errorf("started %d times, ended after %s", spawned, took)
		}
	})
}

// TestTakeOver: the former sampler samples between the question and its answer.
func TestTakeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in, out := json.NewDecoder(conn), json.NewEncoder(conn)
		for _, reply := range []func() any{
			func() any { return greeting{protocol} },
			func() any { return newRing((&load{}).second(50), time.Now()) },
		} {
			var r request
			if in.Decode(&r) != nil || out.Encode(reply()) != nil {
				return
			}
		}
	}()
	s := newSampler()
	own := s.ring
	old, err := takeOver(path, s)
	if old == nil || err != nil || s.ring == own {
		t.Fatalf("not taken over: %v", err)
	}
	if err := old.keep(); err != nil {
		t.Error(err)
	}
}

// TestInterval: the sampler follows what each asker wanted when it asked last, and
// samples for the one who wants most; not for one who has gone.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.loop(ctx)
		}()
		time.Sleep(10 * time.Second)
		for _, tt := range []struct {
			asker string
			wants time.Duration
			after time.Duration // asking, until it is looked at
			every time.Duration
		}{
			{"agent", time.Second, 10 * time.Second, time.Second},
			{"agent", 100 * time.Millisecond, 10 * time.Second, 100 * time.Millisecond},
			{"by hand", time.Second, 10 * time.Second, 100 * time.Millisecond},
			{"agent", time.Second, 10 * time.Second, time.Second},
			{"by hand", 200 * time.Millisecond, maxIdle - time.Second, 200 * time.Millisecond},
			{"agent", time.Second, 2 * time.Second, 200 * time.Millisecond},
			{"agent", time.Second, 10 * time.Second, time.Second},
			{"agent", 0, 10 * time.Second, leastInterval},
			{"agent", time.Hour, 10 * time.Second, time.Second},
		} {
			s.ask(tt.asker, tt.wants)
			time.Sleep(tt.after)
			r := s.snapshot()
			if last := r.Samples[len(r.Samples)-1]; time.Duration(last.For) != tt.every {
				t.Errorf("%s wants %s: there is a sample every %s, want %s", tt.asker, tt.wants, time.Duration(last.For), tt.every)
			}
		}
		cancel()
		<-done
	})
}

// TestReadFails: a reading that fails leaves its time to the next.
func TestReadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler()
		read, n := s.read, 0
		s.read = func() (counters, error) {
			if n++; n%2 == 0 {
				return counters{}, errors.New("no memory")
			}
			return read()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		s.loop(ctx)
		if len(s.ring.Samples) != 5 || s.ring.Samples[1].For != 2e9 {
			t.Errorf("got %+v", s.ring.Samples)
		}
	})
}

// TestSnapshot: what is handed over does not change any more.
func TestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSampler()
		r := s.snapshot()
		time.Sleep(time.Second)
		s.sample()
		s.ask("agent", time.Second)
		if len(r.Samples) != 0 || len(r.Askers) != 0 || !r.usable(time.Now()) {
			t.Errorf("got %+v", r)
		}
		if r.usable(time.Now().Add(time.Hour)) || r.usable(time.Now().Add(-time.Hour)) || (&ring{}).usable(time.Now()) {
			t.Error("samples of another time are taken")
		}
	})
}
