package buckets

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// recorded yields the cases of a file that pt-query-digest answered.
func recorded(t testing.TB, f func(values []float64, want []string)) {
	t.Helper()
	data, err := os.ReadFile("testdata/ptqd-3.2.1.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var values []float64
		for _, text := range strings.Fields(fields[0]) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		f(values, fields[1:])
	}
}

func digits(u Summary) []string {
	var out []string
	for _, v := range []float64{u.Sum, u.Min, u.Max, u.Mean, u.P95, u.Stddev, u.Median} {
		out = append(out, fmt.Sprintf("%.6f", v))
	}
	return out
}

func of(values []float64) *Stats {
	s := new(Stats)
	for _, v := range values {
		s.Add(v)
	}
	return s
}

func TestSummary_AsPtQueryDigest(t *testing.T) {
	n := 0
	recorded(t, func(values []float64, want []string) {
		n++
		if got := digits(of(values).Summary()); !slices.Equal(got, want) {
			t.Errorf("%v:\n got %v\nwant %v", values, got, want)
		}
	})
	if n < 200 {
		t.Errorf("%d cases", n)
	}
}

// TestMerge_AsPtQueryDigest: parts of a log that are read apart lead to the same
// digits.
func TestMerge_AsPtQueryDigest(t *testing.T) {
	recorded(t, func(values []float64, want []string) {
		s := new(Stats)
		for part := range slices.Chunk(values, 1+len(values)/3) {
			s.Merge(of(part))
		}
		if got := digits(s.Summary()); !slices.Equal(got, want) {
			t.Errorf("%v:\n got %v\nwant %v", values, got, want)
		}
	})
}

func TestMerge_IsAddingOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Map(rapid.IntRange(0, 1<<30), func(n int) float64 { return float64(n) / 64 })).Draw(t, "values")
		s := new(Stats)
		for rest := values; len(rest) > 0; {
			k := rapid.IntRange(1, len(rest)).Draw(t, "part")
			s.Merge(of(rest[:k]))
			rest = rest[k:]
		}
		if got, want := s.Summary(), of(values).Summary(); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if got, want := s.Clone().Summary(), s.Summary(); got != want {
			t.Fatalf("clone %+v, want %+v", got, want)
		}
	})
}

func TestBuckets_HoldEveryValue(t *testing.T) {
	var s Stats
	for i := range 5000 {
		s.Add(float64(i % 1000))
	}
	var n uint64
	last := -1
	s.Buckets(func(i int, k uint64) {
		if i <= last {
			t.Fatalf("bucket %d after %d", i, last)
		}
		last = i
		n += k
	})
	if n != 5000 || s.n != 5000 {
		t.Errorf("%d in buckets, %d counted", n, s.n)
	}
}

func TestIndex_Known(t *testing.T) {
	for v, want := range map[float64]int{
		0: 0, -1: 0, 9.999e-7: 0, 1e-6: 1, 1: 284, 1e300: 999, math.Inf(1): 999, math.Inf(-1): 0, math.MaxFloat64: 999,
	} {
		if got := Index(v); got != want {
			t.Errorf("Index(%g) = %d, want %d", v, got, want)
		}
	}
	if got := Index(math.NaN()); got != 0 {
		t.Errorf("Index(NaN) = %d", got)
	}
}

// TestIndex_IsTheFormula goes along each border of two buckets and of two cells.
func TestIndex_IsTheFormula(t *testing.T) {
	check := func(v float64) {
		if got, want := Index(v), slowIndex(v); got != want {
			t.Fatalf("Index(%v) = %d, want %d", v, got, want)
		}
	}
	around := func(v float64) {
		up, down := v, v
		for range 40 {
			check(up)
			check(down)
			up, down = math.Nextafter(up, math.Inf(1)), math.Nextafter(down, 0)
		}
	}
	for i := 1; i < Number; i++ {
		around(Value(i))
		around(table.from[i])
	}
	for c := range cells {
		around(math.Float64frombits(uint64(firstCell+c) << cellShift))
	}
	for us := range 200_000 {
		check(float64(us) / 1e6)
		check(float64(us))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		if got, want := Index(v), slowIndex(v); got != want {
			t.Fatalf("Index(%v) = %d, want %d", v, got, want)
		}
	})
}

func TestValue_IsThePower(t *testing.T) {
	b := new(big.Float).SetPrec(400).SetFloat64(base)
	p := new(big.Float).SetPrec(400).SetInt64(1)
	for i := 1; i < Number; i++ {
		f, _ := p.Float64()
		if got := Value(i); got != f*least {
			t.Errorf("Value(%d) = %v, want %v", i, got, f*least)
		}
		p.Mul(p, b)
	}
	if Value(0) != 0 {
		t.Errorf("Value(0) = %v", Value(0))
	}
}
