package finalize

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku/report"
)

// KindFinalize is the kind of the checklist's document.
const KindFinalize report.Kind = "finalize"

// titles are what the parts are called.
var titles = map[string]string{
	PartCollectors: "collectors", PartInitialize: "initialize", PartRestart: "restart", PartOrder: "wrong order",
	PartRun: "last run", PartLogs: "logs",
}

// Document tells the checklist, part by part in the order of the walk.
func Document(r *Result, project string) *report.Document {
	d := &report.Document{
		Kind: KindFinalize, Title: project + " finalize", Project: project, Name: "finalize", Verdict: r.Verdict(), File: r.Path,
		Head: []string{project, "finalize", r.Started.Format(time.DateTime), r.Length.Round(time.Second).String()},
	}
	var s *report.Section
	for _, i := range r.Items {
		if s == nil || s.ID != i.Part {
			d.Sections = append(d.Sections, report.Section{ID: i.Part, Title: titles[i.Part], Blocks: []report.Block{&report.Notes{}}})
			s = &d.Sections[len(d.Sections)-1]
		}
		notes := s.Blocks[0].(*report.Notes)
		notes.List = append(notes.List, note(i))
	}
	if r.Path != "" {
		d.Commands = []string{"kasoku show " + r.Path}
	}
	return d
}

// note is one item as people read it.
func note(i Item) report.Note {
	n := report.Note{Sign: "✓", Tone: report.Good, Label: i.What}
	switch i.Status {
	case Bad:
		n.Sign, n.Tone = "✗", report.Bad
	case Skipped:
		n.Sign, n.Tone = "·", report.Dim
	}
	for k, saw := range i.Saw {
		if k > 0 {
			n.Text += "; "
		}
		n.Text += saw
		if k == mostSaw-1 && len(i.Saw) > mostSaw {
			n.Text += fmt.Sprintf("; and %d more", len(i.Saw)-mostSaw)
			break
		}
	}
	n.Hint = report.Prose(i.Fix)
	return n
}

// mostSaw is how many facts of an item are told; JSON has all.
const mostSaw = 12
