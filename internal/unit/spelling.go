package unit

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns the name that was likely meant by word: at most a third of its
// letters may differ, and one more. ok is false when none is that near.
func Nearest(word string, names []string) (name string, ok bool) {
	most := len([]rune(word))/3 + 2
	for _, s := range names {
		if d := distance(word, s); s != "" && d < most {
			name, most, ok = s, d, true
		}
	}
	return name, ok
}

// Nearby returns the names that may have been meant by word, as [Nearest] judges them,
// the nearest first and at most so many.
func Nearby(word string, names []string, most int) []string {
	type near struct {
		name string
		d    int
	}
	var all []near
	for _, s := range names {
		if d := distance(word, s); s != "" && d < len([]rune(word))/3+2 {
			all = append(all, near{s, d})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	var out []string
	for _, n := range all[:min(most, len(all))] {
		out = append(out, n.name)
	}
	return out
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
