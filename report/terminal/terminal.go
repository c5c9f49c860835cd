package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/report"
)

// Options says how a document is written.
type Options struct {
	Width int  // cells; 0 is 80
	Color bool // ANSI colours
	ASCII bool // no symbols beyond ASCII of kasoku's own
	Brief bool // as a run ends: steps, verdict, findings in few lines, warnings
}

// standardWidth is taken when the width is not known.
const standardWidth = 80

// leastWidth is the narrowest that a table is fitted into; below it nothing reads.
const leastWidth = 40

// Write writes the document.
func Write(w io.Writer, d *report.Document, o Options) error {
	if o.Width <= 0 {
		o.Width = standardWidth
	}
	o.Width = max(o.Width, leastWidth)
	p := &printer{w: bufio.NewWriter(w), o: o}
	p.document(d)
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// A printer writes lines. bufio keeps the first error.
type printer struct {
	w       *bufio.Writer
	o       Options
	written bool // something has been written, so that a blank line parts
	blank   bool // the last line was blank
}

// A piece is text in one style.
type piece struct {
	text  string
	style style
}

// line writes pieces as one line, without spaces at its end.
func (p *printer) line(pieces ...piece) {
	last := len(pieces) - 1
	for last >= 0 && strings.TrimRight(pieces[last].text, " ") == "" {
		last--
	}
	for i, x := range pieces[:last+1] {
		if i == last {
			x.text = strings.TrimRight(x.text, " ")
		}
		p.w.WriteString(p.styled(x))
	}
	p.w.WriteByte('\n')
	p.written, p.blank = true, last < 0
}

func (p *printer) styled(x piece) string {
	if !p.o.Color || x.style == plain || x.text == "" {
		return x.text
	}
	return "\x1b[" + string(x.style) + "m" + x.text + "\x1b[0m"
}

// gap writes one blank line between parts.
func (p *printer) gap() {
	if p.written && !p.blank {
		p.line()
	}
}

// text makes a string fit to print.
func (p *printer) text(s string) string {
	s = clean(s)
	if p.o.ASCII {
		s = plainText.Replace(s)
	}
	return s
}

// tail marks a cut.
func (p *printer) tail() string { return p.text("…") }

// mostLabel is how wide a label may be on a narrow screen.
const mostLabel = 30

// label returns a text of which others are written beside or below, each as far to the
// right as it is wide: a run file may hold one of any length.
func (p *printer) label(s string) string {
	return cut(p.text(s), max(mostLabel, p.o.Width/2), p.tail())
}

// para writes wrapped text, its further lines indented as far as the first.
func (p *printer) para(indent int, s string, st style) {
	pad := strings.Repeat(" ", indent)
	for _, l := range wrap(p.text(s), p.o.Width-indent) {
		p.line(piece{pad + l, st})
	}
}

// labelled writes a label and text beside it, wrapped under itself.
func (p *printer) labelled(indent int, label string, room int, labelStyle style, s string, st style) {
	label = p.label(label)
	pad := strings.Repeat(" ", indent)
	room = max(room, width(label))
	lines := wrap(p.text(s), p.o.Width-indent-room-2)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		head := strings.Repeat(" ", room)
		if i == 0 {
			head = label + strings.Repeat(" ", room-width(label))
		}
		p.line(piece{pad, plain}, piece{head, labelStyle}, piece{"  ", plain}, piece{l, st})
	}
}

// said writes a word and what it introduces, as errors and hints are written.
func (p *printer) said(word string, wordStyle style, s string, st style) {
	for i, l := range wrap(p.text(s), p.o.Width-len(word)-1) {
		if i > 0 {
			word = strings.Repeat(" ", len(word))
		}
		p.line(piece{word, wordStyle}, piece{" ", plain}, piece{l, st})
	}
}

