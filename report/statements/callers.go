package statements

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// SectionCallers is which endpoint runs which statements.
const SectionCallers = "callers"

// What gets a sentence of its own about who issues which query.
const (
	mostLoops  = 5
	rightHighs = "98 of 100 such statements were right in our tests"
)

// CallersSection shows which endpoint runs which statements, those whose statements
// took the most time first.
func CallersSection(r recorded.View) report.Section {
	s := report.Section{ID: SectionCallers, Title: "Who issues which query", Short: "Callers", Count: len(r.Callers)}
	if len(r.Callers) == 0 && len(r.Joins) == 0 {
		return s
	}
	s.Sub = report.Prose(callerTables{r}.callersFrom())
	if len(r.Callers) > 0 {
		s.Blocks = append(s.Blocks, callerTables{r}.callerTable())
	}
	if n := (callerTables{r}).callerNotes(); len(n.List) > 0 {
		s.Blocks = append(s.Blocks, n)
	}
	if len(s.Blocks) == 0 {
		s.Blocks = []report.Block{report.Para{Text: "No endpoint was found to run a statement."}}
	}
	return s
}

// callerTables shows which endpoint runs which statements.
type callerTables struct{ recorded.View }

// callersFrom describes what it is known from.
func (r callerTables) callersFrom() string {
	var parts []string
	for _, source := range []struct{ name, text string }{
		{kasoku.FromTrace, "counted by a trace of system calls"},
		{kasoku.FromProbe, "counted by a probe, one request at a time"},
		{kasoku.FromComments, "counted by comments in the statements"},
	} {
		if slices.ContainsFunc(r.Callers, func(c kasoku.Caller) bool { return c.Source == source.name }) {
			parts = append(parts, source.text)
		}
	}
	for i := range r.Joins {
		if j := &r.Joins[i]; j.Refused == "" {
			parts = append(parts, fmt.Sprintf("from overlap in time of %s and %s (%s, times known to %s)",
				unit.Counted(j.Requests, "request", "requests"), unit.Counted(j.Statements, "statement", "statements"),
				j.Source, unit.Duration(j.Resolution)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return report.Sentence(strings.Join(parts, "; ")) + ". Those whose statements took the most time first."
}

// callerTime is what an endpoint's statements of a class took.
func callerTime(c *kasoku.Caller, q *kasoku.Query) time.Duration {
	if q == nil {
		return 0
	}
	return time.Duration(min(c.Share, 1) * float64(q.Total))
}

func (r callerTables) callerTable() *report.Table {
	queries := map[string]*kasoku.Query{}
	for i := range r.Queries {
		if q := &r.Queries[i]; queries[q.ID] == nil || queries[q.ID].Total < q.Total {
			queries[q.ID] = q
		}
	}
	callers := slices.Clone(r.Callers)
	slices.SortStableFunc(callers, func(a, b kasoku.Caller) int {
		return cmp.Compare(callerTime(&b, queries[b.QueryID]), callerTime(&a, queries[a.QueryID]))
	})
	t := &report.Table{ID: "callers", Sortable: true, Columns: []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true, Middle: true, Least: 18},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 24},
		{Key: "per_request", Head: "statements", Unit: "a request", Align: report.Decimal},
		{Key: "spread", Head: "spread", Align: report.Right, Drop: 2},
		{Key: "share_ratio", Head: "share", Unit: "% of calls", Align: report.Decimal, Drop: 3},
		{Key: "class", Head: "sure", Tag: true},
		{Key: "source", Head: "from", Drop: 4},
	}}
	var all, rest time.Duration
	for i := range callers {
		c := &callers[i]
		q := queries[c.QueryID]
		all += callerTime(c, q)
		if i >= report.MostRows {
			rest += callerTime(c, q)
			continue
		}
		t.Rows = append(t.Rows, report.Row{Cells: callerCells(c, q)})
	}
	if n := len(callers) - report.MostRows; n > 0 {
		t.More = report.LeftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}

func callerCells(c *kasoku.Caller, q *kasoku.Query) []report.Cell {
	name := ShortID(c.QueryID)
	if q != nil {
		name = Fingerprint(q)
	}
	endpoint := c.Endpoint()
	if len(c.With) > 0 {
		endpoint += " or " + strings.Join(c.With, " or ")
	}
	per, spread := cell.None(), cell.None()
	counted := c.Class != kasoku.CallerPossible
	if c.Requests > 0 && counted {
		per = cell.Number(c.PerRequest)
	}
	if c.Most > c.Least && counted {
		bound := unit.Sig3
		if c.Source != kasoku.FromOverlap { // whole statements of one request
			bound = unit.Plain
		}
		spread = report.Cell{Text: bound(c.Least) + " – " + bound(c.Most),
			Raw: report.RawNumber(c.Least) + "-" + report.RawNumber(c.Most)}
	}
	if c.PerRequest >= eachRowFrom && counted {
		per.Tone = report.Mark
	}
	class := cell.Text(string(c.Class))
	switch c.Class {
	case kasoku.CallerConfirmed:
		class.Tone = report.Good
	case kasoku.CallerPossible, kasoku.CallerGroup:
		class.Tone = report.Dim
	}
	return []report.Cell{cell.Text(endpoint), cell.Text(name), per, spread, cell.Percent(c.Share), class,
		cell.Text(c.Source)}
}

// callerNotes describe the loops in words, what does not hold, and what was refused.
func (r callerTables) callerNotes() *report.Notes {
	n := &report.Notes{}
	names := map[string]string{}
	for i := range r.Queries {
		names[r.Queries[i].ID] = Item(&r.Queries[i])
	}
	looped := map[string]bool{}
	for i := range r.Callers {
		c := &r.Callers[i]
		if c.PerRequest < eachRowFrom {
			continue
		}
		looped[c.QueryID] = true
		if len(n.List) < mostLoops {
			n.List = append(n.List, report.Note{Sign: "!", Tone: report.Mark, Label: ShortID(c.QueryID), Code: true,
				Text: CallerSentence(c, cmp.Or(names[c.QueryID], ShortID(c.QueryID))) + "."})
		}
	}
	for i := range r.Joins {
		j := &r.Joins[i]
		n.List = append(n.List, loopNotes(j, names, looped)...)
		if j.Refused != "" {
			n.List = append(n.List, report.Note{Sign: "✗", Tone: report.Bad, Label: "REFUSED",
				Text: "Overlap in time shows nothing: " + j.Refused + "."})
		}
		for _, c := range j.Checks {
			if !c.Holds {
				n.List = append(n.List, report.Note{Sign: "!", Tone: report.Mark, Label: c.Name,
					Text: report.Sentence(c.Text) + "."})
			}
		}
	}
	return n
}

// loopNotes report loops that no endpoint was found for.
func loopNotes(j *kasoku.Join, names map[string]string, looped map[string]bool) []report.Note {
	var out []report.Note
	for _, l := range j.Loops {
		if slices.ContainsFunc(l.QueryIDs, func(id string) bool { return looped[id] }) || len(out) >= mostLoops {
			continue
		}
		var of []string
		for _, id := range l.QueryIDs {
			of = append(of, cmp.Or(names[id], ShortID(id)))
		}
		out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: "loop",
			Text: fmt.Sprintf("N+1 loop seen on a connection, endpoint unknown: %s, %s in %s, up to %s.",
				strings.Join(of, ", "), unit.Counted(l.Calls, "statement", "statements"),
				unit.Counted(l.Runs, "row", "rows"), unit.Count(l.Longest))})
	}
	return out
}

