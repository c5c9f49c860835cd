package terminal

import (
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// wide is the width from which a brief finding has two lines of evidence and its
// risk at the right edge.
const wide = 100

func (p *printer) findings(b *report.Findings) {
	if len(b.List) == 0 {
		for _, s := range b.Empty {
			p.para(2, prose(s), plain)
		}
		return
	}
	id, impact := 0, 0
	for _, f := range b.List {
		id, impact = max(id, width(p.label(f.ID))), max(impact, width(p.label(f.Impact)))
	}
	for i := range b.List {
		f := &b.List[i]
		if !p.o.Brief || f.Open || i == 0 || b.List[i-1].Open {
			p.gap()
		}
		p.finding(f, id, impact)
	}
}

// finding writes the line of a finding and, unless it is brief and folded, its proof
// and cure.
func (p *printer) finding(f *report.Finding, id, impact int) {
	number := unit.Count(f.Number)
	head := strings.Repeat(" ", max(0, 3-len(number))) + number + "  "
	pid, pimpact := p.label(f.ID), p.label(f.Impact)
	left := width(head) + id + 2 + impact
	if impact > 0 {
		left += 2
	}
	risk, right := p.risk(f), 0
	if risk != "" && p.o.Width >= wide {
		right = width(risk) + 2
	}
	title := f.Title
	if f.Info {
		title += " (remark)"
	}
	lines := wrap(p.text(title), p.o.Width-left-right)
	for i, l := range lines {
		if i > 0 {
			p.line(piece{strings.Repeat(" ", left), plain}, piece{l, bold})
			continue
		}
		line := []piece{
			{head, yellow}, {pid + strings.Repeat(" ", id-width(pid)) + "  ", plain},
			{strings.Repeat(" ", impact-width(pimpact)) + pimpact, plain},
		}
		if impact > 0 {
			line = append(line, piece{"  ", plain})
		}
		line = append(line, piece{l, bold})
		used := left + width(l)
		switch {
		case right > 0:
			line = append(line, piece{strings.Repeat(" ", p.o.Width-used-width(risk)), plain},
				piece{risk, p.riskStyle(f)})
		case p.o.Brief && !f.Open && f.Risky && used+3+width(risk) <= p.o.Width && len(lines) == 1:
			line = append(line, piece{"   ", plain}, piece{risk, yellow})
		}
		p.line(line...)
	}
	switch {
	case !p.o.Brief:
		p.whole(f)
	case f.Open:
		p.short(f)
	}
}

func (p *printer) risk(f *report.Finding) string {
	if f.Risk == "" {
		return ""
	}
	return p.text("risk " + f.Risk)
}

func (p *printer) riskStyle(f *report.Finding) style {
	if f.Risky {
		return yellow
	}
	return dim
}

// inside is how far what belongs to a finding stands in.
const inside = 5

// short writes the strongest evidence and what to do.
func (p *printer) short(f *report.Finding) {
	most := 1
	if p.o.Width >= wide {
		most = 2
	}
	room := len("where")
	es := strongest(f.Evidence, most)
	for _, e := range es {
		room = max(room, width(p.text(e.Source)))
	}
	for _, e := range es {
		p.one(e.Source, room, strings.TrimSpace(e.Text+" "+e.Value+note(e)))
	}
	fix, where := shortFix(f)
	if fix != "" {
		if where != "" && p.o.Width >= wide {
			fix += "   " + where
		}
		p.one("fix", room, fix)
	}
	if p.o.Width >= wide {
		return
	}
	tail := strings.TrimSpace(where + "   " + "risk " + f.Risk)
	if f.Risk == "" {
		tail = where
	}
	if tail == "" {
		return
	}
	label := "where"
	if where == "" {
		label, tail = "risk", f.Risk
	}
	p.one(label, room, tail)
}

func note(e report.Evidence) string {
	if e.Note == "" {
		return ""
	}
	return ", " + e.Note
}

// one writes a labelled line that is cut rather than wrapped.
func (p *printer) one(label string, room int, s string) {
	l := p.text(label)
	l += strings.Repeat(" ", max(0, room-width(l)))
	p.line(piece{strings.Repeat(" ", inside) + l + "  ", dim},
		piece{cut(p.text(s), p.o.Width-inside-width(l)-2, p.tail()), plain})
}

// strongest returns the first strong pieces of evidence, filled up with others.
func strongest(es []report.Evidence, n int) []report.Evidence {
	var out []report.Evidence
	for _, strong := range []bool{true, false} {
		for _, e := range es {
			if e.Strong == strong && len(out) < n {
				out = append(out, e)
			}
		}
	}
	return out
}

// shortFix puts what to do in one line: the lines that code adds, else its first,
// else the sentence.
func shortFix(f *report.Finding) (fix, where string) {
	for _, x := range f.Fixes {
		if len(x.Code) == 0 {
			continue
		}
		var added []string
		for _, l := range x.Code {
			if l.Sign == '+' {
				added = append(added, strings.TrimSpace(strings.TrimPrefix(l.Text, "+")))
			}
		}
		if len(added) == 0 {
			added = []string{strings.TrimSpace(x.Code[0].Text)}
		}
		return strings.Join(added, ", "), x.Where
	}
	for _, x := range f.Fixes {
		return prose(x.Text), x.Where
	}
	return "", ""
}

// whole writes all that a finding has.
func (p *printer) whole(f *report.Finding) {
	const room = len("confidence")
	if f.ImpactOf != "" {
		p.labelled(inside, "impact", room, dim, f.Impact+" "+f.ImpactOf, plain)
	}
	if f.Explained != "" {
		p.labelled(inside, "explained", room, dim, f.Explained, plain)
	}
	if f.Object != "" {
		p.labelled(inside, "about", room, dim, f.Object, plain)
	}
	if f.Cause != "" {
		p.labelled(inside, "cause", room, dim, prose(f.Cause), plain)
	}
	p.evidence(f.Evidence, room)
	if f.Confidence != "" {
		p.labelled(inside, "confidence", room, dim, strings.TrimPrefix(f.Confidence, "confidence "), plain)
	}
	for _, x := range f.Fixes {
		p.fix(x, room)
	}
	if f.Risk != "" {
		p.labelled(inside, "risk", room, dim, f.Risk, p.warnRisk(f))
	}
	if f.Expect != "" {
		p.labelled(inside, "expect", room, dim, prose(f.Expect), plain)
	}
	if f.Verify != "" {
		p.labelled(inside, "verify", room, dim, prose(f.Verify), plain)
	}
}

func (p *printer) warnRisk(f *report.Finding) style {
	if f.Risky {
		return yellow
	}
	return plain
}

// evidence writes quoted facts in columns: source, text, note, value. Where there is
// no room the note goes first, then the text is cut.
func (p *printer) evidence(es []report.Evidence, room int) {
	t := &report.Table{Columns: []report.Column{
		{}, {Cut: true}, {Drop: 1}, {Align: report.Right},
	}}
	for _, e := range es {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			{Text: e.Source, Tone: report.Dim}, {Text: e.Text, Tone: strongTone(e.Strong)}, {Text: e.Note,
				Tone: report.Dim}, {Text: e.Value, Tone: strongTone(e.Strong)},
		}})
	}
	if len(t.Rows) == 0 {
		return
	}
	cols := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = p.column(t, i, c)
	}
	left := inside + room + 2
	cols = p.fit(cols, p.o.Width-left+indent)
	for row := range t.Rows {
		label := ""
		if row == 0 {
			label = "evidence"
		}
		line := []piece{{strings.Repeat(" ", inside) + label + strings.Repeat(" ", room-len(label)+2), dim}}
		for i, c := range cols {
			if i > 0 {
				line = append(line, piece{"  ", plain})
			}
			line = append(line, pad(c, c.cells[row], toneStyle(c.tones[row], plain))...)
		}
		p.line(line...)
	}
}

func strongTone(strong bool) report.Tone {
	if strong {
		return report.Strong
	}
	return report.Plain
}

func (p *printer) fix(x report.Fix, room int) {
	label := "fix"
	put := func(s string, st style) {
		p.labelled(inside, label, room, dim, s, st)
		label = ""
	}
	if x.Text != "" {
		put(prose(x.Text), plain)
	}
	if x.Where != "" {
		put(x.Where, dim)
	}
	left := inside + room + 2
	for _, l := range x.Code {
		// Code is never wrapped or cut: it is there to be pasted.
		head := strings.Repeat(" ", inside) + label + strings.Repeat(" ", left-inside-len(label)) + "  "
		p.line(piece{head, dim}, piece{p.codeText(l.Text), codeStyle(l.Sign)})
		label = ""
	}
	if x.Note != "" {
		put(prose(x.Note), dim)
	}
}

// codeStyle is the style of a line of code, or of a diff, with that sign.
func codeStyle(sign byte) style {
	switch sign {
	case '+':
		return green
	case '-':
		return red
	case '@':
		return dim
	}
	return plain
}

// codeText keeps symbols of code as they are, also in ASCII.
func (p *printer) codeText(s string) string { return clean(s) }
