package labcmd

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/encode"
)

// LabStory is a story with what was measured; docs/json.md has the fields.
type LabStory struct {
	Schema   int           `json:"schema"`
	Kind     string        `json:"kind"` // lab story
	Lab      string        `json:"lab"`
	Database string        `json:"database"`
	Seconds  float64       `json:"seconds_per_step"` // of load
	Figures  []storyFigure `json:"figures"`
	Steps    []storyStep   `json:"steps"`
	Effects  []storyEffect `json:"effects"`
}

type storyFigure struct {
	Key        string `json:"key"`
	Name       string `json:"name"`
	LessBetter bool   `json:"less_is_better"`
}

type storyStep struct {
	Name    string              `json:"name"`
	Saw     string              `json:"saw,omitempty"`
	Did     string              `json:"did"`
	Author  map[string]*float64 `json:"author"`
	Here    map[string]*float64 `json:"here"`
	File    string              `json:"file,omitempty"`
	Finding string              `json:"first_finding,omitempty"`
}

type storyEffect struct {
	Step     string   `json:"step"`
	Against  string   `json:"against"`
	Figure   string   `json:"figure"`
	Author   *float64 `json:"author"` // how many times as good
	Expected string   `json:"expected,omitempty"`
	Here     *float64 `json:"here"`
	Verdict  string   `json:"verdict"`
	Differs  string   `json:"may_differ_because,omitempty"`
	Kept     string   `json:"kept_because,omitempty"`
	Holds    bool     `json:"holds"`
}

func (s *walker) printer() cli.Printer {
	return cli.Printer{
		Doc:  s.document(),
		JSON: func(w io.Writer) error { return encode.JSON(w, s.json()) },
	}
}

