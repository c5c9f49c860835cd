package html

import (
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/report"
)

// A timeline of the page.
type timeline struct {
	*report.Timeline
	ID         string
	Steps      []place
	Lane       []laneMark
	LaneHeight int
	Said       []place
	Charts     []chart
	Ticks      []place
	Data       data
	First      bool // of the page: it lists the keys
	HasLog     bool // a chart can be seen on a logarithmic axis
}

// A laneMark is a stretch of time that findings quote, which have it alike.
type laneMark struct {
	Findings         []report.LaneMark // the first is named, the others are numbers
	Left, Width, Top string
}

// A chart of the page.
type chart struct {
	*report.Chart
	Legend []legend
	Shades []legend // of a heat map
	Bands  []place
	Gaps   []place
	Plots  []plot // one, or two of which the style shows one: log and linear
	Aria   string
}

type legend struct {
	Name, Colour, Opacity, Peak string
	Line, Dotted                bool
}

// A plot is the drawing of a chart on one axis.
type plot struct {
	Class               string
	Paths               []path
	Ticks, Ends, Limits []place
}

type path struct{ D, Fill, FillOpacity, Stroke, Width, Dash string }

// data is what the script needs for the readout.
type data struct {
	Seconds int      `json:"seconds"`
	Column  int      `json:"column"`
	Start   int      `json:"start"` // seconds of the day at offset 0
	First   int      `json:"first"` // where the cursor comes first: the last step's start
	Series  []values `json:"series"`
}

type values struct {
	Values []*float64 `json:"values"`
	Peak   string     `json:"peak"`
	Suffix string     `json:"suffix"`
	Places int        `json:"places"`
}

// laneRow is the height of a row of the lane of evidence, in px.
const laneRow = 20

func timelineView(t *report.Timeline, n int) timeline {
	v := timeline{Timeline: t, First: n == 1, ID: "ax" + trim(float64(n))}
	v.HasLog = slices.ContainsFunc(t.Charts, func(c report.Chart) bool { return c.Linear != nil })
	s := t.Started
	v.Data = data{Seconds: t.Seconds, Column: t.Column, Start: s.Hour()*3600 + s.Minute()*60 + s.Second()}
	for _, b := range t.Steps {
		p := band(t, b)
		mid := 100 * t.X((b.From+b.To)/2)
		if t.Phased { // a short one at an end keeps its name inside
			mid = min(max(mid, 4), 96)
		}
		p.Mid, p.Label, p.Open = trim(mid), b.Label, b.Open
		v.Steps = append(v.Steps, p)
		if !b.Open {
			v.Data.First = int(b.From)
		}
	}
	v.Lane, v.LaneHeight = lane(t)
	for _, m := range t.Said {
		v.Said = append(v.Said, place{Left: trim(100 * t.X(m.At)), Label: m.Text})
	}
	for i, k := range t.Ticks() {
		if x := t.X(k.Value); x <= 0.985 {
			v.Ticks = append(v.Ticks, place{Left: trim(100 * x), Label: k.Label, Optional: i%2 == 1})
		}
	}
	for i := range t.Charts {
		c := &t.Charts[i]
		v.Charts = append(v.Charts, chartView(t, c))
		for _, s := range c.Series {
			v.Data.Series = append(v.Data.Series, values{readout(s.Values, c.Places), s.Peak, c.Suffix, c.Places})
		}
	}
	return v
}

// lane joins the marks of one stretch, and moves the rows that stay together.
func lane(t *report.Timeline) (out []laneMark, height int) {
	var rows []int // the old number of each row that stays
	at := map[[2]string]int{}
	for _, m := range t.Lane {
		key := [2]string{trim(100 * t.X(m.From)), trim(100 * t.X(m.To-m.From))}
		if i, ok := at[key]; ok {
			out[i].Findings = append(out[i].Findings, m)
			continue
		}
		row := slices.Index(rows, m.Row)
		if row < 0 {
			row, rows = len(rows), append(rows, m.Row)
		}
		at[key] = len(out)
		out = append(out, laneMark{[]report.LaneMark{m}, key[0], key[1], trim(float64(4 + laneRow*row))})
	}
	return out, laneRow*len(rows) + 4
}

