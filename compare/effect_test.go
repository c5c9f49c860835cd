package compare

import (
	"errors"
	"testing"
	"time"
)

func TestEffect(t *testing.T) {
	at := func(success float64, median time.Duration, seconds int, seed uint64) Cut {
		return Cut{build("x", seed, shape{perSec: 1000, seconds: seconds, success: success, median: median, spread: 0.4}), 1}
	}
	const ms = time.Millisecond
	for _, x := range []struct {
		name          string
		before, after Cut
		want          Judgement
		gain          bool
	}{
		{"all succeed and fast", at(0.305, 331*ms, 10, 1), at(1, 24*ms, 10, 2), Fixes, true},
		{"all succeed but slower", at(0.305, 100*ms, 10, 1), at(1, 900*ms, 10, 2), Improves, true},
		{"more succeed", at(0.305, 331*ms, 10, 1), at(0.92, 129*ms, 10, 2), Improves, true},
		{"the same again", at(0.305, 331*ms, 10, 1), at(0.305, 331*ms, 10, 2), NoEffect, false},
		{"half a point more", at(0.990, 50*ms, 10, 1), at(0.996, 50*ms, 10, 2), NoEffect, false},
		{"p99 a tenth up", at(1, 50*ms, 10, 1), at(1, 55*ms, 10, 2), NoEffect, false},
		{"p99 doubled", at(1, 50*ms, 10, 1), at(1, 100*ms, 10, 2), Harms, false},
		{"p99 halved", at(1, 50*ms, 10, 1), at(1, 25*ms, 10, 2), Improves, true},
		{"fewer succeed, faster", at(0.9944, 300*ms, 10, 1), at(0.9187, 30*ms, 10, 2), Harms, false},
		{"too short for an interval", at(0.305, 331*ms, 2, 1), at(1, 24*ms, 2, 2), Fixes, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			e, err := Effect(x.before, x.after, Options{Resamples: 400})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != x.want || e.Verdict.Gain() != x.gain {
				t.Errorf("%s: verdict %q, want %q (%+v, %+v)", e.Why, e.Verdict, x.want, e.Success.Change, e.P99.Change)
			}
		})
	}
}

func TestEffectRefuses(t *testing.T) {
	a := build("a", 1, shape{perSec: 1000, seconds: 3, success: 1, median: time.Millisecond})
	b := build("b", 1, shape{perSec: 500, seconds: 3, success: 1, median: time.Millisecond})
	for _, x := range []struct{ before, after Cut }{
		{Cut{a, 1}, Cut{b, 1}}, {Cut{a, 2}, Cut{b, 1}}, {Cut{a, 1}, Cut{b, 7}},
	} {
		_, err := Effect(x.before, x.after, Options{})
		var m *MismatchError
		if !errors.As(err, &m) || m.Hint() == "" {
			t.Errorf("error %v, want one with a hint", err)
		}
	}
}