func (s *walker) json() LabStory {
	out := LabStory{Schema: encode.Schema, Kind: "lab story", Lab: s.Lab, Database: s.flags.database, Seconds: s.flags.duration.Seconds(), Effects: []storyEffect{}}
	for _, f := range s.Figures {
		out.Figures = append(out.Figures, storyFigure{f.Key, f.Name, f.Less})
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		m := s.got[step.Name]
		x := storyStep{Name: step.Name, Saw: step.Saw, Did: step.Did, Author: map[string]*float64{},
			Here: map[string]*float64{}}
		for k, f := range s.Figures {
			x.Author[f.Key], x.Here[f.Key] = known(step.Of(k)), known(m.Of(k))
		}
		if m != nil {
			x.File, x.Finding = m.File, m.Finding
		}
		out.Steps = append(out.Steps, x)
	}
	for _, e := range s.Effects(s.got) {
		out.Effects = append(out.Effects, storyEffect{e.Step, e.Against, e.Figure.Key, known(e.Author), string(e.Expect),
			known(e.Here), string(e.Verdict()), e.Differs, e.Kept, e.Holds()})
	}
	return out
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// here words what a step gave.
func (s *walker) here(m *writeup.Measured) string {
	var parts []string
	for k, f := range s.Figures {
		if v := m.Of(k); !math.IsNaN(v) {
			parts = append(parts, strings.TrimSpace(f.Name+" "+unit.Sig3(v)+" "+f.Unit))
		}
	}
	return strings.Join(parts, ", ")
}

func (s *walker) document() *report.Document {
	effects := s.Effects(s.got)
	d := &report.Document{
		Kind: report.KindLab, Title: s.Lab + ": " + s.About, Project: s.Lab, Name: "story",
		Head: []string{s.Lab, s.About, unit.Exact(s.flags.duration) + " of load a step"},
	}
	if s.Lab != carbon.Name { // which has no database
		d.Head = append(d.Head, s.flags.database)
	}
	d.Verdict = effectsVerdict(effects)
	d.Sections = []report.Section{
		{ID: "steps", Title: "What the author did", Blocks: []report.Block{s.notes()}},
		{ID: "figures", Title: "Author and here", Sub: "Figures of two machines.", Blocks: []report.Block{s.figureTable()}},
		{ID: "effects", Title: "Effects", Sub: "How many times as good a figure became.",
			Blocks: []report.Block{effectTable(effects)}},
	}
	dir := ""
	if s.flags.out.Dir != cli.RunsDir {
		dir = " " + s.flags.out.Dir
	}
	last := &s.Steps[len(s.got)-1]
	d.Commands = []string{s.e.Name + " list" + dir, s.e.Name + " show " + last.Name}
	return d
}

// effectsVerdict counts what holds.
func effectsVerdict(effects []writeup.Effect) string {
	var holds, differs, other, open int
	for i := range effects {
		switch e := &effects[i]; {
		case e.Verdict() == writeup.Open:
			open++
		case e.Verdict() == writeup.AsThere:
			holds++
		case e.Differs != "":
			differs++
		default:
			other++
		}
	}
	are := " are the author's"
	if holds == 1 {
		are = " is the author's"
	}
	out := unit.Count(holds) + " of " + unit.Counted(len(effects)-open, "effect", "effects") + are
	if differs > 0 {
		out += ", " + unit.Counted(differs, "differs", "differ") + " as the story foretells"
	}
	if other > 0 {
		out += ", " + unit.Counted(other, "goes another way or size", "go another way or size")
	}
	if open > 0 {
		out += "; " + unit.Count(open) + " not measured"
	}
	return out + "."
}

// notes are the steps in words.
func (s *walker) notes() *report.Notes {
	n := &report.Notes{}
	for i := range s.Steps {
		step := &s.Steps[i]
		x := report.Note{Sign: "·", Label: step.Name, Text: step.Did}
		if step.Saw != "" {
			x.Text = "saw: " + step.Saw + "; did: " + step.Did
		}
		if step.Kept != "" {
			x.Text += "; kept: " + step.Kept
		}
		n.List = append(n.List, x)
	}
	return n
}

// figureTable has a row for each step, two columns for each figure.
func (s *walker) figureTable() *report.Table {
	t := &report.Table{ID: "figures", Columns: []report.Column{{Key: "step", Head: "step"}}}
	for _, f := range s.Figures {
		t.Columns = append(t.Columns,
			report.Column{Key: f.Key + "_author", Head: f.Name, Unit: strings.TrimSpace("author " + f.Unit), Align: report.Decimal},
			report.Column{Key: f.Key, Head: f.Name, Unit: strings.TrimSpace("here " + f.Unit), Align: report.Decimal})
	}
	t.Columns = append(t.Columns, report.Column{Key: "first_finding", Head: "first finding here", Cut: true, Drop: 1})
	for i := range s.Steps {
		step := &s.Steps[i]
		m := s.got[step.Name]
		cells := []report.Cell{cell.Text(step.Name)}
		for k := range s.Figures {
			cells = append(cells, figureOf(step.Of(k)), figureOf(m.Of(k)))
		}
		found := cell.Text("not run")
		if m != nil {
			found = cell.Text(cmp.Or(m.Finding, unit.Missing))
		}
		cells = append(cells, found)
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}

// figureOf prints a figure as exactly as write-ups do.
func figureOf(v float64) report.Cell {
	if math.IsNaN(v) {
		return cell.None()
	}
	if v >= 1000 {
		return report.Cell{Text: unit.Plain(math.Round(v)), Raw: rawNumber(v)}
	}
	return report.Cell{Text: unit.Sig3Fine(v), Raw: rawNumber(v)}
}

func effectTable(effects []writeup.Effect) *report.Table {
	t := &report.Table{ID: "effects", Columns: []report.Column{
		{Key: "step", Head: "step", Cut: true, Middle: true, Least: 16},
		{Key: "against", Head: "against", Cut: true, Middle: true, Least: 14},
		{Key: "figure", Head: "figure", Cut: true, Least: 10},
		{Key: "author", Head: "author", Align: report.Right},
		{Key: "here", Head: "here", Align: report.Right},
		{Key: "verdict", Head: "here it is", Tag: true},
		{Key: "because", Head: "may differ, as", Cut: true, Drop: 1},
	}}
	for i := range effects {
		e := &effects[i]
		v := report.Cell{Text: string(e.Verdict())}
		switch {
		case e.Verdict() == writeup.Open:
			v.Tone = report.Dim
		case e.Verdict() == writeup.AsThere:
			v.Tone = report.Good
		case e.Differs == "":
			v.Tone = report.Bad
		}
		author := ratioCell(e.Author)
		if math.IsNaN(e.Author) {
			author = cell.Text(string(e.Expect))
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(e.Step), cell.Text(e.Against),
			cell.Text(e.Figure.Name), author, ratioCell(e.Here), v, cell.Text(e.Differs)}})
	}
	if !slices.ContainsFunc(effects, func(e writeup.Effect) bool { return e.Differs != "" }) {
		return t.WithoutEmpty()
	}
	return t
}

func ratioCell(v float64) report.Cell {
	if math.IsNaN(v) {
		return cell.None()
	}
	return report.Cell{Text: unit.Ratio(v), Raw: rawNumber(v)}
}
