package recording

import (
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/loadreport"
	"github.com/kasoku/kasoku/report/recorded"
)

// mostGaps is how many gaps of a source are named one by one.
const mostGaps = 3

// WarningsSection lists what limits the trust in the report, and what was checked
// and holds.
func WarningsSection(r recorded.View) report.Section {
	n := &report.Notes{List: weighed(r)}
	warned := len(n.List)
	n.List = append(n.List, selfCheck{r}.generatorNote()...)
	for _, c := range r.RowChecks {
		if c.Matches() {
			n.List = append(n.List, report.Note{Sign: "✓", Tone: report.Good, Label: "Rows", Text: rowText(c)})
		}
	}
	n.List = append(n.List, selfCheck{r}.changeNotes(true)...)
	s := report.Section{ID: report.SectionWarnings, Title: "Warnings and self-check", Short: "Warnings",
		Sub: "What limits the trust in this report.", Count: warned}
	if len(n.List) > 0 {
		s.Blocks = []report.Block{n}
	}
	return s
}

// weighed lists what limits the trust, the heaviest first. What the reader has seen already and
// no figure rests upon is one note, as is what a user may not see.
func weighed(r recorded.View) []report.Note {
	var by [kasoku.Lasting + 1][]report.Note
	check := selfCheck{r}
	by[kasoku.Left] = check.changeNotes(false)
	for _, c := range r.RowChecks {
		if !c.Matches() {
			n := report.Note{Sign: "✗", Tone: report.Bad, Label: "Rows", Text: rowText(c)}
			by[kasoku.Spoiled] = append(by[kasoku.Spoiled], n)
		}
	}
	by[kasoku.Partial] = slices.Concat(check.gapNotes(), check.logNotes())
	raised := slices.Concat(r.Raised(), blinding(r.Warnings))
	var rights, before []string
	for _, w := range kasoku.ByWeight(r.Warnings) {
		label := report.LabelOf(w.Code)
		switch {
		case slices.Contains(raised, w): // it stands above the verdict
		case w.Weight() >= kasoku.Partial && r.Options.Seen.Has(w):
			before = append(before, lowerFirst(label))
		case w.Unseen():
			rights = append(rights, w.Text)
		default:
			by[w.Weight()] = append(by[w.Weight()], report.Note{Sign: "!", Tone: report.Mark, Label: label, Text: w.Text,
				Hint: report.Prose(w.Hint)})
		}
	}
	if len(rights) > 0 {
		by[kasoku.Lasting] = append(by[kasoku.Lasting], report.Note{Sign: "!", Tone: report.Mark, Label: "Rights",
			Text: strings.Join(rights, "; "), Hint: "run as root; `kasoku doctor` says what else would do"})
	}
	if len(before) > 0 {
		slices.Sort(before)
		by[kasoku.Lasting] = append(by[kasoku.Lasting], report.Note{Sign: "·", Tone: report.Dim, Label: "Warnings",
			Text: "said before: " + strings.Join(slices.Compact(before), ", ") +
				"; `kasoku show --section warnings` has them"})
	}
	return slices.Concat(by[:]...)
}

// lowerFirst is a label within a sentence.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// selfCheck words what was missed, changed and put back.
type selfCheck struct{ recorded.View }

// gapNotes describes what the sources missed.
func (r selfCheck) gapNotes() []report.Note {
	var sources []string
	bySource := map[string][]kasoku.Gap{}
	for _, g := range r.Gaps {
		if _, ok := bySource[g.Source]; !ok {
			sources = append(sources, g.Source)
		}
		bySource[g.Source] = append(bySource[g.Source], g)
	}
	slices.Sort(sources)
	var out []report.Note
	for _, source := range sources {
		gaps := bySource[source]
		var times []string
		var missed time.Duration
		for i, g := range gaps {
			missed += g.Interval.Len()
			if i < mostGaps {
				s := r.Clock(g.Interval.From)
				if g.Interval.Len() > 1500*time.Millisecond {
					s += "–" + r.Clock(g.Interval.To)
				}
				if g.Reason != "" {
					s += " (" + g.Reason + ")"
				}
				times = append(times, s)
			}
		}
		text := source + ": " + unit.Counted(len(gaps), "gap", "gaps") + ", " + unit.Elapsed(missed) + ": " +
			strings.Join(times, ", ")
		if n := len(gaps) - mostGaps; n > 0 {
			text += " and " + unit.Count(n) + " more"
		}
		out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: "Missed sample",
			Text: text + ". Drawn as a gap; counters span it."})
	}
	return out
}