// document writes all parts. A brief one begins with the steps, as they were seen
// to end; a full one with the verdict.
func (p *printer) document(d *report.Document) {
	p.contained("head", func() { p.head(d.Head) })
	if p.o.Brief {
		p.brief(d)
		return
	}
	p.contained("alerts", func() { p.alerts(d.Alerts) })
	if d.Sides != nil || tellsVerdict[d.Kind] || d.Section(report.SectionFindings) != nil {
		p.contained("verdict", func() { p.verdict(d.Verdict) })
	}
	for i := range d.Sections {
		p.contained(d.Sections[i].ID, func() { p.section(&d.Sections[i]) })
	}
	p.contained("commands", func() { p.again(d.Commands) })
}

// contained writes one part. One that panics leaves a line that says so.
func (p *printer) contained(name string, write func()) {
	if err := contain.Run(contain.Part{Kind: contain.Section, Name: name}, write); err != nil {
		p.para(0, prose(report.Lost(err).Text), plain)
	}
}

// tellsVerdict are the kinds of documents whose verdict is more than what the
// recorded command said.
var tellsVerdict = map[report.Kind]bool{report.KindList: true, report.KindFinalize: true, report.KindLab: true,
	report.KindAccessLog: true, report.KindLogDiff: true,
	report.KindPlans: true, report.KindDigests: true, report.KindSlowLog: true, report.KindAttack: true,
	report.KindProbe: true, report.KindTry: true, report.KindAutopilot: true}

// brief writes what is seen when a run ends. Before it is diagnosed there is no
// verdict; the answers then stand in its place.
func (p *printer) brief(d *report.Document) {
	findings := d.Section(report.SectionFindings)
	if s := d.Section(report.SectionSteps); s != nil && len(s.Blocks) > 0 {
		p.gap()
		blocks := s.Blocks
		if findings != nil {
			blocks = blocks[:1]
		}
		p.blocks(s.ID, blocks)
	}
	p.contained("alerts", func() { p.alerts(d.Alerts) })
	if findings != nil {
		p.contained("verdict", func() { p.verdict(d.Verdict) })
		p.blocks(findings.ID, findings.Blocks)
	}
	if s := d.Section(report.SectionWarnings); s != nil {
		p.blocks(s.ID, s.Blocks)
	}
}

// blocks writes blocks of a section.
func (p *printer) blocks(id string, blocks []report.Block) {
	p.contained(id, func() {
		for _, b := range blocks {
			p.block(b)
		}
	})
}

// head writes the parts of the first line, breaking between them.
func (p *printer) head(parts []string) {
	line, used := []piece{}, 0
	for i, s := range parts {
		s = p.text(s)
		if s == "" {
			continue
		}
		if used > 0 && used+3+width(s) > p.o.Width {
			p.line(line...)
			line, used = line[:0], 0
		}
		if used > 0 {
			line, used = append(line, piece{"   ", plain}), used+3
		}
		st := dim
		if i == 0 {
			st = plain
		}
		s = cut(s, p.o.Width, p.tail())
		line, used = append(line, piece{s, st}), used+width(s)
	}
	if len(line) > 0 {
		p.line(line...)
	}
}

func (p *printer) alerts(as []report.Alert) {
	for _, a := range as {
		p.gap()
		p.para(0, a.Text, toneStyle(a.Tone, yellow))
		if a.Hint != "" {
			p.said("hint:", dim, prose(a.Hint), dim)
		}
	}
}

func (p *printer) verdict(s string) {
	if s == "" {
		return
	}
	p.gap()
	p.para(0, s, bold)
}

func (p *printer) section(s *report.Section) {
	p.gap()
	title := p.text(lower(s.Title))
	p.line(piece{title, bold})
	if s.Sub != "" && !briefTitles[s.ID] {
		p.para(0, prose(s.Sub), dim)
	}
	for _, b := range s.Blocks {
		if s.ID != report.SectionWarnings {
			if n, ok := b.(*report.Notes); ok {
				p.remarks(n)
				continue
			}
		}
		p.block(b)
	}
}