func band(t *report.Timeline, b report.Band) place {
	return place{Left: trim(100 * t.X(b.From)), Width: trim(100 * t.X(b.To-b.From))}
}

// readout rounds values to what the readout can show, to keep the page small.
func readout(vs []float64, places int) []*float64 {
	out := make([]*float64, len(vs))
	digits := 3
	if places >= 0 {
		digits = places + 1
	}
	scale := math.Pow(10, float64(digits))
	for i, v := range vs {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			r := math.Round(v*scale) / scale
			out[i] = &r
		}
	}
	return out
}

// gapFar is from where on the note of a gap stands to the left of it, to stay inside
// a narrow page.
const gapFar = 0.6

func chartView(t *report.Timeline, c *report.Chart) chart {
	v := chart{Chart: c}
	var peaks []string
	for _, s := range c.Series {
		l := legend{Name: s.Name, Colour: s.Colour, Opacity: "1", Peak: s.Peak, Dotted: s.Dotted,
			Line: s.Form == report.Lines || s.Form == report.Stairs}
		if s.Half {
			l.Opacity = "0.5"
		}
		v.Legend = append(v.Legend, l)
		peaks = append(peaks, s.Name+" "+s.Peak)
	}
	v.Aria = c.Title + ", " + c.Unit + ". Peaks: " + strings.Join(peaks, ", ")
	if c.Heat != nil {
		v.Aria = c.Title + ", " + c.Unit + "; the chart above has percentiles"
		for i, s := range c.Heat.Steps {
			v.Shades = append(v.Shades, legend{Name: s.Label, Opacity: heatOpacity(i, len(c.Heat.Steps))})
		}
	}
	for _, b := range c.Bands {
		v.Bands = append(v.Bands, band(t, b))
	}
	for _, g := range c.Gaps {
		v.Gaps = append(v.Gaps, place{Left: trim(100 * t.X(g.At)), Label: g.Text, Far: t.X(g.At) > gapFar})
	}
	first := drawer{t: t, c: c, axis: c.Axis}
	if c.Linear == nil {
		v.Plots = []plot{first.plot("")}
		return v
	}
	second := drawer{t: t, c: c, axis: *c.Linear}
	v.Plots = []plot{first.plot("log"), second.plot("lin")}
	return v
}

// A drawer draws a chart on one axis. Its plane is as wide as the run has seconds
// and 100 high, 0 at the top.
type drawer struct {
	t    *report.Timeline
	c    *report.Chart
	axis report.Axis
	base map[float64]float64 // how high the stack is, by the start of its span
}

// y is where a value lies. What is beyond the axis lies on its edge.
func (d *drawer) y(v float64) float64 { return min(max(100*(1-d.axis.Y(v)), 0), 100) }

func (d *drawer) plot(class string) plot {
	p := plot{Class: class}
	for _, k := range d.axis.Ticks {
		y := trim(d.y(k.Value))
		p.Paths = append(p.Paths, path{D: "M0 " + y + "H" + trim(float64(d.t.Seconds)), Fill: "none",
			Stroke: "var(--line)", Width: "1"})
		p.Ticks = append(p.Ticks, place{Top: y, Label: k.Label})
	}
	p.Paths = append(p.Paths, d.heat()...)
	d.base = map[float64]float64{}
	// Lines of what was asked lie on what was answered, whatever the legend's order.
	for _, over := range []bool{false, true} {
		for _, s := range d.c.Series {
			if (s.Form == report.Lines || s.Form == report.Stairs) == over {
				p.Paths = append(p.Paths, d.series(s)...)
			}
		}
	}
	for _, l := range d.c.Limits {
		y := d.y(l.Value)
		paint := "var(--fg2)"
		if l.Tone == report.Bad {
			paint = "var(--bad)"
		}
		p.Paths = append(p.Paths, path{D: "M0 " + trim(y) + "H" + trim(float64(d.t.Seconds)), Fill: "none",
			Stroke: paint, Width: "1.25", Dash: "5 3"})
		p.Limits = append(p.Limits, place{Top: trim(y), Label: l.Name})
	}
	p.Ends = d.ends()
	return p
}

