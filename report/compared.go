package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
)

// Compare shows two runs side by side.
func Compare(c *compare.Comparison, o Options) *Document {
	b, a := viewOf(&kasoku.Recording{Run: c.Before.Run()}, o), viewOf(&kasoku.Recording{Run: c.After.Run()}, o)
	project := cmp.Or(a.Run.Project, b.Run.Project)
	d := &Document{
		Kind: KindCompare, Project: project, Name: c.Before.Name() + " → " + c.After.Name(), File: o.File,
		Title: strings.TrimSpace(project + " " + c.Before.Name() + " → " + c.After.Name()),
		Sides: &Sides{Before: sideFacts(b, c.Before), After: sideFacts(a, c.After)}, Verdict: c.Verdict,
		Commands: o.Commands, Footer: footer(o, a.Run.Version),
	}
	d.Head = []string{strings.TrimPrefix(project+" / "+d.Name, " / "), revisions(b, a), bothHosts(c)}
	if len(d.Commands) == 0 {
		d.Commands = []string{"kasoku compare " + c.Before.Name() + " " + c.After.Name()}
	}
	d.put(o, "moved", func() Section { return movedSection(c) })
	d.put(o, "runs", func() Section { return runsSection(c) })
	d.put(o, "latency", func() Section { return latencySection(c) })
	d.put(o, "settings", func() Section { return settingsSection(c) })
	d.put(o, "endpoints-moved", func() Section { return endpointsMoved(c) })
	d.put(o, "queries-moved", func() Section { return queriesMoved(c) })
	d.put(o, "transactions-moved", func() Section { return transactionsMoved(c) })
	d.put(o, "plans-moved", func() Section { return plansMoved(c) })
	d.put(o, "profiles-moved", func() Section { return profilesMoved(c) })
	d.put(o, "findings-moved", func() Section { return findingsMoved(c) })
	d.put(o, "advice-moved", func() Section { return adviceMoved(c) })
	d.put(o, "comparisonWarnings", func() Section { return comparisonWarnings(c) })
	return d
}

func sideFacts(r rec, s compare.Side) SideFacts {
	f := SideFacts{Name: s.Name(), Code: r.code(), When: day(r.wall(0)) + ", " + r.lasted(), Host: r.host().Name,
		File: r.Run.ID, Runs: len(s.Runs)}
	if n := len(s.Runs); n > 1 {
		last := viewOf(&kasoku.Recording{Run: s.Runs[n-1]}, r.o)
		f.When = day(r.wall(0)) + " – " + last.clock(0)
	}
	return f
}

// revisions names the code of both sides: 4f2c91e → 9b07d3a, or once when it is the
// same.
func revisions(b, a rec) string {
	x, y := b.Run.Revision, a.Run.Revision
	if x == y {
		return x
	}
	return cmp.Or(x, unit.Missing) + " → " + cmp.Or(y, unit.Missing)
}

func bothHosts(c *compare.Comparison) string {
	b, a := c.Before.Run().Hosts, c.After.Run().Hosts
	switch {
	case len(b) == 0 || len(a) == 0:
		return ""
	case b[0].Name != a[0].Name:
		return b[0].Name + " → " + a[0].Name
	case b[0].BootID == a[0].BootID:
		return a[0].Name + ", same boot"
	}
	return a[0].Name + ", restarted between"
}

func movedSection(c *compare.Comparison) Section {
	s := Section{ID: SectionMoved, Title: "What moved"}
	if len(c.Groups) == 0 {
		return s
	}
	if !c.Single() {
		s.Sub = "Medians, one figure a run, and the 95 % interval of the shift. **better** and **worse**: p of the Mann-Whitney test is 0.05 or less. **noise**: no difference shown, which is not the same as none. The column noise: what two unchanged runs differ by in 19 of 20 cases."
		s.Blocks = []Block{moves(c)}
		return s
	}
	s.Sub = "**better** and **worse**: the 95 % interval leaves out no change, and the change is 5 % or more. **unsure**: anything else, which is not the same as none."
	if c.Floor != nil {
		s.Sub += " What unchanged runs differ by is no change either."
	}
	if c.Block > 0 {
		s.Sub += Prose(" Block bootstrap, " + unit.Count(c.Resamples) + " draws of blocks of " + unit.Count(c.Block) +
			" s, seed " + unit.Count(c.Seed) + ".")
	}
	s.Blocks = []Block{moves(c)}
	return s
}

