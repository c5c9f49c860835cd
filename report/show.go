package report

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"strings"
	"time"
	"unicode/utf8"
)

// Show returns the document of one run.
func Show(run *kasoku.Recording, o Options) *Document {
	r := viewOf(run, o)
	d := &Document{
		Kind: KindRun, Project: run.Run.Project, Name: r.name(), File: o.File,
		Title:  strings.TrimSpace(run.Run.Project + " " + r.name()),
		Footer: footer(o, run.Run.Version),
	}
	DescribeRun(d, r)
	d.put(o, "findings", func() Section { return FindingsSection(r) })
	d.put(o, "hosts", func() Section { return hostsSection(r) })
	d.put(o, "timeline", func() Section { return TimelineSection(r) })
	d.put(o, "steps", func() Section { return StepsSection(r) })
	d.put(o, "command", func() Section { return commandSection(r) })
	d.put(o, "endpoints", func() Section { return EndpointsSection(r) })
	d.put(o, "slowest", func() Section { return slowestSection(r) })
	d.put(o, "queries", func() Section { return QueriesSection(r) })
	d.put(o, "callers", func() Section { return CallersSection(r) })
	d.put(o, "transactions", func() Section { return transactionsSection(r.Transactions, r.Queries, mostRows) })
	d.put(o, "plans", func() Section { return PlansSection(r) })
	d.put(o, "tables", func() Section { return TablesSection(r) })
	d.put(o, "profiles", func() Section { return ProfilesSection(r) })
	d.put(o, "messages", func() Section { return MessagesSection(r) })
	d.put(o, "advice", func() Section { return AdviceSection(r) })
	d.put(o, "machine", func() Section { return MachineSection(r) })
	d.put(o, "config", func() Section { return configSection(r) })
	d.put(o, "warnings", func() Section { return WarningsSection(r) })
	d.put(o, "cost", func() Section { return costSection(r) })
	return d
}

// DescribeRun fills in what stands above the sections of one run.
func DescribeRun(d *Document, r rec) {
	d.fill("alerts", func() { d.Alerts = summary{r}.alerts() })
	d.fill("head", func() { d.Head = summary{r}.head() })
	d.fill("verdict", func() { d.Verdict = summary{r}.verdict() })
	d.fill("facts", func() { d.Facts = summary{r}.facts() })
	d.fill("commands", func() { d.Commands = summary{r}.commands() })
}

// summary words what stands above the sections of one run.
type summary struct{ rec }

func (r summary) head() []string {
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
func (r summary) score() string {
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
func (r summary) alerts() []Alert {
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

// stopped says how far a run got.
func (r summary) stopped() string {
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
func (r summary) planned() time.Duration {
	var d time.Duration
	for _, s := range r.Steps {
		d = max(d, s.Interval.From+s.Planned)
	}
	return d
}

// verdict is the sentence of the diagnosis; without one, what was counted.
func (r summary) verdict() string {
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

func (r summary) facts() []Fact {
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

func (r summary) hostFact() string {
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

func (r summary) target() string {
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

func (r summary) ladder() string {
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

func (r summary) rowFact(c kasoku.RowCheck) Fact {
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
func (r summary) commands() []string {
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

// shortOS cuts "Debian GNU/Linux 12 (bookworm)" to "Debian 12".
func shortOS(s string) string {
	s = strings.ReplaceAll(s, " GNU/Linux", "")
	if i := strings.Index(s, " ("); i > 0 {
		s = s[:i]
	}
	return s
}

// short cuts text to n characters.
func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// scoredVerdict says what a benchmark came to, before what the diagnosis says; empty
// of other loads.
func (r summary) scoredVerdict() string {
	sc := r.Run.Score
	if !r.scored() || sc == nil {
		return ""
	}
	s := "Score " + unit.Plain(sc.Value)
	if n := len(r.rises()); n > 0 {
		name, _, _ := strings.Cut(r.rises()[n-1].Text, " at ")
		s += ", " + name
	}
	switch sc.Outcome {
	case kasoku.Passed:
		s += ", passed"
	case kasoku.Failed:
		s += ", failed"
	}
	return s + ". "
}

// alertsOf says what stands before the verdict of a run.
func alertsOf(r rec) []Alert { return summary{r}.alerts() }

// factsOf lists what was measured, where, and with which result.
func factsOf(r rec) []Fact { return summary{r}.facts() }
