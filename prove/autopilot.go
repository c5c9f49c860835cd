package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/unit"
)

// A Target is what an autopilot drives.
type Target interface {
	// Run makes one measured, diagnosed run. The base is the id of the run that its
	// changes are tried upon; empty for the first.
	Run(ctx context.Context, label, base string) (*kasoku.Recording, error)
	// Apply makes changes so that they last over what a run begins with. After an
	// error nothing of them is left.
	Apply(ctx context.Context, edits []kasoku.Edit) error
	// Undo takes the last Apply back.
	Undo(ctx context.Context) error
	// Decided is called once the last step of a story is decided on, and taken back unless it
	// is kept: a change that is kept is to outlive the program. Of a step in which the context
	// ended it is not called, unless that is kept.
	Decided(ctx context.Context, s *Story) error
}

// DefaultMinGain is the least gain of the score for which a change is kept: two runs of
// the same thing commonly differ by some percent.
const DefaultMinGain = compare.LeastChange

// Pilot defines how an autopilot works.
type Pilot struct {
	For     time.Duration // no run is begun that would end later, but for the first and the confirmation of a change
	MinGain float64       // 0: DefaultMinGain
	Least   int           // runs a side before a change is kept; 0: 1
	Confirm bool          // run once more without a change that gained, before it is kept: a neighbour may have gone
	Earlier *Story        // what an autopilot did here before, which is gone on with; nil: nothing
	Kinds   []string      // of edits; none: all
	Risks   []kasoku.Risk // that are taken; none: RiskNone alone
	Answers Answers       // that no change may alter, asked for right before and after it; nil: none
	Now     func() time.Time
	OnStep  func(n int, f *kasoku.Finding, edits []kasoku.Edit) // before a change is made
	OnRun   func(rec *kasoku.Recording, outcome string)         // after a run, with what came of it
}

// What became of a change.
const (
	Kept      = "kept"
	TakenBack = "taken back"
	Refused   = "refused" // it could not be made
)

// A Step is one change of a story.
type Step struct {
	Number  int
	Finding kasoku.Finding
	Edits   []kasoku.Edit
	Runs    []*kasoku.Recording // with the change
	Before  float64             // score without it, the median of what is known
	After   float64
	Outcome string
	Why     string
}

// A Story is what an autopilot did.
type Story struct {
	First, Last float64 // scores
	Steps       []Step
	Start, End  *kasoku.Recording
	Runs        int
	Length      time.Duration
	Stopped     string // why it ended
}

// Edits returns the changes that were kept, in their order.
func (s *Story) Edits() (out []kasoku.Edit) {
	for i := range s.Steps {
		if s.Steps[i].Outcome == Kept {
			out = append(out, s.Steps[i].Edits...)
		}
	}
	return out
}

// A pilot is an autopilot at work.
type pilot struct {
	Pilot
	target  Target
	began   time.Time
	longest time.Duration
	story   *Story
	now     []*kasoku.Recording // runs of the present state
	spent   map[string]bool     // changes that had no effect in this state
	worse   map[string]int      // changes that were tried and not kept, ever
}

