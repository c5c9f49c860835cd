package recording

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// putTogether is what the endpoints of a run were put together from.
type putTogether map[[3]string]kasoku.Variants

func (r logTables) putTogether() putTogether {
	out := putTogether{}
	for i := range r.Endpoints {
		host := r.Endpoints[i].Host
		if i > 0 && host == r.Endpoints[i-1].Host {
			continue
		}
		for _, v := range r.Variants(host) {
			out[[3]string{host, v.Method, v.Route}] = v
		}
	}
	return out
}

// folded is how many paths an endpoint stands for; empty for one.
func (p putTogether) folded(e *kasoku.Endpoint) string {
	v := p[[3]string{e.Host, e.Method, e.Route}]
	if v.Paths <= 1 {
		return ""
	}
	return "(about " + unit.Count(v.Paths) + " paths)"
}

// mostVariants is how many rows the table of variants has.
const mostVariants = 12

// variantTable shows the requests of endpoints by the query keys that they have, those that took
// the most time first; nil where no endpoint has several sets of keys.
func (r logTables) variantTable(p putTogether) *report.Table {
	type one struct {
		of  *kasoku.Endpoint
		set kasoku.QueryKeys
	}
	var rows []one
	var all time.Duration
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		all += e.Total
		v := p[[3]string{e.Host, e.Method, e.Route}]
		if !v.Several() {
			continue
		}
		for _, set := range v.Sets {
			rows = append(rows, one{e, set})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b one) int {
		return cmp.Or(cmp.Compare(b.set.Time, a.set.Time), cmp.Compare(b.set.Requests, a.set.Requests))
	})
	var rest time.Duration
	var means []time.Duration
	for i, row := range rows {
		if i < mostVariants {
			means = append(means, row.set.Mean())
		} else {
			rest += row.set.Time
		}
	}
	u := cell.CommonUnit(means...)
	t := &report.Table{ID: "variants", Title: "By query keys", Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true},
		{Key: "keys", Head: "query keys", Code: true, Cut: true},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "share_ratio", Head: "share of time", Unit: "%", Align: report.Decimal},
		{Key: "mean_s", Head: "mean", Unit: unit.Name(u), Align: report.Decimal},
	}}
	several := r.severalLogs()
	if several {
		t.Columns = slices.Insert(t.Columns, 1, report.Column{Key: "host", Head: "host"})
	}
	for _, row := range rows[:min(mostVariants, len(rows))] {
		cells := []report.Cell{cell.Text(endpointName(row.of)), {Text: row.set.Text(), Raw: row.set.Keys},
			cell.Count(row.set.Requests), cell.None(), cell.None()}
		if all > 0 { // the log has times
			cells[3], cells[4] = cell.Percent(float64(row.set.Time)/float64(all)), cell.Duration(row.set.Mean(), u)
		}
		if several {
			cells = slices.Insert(cells, 1, cell.Text(row.of.Host))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	if n := len(rows) - mostVariants; n > 0 {
		t.More = report.LeftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}
