package comparison

import (
	"cmp"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/profiles"
	"github.com/kasoku/kasoku/report/recorded"
)

// Compare shows two runs side by side.
func Compare(c *compare.Comparison, o report.Options) *report.Document {
	b, a := recorded.Of(&kasoku.Recording{Run: c.Before.Run()}, o), recorded.Of(&kasoku.Recording{Run: c.After.Run()},
		o)
	project := cmp.Or(a.Run.Project, b.Run.Project)
	d := &report.Document{
		Kind: report.KindCompare, Project: project, Name: c.Before.Name() + " → " + c.After.Name(), File: o.File,
		Title: strings.TrimSpace(project + " " + c.Before.Name() + " → " + c.After.Name()),
		Sides: &report.Sides{Before: sideFacts(b, c.Before), After: sideFacts(a, c.After)}, Verdict: c.Verdict,
		Commands: o.Commands, Footer: report.FooterOf(o, a.Run.Version),
	}
	d.Head = []string{strings.TrimPrefix(project+" / "+d.Name, " / "), revisions(b, a), bothHosts(c)}
	if len(d.Commands) == 0 {
		d.Commands = []string{"kasoku compare " + c.Before.Name() + " " + c.After.Name()}
	}
	d.PutSection(o, "moved", func() report.Section { return MovedSection(c) })
	d.PutSection(o, "runs", func() report.Section { return runsSection(c) })
	d.PutSection(o, "latency", func() report.Section { return LatencySection(c) })
	d.PutSection(o, "settings", func() report.Section { return SettingsSection(c) })
	d.PutSection(o, "endpoints-moved", func() report.Section { return endpointsMoved(c) })
	d.PutSection(o, "queries-moved", func() report.Section { return QueriesMoved(c) })
	d.PutSection(o, "transactions-moved", func() report.Section { return transactionsMoved(c) })
	d.PutSection(o, "plans-moved", func() report.Section { return plansMoved(c) })
	d.PutSection(o, "profiles-moved", func() report.Section { return profiles.MovedSection(c) })
	d.PutSection(o, "findings-moved", func() report.Section { return FindingsMoved(c) })
	d.PutSection(o, "advice-moved", func() report.Section { return adviceMoved(c) })
	d.PutSection(o, "comparisonWarnings", func() report.Section { return WarningsSection(c) })
	return d
}

func sideFacts(r recorded.View, s compare.Side) report.SideFacts {
	f := report.SideFacts{Name: s.Name(), Code: r.Code(), When: report.FormatDay(r.Wall(0)) + ", " + r.Lasted(),
		Host: r.Host().Name,
		File: r.Run.ID, Runs: len(s.Runs)}
	if n := len(s.Runs); n > 1 {
		last := recorded.Of(&kasoku.Recording{Run: s.Runs[n-1]}, r.Options)
		f.When = report.FormatDay(r.Wall(0)) + " – " + last.Clock(0)
	}
	return f
}

// revisions names the code of both sides: 4f2c91e → 9b07d3a, or once when it is the
// same.
func revisions(b, a recorded.View) string {
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

// MovedSection shows the figures of both sides and how sure each difference is.
func MovedSection(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionMoved, Title: "What moved"}
	if len(c.Groups) == 0 {
		return s
	}
	if !c.Single() {
		s.Sub = "Medians, one figure a run, and the 95 % interval of the shift. **better** and **worse**: p of the " +
			"Mann-Whitney test is 0.05 or less. **noise**: no difference shown, which is not the same as none. The column noise: what two unchanged runs differ by in 19 of 20 cases."
		s.Blocks = []report.Block{moves(c)}
		return s
	}
	s.Sub = "**better** and **worse**: the 95 % interval leaves out no change, and the change is 5 % or more. " +
		"**unsure**: anything else, which is not the same as none."
	if c.Floor != nil {
		s.Sub += " What unchanged runs differ by is no change either."
	}
	if c.Drawn.Block > 0 {
		s.Sub += report.Prose(" Block bootstrap, " + unit.Count(c.Drawn.Resamples) + " draws of blocks of " +
			unit.Count(c.Drawn.Block) +
			" s, seed " + unit.Count(c.Drawn.Seed) + ".")
	}
	s.Blocks = []report.Block{moves(c)}
	return s
}

