package statements

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// The sections of a probe.
const (
	SectionCounted    = "counted"    // statements of each request
	SectionBackground = "background" // statements of no request
	SectionSkipped    = "skipped"    // endpoints that were not asked
)

// eachRowFrom is how many statements a request a loop over a list has at the least
// to be said in the verdict: five, as for an N+1 by overlap.
const eachRowFrom = 5

// Probe reports what endpoints run that were asked alone.
func Probe(res *probe.Result, skipped []probe.Skipped, o report.Options) *report.Document {
	p := probed{res, skipped}
	d := &report.Document{Kind: report.KindProbe, Title: "kasoku probe", Name: o.File, Verdict: p.verdict(),
		Footer: report.FooterOf(o, ""),
		Head: []string{
			"kasoku probe", unit.Counted(len(res.Asked), "endpoint", "endpoints"),
			unit.Counted(res.Requests, "request", "requests") + " one at a time",
			unit.Exact(res.Length.Round(100e6)), res.Source,
		}}
	for _, w := range res.Warnings {
		d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark, Text: w.Text, Hint: report.Prose(w.Hint)})
	}
	d.PutSection(o, "pairs", p.pairs)
	d.PutSection(o, "background", p.background)
	d.PutSection(o, "skips", p.skips)
	return d
}

type probed struct {
	*probe.Result
	skipped []probe.Skipped
}

// query returns a class, nil when it is not known.
func (p *probed) query(id string) *kasoku.Query {
	i := slices.IndexFunc(p.Queries, func(q kasoku.Query) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Queries[i]
}

// item names a class in a few words.
func (p *probed) item(id string) string {
	if q := p.query(id); q != nil {
		return Item(q)
	}
	return ShortID(id)
}

// verdict names the endpoint that runs most of one class.
func (p *probed) verdict() string {
	var worst *kasoku.Caller
	for i := range p.Callers {
		x := &p.Callers[i]
		if x.Class == kasoku.CallerConfirmed && (worst == nil || x.PerRequest > worst.PerRequest) {
			worst = x
		}
	}
	switch {
	case worst == nil:
		return "No endpoint ran a statement that was logged."
	case worst.PerRequest < eachRowFrom:
		return fmt.Sprintf("No endpoint runs a statement %d times per request or more.", eachRowFrom)
	}
	s := probe.Sentence(worst, p.item(worst.QueryID))
	if worst.List != "" {
		s += fmt.Sprintf(": %s for each row of %s", unit.Sig3(worst.Slope), p.item(worst.List))
	}
	return s + "."
}

// pairs lists what each endpoint runs.
func (p *probed) pairs() report.Section {
	s := report.Section{ID: SectionCounted, Title: "Statements of each request", Count: len(p.Callers)}
	s.Sub = "Counted while nothing else was asked."
	t := &report.Table{ID: "callers", Columns: []report.Column{
		{Key: "per_request", Head: "per request", Align: report.Decimal},
		{Key: "least", Head: "least", Align: report.Right},
		{Key: "most", Head: "most", Align: report.Right},
		{Key: "share_ratio", Head: "share", Unit: "%", Align: report.Decimal, Drop: 3},
		{Key: "each_row_of", Head: "for each row of", Code: true, Cut: true, Least: 14, Drop: 2},
		{Key: "query", Head: "id", Code: true},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 30},
	}}
	for i := range p.Asked {
		a := &p.Asked[i]
		t.Rows = append(t.Rows, report.Row{Group: p.asked(a)})
		for j := range p.Callers {
			if x := &p.Callers[j]; x.Method == a.Method && x.Route == a.Route {
				t.Rows = append(t.Rows, report.Row{Cells: p.cells(x)})
			}
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = []report.Block{t}
	}
	return s
}

// asked is "GET /shelves/:id  12 requests, 7.5 statements each (5–10)".
func (p *probed) asked(a *probe.Asked) string {
	s := a.Method + " " + a.Route + "  " + unit.Counted(a.Requests, "request",
		"requests") + fmt.Sprintf(", %s statements each (%d–%d)", unit.Sig3(a.Mean), a.Least, a.Most)
	for _, code := range sortedCodes(a.Codes) {
		if code < 200 || code >= 300 {
			s += fmt.Sprintf(", %d × %d", a.Codes[code], code)
		}
	}
	if a.Failed > 0 {
		s += fmt.Sprintf(", %d without an answer: %s", a.Failed, a.Error)
	}
	return s
}

func sortedCodes(codes map[int]int) []int {
	var out []int
	for c := range codes {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

func (p *probed) cells(x *kasoku.Caller) []report.Cell {
	list, statement := cell.None(), ""
	if x.List != "" {
		list = report.Cell{Text: p.item(x.List) + " × " + unit.Sig3(x.Slope), Raw: x.List}
	}
	if q := p.query(x.QueryID); q != nil {
		statement = q.Fingerprint
	}
	per := cell.Number(x.PerRequest)
	if x.PerRequest >= eachRowFrom {
		per.Tone = report.Mark
	}
	if x.Class != kasoku.CallerConfirmed {
		statement += " (" + x.Note + ")"
	}
	return []report.Cell{per, cell.Count(uint64(x.Least)), cell.Count(uint64(x.Most)),
		{Text: unit.Sig3(100 * x.Share),
			Raw: report.RawNumber(x.Share)}, list, cell.Text(ShortID(x.QueryID)), cell.Text(statement)}
}

// background lists what came while nothing was asked.
func (p *probed) background() report.Section {
	s := report.Section{ID: SectionBackground, Title: "While nothing was asked", Count: len(p.Background)}
	t := &report.Table{ID: "background", Columns: []report.Column{
		{Key: "count", Head: "statements", Align: report.Right},
		{Key: "per_s", Head: "a second", Align: report.Decimal},
		{Key: "query", Head: "id", Code: true},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 30},
	}}
	for _, b := range p.Background {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Count(uint64(b.Count)), cell.Number(b.PerSec),
			cell.Text(ShortID(b.QueryID)),
			cell.Text(b.Fingerprint)}})
	}
	if len(t.Rows) > 0 {
		s.Blocks = []report.Block{t}
	}
	return s
}

// skips lists the endpoints that were not asked.
func (p *probed) skips() report.Section {
	s := report.Section{ID: SectionSkipped, Title: "Not asked", Count: len(p.skipped)}
	notes := &report.Notes{}
	for _, x := range p.skipped {
		notes.List = append(notes.List, report.Note{Sign: "·", Tone: report.Dim, Label: x.Endpoint, Code: true,
			Text: x.Why})
	}
	if len(notes.List) > 0 {
		s.Blocks = []report.Block{notes}
	}
	return s
}
