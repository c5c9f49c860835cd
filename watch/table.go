package watch

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A column of a table: words stand left, numbers right.
type column struct {
	name    string
	unit    string
	text    bool
	wide    bool // takes what room is left
	least   int  // cells that it takes at least, when it is wide; 0: 12
	drop    int  // where there is no room, columns go in this order; 0: never
	decimal int
	plain   bool // the name of something, not a quantity
}

// A row is one line of a table; its cells are text or values, as its columns are.
type row struct {
	words  []string
	values []float64
	tone   tone
}

// A table is one pane of the screen.
type table struct {
	id      string // for the keys
	title   string
	columns []column
	rows    []row
	sorts   []int // columns that it can be sorted by, the first by default
	sorted  int   // place in sorts
	found   int   // rows before those that the filter refuses went
}

// arrange sorts by a column and drops what does not hold the filter. Rows that are
// alike stay in the order of their words.
func (t *table) arrange(by int, filter string) {
	t.found = len(t.rows)
	if filter != "" {
		filter = strings.ToLower(filter)
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
			return !slices.ContainsFunc(r.words, func(w string) bool {
				return strings.Contains(strings.ToLower(w),
					filter)
			})
		})
	}
	if len(t.sorts) == 0 {
		return
	}
	t.sorted = by % len(t.sorts)
	at := t.sorts[t.sorted]
	if t.columns[at].text {
		slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(a.words[at], b.words[at]) })
		return
	}
	slices.SortStableFunc(t.rows, func(a, b row) int {
		x, y := a.values[at], b.values[at]
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.words[0], b.words[0]))
	})
}

// newRow returns a row of a table with nothing in it.
func (t *table) newRow() row {
	r := row{words: make([]string, len(t.columns)), values: make([]float64, len(t.columns))}
	for i := range r.values {
		r.values[i] = math.NaN()
	}
	return r
}
