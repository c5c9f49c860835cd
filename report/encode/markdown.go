package encode

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/report"
)

// Markdown writes the document as CommonMark with tables. Charts are left out: they
// have their numbers in TSV. What comes from logs is escaped, so that it cannot add
// markup or HTML.
func Markdown(w io.Writer, d *report.Document) error {
	m := &markdown{b: bufio.NewWriter(w)}
	m.document(d)
	if err := m.b.Flush(); err != nil {
		return fmt.Errorf("write markdown: %w", err)
	}
	return nil
}

type markdown struct{ b *bufio.Writer }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m.b, format+"\n", args...) }

// special are the characters that begin markup anywhere in a line.
var special = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<",
	"&lt;", "&", "&amp;", "|", "\\|", "#", "\\#")

func escape(s string) string { return special.Replace(field(s)) }

// prose keeps the marks of kasoku's own text, but no HTML that a name in it may
// bring.
func prose(s report.Prose) string {
	parts := strings.Split(field(string(s)), "`")
	for i := range parts {
		if i%2 == 0 || i == len(parts)-1 {
			parts[i] = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(parts[i])
		}
	}
	return strings.Join(parts, "`")
}

// code sets text in the fixed-width face, with as many backticks around it as it
// needs.
func code(s string) string {
	s = strings.ReplaceAll(field(s), "|", "\\|")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if s == "" {
		return ""
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

func (m *markdown) document(d *report.Document) {
	m.contained("head", func() { m.head(d) })
	for i := range d.Sections {
		m.contained(d.Sections[i].ID, func() { m.section(&d.Sections[i]) })
	}
	if len(d.Commands) > 0 {
		m.line("\n## Reproduce\n\n```console")
		for _, c := range d.Commands {
			m.line("$ %s", field(c))
		}
		m.line("```")
	}
	m.line("\n%s", escape(d.Footer))
}

// contained writes one part. One that panics leaves a line that says so.
func (m *markdown) contained(name string, write func()) {
	if err := contain.Run(contain.Part{Kind: contain.Section, Name: name}, write); err != nil {
		m.line("\n%s", escape(string(report.Lost(err).Text)))
	}
}

// head writes what stands above the sections.
func (m *markdown) head(d *report.Document) {
	m.line("# %s", escape(d.Verdict))
	for _, a := range d.Alerts {
		m.line("\n> %s", escape(a.Text))
	}
	m.line("")
	if d.Project != "" || d.Name != "" {
		m.line("%s", escape(strings.TrimPrefix(d.Project+" / "+d.Name, " / ")))
	}
	if len(d.Facts) > 0 {
		m.line("\n| | |\n|---|---|")
		for _, f := range d.Facts {
			m.line("| %s | %s |", escape(f.Label), escape(strings.TrimSpace(f.Sign+" "+f.Value)))
		}
	}
}

func (m *markdown) section(s *report.Section) {
	if s.Drawn() {
		return
	}
	m.line("\n## %s", escape(s.Title))
	if s.Sub != "" && s.ID != report.SectionTimeline {
		m.line("\n%s", prose(s.Sub))
	}
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case *report.Table:
			m.table(b)
		case *report.Moves:
			m.line("\n%s", escape(b.Label))
			m.table(b.Table())
		case *report.Findings:
			m.findings(b)
		case *report.Notes:
			m.notes(b)
		case *report.Pairs:
			m.line("\n| setting | before | after |\n|---|---|---|")
			for _, p := range b.List {
				m.line("| %s | %s | %s |", code(p.Name), code(p.Before), code(p.After))
			}
		case *report.Diff:
			m.diff(b)
		case report.Para:
			m.line("\n%s", prose(b.Text))
		case *report.Tale:
			for _, c := range b.List {
				m.line("\n**%d. %s.** %s", c.Number, escape(c.Name), escape(c.Text))
			}
		case *report.Timeline:
			m.line("\n| series | peak |\n|---|---:|")
			for i := range b.Charts {
				for _, x := range b.Charts[i].Series {
					m.line("| %s, %s | %s |", escape(b.Charts[i].Title), escape(x.Name), escape(x.Peak))
				}
			}
		}
	}
}