// logNotes describes which lines of logs could not be read.
func (r selfCheck) logNotes() []report.Note {
	var out []report.Note
	for _, w := range r.Logs {
		if w.Dropped == 0 {
			continue
		}
		text := w.Path + ": " + unit.Count(w.Dropped) + " of " + unit.Counted(w.Lines, "line",
			"lines") + " could not be read"
		if len(w.BadSample) > 0 {
			b := w.BadSample[0]
			text += "; line " + unit.Count(b.Line) + ": " + b.Why
		}
		out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: "Bad lines", Text: text})
	}
	return out
}

// changeNotes describes what kasoku altered on a server and whether it put it back.
func (r selfCheck) changeNotes(restored bool) []report.Note {
	var back []string
	var out, sessions []report.Note
	for _, c := range r.Changes {
		if c.Restored != restored {
			continue
		}
		if text := sessionsText(c); text != "" {
			sessions = append(sessions, report.Note{Sign: "·", Tone: report.Dim, Label: "Sessions", Text: text})
			continue
		}
		if c.Restored {
			back = append(back, strings.TrimSpace(c.Name+" "+c.Before))
			continue
		}
		if c.Name == "sessions" {
			out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: "Sessions", Text: c.Note,
				Hint: "restart the application, or `kasoku restore --recycle-connections`"})
			continue
		}
		text := c.Object + " " + c.Name + " was " + c.Before + " and is left at " + c.During
		if c.Note != "" {
			text += ": " + c.Note
		}
		out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: "Not restored", Text: text,
			Hint: "set it back by hand"})
	}
	if len(back) > 0 {
		out = append(out, report.Note{Sign: "✓", Tone: report.Good, Label: "Restored", Text: strings.Join(back, ", ")})
	}
	return append(out, sessions...)
}

// sessionsText describes a change that is no setting but what became of sessions, and whether somebody must do
// something; empty for a setting, and where sessions go on logging, which is a change that is not restored.
func sessionsText(c kasoku.Change) string {
	if !c.Restored {
		return ""
	}
	switch c.Name {
	case "idle sessions":
		n, _, _ := strings.Cut(c.Before, " ")
		one := map[bool]string{true: " idle session was", false: " idle sessions were"}[n == "1"]
		return n + one + " ended when the slow log was on, so that the application opens new ones, which are in it. " +
			"Nothing is to be done."
	case "sessions":
		which, _, _ := strings.Cut(c.Note, ":")
		return which + " keep the slow log's settings of the run. As slow_query_log is OFF nothing is logged, and " +
			"nothing is to be done; should it be switched on, they log each statement until the application is restarted."
	}
	return ""
}

// lateAfter is the send delay from which a request counts as sent late.
const lateAfter = 10 * time.Millisecond

// generatorNote describes who made the load and whether it was on time. When a warning
// has said that it was not, it leaves that out.
func (r selfCheck) generatorNote() []report.Note {
	h := r.Tally(0).SendDelay
	if h.Count() == 0 {
		return nil
	}
	late := h.CountBetween(lateAfter, 1<<62)
	u := cell.CommonUnit(h.Max())
	print := func(d time.Duration) string { return unit.DurationIn(d, u) }
	n := report.Note{Sign: "✓", Tone: report.Good, Label: "Generator"}
	switch {
	case slices.ContainsFunc(r.Warnings, func(w kasoku.Warning) bool { return w.Code == "late-generator" }):
		n.Sign, n.Tone = "·", report.Plain
	case late*100 > h.Count():
		n.Sign, n.Tone = "!", report.Mark
	default:
		n.Text = "on time. "
	}
	n.Text += "Send delay p50 " + print(h.Quantile(0.5)) + ", p99 " + print(h.Quantile(0.99)) + ", max " +
		print(h.Max()) + " " + unit.Name(u) +
		"; " + unit.Count(late) + " of " + unit.Count(h.Count()) + " requests over 10 ms late." + r.sentBy()
	return []report.Note{n}
}