// lopsided is the part of an estimate by which its bounds differ before both are printed.
const lopsided = 0.02

// CallerSentence says how sure it is that an endpoint runs a class of statements;
// name is the class's. Where it is only possible it has no count.
func CallerSentence(c *kasoku.Caller, name string) string {
	switch {
	case c.Source == kasoku.FromProbe:
		return probe.Sentence(c, name)
	case c.Source == kasoku.FromTrace:
		return fmt.Sprintf("%s runs %s %.1f times per request (traced, %s)", c.Endpoint(), name, c.PerRequest,
			unit.Counted(c.Requests, "request", "requests"))
	case c.Class == kasoku.CallerConfirmed:
		return fmt.Sprintf("%s runs %s %.1f times per request (comments in the statements, %s)", c.Endpoint(), name,
			c.PerRequest, unit.Counted(c.Requests, "request", "requests"))
	case c.Class == kasoku.CallerHigh:
		about := ""
		if c.PerRequest > 0 && c.Most > c.Least {
			about = fmt.Sprintf(" (±%.0f %%)", 100*(c.Most-c.Least)/2/c.PerRequest)
			if above, below := c.Most-c.PerRequest, c.PerRequest-c.Least; above-below > lopsided*c.PerRequest {
				about = fmt.Sprintf(" (%s to %s)", unit.Sig3(c.Least), unit.Sig3(c.Most))
			}
		}
		return fmt.Sprintf("%s runs %s about %s times per request%s, from time overlap; %s", c.Endpoint(), name,
			unit.Sig3(c.PerRequest), about, rightHighs)
	case c.Class == kasoku.CallerGroup:
		return fmt.Sprintf("%s may come from %s, %s times per request (always called together)", name,
			strings.Join(append([]string{c.Endpoint()}, c.With...), " or "), unit.Sig3(c.PerRequest))
	}
	return fmt.Sprintf("%s may come from %s (share %s), not confirmed", name, c.Endpoint(), unit.Percent(c.Share))
}
