package comparison

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/statements"
)

// A pairFigure is one figure of both sides, in two columns.
type pairFigure[T any] struct {
	key, head string
	unit      time.Duration // of durations; 0 of other figures
	drop      int
	cell      func(*T) report.Cell
}

// pairTable puts what both sides report side by side.
func pairTable[T any](id, head string, name func(*T) string, figures []pairFigure[T],
	pairs []compare.Both[T]) *report.Table {
	t := &report.Table{ID: id, Columns: []report.Column{{Key: head, Head: head, Code: true, Cut: true, Least: 18}}}
	for _, f := range figures {
		h := f.head
		if f.unit > 0 {
			h += ", " + unit.Name(f.unit)
		}
		for _, side := range []string{"before", "after"} {
			t.Columns = append(t.Columns, report.Column{Key: f.key + "_" + side, Head: h, Unit: side,
				Align: report.Decimal,
				Drop:  f.drop})
		}
	}
	for _, p := range pairs[:min(report.MostRows, len(pairs))] {
		cells := []report.Cell{cell.Text(name(p.Either()))}
		for _, f := range figures {
			for _, x := range []*T{p.Before, p.After} {
				if x == nil {
					cells = append(cells, cell.None())
					continue
				}
				cells = append(cells, f.cell(x))
			}
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	if n := len(pairs) - report.MostRows; n > 0 {
		t.More = unit.Count(n) + " more"
	}
	return t
}

// unitOf is the unit of a duration that all rows shown are printed in.
func unitOf[T any](pairs []compare.Both[T], f func(*T) time.Duration) time.Duration {
	var ds []time.Duration
	for _, p := range pairs[:min(report.MostRows, len(pairs))] {
		for _, x := range []*T{p.Before, p.After} {
			if x != nil {
				ds = append(ds, f(x))
			}
		}
	}
	return cell.CommonUnit(ds...)
}

// ofMiddle describes which runs of several a table is about.
func ofMiddle(c *compare.Comparison) report.Prose {
	if c.Single() {
		return ""
	}
	return " Of the run in the middle of each side."
}

// endpointsMoved matches the routes of both sides.
func endpointsMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionEndpoints, Title: "Endpoints", Count: len(c.Matched.Endpoints)}
	if len(c.Matched.Endpoints) == 0 {
		return s
	}
	s.Sub = "From the access logs, those of the most total time first." + ofMiddle(c)
	all := logTotals(c.Matched.Endpoints)
	at := func(e *kasoku.Endpoint, u time.Duration, f func(*kasoku.Endpoint) time.Duration) report.Cell {
		if e.Latency.Count() == 0 {
			return cell.None()
		}
		return cell.Duration(f(e), u)
	}
	mean := func(e *kasoku.Endpoint) time.Duration { return e.Latency.Mean() }
	p50 := func(e *kasoku.Endpoint) time.Duration { return e.Latency.Quantile(0.5) }
	p99 := func(e *kasoku.Endpoint) time.Duration { return e.Latency.Quantile(0.99) }
	um, u99 := unitOf(c.Matched.Endpoints, mean), unitOf(c.Matched.Endpoints, p99)
	hosts := len(c.Before.Run().Hosts) > 1 || len(c.After.Run().Hosts) > 1
	name := func(e *kasoku.Endpoint) string {
		s := strings.TrimSpace(e.Method + " " + e.Route)
		if hosts {
			s += " @ " + e.Host
		}
		return s
	}
	s.Blocks = []report.Block{pairTable("endpoints", "endpoint", name, []pairFigure[kasoku.Endpoint]{
		{"requests", "requests", 0, 0, func(e *kasoku.Endpoint) report.Cell { return cell.Count(e.Count) }},
		{"share_ratio", "share, %", 0, 3,
			func(e *kasoku.Endpoint) report.Cell { return cell.Percent(float64(e.Total) / float64(max(all[e], 1))) }},
		{"mean_s", "mean", um, 2, func(e *kasoku.Endpoint) report.Cell { return at(e, um, mean) }},
		{"p50_s", "p50", um, 4, func(e *kasoku.Endpoint) report.Cell { return at(e, um, p50) }},
		{"p99_s", "p99", u99, 0, func(e *kasoku.Endpoint) report.Cell { return at(e, u99, p99) }},
		{"server_errors", "5xx", 0, 1, func(e *kasoku.Endpoint) report.Cell {
			n := cell.Count(e.Failed())
			if e.Failed() > 0 {
				n.Tone = report.Bad
			}
			return n
		}},
	}, c.Matched.Endpoints)}
	return s
}

// logTotals gives each route the time of all routes of its log: a request that passes
// two hosts is in the logs of both.
func logTotals(pairs []compare.Both[kasoku.Endpoint]) map[*kasoku.Endpoint]time.Duration {
	sums := [2]map[string]time.Duration{{}, {}}
	for _, p := range pairs {
		for side, e := range []*kasoku.Endpoint{p.Before, p.After} {
			if e != nil {
				sums[side][e.Host] += e.Total
			}
		}
	}
	out := map[*kasoku.Endpoint]time.Duration{}
	for _, p := range pairs {
		for side, e := range []*kasoku.Endpoint{p.Before, p.After} {
			if e != nil {
				out[e] = sums[side][e.Host]
			}
		}
	}
	return out
}

