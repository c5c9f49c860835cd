package recording

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/revert"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// A Reverting is how this machine differs from a run, and what was done about it.
type Reverting struct {
	Run        *kasoku.Recording
	Plan       *revert.Plan
	Apply      bool             // Outcomes says what came of it
	Outcomes   []revert.Outcome // in the order of the plan: files, then indexes
	Checkpoint string           // file that keeps what was in force before
	Reload     []string         // commands that let servers see it
}

// Revert shows how this machine differs from a run, from now to then.
func Revert(x Reverting, o report.Options) *report.Document {
	r := recorded.Of(x.Run, o)
	d := &report.Document{
		Kind: report.KindRun, Project: x.Run.Run.Project, Name: r.Name(), File: o.File, Footer: report.FooterOf(o,
			x.Run.Run.Version),
		Title: strings.TrimSpace("back to " + r.Name()), Head: []string{"back to " + r.Title(),
			report.FormatDay(r.Wall(0)), x.said()}, Verdict: x.said(),
	}
	d.PutSection(report.Options{}, "files", func() report.Section {
		s := report.Section{ID: "files", Title: "Files, from now to then", Short: "Files", Count: len(x.Plan.Files)}
		for _, f := range x.Plan.Files {
			s.Blocks = append(s.Blocks, report.NewDiff(f.Path, "+"+unit.Count(f.Added)+" −"+unit.Count(f.Removed),
				f.Diff, 0))
		}
		return s
	})
	d.PutSection(report.Options{}, "indexes", func() report.Section {
		s := report.Section{ID: "indexes", Title: "Indexes", Count: len(x.Plan.Indexes)}
		if len(x.Plan.Indexes) > 0 {
			s.Blocks = []report.Block{addedLines(x.Plan.Indexes)}
		}
		return s
	})
	d.PutSection(report.Options{}, "done", func() report.Section {
		s := report.Section{ID: "done", Title: x.heading()}
		if notes := x.notes(); len(notes) > 0 {
			s.Blocks = []report.Block{&report.Notes{List: notes}}
		}
		return s
	})
	return d
}

func (x Reverting) heading() string {
	if x.Apply {
		return "Done"
	}
	return "To note"
}

// said describes in one sentence what differs.
func (x Reverting) said() string {
	p := x.Plan
	if p.Empty() {
		return "nothing differs that can be put back"
	}
	var parts []string
	if n := len(p.Files); n > 0 {
		parts = append(parts, unit.Counted(n, "file", "files"))
	}
	if n := len(p.Indexes); n > 0 {
		parts = append(parts, unit.Counted(n, "index", "indexes"))
	}
	s, verb := report.JoinWords(parts), " differ"
	if len(p.Files)+len(p.Indexes) == 1 {
		verb = " differs"
	}
	if n := p.Refused(); n > 0 {
		s += verb + ", " + unit.Count(n) + " of them cannot be put back"
	} else {
		s += verb
	}
	if !x.Apply && p.Refused() < len(p.Files)+len(p.Indexes) {
		s += "; --apply puts back what is shown"
	}
	return s
}

// addedLines shows the statements as added lines.
func addedLines(indexes []revert.Index) *report.Diff {
	d := &report.Diff{Name: "statements", Open: true}
	for _, i := range indexes {
		d.Lines = append(d.Lines, report.CodeLine{Sign: '+', Text: i.Statement + ";"})
	}
	return d
}

func (x Reverting) notes() (out []report.Note) {
	if x.Checkpoint != "" {
		out = append(out, report.Note{Sign: "·", Tone: report.Dim, Label: "before",
			Text: "kept in " + x.Checkpoint + ", which kasoku revert can go back to"})
	}
	if x.Apply {
		for _, o := range x.Outcomes {
			n := report.Note{Sign: "✓", Tone: report.Good, Label: "put back", Text: o.What}
			if o.Err != nil {
				n = report.Note{Sign: "✗", Tone: report.Bad, Label: "not put back", Text: o.What + ": " + o.Err.Error()}
			}
			out = append(out, n)
		}
	} else {
		for _, f := range x.Plan.Files {
			if f.Refused != "" {
				out = append(out, report.Note{Sign: "✗", Tone: report.Bad, Label: "cannot",
					Text: f.Path + ": " + f.Refused})
			}
		}
		for _, i := range x.Plan.Indexes {
			if i.Refused != "" {
				out = append(out, report.Note{Sign: "✗", Tone: report.Bad, Label: "cannot",
					Text: "index " + i.Table + "." + i.Name + ": " + i.Refused})
			}
		}
	}
	for _, text := range x.Plan.Notes {
		out = append(out, report.Note{Sign: "·", Tone: report.Dim, Label: "left", Text: text})
	}
	if x.Apply && slices.ContainsFunc(x.Outcomes, func(o revert.Outcome) bool { return o.Err == nil }) {
		for _, c := range x.Reload {
			out = append(out, report.Note{Sign: "·", Tone: report.Mark, Label: "now run", Text: c})
		}
	}
	return out
}
