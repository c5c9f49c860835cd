package indexes

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A set of ranges is fixed when there are few of them, and each is asked for often.
const (
	fewRanges  = 10
	timesEach  = 5
	fewCalls   = 20
	rangesLeft = 0.1 // of a statement's units that remain with a bucket
)

// fixedRanges finds columns that are asked for in few ranges, while the statement
// wants an order or other columns, which an index that begins with a range cannot
// serve.
func (w *work) fixedRanges() {
	for _, t := range w.tables {
		if t.rows < fewRows {
			continue
		}
		accesses := w.of(t)
		set := slices.Clone(t.have)
		for i := range w.advice.Proposals {
			if p := &w.advice.Proposals[i]; p.Table == t.def.Name && p.Schema == t.def.Schema && p.Host == t.def.Host {
				set = append(set, &index{name: p.Name, parts: p.Columns})
			}
		}
		for _, c := range t.columns {
			if f, ok := w.rangesOf(t, c.name, accesses, set); ok {
				w.advice.Ranges = append(w.advice.Ranges, f)
			}
		}
	}
	slices.SortStableFunc(w.advice.Ranges, func(a, b FixedRanges) int {
		return cmp.Or(cmp.Compare(b.Saved, a.Saved), strings.Compare(a.Column, b.Column))
	})
}

func (w *work) rangesOf(t *table, name string, accesses []*access, set []*index) (FixedRanges, bool) {
	f := FixedRanges{Host: t.def.Host, Schema: t.def.Schema, Table: t.def.Name, Column: name}
	if t.constant[name] {
		return f, false
	}
	var calls uint64
	shapes := map[string]uint64{} // lower, upper, both: how many different ones at least one class shows
	for _, a := range accesses {
		if !containsName(a.ranges, name) || a.query.Distinct == 0 || len(a.equal)+len(a.in)+a.filters > 0 || !a.alone() ||
			a.never {
			continue
		}
		// A page's number makes statements differ too, and so does the bound of another column.
		if k := a.boundsOf(name); a.query.Calls >= timesEach*a.query.Distinct &&
			(shapes[k] == 0 || a.query.Distinct < shapes[k]) {
			shapes[k] = a.query.Distinct
			calls += a.query.Calls
		}
	}
	for _, n := range shapes {
		f.Ranges += n
	}
	if f.Ranges == 0 || f.Ranges > fewRanges || calls < fewCalls {
		return f, false
	}
	for _, a := range accesses {
		if !containsName(a.ranges, name) || !(a.sorted || a.single || len(a.equal) > 0) || a.never {
			continue
		}
		if len(a.order) > 0 && a.order[0].Column == name { // the range is the order
			continue
		}
		f.QueryIDs = appendNew(f.QueryIDs, a.query.ID)
		f.Total += a.query.Total
		now, _ := a.best(t.have)
		then, _ := a.best(set)
		left := max(callUnits, then.units*rangesLeft)
		f.Saved += time.Duration(max(0, then.units-left) / max(now.units, 1) * float64(a.query.Total))
		if len(f.Order) == 0 && a.limit {
			f.Order = a.orderParts()
		}
	}
	f.nameBucket(t)
	return f, len(f.QueryIDs) > 0
}

// boundsOf describes which ends of a range a statement gives.
func (a *access) boundsOf(name string) string {
	if a.bounded[name] {
		return "both"
	}
	for _, op := range []string{" <", "<"} {
		if strings.Contains(a.query.Fingerprint, strings.ToLower(name)+op) {
			return "upper"
		}
	}
	return "lower"
}

// nameBucket names the column that stores the number of the range, and its index. Where the
// ranges begin and end, no log says.
func (f *FixedRanges) nameBucket(t *table) {
	f.Bucket = f.Column + "_range"
	for {
		if _, taken := t.column(f.Bucket); !taken {
			break
		}
		f.Bucket += "_"
	}
	f.Index, _ = indexDDL(t.def.Name+"_"+f.Bucket, t.def.Name, append([]Part{{Column: f.Bucket}}, f.Order...))
}
