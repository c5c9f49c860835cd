package labcmd

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
)

// storyVerdict describes what came of it.
func storyVerdict(s *prove.Story) string {
	kept := 0
	for i := range s.Steps {
		if s.Steps[i].Outcome == prove.Kept {
			kept++
		}
	}
	tried := unit.Counted(len(s.Steps), "change", "changes") + " tried, " + unit.Count(kept) + " kept"
	switch {
	case kept == 0:
		return fmt.Sprintf("Score %s: %s.", unit.Plain(s.Last), tried)
	case s.First <= 0:
		return fmt.Sprintf("Score %s → %s: %s.", unit.Plain(s.First), unit.Plain(s.Last), tried)
	}
	return fmt.Sprintf("Score %s → %s, × %s: %s.", unit.Plain(s.First), unit.Plain(s.Last), unit.Sig3(s.Last/s.First), tried)
}

// storyDocument is the story as a report, with notes of what was left as it is.
func storyDocument(s *prove.Story, notes ...string) *report.Document {
	d := &report.Document{Kind: report.KindAutopilot, Title: "kasoku autopilot", Verdict: storyVerdict(s),
		Head: []string{"kasoku autopilot", unit.Counted(s.Runs, "run", "runs"), unit.Exact(s.Length.Round(1e9)), s.Stopped}}
	for _, n := range notes {
		d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark, Text: n})
	}
	steps := &report.Table{ID: "tries", Columns: []report.Column{
		{Key: "n", Head: "#", Align: report.Right}, {Key: "finding", Head: "finding", Code: true},
		{Key: "score_before", Head: "before", Align: report.Right}, {Key: "score_after", Head: "after", Align: report.Right},
		{Key: "runs", Head: "runs", Align: report.Right, Drop: 2}, {Key: "outcome", Head: "outcome", Tag: true},
		{Key: "title", Head: "title", Cut: true, Least: 20},
	}}
	changes := &report.Notes{}
	for i := range s.Steps {
		x := &s.Steps[i]
		outcome, sign := report.Cell{Text: x.Outcome}, "✗"
		if x.Outcome == prove.Kept {
			outcome.Tone, sign = report.Good, "✓"
		}
		after := report.Cell{Text: unit.Missing}
		if len(x.Runs) > 0 {
			after = report.Cell{Text: unit.Plain(x.After)}
		}
		steps.Rows = append(steps.Rows, report.Row{Cells: []report.Cell{
			{Text: unit.Count(x.Number)}, {Text: x.Finding.ID}, {Text: unit.Plain(x.Before)}, after,
			{Text: unit.Count(len(x.Runs))}, outcome, {Text: x.Finding.Title},
		}})
		changes.List = append(changes.List, report.Note{Sign: sign, Tone: outcome.Tone, Label: x.Finding.ID, Code: true, Text: x.Why})
		for _, e := range x.Edits {
			changes.List = append(changes.List, report.Note{Sign: " ", Tone: report.Dim, Text: changeText(e)})
		}
	}
	if len(steps.Rows) > 0 {
		d.Sections = []report.Section{
			{ID: report.SectionTries, Title: "Changes", Count: len(s.Steps), Blocks: []report.Block{steps}},
			{ID: "why", Title: "What was changed, and why it stayed or went", Blocks: []report.Block{changes}},
		}
	}
	return d
}

// changeText is a change in one line.
func changeText(e kasoku.Edit) string {
	if e.Kind == kasoku.EditNginx {
		return e.Context + ": " + oneLine(e.Lines)
	}
	return oneLine(e.Do)
}

// Autopilot is what kasoku autopilot -o json writes; docs/json.md has the fields.
type Autopilot struct {
	Schema  int               `json:"schema"`
	Kind    string            `json:"kind"` // autopilot
	Verdict string            `json:"verdict"`
	First   float64           `json:"score_first"`
	Last    float64           `json:"score_last"`
	Runs    int               `json:"runs"`
	Length  float64           `json:"length_s"`
	Stopped string            `json:"stopped"`
	Steps   []autopilotChange `json:"changes"`
}

type autopilotChange struct {
	Number  int             `json:"number"`
	Finding string          `json:"finding"`
	Object  string          `json:"object"`
	Title   string          `json:"title"`
	Before  float64         `json:"score_before"`
	After   *float64        `json:"score_after"`
	Outcome string          `json:"outcome"`
	Why     string          `json:"why"`
	Runs    []string        `json:"runs"`
	Edits   []autopilotEdit `json:"edits"`
}

type autopilotEdit struct {
	Kind    string `json:"kind"`
	Do      string `json:"do,omitempty"`
	Undo    string `json:"undo,omitempty"`
	Conf    string `json:"conf,omitempty"`
	Context string `json:"context,omitempty"`
	Lines   string `json:"lines,omitempty"`
}

func newAutopilot(s *prove.Story) Autopilot {
	out := Autopilot{encode.Schema, "autopilot", storyVerdict(s), s.First, s.Last, s.Runs, s.Length.Seconds(), s.Stopped, []autopilotChange{}}
	for i := range s.Steps {
		x := &s.Steps[i]
		step := autopilotChange{Number: x.Number, Finding: x.Finding.ID, Object: x.Finding.Object.String(), Title: x.Finding.Title, Before: x.Before, Outcome: x.Outcome, Why: x.Why,
			Runs: []string{}, Edits: []autopilotEdit{}}
		for _, r := range x.Runs {
			step.Runs, step.After = append(step.Runs, r.Run.ID), &x.After
		}
		for _, e := range x.Edits {
			step.Edits = append(step.Edits, autopilotEdit{e.Kind, e.Do, e.Undo, e.Conf, e.Context, e.Lines})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}
