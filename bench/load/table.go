package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/unit"
)

// writeTable writes rows below their heads: the first column to the left, the
// others to the right, two spaces between them.
func writeTable(w io.Writer, heads []string, rows [][]string) {
	width := make([]int, len(heads))
	for _, r := range append([][]string{heads}, rows...) {
		for i, cell := range r {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range append([][]string{heads}, rows...) {
		var b strings.Builder
		for i, cell := range r {
			gap := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("  " + cell + gap)
			} else {
				b.WriteString("  " + gap + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// formatNumber prints a measured value, or – when it was not measured.
func formatNumber(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return unit.Sig3(v)
}

// medianOf prints the median of values.
func medianOf(values []float64) string { return formatNumber(middleValue(values)) }

// ratioOf prints the median of ratios and how far the rounds differ.
func ratioOf(values []float64) string {
	least, most := spreadOf(values)
	m := middleValue(values)
	switch {
	case math.IsNaN(m):
		return "–"
	case least == most:
		return fmt.Sprintf("%.2f", m)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", m, least, most)
}

// A goal is what a figure has to reach.
type goal struct {
	row     string
	what    string
	unit    string  // after the figures, such as " × wrk"
	got     float64 // NaN: not measured
	must    float64 // NaN: none
	aim     float64 // NaN: none
	atLeast bool    // more is better
	why     string  // it was not measured, empty when it was
}

func (g *goal) holds(limit float64) bool {
	if g.atLeast {
		return g.got >= limit
	}
	return g.got <= limit
}

func (g *goal) measured() bool { return !math.IsNaN(g.got) }

// met reports whether nothing is left to be desired but an aim. What could not be
// measured for a reason does not count.
func (g *goal) met() bool {
	return math.IsNaN(g.must) || g.measured() && g.holds(g.must) || !g.measured() && g.why != ""
}

// verdict reports whether must and aim are reached.
func (g *goal) verdict() string {
	switch {
	case !g.measured() && g.why != "":
		return "not measured: " + g.why
	case !g.measured():
		return "NOT MEASURED"
	case math.IsNaN(g.must) && g.holds(g.aim):
		return "the aim"
	case math.IsNaN(g.must):
		return "not the aim"
	case !g.holds(g.must):
		return "NO"
	case math.IsNaN(g.aim):
		return "yes"
	case g.holds(g.aim):
		return "yes, and the aim"
	}
	return "yes, not the aim"
}

// writeGoals writes what was to be reached and what was.
func writeGoals(w io.Writer, goals []goal) {
	rows := make([][]string, 0, len(goals))
	for _, g := range goals {
		rows = append(rows, []string{g.what, g.limit(g.must), g.limit(g.aim), g.is(), g.verdict()})
	}
	writeTable(w, []string{"goal", "must", "aim", "is", "met"}, rows)
}

func (g *goal) limit(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case g.atLeast:
		return "≥ " + unit.Plain(v) + g.unit
	}
	return "≤ " + unit.Plain(v) + g.unit
}

func (g *goal) is() string {
	if !g.measured() {
		return "–"
	}
	return formatNumber(g.got) + g.unit
}
