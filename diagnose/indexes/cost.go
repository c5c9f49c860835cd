package indexes

import (
	"math"
	"slices"
	"strings"
)

// What reading costs, in rows that are read one after another from the table. A row
// that is looked up through an index costs 2.4 of them: MariaDB 10.11 reads 30,000
// rows of 440 bytes in memory in 15 ms by a scan, and in 36 ms in the order of an
// index.
const (
	lookupUnits = 2.4
	entryUnits  = 0.35 // an entry of an index
	sortUnits   = 0.3  // a row that is put in order
	callUnits   = 100  // a statement that finds nothing
)

// Limits of keys.
const (
	maxKeyBytes = 3072 // InnoDB, DYNAMIC rows of pages of 16 kB
	wideBytes   = 300  // of a column that an index carries only to save reading rows: VARCHAR(64) in utf8mb4 has 258
	tailBytes   = 1200 // of all such columns
	tailColumns = 8
)

// What is assumed of a condition's share of rows when nothing is known of it.
const (
	equalShare   = 0.1
	keyShare     = 0.001 // of a column that looks like another table's key
	boundedPart  = 0.2   // a range with two ends
	openPart     = 0.4   // a range with one
	constantPart = 0.9   // a bound that is always the same, such as stock > 0
	filterPart   = 0.15  // a condition that no index can seek
	listValues   = 3     // values in a list, where no more are known
)

// A reading is how one statement would read a table by an index.
type reading struct {
	units   float64
	rows    float64 // keys and rows that it looks at
	equal   int     // columns of the index that are compared for equality
	seek    int     // columns that find rows or give their order
	ordered bool
	covered bool
	turned  bool // the join begins with another table
	times   float64
	walks   bool // through the whole index in its order, looking up rows that may not fit
}

// share returns which part of the rows an equality with the column finds.
func (t *table) share(name string, ix *index, at int) float64 {
	if t.isOneValue(name) {
		return 1
	}
	if ix != nil && at < len(ix.card) && ix.card[at] > 0 {
		before := 1.0
		if at > 0 && ix.card[at-1] > 0 {
			before = float64(ix.card[at-1])
		}
		return min(1, before/float64(ix.card[at]))
	}
	for _, h := range t.have {
		if len(h.parts) > 0 && strings.EqualFold(h.parts[0].Column, name) && len(h.card) > 0 && h.card[0] > 0 {
			return 1 / float64(h.card[0])
		}
	}
	if s, ok := t.learnt[name]; ok {
		return s
	}
	c, _ := t.column(name)
	lower := strings.ToLower(name)
	seen := equalShare
	if s, ok := t.samples[lower]; ok {
		most := float64(s.Most) / float64(s.Rows)
		if seen = max(1/float64(s.Distinct), most*most); s.Distinct <= fewValues {
			return seen
		}
	}
	switch {
	case c.values > 0:
		return 1 / float64(c.values)
	case strings.HasSuffix(lower, "_id"), strings.HasSuffix(lower, "uuid"), strings.HasSuffix(lower, "email"),
		c.bytes == 36*4+2, c.bytes == 26*4+2, c.bytes == 18:
		return min(seen, max(keyShare, 1/t.rows))
	}
	return min(seen, equalShare)
}

func (a *access) rangeShare(name string) float64 {
	switch {
	case a.table.constant[name]:
		return constantPart
	case a.bounded[name]:
		return boundedPart
	}
	return openPart
}

// perCall returns rows sent and examined by one statement.
func (a *access) perCall() (sent, examined float64) {
	n := float64(max(a.query.Calls, 1))
	return float64(a.query.RowsSent) / n, float64(a.query.RowsExamined)/n + a.uncounted
}

// rowsKnown reports whether the rows sent are those that fit all conditions.
func (a *access) rowsKnown() bool {
	return !a.limit && !a.single && !a.group && !a.apart && a.alone() && a.query.Verb == "SELECT"
}