// LatencySection shows the latency of both sides by percentile, as a curve and a table.
func LatencySection(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionLatency, Title: "Latency", Short: "Latency", Sub: "By percentile, log scale."}
	if len(c.Curve) == 0 {
		return s
	}
	if c.PerSec > 0 {
		s.Title += " at " + unit.PerSec(c.PerSec)
	}
	k := &report.Curve{}
	var all []float64
	t := &report.Table{ID: "percentiles", Narrow: true, Columns: []report.Column{{Key: "percentile",
		Head: "percentile"}}}
	var ds []time.Duration
	for _, q := range c.Curve {
		k.Names = append(k.Names, q.Name)
		k.Before, k.After = append(k.Before, q.Before*1e3), append(k.After, q.After*1e3)
		all = append(all, q.Before*1e3, q.After*1e3)
		ds = append(ds, cell.AsDuration(q.Before), cell.AsDuration(q.After))
	}
	u := cell.CommonUnit(ds...)
	for _, head := range []string{"before", "after"} {
		t.Columns = append(t.Columns, report.Column{Key: head + "_s", Head: head, Unit: unit.Name(u),
			Align: report.Decimal})
	}
	t.Columns = append(t.Columns, report.Column{Key: "change", Head: "change", Align: report.Right})
	for _, q := range c.Curve {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(q.Name),
			cell.Duration(cell.AsDuration(q.Before), u),
			cell.Duration(cell.AsDuration(q.After), u), cell.Text(unit.Change(q.Before, q.After))}})
	}
	axis := report.LogAxis(report.Smallest(all), report.Largest(all), report.LatencyLabel)
	k.Bottom, k.Top, k.Ticks = axis.Bottom, axis.Top, axis.Ticks
	s.Blocks = []report.Block{k, t}
	return s
}

// SettingsSection lists the settings that differ between the sides, and how the
// texts of their configuration differ.
func SettingsSection(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionConfig, Title: "Configuration"}
	if n := changedBeside(c); n != nil {
		s.Blocks = append(s.Blocks, n)
	}
	if len(c.Settings) == 0 {
		if c.SettingsEqual > 0 {
			s.Blocks = append(s.Blocks, report.Para{Text: report.Prose("None of " +
				unit.Counted(c.SettingsEqual, "setting",
					"settings") + " differs.")})
		}
		s.Blocks = append(s.Blocks, configDiffs(c.Configs)...)
		return s
	}
	s.Count = len(c.Settings)
	s.Sub = report.Prose(unit.Counted(len(c.Settings), "setting differs", "settings differ") + " between the sides, " +
		unit.Count(c.SettingsEqual) + " are equal.")
	if len(c.Changes) > 1 {
		s.Sub += " They changed together, so their effects cannot be distinguished here."
		if len(c.Settings) == 1 {
			s.Sub = report.Prose(strings.Replace(string(s.Sub), "They changed together", "It did not change alone", 1))
		}
	}
	p := &report.Pairs{}
	for _, x := range c.Settings {
		pair := report.Pair{Name: x.Name, Before: x.Before, After: x.After}
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
func changedBeside(c *compare.Comparison) *report.Notes {
	n := &report.Notes{}
	for _, x := range c.Changes {
		if x.Kind == compare.SettingChanged {
			continue
		}
		text := x.Name
		if x.Before != "" || x.After != "" {
			text = strings.TrimSpace(x.Name + " " + cmp.Or(x.Before, unit.Missing) + " → " + cmp.Or(x.After,
				unit.Missing))
		}
		n.List = append(n.List, report.Note{Sign: "·", Tone: report.Dim, Label: string(x.Kind), Text: text})
	}
	if len(n.List) == 0 {
		return nil
	}
	return n
}

// FindingsMoved describes what became of the findings.
func FindingsMoved(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionFindings, Title: "Findings",
		Sub:   "What was diagnosed before, and what is left.",
		Count: len(c.Findings)}
	n := &report.Notes{}
	for _, f := range c.Findings {
		note := report.Note{Label: f.ID, Code: true, Sign: "·", Tone: report.Dim,
			Text: report.Sentence(string(f.State)) + ". " + f.Title}
		switch f.State {
		case compare.Gone:
			note.Sign, note.Tone = "✓", report.Good
		case compare.New:
			note.Sign, note.Tone = "!", report.Mark
		case compare.Left:
			note.Text = "Still there. " + f.Title
			if r := f.After.Risk(); r == kasoku.RiskDurability || r == kasoku.RiskSemantics {
				note.Text += "; its fix is a risk to " + string(r)
			}
		case compare.Unseen:
			note.Sign, note.Tone = "!", report.Mark
		}
		if f.Why != "" {
			note.Text += ": " + f.Why
		}
		n.List = append(n.List, note)
	}
	if len(n.List) > 0 {
		s.Blocks = []report.Block{n}
	}
	return s
}

// WarningsSection lists what limits the trust in a comparison.
func WarningsSection(c *compare.Comparison) report.Section {
	s := report.Section{ID: report.SectionWarnings, Title: "Warnings", Sub: "What limits the trust in this report.",
		Count: len(c.Warnings)}
	n := &report.Notes{}
	for _, w := range c.Warnings {
		n.List = append(n.List, report.Note{Sign: "!", Tone: report.Mark, Label: report.LabelOf(w.Code), Text: w.Text,
			Hint: report.Prose(w.Hint)})
	}
	if len(n.List) > 0 {
		s.Blocks = []report.Block{n}
	}
	return s
}