// QueriesMoved matches the statements of both sides.
func QueriesMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionQueries, Title: "Queries", Count: len(c.Matched.Queries)}
	if len(c.Matched.Queries) == 0 {
		return s
	}
	s.Sub = "Matched by fingerprint, those of the most total time first." + ofMiddle(c)
	total := func(q *kasoku.Query) time.Duration { return q.Total }
	mean := func(q *kasoku.Query) time.Duration { return q.Latency.Mean() }
	p95 := func(q *kasoku.Query) time.Duration { return q.Latency.Quantile(0.95) }
	ut, um, u95 := unitOf(c.Matched.Queries, total), unitOf(c.Matched.Queries, mean), unitOf(c.Matched.Queries, p95)
	examined := func(q *kasoku.Query) report.Cell {
		return cell.Number(float64(q.RowsExamined) / float64(max(q.Calls, 1)))
	}
	s.Blocks = []report.Block{pairTable("queries", "fingerprint", statements.Fingerprint, []pairFigure[kasoku.Query]{
		{"calls", "calls", 0, 0, func(q *kasoku.Query) report.Cell { return cell.Count(q.Calls) }},
		{"total_s", "total", ut, 1, func(q *kasoku.Query) report.Cell { return cell.Duration(q.Total, ut) }},
		{"mean_s", "mean", um, 0, func(q *kasoku.Query) report.Cell { return cell.Duration(mean(q), um) }},
		{"p95_s", "p95", u95, 2, func(q *kasoku.Query) report.Cell { return cell.Duration(p95(q), u95) }},
		{"rows_examined", "examined a call", 0, 3, examined},
	}, c.Matched.Queries)}
	return s
}

// transactionsMoved matches the classes of transactions of both sides.
func transactionsMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: statements.SectionTransactions, Title: "Transactions", Count: len(c.Matched.Transactions)}
	if len(c.Matched.Transactions) == 0 {
		return s
	}
	s.Sub = "Matched by their statements and the tag of COMMIT, those of the most total time first." + ofMiddle(c)
	var queries []kasoku.Query
	for _, p := range c.Matched.Queries {
		queries = append(queries, *p.Either())
	}
	named := statements.NamesOf(queries)
	um := unitOf(c.Matched.Transactions, statements.MeanOf)
	name := func(t *kasoku.Transaction) string { return statements.TransactionName(t, named) }
	s.Blocks = []report.Block{pairTable("transactions", "transaction", name, []pairFigure[kasoku.Transaction]{
		{"count", "count", 0, 0, func(t *kasoku.Transaction) report.Cell { return cell.Count(t.Count) }},
		{"mean_s", "mean", um, 0, func(t *kasoku.Transaction) report.Cell {
			return cell.Duration(statements.MeanOf(t),
				um)
		}},
		{"statements", "statements", 0, 0,
			func(t *kasoku.Transaction) report.Cell { return cell.Number(statements.PerTransaction(t)) }},
		{"rolled_back", "rolled back", 0, 1,
			func(t *kasoku.Transaction) report.Cell { return cell.Count(t.RolledBack) }},
	}, c.Matched.Transactions)}
	return s
}

// plansMoved shows the steps of the plans that differ.
func plansMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: statements.SectionPlans, Title: "Plans", Count: len(c.Matched.Plans)}
	if len(c.Matched.Plans) == 0 {
		if c.Matched.PlansEqual > 0 {
			s.Blocks = []report.Block{report.Para{Text: report.Prose("No plan differs, of " + unit.Count(c.Matched.PlansEqual) +
				" that both sides have.")}}
		}
		return s
	}
	s.Sub = report.Prose(unit.Counted(len(c.Matched.Plans), "statement is run in another way",
		"statements are run in another way") +
		", " + unit.Count(c.Matched.PlansEqual) + " as before. Rows are the server's estimate.")
	if !c.Single() {
		s.Sub += " Of the run in the middle of each side, or the newest with plans."
	}
	t := &report.Table{ID: "plans", Columns: []report.Column{
		{Key: "table", Head: "table", Code: true},
		{Key: "access", Head: "access"},
		{Key: "key", Head: "index", Code: true, Cut: true, Least: 20},
		{Key: "rows", Head: "rows", Align: report.Right},
		{Key: "extra", Head: "extra", Cut: true, Least: 20},
	}}
	for i := range c.Matched.Plans[:min(report.MostRows, len(c.Matched.Plans))] {
		p := &c.Matched.Plans[i]
		t.Rows = append(t.Rows, report.Row{Group: statements.StatementName(p.ID, p.Fingerprint)})
		for _, step := range p.Steps {
			t.Rows = append(t.Rows, report.Row{Cells: planMoved(step)})
		}
		if order := readOrder(p); order != "" {
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(""), cell.Text(""), cell.Text(""),
				cell.Text(""), cell.Text(order)}})
		}
	}
	if n := len(c.Matched.Plans) - report.MostRows; n > 0 {
		t.More = unit.Count(n) + " more"
	}
	s.Blocks = []report.Block{t}
	return s
}

