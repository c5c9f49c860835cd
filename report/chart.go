package report

import (
	"math"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// A Timeline is charts over one clock.
type Timeline struct {
	ID      string
	Title   string // said only when a document has several
	Seconds int    // that the axis covers
	Column  int    // seconds that a column of the readout covers; 1 unless the run is long
	Started time.Time
	Steps   []Band
	Phased  bool   // Steps are phases of the traffic
	Levels  []Band // of a benchmark; they are among Steps
	Lane    []LaneMark
	Rows    int      // of the lane
	Said    []Moment // what the benchmark said, in the order of time
	Charts  []Chart
	Sparks  []Spark
	Note    string // how the resolution was chosen, when seconds were joined
}

// A Band is a stretch of time with a name.
type Band struct {
	From, To float64 // s
	Label    string  // empty where there is no room for it
	Open     bool    // not shaded
}

// A Moment is a point of time with what was said then.
type Moment struct {
	At   float64 // s
	Text string
}

// A LaneMark is the stretch of time that a finding quotes.
type LaneMark struct {
	Number   int
	ID       string
	From, To float64
	Row      int
}

// A Form defines how a series is drawn.
type Form string

// The forms.
const (
	Bars   Form = "bars"   // stacked on the bars before it
	Areas  Form = "areas"  // stacked on the areas before it
	Lines  Form = "lines"  // straight between samples
	Stairs Form = "stairs" // level over each span
)

// A Chart is one plot.
type Chart struct {
	ID     string
	Title  string
	Unit   string // after the title: per second; from due time, log
	Suffix string // after a value: " ms"
	Places int    // decimals of a value; -1 is three significant digits
	Height int    // px
	Axis
	Linear *Axis // the other axis of a chart whose own is logarithmic
	Series []ChartSeries
	Limits []Limit
	Bands  []Band
	Gaps   []GapNote
	Heat   *Heat // counts over time and value, instead of series
}

// A Heat is how many there were of each value at each time, by shades of one colour.
type Heat struct {
	Steps []HeatStep // the lightest first
	Cells []HeatCell
}

// A HeatStep is a shade.
type HeatStep struct {
	From  float64 // how many it stands for at the least
	Label string
}

// A HeatCell is a rectangle of one shade.
type HeatCell struct {
	From, To  float64 // s
	Low, High float64 // of the value axis
	Step      int
}

// An Axis is the value axis of a chart.
type Axis struct {
	Log         bool
	Bottom, Top float64
	Ticks       []Tick
}

// A ChartSeries is one series of a plot.
type ChartSeries struct {
	Name   string
	Colour string // role of the design's palette: s1, bad, p99, fg
	Half   bool   // system mode of a process, drawn at half strength
	Dotted bool
	Form   Form
	Spans  []Span    // what is drawn, oldest first; what is missing is left out
	Values []float64 // of each column, for the readout; NaN where there is none
	Peak   string    // printed
	End    bool      // its name stands at the end of the line
}

// A Span is a value over a stretch of time. A sample of a gauge has no length.
type Span struct {
	From, To float64 // s
	Value    float64
	Low      float64 // the least value where seconds were joined; else Value
}

// A Limit is a line that a resource cannot cross.
type Limit struct {
	Name  string
	Value float64
	Tone  Tone
}

// A GapNote says in the plot that samples are missing.
type GapNote struct {
	At   float64 // s
	Text string
}

// A Tick is a labelled value of an axis.
type Tick struct {
	Value float64
	Label string
}

// A Spark is one line of a timeline of text.
type Spark struct {
	Name   string
	Values []float64 // of each column; NaN where there is none
	Log    bool
	Tone   Tone
	Peak   string // max 431
}

// Curve is latency by percentile on both sides.
type Curve struct {
	Names         []string // min, p50 … max
	Before, After []float64
	Bottom, Top   float64 // s, log
	Ticks         []Tick
}

// Y returns where a value lies in a plot, 0 at the bottom and 1 at the top; it
// may lie outside.
func (a Axis) Y(v float64) float64 {
	if a.Log {
		return math.Log(max(v, a.Bottom*1e-3)/a.Bottom) / math.Log(a.Top/a.Bottom)
	}
	return (v - a.Bottom) / (a.Top - a.Bottom)
}

// X returns where a time lies in the timeline, 0 at its start and 1 at its end.
func (t *Timeline) X(sec float64) float64 { return sec / float64(t.Seconds) }

// Ticks returns where the time axis is labelled: at most 12 round times.
func (t *Timeline) Ticks() []Tick {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400} {
		step = s
		if t.Seconds/s <= 11 {
			break
		}
	}
	var out []Tick
	for at := 0; at <= t.Seconds; at += step {
		out = append(out, Tick{float64(at), axisTime(at, step)})
	}
	return out
}

// Legend describes how a timeline of text is to be read when each of its characters
// stands for some columns.
func (t *Timeline) Legend(columns int) string {
	s := unit.Exact(time.Duration(t.Seconds) * time.Second)
	if each := t.Column * columns; each > 1 {
		return s + ", one column " + unit.Count(each) + " s, its highest; · no data"
	}
	return s + ", one column a second; · no data"
}

// SecondsText prints a time on the run's clock: 30 s.
func SecondsText(at float64) string { return unit.Plain(math.Round(at)) + " s" }

// Peaks sets the Peak of each series, printed as the readout prints values.
func (c *Chart) Peaks() {
	for i := range c.Series {
		s := &c.Series[i]
		s.Peak = c.Print(Largest(s.Values))
	}
}

// Print prints a value of the chart as its readout does.
func (c *Chart) Print(v float64) string {
	switch {
	case math.IsNaN(v):
		return unit.Missing
	case c.Places < 0:
		return unit.Sig3(v) + c.Suffix
	case c.Places == 0:
		return unit.Count(int64(math.Round(v))) + c.Suffix
	case v == 0:
		return "0" + c.Suffix
	}
	return unit.Fixed(v, c.Places) + c.Suffix
}

// Table gives the numbers of all charts, a row a column of the readout.
func (t *Timeline) Table() *Table {
	out := &Table{ID: t.ID, Columns: []Column{{Key: "t_s", Head: "t", Unit: "s", Align: Right}}}
	n := 0
	for i := range t.Charts {
		for _, s := range t.Charts[i].Series {
			out.Columns = append(out.Columns, Column{Key: t.Charts[i].ID + "." + s.Name, Head: s.Name,
				Unit: t.Charts[i].Title, Align: Decimal})
			n = max(n, len(s.Values))
		}
	}
	for k := range n {
		cells := []Cell{{Text: strconv.Itoa(k * t.Column)}}
		for i := range t.Charts {
			for _, s := range t.Charts[i].Series {
				if k >= len(s.Values) || math.IsNaN(s.Values[k]) {
					cells = append(cells, Cell{Text: unit.Missing})
					continue
				}
				cells = append(cells, Cell{Text: t.Charts[i].Print(s.Values[k]), Raw: RawNumber(s.Values[k])})
			}
		}
		out.Rows = append(out.Rows, Row{Cells: cells})
	}
	return out
}
