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
	list := b.List
	if p.o.Brief {
		list = list[:briefly(list)]
	}
	id, impact := 0, 0
	for _, f := range list {
		id, impact = max(id, width(p.label(f.ID))), max(impact, width(p.label(f.Impact)))
	}
	for i := range list {
		f := &list[i]
		if !p.o.Brief || f.Open || i == 0 || list[i-1].Open {
			p.gap()
		}
		(&finding{p.sheet, f}).write(id, impact)
	}
	if more := len(b.List) - len(list); more > 0 {
		p.para(2, "and "+unit.Counted(more, "remark", "remarks")+" more: `kasoku show` has all", dim)
	}
}

// mostBrief is how many findings a brief report lists: with a verdict above them that is a
// screen of 24 lines.
const mostBrief = 6

// briefly is how many of the findings a brief report lists: those that are problems, filled up
// with remarks to mostBrief. One alone is not left out: the line that says so is as long.
func briefly(all []report.Finding) int {
	n := 0
	for i := range all {
		if !all[i].Info {
			n = i + 1
		}
	}
	if n = max(n, mostBrief); n+1 >= len(all) {
		return len(all)
	}
	return n
}

// A finding is written on a sheet.
type finding struct {
	*sheet
	*report.Finding
}

// write writes the line of the finding and, unless it is brief and folded, its proof
// and cure. The ids and impacts of all findings are at most so wide.
func (f *finding) write(id, impact int) {
	number := unit.Count(f.Number)
	head := strings.Repeat(" ", max(0, 3-len(number))) + number + "  "
	pid, pimpact := f.label(f.ID), f.label(f.Impact)
	left := width(head) + id + 2 + impact
	if impact > 0 {
		left += 2
	}
	risk, right := f.risk(), 0
	if risk != "" && f.o.Width >= wide {
		right = width(risk) + 2
	}
	title := f.Title
	if f.Info {
		title += " (remark)"
	}
	lines := wrap(f.text(title), f.o.Width-left-right)
	for i, l := range lines {
		if i > 0 {
			f.line(piece{strings.Repeat(" ", left), plain}, piece{l, bold})
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
			line = append(line, piece{strings.Repeat(" ", f.o.Width-used-width(risk)), plain},
				piece{risk, f.riskStyle()})
		case f.o.Brief && !f.Open && f.Risky && used+3+width(risk) <= f.o.Width && len(lines) == 1:
			line = append(line, piece{"   ", plain}, piece{risk, yellow})
		}
		f.line(line...)
	}
	switch {
	case !f.o.Brief:
		f.whole()
	case f.Open:
		f.short()
	}
}

func (f *finding) risk() string {
	if f.Risk == "" {
		return ""
	}
	return f.text("risk " + f.Risk)
}

func (f *finding) riskStyle() style {
	if f.Risky {
		return yellow
	}
	return dim
}

// inside is how far what belongs to a finding stands in.
const inside = 5

// short writes the strongest evidence and what to do.
func (f *finding) short() {
	most := 1
	if f.o.Width >= wide {
		most = 2
	}
	room := len("where")
	es := strongest(f.Evidence, most)
	for _, e := range es {
		room = max(room, width(f.text(e.Source)))
	}
	for _, e := range es {
		f.one(e.Source, room, strings.TrimSpace(e.Text+" "+e.Value+note(e)))
	}
	fix, where := shortFix(f.Finding)
	if fix != "" {
		if where != "" && f.o.Width >= wide {
			fix += "   " + where
		}
		f.one("fix", room, fix)
	}
	if f.o.Width >= wide {
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
	f.one(label, room, tail)
}

func note(e report.Evidence) string {
	if e.Note == "" {
		return ""
	}
	return ", " + e.Note
}

// one writes a labelled line that is cut rather than wrapped.
func (f *finding) one(label string, room int, s string) {
	l := f.text(label)
	l += strings.Repeat(" ", max(0, room-width(l)))
	f.line(piece{strings.Repeat(" ", inside) + l + "  ", dim},
		piece{cut(f.text(s), f.o.Width-inside-width(l)-2, f.tail()), plain})
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
func (f *finding) whole() {
	const room = len("confidence")
	if f.ImpactOf != "" {
		f.labelled(inside, "impact", room, dim, f.Impact+" "+f.ImpactOf, plain)
	}
	if f.Explained != "" {
		f.labelled(inside, "explained", room, dim, f.Explained, plain)
	}
	if f.Object != "" {
		f.labelled(inside, "about", room, dim, f.Object, plain)
	}
	if f.Cause != "" {
		f.labelled(inside, "cause", room, dim, prose(f.Cause), plain)
	}
	f.evidence(room)
	if f.Confidence != "" {
		f.labelled(inside, "confidence", room, dim, strings.TrimPrefix(f.Confidence, "confidence "), plain)
	}
	for _, x := range f.Fixes {
		f.fix(x, room)
	}
	if f.Risk != "" {
		f.labelled(inside, "risk", room, dim, f.Risk, f.warnRisk())
	}
	if f.Expect != "" {
		f.labelled(inside, "expect", room, dim, prose(f.Expect), plain)
	}
	if f.Verify != "" {
		f.labelled(inside, "verify", room, dim, prose(f.Verify), plain)
	}
}

func (f *finding) warnRisk() style {
	if f.Risky {
		return yellow
	}
	return plain
}

// evidence writes quoted facts in columns: source, text, note, value. Where there is
// no room the note goes first, then the text is cut.
func (f *finding) evidence(room int) {
	t := &report.Table{Columns: []report.Column{
		{}, {Cut: true}, {Drop: 1}, {Align: report.Right},
	}}
	for _, e := range f.Evidence {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{
			{Text: e.Source, Tone: report.Dim}, {Text: e.Text, Tone: strongTone(e.Strong)}, {Text: e.Note,
				Tone: report.Dim}, {Text: e.Value, Tone: strongTone(e.Strong)},
		}})
	}
	if len(t.Rows) == 0 {
		return
	}
	left := inside + room + 2
	g := newGrid(f.sheet, t, f.o.Width-left+indent)
	for row := range t.Rows {
		label := ""
		if row == 0 {
			label = "evidence"
		}
		line := []piece{{strings.Repeat(" ", inside) + label + strings.Repeat(" ", room-len(label)+2), dim}}
		for i, c := range g.cols {
			if i > 0 {
				line = append(line, piece{"  ", plain})
			}
			line = append(line, pad(c, c.cells[row], toneStyle(c.tones[row], plain))...)
		}
		f.line(line...)
	}
}

func strongTone(strong bool) report.Tone {
	if strong {
		return report.Strong
	}
	return report.Plain
}

func (f *finding) fix(x report.Fix, room int) {
	label := "fix"
	put := func(s string, st style) {
		f.labelled(inside, label, room, dim, s, st)
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
		// Code is never wrapped or cut, and keeps its symbols also in ASCII: it is there to
		// be pasted.
		head := strings.Repeat(" ", inside) + label + strings.Repeat(" ", left-inside-len(label)) + "  "
		f.line(piece{head, dim}, piece{clean(l.Text), codeStyle(l.Sign)})
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