// briefTitles are sections whose explanation is left to pages: on a terminal it would
// take more room than what it explains.
var briefTitles = map[string]bool{report.SectionFindings: true, report.SectionTimeline: true,
	report.SectionMoved: true, report.SectionWarnings: true}

// lower begins a title with a small letter, except for names in capitals.
func lower(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

func (p *printer) block(b report.Block) {
	switch b := b.(type) {
	case *report.Table:
		p.table(b)
	case *report.Findings:
		p.findings(b)
	case *report.Timeline:
		p.timeline(b)
	case *report.Moves:
		p.moves(b)
	case *report.Strips:
		p.strips(b)
	case *report.Notes:
		p.warnings(b)
	case *report.Pairs:
		p.pairs(b)
	case *report.Diff:
		p.diff(b)
	case report.Para:
		p.para(2, prose(b.Text), toneStyle(b.Tone, plain))
	case *report.Trend:
		p.trend(b)
	case *report.Curve, *report.Tale, *report.Flame:
		// The table beside it has the same.
	}
}

// warnings writes what limits a result as warnings with hints, and what holds as a
// list of checks.
func (p *printer) warnings(n *report.Notes) {
	p.gap()
	for _, x := range n.List {
		if x.Tone != report.Mark {
			continue
		}
		p.said("warning:", yellow, x.Text, plain)
		if x.Hint != "" {
			p.said("hint:", dim, prose(x.Hint), dim)
		}
	}
	rest := &report.Notes{}
	for _, x := range n.List {
		if x.Tone != report.Mark {
			rest.List = append(rest.List, x)
		}
	}
	if len(rest.List) > 0 {
		p.gap()
		p.remarks(rest)
	}
}

// remarks writes notes as a list: sign, label, text.
func (p *printer) remarks(n *report.Notes) {
	room := 0
	for _, x := range n.List {
		room = max(room, width(p.label(noteLabel(x))))
	}
	for _, x := range n.List {
		sign := p.text(x.Sign)
		label := p.label(noteLabel(x))
		lines := wrap(p.text(x.Text), p.o.Width-2-width(sign)-1-room-2)
		for i, l := range lines {
			if i > 0 {
				sign, label = strings.Repeat(" ", width(sign)), ""
			}
			p.line(piece{"  ", plain}, piece{sign, toneStyle(x.Tone, plain)},
				piece{" " + label + strings.Repeat(" ", room-width(label)) + "  ", dim}, piece{l, plain})
		}
		if x.Hint != "" {
			p.said(strings.Repeat(" ", 2+width(p.text(x.Sign))+1+room+2)+"hint:", dim, prose(x.Hint), dim)
		}
	}
}

func noteLabel(x report.Note) string {
	if x.Code {
		return x.Label
	}
	return lower(x.Label)
}

func (p *printer) pairs(b *report.Pairs) {
	room := 0
	for _, x := range b.List {
		room = max(room, width(p.label(x.Name)))
	}
	for _, x := range b.List {
		p.labelled(2, x.Name, room, plain, x.Before+" → "+x.After, plain)
	}
}

func (p *printer) again(commands []string) {
	if len(commands) == 0 {
		return
	}
	p.gap()
	for i, c := range commands {
		label := ""
		if i == 0 {
			label = "again"
		}
		p.labelled(0, label, len("again"), dim, c, plain)
	}
}

// toneStyle is the style of a tone; other is that of plain text.
func toneStyle(t report.Tone, other style) style {
	switch t {
	case report.Good:
		return green
	case report.Bad:
		return red
	case report.Mark:
		return yellow
	case report.Dim:
		return dim
	case report.Strong:
		return bold
	}
	return other
}

// Bold sets a heading that stands between documents.
func Bold(s string, o Options) string {
	p := &printer{o: o}
	return p.styled(piece{p.text(s), bold})
}
