package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// newSampler is a sampler of a machine at half its limit.
func newSampler() *sampler {
	l := &load{}
	return &sampler{
		interval: time.Second, taken: make(chan struct{}),
		ring:     newRing(l.second(50), time.Now()),
		read:     func() (counters, error) { return l.second(50), nil },
		replaced: func() bool { return false }, lost: func() bool { return false }, spawn: func() {},
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
		if a := s.ask("agent"); a.All.Max != 50 || a.Interval != time.Second {
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
		s.spawn = func() {
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

// TestInterval: only who names an interval changes that of the sampler.
func TestInterval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, now := &load{}, time.Now()
	s := newSampler()
	s.interval, s.ring = 100*time.Millisecond, newRing(l.second(50), now.Add(-3*time.Second))
	for n := range 2 {
		s.ring.add(l.second(50), now.Add(time.Duration(n-2)*time.Second))
	}
	srv, err := listen(path, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ flag, starts string }{
		{"", ""}, {"--interval 0", ""}, {"--interval 100ms", ""}, {"--interval 1s", "daemon samples every 100ms, not every 1s\nstart background process\n"},
	} {
		code, out, errs := inProcess(append([]string{"-s", path}, strings.Fields(tt.flag)...)...)
		if started := code != 0 && out == ""; started != (tt.starts != "") || !strings.HasPrefix(errs, tt.starts) || !started && errs != "" {
			t.Errorf("%q: exit %d, %q, %q", tt.flag, code, out, errs)
		}
	}
	if err := srv.close(); err != nil {
		t.Error(err)
	}
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
		s.ask("agent")
		if len(r.Samples) != 0 || len(r.Askers) != 0 || !r.usable(time.Now()) {
			t.Errorf("got %+v", r)
		}
		if r.usable(time.Now().Add(time.Hour)) || r.usable(time.Now().Add(-time.Hour)) || (&ring{}).usable(time.Now()) {
			t.Error("samples of another time are taken")
		}
	})
}
