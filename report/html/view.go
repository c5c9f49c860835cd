package html

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// A place is a label at a place of a plot, in percent.
type place struct {
	Left, Top, Width string
	Mid              string
	Label            string
	Class            string
	Optional, Far    bool
	Open             bool // a band that is not shaded
}

// trim prints a coordinate without needless digits.
func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// A table of the page.
type table struct {
	*report.Table
	Heads   []head
	Rows    []row
	Stacked bool // its rows become blocks on a narrow page
	Sorts   bool // its reader may sort the rows
}

type head struct {
	Head, Unit, Class, Key string
	Hidden                 template.HTML // for screen readers, where nothing is seen
}

type row struct {
	Group string
	Key   string
	Span  int // columns that a group's heading stands across
	Cells []cell
}

type cell struct {
	Text, Small, Class string
	Tag                string
	Label              string // of its column, for narrow pages
	Bar, One           bool   // One: the bar is of one thing, not of good and bad
	Good, Rest         float64
	Lead               string
	Refs               []int
	Number             bool // Raw is a number, or empty for none
	Raw                string
}

// sorting are the tables of runs that can be sorted; others say so themselves.
var sorting = []string{report.SectionEndpoints, report.SectionQueries, report.SectionMessages, "callers", "processes"}

func tableView(t *report.Table) table {
	v := table{Table: t, Stacked: t.ID == "tries"}
	grouped := slices.ContainsFunc(t.Rows, func(r report.Row) bool { return r.Group != "" })
	v.Sorts = t.Sortable || !grouped && slices.Contains(sorting, t.ID)
	aligned := make([][]string, len(t.Columns))
	for i, c := range t.Columns {
		if c.Strips {
			continue
		}
		h := head{Head: c.Head, Unit: c.Unit, Key: c.Key}
		if c.Head == "" {
			name := strings.ReplaceAll(cmp.Or(c.Key, "bar"), "_", " ")
			h.Hidden = template.HTML(`<span class="vh">` + template.HTMLEscapeString(name) + `</span>`)
		}
		if c.Align == report.Left {
			h.Class = "tx"
		}
		v.Heads = append(v.Heads, h)
		for _, r := range t.Rows {
			if r.Group == "" {
				aligned[i] = append(aligned[i], r.Cells[i].Text)
			}
		}
		if c.Align == report.Decimal {
			aligned[i] = unit.Align(aligned[i], unit.FigureSpaces)
		}
	}
	k := 0
	for _, r := range t.Rows {
		if r.Group != "" {
			v.Rows = append(v.Rows, row{Group: r.Group, Span: len(t.Columns)})
			continue
		}
		out := row{Key: r.Key}
		for i, c := range t.Columns {
			if c.Strips {
				continue
			}
			out.Cells = append(out.Cells, cellView(c, r.Cells[i], aligned[i][k], widest(aligned[i])))
		}
		v.Rows = append(v.Rows, out)
		k++
	}
	return v
}

func widest(cells []string) int {
	n := 0
	for _, c := range cells {
		n = max(n, utf8.RuneCountInString(c))
	}
	return n
}

func cellView(c report.Column, x report.Cell, text string, width int) cell {
	v := cell{Text: text, Small: x.Small, Number: c.Align != report.Left, Raw: x.Raw,
		Label: strings.TrimSuffix(c.Head+", "+c.Unit, ", ")}
	var class []string
	if c.Align == report.Left {
		class = append(class, "tx")
	}
	if c.Code {
		class = append(class, "m")
	}
	if c.Cut {
		class = append(class, "wrap")
	}
	tone := toneClass(x.Tone)
	switch {
	case c.Tag && tone != "" && x.Text != unit.Missing:
		v.Tag = tone
	case tone != "":
		class = append(class, tone)
	}
	if x.Share != nil {
		// All bars of a column begin at one place.
		v.Text = strings.Repeat("\u2007", max(0, width-utf8.RuneCountInString(text))) + text
		v.Bar, v.Good, v.Rest, v.One = true, *x.Share, 1-*x.Share, c.Bars
	}
	if len(x.Refs) > 0 {
		v.Refs = x.Refs
		v.Lead, _, _ = strings.Cut(x.Text, " ")
	}
	v.Class = strings.Join(class, " ")
	return v
}

// A comparison of the page.
type moves struct {
	Label  string
	Note   report.Prose
	Legend report.Prose
	Groups []moveGroup
	Tested bool
	Floor  bool
}

type moveGroup struct {
	Title string
	Ticks []place
	Lines []shape
	Rows  []move
}

type move struct {
	report.Move
	Tag    string
	Sure   string // p and noise, what is known of them
	Shapes []shape
}

// A shape is a path with its paint.
type shape struct {
	D, Fill, Stroke string
	Width           string
}

// drawn is how wide the drawing of an interval is, in the units of its view box.
const drawn = 260

