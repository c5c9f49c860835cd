package terminal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// indent is how far the rows of a table stand in.
const indent = 2

// between parts two columns.
const between = 2

// leastText is the narrowest that a text column is cut to.
const leastText = 12

// A column is the cells of one column, printed and padded.
type column struct {
	report.Column
	head, unit string
	cells      []string
	tones      []report.Tone
	width      int
}

func (p *printer) table(t *report.Table) {
	if t.Title != "" {
		p.gap()
		p.line(piece{"  " + p.text(lower(t.Title)), bold})
	}
	cols := p.columns(t)
	p.grid(t, cols, nil)
	if t.More != "" {
		p.para(indent, t.More, dim)
	}
	if left := leftOut(t, cols); t.Tell != "" && left != "" {
		p.para(indent, "no room for "+left+"; "+t.Tell, dim)
	}
	if t.Note != "" {
		p.para(0, prose(t.Note), dim)
	}
}

// columns prints the cells of a table and leaves out the columns that find no room.
func (p *printer) columns(t *report.Table) []column {
	cols := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = p.column(t, i, c)
	}
	return p.fit(cols, p.o.Width)
}

// leftOut names the columns of a table that are not among those shown.
func leftOut(t *report.Table, shown []column) string {
	var names []string
	for _, c := range t.Columns {
		// A head that several columns share, such as change, names none of them.
		if !slices.ContainsFunc(shown, func(s column) bool { return s.Key == c.Key || s.Head == c.Head }) {
			names = append(names, c.Head)
		}
	}
	return strings.Join(names, ", ")
}

func (p *printer) column(t *report.Table, i int, c report.Column) column {
	col := column{Column: c, head: p.text(c.Head), unit: p.text(c.Unit)}
	for _, r := range t.Rows {
		if r.Group != "" {
			continue
		}
		cell := r.Cells[i]
		s := p.text(cell.Text)
		switch {
		case cell.Strip != nil:
			s = p.text(spark(report.Spark{Values: cell.Strip}, 1) + "  " + s)
		case c.Bars:
			s = p.text(bar(cell.Share))
		}
		if cell.Small != "" {
			s += " " + p.text(cell.Small)
		}
		col.cells = append(col.cells, s)
		col.tones = append(col.tones, cell.Tone)
	}
	if c.Align == report.Decimal {
		col.cells = unit.Align(col.cells, unit.Spaces)
	}
	col.measure()
	return col
}

func (c *column) measure() {
	c.width = max(width(c.head), width(c.unit))
	for _, s := range c.cells {
		c.width = max(c.width, width(s))
	}
}

// fit drops columns, those that may go first, and then cuts text columns, the widest
// first. Columns that go at the same point go together: one end of a range says
// little. A column with a least width counts as no wider than that while columns are
// dropped, save those that are extra: they go before it is cut.
func (p *printer) fit(cols []column, room int) []column {
	for {
		first := 0
		for _, c := range cols {
			first = max(first, c.Drop)
		}
		if first == 0 || leastWidthOf(cols) <= room && (first < report.DropExtra || easyWidthOf(cols) <= room) {
			break
		}
		cols = slices.DeleteFunc(slices.Clone(cols), func(c column) bool { return c.Drop == first })
	}
	p.cutWidest(cols, tableWidth(cols)-room)
	// What is still too wide is left with its name and its verdict, and as much of
	// what is between them as there is room for.
	for len(cols) > 2 && tableWidth(cols) > room {
		last := len(cols) - 1
		cols = append(cols[:last-1:last-1], cols[last])
	}
	for i := range cols {
		if over := tableWidth(cols) - room; over > 0 {
			p.narrow(&cols[i], max(cols[i].width-over, 1))
		}
	}
	return cols
}

// cutWidest takes so many characters from the text columns, always from the widest
// that may still be cut.
func (p *printer) cutWidest(cols []column, over int) {
	widths := make([]int, len(cols))
	for i := range cols {
		widths[i] = cols[i].width
	}
	for ; over > 0; over-- {
		at := -1
		for i, c := range cols {
			if c.Cut && widths[i] > cmp.Or(c.Least, leastText) && (at < 0 || widths[i] > widths[at]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		widths[at]--
	}
	for i := range cols {
		if widths[i] < cols[i].width {
			p.narrow(&cols[i], widths[i])
		}
	}
}

func (p *printer) narrow(c *column, n int) {
	shorten := cut
	if c.Middle {
		shorten = cutMiddle
	}
	for i, s := range c.cells {
		c.cells[i] = shorten(s, n, p.tail())
	}
	c.head, c.unit = cut(c.head, n, p.tail()), cut(c.unit, n, p.tail())
	c.measure()
}

func tableWidth(cols []column) int {
	w := indent + between*max(len(cols)-1, 0)
	for _, c := range cols {
		w += c.width
	}
	return w
}

func leastWidthOf(cols []column) int {
	w := tableWidth(cols)
	for _, c := range cols {
		if c.Cut && c.Least > 0 {
			w -= max(c.width-c.Least, 0)
		}
	}
	return w
}

// easyWidth is what a text column may take before columns that are extra have to go.
const easyWidth = 40

func easyWidthOf(cols []column) int {
	w := tableWidth(cols)
	for _, c := range cols {
		if c.Cut && c.Least > 0 {
			w -= max(c.width-easyWidth, 0)
		}
	}
	return w
}

// grid writes head and rows; beside, when given, makes more pieces for the end of
// row i, or of a group's heading.
func (p *printer) grid(t *report.Table, cols []column, beside func(group string, row int) []piece) {
	p.heads(cols)
	row := 0
	for _, r := range t.Rows {
		if r.Group != "" {
			line := []piece{{cut(p.text(r.Group), p.o.Width, p.tail()), bold}}
			if beside != nil {
				line = append(line, piece{strings.Repeat(" ", max(0, tableWidth(cols)-width(p.text(r.Group)))), plain})
				line = append(line, beside(r.Group, -1)...)
			}
			p.line(line...)
			continue
		}
		line := []piece{{strings.Repeat(" ", indent), plain}}
		for i, c := range cols {
			if i > 0 {
				line = append(line, piece{strings.Repeat(" ", between), plain})
			}
			other := plain
			if c.Bars {
				other = cyan
			}
			line = append(line, pad(c, c.cells[row], toneStyle(c.tones[row], other))...)
		}
		if beside != nil {
			line = append(line, beside("", row)...)
		}
		p.line(line...)
		row++
	}
}

func (p *printer) heads(cols []column) {
	first, second := []piece{{strings.Repeat(" ", indent), plain}}, []piece{{strings.Repeat(" ", indent), plain}}
	units, heads := false, false
	for i, c := range cols {
		if i > 0 {
			first, second = append(first, piece{"  ", plain}), append(second, piece{"  ", plain})
		}
		first, second = append(first, pad(c, c.head, dim)...), append(second, pad(c, c.unit, dim)...)
		units = units || c.unit != ""
		heads = heads || c.head != ""
	}
	if heads {
		p.line(first...)
	}
	if units {
		p.line(second...)
	}
}

// pad makes a cell as wide as its column. Only its text is styled.
func pad(c column, s string, st style) []piece {
	space := strings.Repeat(" ", max(0, c.width-width(s)))
	if c.Align == report.Left {
		return []piece{{s, st}, {space, plain}}
	}
	return []piece{{space, plain}, {s, st}}
}