func latencySection(c *compare.Comparison) Section {
	s := Section{ID: SectionLatency, Title: "Latency", Short: "Latency", Sub: "By percentile, log scale."}
	if len(c.Curve) == 0 {
		return s
	}
	if c.PerSec > 0 {
		s.Title += " at " + unit.PerSec(c.PerSec)
	}
	k := &Curve{}
	var all []float64
	t := &Table{ID: "percentiles", Narrow: true, Columns: []Column{{Key: "percentile", Head: "percentile"}}}
	var ds []time.Duration
	for _, q := range c.Curve {
		k.Names = append(k.Names, q.Name)
		k.Before, k.After = append(k.Before, q.Before*1e3), append(k.After, q.After*1e3)
		all = append(all, q.Before*1e3, q.After*1e3)
		ds = append(ds, asDuration(q.Before), asDuration(q.After))
	}
	u := commonUnit(ds...)
	for _, head := range []string{"before", "after"} {
		t.Columns = append(t.Columns, Column{Key: head + "_s", Head: head, Unit: unit.Name(u), Align: Decimal})
	}
	t.Columns = append(t.Columns, Column{Key: "change", Head: "change", Align: Right})
	for _, q := range c.Curve {
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(q.Name), duration(asDuration(q.Before), u),
			duration(asDuration(q.After), u), text(unit.Change(q.Before, q.After))}})
	}
	axis := logAxis(least(all), most(all), axisLatency)
	k.Bottom, k.Top, k.Ticks = axis.Bottom, axis.Top, axis.Ticks
	s.Blocks = []Block{k, t}
	return s
}

func settingsSection(c *compare.Comparison) Section {
	s := Section{ID: SectionConfig, Title: "Configuration"}
	if n := changedBeside(c); n != nil {
		s.Blocks = append(s.Blocks, n)
	}
	if len(c.Settings) == 0 {
		if c.SettingsEqual > 0 {
			s.Blocks = append(s.Blocks, Para{Text: Prose("None of " + unit.Counted(c.SettingsEqual, "setting",
				"settings") + " differs.")})
		}
		s.Blocks = append(s.Blocks, configDiffs(c.Configs)...)
		return s
	}
	s.Count = len(c.Settings)
	s.Sub = Prose(unit.Counted(len(c.Settings), "setting differs", "settings differ") + " between the sides, " +
		unit.Count(c.SettingsEqual) + " are equal.")
	if len(c.Changes) > 1 {
		s.Sub += " They changed together, so their effects cannot be told apart here."
		if len(c.Settings) == 1 {
			s.Sub = Prose(strings.Replace(string(s.Sub), "They changed together", "It did not change alone", 1))
		}
	}
	p := &Pairs{}
	for _, x := range c.Settings {
		pair := Pair{x.Name, x.Before, x.After}
		if x.OnlyBefore {
			pair.After = unit.Missing
		}
		if x.OnlyAfter {
			pair.Before = unit.Missing
		}
		p.List = append(p.List, pair)
	}
	s.Blocks = append(append(s.Blocks, p), configDiffs(c.Configs)...)
	return s
}

// changedBeside lists what was changed and is no setting.
func changedBeside(c *compare.Comparison) *Notes {
	n := &Notes{}
	for _, x := range c.Changes {
		if x.Kind == compare.SettingChanged {
			continue
		}
		text := x.Name
		if x.Before != "" || x.After != "" {
			text = strings.TrimSpace(x.Name + " " + cmp.Or(x.Before, unit.Missing) + " → " + cmp.Or(x.After,
				unit.Missing))
		}
		n.List = append(n.List, Note{Sign: "·", Tone: Dim, Label: string(x.Kind), Text: text})
	}
	if len(n.List) == 0 {
		return nil
	}
	return n
}

// findingsMoved says what became of the findings.
func findingsMoved(c *compare.Comparison) Section {
	s := Section{ID: SectionFindings, Title: "Findings", Sub: "What was diagnosed before, and what is left.",
		Count: len(c.Findings)}
	n := &Notes{}
	for _, f := range c.Findings {
		note := Note{Label: f.ID, Code: true, Sign: "·", Tone: Dim, Text: Sentence(string(f.State)) + ". " + f.Title}
		switch f.State {
		case compare.Gone:
			note.Sign, note.Tone = "✓", Good
		case compare.New:
			note.Sign, note.Tone = "!", Mark
		case compare.Left:
			note.Text = "Still there. " + f.Title
			if r := f.After.Risk(); r == kasoku.RiskDurability || r == kasoku.RiskSemantics {
				note.Text += "; its fix is a risk to " + string(r)
			}
		case compare.Unseen:
			note.Sign, note.Tone = "!", Mark
		}
		if f.Why != "" {
			note.Text += ": " + f.Why
		}
		n.List = append(n.List, note)
	}
	if len(n.List) > 0 {
		s.Blocks = []Block{n}
	}
	return s
}

func comparisonWarnings(c *compare.Comparison) Section {
	s := Section{ID: SectionWarnings, Title: "Warnings", Sub: "What limits the trust in this report.",
		Count: len(c.Warnings)}
	n := &Notes{}
	for _, w := range c.Warnings {
		n.List = append(n.List, Note{Sign: "!", Tone: Mark, Label: label(w.Code), Text: w.Text, Hint: Prose(w.Hint)})
	}
	if len(n.List) > 0 {
		s.Blocks = []Block{n}
	}
	return s
}
