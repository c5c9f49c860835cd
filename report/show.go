package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
)

// The ids of the sections, in the order in which they come.
const (
	SectionFindings  = "findings"
	SectionTimeline  = "time"
	SectionSteps     = "steps"
	SectionEndpoints = "endpoints"
	SectionQueries   = "queries"
	SectionMessages  = "messages"
	SectionConfig    = "config"
	SectionHosts     = "hosts"
	SectionWarnings  = "warnings"
	SectionCost      = "cost"
	SectionCommand   = "command"
	SectionMoved     = "moved"
	SectionRuns      = "runs"
	SectionLatency   = "latency"
	SectionTries     = "tries"
	SectionReproduce = "again"
)

// Show returns the document of one run.
func Show(run *kasoku.Recording, o Options) *Document {
	r := rec{run, o}
	d := &Document{
		Kind: KindRun, Project: run.Run.Project, Name: r.name(), File: o.File,
		Title:  strings.TrimSpace(run.Run.Project + " " + r.name()),
		Footer: footer(o, run.Run.Version),
	}
	d.describe(r)
	d.put(o, "findings", r.findingsSection)
	d.put(o, "hosts", r.hostsSection)
	d.put(o, "timeline", r.timelineSection)
	d.put(o, "steps", r.stepsSection)
	d.put(o, "command", r.commandSection)
	d.put(o, "endpoints", r.endpointsSection)
	d.put(o, "slowest", r.slowestSection)
	d.put(o, "queries", r.queriesSection)
	d.put(o, "callers", r.callersSection)
	d.put(o, "transactions", func() Section { return transactionsSection(r.Transactions, r.Queries, mostRows) })
	d.put(o, "plans", r.plansSection)
	d.put(o, "tables", r.tablesSection)
	d.put(o, "profiles", r.profilesSection)
	d.put(o, "messages", r.messagesSection)
	d.put(o, "advice", r.adviceSection)
	d.put(o, "machine", r.machineSection)
	d.put(o, "config", r.configSection)
	d.put(o, "warnings", r.warningsSection)
	d.put(o, "cost", r.costSection)
	return d
}

// describe fills in what stands above the sections of one run.
func (d *Document) describe(r rec) {
	d.fill("alerts", func() { d.Alerts = r.alerts() })
	d.fill("head", func() { d.Head = r.head() })
	d.fill("verdict", func() { d.Verdict = r.verdict() })
	d.fill("facts", func() { d.Facts = r.facts() })
	d.fill("commands", func() { d.Commands = r.commands() })
}

func (r rec) head() []string {
	parts := []string{r.title()}
	if !r.Run.Started.IsZero() {
		parts = append(parts, day(r.wall(0))+", "+r.lasted())
	}
	if r.Run.Load != "" {
		parts = append(parts, r.Run.Load)
	}
	if s := r.score(); s != "" {
		parts = append(parts, "score "+s)
	}
	if r.Run.Revision != "" {
		parts = append(parts, r.Run.Revision)
	}
	if h := r.host(); h.Name != "" {
		host := h.Name + ", " + unit.Counted(h.Cores, "core", "cores")
		if n := len(r.Run.Hosts) - 1; n > 0 {
			host += ", and " + unit.Counted(n, "more host", "more hosts")
		}
		parts = append(parts, host)
	}
	return parts
}

// score prints what the benchmark said: 12,345, pass. Empty without one.
func (r rec) score() string {
	s := r.Run.Score
	if s == nil {
		return ""
	}
	text := unit.Plain(s.Value)
	if s.Outcome != kasoku.Unjudged {
		text += ", " + string(s.Outcome)
	}
	if s.Failures > 0 {
		text += ", " + failuresOf(s)
	}
	return text
}

// failuresOf says how many requests the benchmark counted as failed: 12 of 4,600 failed.
func failuresOf(s *kasoku.Score) string {
	return unit.Count(int(s.Failures)) + " of " + unit.Count(int(max(s.Requests, s.Failures))) + " failed"
}

