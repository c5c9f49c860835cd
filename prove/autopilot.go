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
}

// DefaultMinGain is the least gain of the score for which a change is kept: two runs of
// the same thing commonly differ by some percent.
const DefaultMinGain = compare.LeastChange

// Pilot defines how an autopilot works.
type Pilot struct {
	For     time.Duration // no run is begun that would end later, but for the first and the confirmation of a change
	MinGain float64       // 0: DefaultMinGain
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
// run with it; and keeps the change when the score gains at least MinGain. A change that gains
// less is measured once more, unless it lost more than a tenth. What was without effect may be
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
	if len(o.Kinds) == 0 {
		o.Kinds = []string{kasoku.EditIndex, kasoku.EditVariable, kasoku.EditNginx}
	}
	if len(o.Risks) == 0 {
		o.Risks = []kasoku.Risk{kasoku.RiskNone}
	}
	p := &pilot{Pilot: o, target: t, began: o.Now(), story: &Story{}, spent: map[string]bool{}, worse: map[string]int{}}
	err := p.fly(ctx)
	p.story.Length = o.Now().Sub(p.began)
	if len(p.now) > 0 {
		p.story.End, p.story.Last = p.now[len(p.now)-1], medianScore(p.now)
	}
	return p.story, err
}

func (p *pilot) fly(ctx context.Context) error {
	first, err := p.run(ctx, "start", "")
	if err != nil {
		return err
	}
	p.story.Start, p.now = first, []*kasoku.Recording{first}
	p.story.First = medianScore(p.now)
	for n := 1; ; n++ {
		f, edits := p.best(p.now[len(p.now)-1].Diagnosis)
		switch {
		case f == nil:
			p.story.Stopped = "no finding is left that takes no programmer"
			return nil
		case p.Now().Add(p.longest).After(p.began.Add(p.For)):
			p.story.Stopped = "the time is over"
			return nil
		}
		s := Step{Number: n, Finding: *f, Edits: edits, Before: medianScore(p.now)}
		err := p.step(ctx, &s)
		p.story.Steps = append(p.story.Steps, s)
		if err != nil {
			return err
		}
	}
}

// run makes a run and notes how long it took.
func (p *pilot) run(ctx context.Context, label, outcome string) (*kasoku.Recording, error) {
	began := p.Now()
	base := ""
	if len(p.now) > 0 {
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

// keyOf distinguishes changes.
func keyOf(edits []kasoku.Edit) string {
	var b strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", e.Kind, e.Do, e.Context, e.Lines)
	}
	return b.String()
}

// mostTries is how often one change is tried; one that lost clearWorse of the score is
// neither measured once more nor tried again.
const (
	mostTries  = 2
	clearWorse = 0.1
)

// best returns the first finding whose change may be made by itself and was not tried.
func (p *pilot) best(d *kasoku.Diagnosis) (*kasoku.Finding, []kasoku.Edit) {
	if d == nil {
		return nil, nil
	}
	for _, severity := range []kasoku.Severity{kasoku.Problem, kasoku.Info} {
		for i := range d.Findings {
			f := &d.Findings[i]
			if f.Severity != severity {
				continue
			}
			for j := range f.Fixes {
				one := *f
				one.Fixes = f.Fixes[j : j+1]
				edits := Edits(&one, p.Kinds...)
				risk := cmp.Or(f.Fixes[j].Risk, kasoku.RiskNone)
				if k := keyOf(edits); len(edits) > 0 && slices.Contains(p.Risks, risk) && !p.spent[k] && p.worse[k] < mostTries {
					return &one, edits
				}
			}
		}
	}
	return nil, nil
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
		s.Outcome = verdict
		if verdict == Kept {
			p.now = s.Runs
			clear(p.spent)
			return nil
		}
		p.worse[k]++
		if s.After < (1-clearWorse)*s.Before {
			p.worse[k] = mostTries
		}
		return errors.Join(ctx.Err(), p.undo(ctx))
	}
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
	runs := unit.Counted(len(s.Runs), "run", "runs")
	s.Why = fmt.Sprintf("score %s → %s, %+.1f %%, %s", unit.Plain(s.Before), unit.Plain(s.After), 100*gain, runs)
	if c, err := compare.Compare(p.now, s.Runs, compare.Options{}); err == nil {
		s.Why += "; " + c.Verdict
	}
	last := s.Runs[len(s.Runs)-1]
	switch {
	case isWorthless(last):
		s.Why = "the run failed; " + s.Why
		return TakenBack
	case gain >= p.MinGain:
		return Kept
	case len(s.Runs) > 1, gain < -clearWorse:
		return TakenBack
	}
	return ""
}

// isWorthless reports whether a run is worth nothing.
func isWorthless(rec *kasoku.Recording) bool {
	sc := rec.Run.Score
	return sc == nil || sc.Outcome == kasoku.Failed
}

// medianScore is the median of the scores of runs; one that failed counts as 0.
func medianScore(runs []*kasoku.Recording) float64 {
	var all []float64
	for _, r := range runs {
		v := 0.0
		if !isWorthless(r) {
			v = r.Run.Score.Value
		}
		all = append(all, v)
	}
	return median.Of(all)
}