// Autopilot repeats: the best finding of the last run that takes no programmer, its change, a
// run with it; and keeps the change when the score gains at least MinGain, and each run with it
// scores more than each without. A change that gains less is measured once more, unless it lost
// more than a tenth. What was without effect may be
// tried once more after another change was kept, because one bottleneck hides the next.
//
// A change with which no run can be made is taken back. With an error, or when the context
// ends, the story until then is returned; a change that was not decided on is taken back.
func Autopilot(ctx context.Context, t Target, o Pilot) (*Story, error) {
	if o.MinGain == 0 {
		o.MinGain = DefaultMinGain
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Least = max(o.Least, 1)
	if len(o.Kinds) == 0 {
		o.Kinds = []string{kasoku.EditIndex, kasoku.EditVariable, kasoku.EditNginx}
	}
	if len(o.Risks) == 0 {
		o.Risks = []kasoku.Risk{kasoku.RiskNone}
	}
	p := &pilot{Pilot: o, target: t, began: o.Now(), story: &Story{}, spent: map[string]bool{}, worse: map[string]int{}}
	p.goOn(o.Earlier)
	err := p.fly(ctx)
	p.story.Length = o.Now().Sub(p.began)
	if len(p.now) > 0 {
		p.story.End, p.story.Last = p.now[len(p.now)-1], medianScore(p.now)
	}
	return p.story, err
}

// goOn takes over what was tried before: what was not kept is tried no more often for it.
func (p *pilot) goOn(earlier *Story) {
	if earlier == nil {
		return
	}
	p.story.First, p.story.Steps = earlier.First, slices.Clone(earlier.Steps)
	for i := range earlier.Steps {
		s := &earlier.Steps[i]
		k := keyOf(s.Edits)
		switch {
		case s.Outcome == Kept:
			clear(p.spent)
			continue
		case s.Outcome == Refused, s.After < (1-clearWorse)*s.Before: // with other answers there is no run
			p.worse[k] = mostTries
		default:
			p.worse[k]++
		}
		p.spent[k] = true
	}
}

func (p *pilot) fly(ctx context.Context) error {
	if err := p.start(ctx); err != nil || p.story.Stopped != "" {
		return err
	}
	for n := len(p.story.Steps) + 1; ; n++ {
		f, edits := p.best(p.now[len(p.now)-1])
		switch {
		case f == nil:
			p.story.Stopped = "no finding is left that takes no programmer"
			return nil
		case p.Now().Add(p.most() * p.longest).After(p.began.Add(p.For)):
			p.story.Stopped = "the time is over"
			return nil
		}
		s := Step{Number: n, Finding: *f, Edits: edits, Before: medianScore(p.now)}
		err := p.step(ctx, &s)
		p.story.Steps = append(p.story.Steps, s)
		if ctx.Err() == nil || s.Outcome == Kept { // one that was stopped is tried again
			err = errors.Join(err, contain.Do(pilotPart, func() error { return p.target.Decided(ctx, p.story) }))
		}
		if err != nil {
			return err
		}
	}
}

// start measures what there is. Nothing can be compared with a run that is worth nothing.
func (p *pilot) start(ctx context.Context) error {
	for range p.Least {
		rec, err := p.run(ctx, "start", "")
		if err != nil {
			return err
		}
		if p.story.Start == nil {
			p.story.Start = rec
		}
		if p.now = append(p.now, rec); isWorthless(rec) {
			p.story.Stopped = "the first run failed: nothing can be compared with it"
			break
		}
	}
	if len(p.story.Steps) == 0 {
		p.story.First = medianScore(p.now)
	}
	return nil
}

// run makes a run and notes how long it took.
func (p *pilot) run(ctx context.Context, label, outcome string) (*kasoku.Recording, error) {
	began := p.Now()
	base := ""
	if len(p.now) > 0 && label != "start" {
		base = p.now[0].Run.ID
	}
	rec, err := p.target.Run(ctx, label, base)
	if rec != nil {
		p.story.Runs++
		p.longest = max(p.longest, p.Now().Sub(began))
		if p.OnRun != nil {
			p.OnRun(rec, outcome)
		}
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return rec, err
}

// keyOf distinguishes changes. The order of edits does not: it is that of what each saved in
// the last run.
func keyOf(edits []kasoku.Edit) string {
	var all []string
	for _, e := range edits {
		all = append(all, fmt.Sprintf("%s|%s|%s|%s\n", e.Kind, e.Do, e.Context, e.Lines))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// mostTries is how often one change is tried; one that lost clearWorse of the score is
// neither measured once more nor tried again.
const (
	mostTries  = 2
	clearWorse = 0.1
)

// best returns the first finding of a run whose change may be made by itself and was not tried: problems,
// then what settings cost, then remarks.
func (p *pilot) best(rec *kasoku.Recording) (*kasoku.Finding, []kasoku.Edit) {
	if rec.Diagnosis == nil {
		return nil, nil
	}
	var problems, remarks []kasoku.Finding
	for _, f := range rec.Diagnosis.Findings {
		switch f.Severity {
		case kasoku.Problem:
			problems = append(problems, f)
		case kasoku.Info:
			remarks = append(remarks, f)
		}
	}
	for _, f := range slices.Concat(problems, scoredSettings(rec.Advice), remarks) {
		for j := range f.Fixes {
			one := f
			one.Fixes = f.Fixes[j : j+1]
			edits := Edits(&one, p.Kinds...)
			risk := cmp.Or(f.Fixes[j].Risk, kasoku.RiskNone)
			if k := keyOf(edits); len(edits) > 0 && slices.Contains(p.Risks, risk) && !p.spent[k] && p.worse[k] < mostTries {
				return &one, edits
			}
		}
	}
	return nil, nil
}

// scoredSettings returns what the advice on settings proposes, as findings, where its check says that a run's
// score shows what it gains.
func scoredSettings(advice []kasoku.Advice) (out []kasoku.Finding) {
	for _, a := range advice {
		if !settings.ShowsInScore(&a) {
			continue
		}
		out = append(out, kasoku.Finding{ID: a.ID, Severity: kasoku.Info, Title: a.Title, Confidence: a.Confidence,
			Object: kasoku.Object{Kind: "variable", Name: a.Variable}, Cause: a.Measured + "; " + a.Note, Expect: a.Gain,
			Fixes: []kasoku.Fix{{Text: "Set the variable", Risk: a.Risk, Note: a.Price, Edits: []kasoku.Edit{{
				Kind: kasoku.EditVariable, Do: strings.TrimSuffix(a.SetGlobal, ";"), Conf: a.ConfLine}}}}})
	}
	return out
}

// undoWithin bounds the way back.
const undoWithin = 2 * time.Minute

// step makes one change and decides on it.
func (p *pilot) step(ctx context.Context, s *Step) (err error) {
	if p.OnStep != nil {
		p.OnStep(s.Number, &s.Finding, s.Edits)
	}
	k := keyOf(s.Edits)
	p.spent[k] = true
	if p.Answers != nil {
		if err := contain.Do(pilotPart, func() error { return p.Answers.Keep(ctx) }); err != nil {
			s.Outcome, s.Why = Refused, err.Error()
			return err
		}
	}
	err = contain.Do(pilotPart, func() error { return p.target.Apply(ctx, s.Edits) })
	if bug := new(contain.Bug); errors.As(err, &bug) {
		s.Outcome, s.Why = TakenBack, err.Error()
		return errors.Join(err, p.undo(ctx)) // what it had made by then is not known
	}
	if err != nil {
		s.Outcome, s.Why = Refused, err.Error()
		p.worse[k] = mostTries
		return ctx.Err()
	}
	if p.Answers != nil {
		var differs []string
		err := contain.Do(pilotPart, func() (err error) { differs, err = p.Answers.Differences(ctx); return err })
		if err != nil || len(differs) > 0 {
			s.Outcome, s.Why = TakenBack, "answers differ: "+strings.Join(differs, "; ")
			if err != nil {
				s.Why = "the answers could not be compared: " + err.Error()
			}
			p.worse[k] = mostTries
			return errors.Join(err, ctx.Err(), p.undo(ctx))
		}
	}
	return p.measure(ctx, s)
}

// measure runs with a change in force, decides on it, and takes it back unless it is kept.
func (p *pilot) measure(ctx context.Context, s *Step) error {
	k := keyOf(s.Edits)
	label := fmt.Sprintf("%d-%s", s.Number, strings.ToLower(s.Finding.ID))
	for {
		var verdict string
		if bug := contain.Run(pilotPart, func() {
			rec, runErr := p.run(ctx, label, s.Finding.ID)
			if rec != nil && runErr == nil {
				s.Runs = append(s.Runs, rec)
				s.After = medianScore(s.Runs)
			}
			verdict = p.verdict(s, runErr)
		}); bug != nil {
			verdict, s.Why = TakenBack, bug.Error()
		}
		if verdict == "" {
			continue // once more
		}
		if s.Outcome = verdict; verdict == Kept && p.Confirm {
			if err := p.confirm(ctx, s, label); err != nil {
				return err
			}
		}
		if s.Outcome == Kept {
			p.now = s.Runs
			clear(p.spent)
			return nil
		}
		p.worse[k]++
		if s.After < (1-clearWorse)*s.Before {
			p.worse[k] = mostTries
		}
		if verdict == Kept {
			return nil // it is taken back already
		}
		return errors.Join(ctx.Err(), p.undo(ctx))
	}
}

// most is how many runs a change may take.
func (p *pilot) most() time.Duration {
	if p.Confirm {
		return time.Duration(p.Least + 1)
	}
	return time.Duration(p.Least)
}

// confirm takes a change back that gained, runs once more without it, and makes it again where
// that run scores less than each with it, too.
func (p *pilot) confirm(ctx context.Context, s *Step, label string) error {
	s.Outcome = TakenBack
	if err := p.undo(ctx); err != nil {
		s.Why = "it could not be taken back, to run without it: " + err.Error()
		return err
	}
	var rec *kasoku.Recording
	err := contain.Do(pilotPart, func() (err error) { rec, err = p.run(ctx, label+"-without", s.Finding.ID); return err })
	if err != nil || rec == nil {
		s.Why = "no second run without it"
		return err
	}
	p.now = append(p.now, rec)
	s.Before = medianScore(p.now)
	if p.verdict(s, nil) != Kept {
		s.Why = fmt.Sprintf("a run without it, made after them, scored %s; %s", unit.Plain(scoreOf(rec)), s.Why)
		return nil
	}
	if err := contain.Do(pilotPart, func() error { return p.target.Apply(ctx, s.Edits) }); err != nil {
		s.Why = "it could not be made again: " + err.Error()
		return errors.Join(err, ctx.Err())
	}
	s.Outcome = Kept
	return nil
}

// pilotPart names what is done with a change in force: a panic takes it back.
var pilotPart = contain.Part{Kind: contain.Step, Name: "autopilot"}

// undo takes the last change back, also when the context has ended.
func (p *pilot) undo(ctx context.Context) error {
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	return p.target.Undo(back)
}

// verdict decides on a change, empty when another run is to say.
func (p *pilot) verdict(s *Step, err error) string {
	if err != nil {
		s.Why = "no run with it: " + err.Error()
		return TakenBack
	}
	gain := s.After/max(s.Before, 1e-9) - 1
	runs := unit.Counted(len(s.Runs), "run", "runs") + " against " + unit.Count(len(p.now))
	s.Why = fmt.Sprintf("score %s → %s, %+.1f %%, %s", unit.Plain(s.Before), unit.Plain(s.After), 100*gain, runs)
	if c, err := compare.Compare(p.now, s.Runs, compare.Options{}); err == nil {
		s.Why += "; " + c.Verdict
	}
	last := s.Runs[len(s.Runs)-1]
	switch {
	case isWorthless(last):
		s.Why = "the run failed; " + s.Why
		return TakenBack
	case gain >= p.MinGain && len(s.Runs) >= p.Least && allAbove(s.Runs, p.now):
		return Kept
	case len(s.Runs) >= max(2, p.Least), gain < -clearWorse:
		return TakenBack
	}
	return ""
}

// allAbove reports whether each of some runs scores more than each of others: what is seen
// once in six times of two runs a side that are worth the same.
func allAbove(runs, others []*kasoku.Recording) bool {
	for _, r := range runs {
		for _, o := range others {
			if scoreOf(r) <= scoreOf(o) {
				return false
			}
		}
	}
	return true
}

// scoreOf is the score of a run; one that failed counts as 0.
func scoreOf(r *kasoku.Recording) float64 {
	if isWorthless(r) {
		return 0
	}
	return r.Run.Score.Value
}

// isWorthless reports whether a run is worth nothing.
func isWorthless(rec *kasoku.Recording) bool {
	sc := rec.Run.Score
	return sc == nil || sc.Outcome == kasoku.Failed || rec.WhyFailed() != ""
}

// medianScore is the median of the scores of runs.
func medianScore(runs []*kasoku.Recording) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, scoreOf(r))
	}
	return median.Of(all)
}
