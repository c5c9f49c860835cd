package logfile

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// order describes by what the rows are sorted.
func (t *accessTable) order() string {
	name := t.sort.head
	switch t.sort.measure {
	case isTotal:
		name = map[string]string{"total": "total request time", "upstream": "total upstream time"}[t.sort.name]
	case isKey:
		name = t.sort.name
	}
	if t.least {
		return "The least " + name + " first"
	}
	return "The most " + name + " first"
}

// sorted are the rows in the order asked for; ties stand by their keys, so that the
// same log gives the same table.
func (t *accessTable) sorted() []*accesslog.Row {
	out := make([]*accesslog.Row, len(t.log.Rows))
	for i := range t.log.Rows {
		out[i] = &t.log.Rows[i]
	}
	by := func(a, b *accesslog.Row) int {
		if t.sort.measure == isKey {
			return strings.Compare(a.Key[t.sort.part], b.Key[t.sort.part])
		}
		// What is not known stands last, whichever way.
		x, y := t.sort.value(t, a), t.sort.value(t, b)
		if math.IsNaN(x) || math.IsNaN(y) {
			return 0
		}
		return cmp.Compare(x, y)
	}
	unknown := func(r *accesslog.Row) int {
		if t.sort.measure != isKey && math.IsNaN(t.sort.value(t, r)) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *accesslog.Row) int {
		c := by(a, b)
		if !t.least {
			c = -c
		}
		return cmp.Or(cmp.Compare(unknown(a), unknown(b)), c, cmp.Compare(b.Total, a.Total),
			cmp.Compare(b.Count, a.Count), slices.Compare(a.Key, b.Key))
	})
	return out
}

// shown are the rows of the table.
func (t *accessTable) shown() []*accesslog.Row { return Limited(t.sorted(), t.o.Limit) }

// table makes the table.
func (t *accessTable) table() *report.Table {
	rows := t.sorted()
	shown := Limited(rows, t.o.Limit)
	out := &report.Table{ID: "endpoints", NarrowHint: "-o tsv shows them", Sortable: true}
	units := t.units(shown)
	for i, c := range t.columns {
		out.Columns = append(out.Columns, t.head(i, c, units))
	}
	for _, r := range shown {
		var cells []report.Cell
		for i, c := range t.columns {
			cells = append(cells, t.cell(c, r, units[i]))
		}
		out.Rows = append(out.Rows, report.Row{Cells: cells})
	}
	out.More = t.more(rows[len(shown):])
	return out
}

// more describes what was left out.
func (t *accessTable) more(rest []*accesslog.Row) string {
	if len(rest) == 0 {
		return ""
	}
	var time time.Duration
	var n uint64
	for _, r := range rest {
		time += r.Total
		n += r.Count
	}
	if t.total > 0 {
		return report.LeftOut(len(rest), float64(time)/float64(t.total), "time")
	}
	return report.LeftOut(len(rest), float64(n)/float64(max(t.all, 1)), "requests")
}

// A scale is the unit of a column: how many base units one of it is.
type scale struct {
	name string
	time time.Duration
	size float64
}

// units finds the unit of each column: columns of latency share one, which suits
// mean and p99 of what is shown.
func (t *accessTable) units(rows []*accesslog.Row) []scale {
	var all []time.Duration
	for _, r := range rows {
		if r.Latency.Count() > 0 {
			all = append(all, r.Latency.Mean(), r.Latency.Quantile(0.99))
		}
	}
	shared := cell.CommonUnit(all...)
	out := make([]scale, len(t.columns))
	for i, c := range t.columns {
		switch c.measure {
		case isLatency:
			out[i] = scale{name: unit.Name(shared), time: shared}
		case isTotal:
			u := cell.CommonUnit(cell.AsDuration(t.largest(c, rows)))
			out[i] = scale{name: unit.Name(u), time: u}
		case isSize:
			out[i] = sizeScale(t.largest(c, rows))
		case isRatio:
			out[i].name = "%"
		case isRate:
			out[i].name = "/s"
		case isStrip:
			out[i].name = "requests a second"
		}
	}
	return out
}

func (t *accessTable) largest(c accessColumn, rows []*accesslog.Row) float64 {
	var v float64
	for _, r := range rows {
		if x := c.value(t, r); x > v {
			v = x
		}
	}
	return v
}

// sizeScale is the unit for a column whose largest value is v bytes.
func sizeScale(v float64) scale {
	for _, s := range []scale{{name: "TB", size: 1e12}, {name: "GB", size: 1e9}, {name: "MB", size: 1e6},
		{name: "kB", size: 1e3}} {
		if v >= s.size {
			return s
		}
	}
	return scale{name: "B", size: 1}
}

// leastKey is the narrowest that a route is cut to before other columns go.
const leastKey = 24

func (t *accessTable) head(i int, c accessColumn, units []scale) report.Column {
	col := report.Column{Key: c.key, Head: c.head, Unit: units[i].name, Align: report.Decimal, Drop: c.drop}
	switch c.measure {
	case isKey:
		col.Align, col.Code, col.Cut = report.Left, true, c.name != "method" && c.name != "status"
		if col.Cut {
			col.Least = leastKey
		}
		return col
	case isCount:
		col.Align = report.Right
	case isMoment:
		col.Align = report.Right
	case isStrip:
		col.Align, col.Bars, col.Strips = report.Left, true, true
	}
	if len(t.o.Columns) > 0 {
		col.Drop = i // what was asked for last goes first
	}
	return col
}

// stripColumns is how many stretches of time the strip of a row has.
const stripColumns = 16

func (t *accessTable) cell(c accessColumn, r *accesslog.Row, u scale) report.Cell {
	if c.measure == isKey {
		return cell.Text(r.Key[c.part])
	}
	v := c.value(t, r)
	switch {
	case math.IsNaN(v):
	case c.measure == isMoment:
		return t.log.when(cell.AsDuration(v), t.o.Options)
	case c.measure == isStrip:
		return t.strip(r)
	}
	out := c.cell(v, u)
	if c.name == "5xx" && v > 0 {
		out.Tone = report.Bad
	}
	return out
}

// sizeIn prints bytes in the unit of the column.
func sizeIn(v float64, u scale) string {
	if u.size == 1 && v == math.Trunc(v) {
		return unit.Count(uint64(v))
	}
	return unit.Sig3(v / u.size)
}

// strip is the requests of a row over the time of the log, a second.
func (t *accessTable) strip(r *accesslog.Row) report.Cell {
	from, to, _ := t.log.span()
	step := t.log.step()
	first, n := int(from/step), int(to/step)-int(from/step)+1
	vs := make([]float64, min(n, stripColumns))
	most := 0.0
	for second, s := range r.Seconds {
		at := int(time.Duration(second)*time.Second/step) - first
		i := min(max(at*len(vs)/n, 0), len(vs)-1)
		vs[i] = max(vs[i], float64(s.Count)/step.Seconds())
		most = max(most, vs[i])
	}
	return report.Cell{Strip: vs, Text: "max " + perSecText(most), Raw: report.RawNumber(most)}
}

// perSecText prints requests a second: counts of whole seconds as they are.
func perSecText(v float64) string {
	if v == math.Trunc(v) {
		return unit.Count(uint64(v))
	}
	return unit.Sig3(v)
}
