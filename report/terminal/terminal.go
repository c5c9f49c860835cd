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

// Options configure how a document is written.
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
	p := &printer{&sheet{w: bufio.NewWriter(w), o: o}}
	p.document(d)
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// A printer writes a document on a sheet.
type printer struct{ *sheet }

// document writes all parts. A brief one begins with the steps, as they were seen
// to end; a full one with the verdict.
func (p *printer) document(d *report.Document) {
	p.contained("head", func() { p.head(d.Head) })
	if p.o.Brief {
		p.brief(d)
		return
	}
	p.contained("alerts", func() { p.alerts(d.Alerts) })
	if d.Sides != nil || showsVerdict[d.Kind] || d.Section(report.SectionFindings) != nil {
		p.contained("verdict", func() { p.verdict(d.Verdict) })
	}
	p.contained("service", func() { p.service(d.Facts) })
	for i := range d.Sections {
		p.contained(d.Sections[i].ID, func() { p.section(&d.Sections[i]) })
	}
	p.contained("commands", func() { p.again(d.Commands) })
	if d.Kind == report.KindRun && len(d.Sections) > fewSections {
		p.contained("verdict", func() { p.verdict(d.Verdict) }) // what the reader is left with
	}
}

// fewSections are not so long that the verdict above them is out of sight at their end.
const fewSections = 3

// contained writes one part. One that panics leaves a line that says so.
func (p *printer) contained(name string, write func()) {
	if err := contain.Run(contain.Part{Kind: contain.Section, Name: name}, write); err != nil {
		p.para(0, prose(report.Lost(err).Text), plain)
	}
}

// showsVerdict are the kinds of documents whose verdict is more than what the
// recorded command said.
var showsVerdict = map[report.Kind]bool{report.KindList: true, report.KindCompare: true, report.KindFinalize: true,
	report.KindLab: true, report.KindDoctor: true, report.KindFleet: true,
	report.KindAccessLog: true, report.KindLogDiff: true,
	report.KindPlans: true, report.KindDigests: true, report.KindSlowLog: true, report.KindAttack: true,
	report.KindProbe: true, report.KindTry: true, report.KindAnswers: true, report.KindAutopilot: true}

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
	var above, below []report.Alert
	for _, a := range d.Alerts {
		switch {
		case !a.Below || findings == nil:
			above = append(above, a)
			continue
		case strings.Contains(string(a.Hint), "\n"): // lines of a configuration
			a.Hint = "`kasoku doctor` has what to write where"
		}
		below = append(below, a)
	}
	p.contained("alerts", func() { p.alerts(above) })
	if findings != nil {
		p.contained("verdict", func() { p.verdict(d.Verdict) })
	}
	p.contained("service", func() { p.service(d.Facts) })
	if findings != nil {
		p.blocks(findings.ID, findings.Blocks)
	}
	p.contained("alerts", func() { p.alerts(below) })
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

// service writes what was measured, and what of it could not be seen; the other facts
// stand in the first lines, or in their sections.
func (p *printer) service(facts []report.Fact) {
	first := true
	for _, f := range facts {
		if f.Label != report.FactService && f.Label != report.FactUnseen {
			continue
		}
		if first {
			p.gap()
			first = false
		}
		p.said(lower(f.Label)+":", dim, prose(f.Value), toneStyle(f.Tone, plain))
	}
}

func (p *printer) section(s *report.Section) {
	if s.Drawn() {
		return
	}
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
	rest, held := &report.Notes{}, []string(nil)
	for _, x := range n.List {
		switch {
		case x.Tone == report.Mark:
		case p.o.Brief && x.Tone == report.Good:
			held = append(held, noteLabel(x))
		case p.o.Brief && x.Sign == "·" && x.Label == "Sessions": // nothing is to be done
		default:
			rest.List = append(rest.List, x)
		}
	}
	if len(held) > 0 {
		rest.List = append(rest.List, report.Note{Sign: "✓", Tone: report.Good, Label: "Checked",
			Text: strings.Join(held, ", ")})
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
	p := &sheet{o: o}
	return p.styled(piece{p.text(s), bold})
}
