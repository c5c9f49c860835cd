package routes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// answers are requests of one route with their times, in s, and the size of each answer.
func answers(route string, bytes uint64, times ...float64) Seen {
	s := Seen{Route: route, Count: uint64(len(times)), Found: uint64(len(times)), Bytes: bytes * uint64(len(times)),
		MinBytes: bytes, MaxBytes: bytes, Timed: uint64(len(times))}
	for _, d := range times {
		s.Seconds += d
		s.Squares += d * d
	}
	return s
}

// about returns n times that lie about a mean, as those of a service do: few are far above it.
func about(r *rand.Rand, mean float64, n int) (out []float64) {
	for range n {
		out = append(out, mean*math.Exp(0.5*r.NormFloat64()))
	}
	return out
}

// TestChoose: a value is an endpoint where the values are few, come often and answers differ by them.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := func(name string, want string, seen ...Seen) {
		t.Helper()
		got := Choose(seen, Limits{})
		var kept []string
		for i := range got {
			if path, _, query := strings.Cut(got[i], "?"); query {
				kept = append(kept, got[i])
			} else if cut, _, _ := strings.Cut(seen[i].Route, "?"); path != cut {
				t.Errorf("%s: %s became %s", name, seen[i].Route, got[i])
			}
		}
		if s := strings.Join(kept, " "); s != want {
			t.Errorf("%s: got %q, want %q", name, s, want)
		}
	}
	list, edit := answers("/i.php?action=list", 900, about(r, 0.2, 50)...), answers("/i.php?action=edit", 1000, about(r, 0.02, 80)...)
	f("time differs", "/i.php?action=list /i.php?action=edit", list, edit)
	f("a rare one beside them", "/i.php?action=list /i.php?action=edit", list, edit, answers("/i.php?action=drop", 9, 0.1, 0.2))
	f("the same time and size", "", list, answers("/i.php?action=edit", 1000, about(r, 0.2, 80)...))
	f("size differs", "/i.php?action=a /i.php?action=b",
		answers("/i.php?action=a", 40_000, about(r, 0.2, 30)...), answers("/i.php?action=b", 900, about(r, 0.2, 30)...))
	f("no value is another", "/i.php?action=list", list, answers("/i.php", 900, about(r, 0.001, 40)...))
	f("one value alone", "", list)
	f("of another path", "", list, answers("/j.php?action=edit", 1000, about(r, 0.02, 80)...))
	refused := answers("/i.php?action=shell", 9, about(r, 0.001, 500)...)
	refused.Found = 0
	f("refused", "", list, refused)
	f("folded", "", list, edit, answers("/i.php?*", 900, about(r, 0.2, 5000)...))
	var words []Seen
	for i := range 40 {
		words = append(words, answers(fmt.Sprintf("/i.php?page=word%c%c", 'a'+i%26, 'a'+i/26), uint64(100*i), about(r, 0.01*float64(i+1), 1+i%3)...))
	}
	f("search words", "", words...)
}

// TestChooseByChance: of values that change nothing, however long the tail of their times is, hardly any
// are endpoints: at most one application in fifty.
func TestChooseByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const trials = 2000
	split := 0
	for range trials {
		var seen []Seen
		spread, values := 0.3+1.2*r.Float64(), 2+r.IntN(12)
		for v := range values {
			var times []float64
			var s Seen
			for range 5 + r.IntN(60) {
				times = append(times, 0.02*math.Exp(spread*r.NormFloat64()))
			}
			s = answers(fmt.Sprintf("/i.php?action=%c", 'a'+v), 0, times...)
			s.MinBytes = math.MaxUint64
			for range times {
				b := uint64(2000 * math.Exp(0.4*r.NormFloat64()))
				s.Bytes, s.MinBytes, s.MaxBytes = s.Bytes+b, min(s.MinBytes, b), max(s.MaxBytes, b)
			}
			seen = append(seen, s)
		}
		if slices.ContainsFunc(Choose(seen, Limits{}), func(s string) bool { return strings.Contains(s, "?") }) {
			split++
		}
	}
	t.Logf("%d of %d", split, trials)
	if split*50 > trials {
		t.Errorf("%d of %d applications whose values change nothing have them as endpoints", split, trials)
	}
}
