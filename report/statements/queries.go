package statements

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// QueriesSection shows the classes of statements of the slow log, those of the most
// total time first.
func QueriesSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionQueries, Title: "Queries", Count: len(r.Queries)}
	ws := r.Windows("slowlog")
	if len(r.Queries) == 0 {
		if len(ws) > 0 {
			s.Blocks = []report.Block{report.Para{Text: report.Prose("No statement in the slow log: " +
				recorded.LinesRead(ws) + ".")}}
		} else if product, _ := r.Database(); product != "" {
			s.Blocks = []report.Block{report.Para{Text: "No slow log was read."}}
		}
		return s
	}
	from, read := sourceOfQueries(r)
	s.Sub = "From " + from + ", those of the most total time first."
	if len(ws) > 0 {
		s.Sub += report.Prose(" " + report.Sentence(read+recorded.LinesRead(ws)) + ".")
	}
	if n, ok := r.Setting(kasoku.SampleScope, kasoku.SampleName); ok {
		s.Sub += report.Prose(" It holds 1 of " + n + " statements: figures are of these.")
	}
	qs := slices.Clone(r.Queries)
	slices.SortStableFunc(qs, func(a, b kasoku.Query) int { return cmp.Compare(b.Total, a.Total) })
	s.Blocks = []report.Block{queryTables{r}.queryTable(qs)}
	if n := habits(qs); n != nil {
		s.Blocks = append(s.Blocks, n)
	}
	return s
}

// sourceOfQueries says where the queries are from, by host where that differs, and what names the
// slow log in what follows.
func sourceOfQueries(r recorded.View) (from report.Prose, read string) {
	const slowLog = "the slow log"
	names := []string{slowLog, "statement digests of performance_schema", "a trace of system calls"}
	hosts := make([][]string, len(names))
	for i := range r.Queries {
		host, at := r.Queries[i].Host, 0
		switch {
		case r.FromDigests(host):
			at = 1
		case r.FromTrace(host):
			at = 2
		}
		if !slices.Contains(hosts[at], host) {
			hosts[at] = append(hosts[at], host)
		}
	}
	var parts []string
	for i, name := range names {
		if len(hosts[i]) == len(hosts[0])+len(hosts[1])+len(hosts[2]) && len(hosts[i]) > 0 {
			parts = []string{name} // of all hosts
		} else if len(hosts[i]) > 0 {
			parts = append(parts, name+" of "+strings.Join(hosts[i], ", "))
		}
	}
	if len(hosts[1])+len(hosts[2]) == 0 {
		return slowLog, ""
	}
	return report.Prose(strings.Join(parts, " and ")), "slow log: "
}

// queryTables shows the classes of statements of the slow log.
type queryTables struct{ recorded.View }

