package statements

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// SectionTrace is what the kernel showed of the service's processes.
const SectionTrace = "trace"

// mostSynced is how many files are listed.
const mostSynced = 10

// TraceSection shows what the requests of each endpoint did while the system calls of the
// service were watched.
func TraceSection(r recorded.View) report.Section {
	s := report.Section{ID: SectionTrace, Title: "What requests did, by a trace of system calls", Short: "Trace"}
	notes := &report.Notes{}
	for i := range r.Traces {
		t := &r.Traces[i]
		s.Count += len(t.Endpoints)
		if t.Refused != "" {
			notes.List = append(notes.List, report.Note{Sign: "✗", Tone: report.Dim, Label: "none",
				Text: report.Sentence(t.Refused) + "."})
			continue
		}
		v := traceTables{r, t}
		s.Sub = report.Prose(strings.TrimSpace(string(s.Sub) + " " + v.sentence()))
		for _, table := range []*report.Table{v.endpoints(), v.calls(), v.externals(), v.programs(), v.syncs()} {
			if table != nil {
				s.Blocks = append(s.Blocks, table)
			}
		}
		notes.List = append(notes.List, v.notes()...)
	}
	if len(notes.List) > 0 {
		s.Blocks = append(s.Blocks, notes)
	}
	return s
}

type traceTables struct {
	recorded.View
	t *kasoku.Trace
}

// sentence says what was watched, and what became of the statements.
func (v traceTables) sentence() string {
	n := &v.t.Counts
	length := v.t.Interval.To - v.t.Interval.From
	parts := []string{fmt.Sprintf("%.1f s of the run, from %.1f s on: %s, %s", length.Seconds(),
		v.t.Interval.From.Seconds(),
		unit.Counted(n.Requests, "request", "requests"), unit.Counted(n.Statements, "statement", "statements"))}
	for _, p := range []struct {
		n    uint64
		text string
	}{
		{n.Tied, "are of these requests"}, {n.Partial, "of requests that were cut off"}, {n.Outside, "of no request"},
		{n.Unresolved, "of no one request that is known"}, {n.Setup, "of drivers that connect"},
	} {
		if p.n > 0 {
			parts = append(parts, unit.Count(p.n)+" "+p.text)
		}
	}
	return strings.Join(parts,
		", ") + fmt.Sprintf(". %s lost. %s", unit.Counted(v.t.Lost, "event was", "events were"), v.judged())
}

// judged says whether the run is judged by the seconds in which it was watched.
func (v traceTables) judged() string {
	const cost = "The watching cost the service CPU in these seconds"
	if v.CostsJudged() {
		return cost + ": what the run is judged by includes it."
	}
	return cost + ": list, compare and proofs leave them out of what they judge by."
}

// endpoints shows where the time of requests went.
func (v traceTables) endpoints() *report.Table {
	if len(v.t.Endpoints) == 0 {
		return nil
	}
	rows := slices.Clone(v.t.Endpoints)
	slices.SortStableFunc(rows, func(a, b kasoku.TracedEndpoint) int { return cmp.Compare(b.Time, a.Time) })
	t := &report.Table{ID: "traced_endpoints", Sortable: true, Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true, Middle: true, Least: 18},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "mean_ms", Head: "to the answer", Unit: "ms", Align: report.Decimal},
		{Key: "database_ms", Head: "database", Unit: "ms", Align: report.Decimal},
		{Key: "pool_wait_ms", Head: "waits for a pool", Unit: "ms, at least", Align: report.Decimal, Drop: 2},
		{Key: "idle_ms", Head: "transaction idle", Unit: "ms", Align: report.Decimal, Drop: 3},
	}}
	for i := range rows {
		if i >= report.MostRows {
			t.More = fmt.Sprintf("%d more", len(rows)-i)
			break
		}
		e := &rows[i]
		each := func(d time.Duration) report.Cell {
			return cell.Duration(d/time.Duration(max(e.Requests, 1)), time.Millisecond)
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			cell.Text(e.Method + " " + e.Route), cell.Count(e.Requests), each(e.Time), each(e.Database),
			each(e.PoolWait), each(e.Idle),
		}})
	}
	return t
}