// valuesIn returns how many values a list has that a column is one of: where rows are grouped by
// it, at least one for each group that is sent, and as many as the rows that are examined today
// belong to.
func (a *access) valuesIn(column string) float64 {
	sent, _ := a.perCall()
	if a.listed.column == column && !a.rowsKnown() {
		return max(listValues, a.listed.rows/max(a.table.rows*a.table.share(column, nil, 0), 1e-9))
	}
	if a.group && !a.limit && a.alone() && slices.ContainsFunc(a.order, func(o Part) bool {
		return strings.EqualFold(o.Column, column)
	}) {
		return max(listValues, sent)
	}
	return listValues
}

// alone reports whether the statement reads no other table.
func (a *access) alone() bool { return len(a.query.Tables) <= 1 && len(a.joined) == 0 && !a.beside }

// fitting returns how many rows of the table fit all conditions.
func (a *access) fitting() float64 {
	sent, _ := a.perCall()
	if a.rowsKnown() {
		return max(sent, 0.5)
	}
	t := a.table
	n := t.rows
	for _, list := range [][]string{a.equal, a.joined} {
		for _, c := range list {
			n *= t.share(c, nil, 0)
		}
	}
	for _, c := range a.in {
		n *= min(1, a.valuesIn(c)*t.share(c, nil, 0))
	}
	for _, c := range a.ranges {
		n *= a.rangeShare(c)
	}
	n *= math.Pow(filterPart, float64(a.filters))
	if !a.single && !a.group && !a.apart && a.alone() {
		n = max(n, sent)
	}
	return max(n, 0.5)
}

// fewSent rows are fewer than pages have: where their number is no whole one on average, the
// LIMIT was not reached.
const fewSent = 5

// wanted returns how many rows of the order a statement with LIMIT goes through when
// each fits, those that its OFFSET skips with them, and how often it finds as many as it wants.
func (a *access) wanted() (rows, full float64) {
	sent, examined := a.perCall()
	rows = max(sent, 1)
	if s := a.table.scanned; s > 0 && examined > s { // a sort hands out what it sorted up to the end of the page
		rows = min(max(rows, examined-s), 10*rows)
	}
	rows = max(rows, a.skip+max(sent, 1))
	full = 1
	switch {
	case sent < 0.9: // often nothing is found
		full = max(sent, 0.01)
	case a.most > 0 && sent < 0.9*a.most: // often fewer are found than it wants
		full = sent / a.most
	case a.most == 0 && a.filters > 0 && sent < fewSent && math.Abs(sent-math.Round(sent)) > 0.05:
		full = 1 / fewSent
	}
	return rows, full
}

// scan is reading the whole table.
func (a *access) scan() reading {
	r := reading{rows: a.table.rows, units: callUnits + a.table.rows, times: a.probes}
	if a.sorted {
		r.units += sortUnits * a.fitting()
	}
	r.units *= a.probes
	return r
}

// Samples of columns.
const (
	enoughRows = 200 // that were looked at
	fewValues  = 16  // fewer than the places of a sample: a column whose rows lie together has more
)

// isOneValue reports whether all rows that were looked at have the same value of a column, and
// no statement asks for another one.
func (t *table) isOneValue(name string) bool {
	s, ok := t.samples[strings.ToLower(name)]
	asked, seen := t.learnt[name]
	return ok && s.Distinct == 1 && (!seen || asked > equalShare)
}

// areFew reports whether each of the columns was seen to have a few values: what they find is
// known then, and better than from what is assumed of other conditions.
func (t *table) areFew(parts []Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p Part) bool {
		s, ok := t.samples[strings.ToLower(p.Column)]
		return !ok || s.Distinct > fewValues
	})
}

