package provecmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/statements"
)

// trialVerdict describes what a change did.
func trialVerdict(t *prove.Trial) string {
	end := "It was taken back."
	if t.Kept {
		end = "It stays."
	}
	for _, c := range t.Changes {
		if !t.Kept && !c.Restored {
			end = c.Name + " was not taken back: " + c.Note + "."
		}
	}
	if len(t.Differs) > 0 {
		return trialButs(t) + ". " + end
	}
	switch {
	case t.Refuted:
		return "The server would not use it: no plan of these statements has it. " + end + " No other session could use it meanwhile."
	case t.Unused:
		return "No plan of these statements is another with it: the server does not use it. " + end
	case !t.Known:
		return "No statement could be measured. " + end
	case t.Gain >= 0.01:
		return unit.Percent(t.Gain) + " of the time of these statements goes. " + end
	case t.Gain <= -0.01:
		return "These statements take " + unit.Percent(-t.Gain) + " more time. " + end
	}
	return "No effect on these statements. " + end
}

// trialButs describes a change after which answers differ.
func trialButs(t *prove.Trial) string {
	but := t.Differs[0]
	if n := len(t.Differs) - 1; n > 0 {
		but += fmt.Sprintf(", and %d more", n)
	}
	if t.Known && t.Gain >= 0.01 {
		return "Faster, but " + but
	}
	return "Answers differ: " + but
}

// trialDocument shows what a change did to the statements that it is about; with all, also to others that were
// run.
func trialDocument(t *prove.Trial, file string, all bool) *report.Document {
	d := &report.Document{Kind: report.KindTry, Title: "kasoku try", Name: file, Verdict: trialVerdict(t),
		Head: []string{"kasoku try", file, t.Finding.ID, t.Finding.Title, "made in " + unit.Duration(t.Took)}}
	changes := &report.Pairs{}
	for _, c := range t.Changes {
		changes.List = append(changes.List, report.Pair{Name: c.Name, Before: c.Before, After: c.During})
	}
	table := samplesTable(t, all)
	sub := "Medians of repeated runs; noise: they differ no more than runs of one thing do."
	if n := len(t.Samples) - len(table.Rows); n > 0 {
		sub += fmt.Sprintf(" %s that the change does not concern: --all shows them.",
			unit.Counted(n, "other statement", "other statements"))
	}
	d.Sections = []report.Section{
		{ID: "change", Title: "Change", Sub: report.Prose(t.Hidden), Blocks: []report.Block{changes}},
		{ID: "statements", Title: "Statements", Sub: report.Prose(sub), Count: len(table.Rows),
			Blocks: []report.Block{table}},
	}
	if len(t.Differs) > 0 {
		differs := &report.Table{ID: "differences", Columns: []report.Column{{Key: "difference", Head: "difference"}}}
		for _, text := range t.Differs {
			differs.Rows = append(differs.Rows, report.Row{Cells: []report.Cell{{Text: text}}})
		}
		d.Sections = append(d.Sections, report.Section{ID: "answers", Title: "Answers", Sub: "What is answered otherwise with the change.",
			Count: len(t.Differs), Blocks: []report.Block{differs}})
	}
	return d
}

// samplesTable lists the statements that a trial is about, or all.
func samplesTable(t *prove.Trial, all bool) *report.Table {
	table := &report.Table{ID: "samples", Columns: []report.Column{
		{Key: "query", Head: "id", Code: true, Drop: 2}, {Key: "before_s", Head: "before",
			Align: report.Right}, {Key: "after_s", Head: "after", Align: report.Right},
		{Key: "change", Head: "change", Align: report.Right},
		{Key: "plan_before", Head: "plan before", Code: true, Cut: true, Least: 12, Drop: 1}, {Key: "plan_after",
			Head: "plan after", Code: true, Cut: true, Least: 12},
		{Key: "statement", Head: "statement", Code: true, Cut: true, Least: 20},
	}}
	for i := range t.Samples {
		s := &t.Samples[i]
		if !s.About && !all {
			continue
		}
		statement := s.Query.Fingerprint
		if s.Note != "" {
			statement += " (" + s.Note + ")"
		}
		before, after := s.Before.Median(), s.After.Median()
		change := report.Cell{Text: unit.Missing}
		switch {
		case before > 0 && after > 0 && s.Shown:
			change = report.Cell{Text: unit.Change(before.Seconds(), after.Seconds())}
		case before > 0 && after > 0:
			change = report.Cell{Text: "noise", Tone: report.Dim}
		}
		table.Rows = append(table.Rows, report.Row{Cells: []report.Cell{
			{Text: statements.ShortID(s.Query.ID), Raw: s.Query.ID}, timeCell(before), timeCell(after), change,
			{Text: planText(s.PlanBefore)}, {Text: planText(s.PlanAfter)}, {Text: statement},
		}})
	}
	return table
}

