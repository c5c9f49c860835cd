package statements

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// SectionDigests is their table.
const SectionDigests = "digests"

// Digests are the statement digests of a server.
type Digests struct {
	mysql.Digests
	Server  string        // MariaDB 10.11.19
	Over    time.Duration // the time between two snapshots; 0: since the server began to count
	Notes   []report.Note
	Stopped string // why the second snapshot was taken early
}

// A DigestRow is one class with its name.
type DigestRow struct {
	mysql.DigestKey
	mysql.Digest
}

// DigestColumns are the columns that rows can be sorted by.
var DigestColumns = []string{"total", "calls", "mean", "max", "lock", "examined", "sent", "affected", "errors",
	"no_index", "tmp_disk"}

// Sorted returns the classes by a column, the largest first.
func (d *Digests) Sorted(column string) []DigestRow {
	of := func(r *DigestRow) float64 {
		switch column {
		case "calls":
			return float64(r.Calls)
		case "mean":
			return r.Total.Seconds() / float64(max(r.Calls, 1))
		case "max":
			return r.Max.Seconds()
		case "lock":
			return r.Lock.Seconds()
		case "examined":
			return float64(r.RowsExamined)
		case "sent":
			return float64(r.RowsSent)
		case "affected":
			return float64(r.RowsAffected)
		case "errors":
			return float64(r.Errors)
		case "no_index":
			return float64(r.NoIndex)
		case "tmp_disk":
			return float64(r.TmpDisk)
		}
		return r.Total.Seconds()
	}
	var out []DigestRow
	for k, c := range d.Classes {
		out = append(out, DigestRow{k, c})
	}
	slices.SortFunc(out, func(a, b DigestRow) int {
		return cmp.Or(cmp.Compare(of(&b), of(&a)), cmp.Compare(b.Total, a.Total), strings.Compare(a.Schema, b.Schema),
			strings.Compare(a.ID, b.ID))
	})
	return out
}

// P95 is the time that 95 of 100 calls did not exceed, known where the server has a
// histogram. Its buckets are 4.7 % wide.
func (r *DigestRow) P95() (time.Duration, bool) {
	var all, seen uint64
	for _, b := range r.Buckets {
		all += b.Calls
	}
	if all == 0 {
		return 0, false
	}
	rank := histogram.Rank(0.95, all)
	for _, b := range r.Buckets {
		if seen += b.Calls; seen >= rank {
			return b.Low + (min(b.High, 2*b.Low)-b.Low)/2, true
		}
	}
	return 0, false
}

// Digested returns the document of statement digests, sorted by a column. Limit is how many rows
// are shown; 0 is all.
func Digested(d *Digests, column string, limit int, o report.Options) *report.Document {
	rows := d.Sorted(column)
	doc := &report.Document{Kind: report.KindDigests, Title: "statement digests",
		Head: []string{"statement digests", d.Server}, Footer: report.FooterOf(o, "")}
	doc.Fill("verdict", func() { doc.Verdict = d.verdict(rows) })
	if d.Stopped != "" {
		doc.Alerts = append(doc.Alerts, report.Alert{Tone: report.Mark, Text: d.Stopped})
	}
	doc.PutSection(o, "digests", func() report.Section {
		s := report.Section{ID: SectionDigests, Title: "Statements", Count: len(rows)}
		if len(rows) > 0 {
			s.Sub = "As the server normalised them, each once per default database."
			s.Blocks = append(s.Blocks, d.table(rows, limit))
		}
		if len(d.Notes) > 0 {
			s.Blocks = append(s.Blocks, &report.Notes{List: d.Notes})
		}
		return s
	})
	return doc
}

func (d *Digests) verdict(rows []DigestRow) string {
	var calls uint64
	var total time.Duration
	for i := range rows {
		calls += rows[i].Calls
		total += rows[i].Total
	}
	since := "since the server began to count"
	if d.Over > 0 {
		since = "in " + unit.Elapsed(d.Over)
	}
	if len(rows) == 0 {
		return "No statement was counted " + since + "."
	}
	return unit.Counted(calls, "call", "calls") + " of " + unit.Counted(len(rows), "class", "classes") + " took " +
		unit.Duration(total) + " " + since + "."
}