// by returns how the statement would read by an index; ok is false when it cannot.
func (a *access) by(ix *index) (r reading, ok bool) {
	if ix.other || len(ix.parts) == 0 {
		return r, false
	}
	t, share, multi := a.table, 1.0, false
	for ; r.equal < len(ix.parts); r.equal++ {
		p := ix.parts[r.equal]
		s := t.share(p.Column, ix, r.equal)
		switch {
		case containsName(a.equal, p.Column), containsName(a.joined, p.Column) && !a.first:
			share *= s
		case containsName(a.joined, p.Column) && a.turn.probes > 0:
			share, r.turned = share*s, true
		case containsName(a.in, p.Column):
			share, multi = share*min(1, a.valuesIn(p.Column)*s), true
		default:
			s = -1
		}
		if s < 0 {
			break
		}
	}
	r.seek = r.equal
	n, ordered := a.ordered(ix.parts[r.equal:])
	r.ordered = ordered && !multi && !(a.refuses && ix.name != "")
	ranged := r.equal < len(ix.parts) && containsName(a.ranges, ix.parts[r.equal].Column)
	if ranged {
		share, r.seek = share*a.rangeShare(ix.parts[r.equal].Column), r.equal+1
	}
	if r.ordered {
		r.seek = max(r.seek, r.equal+n)
	}
	r.covered = ix.name == "PRIMARY" || a.covered(ix)
	if r.equal == 0 && !ranged && !r.ordered && (!r.covered || ix.name == "PRIMARY") {
		return r, false
	}
	a.count(&r, ix, share)
	return r, true
}

// count fills in what a reading costs.
func (a *access) count(r *reading, ix *index, share float64) {
	fits := a.fitting()
	seeks := r.equal > 0 || r.seek > 0 && !r.ordered || r.seek > 0 && containsName(a.ranges, ix.parts[r.equal].Column)
	keys := a.table.rows * share
	if ix.unique && r.equal == len(ix.parts) {
		keys = 1
	}
	rest := a.restSeen(ix, r.seek)
	if a.rowsKnown() && rest == a.restAll(ix, r.seek) && seeks && (rest == 1 || !a.table.areFew(ix.parts[:r.equal])) {
		// All conditions are in the index: what fits is known.
		keys = min(keys, max(fits/max(rest, 1e-9), fits))
	}
	keys = max(keys, min(fits, a.table.rows))
	if by := a.step; by != nil && ix.name != "" && ix.name == by.Key {
		switch {
		case strings.EqualFold(by.Access, "eq_ref"): // by a unique key, also where the text does not show the join
			keys = min(keys, 1)
		case a.apart && !isScan(by.Access): // the server looked, where what an index knows of its values may be old
			keys = min(keys, max(by.Rows, 1))
		}
	}
	keys *= a.passed(ix)
	if r.ordered && a.limit {
		rows, full := a.wanted()
		fit := min(1, fits/max(keys, 1e-9))
		keys = min(keys, full*rows/fit+(1-full)*keys)
	}
	looked := keys * rest
	switch {
	case r.covered:
		looked = 0
	case !seeks: // conditions are pushed down to an index only where it is searched
		looked, r.walks = keys, true
	}
	each := entryUnits
	if ix.name == "PRIMARY" {
		each = 1
	}
	r.units = callUnits + keys*each + looked*lookupUnits
	if a.sorted && !r.ordered {
		r.units += sortUnits * min(fits, keys)
	}
	r.rows, r.times = keys, a.probes
	if r.turned {
		r.times = a.turn.probes
		r.units = r.units*r.times + a.turn.before
		return
	}
	r.units *= r.times
}

// passed returns which part of the rows that the server finds by an index it looks up: a rowid
// filter takes those that another index has out before.
//
// Source: MariaDB documentation, "Rowid Filtering Optimization".
func (a *access) passed(ix *index) float64 {
	if a.step == nil || ix.name == "" {
		return 1
	}
	by, filter, _ := strings.Cut(a.step.Key, "|")
	if filter == "" || by != ix.name {
		return 1
	}
	for _, h := range a.table.have {
		if h.name == filter && len(h.parts) > 0 && containsName(a.equal, h.parts[0].Column) {
			return a.table.share(h.parts[0].Column, h, 0)
		}
	}
	return 1
}