// heat draws the cells of each shade as one path.
func (d *drawer) heat() (out []path) {
	if d.c.Heat == nil {
		return nil
	}
	shades := make([]strings.Builder, len(d.c.Heat.Steps))
	for _, x := range d.c.Heat.Cells {
		shades[x.Step].WriteString("M" + trim(x.From) + " " + trim(d.y(x.Low)) + "V" + trim(d.y(x.High)) + "H" +
			trim(x.To) + "V" + trim(d.y(x.Low)) + "z")
	}
	for i := range shades {
		if shades[i].Len() > 0 {
			out = append(out, path{D: shades[i].String(), Fill: heatPaint, FillOpacity: heatOpacity(i, len(shades))})
		}
	}
	return out
}

// heatPaint is the one hue of heat maps; how much of it is seen says how many.
const heatPaint = "var(--p95)"

func heatOpacity(step, of int) string { return trim(0.12 + 0.88*float64(step+1)/float64(of)) }

// series draws one series.
func (d *drawer) series(s report.ChartSeries) []path {
	paint := "var(--" + s.Colour + ")"
	switch s.Form {
	case report.Bars:
		if b := d.bars(s); b != "" {
			return []path{{D: b, Fill: paint}}
		}
	case report.Areas:
		if a := d.area(s); a != "" {
			return []path{{D: a, Fill: paint, FillOpacity: map[bool]string{true: "0.5", false: "0.95"}[s.Half]}}
		}
	case report.Stairs:
		if l := d.stairs(s); l != "" {
			return []path{{D: l, Fill: "none", Stroke: paint, Width: "1.25"}}
		}
	case report.Lines:
		return d.line(s, paint)
	}
	return nil
}

// narrow is how many columns a plot has at most for its bars to be set apart: with
// more, the space between them would take more room than they do.
const narrow = 240

func (d *drawer) bars(s report.ChartSeries) string {
	var b strings.Builder
	gap := 0.06 * float64(d.t.Column)
	if d.t.Seconds/d.t.Column > narrow {
		gap = 0
	}
	for _, x := range s.Spans {
		low := d.base[x.From]
		d.base[x.From] = low + x.Value
		if x.Value <= 0 {
			continue
		}
		y0, y1 := trim(d.y(low)), trim(d.y(low+x.Value))
		b.WriteString("M" + trim(x.From+gap) + " " + y0 + "V" + y1 + "H" + trim(x.To-gap) + "V" + y0 + "z")
	}
	return b.String()
}

// runs cuts spans where samples are missing: where two are further apart than
// usual by three quarters.
func runs(spans []report.Span) [][]report.Span {
	if len(spans) == 0 {
		return nil
	}
	var steps []float64
	for i := 1; i < len(spans); i++ {
		steps = append(steps, spans[i].From-spans[i-1].From)
	}
	usual := math.Inf(1)
	if len(steps) > 0 {
		usual = median.High(steps)
	}
	var out [][]report.Span
	from := 0
	for i := 1; i < len(spans); i++ {
		if spans[i].From-spans[i-1].From > 1.75*usual {
			out = append(out, spans[from:i])
			from = i
		}
	}
	return append(out, spans[from:])
}