// sentBy describes which engine made the load, why, and how it kept due times.
func (r selfCheck) sentBy() string {
	l := r.Load
	if l == nil || l.Engine == "" {
		return ""
	}
	text := " Sent by " + loadreport.EngineText(l.Engine, l.EngineWhy)
	if l.Pacing != "" {
		text += " with " + l.Pacing + " pacing"
	}
	return text + "."
}

// costSection shows what the observation itself took.
func costSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionCost, Title: "What observing cost", Short: "Cost",
		Sub: "kasoku's own process: recorder and, when the load was kasoku's, its generator."}
	length := r.Length().Seconds()
	if length <= 0 {
		return s
	}
	t := &report.Table{ID: "cost", Narrow: true, Columns: []report.Column{
		{Key: "what", Head: "what"},
		{Key: "core_ratio", Head: "of one core", Unit: "%", Align: report.Decimal},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: report.Decimal},
		{Key: "peak_bytes", Head: "memory", Unit: "max", Align: report.Right},
	}}
	row := func(what string, cpu, over float64, memory report.Cell) {
		ratio := cpu / over
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(what), cell.Percent(ratio), cell.Number(cpu),
			memory}})
	}
	own, ok := 0.0, false
	for _, name := range []string{observe.SelfCPUUser, observe.SelfCPUSystem} {
		if x := r.Find(kasoku.Key{Source: observe.SelfName, Name: name}); x != nil {
			if d, has := x.Delta(r.All()); has {
				own, ok = own+d, true
			}
		}
	}
	if ok {
		memory := cell.None()
		if x := r.Find(kasoku.Key{Source: observe.SelfName, Name: observe.SelfRSS}); x != nil {
			if v, has := x.Max(r.All()); has {
				memory = report.Cell{Text: unit.Bytes(uint64(v)), Raw: report.RawNumber(v)}
			}
		}
		row("kasoku, all of it", own, length, memory)
	}
	if r.Load != nil && r.Load.CPU > 0 && r.Load.Wall > 0 {
		row("while the load ran", r.Load.CPU.Seconds(), r.Load.Wall.Seconds(), cell.None())
	}
	for i := range r.Series {
		x := &r.Series[i]
		if source, is := strings.CutPrefix(x.Key.Name, observe.SelfCostPrefix); is && x.Key.Source == observe.SelfName {
			if d, has := x.Delta(r.All()); has {
				row("source "+source, d, length, cell.None())
			}
		}
	}
	if len(t.Rows) > 0 {
		t.Note = report.Prose(strings.TrimSpace(string(ownCost{r}.ownDisk() + ownCost{r}.lateness())))
		s.Blocks = []report.Block{t}
	}
	return s
}

// ownCost words what the recording itself used.
type ownCost struct{ recorded.View }

// lateness describes how late the latest tick was; empty when it was not recorded.
func (r ownCost) lateness() report.Prose {
	x := r.Find(kasoku.Key{Source: observe.SelfName, Name: observe.SelfTickLate})
	if x == nil {
		return ""
	}
	late, ok := x.Max(r.All())
	if !ok {
		return ""
	}
	return report.Prose(" Ticks were at most " + unit.Duration(time.Duration(late*float64(time.Second))) + " late.")
}

// ownDisk describes what kasoku had disks do; empty when it was not recorded.
func (r ownCost) ownDisk() report.Prose {
	var moved [2]float64
	for i, name := range []string{observe.SelfIOWrite, observe.SelfIORead} {
		x := r.Find(kasoku.Key{Source: observe.SelfName, Name: name})
		if x == nil {
			return ""
		}
		moved[i], _ = x.Delta(r.All())
	}
	return report.Prose("kasoku had disks write " + unit.Bytes(uint64(moved[0])) + " and read " +
		unit.Bytes(uint64(moved[1])) + ".")
}
