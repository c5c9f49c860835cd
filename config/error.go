package config

import (
	"fmt"
	"strings"
)

// An Error is one mistake in a kasoku.toml.
type Error struct {
	Path string // of the file
	Line int    // from 1; 0 when it is about the whole file
	Key  string // dotted, such as finalize.units[1].name; empty for broken TOML
	Text string // what is wrong and what was expected
	hint string
}

// Error returns "kasoku.toml:12: load.each: want a duration, not a number".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// Hint returns what to write instead, empty when nothing is known.
func (e *Error) Hint() string { return e.hint }

// nearest returns the name that was likely meant: at most a third of its letters
// may differ, and one more.
func nearest(name string, of []string) (string, bool) {
	best, most := "", len([]rune(name))/3+2
	for _, s := range of {
		if d := distance(name, s); d < most {
			best, most = s, d
		}
	}
	return best, best != ""
}

// distance is how many letters must be added, left out, replaced or swapped with
// their neighbour to make b of a, whatever their case and whether words are
// joined by _ or - (optimal string alignment; Damerau, 1964).
func distance(a, b string) int {
	plain := strings.NewReplacer("_", "", "-", "")
	x, y := []rune(strings.ToLower(plain.Replace(a))), []rune(strings.ToLower(plain.Replace(b)))
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			same := 1
			if x[i] == y[j] {
				same = 0
			}
			row[j+1] = min(last[j]+same, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