// area draws a series on top of those before it. One alone is drawn as wide as its
// column, so that it is seen.
func (d *drawer) area(s report.ChartSeries) string {
	var b strings.Builder
	for _, run := range runs(s.Spans) {
		if len(run) == 1 {
			half := float64(d.t.Column) / 2
			run = []report.Span{{From: run[0].From - half, Value: run[0].Value},
				{From: run[0].From + half, Value: run[0].Value}}
			d.base[run[0].From], d.base[run[1].From] = d.base[run[0].From+half], d.base[run[0].From+half]
			d.base[run[0].From+half] += run[0].Value
		}
		var back []string
		for i, x := range run {
			low := d.base[x.From]
			d.base[x.From] = low + x.Value
			b.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + trim(x.From) + " " + trim(d.y(low+x.Value)))
			back = append(back, "L"+trim(x.From)+" "+trim(d.y(low)))
		}
		slices.Reverse(back)
		b.WriteString(strings.Join(back, "") + "z")
	}
	return b.String()
}

func (d *drawer) stairs(s report.ChartSeries) string {
	var b strings.Builder
	for i, x := range s.Spans {
		y := trim(d.y(x.Value))
		if i == 0 || x.From > s.Spans[i-1].To {
			b.WriteString("M" + trim(x.From) + " " + y)
		} else {
			b.WriteString("V" + y)
		}
		b.WriteString("H" + trim(x.To))
	}
	return b.String()
}

// line draws straight lines between samples and a dot for one alone. Where columns
// hold several samples, their range is drawn under the line.
func (d *drawer) line(s report.ChartSeries, paint string) []path {
	var lines, dots, ranges strings.Builder
	for _, run := range runs(s.Spans) {
		if len(run) == 1 {
			dots.WriteString("M" + trim(run[0].From) + " " + trim(d.y(run[0].Value)) + "h0")
			continue
		}
		var back []string
		wide := false
		for i, x := range run {
			lines.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + trim(x.From) + " " + trim(d.y(x.Value)))
			ranges.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + trim(x.From) + " " + trim(d.y(x.Value)))
			back = append(back, "L"+trim(x.From)+" "+trim(d.y(x.Low)))
			wide = wide || x.Low != x.Value
		}
		if !wide {
			ranges.Reset()
			continue
		}
		slices.Reverse(back)
		ranges.WriteString(strings.Join(back, "") + "z")
	}
	var out []path
	if ranges.Len() > 0 {
		out = append(out, path{D: ranges.String(), Fill: paint, FillOpacity: "0.35"})
	}
	p := path{D: lines.String(), Fill: "none", Stroke: paint, Width: "1.75"}
	if s.Dotted {
		p.Width, p.Dash = "1.25", "1 4"
	}
	if lines.Len() > 0 {
		out = append(out, p)
	}
	if dots.Len() > 0 {
		out = append(out, path{D: dots.String(), Fill: "none", Stroke: paint, Width: "4"})
	}
	return out
}

// labelHeight is how much of the height of a plot a label takes, in percent, and a
// little more.
func (d *drawer) labelHeight() float64 { return 100 * 12.5 / float64(max(d.c.Height, 1)) }

// far is from where on a label at the end of a line would leave a narrow page.
const far = 0.88

// ends names the lines at their last point, moved apart where they would touch.
func (d *drawer) ends() []place {
	type end struct {
		x, y float64
		name string
	}
	var es []end
	for _, s := range d.c.Series {
		if n := len(s.Spans); s.End && n > 0 {
			es = append(es, end{d.t.X(s.Spans[n-1].From), d.y(s.Spans[n-1].Value), s.Name})
		}
	}
	// From the lowest up: a label that would touch the one below it moves up.
	slices.SortStableFunc(es, func(a, b end) int {
		switch {
		case a.y > b.y:
			return -1
		case a.y < b.y:
			return 1
		}
		return 0
	})
	for i := 1; i < len(es); i++ {
		es[i].y = min(es[i].y, es[i-1].y-d.labelHeight())
	}
	var out []place
	for _, e := range es {
		out = append(out, place{Left: trim(100*e.x + 0.4), Top: trim(e.y), Label: e.name, Far: e.x > far})
	}
	return out
}
