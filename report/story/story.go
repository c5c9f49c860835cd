package story

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/timeline"
)

// A Story is a demo: a run that broke, fixes tried alone, and the run with all of
// them.
type Story struct {
	Verdict    string // the sentence at the top; the comparison's when empty
	Before     *kasoku.Recording
	After      *kasoku.Recording // nil when it did not come to that
	Comparison *compare.Comparison
	Tries      []Try
}

// A Try is one change made alone and measured at the step that broke.
type Try struct {
	Change  string                // what was changed
	Finding string                // whose fix it is: POOL-01
	Control bool                  // it was expected to do nothing
	Effect  *compare.EffectResult // nil when it could not be measured
	Failed  string                // why not
}

// New returns a story in one document: the cause, what each fix did alone, what
// they did together, and both runs on one scale.
func New(st Story, o report.Options) *report.Document {
	b := recorded.Of(st.Before, o)
	d := &report.Document{
		Kind: report.KindStory, Project: st.Before.Run.Project, Name: b.Name(), File: o.File,
		Title:  strings.TrimSpace(st.Before.Run.Project + " from broken to fixed"),
		Footer: report.FooterOf(o, st.Before.Run.Version),
	}
	recording.DescribeRun(d, b)
	own := d.Verdict
	d.Verdict = st.Verdict
	if st.After != nil {
		a := recorded.Of(st.After, o)
		d.Name = b.Name() + " → " + a.Name()
		d.Alerts = append(named(b.Name(), d.Alerts), named(a.Name(), recording.AlertsOf(a))...)
		d.Facts = storyFacts(a, d.Facts)
		if len(o.Commands) == 0 {
			d.Commands = append(d.Commands, "kasoku show "+a.Name(), "kasoku compare "+b.Name()+" "+a.Name())
		}
	}
	if d.Verdict == "" && st.Comparison != nil {
		d.Verdict = st.Comparison.Verdict
	}
	if d.Verdict == "" {
		d.Verdict = own
	}
	d.PutSection(o, "causes", func() report.Section { return causesSection(b) })
	d.PutSection(o, "tries", func() report.Section { return triesSection(st) })
	addCompared(d, o, st)
	d.PutSection(o, "timelines", func() report.Section { return bothTimelines(b, st.After) })
	d.PutSection(o, "steps", func() report.Section { return bothSteps(b, st.After) })
	d.PutSection(o, "endpoints", func() report.Section { return ofBefore(recording.EndpointsSection(b)) })
	d.PutSection(o, "messages", func() report.Section { return ofBefore(recording.MessagesSection(b)) })
	d.PutSection(o, "warnings", func() report.Section { return bothWarnings(b, st) })
	return d
}

// ofBefore marks a section of the run before.
func ofBefore(s report.Section) report.Section {
	if s.Sub != "" {
		s.Sub = "Before. " + s.Sub
	}
	return s
}

// addCompared adds what the comparison says, the findings last as what is left.
func addCompared(d *report.Document, o report.Options, st Story) {
	c := st.Comparison
	if c == nil {
		return
	}
	d.PutSection(o, "moved", func() report.Section {
		s := comparison.MovedSection(c)
		s.Title, s.Short = "All fixes together: what moved", "What moved"
		return s
	})
	d.PutSection(o, "latency", func() report.Section { return comparison.LatencySection(c) })
	d.PutSection(o, "left", func() report.Section {
		s := comparison.FindingsMoved(c)
		s.ID, s.Title = "left", "What is left"
		return s
	})
	d.PutSection(o, "settings", func() report.Section { return comparison.SettingsSection(c) })
	d.PutSection(o, "queries-moved", func() report.Section { return comparison.QueriesMoved(c) })
}

// causesSection are the findings of the run that broke.
func causesSection(r recorded.View) report.Section {
	s := findings.Section(r)
	s.Title, s.Short = "Findings before", "Findings"
	return s
}

// storyFacts puts both results and row checks among the facts.
func storyFacts(r recorded.View, before []report.Fact) []report.Fact {
	var out []report.Fact
	for _, f := range before {
		if f.Label == "Result" || f.Label == "Check" {
			f.Label += " before"
		}
		out = append(out, f)
	}
	for _, f := range recording.FactsOf(r) {
		if f.Label == "Result" || f.Label == "Check" {
			f.Label += " after"
			out = append(out, f)
		}
	}
	return out
}

