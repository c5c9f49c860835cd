package finalize

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
)

// titles are what the parts are called.
var titles = map[string]string{
	PartCollectors: "collectors", PartInitialize: "initialize", PartRestart: "restart", PartOrder: "wrong order",
	PartRun: "last run", PartLogs: "logs",
}

// Document prints the checklist, part by part in the order of the walk.
func Document(r *Result, project string) *report.Document {
	d := makeDocument(r, project)
	var s *report.Section
	for _, i := range r.Items {
		if s == nil || s.ID != i.Part {
			d.Sections = append(d.Sections, report.Section{ID: i.Part, Title: titles[i.Part],
				Blocks: []report.Block{&report.Notes{}}})
			s = &d.Sections[len(d.Sections)-1]
		}
		notes := s.Blocks[0].(*report.Notes)
		notes.List = append(notes.List, noteOf(i))
	}
	return d
}

// Table prints the checklist as one table, for machines.
func Table(r *Result, project string) *report.Document {
	t := &report.Table{ID: "checklist"}
	for _, key := range []string{"part", "what", "status", "saw", "fix"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Head: key})
	}
	for _, i := range r.Items {
		var cells []report.Cell
		for _, text := range []string{i.Part, i.What, string(i.Status), strings.Join(i.Saw, "; "), i.Fix} {
			cells = append(cells, report.Cell{Text: text})
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	d := makeDocument(r, project)
	d.Sections = []report.Section{{ID: "checklist", Title: "checklist", Blocks: []report.Block{t}}}
	return d
}

func makeDocument(r *Result, project string) *report.Document {
	return &report.Document{
		Kind: report.KindFinalize, Title: project + " finalize", Project: project, Name: "finalize",
		Verdict: r.Verdict(), File: r.Path,
		Head: []string{project, "finalize", r.Started.Format(time.DateTime), r.Length.Round(time.Second).String()},
	}
}

// mostSaw is how many facts of an item are printed; JSON and TSV have all.
const mostSaw = 12

// noteOf is one item as people read it.
func noteOf(i Item) report.Note {
	n := report.Note{Sign: "✓", Tone: report.Good, Label: i.What, Hint: report.Prose(i.Fix)}
	switch i.Status {
	case Bad:
		n.Sign, n.Tone = "✗", report.Bad
	case Skipped:
		n.Sign, n.Tone = "·", report.Dim
	}
	n.Text = strings.Join(i.Saw[:min(len(i.Saw), mostSaw)], "; ")
	if more := len(i.Saw) - mostSaw; more > 0 {
		n.Text += fmt.Sprintf("; and %d more", more)
	}
	return n
}

// Checklist is the JSON of finalize; docs/json.md has the fields.
type Checklist struct {
	Schema  int             `json:"schema"`
	Kind    report.Kind     `json:"kind"` // finalize
	Project string          `json:"project"`
	Started time.Time       `json:"started"`
	LengthS float64         `json:"length_s"`
	Verdict string          `json:"verdict"`
	Stopped string          `json:"stopped,omitempty"`
	Items   []checklistItem `json:"items"`
	Probes  []dataProbe     `json:"probes"`
	Run     string          `json:"run,omitempty"`
}

type checklistItem struct {
	Part   string   `json:"part"`
	What   string   `json:"what"`
	Status Status   `json:"status"`
	Saw    []string `json:"saw"`
	Fix    string   `json:"fix,omitempty"`
}

type dataProbe struct {
	At    string            `json:"at"`
	Facts map[string]string `json:"facts"`
}

// JSON writes the checklist as docs/json.md describes it.
func JSON(w io.Writer, r *Result, project string) error {
	out := Checklist{encode.Schema, report.KindFinalize, project, r.Started, r.Length.Seconds(), r.Verdict(), r.Stopped,
		[]checklistItem{}, []dataProbe{}, r.Path}
	for _, i := range r.Items {
		out.Items = append(out.Items, checklistItem(i))
	}
	for _, p := range r.Probes {
		out.Probes = append(out.Probes, dataProbe(p))
	}
	return encode.JSON(w, out)
}
