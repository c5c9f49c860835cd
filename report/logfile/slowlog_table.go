package logfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/statements"
)

type slowColumn = column[*slowTable, *slowlog.Class]

// slowColumns are the columns after the statement, in order.
var slowColumns = []slowColumn{
	{name: "calls", key: "calls", measure: isCount, value: func(_ *slowTable,
		c *slowlog.Class) float64 {
		return float64(c.Calls)
	}},
	{name: "total", key: "total_s", measure: isTotal, drop: 1,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Total })},
	{name: "share", key: "share_ratio", measure: isRatio, drop: 4, value: (*slowTable).share},
	{name: "mean", key: "mean_s", measure: isLatency, drop: 3,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Mean() })},
	{name: "stddev", key: "stddev_s", measure: isLatency, extra: true, value: (*slowTable).deviation},
	{name: "min", key: "min_s", measure: isLatency, extra: true,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Min() })},
	{name: "p50", key: "p50_s", measure: isLatency, drop: 10,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Quantile(0.5) })},
	{name: "p95", key: "p95_s", measure: isLatency, drop: 7,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Quantile(0.95) })},
	{name: "p99", key: "p99_s", measure: isLatency, drop: 2,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Quantile(0.99) })},
	{name: "max", key: "max_s", measure: isLatency, drop: 8,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Latency.Max() })},
	{name: "lock", key: "lock_s", measure: isTotal, drop: 11,
		value: timedClass(func(c *slowlog.Class) time.Duration { return c.Lock })},
	{name: "examined", unit: "rows a call", key: "rows_examined_per_call", measure: isRate, drop: 6,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return perCall(c.RowsExamined, c) }},
	{name: "sent", unit: "rows a call", key: "rows_sent_per_call", measure: isRate, drop: 9,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return perCall(c.RowsSent, c) }},
	{name: "affected", key: "rows_affected", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return affected(c, c.RowsAffected) }},
	{name: "none", key: "none_affected", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return affected(c, c.NoneAffected) }},
	{name: "distinct", key: "distinct", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return valueOf(c.Distinct, float64(c.Distinct)) }},
	{name: "repeated", key: "repeated", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return float64(c.Repeated) }},
	{name: "streak", key: "streak", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return float64(c.Streak) }},
	{name: "streaks", key: "streaks", measure: isCount, extra: true,
		value: func(_ *slowTable, c *slowlog.Class) float64 { return float64(c.Streaks) }},
}

// timedClass is a value of the times of a class, none when all are 0, as in logs
// that do not have them.
func timedClass(of func(*slowlog.Class) time.Duration) func(*slowTable, *slowlog.Class) float64 {
	return func(t *slowTable, c *slowlog.Class) float64 {
		if t.total == 0 {
			return math.NaN()
		}
		return of(c).Seconds()
	}
}

func perCall(n uint64, c *slowlog.Class) float64 { return float64(n) / float64(max(c.Calls, 1)) }

func affected(c *slowlog.Class, n uint64) float64 {
	if !c.HasAffected {
		return math.NaN()
	}
	return float64(n)
}

// A slowTable is the table of a log's statements on its way.
type slowTable struct {
	log     *SlowLog
	o       SlowOptions
	columns []slowColumn
	sort    slowColumn
	calls   uint64
	total   time.Duration
}

// CheckSlow reports whether the options are such that [Slow] takes them.
func CheckSlow(o SlowOptions) error {
	_, err := newSlowTable(&SlowLog{}, o)
	return err
}

// SlowColumns are the names that rows can be sorted by.
func SlowColumns() []string {
	var out []string
	for _, c := range slowColumns {
		out = append(out, c.name)
	}
	return out
}

func newSlowTable(l *SlowLog, o SlowOptions) (*slowTable, error) {
	t := &slowTable{log: l, o: o}
	t.calls, t.total = l.totals()
	by := cmp.Or(o.Sort, "total")
	if o.Sort == "" && t.total == 0 {
		by = "calls"
	}
	by = cmp.Or(columnAliases[by], by)
	if by == "requests" {
		by = "calls"
	}
	for _, c := range slowColumns {
		if c.head = cmp.Or(c.head, c.name); c.name == by {
			t.sort = c
		}
		if o.Machine || !c.extra && !t.empty(c) {
			t.columns = append(t.columns, c)
		}
	}
	if t.sort.name == "" {
		return nil, fmt.Errorf("no column %q: want %s", o.Sort, strings.Join(SlowColumns(), ", "))
	}
	return t, nil
}

// empty reports whether a column says nothing of any row: the log has no times,
// or no rows.
func (t *slowTable) empty(c slowColumn) bool {
	if c.measure == isCount || len(t.log.Classes) == 0 {
		return false
	}
	for i := range t.log.Classes {
		if c.value(t, &t.log.Classes[i]) > 0 {
			return false
		}
	}
	return true
}

// share is that of the time; without times that of the calls.
func (t *slowTable) share(c *slowlog.Class) float64 {
	if t.total == 0 {
		return float64(c.Calls) / float64(max(t.calls, 1))
	}
	return float64(c.Total) / float64(t.total)
}