// triesSection describes what each change did alone.
func triesSection(st Story) report.Section {
	s := report.Section{ID: report.SectionTries, Title: "Each fix tried alone", Short: "Fixes", Count: len(st.Tries)}
	if len(st.Tries) == 0 {
		return s
	}
	s.Sub = "At the rate of the step that broke. **fixes it**: success rose to at least 99.9 % and p99 did not " +
		"rise. **better** and **worse**: success moved by a point or more, or else p99 by ×1.25 or more, beyond the interval. **no effect**: neither did."
	for _, t := range st.Tries {
		if t.Effect != nil && t.Effect.PerSec > 0 {
			s.Sub = report.Prose(strings.Replace(string(s.Sub), "At the rate of the step that broke.",
				"At "+unit.PerSec(t.Effect.PerSec)+", the rate of the step that broke.", 1))
			break
		}
	}
	s.Blocks = []report.Block{triesTable(st)}
	return s
}

func triesTable(st Story) *report.Table {
	var ds []time.Duration
	for _, t := range st.Tries {
		if t.Effect != nil {
			ds = append(ds, cell.AsDuration(t.Effect.P99.Before.Value), cell.AsDuration(t.Effect.P99.After.Value))
		}
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "tries", Columns: []report.Column{
		{Key: "change", Head: "change", Code: true, Cut: true},
		{Key: "finding", Head: "for", Code: true},
		{Key: "success_ratio", Head: "success", Unit: "%", Align: report.Decimal},
		{Key: "success_change", Head: "change", Align: report.Right, Drop: 1},
		{Key: "interval", Head: "95 % interval", Unit: "points", Align: report.Right, Drop: 3},
		{Key: "p99_s", Head: "p99", Unit: unit.Name(u), Align: report.Decimal},
		{Key: "p99_change", Head: "change", Align: report.Right, Drop: 2},
		{Key: "verdict", Head: "verdict", Tag: true},
	}}
	first := true
	for _, x := range st.Tries {
		if x.Effect != nil && first {
			t.Rows = append(t.Rows, baseline(x.Effect, u))
			first = false
		}
		t.Rows = append(t.Rows, report.Row{Cells: tryCells(x, u)})
	}
	if c := st.Comparison; c != nil {
		if s, p := c.Row("success"), c.Row("latency.p99"); s != nil && p != nil {
			t.Rows = append(t.Rows, together(s, p, u))
		}
	}
	return t
}

// baseline is the step as it was.
func baseline(e *compare.EffectResult, u time.Duration) report.Row {
	success := cell.Percent(e.Success.Before.Value)
	share := e.Success.Before.Value
	success.Share, success.Tone = &share, report.Bad
	return report.Row{Cells: []report.Cell{{Text: "as it is", Tone: report.Dim}, cell.Text(""), success, cell.Text(""),
		cell.Text(""), side(e.P99.Before, u), cell.Text(""), cell.Text("before")}}
}

func side(v compare.Value, u time.Duration) report.Cell {
	if !v.OK {
		return cell.None()
	}
	return cell.Duration(cell.AsDuration(v.Value), u)
}

func tryCells(x Try, u time.Duration) []report.Cell {
	name := cell.Text(x.Change)
	if x.Control {
		name.Small = "control"
	}
	if x.Effect == nil {
		return []report.Cell{name, cell.Text(x.Finding), cell.None(), cell.None(), cell.None(), cell.None(),
			cell.None(), {Text: "not measured: " + x.Failed, Tone: report.Mark}}
	}
	e := x.Effect
	return []report.Cell{
		name, cell.Text(x.Finding),
		successCell(e.Success.After.Value), {Text: comparison.Change(e.Success)}, {Text: comparison.Interval(e.Success), Tone: report.Dim},
		side(e.P99.After, u), {Text: comparison.Change(e.P99)}, verdictCell(e.Verdict),
	}
}

func together(s, p *compare.Row, u time.Duration) report.Row {
	return report.Row{Cells: []report.Cell{
		{Text: "all together",
			Tone: report.Strong}, cell.Text(""), successCell(s.After.Value), {Text: comparison.Change(*s)}, {Text: comparison.Interval(*s), Tone: report.Dim},
		side(p.After, u), {Text: comparison.Change(*p)}, cell.Text("after"),
	}}
}

func successCell(ratio float64) report.Cell {
	c := cell.Percent(ratio)
	c.Share = &ratio
	if ratio < compare.FailsBelow {
		c.Tone = report.Bad
	}
	return c
}