// ordered reports whether parts of an index have the statement's order, and how many
// of them it takes.
func (a *access) ordered(parts []Part) (n int, ok bool) {
	if !a.sorted {
		return 0, false
	}
	back, decided := false, false
	for _, o := range a.order {
		if containsName(a.equal, o.Column) {
			continue
		}
		p := Part{Column: o.Column} // InnoDB appends the primary key, ascending
		if n < len(parts) {
			p = parts[n]
		} else if !a.table.isPrimary(o.Column) {
			return n, false
		}
		if !strings.EqualFold(p.Column, o.Column) || p.Prefix > 0 {
			return n, false
		}
		if !a.group || a.limit {
			if decided && back != (p.Desc != o.Desc) {
				return n, false
			}
			back, decided = p.Desc != o.Desc, true
		}
		n = min(n+1, len(parts))
	}
	return n, true
}

func (ix *index) holds(name string) bool {
	return slices.ContainsFunc(ix.parts, func(p Part) bool {
		return p.Prefix == 0 &&
			strings.EqualFold(p.Column, name)
	})
}

// covered reports whether an index holds all columns that the statement reads.
func (a *access) covered(ix *index) bool {
	if a.star {
		return false
	}
	for _, c := range a.reads {
		if !ix.holds(c) && !a.table.isPrimary(c) {
			return false
		}
	}
	return true
}

// restSeen returns the share of the rows found by the first seek parts that fits the
// conditions on other columns of the index; restAll that for all other conditions.
func (a *access) restSeen(ix *index, seek int) float64 { return a.rest(ix, seek, ix.holds) }

func (a *access) restAll(ix *index, seek int) float64 {
	return a.rest(ix, seek, func(string) bool { return true })
}

func (a *access) rest(ix *index, seek int, seen func(string) bool) float64 {
	used := func(c string) bool {
		return slices.ContainsFunc(ix.parts[:seek], func(p Part) bool { return strings.EqualFold(p.Column, c) })
	}
	s := 1.0
	for _, c := range a.equal {
		if !used(c) && seen(c) {
			s *= a.table.share(c, nil, 0)
		}
	}
	for _, c := range a.ranges {
		if !used(c) && seen(c) {
			s *= a.rangeShare(c)
		}
	}
	if a.filters > 0 && !slices.ContainsFunc(a.filter, func(c string) bool { return !seen(c) }) {
		s *= math.Pow(filterPart, float64(a.filters))
	}
	return s
}

// whole returns the units of the statement when it reads this table so.
func (a *access) whole(r reading) float64 {
	if r.turned {
		return r.units
	}
	return r.units + a.turn.others
}

// best returns the cheapest reading by some of the indexes, and the index; nil for the whole
// table.
//
// Both servers prefer an index in the order of an ORDER BY with LIMIT, even where few rows fit
// and a scan of the table would be cheaper. Where such an index exists and the cheapest
// reading compares no column for equality, the estimate is the mean of the two.
func (a *access) best(set []*index) (reading, *index) {
	r := a.scan()
	var by *index
	tempted := 0.0
	for _, ix := range set {
		x, ok := a.by(ix)
		if y, leads := leadingBy(a, ix); leads && (!ok || a.whole(y) < a.whole(x)) {
			x, ok = y, true
		}
		if !ok {
			continue
		}
		if x.walks && x.ordered && a.limit {
			tempted = max(tempted, x.units)
		}
		if a.whole(x) < a.whole(r) {
			r, by = x, ix
		}
	}
	if tempted > r.units && r.equal == 0 {
		r.units = (r.units + tempted) / 2
	}
	return r, by
}