// readOrder describes in which order the tables are read, when that is another one.
func readOrder(p *compare.PlanChange) string {
	if !p.Order {
		return ""
	}
	names := func(rows []kasoku.PlanRow) string {
		var out []string
		for _, r := range rows {
			out = append(out, r.Table)
		}
		return strings.Join(out, ", ")
	}
	return "order: " + names(p.Before.Rows) + " → " + names(p.After.Rows)
}

// planMoved shows a step of both plans; what is the same is shown once.
func planMoved(s compare.PlanMoved) []report.Cell {
	both := func(read func(*kasoku.PlanRow) string) report.Cell {
		b, a := unit.Missing, unit.Missing
		if s.Before != nil {
			b = read(s.Before)
		}
		if s.After != nil {
			a = read(s.After)
		}
		if b == a {
			return cell.Text(a)
		}
		return cell.Text(b + " → " + a).Toned(report.Strong)
	}
	sameKey := s.Before != nil && s.After != nil && s.Before.Key == s.After.Key && s.Before.KeyLen != s.After.KeyLen
	out := []report.Cell{
		cell.Text(s.Either().Table),
		both(func(r *kasoku.PlanRow) string { return r.Access }),
		both(func(r *kasoku.PlanRow) string {
			if r.Key == "" {
				return unit.Missing
			}
			if sameKey {
				return r.Key + ":" + r.KeyLen
			}
			return r.Key
		}),
		both(func(r *kasoku.PlanRow) string { return unit.Count(uint64(max(r.Rows, 0) + 0.5)) }),
		extraMoved(s),
	}
	if !s.Moved {
		for i := range out {
			out[i].Tone = report.Dim
		}
	}
	return out
}

// extraMoved marks what EXPLAIN's column Extra gained and lost.
func extraMoved(s compare.PlanMoved) report.Cell {
	if s.Before == nil || s.After == nil {
		return cell.Text(strings.Join(compare.Extras(s.Either().Extra), "; "))
	}
	b, a := compare.Extras(s.Before.Extra), compare.Extras(s.After.Extra)
	var moved, same []string
	for _, x := range b {
		if !slices.Contains(a, x) {
			moved = append(moved, "−"+x)
		}
	}
	for _, x := range a {
		if slices.Contains(b, x) {
			same = append(same, x)
		} else {
			moved = append(moved, "+"+x)
		}
	}
	c := cell.Text(strings.Join(append(moved, same...), "; "))
	if len(moved) > 0 {
		c.Tone = report.Strong
	}
	return c
}

// adviceMoved describes what became of the advice.
func adviceMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: findings.SectionAdvice, Title: "Advice", Count: len(c.Matched.Advice)}
	if len(c.Matched.Advice) == 0 {
		return s
	}
	s.Sub = "What was advised on the database's settings before, and what is now." + ofMiddle(c)
	n := &report.Notes{}
	var last *compare.AdviceChange
	for i := range c.Matched.Advice {
		x := &c.Matched.Advice[i]
		if last != nil && x.State == last.State && x.Either().ID == last.Either().ID &&
			x.Either().Title == last.Either().Title {
			n.List[len(n.List)-1].Text += setting(x) // the same, of another variable
			continue
		}
		n.List, last = append(n.List, adviceNote(x)), x
	}
	s.Blocks = []report.Block{n}
	return s
}

// adviceNote describes what became of the advice of one check.
func adviceNote(x *compare.AdviceChange) report.Note {
	a := x.Either()
	note := report.Note{Label: a.ID, Code: true, Sign: "·", Tone: report.Dim, Text: "Still there. "}
	figure := a.Measured
	switch x.State {
	case compare.Gone:
		note.Sign, note.Tone, note.Text, figure = "✓", report.Good, "Gone. ", ""
	case compare.New:
		note.Sign, note.Tone, note.Text = "!", report.Mark, "New. "
	default:
		if x.Measured {
			figure = x.Before.Measured + " → " + figure
		}
	}
	note.Text += a.Title + "."
	if figure != "" {
		note.Text += " " + figure
		if a.Threshold != "" {
			note.Text += ", threshold " + a.Threshold
		}
		note.Text += "."
	}
	note.Text += setting(x)
	return note
}

// setting is what is to be set, or of advice that went, what was, such as
// " max_connections 151 → 300." with the blank before it.
func setting(x *compare.AdviceChange) string {
	a := x.Either()
	to := a.Proposed
	if x.State == compare.Gone {
		to = x.InForce
	}
	if a.Variable == "" || to == "" || to == a.Value {
		return ""
	}
	return " " + a.Variable + " " + findings.AdvisedValue(a.Variable, a.Value) + " → " +
		findings.AdvisedValue(a.Variable, to) + "."
}