// calls shows which statements the requests of an endpoint ran.
func (v traceTables) calls() *report.Table {
	if len(v.t.Calls) == 0 {
		return nil
	}
	rows := slices.Clone(v.t.Calls)
	slices.SortStableFunc(rows, func(a, b kasoku.TracedCall) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls))
	})
	t := &report.Table{ID: "traced_calls", Sortable: true, Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true, Middle: true, Least: 18},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 24},
		{Key: "per_request", Head: "statements", Unit: "a request", Align: report.Decimal},
		{Key: "spread", Head: "in one", Align: report.Right, Drop: 2},
		{Key: "calls", Head: "calls", Align: report.Right, Drop: 3},
		{Key: "mean_ms", Head: "each", Unit: "ms", Align: report.Decimal},
	}}
	for i := range rows {
		if i >= report.MostRows {
			t.More = fmt.Sprintf("%d more", len(rows)-i)
			break
		}
		c := &rows[i]
		per, spread, mean := cell.None(), cell.None(), cell.None()
		name := "(no request)"
		if c.Method != "" {
			name = c.Endpoint()
			per, mean = cell.Number(c.PerRequest()), cell.Duration(c.Time/time.Duration(max(c.Calls, 1)),
				time.Millisecond)
			spread = report.Cell{Text: unit.Count(c.Least) + " – " + unit.Count(c.Most),
				Raw: fmt.Sprintf("%d-%d", c.Least, c.Most)}
			if c.PerRequest() >= eachRowFrom {
				per.Tone = report.Mark
			}
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			cell.Text(name), cell.Text(c.Fingerprint), per, spread, cell.Count(c.Calls), mean,
		}})
	}
	return t
}

// externals shows which other services the requests of an endpoint asked.
func (v traceTables) externals() *report.Table {
	if len(v.t.Externals) == 0 {
		return nil
	}
	t := &report.Table{ID: "traced_externals", Sortable: true, Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true, Middle: true, Least: 18},
		{Key: "called", Head: "asks another service", Code: true, Cut: true, Least: 24},
		{Key: "per_request", Head: "calls", Unit: "a request", Align: report.Decimal},
		{Key: "mean_ms", Head: "each", Unit: "ms", Align: report.Decimal},
		{Key: "held", Head: "in a transaction", Align: report.Right},
	}}
	for i := range v.t.Externals {
		if i >= report.MostRows {
			t.More = fmt.Sprintf("%d more", len(v.t.Externals)-i)
			break
		}
		x := &v.t.Externals[i]
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			cell.Text(x.Method + " " + x.Route), cell.Text(x.To),
			cell.Number(float64(x.Calls) / float64(max(x.Requests, 1))),
			cell.Duration(x.Time/time.Duration(max(x.Calls, 1)), time.Millisecond), cell.Count(x.Held),
		}})
	}
	return t
}

// programs shows which programs the requests of an endpoint started.
func (v traceTables) programs() *report.Table {
	t := &report.Table{ID: "traced_programs", Sortable: true, Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true, Middle: true, Least: 18},
		{Key: "program", Head: "starts the program", Code: true, Cut: true, Least: 12},
		{Key: "per_request", Head: "starts", Unit: "a request", Align: report.Decimal},
		{Key: "with", Head: "requests with it", Align: report.Right},
	}}
	left := 0
	for i := range v.t.Endpoints {
		e := &v.t.Endpoints[i]
		for _, p := range e.Programs {
			if len(t.Rows) >= report.MostRows {
				left++
				continue
			}
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
				cell.Text(e.Method + " " + e.Route), cell.Text(p.Name),
				cell.Number(float64(p.Starts) / float64(max(e.Requests, 1))), cell.Count(p.With),
			}})
		}
	}
	if left > 0 {
		t.More = fmt.Sprintf("%d more", left)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// syncs shows which files were written to their disks.
func (v traceTables) syncs() *report.Table {
	if len(v.t.Syncs) == 0 {
		return nil
	}
	t := &report.Table{ID: "traced_syncs", Sortable: true, Columns: []report.Column{
		{Key: "member", Head: "member", Cut: true, Least: 12},
		{Key: "file", Head: "file written to its disk", Code: true, Cut: true, Middle: true, Least: 20},
		{Key: "count", Head: "times", Align: report.Right},
		{Key: "mean_ms", Head: "each", Unit: "ms", Align: report.Decimal},
		{Key: "max_ms", Head: "max", Unit: "ms", Align: report.Decimal},
	}}
	for i := range v.t.Syncs {
		if i >= mostSynced {
			t.More = fmt.Sprintf("%d more", len(v.t.Syncs)-i)
			break
		}
		x := &v.t.Syncs[i]
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			cell.Text(x.Member), cell.Text(cmp.Or(x.File, "?")), cell.Count(x.Count),
			cell.Duration(x.Time/time.Duration(max(x.Count, 1)), time.Millisecond), cell.Duration(x.Most,
				time.Millisecond),
		}})
	}
	return t
}

// notes are what was not covered.
func (v traceTables) notes() (out []report.Note) {
	for _, text := range v.t.Notes {
		out = append(out, report.Note{Sign: "!", Tone: report.Dim, Label: "not seen",
			Text: report.Sentence(text) + "."})
	}
	return out
}