func (d *Digests) table(rows []DigestRow, limit int) *report.Table {
	var all, rest time.Duration
	var ds, totals []time.Duration
	shown := len(rows)
	if limit > 0 {
		shown = min(shown, limit)
	}
	var maxima, quantiles bool
	for i := range rows {
		r := &rows[i]
		all += r.Total
		if i >= shown {
			rest += r.Total
			continue
		}
		_, known := r.P95()
		ds, totals = append(ds, r.Total/time.Duration(max(r.Calls, 1))), append(totals, r.Total)
		maxima, quantiles = maxima || r.Max > 0, quantiles || known
	}
	u, ut := cell.CommonUnit(ds...), cell.CommonUnit(totals...)
	t := &report.Table{ID: "digests", Sortable: true, NarrowHint: "-o tsv shows them",
		Columns: digestColumns(unit.Name(u), unit.Name(ut), maxima, quantiles)}
	for i := range rows[:shown] {
		t.Rows = append(t.Rows, report.Row{Cells: digestCells(&rows[i], all, u, ut, t.Columns)})
	}
	if n := len(rows) - shown; n > 0 {
		t.More = report.LeftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}

func digestColumns(u, ut string, maxima, quantiles bool) []report.Column {
	all := []report.Column{
		{Key: "calls", Head: "calls", Align: report.Right},
		{Key: "total_s", Head: "total", Unit: ut, Align: report.Decimal},
		{Key: "share_ratio", Head: "share", Unit: "%", Align: report.Decimal, Drop: 8},
		{Key: "mean_s", Head: "mean", Unit: u, Align: report.Decimal},
		{Key: "min_s", Head: "min", Unit: u, Align: report.Decimal, Drop: 12},
		{Key: "p95_s", Head: "p95", Unit: u, Align: report.Decimal, Drop: 2},
		{Key: "max_s", Head: "max", Unit: u, Align: report.Decimal, Drop: 4},
		{Key: "lock_s", Head: "lock", Unit: ut, Align: report.Decimal, Drop: 9},
		{Key: "rows_examined", Head: "examined", Unit: "rows a call", Align: report.Decimal, Drop: 3},
		{Key: "rows_sent", Head: "sent", Unit: "rows a call", Align: report.Decimal, Drop: 5},
		{Key: "rows_affected", Head: "affected", Unit: "rows a call", Align: report.Decimal, Drop: 10},
		{Key: "no_index", Head: "no index", Unit: "calls", Align: report.Right, Drop: 6},
		{Key: "tmp_disk", Head: "on disk", Unit: "tables", Align: report.Right, Drop: 7},
		{Key: "errors", Head: "errors", Align: report.Right, Drop: 11},
		{Key: "schema", Head: "database", Code: true, Drop: 1},
		{Key: "digest", Head: "statement", Code: true, Cut: true, Least: 24},
	}
	return slices.DeleteFunc(all, func(c report.Column) bool {
		return !maxima && (c.Key == "min_s" || c.Key == "max_s") || !quantiles && c.Key == "p95_s"
	})
}

func digestCells(r *DigestRow, all, u, ut time.Duration, columns []report.Column) []report.Cell {
	calls := float64(max(r.Calls, 1))
	p95 := cell.None()
	if d, ok := r.P95(); ok {
		p95 = cell.Duration(d, u)
	}
	least, most := cell.None(), cell.None()
	if r.Max > 0 {
		least, most = cell.Duration(r.Min, u), cell.Duration(r.Max, u)
	}
	schema := cell.Text(r.Schema)
	if r.Schema == "" {
		schema = cell.None()
	}
	cells := map[string]report.Cell{
		"calls": cell.Count(r.Calls), "total_s": cell.Duration(r.Total,
			ut), "share_ratio": cell.Percent(float64(r.Total) / float64(max(all, 1))),
		"mean_s": cell.Duration(time.Duration(float64(r.Total)/calls),
			u), "min_s": least, "p95_s": p95, "max_s": most, "lock_s": cell.Duration(r.Lock, ut),
		"rows_examined": cell.Number(float64(r.RowsExamined) / calls), "rows_sent": cell.Number(float64(r.RowsSent) / calls), "rows_affected": cell.Number(float64(r.RowsAffected) / calls),
		"no_index": cell.Count(r.NoIndex), "tmp_disk": cell.Count(r.TmpDisk), "errors": cell.Count(r.Errors), "schema": schema, "digest": cell.Text(r.Text),
	}
	out := make([]report.Cell, len(columns))
	for i, c := range columns {
		out[i] = cells[c.Key]
	}
	return out
}
