package observe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
)

// Whatever a source does, every tick of the run's clock has a frame that was
// read by the next tick, or lies in a gap; gaps follow each other without
// overlap, and no frame lies inside one.
func TestEveryTickIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		interval := time.Duration(rapid.IntRange(1, 5000).Draw(rt, "interval ms")) * time.Millisecond
		after := time.Duration(rapid.Int64Range(0, int64(3*interval)).Draw(rt, "begins after"))
		length := time.Duration(rapid.Int64Range(0, int64(12*interval)).Draw(rt, "length"))
		if (after+length)%interval == 0 {
			length++ // an end and an answer in one nanosecond have no order
		}
		script := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) act {
			a := act{takes: time.Duration(rapid.Int64Range(0, int64(interval)/10).Draw(rt, "takes"))}
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				a.takes = time.Duration(rapid.Int64Range(0, int64(3*interval)).Draw(rt, "slow"))
			case 1:
				a.err = errors.New(rapid.SampledFrom([]string{"down", "denied"}).Draw(rt, "err"))
			}
			return a
		}), 1, 12).Draw(rt, "script")

		l := newLog()
		var began, ended time.Duration
		var err error
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			if after > 0 {
				<-time.After(after)
			}
			began = time.Since(start)
			ctx, cancel := context.WithTimeout(t.Context(), length)
			defer cancel()
			err = New(Options{Start: start, Interval: interval, Sources: []Source{&fake{name: "a", script: script}}, Sink: l}).Run(ctx)
			ended = began + length
		})
		if err != nil {
			rt.Fatal(err)
		}
		checkGaps(rt, l.frames["a"], l.gaps["a"])
		ticks := []time.Duration{began}
		for due := (began+interval/closest)/interval*interval + interval; due < ended; due += interval {
			ticks = append(ticks, due)
		}
		for _, due := range ticks {
			within := interval
			if due+interval > ended {
				within = ended - due + stopGrace // the next one is not asked for
			}
			if !accounted(due, within, l.frames["a"], l.gaps["a"]) {
				rt.Fatalf("tick %s is lost: frames %v, gaps %v", due, l.frames["a"], l.gaps["a"])
			}
		}
	})
}

func checkGaps(rt *rapid.T, frames []time.Duration, gaps []kasoku.Gap) {
	for i, g := range gaps {
		if g.Interval.Empty() || g.Reason == "" {
			rt.Fatalf("gap %+v", g)
		}
		if i > 0 && g.Interval.From < gaps[i-1].Interval.To {
			rt.Fatalf("gaps overlap: %+v", gaps)
		}
		for _, at := range frames {
			if g.Interval.From < at && at < g.Interval.To {
				rt.Fatalf("frame at %s in gap %+v", at, g)
			}
		}
	}
	for i := 1; i < len(frames); i++ {
		if frames[i] < frames[i-1] {
			rt.Fatalf("frames out of order: %v", frames)
		}
	}
}

func accounted(due, within time.Duration, frames []time.Duration, gaps []kasoku.Gap) bool {
	for _, g := range gaps {
		if g.Interval.Contains(due) {
			return true
		}
	}
	for _, at := range frames {
		if due <= at && at <= due+within {
			return true
		}
	}
	return false
}

// Without trouble there is a frame at every multiple of the interval and no gap,
// however long the run.
func TestNoDrift(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		interval := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(10*time.Second)).Draw(rt, "interval"))
		ticks := rapid.IntRange(1, 200).Draw(rt, "ticks")
		l := newLog()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(ticks)*interval+interval/2)
			defer cancel()
			if err := New(Options{Start: time.Now(), Interval: interval, Sources: []Source{&fake{name: "a"}}, Sink: l}).Run(ctx); err != nil {
				t.Error(err)
			}
		})
		frames := l.frames["a"]
		if len(frames) != ticks+2 || len(l.gaps) != 0 {
			rt.Fatalf("%d frames for %d ticks, gaps %v", len(frames), ticks, l.gaps)
		}
		for i, at := range frames[:ticks+1] {
			if at != time.Duration(i)*interval {
				rt.Fatalf("frame %d at %s, interval %s", i, at, interval)
			}
		}
	})
}
