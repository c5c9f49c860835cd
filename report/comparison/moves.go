package comparison

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// moves prints the groups of a comparison.
func moves(c *compare.Comparison) *report.Moves {
	m := &report.Moves{ID: "moved", Label: c.Label, Legend: legend(c), Tested: c.Tested() > 0, Floor: c.Floor != nil}
	why := map[string][]string{}
	var order []string
	for _, g := range c.Groups {
		mg := report.MoveGroup{Title: g.Title}
		for _, r := range g.Rows {
			mg.Rows = append(mg.Rows, move(r, g.ID))
			if w := r.Change.WhyNot; w != "" {
				if len(why[w]) == 0 {
					order = append(order, w)
				}
				why[w] = append(why[w], r.Label())
			}
		}
		drawGroup(&mg, g.Rows)
		m.Groups = append(m.Groups, mg)
	}
	var notes []string
	for _, w := range order {
		names := why[w]
		if len(names) > 3 {
			names = append(slices.Clone(names[:2]), unit.Counted(len(names)-2, "other", "others"))
		}
		notes = append(notes, report.JoinWords(names)+", because "+w)
	}
	if len(notes) > 0 {
		m.Note = report.Prose("–: no interval. " + report.Sentence(strings.Join(notes, "; ")) + ".")
	}
	return m
}

func move(r compare.Row, group string) report.Move {
	m := report.Move{ID: r.ID, Name: r.Name, P: unit.Missing, Noise: unit.Missing, Verdict: unit.Missing,
		Tone: report.Dim}
	if r.Samples != nil && r.Moved != compare.NotJudged {
		m.P = compare.PValue(r.Samples.P)
	}
	if r.Before.OK {
		m.RawBefore = report.RawNumber(r.Before.Value)
	}
	if r.After.OK {
		m.RawAfter = report.RawNumber(r.After.Value)
	}
	if r.Spread != nil {
		m.Noise = r.Spread.String()
	}
	if group == "below" || group == "above" {
		m.Name = unit.Plain(r.PerSec) + "/s " + r.Name
	}
	m.Before, m.After, m.Unit = printed(r)
	m.Change = Change(r)
	m.Interval = Interval(r)
	switch r.Moved {
	case compare.Better:
		m.Verdict, m.Tone = string(r.Moved), report.Good
	case compare.Worse:
		m.Verdict, m.Tone = string(r.Moved), report.Bad
	case compare.Unsure, compare.Noise, compare.Differs:
		m.Verdict = string(r.Moved)
	}
	return m
}

// legend describes what the words of the last column mean.
func legend(c *compare.Comparison) report.Prose {
	if c.Single() {
		return "unsure: the interval holds no change, or it is below 5 %; not the same as none."
	}
	n := c.Tested()
	if n == 0 {
		return ""
	}
	return report.Prose("noise: no difference shown, which is not the same as none. " +
		unit.Counted(n, "row was tested",
			"rows were tested") +
		", of which chance moves about one in twenty; the verdict rests on one.")
}

// Interval prints the 95 % interval of a change.
func Interval(r compare.Row) string {
	c := r.Change
	switch {
	case !c.Interval:
		return unit.Missing
	case c.Points:
		return unit.PointsRange(c.Low, c.High)
	case c.Low <= 0:
		return unit.Ratio(c.High) + " to 0"
	case small(c.Low) && small(c.High):
		return unit.RatioRange(c.Low, c.High)
	case c.High <= 1:
		return factor(c.High) + " to " + factor(c.Low)
	}
	return factor(c.Low) + " to " + factor(c.High)
}

// small reports whether a ratio is given in percent by itself. An interval with one
// end that is not is given in factors, both ends alike.
func small(r float64) bool { return strings.HasSuffix(unit.Ratio(r), "%") }

// factor prints a ratio as a factor, however small.
func factor(r float64) string {
	if r < 1 {
		return "÷" + unit.Sig3(1/r)
	}
	return "×" + unit.Sig3(r)
}

// Change prints how far a row moved.
func Change(r compare.Row) string {
	switch {
	case !r.Before.OK || !r.After.OK:
		return unit.Missing
	case r.Change.Points:
		return unit.Points(r.Before.Value, r.After.Value)
	case !r.Change.OK && r.Unit == compare.OfRuns:
		return unit.Missing
	}
	return unit.Change(r.Before.Value, r.After.Value)
}

// printed gives both values in one unit, and the unit.
func printed(r compare.Row) (before, after, u string) { return printedIn(r, r.Scale()) }