func movesView(m *report.Moves) moves {
	v := moves{Label: m.Label, Note: m.Note, Tested: m.Tested, Floor: m.Floor}
	if m.Tested {
		v.Legend = m.Legend
	}
	for _, g := range m.Groups {
		mg := moveGroup{Title: g.Title}
		for i, t := range g.Ticks {
			mg.Ticks = append(mg.Ticks, place{Left: trim(100 * t.Value), Label: t.Label, Optional: i%2 == 1 &&
				t.Value != g.Zero})
			mg.Lines = append(mg.Lines, shape{D: "M" + trim(drawn*t.Value) + " -6V26", Stroke: "var(--line)"})
		}
		mg.Lines = append(mg.Lines, shape{D: "M" + trim(drawn*g.Zero) + " -6V26", Stroke: "var(--ctl)"})
		for _, r := range g.Rows {
			x := move{Move: r, Tag: verdictTag(r.Verdict, r.Tone), Sure: sureness(r)}
			if r.Mark != nil {
				x.Shapes = interval(r.Mark, r.Tone)
			}
			mg.Rows = append(mg.Rows, x)
		}
		v.Groups = append(v.Groups, mg)
	}
	return v
}

// verdictTag is the class of the tag that a verdict stands in; without a verdict
// there is none.
func verdictTag(verdict string, tone report.Tone) string {
	switch {
	case verdict == unit.Missing:
		return ""
	case tone == report.Good:
		return "ok"
	case tone == report.Bad:
		return "bad"
	}
	return "d"
}

// sureness gives p and the noise of a row, nothing when neither is known.
func sureness(r report.Move) string {
	var parts []string
	if r.P != unit.Missing {
		parts = append(parts, "p "+r.P)
	}
	if r.Noise != unit.Missing {
		parts = append(parts, r.Noise)
	}
	return strings.Join(parts, ", ")
}

// interval draws a dot with the ends of its interval, or an arrow at the edge.
func interval(m *report.Interval, tone report.Tone) []shape {
	paint := "var(--fg2)"
	switch tone {
	case report.Good:
		paint = "var(--ok)"
	case report.Bad:
		paint = "var(--bad)"
	}
	at := drawn * m.At
	var out []shape
	if m.Ends && m.High > m.Low {
		lo, hi := trim(drawn*m.Low), trim(drawn*m.High)
		out = append(out,
			shape{D: "M" + lo + " 10H" + hi, Fill: "none", Stroke: paint, Width: "2"},
			shape{D: "M" + lo + " 6.5V13.5M" + hi + " 6.5V13.5", Fill: "none", Stroke: paint, Width: "1.25"})
	}
	switch {
	case m.Beyond < 0:
		return append(out, shape{D: "M13 10H1M6 5L1 10L6 15", Fill: "none", Stroke: paint, Width: "2"})
	case m.Beyond > 0:
		return append(out, shape{D: "M247 10H259M254 5L259 10L254 15", Fill: "none", Stroke: paint, Width: "2"})
	}
	dot := shape{D: circle(at, 10, 3.5), Fill: paint, Stroke: paint, Width: "1"}
	if !m.Filled {
		dot.Fill, dot.Width = "var(--bg)", "2"
	}
	return append(out, dot)
}

func circle(x, y, r float64) string {
	d := trim(2 * r)
	return "M" + trim(x-r) + " " + trim(y) + "a" + trim(r) + " " + trim(r) + " 0 1 0 " + d + " 0a" + trim(r) + " " +
		trim(r) + " 0 1 0 -" + d + " 0z"
}

// A curve of the page.
type curve struct {
	Lines               []shape
	Ticks, Names, Sides []place
}

func curveView(c *report.Curve) curve {
	axis := report.Axis{Log: true, Bottom: c.Bottom, Top: c.Top}
	top := func(v float64) float64 { return 100 * (1 - axis.Y(v)) }
	var v curve
	for _, t := range c.Ticks {
		v.Lines = append(v.Lines, shape{D: "M0 " + trim(top(t.Value)) + "H100", Stroke: "var(--line)", Width: "1"})
		v.Ticks = append(v.Ticks, place{Top: trim(top(t.Value)), Label: t.Label})
	}
	n := max(len(c.Names)-1, 1)
	x := func(i int) float64 { return 100 * float64(i) / float64(n) }
	for _, side := range []struct {
		values               []float64
		colour, label, class string
	}{{c.Before, "var(--s5)", "before", ""}, {c.After, "var(--s1)", "after", "a"}} {
		var d strings.Builder
		for i, value := range side.values {
			d.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + trim(x(i)) + " " + trim(top(value)))
		}
		v.Lines = append(v.Lines, shape{D: d.String(), Stroke: side.colour, Width: "2.25"})
		if mid := len(side.values) / 2; mid < len(side.values) {
			v.Sides = append(v.Sides, place{Left: trim(x(mid)), Top: trim(top(side.values[mid])), Label: side.label,
				Class: side.class})
		}
	}
	for i, name := range c.Names {
		v.Names = append(v.Names, place{Left: trim(x(i)), Label: name})
	}
	return v
}
