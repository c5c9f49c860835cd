package recordcmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
)

// printEnd prints what came of the runs.
func (s *series) printEnd() {
	var all []*kasoku.Recording
	for _, g := range s.groups {
		all = append(all, g.runs...)
	}
	if len(all) == 0 {
		return
	}
	var previous []*kasoku.Recording
	if now := finishedRuns(all); len(now) > 0 {
		previous = previousRuns(s.dir, now[0].Run)
	}
	for _, rec := range previous {
		cli.CountBefore(s.e, rec.Warnings)
	}
	switch {
	case s.planned() == 1:
		shown := s.e.ShowRun(all[0], s.last.Path)
		shown.Brief = true
		out := cli.Output{Format: "text"}
		if err := out.Print(s.e, shown); err != nil {
			s.e.Caution(err.Error(), "")
		}
	default:
		for _, g := range s.groups {
			s.printGroup(g)
		}
	}
	if s.f.ab {
		s.printObserverCost()
		s.sayWarnings(all, kasoku.Spoiled)
		return
	}
	before := s.printAgainst(previous, all)
	if s.planned() != 1 {
		s.printFirstFinding(all)
	}
	switch {
	case before != "":
		fmt.Fprintf(s.e.Stdout, "next     %s compare %s %s\n", s.e.Name, before, nameOf(all))
	case all[0].Diagnosis != nil && firstProblem(all[0].Diagnosis) != nil:
		fmt.Fprintf(s.e.Stdout, "next     %s show %s\n", s.e.Name, nameOf(all[:1]))
	}
}

// A figure is one quantity of a run; ok is false where it was not measured.
type figure struct {
	name  string
	goal  compare.Goal
	of    func(*kasoku.Recording) (v float64, ok bool)
	print func(float64) string
}

// endFigures are what is printed at the end, in order.
func endFigures() []figure {
	summed := func(read func(*kasoku.Summary) float64) func(*kasoku.Recording) (float64, bool) {
		return func(rec *kasoku.Recording) (float64, bool) {
			if rec.Summary == nil || rec.Summary.Requests == 0 {
				return 0, false
			}
			v := read(rec.Summary)
			return v, v > 0
		}
	}
	return []figure{
		{"score", compare.More, func(rec *kasoku.Recording) (float64, bool) {
			if rec.Run.Score == nil {
				return 0, false
			}
			return rec.Run.Score.Value, true
		}, unit.Plain},
		{"req/s", compare.More, summed(func(x *kasoku.Summary) float64 { return x.PerSec }), unit.Sig3},
		{"p99", compare.Less, summed(func(x *kasoku.Summary) float64 { return x.P99.Seconds() }),
			func(v float64) string { return unit.Duration(time.Duration(v * float64(time.Second))) }},
	}
}

// values returns the figure of each run that has it.
func (f figure) values(runs []*kasoku.Recording) []float64 {
	var out []float64
	for _, rec := range runs {
		if v, ok := f.of(rec); ok {
			out = append(out, v)
		}
	}
	return out
}

// printGroup prints medians and spread of a group, and how many passed.
func (s *series) printGroup(g *runGroup) {
	head := g.id
	if s.f.ab {
		head += ", observers " + map[bool]string{true: "off", false: "on"}[g.observers == kasoku.ObserversOff]
	}
	fmt.Fprintf(s.e.Stdout, "%s of %s\n", unit.Counted(len(g.runs), "run", "runs"), head)
	for _, f := range endFigures() {
		sample := compare.Samples(f.values(g.runs), nil, f.goal).Before
		if sample.N == 0 {
			continue
		}
		line := fmt.Sprintf("  %-6s  %s", f.name, f.print(sample.Median))
		if sample.N > 1 {
			line = fmt.Sprintf("  %-6s  median %s, from %s to %s", f.name, f.print(sample.Median), f.print(sample.Least),
				f.print(sample.Most))
		}
		if sample.N < len(g.runs) {
			line += fmt.Sprintf(", in %d of %d runs", sample.N, len(g.runs))
		}
		if sample.Exact {
			line += fmt.Sprintf("; 95 %% interval of the median %s to %s", f.print(sample.Low), f.print(sample.High))
		}
		fmt.Fprintln(s.e.Stdout, line)
	}
	judged, passed := 0, 0
	for _, rec := range g.runs {
		bad, code := cli.HasFailed(rec)
		if sc := rec.Run.Score; code != 0 || sc != nil && sc.Outcome != kasoku.Unjudged {
			judged++
			if !bad {
				passed++
			}
		}
	}
	if judged > 0 {
		fmt.Fprintf(s.e.Stdout, "  %-6s  %d of %d\n", "passed", passed, len(g.runs))
	}
}

