package load

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func weighted(weights ...int) []Target {
	out := make([]Target, len(weights))
	for i, w := range weights {
		out[i] = Target{Method: "GET", URL: "http://h/" + string(rune('a'+i)), Weight: w}
	}
	return out
}

func TestOrder(t *testing.T) {
	f := func(want string, weights ...int) {
		t.Helper()
		o := NewOrder(weighted(weights...))
		var got strings.Builder
		for n := range uint64(len(want)) {
			got.WriteByte(byte('a' + o.Target(n)))
		}
		if got.String() != want {
			t.Errorf("weights %v give %s, want %s", weights, &got, want)
		}
	}
	f("aabacaaaabacaa", 5, 1, 1) // nginx, ngx_http_upstream_round_robin.c
	f("abcabc", 0, 0, 0)
	f("abcabc", 0, 1, 0)
	f("abcabc", 7, 7, 7)
	f("abaaba", 2, 1)
	f("abaaba", 200_000, 100_000)
	f("aaa", 3)
}

func TestOrderSpreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 20).Draw(t, "weights")
		o := NewOrder(weighted(weights...))
		sum := 0
		for _, w := range weights {
			sum += w
		}
		counts := make([]int, len(weights))
		for n := range uint64(2 * sum) {
			counts[o.Target(n)]++
			if n+1 == uint64(sum) && !slices.Equal(counts, weights) {
				t.Fatalf("a round of weights %v has %v", weights, counts)
			}
			for i, w := range weights {
				if due := float64(w) * float64(n+1) / float64(sum); float64(counts[i]) > due+2 || float64(counts[i])+float64(len(weights)) < due {
					t.Fatalf("after %d requests target %d of weights %v has %d, due %v", n+1, i, weights, counts[i], due)
				}
			}
		}
	})
}

func TestPlanValidate_Failure(t *testing.T) {
	f := func(want string, targets []Target, s Schedule) {
		t.Helper()
		if err := (Plan{Schedule: s, Targets: targets}).Validate(); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	s, err := Constant(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	f("bad weight -1 of target 2, GET /b: want 1 or more", weighted(1, -1), s)
	f("bad weights: their sum, without the factor that all have in common, is 65537: want at most 65536", weighted(1, 65536), s)
	f("closed loop: bad think time from 2s to 1s", weighted(1), &ClosedLoop{End: Forever, ThinkMin: 2e9, ThinkMax: 1e9})
	if err := (Plan{Schedule: s, Targets: weighted(2, 131070)}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (Plan{Schedule: s, Targets: make([]Target, 70_000)}).Validate(); err != nil {
		t.Error(err)
	}
}
