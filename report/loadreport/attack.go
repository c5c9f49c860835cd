package loadreport

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/timeline"
)

// The sections of an attack's document, with [report.SectionLatency], [report.SectionSteps]
// and [report.SectionWarnings].
const (
	SectionTargets   = "targets"
	SectionAnswers   = "answers"
	SectionGenerator = "generator"
)

// An Attack is a load and what it came to.
type Attack struct {
	Name     string // of the attack; may be empty
	Started  time.Time
	Schedule string         // what was asked in addition to the rates: "Poisson arrivals"; may be empty
	Steps    []AttackStep   // those that began, cut to what was done of them
	Targets  []AttackTarget // in the order of the plan
	Tally    *kasoku.Tally  // of all
	Summary  kasoku.LoadSummary
	Warnings []kasoku.Warning
	Memory   uint64  // the most that the generator's process had resident, in bytes; 0 when unknown
	Seed     *uint64 // of what was random; nil when nothing was
	Results  string  // where each single result is; may be empty

	Hosts []AttackHost  // that sent it; nil: this process did
	Skew  time.Duration // the most by which the starts of two hosts can differ

	Seconds []kasoku.LoadSecond // for charts; nil: none
}

// An AttackStep is a step and what came of it.
type AttackStep struct {
	kasoku.Step
	Tally *kasoku.Tally
}

// An AttackTarget is what came of the requests to one target.
type AttackTarget struct {
	Name  string
	Tally *kasoku.Tally
}

// AttackDocument returns the document of an attack.
func AttackDocument(a *Attack, o report.Options) *report.Document {
	d := &report.Document{
		Kind: report.KindAttack, Title: "attack " + a.name(), Name: a.name(), Head: a.head(),
		Verdict: a.Verdict(), Commands: o.Commands, Footer: report.FooterOf(o, ""),
	}
	d.Facts = []report.Fact{{Label: "Target", Value: a.what()}, {Label: "Load", Value: a.load()},
		{Label: "Engine", Value: engineName(&a.Summary)}, {Label: "When", Value: report.FormatDay(a.Started)}}
	warnings := report.Section{ID: report.SectionWarnings, Title: "Warnings",
		Sub: "What limits the trust in this report."}
	var rest []report.Note
	for _, w := range a.Warnings {
		if compare.LateGenerator(w) || w.Code == stoppedEarly {
			d.Alerts = append(d.Alerts, report.Alert{Tone: report.Mark, Text: report.Sentence(w.Text) + ".",
				Hint: report.Prose(w.Hint)})
			continue
		}
		rest = append(rest, report.Note{Sign: "!", Tone: report.Mark, Label: report.LabelOf(w.Code), Text: w.Text,
			Hint: report.Prose(w.Hint)})
	}
	d.PutSection(o, "latency", a.latencySection)
	d.PutSection(o, "timeline", func() report.Section { return a.timelineSection(o) })
	d.PutSection(o, "steps", a.stepsSection)
	d.PutSection(o, "targets", a.targetsSection)
	d.PutSection(o, "answers", a.answersSection)
	d.PutSection(o, SectionHosts, a.hostsSection)
	d.PutSection(o, "generator", func() report.Section {
		return report.Section{ID: SectionGenerator, Title: "Generator",
			Blocks: []report.Block{&report.Notes{List: a.generator()}}}
	})
	if len(rest) > 0 {
		warnings.Count, warnings.Blocks = len(rest), []report.Block{&report.Notes{List: rest}}
		d.PutSection(o, "warnings", func() report.Section { return warnings })
	}
	return d
}

// timelineSection draws the load over time as a run's is drawn; it is empty where the seconds were not kept.
func (a *Attack) timelineSection(o report.Options) report.Section {
	if len(a.Seconds) == 0 {
		return report.Section{ID: report.SectionTimeline}
	}
	rec := &kasoku.Recording{Seconds: a.Seconds,
		Run: kasoku.Run{Started: a.Started, Length: a.Length(), State: kasoku.Finished}}
	for i := range a.Steps {
		rec.Steps = append(rec.Steps, a.Steps[i].Step)
	}
	return timeline.Section(recorded.Of(rec, o))
}

// stoppedEarly is the code of the warning that a load did not reach its end.
const stoppedEarly = "stopped-early"

func (a *Attack) name() string { return cmp.Or(a.Name, a.what()) }

// what is the target, or how many there are.
func (a *Attack) what() string {
	switch names := a.Summary.Targets; len(names) {
	case 0:
		return "load"
	case 1:
		return names[0]
	default:
		return unit.Counted(len(names), "target", "targets")
	}
}

func (a *Attack) head() []string {
	parts := []string{a.name()}
	if a.Name != "" {
		parts = append(parts, a.what())
	}
	return append(parts, a.load(), engineName(&a.Summary), report.FormatDay(a.Started))
}