// alerts say what stands before the verdict.
func (r rec) alerts() []Alert {
	var out []Alert
	if r.Run.State == kasoku.Incomplete || r.Run.State == kasoku.Running {
		out = append(out, Alert{Tone: Mark, Text: r.stopped()})
	}
	for _, what := range r.Damage {
		out = append(out, Alert{Tone: Mark, Text: "The run file is damaged: " + what})
	}
	for _, w := range r.raised() {
		out = append(out, Alert{Tone: Mark, Text: Sentence(w.Text), Hint: Prose(w.Hint)})
	}
	return out
}

// raised are the warnings that make the figures those of the generator: one of each
// code, that of the step that broke when there are several.
func (r rec) raised() []kasoku.Warning {
	var out []kasoku.Warning
	step := fmt.Sprintf("step %d:", r.brokenStep())
	for _, w := range r.Warnings {
		if !compare.LateGenerator(w) {
			continue
		}
		i := slices.IndexFunc(out, func(o kasoku.Warning) bool { return o.Code == w.Code })
		switch {
		case i < 0:
			out = append(out, w)
		case strings.HasPrefix(w.Text, step):
			out[i] = w
		}
	}
	return out
}

// brokenStep returns the number of the step that broke, 0 when none did.
func (r rec) brokenStep() int {
	ratios := make([]float64, len(r.Steps))
	for i, s := range r.Steps {
		ratios[i] = 1
		if !s.Partial() {
			ratios[i] = r.Tally(s.Number).SuccessRatio()
		}
	}
	if i := kasoku.FirstBroken(ratios); i >= 0 {
		return r.Steps[i].Number
	}
	return 0
}

// stopped says how far a run got.
func (r rec) stopped() string {
	if r.Run.State == kasoku.Running {
		return "Still running: " + r.lasted() + " recorded so far."
	}
	s := "Stopped at " + r.lasted()
	if planned := r.planned(); planned > r.length() {
		s += " of " + unit.Exact(planned.Round(time.Second))
	}
	if r.Run.StopReason != "" {
		s += " by " + r.Run.StopReason
	}
	return s + ". All that was measured is kept."
}

// planned is when the last known step was to end.
func (r rec) planned() time.Duration {
	var d time.Duration
	for _, s := range r.Steps {
		d = max(d, s.Interval.From+s.Planned)
	}
	return d
}

// verdict is the sentence of the diagnosis; without one, what was counted.
func (r rec) verdict() string {
	if r.Diagnosis != nil && r.Diagnosis.Verdict != "" {
		return r.scoredVerdict() + r.Diagnosis.Verdict
	}
	t := r.Tally(0)
	switch {
	case t.Asked > 0:
		return r.scoredVerdict() + unit.Percent(t.SuccessRatio()) + " of " + unit.Count(t.Asked) + " requests succeeded. The run was not diagnosed."
	case r.Run.Command != nil:
		return "The command took " + unit.Elapsed(r.Run.Command.Wall) + " and " + exited(r.Run.Command) + "."
	}
	return "A recording of " + r.lasted() + " without a load of kasoku's."
}

func exited(c *kasoku.Command) string {
	if c.Signal != "" {
		return "was ended by signal " + c.Signal
	}
	return "exited with code " + unit.Count(c.ExitCode)
}

