package recording

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/loadreport"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/report/profiles"
	"github.com/kasoku/kasoku/report/recorded"
	"github.com/kasoku/kasoku/report/statements"
	"github.com/kasoku/kasoku/report/timeline"
)

// Show returns the document of one run.
func Show(run *kasoku.Recording, o report.Options) *report.Document {
	r := recorded.Of(run, o)
	d := &report.Document{
		Kind: report.KindRun, Project: run.Run.Project, Name: r.Name(), File: o.File,
		Title:  strings.TrimSpace(run.Run.Project + " " + r.Name()),
		Footer: report.FooterOf(o, run.Run.Version),
	}
	DescribeRun(d, r)
	d.PutSection(o, "service", func() report.Section { return serviceSection(r) })
	d.PutSection(o, "findings", func() report.Section { return findings.Section(r) })
	d.PutSection(o, "hosts", func() report.Section { return hostsSection(r) })
	d.PutSection(o, "timeline", func() report.Section { return timeline.Section(r) })
	d.PutSection(o, "steps", func() report.Section { return StepsSection(r) })
	d.PutSection(o, "command", func() report.Section { return commandSection(r) })
	d.PutSection(o, "endpoints", func() report.Section { return EndpointsSection(r) })
	d.PutSection(o, "slowest", func() report.Section { return slowestSection(r) })
	d.PutSection(o, "queries", func() report.Section { return statements.QueriesSection(r) })
	d.PutSection(o, "callers", func() report.Section { return statements.CallersSection(r) })
	d.PutSection(o, "trace", func() report.Section { return statements.TraceSection(r) })
	d.PutSection(o, "transactions", func() report.Section {
		return statements.TransactionsSection(r.Transactions, r.Queries, report.MostRows)
	})
	d.PutSection(o, "plans", func() report.Section { return statements.PlansSection(r) })
	d.PutSection(o, "tables", func() report.Section { return statements.TablesSection(r) })
	d.PutSection(o, "profiles", func() report.Section { return profiles.Section(r) })
	d.PutSection(o, "messages", func() report.Section { return MessagesSection(r) })
	d.PutSection(o, "advice", func() report.Section { return findings.AdviceSection(r) })
	d.PutSection(o, "machine", func() report.Section { return machine.Section(r) })
	d.PutSection(o, "config", func() report.Section { return configSection(r) })
	d.PutSection(o, "warnings", func() report.Section { return WarningsSection(r) })
	d.PutSection(o, "cost", func() report.Section { return costSection(r) })
	return d
}

// DescribeRun fills in what stands above the sections of one run.
func DescribeRun(d *report.Document, r recorded.View) {
	d.Fill("alerts", func() { d.Alerts = summary{r}.alerts() })
	d.Fill("head", func() { d.Head = summary{r}.head() })
	d.Fill("verdict", func() { d.Verdict = summary{r}.verdict() })
	d.Fill("facts", func() { d.Facts = summary{r}.facts() })
	d.Fill("commands", func() { d.Commands = summary{r}.commands() })
}

// summary words what stands above the sections of one run.
type summary struct{ recorded.View }

