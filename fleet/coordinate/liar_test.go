package coordinate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/agent"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A fakeBus asks agents of this process, whose answers a test changes.
type fakeBus struct {
	agents map[string]*agent.Agent
	bend   func(host, verb string, answer []byte) ([]byte, error)
}

// Ask implements Bus.
func (b *fakeBus) Ask(_ context.Context, host, verb string, question, answer any) error {
	a := b.agents[host]
	if a == nil {
		return bus.ErrAbsent
	}
	q, err := json.Marshal(question)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(a.Answer(verb, q))
	if err != nil {
		return err
	}
	if raw, err = b.bend(host, verb, raw); err != nil {
		return err
	}
	return json.Unmarshal(raw, answer)
}

var _ Bus = (*bus.Conn)(nil)

func honest(_, _ string, answer []byte) ([]byte, error) { return answer, nil }

func newFakeBus(t *testing.T, url string) *fakeBus {
	t.Helper()
	limit, err := fleet.ParseLimit([]string{"load=" + url})
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeBus{agents: map[string]*agent.Agent{}, bend: honest}
	for _, name := range []string{"gen1", "gen2"} {
		b.agents[name] = agent.New(agent.Options{Limit: limit})
		t.Cleanup(b.agents[name].Close)
	}
	return b
}

// frames changes the frames of an answer of gen2.
func frames(change func(*fleet.FrameAnswer)) func(string, string, []byte) ([]byte, error) {
	return func(host, verb string, raw []byte) ([]byte, error) {
		var a fleet.FrameAnswer
		if host != "gen2" || verb != fleet.Frames || json.Unmarshal(raw, &a) != nil {
			return raw, nil
		}
		change(&a)
		return json.Marshal(a)
	}
}

// TestLiars: what a host says that cannot be is left out, it is named, and the others count.
func TestLiars(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := func(want string, change func(*fleet.FrameAnswer)) {
		t.Helper()
		b := newFakeBus(t, tg.url)
		b.bend = frames(change)
		res, err := Run(t.Context(), b, Options{Hosts: []string{"gen1", "gen2"}, Attack: attack(t, tg.url, 100, 500*time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		if res.Tally.Asked != 50 || res.Generators[0].Reported != 25 {
			t.Errorf("%s: asked %d, %+v", want, res.Tally.Asked, res.Generators)
		}
		if g := res.Generators[1]; !strings.Contains(g.Lost, want) || strings.ContainsAny(g.Lost, "\x1b\n") {
			t.Errorf("gen2 is %q, want %q", g.Lost, want)
		}
	}
	seconds := func(change func(*fleet.Second)) func(*fleet.FrameAnswer) {
		return func(a *fleet.FrameAnswer) {
			for i := range a.Frames {
				for j := range a.Frames[i].Seconds {
					change(&a.Frames[i].Seconds[j])
				}
			}
		}
	}
	f("counts of 0 requests", func(a *fleet.FrameAnswer) {
		for i := range a.Frames {
			empty, err := fleet.EncodeSecond(kasoku.LoadSecond{Target: "GET /", Step: 1, Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()})
			if err != nil {
				t.Error(err)
			}
			a.Frames[i].Seconds = []fleet.Second{empty}
		}
	})
	f("in step 7 of 1", seconds(func(s *fleet.Second) { s.Step = 7 }))
	f("in a second of", seconds(func(s *fleet.Second) { s.Asked *= 1000 }))
	f("that is none", seconds(func(s *fleet.Second) { s.Target = "GET /\x1b[31m" }))
	f("counts of second 9", seconds(func(s *fleet.Second) { s.Second = 9 }))
	f("status codes", seconds(func(s *fleet.Second) { s.Codes = nil }))
	f("forgotten the load", func(a *fleet.FrameAnswer) { a.Boot = "another" })
	f("came after", func(a *fleet.FrameAnswer) {
		for i := range a.Frames {
			a.Frames[i].Number += 5
		}
	})
	f("evil", func(a *fleet.FrameAnswer) { a.Error = "\x1b[2Jevil\n" })
}

// TestLostAnswers: answers that are lost are asked for again, and count once.
func TestLostAnswers(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	b := newFakeBus(t, tg.url)
	n := 0
	b.bend = func(host, verb string, raw []byte) ([]byte, error) {
		if host == "gen2" && verb == fleet.Frames {
			if n++; n%3 != 0 {
				return nil, errors.New("lost on the way")
			}
		}
		return raw, nil
	}
	res, err := Run(t.Context(), b, Options{Hosts: []string{"gen1", "gen2"}, Attack: attack(t, tg.url, 100, 2*time.Second)})
	if err != nil || res.Tally.Asked != 200 || res.Tally.Success != 200 || len(unexpected(res.Warnings)) > 0 {
		t.Fatalf("%v, tally %+v, %v", err, res.Tally, res.Warnings)
	}
	checkTarget(t, tg, 200)
}

// TestOneRefuses: where one host refuses, the one that had accepted takes another load at once.
func TestOneRefuses(t *testing.T) {
	tg, other := newTarget(t, "127.0.0.1"), newTarget(t, "127.0.0.1")
	b := newFakeBus(t, tg.url)
	limit, err := fleet.ParseLimit([]string{"load=" + other.url})
	if err != nil {
		t.Fatal(err)
	}
	b.agents["gen2"] = agent.New(agent.Options{Limit: limit})
	_, err = Run(t.Context(), b, Options{Hosts: []string{"gen1", "gen2"}, Attack: attack(t, tg.url, 100, time.Minute)})
	if !IsRefused(err) {
		t.Fatalf("error is %v", err)
	}
	deadline := time.Now().Add(10 * time.Second) // it aborts what it has begun, which takes a moment
	for {
		res, err := Run(t.Context(), b, Options{Hosts: []string{"gen1"}, Attack: attack(t, tg.url, 100, 100*time.Millisecond)})
		if err == nil {
			if res.Tally.Success != 10 {
				t.Errorf("tally %+v", res.Tally)
			}
			return
		}
		if !strings.Contains(err.Error(), fleet.Busy) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestFewUsers: a closed loop that has fewer users than there are generators is refused.
func TestFewUsers(t *testing.T) {
	b := newFakeBus(t, "http://127.0.0.1:1/")
	o := attack(t, "http://127.0.0.1:1/", 0, time.Second)
	o.MaxWorkers = 1
	_, err := Run(t.Context(), b, Options{Hosts: []string{"gen1", "gen2"}, Attack: o})
	if err == nil || !strings.Contains(err.Error(), "1 users for 2 generators") {
		t.Errorf("error is %v", err)
	}
}
