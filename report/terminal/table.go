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
	g := newGrid(p.sheet, t, p.o.Width)
	g.write(nil)
	if t.More != "" {
		p.para(indent, t.More, dim)
	}
	if left := g.leftOut(); t.NarrowHint != "" && left != "" {
		p.para(indent, "no room for "+left+"; "+t.NarrowHint, dim)
	}
	if t.Note != "" {
		p.para(0, prose(t.Note), dim)
	}
}

// A grid is the columns of a table as they fit on a sheet.
type grid struct {
	*sheet
	table *report.Table
	cols  []column
}

// newGrid prints the cells of a table and leaves out the columns that find no room.
func newGrid(on *sheet, t *report.Table, room int) *grid {
	g := &grid{sheet: on, table: t}
	for i, c := range t.Columns {
		g.cols = append(g.cols, g.column(i, c))
	}
	g.fit(room)
	return g
}

// leftOut names the columns of the table that are not among those shown.
func (g *grid) leftOut() string {
	var names []string
	for _, c := range g.table.Columns {
		// A head that several columns share, such as change, names none of them.
		if !slices.ContainsFunc(g.cols, func(s column) bool { return s.Key == c.Key || s.Head == c.Head }) {
			names = append(names, c.Head)
		}
	}
	return strings.Join(names, ", ")
}

func (g *grid) column(i int, c report.Column) column {
	col := column{Column: c, head: g.text(c.Head), unit: g.text(c.Unit)}
	for _, r := range g.table.Rows {
		if r.Group != "" {
			continue
		}
		cell := r.Cells[i]
		s := g.text(cell.Text)
		switch {
		case cell.Strip != nil:
			s = g.text(spark(report.Spark{Values: cell.Strip}, 1) + "  " + s)
		case c.Bars:
			s = g.text(bar(cell.Share))
		}
		if cell.Small != "" {
			s += " " + g.text(cell.Small)
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
func (g *grid) fit(room int) {
	for {
		first := 0
		for _, c := range g.cols {
			first = max(first, c.Drop)
		}
		if first == 0 || leastWidthOf(g.cols) <= room && (first < report.DropExtra || easyWidthOf(g.cols) <= room) {
			break
		}
		g.cols = slices.DeleteFunc(g.cols, func(c column) bool { return c.Drop == first })
	}
	g.cutWidest(tableWidth(g.cols) - room)
	// What is still too wide is left with its name and its verdict, and as much of
	// what is between them as there is room for.
	for len(g.cols) > 2 && tableWidth(g.cols) > room {
		last := len(g.cols) - 1
		g.cols = append(g.cols[:last-1], g.cols[last])
	}
	for i := range g.cols {
		if over := tableWidth(g.cols) - room; over > 0 {
			g.narrow(&g.cols[i], max(g.cols[i].width-over, 1))
		}
	}
}

// cutWidest takes so many characters from the text columns, always from the widest
// that may still be cut.
func (g *grid) cutWidest(over int) {
	widths := make([]int, len(g.cols))
	for i := range g.cols {
		widths[i] = g.cols[i].width
	}
	for ; over > 0; over-- {
		at := -1
		for i, c := range g.cols {
			if c.Cut && widths[i] > cmp.Or(c.Least, leastText) && (at < 0 || widths[i] > widths[at]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		widths[at]--
	}
	for i := range g.cols {
		if widths[i] < g.cols[i].width {
			g.narrow(&g.cols[i], widths[i])
		}
	}
}

func (g *grid) narrow(c *column, n int) {
	shorten := cut
	if c.Middle {
		shorten = cutMiddle
	}
	for i, s := range c.cells {
		c.cells[i] = shorten(s, n, g.tail())
	}
	c.head, c.unit = cut(c.head, n, g.tail()), cut(c.unit, n, g.tail())
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

// write writes head and rows; beside, when given, makes more pieces for the end of
// row i, or of a group's heading.
func (g *grid) write(beside func(group string, row int) []piece) {
	g.heads()
	row := 0
	for _, r := range g.table.Rows {
		if r.Group != "" {
			line := []piece{{cut(g.text(r.Group), g.o.Width, g.tail()), bold}}
			if beside != nil {
				line = append(line, piece{strings.Repeat(" ", max(0, tableWidth(g.cols)-width(g.text(r.Group)))), plain})
				line = append(line, beside(r.Group, -1)...)
			}
			g.line(line...)
			continue
		}
		line := []piece{{strings.Repeat(" ", indent), plain}}
		for i, c := range g.cols {
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
		g.line(line...)
		row++
	}
}

func (g *grid) heads() {
	first, second := []piece{{strings.Repeat(" ", indent), plain}}, []piece{{strings.Repeat(" ", indent), plain}}
	units, heads := false, false
	for i, c := range g.cols {
		if i > 0 {
			first, second = append(first, piece{"  ", plain}), append(second, piece{"  ", plain})
		}
		first, second = append(first, pad(c, c.head, dim)...), append(second, pad(c, c.unit, dim)...)
		units = units || c.unit != ""
		heads = heads || c.head != ""
	}
	if heads {
		g.line(first...)
	}
	if units {
		g.line(second...)
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