func verdictCell(j compare.Judgement) report.Cell {
	c := report.Cell{Text: string(j), Tone: report.Dim}
	switch j {
	case compare.Fixes, compare.Improves:
		c.Tone = report.Good
	case compare.Harms:
		c.Tone = report.Bad
	}
	return c
}

// bothTimelines shows both runs, charts of the same kind on the same scale.
func bothTimelines(r recorded.View, after *kasoku.Recording) report.Section {
	s := timeline.Section(r)
	if after == nil || len(s.Blocks) == 0 {
		return s
	}
	other := timeline.Section(recorded.Of(after, r.Options))
	if len(other.Blocks) == 0 {
		return s
	}
	b, okB := s.Blocks[0].(*report.Timeline)
	a, okA := other.Blocks[0].(*report.Timeline)
	if !okB || !okA {
		return s
	}
	b.Title, a.Title = "Before", "After"
	numberAs(a, b)
	a.ID = "timeline-after"
	shareScales(b, a)
	s.Sub += " Charts of the same kind share their scale."
	s.Blocks = []report.Block{b, a}
	return s
}

// numberAs numbers the marks of a lane as another timeline does, whose findings are
// those that the page lists; what that one does not have is left out.
func numberAs(t, o *report.Timeline) {
	var lane []report.LaneMark
	t.Rows = 0
	for _, m := range t.Lane {
		i := slices.IndexFunc(o.Lane, func(x report.LaneMark) bool { return x.ID == m.ID })
		if i >= 0 {
			m.Number = o.Lane[i].Number
			lane = append(lane, m)
			t.Rows = max(t.Rows, m.Row+1)
		}
	}
	t.Lane = lane
}

// shareScales gives charts of the same kind the axis of the larger one.
func shareScales(b, a *report.Timeline) {
	for i := range b.Charts {
		for k := range a.Charts {
			x, y := &b.Charts[i], &a.Charts[k]
			if x.ID != y.ID {
				continue
			}
			x.Axis, y.Axis = sharedAxis(x, y), sharedAxis(y, x)
			if x.Linear != nil && y.Linear != nil {
				l := *x.Linear
				if y.Linear.Top > l.Top {
					l = *y.Linear
				}
				x.Linear, y.Linear = &l, &l
			}
		}
	}
}

func sharedAxis(x, y *report.Chart) report.Axis {
	if x.Log && y.Log {
		lo, hi := min(x.Bottom, y.Bottom), max(x.Top, y.Top)
		return report.LogAxis(lo/0.6, hi/1.45, report.LatencyLabel)
	}
	if y.Top > x.Top {
		return y.Axis
	}
	return x.Axis
}

func bothSteps(r recorded.View, after *kasoku.Recording) report.Section {
	s := recording.StepsSection(r)
	if after == nil || len(s.Blocks) == 0 {
		return s
	}
	for _, b := range s.Blocks {
		if t, ok := b.(*report.Table); ok {
			t.Title = strings.TrimSuffix("Before, "+strings.ToLower(t.Title), ", ")
		}
	}
	for _, b := range recording.StepsSection(recorded.Of(after, r.Options)).Blocks {
		if t, ok := b.(*report.Table); ok {
			t.Title = strings.TrimSuffix("After, "+strings.ToLower(t.Title), ", ")
			t.ID += "-after"
			s.Blocks = append(s.Blocks, t)
		}
	}
	return s
}

// bothWarnings joins the warnings of the comparison and of both runs.
func bothWarnings(r recorded.View, st Story) report.Section {
	s := recording.WarningsSection(r)
	n := &report.Notes{}
	add := func(from string, x report.Section) {
		for _, b := range x.Blocks {
			if notes, ok := b.(*report.Notes); ok {
				for _, note := range notes.List {
					if from != "" {
						note.Label += ", " + from
					}
					n.List = append(n.List, note)
				}
			}
		}
	}
	s.Count = 0
	if st.Comparison != nil {
		w := comparison.WarningsSection(st.Comparison)
		add("", w)
		s.Count += w.Count
	}
	before := recording.WarningsSection(r)
	add("before", before)
	s.Count += before.Count
	if st.After != nil {
		after := recording.WarningsSection(recorded.Of(st.After, r.Options))
		add("after", after)
		s.Count += after.Count
	}
	if s.Blocks = nil; len(n.List) > 0 {
		s.Blocks = []report.Block{n}
	}
	return s
}

// named says of which run alerts speak.
func named(run string, alerts []report.Alert) []report.Alert {
	for i := range alerts {
		alerts[i].Text = run + ": " + alerts[i].Text
	}
	return alerts
}
