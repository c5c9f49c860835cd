package watch

import (
	"math"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report/terminal"
)

// A tone is how text stands out. Colour is never the only carrier: what is wrong has
// its figure and its limit beside it.
type tone uint8

const (
	plain tone = iota
	bold
	dim
	series  // drawings
	wrong   // beyond a limit, failed
	warning // number of a finding
)

// styles begin the tones: no background, no blue, the 16 colours of ANSI.
//
// Source: ECMA-48, SGR.
var styles = [...]string{bold: "\x1b[1m", dim: "\x1b[2m", series: "\x1b[36m", wrong: "\x1b[31m", warning: "\x1b[33m"}

// plainAgain ends a tone.
const plainAgain = "\x1b[m"

// A piece is a stretch of a line in one tone.
type piece struct {
	text string
	tone tone
}

// A canvas collects the lines of a screen, each cut to its width.
type canvas struct {
	width int
	ascii bool
	color bool
	lines []line
}

type line []piece

func (l line) width() (n int) {
	for _, p := range l {
		n += terminal.Width(p.text)
	}
	return n
}

// clean makes text of others safe to be drawn.
func clean(s string) string { return terminal.Clean(s) }

// line adds a line.
func (c *canvas) line(pieces ...piece) { c.lines = append(c.lines, c.fit(pieces, c.width)) }

// fit cuts pieces to a width, in ASCII where that is wanted.
func (c *canvas) fit(pieces []piece, width int) line {
	var out line
	for _, p := range pieces {
		if c.ascii {
			p.text = terminal.ASCII(p.text)
		}
		n := terminal.Width(p.text)
		if n > width {
			p.text = strings.TrimRight(p.text, " ") // blanks have no need of room
			n = terminal.Width(p.text)
		}
		if n > width {
			p.text = terminal.Cut(p.text, width, c.ascii)
			n = terminal.Width(p.text)
		}
		if p.text != "" {
			out = append(out, p)
		}
		if width -= n; width <= 0 {
			break
		}
	}
	return out
}

// sides adds a line with something at its right edge.
func (c *canvas) sides(left, right []piece) {
	r := c.fit(right, c.width)
	l := c.fit(left, c.width-r.width()-1)
	pad := strings.Repeat(" ", max(0, c.width-l.width()-r.width()))
	c.lines = append(c.lines, append(append(l, piece{text: pad}), r...))
}

// text returns the screen.
func (c *canvas) text() string {
	var b strings.Builder
	for i, l := range c.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		c.write(&b, l)
	}
	return b.String()
}

func (c *canvas) write(b *strings.Builder, l line) {
	for i, p := range l {
		if i == len(l)-1 && p.tone != series {
			p.text = strings.TrimRight(p.text, " ")
		}
		if p.tone == plain || !c.color || strings.TrimSpace(p.text) == "" {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(styles[p.tone])
		b.WriteString(p.text)
		b.WriteString(plainAgain)
	}
}

// beside puts the lines of another canvas to the right, from a column on.
func (c *canvas) beside(other *canvas, at int) {
	for i, r := range other.lines {
		for i >= len(c.lines) {
			c.lines = append(c.lines, nil)
		}
		pad := strings.Repeat(" ", max(1, at-c.lines[i].width()))
		c.lines[i] = append(append(c.lines[i], piece{text: pad}), r...)
	}
}

// padLeft sets a text right in n cells.
func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-terminal.Width(s))) + s
}

// padRight sets a text left in n cells.
func padRight(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-terminal.Width(s)))
}

// bars are the heights of a cell of a drawing.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// plot draws values in so many rows, the greatest, or floor when that is more, as high
// as all of them. A dot is no value.
func plot(v []float64, rows int, log bool, floor float64) []string {
	top, low := floor, math.Inf(1)
	for _, x := range v {
		if !math.IsNaN(x) {
			top = max(top, x)
			if x > 0 {
				low = min(low, x)
			}
		}
	}
	out := make([]string, rows)
	for r := range rows {
		var b strings.Builder
		for _, x := range v {
			b.WriteRune(cell(x, r, rows, low, top, log))
		}
		out[r] = b.String()
	}
	return out
}

// cell is what stands in a row, counted from the top, for a value.
func cell(x float64, r, rows int, low, top float64, log bool) rune {
	if rows == 1 {
		return terminal.Level(x, low, top, log)
	}
	if math.IsNaN(x) {
		if r == rows-1 {
			return '·'
		}
		return ' '
	}
	share := 0.0
	switch {
	case x <= 0 || top <= 0:
	case log && top > low:
		share = 0.1 + 0.9*math.Log(x/low)/math.Log(top/low)
	default:
		share = x / top
	}
	eighths := int(math.Ceil(share*float64(rows*8))) - 8*(rows-1-r)
	if r == rows-1 {
		eighths = max(eighths, 1)
	}
	return bars[min(max(eighths, 0), 8)]
}

// Widths of what stands beside a drawing.
const (
	nameCells  = 15
	valueCells = 7
	unitCells  = 9
	peakCells  = 20
	leftCells  = 1 + nameCells + valueCells + 1 + unitCells + 1
)