// load is the model, and what was asked in addition to the rates.
func (a *Attack) load() string {
	if a.Schedule == "" {
		return a.Summary.Model
	}
	return a.Summary.Model + ", " + a.Schedule
}

func engineName(s *kasoku.LoadSummary) string {
	if s.Pacing == "" {
		return s.Engine
	}
	return s.Engine + ", " + s.Pacing + " pacing"
}

// closed reports whether it is a closed loop: no rate was asked for then, and
// nothing was due before it was sent.
func (a *Attack) closed() bool {
	return len(a.Steps) == 0 || a.Steps[0].PerSec == 0 && a.Steps[0].PerSecTo == 0 && len(a.Steps) == 1
}

// Length is how long requests were due.
func (a *Attack) Length() time.Duration {
	var d time.Duration
	for i := range a.Steps {
		d = max(d, a.Steps[i].Interval.To)
	}
	return d
}

// Verdict describes in one sentence what was asked and what was reached.
func (a *Attack) Verdict() string {
	t := a.Tally
	if t.Asked == 0 {
		return "No request was due."
	}
	if len(a.Steps) > 1 {
		return a.stepsVerdict()
	}
	long := a.Length()
	reached := printReached(a.Reached())
	came := ": " + succeeded(t) + ", " + latencies(t) + "."
	if a.closed() {
		return unit.Counted(a.Summary.MaxInFlight, "user", "users") + " in a closed loop reached " + reached +
			" over " + lasting(long) + came
	}
	return "Asked for " + askedPerSec(a.Steps[0].Step) + " over " + lasting(long) + ", reached " + reached + came
}

// stepsVerdict names the first whole step that failed, else of the last one.
func (a *Attack) stepsVerdict() string {
	which, i := ", the last", len(a.Steps)-1
	if bad := slices.IndexFunc(a.Steps, func(s AttackStep) bool {
		return !s.Partial() &&
			s.Tally.Failed() > 0
	}); bad >= 0 {
		which, i = ", step "+unit.Count(a.Steps[bad].Number)+" is the first with failures", bad
	}
	s := &a.Steps[i]
	return "Of " + unit.Counted(len(a.Steps), "step", "steps") + which + ": asked for " + askedPerSec(s.Step) +
		" over " + lasting(s.Interval.Len()) +
		", reached " + printReached(a.StepReached(i)) + ": " + succeeded(s.Tally) + ", " + latencies(s.Tally) + "."
}

// lasting prints how long something lasted, as it was asked for when it was.
func lasting(d time.Duration) string {
	if d == d.Truncate(100*time.Millisecond) || d < time.Second {
		return unit.Exact(d.Round(time.Millisecond))
	}
	return unit.Elapsed(d)
}

// askedPerSec prints the rate of a step: 1,000 req/s, 10 to 500 req/s.
func askedPerSec(s kasoku.Step) string {
	if s.PerSecTo > 0 && s.PerSecTo != s.PerSec {
		return unit.Plain(s.PerSec) + " to " + unit.PerSec(s.PerSecTo)
	}
	return unit.PerSec(s.PerSec)
}

// Reached is how many requests succeeded each second, from the first due time until
// all but the slowest hundredth had ended: a server that answers long after the end
// has reached less than was asked, one that leaves a single request waiting has not.
// NaN when there was no time.
func (a *Attack) Reached() float64 {
	return PerSecond(a.Tally, a.untilAnswered(a.Tally, 0, a.Length()))
}

// untilAnswered is how long it took until all but the slowest hundredth of the
// requests of a stretch had ended.
func (a *Attack) untilAnswered(t *kasoku.Tally, from, long time.Duration) time.Duration {
	return max(long, min(a.Summary.Wall-from, long+t.Latency.Quantile(0.99)))
}

// StepReached is how many requests of step i of Steps succeeded each second. That of the last
// step counts until its answers had come.
func (a *Attack) StepReached(i int) float64 {
	s := &a.Steps[i]
	long := s.Interval.Len()
	if i == len(a.Steps)-1 {
		long = a.untilAnswered(s.Tally, s.Interval.From, long)
	}
	return PerSecond(s.Tally, long)
}

// PerSecond is how many requests succeeded in each second.
func PerSecond(t *kasoku.Tally, long time.Duration) float64 {
	if long <= 0 {
		return math.NaN()
	}
	return float64(t.Success) / long.Seconds()
}

func printReached(v float64) string {
	switch {
	case math.IsNaN(v):
		return unit.Missing
	case v >= 100:
		return unit.PerSec(math.Round(v))
	}
	return unit.Sig3(v) + " req/s"
}

