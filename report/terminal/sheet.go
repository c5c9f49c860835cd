package terminal

import (
	"bufio"
	"strings"
)

// A sheet takes lines, each as wide as it is at most. bufio keeps the first error.
type sheet struct {
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
func (p *sheet) line(pieces ...piece) {
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

func (p *sheet) styled(x piece) string {
	if !p.o.Color || x.style == plain || x.text == "" {
		return x.text
	}
	return "\x1b[" + string(x.style) + "m" + x.text + "\x1b[0m"
}

// gap writes one blank line between parts.
func (p *sheet) gap() {
	if p.written && !p.blank {
		p.line()
	}
}

// text makes a string fit to print.
func (p *sheet) text(s string) string {
	s = clean(s)
	if p.o.ASCII {
		s = plainText.Replace(s)
	}
	return s
}

// tail marks a cut.
func (p *sheet) tail() string { return p.text("…") }

// mostLabel is how wide a label may be on a narrow screen.
const mostLabel = 30

// label returns a text of which others are written beside or below, each as far to the
// right as it is wide: a run file may hold one of any length.
func (p *sheet) label(s string) string {
	return cut(p.text(s), max(mostLabel, p.o.Width/2), p.tail())
}

// para writes wrapped text, its further lines indented as far as the first.
func (p *sheet) para(indent int, s string, st style) {
	pad := strings.Repeat(" ", indent)
	for _, l := range wrap(p.text(s), p.o.Width-indent) {
		p.line(piece{pad + l, st})
	}
}

// labelled writes a label and text beside it, wrapped under itself.
func (p *sheet) labelled(indent int, label string, room int, labelStyle style, s string, st style) {
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

// mostPasted is how long code is at most, in bytes, that stands on a line of its own.
const mostPasted = 2000

// said writes a word and what it introduces, as errors and hints are written. Code between
// backquotes that is wider than a line stands on one of its own and is not wrapped, as it is
// there to be pasted.
func (p *sheet) said(word string, wordStyle style, s string, st style) {
	room := p.o.Width - len(word) - 1
	put := func(lines []string) {
		for _, l := range lines {
			p.line(piece{word, wordStyle}, piece{" ", plain}, piece{l, st})
			word = strings.Repeat(" ", len(word))
		}
	}
	var text strings.Builder
	flush := func() {
		put(wrap(p.text(text.String()), room))
		text.Reset()
	}
	parts := strings.Split(s, "`") // each second one is code, but the last one, which is not closed
	for i, part := range parts {
		switch isCode := i%2 == 1 && i < len(parts)-1; {
		case isCode && len(part) <= mostPasted && width(part) > room:
			flush()
			put([]string{clean(part)})
			parts[i+1] = strings.TrimLeft(parts[i+1], ",; ")
		case isCode:
			text.WriteString("`" + part + "`")
		case i%2 == 1:
			text.WriteString("`" + part)
		default:
			text.WriteString(part)
		}
	}
	flush()
}