// deviation is the standard deviation of the times of a class, in s.
func (t *slowTable) deviation(c *slowlog.Class) float64 {
	if t.total == 0 {
		return math.NaN()
	}
	return deviation(max(c.Calls, 1), c.Total, c.Squares)
}

// order describes by what the rows are sorted.
func (t *slowTable) order() string {
	name := t.sort.head
	if t.sort.name == "total" {
		name = "total time"
	}
	if t.o.Reverse {
		return "The least " + name + " first"
	}
	return "The most " + name + " first"
}

// precision describes how exact the percentiles are.
func (t *slowTable) precision() string {
	if t.total == 0 {
		return ""
	}
	return "; percentiles are nearest rank, within 0.4 %"
}

// sorted are the rows in the order asked for; ties stand by time, calls and id, so
// that the same log gives the same table.
func (t *slowTable) sorted() []*slowlog.Class {
	out := make([]*slowlog.Class, len(t.log.Classes))
	for i := range t.log.Classes {
		out[i] = &t.log.Classes[i]
	}
	slices.SortStableFunc(out, func(a, b *slowlog.Class) int {
		x, y := t.sort.value(t, a), t.sort.value(t, b)
		c := 0
		if !math.IsNaN(x) && !math.IsNaN(y) {
			c = cmp.Compare(y, x)
		}
		if t.o.Reverse {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// shown are the rows of the table.
func (t *slowTable) shown() []*slowlog.Class { return Limited(t.sorted(), t.o.Limit) }

// table makes the table.
func (t *slowTable) table() *report.Table {
	rows := t.sorted()
	shown := Limited(rows, t.o.Limit)
	out := &report.Table{ID: "queries", NarrowHint: "-o tsv shows them", Sortable: true}
	out.Columns = t.names()
	units := t.units(shown)
	for i, c := range t.columns {
		col := report.Column{Key: c.key, Head: c.head, Unit: cmp.Or(c.unit, units[i].name), Align: report.Decimal,
			Drop: c.drop}
		if c.measure == isCount {
			col.Align = report.Right
		}
		out.Columns = append(out.Columns, col)
	}
	for _, c := range shown {
		cells := t.nameCells(c)
		for i, col := range t.columns {
			cells = append(cells, col.cell(col.value(t, c), units[i]))
		}
		out.Rows = append(out.Rows, report.Row{Cells: cells})
	}
	out.More = t.more(rows[len(shown):])
	return out
}

// names are the columns that say what a row is.
func (t *slowTable) names() []report.Column {
	if t.log.By != "" {
		return []report.Column{{Key: t.log.By, Head: t.log.By, Code: true, Cut: true, Least: leastKey}}
	}
	out := []report.Column{{Key: "fingerprint", Head: "statement", Code: true, Cut: true, Least: leastKey},
		{Key: "id", Head: "id", Code: true, Drop: 5}}
	if t.o.Machine {
		out = append(out, report.Column{Key: "tag", Head: "tag"}, report.Column{Key: "item", Head: "item"},
			report.Column{Key: "schema", Head: "schema"})
	}
	return out
}

func (t *slowTable) nameCells(c *slowlog.Class) []report.Cell {
	if t.log.By != "" {
		return []report.Cell{cell.Text(cmp.Or(c.Key, "(none)"))}
	}
	print := report.Cell{Text: strings.TrimSpace(c.Fingerprint), Raw: c.Fingerprint}
	if c.Tag != "" {
		print.Text += " /* " + c.Tag + " */"
	}
	out := []report.Cell{print, {Text: statements.ShortID(c.ID), Raw: c.ID}}
	if t.o.Machine {
		out = append(out, cell.Text(c.Tag), cell.Text(statements.Item(&c.Query)), cell.Text(c.Worst.Schema))
	}
	return out
}

// units finds the unit of each column: columns of the times of one call share one,
// which suits mean and p99 of what is shown.
func (t *slowTable) units(rows []*slowlog.Class) []scale {
	var calls, totals, locks []time.Duration
	for _, c := range rows {
		calls = append(calls, c.Latency.Mean(), c.Latency.Quantile(0.99))
		totals = append(totals, c.Total)
		locks = append(locks, c.Lock)
	}
	out := make([]scale, len(t.columns))
	for i, c := range t.columns {
		var u time.Duration
		switch {
		case c.measure == isLatency:
			u = cell.CommonUnit(calls...)
		case c.name == "lock":
			u = cell.CommonUnit(locks...)
		case c.measure == isTotal:
			u = cell.CommonUnit(totals...)
		case c.measure == isRatio:
			out[i].name = "%"
			continue
		default:
			continue
		}
		out[i] = scale{name: unit.Name(u), time: u}
	}
	return out
}

// more describes what was left out.
func (t *slowTable) more(rest []*slowlog.Class) string {
	if len(rest) == 0 {
		return ""
	}
	var share float64
	for _, c := range rest {
		share += t.share(c)
	}
	if t.total == 0 {
		return report.LeftOut(len(rest), share, "calls")
	}
	return report.LeftOut(len(rest), share, "time")
}