func (r summary) head() []string {
	parts := []string{r.Title()}
	if !r.Run.Started.IsZero() {
		parts = append(parts, report.FormatDay(r.Wall(0))+", "+r.Lasted())
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
	if h := r.Host(); h.Name != "" {
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
		text += ", " + report.FailuresOf(s)
	}
	return text
}

// alerts describe what stands before the verdict.
func (r summary) alerts() []report.Alert {
	var out []report.Alert
	if r.Run.State == kasoku.Incomplete || r.Run.State == kasoku.Running {
		out = append(out, report.Alert{Tone: report.Mark, Text: r.stopped()})
	}
	for _, what := range r.Damage {
		out = append(out, report.Alert{Tone: report.Mark, Text: "The run file is damaged: " + what})
	}
	for _, w := range slices.Concat(r.Raised(), blinding(r.Warnings)) {
		a := report.Alert{Tone: report.Mark, Text: report.Sentence(w.Text), Hint: report.Prose(w.Hint)}
		a.Below = w.Weight() >= kasoku.Blind
		if a.Below && r.Options.Seen.Has(w) {
			a.Hint = "said before; `kasoku doctor` has what helps"
		}
		out = append(out, a)
	}
	return out
}

// blinding are the warnings that rules of weight are blind, or that a log is another's.
func blinding(all []kasoku.Warning) (out []kasoku.Warning) {
	for _, w := range kasoku.ByWeight(all) {
		if w.Code == "log-lacks" || w.Code == "log-foreign" || w.Code == "database-unasked" {
			out = append(out, w)
		}
	}
	return out
}

// stopped says how far a run got.
func (r summary) stopped() string {
	if r.Run.State == kasoku.Running {
		return "Still running: " + r.Lasted() + " recorded so far."
	}
	s := "Stopped at " + r.Lasted()
	if planned := r.planned(); planned > r.Length() {
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
		return r.scoredVerdict() + unit.Percent(t.SuccessRatio()) + " of " + unit.Count(t.Asked) +
			" requests succeeded. The run was not diagnosed."
	case r.Run.Command != nil:
		return "The command took " + unit.Elapsed(r.Run.Command.Wall) + " and " + exited(r.Run.Command) + "."
	}
	return "A recording of " + r.Lasted() + " without a load of kasoku's."
}

func exited(c *kasoku.Command) string {
	if c.Signal != "" {
		return "was ended by signal " + c.Signal
	}
	return "exited with code " + unit.Count(c.ExitCode)
}

func (r summary) facts() []report.Fact {
	var out []report.Fact
	add := func(f report.Fact) {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	if !r.Run.Started.IsZero() {
		add(report.Fact{Label: "When", Value: r.Wall(0).Format("Mon ") + report.FormatDay(r.Wall(0)) + ", " +
			r.Lasted()})
	}
	add(report.Fact{Label: "Code", Value: r.Code()})
	add(report.Fact{Label: "Host", Value: r.hostFact()})
	add(report.Fact{Label: "Target", Value: r.target()})
	for _, f := range r.serviceFacts() {
		add(f)
	}
	add(report.Fact{Label: "Load", Value: r.Run.Load})
	add(report.Fact{Label: "Ladder", Value: r.ladder()})
	if l := r.Load; l != nil {
		add(report.Fact{Label: "Engine", Value: loadreport.EngineText(l.Engine, l.EngineWhy)})
		add(report.Fact{Label: "Pacing", Value: loadreport.PacingText(l, r.Tally(0))})
		add(report.Fact{Label: "In flight", Value: loadreport.FlightText(l)})
	}
	if s := r.score(); s != "" {
		add(report.Fact{Label: "Score", Value: s + "; from " + r.Run.Score.Source})
	}
	if r.Run.Group != "" {
		add(report.Fact{Label: "Repeat", Value: unit.Count(r.Run.Repeat) + " of group " + r.Run.Group})
	}
	if t := r.LoadTally(); t.Asked > 0 {
		add(report.Fact{Label: "Result", Value: unit.Counted(t.Asked, "request", "requests") + ", " +
			unit.Count(t.Success-t.Expected) + " 2xx, " + expectedNote(t) + unit.Counted(t.Failed(), "error", "errors") +
			refusedNote(t)})
	}
	if c := r.Run.Command; c != nil {
		add(report.Fact{Label: "Command", Value: short(strings.Join(c.Args, " "), 60), Code: true})
	}
	for _, c := range r.RowChecks {
		add(r.rowFact(c))
	}
	add(report.Fact{Label: "Note", Value: r.Run.Note})
	return out
}

// expectedNote says how many answers with other codes the load expected.
func expectedNote(t *kasoku.Tally) string {
	if t.Expected == 0 {
		return ""
	}
	return unit.Count(t.Expected) + " others as expected, "
}

// refusedNote says how many requests of bots were refused on purpose.
func refusedNote(t *kasoku.Tally) string {
	if t.Refused == 0 {
		return ""
	}
	return ", " + unit.Counted(t.Refused, "bot", "bots") + " refused as is configured"
}

func (r summary) hostFact() string {
	h := r.Host()
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
	product, version := r.Database()
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

func (r summary) rowFact(c kasoku.RowCheck) report.Fact {
	f := report.Fact{Label: "Check", Sign: "✓", Tone: report.Good, Value: rowText(c)}
	if !c.Matches() {
		f.Sign, f.Tone = "✗", report.Bad
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
	if len(r.Options.Commands) > 0 {
		return r.Options.Commands
	}
	var out []string
	if _, rev, ok := strings.Cut(r.Run.Revision, "@"); ok && rev != "" {
		out = append(out, "git checkout "+rev)
	}
	if c := r.Run.Command; c != nil {
		out = append(out, "kasoku record -- "+strings.Join(c.Args, " "))
	}
	if r.Name() != "" {
		out = append(out, "kasoku show "+r.Name())
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

// scoredVerdict describes what a benchmark came to, before what the diagnosis says; empty
// of other loads.
func (r summary) scoredVerdict() string {
	sc := r.Run.Score
	if !r.Scored() || sc == nil {
		return ""
	}
	s := "Score " + unit.Plain(sc.Value)
	if n := len(r.Rises()); n > 0 {
		name, _, _ := strings.Cut(r.Rises()[n-1].Text, " at ")
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

// AlertsOf describes what stands before the verdict of a run.
func AlertsOf(r recorded.View) []report.Alert { return summary{r}.alerts() }

// FactsOf lists what was measured, where, and with which result.
func FactsOf(r recorded.View) []report.Fact { return summary{r}.facts() }