// printedIn is printed with the unit of durations given.
func printedIn(r compare.Row, s time.Duration) (before, after, u string) {
	if r.Unit == compare.OfRuns {
		before, after = r.Print()
		return before, after, ""
	}
	print := unit.Sig3Fine
	scale := 1.0
	switch r.Unit {
	case compare.Ratio:
		print, u = unit.PercentCell, "%"
	case compare.Seconds:
		scale, u = float64(time.Second)/float64(s), unit.Name(s)
	case compare.PerSecond:
		print, u = unit.Sig3, "/s"
	case compare.CoreShare:
		scale, u = 100, "% of a core"
	case compare.Count:
		print = func(v float64) string { return unit.Count(int64(math.Round(v))) }
	case compare.Bytes:
		scale, u = 1e-6, "MB"
	case compare.Score:
		print = unit.Plain
	case compare.PerPrice, compare.PerCPU:
		print = unit.Sig3
	}
	side := func(v compare.Value) string {
		if !v.OK {
			return unit.Missing
		}
		return print(v.Value * scale)
	}
	return side(r.Before), side(r.After), u
}

// The changes at which an axis of factors is labelled.
var factors = []float64{1.0 / 100, 1.0 / 30, 1.0 / 10, 1.0 / 3, 1, 3, 10, 30, 100}

// smallChange is how far a percent axis goes either way.
const smallChange = 0.2

// drawGroup places the rows of a group on one axis: ± 20 % when all changes lie within
// it, else factors, as far as they go but at most a hundred either way.
func drawGroup(g *report.MoveGroup, rows []compare.Row) {
	lo, hi := 1.0, 1.0
	for _, r := range rows {
		if at, low, high, ok := quotient(r); ok {
			lo, hi = min(lo, at, low), max(hi, at, high)
		}
	}
	place := func(v float64) float64 { return 0.5 + (v-1)/smallChange/2 }
	if lo >= 1-smallChange && hi <= 1+smallChange {
		for _, v := range []float64{-0.2, -0.1, 0, 0.1, 0.2} {
			g.Ticks = append(g.Ticks, report.Tick{Value: place(1 + v), Label: strings.Replace(percentTick(v), "+0 %", "0", 1)})
		}
	} else {
		first, last := axisEnds(lo, hi)
		from, to := math.Log(factors[first]), math.Log(factors[last])
		place = func(v float64) float64 { return (math.Log(v) - from) / (to - from) }
		for _, f := range factors[first : last+1] {
			g.Ticks = append(g.Ticks, report.Tick{Value: place(f), Label: factorTick(f)})
		}
	}
	g.Zero = place(1)
	for i, r := range rows {
		g.Rows[i].Mark = mark(r, place)
	}
}

// axisEnds returns the labelled factors that enclose the changes, at least ÷3 to ×3.
func axisEnds(lo, hi float64) (first, last int) {
	first, last = 3, 5
	for first > 0 && factors[first] > lo {
		first--
	}
	for last < len(factors)-1 && factors[last] < hi {
		last++
	}
	return first, last
}

func percentTick(v float64) string {
	s := unit.Plain(math.Abs(v)*100) + " %"
	if v < 0 {
		return "−" + s
	}
	return "+" + s
}

func factorTick(f float64) string {
	switch {
	case f < 1:
		return "÷" + unit.Plain(math.Round(1/f))
	case f > 1:
		return "×" + unit.Plain(f)
	}
	return "1"
}

// quotient returns a change and its interval as after / before, also of ratios,
// whose change is given in points.
func quotient(r compare.Row) (at, low, high float64, ok bool) {
	c := r.Change
	if !c.OK || r.Before.Value <= 0 {
		return 0, 0, 0, false
	}
	at = r.After.Value / r.Before.Value
	low, high = at, at
	switch {
	case c.Interval && c.Points:
		low, high = 1+c.Low/r.Before.Value, 1+c.High/r.Before.Value
	case c.Interval:
		low, high = c.Low, c.High
	}
	const tiny = 1e-6
	return max(at, tiny), max(low, tiny), max(high, tiny), true
}

func mark(r compare.Row, place func(float64) float64) *report.Interval {
	at, low, high, ok := quotient(r)
	if !ok {
		return nil
	}
	m := &report.Interval{At: place(at), Low: place(low), High: place(high), Ends: r.Change.Interval,
		Filled: r.Moved == compare.Better || r.Moved == compare.Worse}
	switch {
	case m.At < -0.005:
		m.Beyond, m.At = -1, 0
	case m.At > 1.005:
		m.Beyond, m.At = 1, 1
	}
	m.Low, m.High = min(max(m.Low, 0), 1), min(max(m.High, 0), 1)
	return m
}
