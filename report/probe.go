package report

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/internal/unit"
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
func Probe(res *probe.Result, skipped []probe.Skipped, o Options) *Document {
	p := probed{res, skipped}
	d := &Document{Kind: KindProbe, Title: "kasoku probe", Name: o.File, Verdict: p.verdict(), Footer: footer(o, ""),
		Head: []string{
			"kasoku probe", unit.Counted(len(res.Asked), "endpoint", "endpoints"),
			unit.Counted(res.Requests, "request", "requests") + " one at a time",
			unit.Exact(res.Length.Round(100e6)), res.Source,
		}}
	for _, w := range res.Warnings {
		d.Alerts = append(d.Alerts, Alert{Tone: Mark, Text: w.Text, Hint: Prose(w.Hint)})
	}
	d.put(o, "pairs", p.pairs)
	d.put(o, "background", p.background)
	d.put(o, "skips", p.skips)
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
func (p *probed) pairs() Section {
	s := Section{ID: SectionCounted, Title: "Statements of each request", Count: len(p.Callers)}
	s.Sub = "Counted while nothing else was asked."
	t := &Table{ID: "callers", Columns: []Column{
		{Key: "per_request", Head: "per request", Align: Decimal},
		{Key: "least", Head: "least", Align: Right},
		{Key: "most", Head: "most", Align: Right},
		{Key: "share_ratio", Head: "share", Unit: "%", Align: Decimal, Drop: 3},
		{Key: "each_row_of", Head: "for each row of", Code: true, Cut: true, Least: 14, Drop: 2},
		{Key: "query", Head: "id", Code: true},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 30},
	}}
	for i := range p.Asked {
		a := &p.Asked[i]
		t.Rows = append(t.Rows, Row{Group: p.asked(a)})
		for j := range p.Callers {
			if x := &p.Callers[j]; x.Method == a.Method && x.Route == a.Route {
				t.Rows = append(t.Rows, Row{Cells: p.cells(x)})
			}
		}
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t}
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

func (p *probed) cells(x *kasoku.Caller) []Cell {
	list, statement := none(), ""
	if x.List != "" {
		list = Cell{Text: p.item(x.List) + " × " + unit.Sig3(x.Slope), Raw: x.List}
	}
	if q := p.query(x.QueryID); q != nil {
		statement = q.Fingerprint
	}
	per := number(x.PerRequest)
	if x.PerRequest >= eachRowFrom {
		per.Tone = Mark
	}
	if x.Class != kasoku.CallerConfirmed {
		statement += " (" + x.Note + ")"
	}
	return []Cell{per, count(uint64(x.Least)), count(uint64(x.Most)),
		{Text: unit.Sig3(100 * x.Share), Raw: raw(x.Share)}, list, text(ShortID(x.QueryID)), text(statement)}
}

// background lists what came while nothing was asked.
func (p *probed) background() Section {
	s := Section{ID: SectionBackground, Title: "While nothing was asked", Count: len(p.Background)}
	t := &Table{ID: "background", Columns: []Column{
		{Key: "count", Head: "statements", Align: Right},
		{Key: "per_s", Head: "a second", Align: Decimal},
		{Key: "query", Head: "id", Code: true},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 30},
	}}
	for _, b := range p.Background {
		t.Rows = append(t.Rows, Row{Cells: []Cell{count(uint64(b.Count)), number(b.PerSec), text(ShortID(b.QueryID)),
			text(b.Fingerprint)}})
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t}
	}
	return s
}

// skips lists the endpoints that were not asked.
func (p *probed) skips() Section {
	s := Section{ID: SectionSkipped, Title: "Not asked", Count: len(p.skipped)}
	notes := &Notes{}
	for _, x := range p.skipped {
		notes.List = append(notes.List, Note{Sign: "·", Tone: Dim, Label: x.Endpoint, Code: true, Text: x.Why})
	}
	if len(notes.List) > 0 {
		s.Blocks = []Block{notes}
	}
	return s
}
