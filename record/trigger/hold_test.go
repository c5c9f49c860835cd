package trigger

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/record/clock"
)

// times is a sink that remembers the times of what reaches it.
type times struct {
	frames []time.Duration
	gaps   []kasoku.Interval
	events []time.Duration
}

func (s *times) Frame(f *kasoku.Frame) error { s.frames = append(s.frames, f.At); return nil }
func (s *times) Gap(g kasoku.Gap) error      { s.gaps = append(s.gaps, g.Interval); return nil }
func (s *times) Event(e kasoku.Event) error  { s.events = append(s.events, e.At); return nil }

// TestHold: nothing is kept longer than the window, and what is released has the
// times of a run that began later.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := &Hold{Window: 10 * time.Second}
		put := func() {
			at := time.Since(began)
			f := &kasoku.Frame{Source: "mysql", At: at}
			f.Counter("Questions", "", "count", 3*at.Seconds())
			if err := h.Frame(f); err != nil {
				t.Fatal(err)
			}
			f.Reset() // the sampler uses it again
		}
		for range 60 {
			<-time.After(time.Second)
			put()
		}
		if n := len(h.items); n > 25 {
			t.Errorf("%d frames are kept", n)
		}
		_ = h.Gap(kasoku.Gap{Interval: kasoku.Interval{From: 20 * time.Second, To: 30 * time.Second}})
		_ = h.Gap(kasoku.Gap{Interval: kasoku.Interval{From: 50 * time.Second, To: 57 * time.Second}})
		_ = h.Event(kasoku.Event{At: 30 * time.Second})
		_ = h.Event(kasoku.Event{At: 58 * time.Second})
		sink := &times{}
		const cut = 55 * time.Second
		if err := h.Release(clock.New(began.Add(cut), sink), cut); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			<-time.After(time.Second)
			put()
		}
		if len(sink.frames) != 8 {
			t.Fatalf("frames at %v", sink.frames)
		}
		for i, at := range sink.frames {
			if at != time.Duration(i)*time.Second {
				t.Errorf("frames at %v", sink.frames)
				break
			}
		}
		if len(sink.gaps) != 1 || sink.gaps[0] != (kasoku.Interval{To: 2 * time.Second}) {
			t.Errorf("gaps %v", sink.gaps)
		}
		if len(sink.events) != 1 || sink.events[0] != 3*time.Second {
			t.Errorf("events %v", sink.events)
		}
		if n := h.Statements(); n != 3*53 { // from the first frame, at 1 s, to 54 s
			t.Errorf("%v statements before the run", n)
		}
	})
}
