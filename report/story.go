package report

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
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

// Tell returns a story in one document: the cause, what each fix did alone, what
// they did together, and both runs on one scale.
func Tell(st Story, o Options) *Document {
	b := viewOf(st.Before, o)
	d := &Document{
		Kind: KindStory, Project: st.Before.Run.Project, Name: b.name(), File: o.File,
		Title:  strings.TrimSpace(st.Before.Run.Project + " from broken to fixed"),
		Footer: footer(o, st.Before.Run.Version),
	}
	DescribeRun(d, b)
	own := d.Verdict
	d.Verdict = st.Verdict
	if st.After != nil {
		a := viewOf(st.After, o)
		d.Name = b.name() + " → " + a.name()
		d.Alerts = append(named(b.name(), d.Alerts), named(a.name(), alertsOf(a))...)
		d.Facts = storyFacts(a, d.Facts)
		if len(o.Commands) == 0 {
			d.Commands = append(d.Commands, "kasoku show "+a.name(), "kasoku compare "+b.name()+" "+a.name())
		}
	}
	if d.Verdict == "" && st.Comparison != nil {
		d.Verdict = st.Comparison.Verdict
	}
	if d.Verdict == "" {
		d.Verdict = own
	}
	d.put(o, "causes", func() Section { return causesSection(b) })
	d.put(o, "tries", func() Section { return triesSection(st) })
	addCompared(d, o, st)
	d.put(o, "timelines", func() Section { return bothTimelines(b, st.After) })
	d.put(o, "steps", func() Section { return bothSteps(b, st.After) })
	d.put(o, "endpoints", func() Section { return ofBefore(EndpointsSection(b)) })
	d.put(o, "messages", func() Section { return ofBefore(MessagesSection(b)) })
	d.put(o, "warnings", func() Section { return bothWarnings(b, st) })
	return d
}

// ofBefore marks a section of the run before.
func ofBefore(s Section) Section {
	if s.Sub != "" {
		s.Sub = "Before. " + s.Sub
	}
	return s
}

// addCompared adds what the comparison says, the findings last as what is left.
func addCompared(d *Document, o Options, st Story) {
	c := st.Comparison
	if c == nil {
		return
	}
	d.put(o, "moved", func() Section {
		s := movedSection(c)
		s.Title, s.Short = "All fixes together: what moved", "What moved"
		return s
	})
	d.put(o, "latency", func() Section { return latencySection(c) })
	d.put(o, "left", func() Section {
		s := findingsMoved(c)
		s.ID, s.Title = "left", "What is left"
		return s
	})
	d.put(o, "settings", func() Section { return settingsSection(c) })
	d.put(o, "queries-moved", func() Section { return queriesMoved(c) })
}

// causesSection are the findings of the run that broke.
func causesSection(r rec) Section {
	s := FindingsSection(r)
	s.Title, s.Short = "Findings before", "Findings"
	return s
}

// storyFacts puts both results and row checks among the facts.
func storyFacts(r rec, before []Fact) []Fact {
	var out []Fact
	for _, f := range before {
		if f.Label == "Result" || f.Label == "Check" {
			f.Label += " before"
		}
		out = append(out, f)
	}
	for _, f := range factsOf(r) {
		if f.Label == "Result" || f.Label == "Check" {
			f.Label += " after"
			out = append(out, f)
		}
	}
	return out
}

// triesSection says what each change did alone.
func triesSection(st Story) Section {
	s := Section{ID: SectionTries, Title: "Each fix tried alone", Short: "Fixes", Count: len(st.Tries)}
	if len(st.Tries) == 0 {
		return s
	}
	s.Sub = "At the rate of the step that broke. **fixes it**: success rose to at least 99.9 % and p99 did not rise. **better** and **worse**: success moved by a point or more, or else p99 by ×1.25 or more, beyond the interval. **no effect**: neither did."
	for _, t := range st.Tries {
		if t.Effect != nil && t.Effect.PerSec > 0 {
			s.Sub = Prose(strings.Replace(string(s.Sub), "At the rate of the step that broke.", "At "+unit.PerSec(t.Effect.PerSec)+", the rate of the step that broke.", 1))
			break
		}
	}
	s.Blocks = []Block{triesTable(st)}
	return s
}

func triesTable(st Story) *Table {
	var ds []time.Duration
	for _, t := range st.Tries {
		if t.Effect != nil {
			ds = append(ds, asDuration(t.Effect.P99.Before.Value), asDuration(t.Effect.P99.After.Value))
		}
	}
	u := commonUnit(ds...)
	t := &Table{ID: "tries", Columns: []Column{
		{Key: "change", Head: "change", Code: true, Cut: true},
		{Key: "finding", Head: "for", Code: true},
		{Key: "success_ratio", Head: "success", Unit: "%", Align: Decimal},
		{Key: "success_change", Head: "change", Align: Right, Drop: 1},
		{Key: "interval", Head: "95 % interval", Unit: "points", Align: Right, Drop: 3},
		{Key: "p99_s", Head: "p99", Unit: unit.Name(u), Align: Decimal},
		{Key: "p99_change", Head: "change", Align: Right, Drop: 2},
		{Key: "verdict", Head: "verdict", Tag: true},
	}}
	first := true
	for _, x := range st.Tries {
		if x.Effect != nil && first {
			t.Rows = append(t.Rows, baseline(x.Effect, u))
			first = false
		}
		t.Rows = append(t.Rows, Row{Cells: tryCells(x, u)})
	}
	if c := st.Comparison; c != nil {
		if s, p := c.Row("success"), c.Row("latency.p99"); s != nil && p != nil {
			t.Rows = append(t.Rows, together(s, p, u))
		}
	}
	return t
}