func timeCell(d time.Duration) report.Cell {
	if d == 0 {
		return report.Cell{Text: unit.Missing}
	}
	return report.Cell{Text: unit.Duration(d), Raw: unit.Plain(d.Seconds())}
}

// planText is a plan in a few words: "chair ALL 30,000 rows".
func planText(p *kasoku.Plan) string {
	if p == nil || len(p.Rows) == 0 {
		return unit.Missing
	}
	var parts []string
	for _, r := range p.Rows {
		s := r.Table + " " + r.Access
		if r.Key != "" {
			s += " " + r.Key
		}
		parts = append(parts, s+" "+unit.Counted(uint64(max(r.Rows, 0)), "row", "rows"))
	}
	return strings.Join(parts, ", ")
}

// Trial is what kasoku try -o json writes; docs/json.md has the fields.
type Trial struct {
	Schema  int              `json:"schema"`
	Kind    string           `json:"kind"` // try
	Finding string           `json:"finding"`
	Title   string           `json:"title"`
	Gain    *float64         `json:"gain_ratio"`
	Kept    bool             `json:"kept"`
	Took    float64          `json:"took_s"`
	Verdict string           `json:"verdict"`
	Hidden  string           `json:"hidden_check,omitempty"`
	Refuted bool             `json:"refuted,omitempty"`
	Answers *[]string        `json:"answers_differ"` // null when they were not asked for
	Changes []trialChange    `json:"changes"`
	Samples []trialStatement `json:"statements"`
}

type trialChange struct {
	Name     string `json:"name"`
	Before   string `json:"before"`
	During   string `json:"during"`
	Restored bool   `json:"restored"`
	Note     string `json:"note,omitempty"`
}

type trialStatement struct {
	ID          string   `json:"id"`
	Fingerprint string   `json:"fingerprint"`
	Calls       uint64   `json:"calls"`
	Before      *float64 `json:"before_s"`
	After       *float64 `json:"after_s"`
	PlanBefore  string   `json:"plan_before"`
	PlanAfter   string   `json:"plan_after"`
	About       bool     `json:"about"`
	Shown       bool     `json:"beyond_noise"`
	Note        string   `json:"note,omitempty"`
}

func newTrial(t *prove.Trial) Trial {
	out := Trial{Schema: encode.Schema, Kind: "try", Finding: t.Finding.ID, Title: t.Finding.Title, Kept: t.Kept,
		Took: t.Took.Seconds(), Verdict: trialVerdict(t), Hidden: t.Hidden, Refuted: t.Refuted,
		Changes: changesJSON(t.Changes), Samples: []trialStatement{}}
	if t.Known {
		out.Gain = &t.Gain
	}
	if t.Asked {
		differs := append([]string{}, t.Differs...)
		out.Answers = &differs
	}
	seconds := func(d time.Duration) *float64 {
		if d == 0 {
			return nil
		}
		s := d.Seconds()
		return &s
	}
	for i := range t.Samples {
		s := &t.Samples[i]
		out.Samples = append(out.Samples, trialStatement{s.Query.ID, s.Query.Fingerprint, s.Query.Calls,
			seconds(s.Before.Median()), seconds(s.After.Median()), planText(s.PlanBefore), planText(s.PlanAfter),
			s.About, s.Shown, s.Note})
	}
	return out
}

func changesJSON(changes []mysql.Changed) []trialChange {
	out := []trialChange{}
	for _, c := range changes {
		out = append(out, trialChange{c.Name, c.Before, c.During, c.Restored, c.Note})
	}
	return out
}
