package encode

import (
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/loadreport"
	"github.com/kasoku/kasoku/report/machine"
)

// list makes a list that is never null in JSON. It ends where making one panics.
func list[T, U any](in []T, f func(*T) U) []U {
	out := make([]U, 0, len(in))
	containedValue(func() []U {
		for i := range in {
			out = append(out, f(&in[i]))
		}
		return out
	})
	return out
}

// full makes an absent list an empty one.
func full(in []string) []string { return append([]string{}, in...) }

func newRun(r *kasoku.Recording, d *report.Document) *Run {
	run := r.Run
	out := &Run{
		Schema: Schema, Kind: "run", ID: run.ID, Project: run.Project, Label: run.Label, Note: run.Note,
		Started: run.Started, Length: run.Length.Seconds(), State: string(run.State), StopReason: run.StopReason,
		Version: run.Version, Revision: run.Revision, Dirty: run.Dirty, Load: run.Load, Verdict: d.Verdict,
		Group: run.Group, Repeat: run.Repeat, Base: run.Base, Observers: run.Observers, Score: newScore(run.Score),
		Phases: list(r.Phases, func(p *kasoku.Phase) Phase {
			return Phase{string(p.Kind), p.Interval.From.Seconds(), p.Interval.To.Seconds(), p.Why}
		}),
		Hosts:    list(run.Hosts, newHost),
		Command:  newCommand(run.Command),
		Steps:    list(r.Steps, func(s *kasoku.Step) Step { return newStep(s, r.Tally(s.Number), r.Taken(*s)) }),
		Targets:  containedValue(func() []AttackTarget { return list(loadreport.Targets(r), newTarget) }),
		Findings: []Finding{}, Silences: []Silence{},
		Endpoints:    list(r.Endpoints, newEndpoint),
		Variants:     newVariants(r),
		Slowest:      list(r.Slowest, newSlowRequest),
		Queries:      newQueries(r),
		Callers:      list(r.Callers, newCaller),
		Joins:        list(r.Joins, newJoin),
		Traces:       list(r.Traces, newTrace),
		Transactions: list(r.Transactions, newTransaction),
		Plans:        newPlans(r),
		Tables:       newTables(r),
		Advice:       list(r.Advice, NewAdvice),
		Messages:     list(r.Messages, newMessage),
		Profiles:     list(r.Profiles, newProfile),
		Service:      containedValue(func() *Service { return newRunService(r) }),
		Machines:     containedValue(func() []Machine { return list(machine.Machines(r), newMachine) }),
		Logs:         list(r.Logs, newLog),
		RowChecks:    list(r.RowChecks, newRowCheck),
		Settings: list(r.Settings, func(s *kasoku.Setting) Setting {
			return Setting{s.Host, s.Scope, s.Name,
				s.Value}
		}),
		Configs: list(r.Configs, newConfig),
		Changes: list(r.Changes, func(c *kasoku.Change) Change {
			return Change{c.Object, c.Name, c.Before, c.During, c.Restored, c.Note}
		}),
		Gaps: list(r.Gaps, func(g *kasoku.Gap) Gap {
			return Gap{g.Source, g.Interval.From.Seconds(), g.Interval.To.Seconds(), g.Reason}
		}),
		Events:   list(r.Events, func(e *kasoku.Event) Event { return Event{e.At.Seconds(), e.Kind, e.Text} }),
		Warnings: list(r.Warnings, newWarning),
		Observer: containedValue(func() *Observer { return newObserver(r) }),
		Damage:   full(r.Damage),
		Alerts:   list(d.Alerts, func(a *report.Alert) string { return a.Text }),
	}
	if l := r.Load; l != nil {
		g := newGenerator(l)
		out.Generator = &g
	}
	if g := r.Diagnosis; g != nil {
		out.Rules = g.Rules
		out.Silences = list(g.Silences, func(s *kasoku.Silence) Silence {
			return Silence{s.ID, s.Reason, s.Near,
				s.Blind}
		})
		for i := range g.Findings {
			out.Findings = append(out.Findings, newFinding(i+1, &g.Findings[i]))
		}
	}
	return out
}

func newHost(h *kasoku.Host) Host {
	return Host{h.Name, h.Cores, h.MemoryBytes, h.OS, h.Kernel, h.Arch, h.BootID}
}

func newScore(s *kasoku.Score) *Score {
	if s == nil {
		return nil
	}
	return &Score{s.Value, string(s.Outcome), s.Source, s.Requests, s.Failures}
}

func newWarning(w *kasoku.Warning) Warning { return Warning{w.Code, w.Text, w.Hint} }

