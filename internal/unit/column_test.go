package unit

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

func TestDurationsColumn(t *testing.T) {
	f := func(ds []time.Duration, unit string, want ...string) {
		t.Helper()
		c := Durations(ds, Spaces)
		if c.Unit != unit || !slices.Equal(c.Cells, want) {
			t.Errorf("got %s %q, want %s %q", c.Unit, c.Cells, unit, want)
		}
	}
	f(nil, "ms")
	f([]time.Duration{0, None}, "ms", "0", "–")
	f([]time.Duration{10100 * us, 8900 * us, 331 * ms}, "ms", " 10.1 ", "  8.90", "331   ")
	f([]time.Duration{19 * ms, 18300 * us, 1116 * ms}, "ms", "   19.0", "   18.3", "1,116  ")
	f([]time.Duration{112900 * ms, 1250 * ms, None}, "s", "113   ", "  1.25", "     –")
	f([]time.Duration{340 * us, 135 * ms, 80 * us}, "ms", "  0.34", "135   ", "  0.08")
	f([]time.Duration{99 * us, 12}, "µs", "99.0 ", " 0.01")
	f([]time.Duration{99, 12, 0}, "ns", "99", "12", " 0")
	f([]time.Duration{200 * ms, 3 * us}, "ms", "200   ", "< 0.01")
}

func TestFigureSpaces(t *testing.T) {
	c := Durations([]time.Duration{10100 * us, 8900 * us, 331 * ms, None}, FigureSpaces)
	want := []string{"10.1\u2007", "8.90", "331\u2008\u2007\u2007", "–"}
	if c.Unit != "ms" || !slices.Equal(c.Cells, want) {
		t.Errorf("got %s %q, want ms %q", c.Unit, c.Cells, want)
	}
}

func TestSizesAndNumbers(t *testing.T) {
	f := func(c Column, unit string, want ...string) {
		t.Helper()
		if c.Unit != unit || !slices.Equal(c.Cells, want) {
			t.Errorf("got %s %q, want %s %q", c.Unit, c.Cells, unit, want)
		}
	}
	f(Sizes([]uint64{41_200_000, 318_000_000, 0}, Spaces), "MB", " 41.2", "318  ", "  0  ")
	f(Sizes([]uint64{12, 999}, Spaces), "B", " 12", "999")
	f(SizesIEC([]uint64{128 << 20, 1 << 20}, Spaces), "MiB", "128   ", "  1.00")
	f(Numbers([]float64{1.77, 152, math.NaN()}, Spaces), "", "  1.77", "152   ", "     –")
}

func TestAlignWords(t *testing.T) {
	got := Align([]string{"unlimited", "2", "", "1.5"}, Spaces)
	want := []string{"unlimited", "      2  ", "         ", "      1.5"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAlignProperty: every cell is equally wide, points stand under each other,
// and nothing but padding is added.
func TestAlignProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := rapid.SliceOf(rapid.OneOf(
			rapid.Just(None), rapid.Just(time.Duration(0)),
			rapid.Map(rapid.Float64Range(0, 43), func(x float64) time.Duration { return time.Duration(math.Exp(x)) }),
		)).Draw(t, "durations")
		c := Durations(ds, Spaces)
		width, point := -1, -1
		for i, s := range c.Cells {
			if w := utf8.RuneCountInString(s); width >= 0 && w != width {
				t.Fatalf("widths differ in %q", c.Cells)
			}
			width = utf8.RuneCountInString(s)
			before, part, found := strings.Cut(s, ".")
			if found {
				if at := utf8.RuneCountInString(before); point >= 0 && at != point {
					t.Fatalf("points differ in %q", c.Cells)
				}
				point = utf8.RuneCountInString(before)
			}
			if len(strings.TrimRight(part, " ")) > 2 {
				t.Errorf("%q has more than two decimals", s)
			}
			if (ds[i] == None) != (strings.TrimSpace(s) == Missing) || (ds[i] == 0) != (strings.TrimSpace(s) == "0") {
				t.Errorf("%d is printed %q", ds[i], s)
			}
		}
	})
}

// TestStepTable prints the latencies of the ladder's table, where all columns
// share a unit.
func TestStepTable(t *testing.T) {
	f := func(want string, ds ...time.Duration) {
		t.Helper()
		got := strings.Join(DurationsIn(ds, ms, Spaces).Cells, "|")
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	f(" 10.1 |  8.90|331   ", 10_100*us, 8_900*us, 331*ms)
	f(" 14.3| 13.8|696  ", 14_300*us, 13_800*us, 696*ms)
	f("   19.0|   18.3|1,116  ", 19_000*us, 18_300*us, 1_116*ms)
	f("   19.4|   22.7|1,814  ", 19_400*us, 22_700*us, 1_814*ms)
}