func (m *markdown) table(t *report.Table) {
	if t.Title != "" {
		m.line("\n### %s", escape(t.Title))
	}
	heads, rules := []string{}, []string{}
	for _, c := range t.Columns {
		if c.Bars {
			continue
		}
		h := c.Head
		if c.Unit != "" {
			h += ", " + c.Unit
		}
		rule := "---:"
		if c.Align == report.Left {
			rule = "---"
		}
		heads, rules = append(heads, escape(h)), append(rules, rule)
	}
	m.line("\n| %s |\n|%s|", strings.Join(heads, " | "), strings.Join(rules, "|"))
	for _, r := range t.Rows {
		if r.Group != "" {
			m.line("| **%s** |%s", escape(r.Group), strings.Repeat(" |", len(t.Columns)-1))
			continue
		}
		var cells []string
		for i, c := range r.Cells {
			if t.Columns[i].Bars {
				continue
			}
			s := escape(c.Text)
			if t.Columns[i].Code && c.Text != "" {
				s = code(c.Text)
			}
			if c.Small != "" {
				s += " " + escape(c.Small)
			}
			cells = append(cells, s)
		}
		m.line("| %s |", strings.Join(cells, " | "))
	}
	if t.More != "" {
		m.line("\n%s", escape(t.More))
	}
	if t.Note != "" {
		m.line("\n%s", prose(t.Note))
	}
}

func (m *markdown) notes(n *report.Notes) {
	m.line("")
	for _, x := range n.List {
		if x.Label == "" { // more of the note before it
			m.line("  - %s", escape(x.Text))
			continue
		}
		m.line("- %s **%s** %s", x.Sign, escape(x.Label), escape(x.Text))
		if x.Hint != "" {
			m.line("  hint: %s", prose(x.Hint))
		}
	}
}

func (m *markdown) findings(f *report.Findings) {
	for _, s := range f.Empty {
		m.line("\n%s", prose(s))
	}
	for _, x := range f.List {
		m.line("\n### %d. %s %s", x.Number, escape(x.ID), escape(x.Title))
		var facts []string
		if x.Impact != "" {
			facts = append(facts, "impact "+x.Impact+" "+x.ImpactOf)
		}
		if x.Explained != "" {
			facts = append(facts, "explained "+x.Explained)
		}
		if x.Risk != "" {
			facts = append(facts, "risk "+x.Risk)
		}
		if x.Confidence != "" {
			facts = append(facts, x.Confidence)
		}
		m.line("\n%s", escape(strings.Join(facts, " · ")))
		if x.Cause != "" {
			m.line("\n%s", prose(x.Cause))
		}
		m.line("\n| evidence | | | |\n|---|---|---|---:|")
		for _, e := range x.Evidence {
			m.line("| %s | %s | %s | %s |", escape(e.Source), code(e.Text), escape(e.Note), escape(e.Value))
		}
		for _, y := range x.Fixes {
			m.fix(y)
		}
		for _, s := range []struct {
			label string
			text  report.Prose
		}{{"Gain to expect", x.Expect}, {"How to verify", x.Verify}} {
			if s.text != "" {
				m.line("\n%s: %s", s.label, prose(s.text))
			}
		}
	}
}

func (m *markdown) fix(x report.Fix) {
	if x.Text != "" {
		m.line("\nFix: %s", prose(x.Text))
	}
	if len(x.Code) > 0 {
		if x.Where != "" {
			m.line("\nFix, %s:", escape(x.Where))
		}
		lang := x.Lang
		for _, l := range x.Code {
			if l.Sign != ' ' {
				lang = "diff"
			}
		}
		m.line("\n```%s", lang)
		for _, l := range x.Code {
			m.line("%s", field(l.Text))
		}
		m.line("```")
	}
	if x.Note != "" {
		m.line("\n%s", prose(x.Note))
	}
}
