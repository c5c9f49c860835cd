package report

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/revert"
	"github.com/kasoku/kasoku/internal/unit"
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
func Revert(x Reverting, o Options) *Document {
	r := viewOf(x.Run, o)
	d := &Document{
		Kind: KindRun, Project: x.Run.Run.Project, Name: r.name(), File: o.File, Footer: footer(o, x.Run.Run.Version),
		Title: strings.TrimSpace("back to " + r.name()), Head: []string{"back to " + r.title(), day(r.wall(0)), x.said()}, Verdict: x.said(),
	}
	d.put(Options{}, "files", func() Section {
		s := Section{ID: "files", Title: "Files, from now to then", Short: "Files", Count: len(x.Plan.Files)}
		for _, f := range x.Plan.Files {
			s.Blocks = append(s.Blocks, NewDiff(f.Path, "+"+unit.Count(f.Added)+" −"+unit.Count(f.Removed), f.Diff, 0))
		}
		return s
	})
	d.put(Options{}, "indexes", func() Section {
		s := Section{ID: "indexes", Title: "Indexes", Count: len(x.Plan.Indexes)}
		if len(x.Plan.Indexes) > 0 {
			s.Blocks = []Block{addedLines(x.Plan.Indexes)}
		}
		return s
	})
	d.put(Options{}, "done", func() Section {
		s := Section{ID: "done", Title: x.heading()}
		if notes := x.notes(); len(notes) > 0 {
			s.Blocks = []Block{&Notes{List: notes}}
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

// said says in one sentence what differs.
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
	s, verb := list(parts), " differ"
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
func addedLines(indexes []revert.Index) *Diff {
	d := &Diff{Name: "statements", Open: true}
	for _, i := range indexes {
		d.Lines = append(d.Lines, CodeLine{Sign: '+', Text: i.Statement + ";"})
	}
	return d
}

func (x Reverting) notes() (out []Note) {
	if x.Checkpoint != "" {
		out = append(out, Note{Sign: "·", Tone: Dim, Label: "before", Text: "kept in " + x.Checkpoint + ", which kasoku revert can go back to"})
	}
	if x.Apply {
		for _, o := range x.Outcomes {
			n := Note{Sign: "✓", Tone: Good, Label: "put back", Text: o.What}
			if o.Err != nil {
				n = Note{Sign: "✗", Tone: Bad, Label: "not put back", Text: o.What + ": " + o.Err.Error()}
			}
			out = append(out, n)
		}
	} else {
		for _, f := range x.Plan.Files {
			if f.Refused != "" {
				out = append(out, Note{Sign: "✗", Tone: Bad, Label: "cannot", Text: f.Path + ": " + f.Refused})
			}
		}
		for _, i := range x.Plan.Indexes {
			if i.Refused != "" {
				out = append(out, Note{Sign: "✗", Tone: Bad, Label: "cannot", Text: "index " + i.Table + "." + i.Name + ": " + i.Refused})
			}
		}
	}
	for _, text := range x.Plan.Notes {
		out = append(out, Note{Sign: "·", Tone: Dim, Label: "left", Text: text})
	}
	if x.Apply && slices.ContainsFunc(x.Outcomes, func(o revert.Outcome) bool { return o.Err == nil }) {
		for _, c := range x.Reload {
			out = append(out, Note{Sign: "·", Tone: Mark, Label: "now run", Text: c})
		}
	}
	return out
}