// printAgainst compares with the runs before of the same project and load, and returns
// their name; empty when there is nothing to compare.
func (s *series) printAgainst(before, now []*kasoku.Recording) (name string) {
	now = finishedRuns(now)
	if len(now) == 0 {
		return ""
	}
	if len(before) == 0 {
		if now[0].Run.Base != "" {
			base, why := unlikeBase(s.dir, now[0].Run)
			s.e.SayLine("before   not compared with %s: %s", base, why)
		}
		return ""
	}
	c, err := compare.Compare(before, now, compare.Options{Unchanged: unchangedFor([]string{s.dir}, before, now)})
	if err != nil {
		s.e.SayLine("before   %s cannot be compared: %v", nameOf(before), err)
		return ""
	}
	s.e.SayLine("before   %s: %s", nameOf(before), c.Verdict)
	if c.Incomparable() != "" {
		return ""
	}
	return nameOf(before)
}

// nameOf is a name that finds the runs: their group, or the id of the one.
func nameOf(runs []*kasoku.Recording) string { return cmp.Or(runs[0].Run.Group, runs[0].Run.ID) }

func finishedRuns(runs []*kasoku.Recording) []*kasoku.Recording {
	return slices.DeleteFunc(slices.Clone(runs), func(r *kasoku.Recording) bool { return r.Run.State != kasoku.Finished })
}

// unchangedFor finds unchanged runs for a comparison of one against one.
func unchangedFor(dirs []string, before, after []*kasoku.Recording) []*kasoku.Recording {
	if len(before) > 1 || len(after) > 1 {
		return nil
	}
	return cli.UnchangedRuns(dirs, before[0], after[0])
}

// previousRuns reads the base of this run, else the newest finished run before it of the
// same project, load and observers, and all of its group.
func previousRuns(dir string, now kasoku.Run) []*kasoku.Recording {
	runs, err := store.List(dir)
	if err != nil {
		return nil
	}
	runs = slices.DeleteFunc(runs, func(r store.Info) bool {
		return r.Err != nil || r.State != kasoku.Finished || r.Checkpoint() || !r.Started.Before(now.Started) ||
			r.Project != now.Project || r.Load != now.Load || r.Observers != now.Observers ||
			r.ID == now.ID || now.Group != "" && r.Group == now.Group
	})
	if now.Base != "" { // no other run takes its place
		at := slices.IndexFunc(runs, func(r store.Info) bool { return r.ID == now.Base })
		if at < 0 {
			return nil
		}
		runs = runs[at:]
	}
	var out []*kasoku.Recording
	for i, r := range runs { // the newest first
		if i > 0 && (r.Group == "" || r.Group != runs[0].Group) {
			continue
		}
		if rec, err := store.Open(r.Path); err == nil {
			out = append(out, rec)
		}
	}
	slices.Reverse(out)
	return out
}

// unlikeBase describes why a run is not compared with its base, and names that as
// [nameOf] does.
func unlikeBase(dir string, now kasoku.Run) (name, why string) {
	runs, err := store.List(dir)
	if err != nil {
		return now.Base, err.Error()
	}
	at := slices.IndexFunc(runs, func(r store.Info) bool { return r.ID == now.Base })
	if at < 0 {
		return now.Base, "it is not there any more"
	}
	r := runs[at]
	name = cmp.Or(r.Group, r.ID)
	switch {
	case r.Err != nil:
		why = r.Err.Error()
	case r.State != kasoku.Finished:
		why = "it was not finished"
	case r.Project != now.Project:
		why = fmt.Sprintf("it is of another project, %q", r.Project)
	case r.Load != now.Load:
		why = fmt.Sprintf("its load is another, %q", r.Load)
	case r.Observers != now.Observers:
		why = "observers were on in one of the two alone"
	default:
		why = "it cannot be read, or is no run before this one"
	}
	return name, why
}

