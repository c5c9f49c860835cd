package unit

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Padding defines how cells are made equally wide.
type Padding uint8

// The paddings.
const (
	// Spaces pads on both sides, for a terminal.
	Spaces Padding = iota
	// FigureSpaces pads at the end only, with a U+2007 for each digit and a U+2008 for
	// the point, for HTML: with tabular digits and cells set flush right the points
	// stand under each other.
	FigureSpaces
)

// A Column is the numbers of one column of a table: cells that share a unit, are
// aligned on the decimal point and have at most two decimals.
type Column struct {
	Unit  string // for the header: ms, MB; empty for plain numbers
	Cells []string
}

// Durations prints durations in the one unit that suits the largest of them; None
// is one that was not measured. Columns that are read together, such as
// percentiles, should share a unit: see [DurationsIn].
func Durations(ds []time.Duration, p Padding) Column {
	return DurationsIn(ds, Unit(Longest(ds)), p)
}

// DurationsIn prints durations in the given unit.
func DurationsIn(ds []time.Duration, unit time.Duration, p Padding) Column {
	cells := make([]string, len(ds))
	for i, d := range ds {
		cells[i] = DurationIn(d, unit)
	}
	return Column{Name(unit), Align(cells, p)}
}

// Longest returns the longest of the durations, leaving out None; 1 ms when all
// are 0 or None, so that an idle column is in ms.
func Longest(ds []time.Duration) time.Duration {
	var longest time.Duration
	for _, d := range ds {
		if d != None {
			longest = max(longest, d, -d)
		}
	}
	if longest == 0 {
		return time.Millisecond
	}
	return longest
}

// Sizes prints sizes in the one SI unit that suits the largest of them.
func Sizes(ns []uint64, p Padding) Column { return sizeColumn(ns, sizesSI, p) }

// SizesIEC prints sizes in the one IEC unit that suits the largest of them.
func SizesIEC(ns []uint64, p Padding) Column { return sizeColumn(ns, sizesIEC, p) }

func sizeColumn(ns []uint64, units []sizeUnit, p Padding) Column {
	var largest uint64
	for _, n := range ns {
		largest = max(largest, n)
	}
	u := sizeFor(float64(largest), units)
	cells := make([]string, len(ns))
	for i, n := range ns {
		if u.bytes == 1 {
			cells[i] = Count(n)
		} else {
			cells[i] = Sig3(float64(n) / u.bytes)
		}
	}
	return Column{u.name, Align(cells, p)}
}

// Numbers prints measured values that have no unit to scale; NaN is one that was
// not measured.
func Numbers(vs []float64, p Padding) Column {
	cells := make([]string, len(vs))
	for i, v := range vs {
		cells[i] = Sig3(v)
	}
	return Column{"", Align(cells, p)}
}

// Align returns the cells, printed numbers, padded so that their decimal points
// stand under each other. Missing and empty cells stand flush right.
func Align(cells []string, p Padding) []string {
	var whole, rest int
	for _, c := range cells {
		w, r := split(c)
		whole, rest = max(whole, w), max(rest, r)
	}
	width := whole + rest
	for _, c := range cells {
		if isWord(c) {
			width = max(width, utf8.RuneCountInString(c))
		}
	}
	whole = width - rest
	out := make([]string, len(cells))
	for i, c := range cells {
		w, r := split(c)
		before, after := whole-w, rest-r
		if isWord(c) {
			before, after = width-utf8.RuneCountInString(c), 0
		}
		if p == FigureSpaces {
			out[i] = c + figureSpaces(after, r == 0)
		} else {
			out[i] = strings.Repeat(" ", before) + c + strings.Repeat(" ", after)
		}
	}
	return out
}

// split returns how many cells on a terminal the whole part of c takes and how
// many the rest, with its point; 0 and 0 for a word.
func split(c string) (whole, rest int) {
	if isWord(c) {
		return 0, 0
	}
	before, after, found := strings.Cut(c, ".")
	whole = utf8.RuneCountInString(before)
	if found {
		rest = 1 + utf8.RuneCountInString(after)
	}
	return whole, rest
}

// isWord reports whether c has no digits to align.
func isWord(c string) bool { return !strings.ContainsAny(c, "0123456789") }

// figureSpaces is as wide as n missing characters after a number, of which the
// first is the point when point is set.
func figureSpaces(n int, point bool) string {
	if n <= 0 {
		return ""
	}
	if point {
		return "\u2008" + strings.Repeat("\u2007", n-1)
	}
	return strings.Repeat("\u2007", n)
}