// succeeded describes how many requests did.
func succeeded(t *kasoku.Tally) string {
	n := unit.Counted(t.Asked, "request", "requests")
	switch {
	case t.Failed() == 0 && t.Asked == 1:
		return "the one request succeeds"
	case t.Failed() == 0:
		return "all " + n + " succeed"
	case t.Success == 0:
		return "none of " + n + " succeeds"
	}
	return unit.Percent(t.SuccessRatio()) + " of " + n + " succeed"
}

func latencies(t *kasoku.Tally) string {
	return "p50 " + unit.Duration(t.Latency.Quantile(0.5)) + ", p99 " + unit.Duration(t.Latency.Quantile(0.99))
}

// attackQuantiles are those that an attack is reported in, with the key of each column.
var attackQuantiles = []struct {
	key string
	q   float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}

// latencySection has the three times of a request.
func (a *Attack) latencySection() report.Section {
	s := report.Section{ID: report.SectionLatency, Title: "Latency",
		Sub: "Latency counts from the due time, service from the send. Failures are included."}
	if len(a.Steps) > 1 {
		s.Sub += " Of all steps together."
	}
	t := a.Tally
	if t.Latency.Count() == 0 {
		return s
	}
	// Send delay has a unit of its own scale; all the same, one column has one unit.
	u := cell.CommonUnit(t.Latency.Quantile(0.5), t.Service.Quantile(0.5))
	table := &report.Table{ID: "latency", Narrow: true, Columns: []report.Column{{Key: "what", Head: ""}}}
	for _, x := range attackQuantiles {
		table.Columns = append(table.Columns, report.Column{Key: x.key + "_s", Head: x.key, Unit: unit.Name(u),
			Align: report.Decimal})
	}
	table.Columns = append(table.Columns,
		report.Column{Key: "max_s", Head: "max", Unit: unit.Name(u), Align: report.Decimal},
		report.Column{Key: "mean_s", Head: "mean", Unit: unit.Name(u), Align: report.Decimal, Drop: 1})
	row := func(name string, h interface {
		Quantile(float64) time.Duration
		Max() time.Duration
		Mean() time.Duration
	}) {
		cells := []report.Cell{cell.Text(name)}
		for _, x := range attackQuantiles {
			cells = append(cells, fine(h.Quantile(x.q), u))
		}
		table.Rows = append(table.Rows, report.Row{Cells: append(cells, fine(h.Max(), u), fine(h.Mean(), u))})
	}
	row("latency", t.Latency)
	if !a.closed() {
		row("service", t.Service)
		row("send delay", t.SendDelay)
	}
	s.Blocks = []report.Block{table}
	return s
}

// fine is a duration with one decimal more than usual, for what is small beside the
// others of its column.
func fine(d, in time.Duration) report.Cell {
	if in == time.Nanosecond {
		return cell.Duration(d, in)
	}
	return report.Cell{Text: unit.Sig3Fine(float64(d) / float64(in)), Raw: report.RawNumber(d.Seconds())}
}

func (a *Attack) stepsSection() report.Section {
	s := report.Section{ID: report.SectionSteps, Title: "Load steps", Short: "Steps", Count: len(a.Steps)}
	if len(a.Steps) < 2 {
		return s
	}
	var ds []time.Duration
	for _, x := range a.Steps {
		ds = append(ds, x.Tally.Latency.Mean(), x.Tally.Latency.Quantile(0.99))
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "steps", Columns: StepColumns(unit.Name(u))}
	for i, x := range a.Steps {
		t.Rows = append(t.Rows, report.Row{Cells: StepCells(x.Step, x.Tally, a.StepReached(i), u)})
	}
	s.Blocks = []report.Block{t}
	return s
}

func (a *Attack) targetsSection() report.Section {
	s := report.Section{ID: SectionTargets, Title: "Targets", Count: len(a.Targets)}
	if len(a.Targets) < 2 {
		return s
	}
	s.Blocks = []report.Block{TargetTable(a.Targets, false)}
	return s
}

// answersSection counts status codes and errors.
func (a *Attack) answersSection() report.Section {
	s := report.Section{ID: SectionAnswers, Title: "Answers"}
	if a.Tally.Asked == 0 {
		return s
	}
	t := &report.Table{ID: "answers", Narrow: true, Columns: []report.Column{
		{Key: "answer", Head: "answer", Cut: true, Middle: true},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "ratio", Head: "share", Unit: "%", Align: report.Decimal},
	}}
	for _, x := range Answers(a.Tally) {
		c := cell.Text(x.Message)
		if x.Bad {
			c.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{c, cell.Count(x.Count),
			cell.Percent(float64(x.Count) / float64(a.Tally.Asked))}})
	}
	s.Blocks = []report.Block{t}
	return s
}