// printFirstFinding prints what to do first, seen over all runs.
func (s *series) printFirstFinding(runs []*kasoku.Recording) {
	last := runs[len(runs)-1]
	c := diagnose.NewCase(last, nil)
	c.Repeats = runs[:len(runs)-1]
	d := diagnose.Diagnose(c, rules.All())
	s.after.verdict = d.Verdict
	s.sayFirst(d, runs)
}

// sayFirst prints what to do first by one diagnosis, and what takes from what the runs say.
func (s *series) sayFirst(d *kasoku.Diagnosis, runs []*kasoku.Recording) {
	s.e.SayLine("verdict  %s", d.Verdict)
	s.sayWarnings(runs, kasoku.Blind)
	if f := firstProblem(d); f != nil {
		s.e.SayLine("finding  %s  %s", f.ID, f.Title)
	}
}

// sayWarnings prints the warnings of runs that are of this weight or heavier, each once; a hint
// that several have follows the first.
func (s *series) sayWarnings(runs []*kasoku.Recording, least kasoku.Weight) {
	var all []kasoku.Warning
	for _, rec := range runs {
		all = append(all, rec.Warnings...)
	}
	var hints []string
	for _, w := range kasoku.ByWeight(all) {
		if w.Weight() > least || !s.e.Unsaid(w) {
			continue
		}
		s.e.SayLine("warning  %s", w.Text)
		hint := w.Hint
		if strings.Contains(hint, "\n") { // lines of a configuration
			hint = "`" + s.e.Name + " doctor` has what to write where"
		}
		if hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
			s.e.SayLine("hint     %s", hint)
		}
	}
}

// sayEarly prints what a run says to do first while others are still to come: of the first run
// all, of a later one what no run before it put first.
func (s *series) sayEarly(rec *kasoku.Recording) {
	if s.f.ab || s.made == s.planned() || rec.Diagnosis == nil {
		return
	}
	other := false
	if f := firstProblem(rec.Diagnosis); f != nil {
		said := f.ID + " " + f.Object.Name
		if other = !slices.Contains(s.first, said); other {
			s.first = append(s.first, said)
		}
	}
	if s.made == 1 || other {
		s.sayFirst(rec.Diagnosis, []*kasoku.Recording{rec})
	}
}

// firstProblem is the finding to begin with; nil where there are remarks alone.
func firstProblem(d *kasoku.Diagnosis) *kasoku.Finding {
	at := slices.IndexFunc(d.Findings, func(f kasoku.Finding) bool { return f.Severity == kasoku.Problem })
	if at < 0 {
		return nil
	}
	return &d.Findings[at]
}

// printObserverCost prints what observation costs.
func (s *series) printObserverCost() {
	var on, off []*kasoku.Recording
	for _, g := range s.groups {
		if g.observers == kasoku.ObserversOff {
			off = finishedRuns(g.runs)
		} else {
			on = finishedRuns(g.runs)
		}
	}
	printed := false
	for _, f := range endFigures() {
		without, with := f.values(off), f.values(on)
		if len(without) == 0 || len(with) == 0 {
			continue
		}
		sig := compare.Samples(without, with, f.goal)
		fmt.Fprintf(s.e.Stdout, "cost of observation  off → on: %s %s → %s: %s\n", f.name, f.print(sig.Before.Median),
			f.print(sig.After.Median), strings.TrimSpace(sig.Why))
		printed = true
	}
	if !printed {
		fmt.Fprintln(s.e.Stdout, "cost of observation  unknown: neither a score nor requests were counted on both sides")
	}
}