// meterLines draws a meter in so many rows.
func (c *canvas) meterLines(m *meter, cols []float64, rows int) {
	now := m.now()
	st, valueTone := series, bold
	if m.wrong(now) {
		valueTone = wrong
	}
	if m.bad {
		st = wrong
	}
	text := packed(m.parts, leftCells-5)
	for i, drawn := range plot(cols, rows, m.log, m.floor) {
		left := []piece{{text: strings.Repeat(" ", leftCells)}}
		switch i {
		case 0:
			left = []piece{
				{" " + padRight(terminal.Cut(m.name, nameCells, c.ascii), nameCells), plain},
				{padLeft(m.print(now), valueCells), valueTone},
				{" " + padRight(m.unit, unitCells) + " ", dim},
			}
		default:
			if i <= len(text) {
				left = []piece{{padRight("   "+text[i-1], leftCells), dim}}
			}
		}
		right := ""
		switch i {
		case 0:
			right = "  " + m.peak()
		case rows - 1:
			right = "  0"
			if m.log {
				right = ""
			}
		}
		c.line(append(left, piece{drawn, st}, piece{right, dim})...)
	}
}

// packed puts parts into lines of at most n cells.
func packed(parts []string, n int) (lines []string) {
	for _, p := range parts {
		if last := len(lines) - 1; last >= 0 && terminal.Width(lines[last])+2+terminal.Width(p) <= n {
			lines[last] += "  " + p
			continue
		}
		lines = append(lines, p)
	}
	return lines
}

// print prints a value of the column.
func (col *column) print(v float64) string {
	switch {
	case math.IsNaN(v):
		return unit.Missing
	case col.decimal > 0:
		if v == 0 {
			return "0"
		}
		return unit.Fixed(v, col.decimal)
	case col.plain:
		return strconv.FormatInt(int64(v), 10)
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return unit.Count(int64(v))
	}
	return number(v)
}

// layout returns the widths of a table's columns in a width, 0 for those that have no
// room.
func (t *table) layout(width int, cells [][]string) []int {
	w := make([]int, len(t.columns))
	wideAt, least := -1, 12
	for i := range t.columns {
		col := &t.columns[i]
		w[i] = max(terminal.Width(col.name), terminal.Width(col.unit))
		if col.wide {
			wideAt, least = i, max(least, col.least)
			w[i] = 0
			continue
		}
		for _, r := range cells {
			w[i] = max(w[i], terminal.Width(r[i]))
		}
	}
	for level := 9; level > 0; level-- {
		if total(w)+least <= width {
			break
		}
		for i := range t.columns {
			if t.columns[i].drop == level {
				w[i] = 0
			}
		}
	}
	for i := len(w) - 1; i >= 0 && total(w)+least > width; i-- {
		w[i] = 0
	}
	if wideAt >= 0 {
		w[wideAt] = max(least, width-total(w)-2)
	}
	return w
}

// total is how wide columns are with two cells between them.
func total(w []int) (n int) {
	for _, x := range w {
		if x > 0 {
			n += x + 2
		}
	}
	return n
}

// tableLines draws a table: its title in the head of its first wide column, the
// heads, then rows from one on.
func (c *canvas) tableLines(t *table, title []piece, from, rows int) {
	shown := t.rows[min(from, len(t.rows)):min(from+rows, len(t.rows))]
	printed := make([][]string, len(shown))
	for i, r := range shown {
		printed[i] = make([]string, len(t.columns))
		for j := range t.columns {
			if t.columns[j].text {
				printed[i][j] = r.words[j]
				if c.ascii {
					printed[i][j] = terminal.ASCII(r.words[j])
				}
			} else {
				printed[i][j] = t.columns[j].print(r.values[j])
			}
		}
	}
	w := t.layout(c.width-1, printed)
	heads, units := t.heads(w)
	c.headed(title, heads)
	if strings.TrimSpace(units) != "" {
		c.line(piece{" " + units, dim})
	}
	for i, r := range shown {
		l := []piece{{text: " "}}
		for j := range t.columns {
			if w[j] == 0 {
				continue
			}
			text := printed[i][j]
			if t.columns[j].text {
				text = padRight(terminal.Cut(text, w[j], c.ascii), w[j])
			} else {
				text = padLeft(text, w[j])
			}
			l = append(l, piece{text + "  ", r.tone})
		}
		c.line(l...)
	}
}

// heads returns the two lines of heads of a table. The place of its wide column is
// left to the title.
func (t *table) heads(w []int) (heads, units string) {
	var h, u strings.Builder
	for i := range t.columns {
		if w[i] == 0 {
			continue
		}
		name, un := t.columns[i].name, t.columns[i].unit
		if t.columns[i].wide {
			name = ""
		}
		if t.columns[i].text {
			h.WriteString(padRight(name, w[i]) + "  ")
			u.WriteString(padRight(un, w[i]) + "  ")
		} else {
			h.WriteString(padLeft(name, w[i]) + "  ")
			u.WriteString(padLeft(un, w[i]) + "  ")
		}
	}
	return h.String(), u.String()
}

// headed writes a title and the heads in one line where both have room.
func (c *canvas) headed(title []piece, heads string) {
	t := c.fit(title, c.width-1)
	heads = " " + heads
	if strings.TrimSpace(heads) == "" {
		c.lines = append(c.lines, t)
		return
	}
	blank := terminal.Width(heads) - terminal.Width(strings.TrimLeft(heads, " "))
	for n := len(title); t.width() >= blank && n > 2; n-- {
		t = c.fit(title[:n-1], c.width-1) // what is not the name gives way
	}
	if t.width() >= blank {
		t = c.fit(title, blank-1)
	}
	c.line(append(t, piece{heads[min(t.width(), len(heads)):], dim})...)
}