func (r rec) facts() []Fact {
	var out []Fact
	add := func(f Fact) {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	if !r.Run.Started.IsZero() {
		add(Fact{Label: "When", Value: r.wall(0).Format("Mon ") + day(r.wall(0)) + ", " + r.lasted()})
	}
	add(Fact{Label: "Code", Value: r.code()})
	add(Fact{Label: "Host", Value: r.hostFact()})
	add(Fact{Label: "Target", Value: r.target()})
	add(Fact{Label: "Load", Value: r.Run.Load})
	add(Fact{Label: "Ladder", Value: r.ladder()})
	if l := r.Load; l != nil {
		add(Fact{Label: "Engine", Value: engineText(l.Engine, l.EngineWhy)})
		add(Fact{Label: "Pacing", Value: pacingText(l, r.Tally(0))})
		add(Fact{Label: "In flight", Value: flightText(l)})
	}
	if s := r.score(); s != "" {
		add(Fact{Label: "Score", Value: s + "; from " + r.Run.Score.Source})
	}
	if r.Run.Group != "" {
		add(Fact{Label: "Repeat", Value: unit.Count(r.Run.Repeat) + " of group " + r.Run.Group})
	}
	if t := r.loadTally(); t.Asked > 0 {
		add(Fact{Label: "Result", Value: unit.Counted(t.Asked, "request", "requests") + ", " + unit.Count(t.Success) + " 2xx, " + unit.Counted(t.Failed(), "error", "errors")})
	}
	if c := r.Run.Command; c != nil {
		add(Fact{Label: "Command", Value: short(strings.Join(c.Args, " "), 60), Code: true})
	}
	for _, c := range r.RowChecks {
		add(r.rowFact(c))
	}
	add(Fact{Label: "Note", Value: r.Run.Note})
	return out
}

func (r rec) code() string {
	switch {
	case r.Run.Revision == "":
		return ""
	case r.Run.Dirty:
		return r.Run.Revision + ", with local changes"
	}
	return r.Run.Revision + ", clean"
}

func (r rec) hostFact() string {
	h := r.host()
	if h.Name == "" {
		return ""
	}
	parts := []string{h.Name, unit.Counted(h.Cores, "core", "cores")}
	if h.MemoryBytes > 0 {
		parts = append(parts, unit.BytesIEC(h.MemoryBytes))
	}
	if h.OS != "" {
		parts = append(parts, shortOS(h.OS))
	}
	if n := len(r.Run.Hosts) - 1; n > 0 {
		parts = append(parts, unit.Counted(n, "more host", "more hosts"))
	}
	return strings.Join(parts, " · ")
}

func (r rec) target() string {
	product, version := r.database()
	db := strings.TrimSpace(product + " " + version)
	switch {
	case r.Run.Project == "":
		return db
	case db == "":
		return r.Run.Project
	}
	return r.Run.Project + " → " + db
}

func (r rec) ladder() string {
	var rates []string
	var each time.Duration
	for i, s := range r.Steps {
		if s.PerSec <= 0 {
			return ""
		}
		rates = append(rates, unit.Plain(s.PerSec))
		d := max(s.Planned, s.Interval.Len()).Round(time.Second)
		if i > 0 && d != each {
			d = 0
		}
		each = d
	}
	if len(rates) == 0 {
		return ""
	}
	s := strings.Join(rates, " → ") + " req/s"
	if each > 0 {
		s += ", " + unit.Exact(each)
		if len(rates) > 1 {
			s += " each"
		}
	}
	return s
}

func (r rec) rowFact(c kasoku.RowCheck) Fact {
	f := Fact{Label: "Check", Sign: "✓", Tone: Good, Value: rowText(c)}
	if !c.Matches() {
		f.Sign, f.Tone = "✗", Bad
	}
	return f
}

// rowText compares the rows that a table gained with the answers that said
// "written".
func rowText(c kasoku.RowCheck) string {
	if c.Matches() {
		return "rows in " + c.Table + " " + unit.Count(c.Added()) + " = 2xx answers"
	}
	diff := int64(c.Successes) - c.Added()
	s := "rows in " + c.Table + " " + unit.Count(c.Added()) + ", 2xx answers " + unit.Count(c.Successes) + ": "
	if diff > 0 {
		return s + unit.Count(diff) + " missing"
	}
	return s + unit.Count(-diff) + " too many"
}

// commands returns how to make the run again, as far as the file says.
func (r rec) commands() []string {
	if len(r.o.Commands) > 0 {
		return r.o.Commands
	}
	var out []string
	if _, rev, ok := strings.Cut(r.Run.Revision, "@"); ok && rev != "" {
		out = append(out, "git checkout "+rev)
	}
	if c := r.Run.Command; c != nil {
		out = append(out, "kasoku record -- "+strings.Join(c.Args, " "))
	}
	if r.name() != "" {
		out = append(out, "kasoku show "+r.name())
	}
	return out
}

func footer(o Options, version string) string {
	parts := []string{strings.TrimSpace("kasoku " + version)}
	if !o.Made.IsZero() {
		made := o.Made
		if o.Location != nil {
			made = made.In(o.Location)
		}
		parts = append(parts, "report made "+day(made))
	}
	return strings.Join(append(parts, "this file is complete: no network, no other files"), " · ")
}