// baseline is the step as it was.
func baseline(e *compare.EffectResult, u time.Duration) Row {
	success := percent(e.Success.Before.Value)
	share := e.Success.Before.Value
	success.Share, success.Tone = &share, Bad
	return Row{Cells: []Cell{{Text: "as it is", Tone: Dim}, text(""), success, text(""), text(""), side(e.P99.Before, u), text(""), text("before")}}
}

func side(v compare.Value, u time.Duration) Cell {
	if !v.OK {
		return none()
	}
	return duration(asDuration(v.Value), u)
}

func tryCells(x Try, u time.Duration) []Cell {
	name := text(x.Change)
	if x.Control {
		name.Small = "control"
	}
	if x.Effect == nil {
		return []Cell{name, text(x.Finding), none(), none(), none(), none(), none(), {Text: "not measured: " + x.Failed, Tone: Mark}}
	}
	e := x.Effect
	return []Cell{
		name, text(x.Finding),
		successCell(e.Success.After.Value), {Text: change(e.Success)}, {Text: interval(e.Success), Tone: Dim},
		side(e.P99.After, u), {Text: change(e.P99)}, verdictCell(e.Verdict),
	}
}

func together(s, p *compare.Row, u time.Duration) Row {
	return Row{Cells: []Cell{
		{Text: "all together", Tone: Strong}, text(""), successCell(s.After.Value), {Text: change(*s)}, {Text: interval(*s), Tone: Dim},
		side(p.After, u), {Text: change(*p)}, text("after"),
	}}
}

func successCell(ratio float64) Cell {
	c := percent(ratio)
	c.Share = &ratio
	if ratio < compare.FailsBelow {
		c.Tone = Bad
	}
	return c
}

func verdictCell(j compare.Judgement) Cell {
	c := Cell{Text: string(j), Tone: Dim}
	switch j {
	case compare.Fixes, compare.Improves:
		c.Tone = Good
	case compare.Harms:
		c.Tone = Bad
	}
	return c
}

// bothTimelines shows both runs, charts of the same kind on the same scale.
func bothTimelines(r rec, after *kasoku.Recording) Section {
	s := TimelineSection(r)
	if after == nil || len(s.Blocks) == 0 {
		return s
	}
	other := TimelineSection(viewOf(after, r.o))
	if len(other.Blocks) == 0 {
		return s
	}
	b, okB := s.Blocks[0].(*Timeline)
	a, okA := other.Blocks[0].(*Timeline)
	if !okB || !okA {
		return s
	}
	b.Title, a.Title = "Before", "After"
	numberAs(a, b)
	a.ID = "timeline-after"
	shareScales(b, a)
	s.Sub += " Charts of the same kind share their scale."
	s.Blocks = []Block{b, a}
	return s
}

// numberAs numbers the marks of a lane as another timeline does, whose findings are
// those that the page lists; what that one does not have is left out.
func numberAs(t, o *Timeline) {
	var lane []LaneMark
	t.Rows = 0
	for _, m := range t.Lane {
		i := slices.IndexFunc(o.Lane, func(x LaneMark) bool { return x.ID == m.ID })
		if i >= 0 {
			m.Number = o.Lane[i].Number
			lane = append(lane, m)
			t.Rows = max(t.Rows, m.Row+1)
		}
	}
	t.Lane = lane
}

// shareScales gives charts of the same kind the axis of the larger one.
func shareScales(b, a *Timeline) {
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

func sharedAxis(x, y *Chart) Axis {
	if x.Log && y.Log {
		lo, hi := min(x.Bottom, y.Bottom), max(x.Top, y.Top)
		return logAxis(lo/0.6, hi/1.45, axisLatency)
	}
	if y.Top > x.Top {
		return y.Axis
	}
	return x.Axis
}

func bothSteps(r rec, after *kasoku.Recording) Section {
	s := StepsSection(r)
	if after == nil || len(s.Blocks) == 0 {
		return s
	}
	for _, b := range s.Blocks {
		if t, ok := b.(*Table); ok {
			t.Title = strings.TrimSuffix("Before, "+strings.ToLower(t.Title), ", ")
		}
	}
	for _, b := range StepsSection(viewOf(after, r.o)).Blocks {
		if t, ok := b.(*Table); ok {
			t.Title = strings.TrimSuffix("After, "+strings.ToLower(t.Title), ", ")
			t.ID += "-after"
			s.Blocks = append(s.Blocks, t)
		}
	}
	return s
}

// bothWarnings joins the warnings of the comparison and of both runs.
func bothWarnings(r rec, st Story) Section {
	s := WarningsSection(r)
	n := &Notes{}
	add := func(from string, x Section) {
		for _, b := range x.Blocks {
			if notes, ok := b.(*Notes); ok {
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
		w := comparisonWarnings(st.Comparison)
		add("", w)
		s.Count += w.Count
	}
	before := WarningsSection(r)
	add("before", before)
	s.Count += before.Count
	if st.After != nil {
		after := WarningsSection(viewOf(st.After, r.o))
		add("after", after)
		s.Count += after.Count
	}
	if s.Blocks = nil; len(n.List) > 0 {
		s.Blocks = []Block{n}
	}
	return s
}

// named says of which run alerts speak.
func named(run string, alerts []Alert) []Alert {
	for i := range alerts {
		alerts[i].Text = run + ": " + alerts[i].Text
	}
	return alerts
}