func newCommand(c *kasoku.Command) *Command {
	if c == nil {
		return nil
	}
	return &Command{
		Args: full(c.Args), ExitCode: c.ExitCode, Signal: c.Signal, Wall: c.Wall.Seconds(), User: c.User.Seconds(), System: c.System.Seconds(),
		MaxRSS: c.MaxRSSBytes, Voluntary: c.VoluntarySwitch, Forced: c.ForcedSwitch, Output: c.Output,
	}
}

// newStep is a step whose requests took so long in all.
func newStep(s *kasoku.Step, t *kasoku.Tally, taken time.Duration) Step {
	out := Step{
		Number: s.Number, From: s.Interval.From.Seconds(), To: s.Interval.To.Seconds(), Planned: s.Planned.Seconds(), Partial: s.Partial(),
		Counts: newCounts(t),
	}
	if s.PerSec > 0 || s.PerSecTo > 0 {
		out.PerSec = &s.PerSec
	}
	if s.PerSecTo > 0 {
		out.PerSecTo = &s.PerSecTo
	}
	if sec := taken.Seconds(); sec > 0 {
		out.Reached = known(float64(t.Success)/sec, true)
	}
	return out
}

func codes(in map[int]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for code, n := range in {
		if n > 0 {
			out[strconv.Itoa(code)] = n
		}
	}
	return out
}

func newFinding(number int, f *kasoku.Finding) Finding {
	return Finding{
		Number: number, ID: f.ID, Object: Object{f.Object.Kind,
			f.Object.Name}, Title: f.Title, Clause: f.Clause, Severity: string(f.Severity),
		Confidence: Confidence{string(f.Confidence.Level), f.Confidence.Holds, f.Confidence.Of, f.Confidence.Note},
		Impact:     Impact{f.Impact.Share, f.Impact.Of, f.Impact.Estimate, full(f.Impact.Shared)},
		Risk:       string(f.Risk()), Cause: f.Cause, Expect: f.Expect, Verify: f.Verify, Explains: full(f.Explains),
		From: f.Interval.From.Seconds(), To: f.Interval.To.Seconds(),
		Evidence: list(f.Evidence, func(e *kasoku.Evidence) Evidence {
			return Evidence{e.Source, e.Text, e.Note, e.Value, e.Number, e.Strong, e.Interval.From.Seconds(),
				e.Interval.To.Seconds()}
		}),
		Fixes: list(f.Fixes, func(x *kasoku.Fix) Fix {
			return Fix{x.Text, x.Where, x.Code, x.Lang, x.Note,
				string(x.Risk)}
		}),
	}
}

func newMessage(m *kasoku.Message) Message {
	return Message{m.Host, m.Path, m.Kind, m.Pattern, m.Sample, m.Level, m.Code, m.Count, m.Bytes, m.First.Seconds(),
		m.Last.Seconds()}
}

func newLog(w *kasoku.LogWindow) LogWindow {
	return LogWindow{w.Kind, w.Path, w.Format, w.Lines, w.Records, w.Continued, w.Blank, w.Dropped, w.Note}
}

func newRowCheck(c *kasoku.RowCheck) RowCheck {
	return RowCheck{c.Table, c.Added(), c.Successes, c.Matches()}
}

// newObserver adds up what the recorder said of itself; nil when it said nothing.
func newObserver(r *kasoku.Recording) *Observer {
	whole := kasoku.Interval{To: r.Run.Length + 1}
	out := &Observer{Sources: map[string]float64{}}
	any := false
	for i := range r.Series {
		s := &r.Series[i]
		if s.Key.Source != observe.SelfName {
			continue
		}
		any = true
		switch name := s.Key.Name; {
		case name == observe.SelfCPUUser || name == observe.SelfCPUSystem:
			used, _ := s.Delta(whole)
			out.CPU += used
		case name == observe.SelfRSS:
			if most, ok := s.Max(whole); ok {
				n := uint64(most)
				out.Memory = &n
			}
		case name == observe.SelfIORead || name == observe.SelfIOWrite:
			moved, _ := s.Delta(whole)
			n := uint64(moved)
			if name == observe.SelfIORead {
				out.Read = &n
			} else {
				out.Written = &n
			}
		case strings.HasPrefix(name, observe.SelfCostPrefix):
			used, _ := s.Delta(whole)
			out.Sources[strings.TrimPrefix(name, observe.SelfCostPrefix)] += used
		}
	}
	if !any {
		return nil
	}
	if sec := r.Run.Length.Seconds(); sec > 0 {
		out.CoreRatio = rounded(out.CPU / sec)
	}
	out.CPU = rounded(out.CPU)
	for name := range out.Sources {
		out.Sources[name] = rounded(out.Sources[name])
	}
	return out
}