func (r queryTables) queryTable(qs []kasoku.Query) *report.Table {
	var all, rest time.Duration
	var ds, totals []time.Duration
	counted := false // how often statements repeat and follow each other
	for i := range qs {
		all += qs[i].Total
		counted = counted || qs[i].Distinct > 0
		if i >= r.Options.Rows() {
			rest += qs[i].Total
			continue
		}
		ds = append(ds, qs[i].Latency.Quantile(0.95), qs[i].Latency.Mean())
		totals = append(totals, qs[i].Total)
	}
	u, ut := cell.CommonUnit(ds...), cell.CommonUnit(totals...)
	t := &report.Table{ID: "queries", Columns: []report.Column{
		{Key: "fingerprint", Head: "fingerprint", Code: true, Cut: true, Least: 24},
		{Key: "calls", Head: "calls", Align: report.Right},
		{Key: "total_s", Head: "total", Unit: unit.Name(ut), Align: report.Decimal},
		{Key: "mean_s", Head: "mean", Unit: unit.Name(u), Align: report.Decimal},
		{Key: "p95_s", Head: "p95", Unit: unit.Name(u), Align: report.Decimal, Drop: 2},
		{Key: "rows_examined", Head: "examined", Unit: "rows a call", Align: report.Decimal, Drop: 3},
		{Key: "rows_sent", Head: "sent", Unit: "rows a call", Align: report.Decimal, Drop: 4},
		{Key: "examined_per_sent", Head: "examined", Unit: "per sent", Align: report.Decimal, Drop: 7},
		{Key: "streak_ratio", Head: "streaks", Unit: "% of calls", Align: report.Decimal, Drop: 5},
		{Key: "repeated_ratio", Head: "the same", Unit: "% of calls", Align: report.Decimal, Drop: 6},
		{Key: "per_request", Head: "per", Unit: "request", Align: report.Decimal},
	}}
	if !counted {
		t.Columns = slices.DeleteFunc(t.Columns, func(c report.Column) bool {
			return c.Key == "streak_ratio" ||
				c.Key == "repeated_ratio"
		})
	}
	requests := r.requests()
	for i := range qs[:min(r.Options.Rows(), len(qs))] {
		t.Rows = append(t.Rows, report.Row{Cells: queryCells(&qs[i], t.Columns, u, ut, requests),
			Key: report.StatementKey(qs[i].Host, qs[i].ID)})
	}
	if n := len(qs) - r.Options.Rows(); n > 0 {
		t.More = report.LeftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}

// requests is how many there were in the run: as the load counted them, else the
// access log of the host that has most.
func (r queryTables) requests() uint64 {
	if n := r.Tally(0).Asked; n > 0 {
		return n
	}
	var n uint64
	_, endpoints := r.FrontLog()
	for i := range endpoints {
		n += endpoints[i].Count
	}
	return n
}

// Fingerprint names a class of statements, COMMIT and ROLLBACK with their tag.
func Fingerprint(q *kasoku.Query) string {
	if q.Tag == "" {
		return q.Fingerprint
	}
	return q.Fingerprint + " /* " + q.Tag + " */"
}

func queryCells(q *kasoku.Query, columns []report.Column, u, ut time.Duration, requests uint64) []report.Cell {
	calls := float64(max(q.Calls, 1))
	cells := map[string]report.Cell{
		"fingerprint": cell.Text(Fingerprint(q)), "calls": cell.Count(q.Calls), "total_s": cell.Duration(q.Total, ut),
		"mean_s": cell.None(), "p95_s": cell.None(),
		"rows_examined": cell.Number(float64(q.RowsExamined) / calls), "rows_sent": cell.Number(float64(q.RowsSent) / calls),
		"examined_per_sent": cell.None(), "streak_ratio": cell.None(), "repeated_ratio": cell.None(), "per_request": cell.None(),
	}
	if q.Latency.Count() > 0 {
		cells["mean_s"], cells["p95_s"] = cell.Duration(q.Latency.Mean(), u), cell.Duration(q.Latency.Quantile(0.95), u)
	}
	if q.RowsSent > 0 {
		cells["examined_per_sent"] = cell.Number(float64(q.RowsExamined) / float64(q.RowsSent))
	}
	if q.Distinct > 0 {
		cells["streak_ratio"], cells["repeated_ratio"] = cell.Percent(float64(q.Streaks)/calls),
			cell.Percent(float64(q.Repeated)/calls)
	}
	if requests > 0 {
		cells["per_request"] = cell.Number(float64(q.Calls) / float64(requests))
	}
	out := make([]report.Cell, len(columns))
	for i, c := range columns {
		out[i] = cells[c.Key]
	}
	return out
}

// What is said of how an application asks. A page that lists a hundred things and
// asks for each is worth a word; twenty are an administrator's.
const (
	fewHabitCalls = 100
	mostOfCalls   = 0.5
	mostHabits    = 5
	// habitShare of the statements' time is what makes a habit worth a line.
	habitShare = 0.01
)

// habits describes classes whose calls come one after another on one connection, or are
// the same statement again and again. Nil when there is none.
func habits(qs []kasoku.Query) *report.Notes {
	n := &report.Notes{}
	var all time.Duration
	for i := range qs {
		all += qs[i].Total
	}
	for i := range qs {
		q := &qs[i]
		if q.Total.Seconds() < habitShare*all.Seconds() {
			continue
		}
		if q.Distinct == 0 || q.Calls < fewHabitCalls || len(q.Tables) == 0 || len(n.List) >= mostHabits {
			continue
		}
		calls := float64(q.Calls)
		note := report.Note{Sign: "!", Tone: report.Mark, Label: q.ID[max(0, len(q.ID)-8):], Code: true}
		streaks := unit.Percent(float64(q.Streaks)/calls) + " of " + unit.Count(q.Calls) +
			" calls follow one another on one connection, up to " + unit.Count(q.Streak) + " in a row"
		switch {
		case float64(q.Streaks) >= mostOfCalls*calls && q.Verb == "SELECT":
			note.Text, note.Hint = "One query per row: "+streaks+".",
				report.Prose("`"+inShort(q)+"` can ask for all at once, with a JOIN or `IN (…)`")
		case float64(q.Streaks) >= mostOfCalls*calls && q.Verb == "INSERT" &&
			(!q.HasAffected || q.RowsAffected <= 2*q.Calls):
			note.Text, note.Hint = "One INSERT per row: "+streaks+".",
				report.Prose("`"+inShort(q)+"` can write many rows in one statement")
		case float64(q.Repeated) >= mostOfCalls*calls && q.Verb == "SELECT":
			note.Text = "Asked again: " + unit.Percent(float64(q.Repeated)/calls) + " of " + unit.Count(q.Calls) +
				" calls are the same statement, letter for letter."
			note.Hint = report.Prose("where it may be old, the application can keep the answer of `" + inShort(q) + "`")
		default:
			continue
		}
		n.List = append(n.List, note)
	}
	if len(n.List) == 0 {
		return nil
	}
	return n
}

// inShort is the verb and the first table of a class.
func inShort(q *kasoku.Query) string { return NamesOf([]kasoku.Query{*q})[q.ID] }
