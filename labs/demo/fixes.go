package demo

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/record"
)

// fix is one change of the service, tried alone.
type fix struct {
	id, what string
	defects  userapi.Defects
	maxIdle  int
	control  bool
}

func allFixes() []fix {
	seeded := userapi.Seeded()
	without := func(id, what string) fix { return fix{id: id, what: what, defects: seeded.Without(id)} }
	return []fix{
		without("POOL-01", "keep up to 1,000 idle connections, open ones uncapped"),
		{id: "POOL-03", what: "raise the idle pool from 1,000 to 10,000 (control)", defects: seeded.Without("POOL-01"),
			maxIdle: 10_000, control: true},
		without("POOL-02", "cap open connections at 100, raise max_connections to 300"),
		without("DRV-04", "INSERT instead of the mapper's save"),
		without("DRV-01", "interpolateParams=true"),
		without("DRV-05", "no SQL in the application's log"),
	}
}

// tryFixes runs the breaking step once for each fix.
func (s *story) tryFixes(ctx context.Context) error {
	s.o.Story.Chapter(3, chapters, fmt.Sprintf("Try each fix alone at %s, %s each", printRate(s.broken), s.o.Each))
	var uncapped *kasoku.Recording // of POOL-01's fix, of which the control changes one thing
	for _, f := range allFixes() {
		rec, err := s.once(ctx, f.id, f)
		if err != nil {
			return err
		}
		if f.id == "POOL-01" {
			uncapped = rec
		}
		effect, err := s.judge(ctx, f, rec, uncapped)
		if err != nil {
			return err
		}
		try := Try{ID: f.id, What: f.what, Effect: effect, Control: f.control, File: s.file("try-" + f.id)}
		s.tries = append(s.tries, try)
		s.o.Story.Try(try)
	}
	return nil
}

// cut returns the step of a run that was asked at the rate that broke.
func (s *story) cut(rec *kasoku.Recording) compare.Cut {
	for _, st := range rec.Steps {
		if st.PerSec == s.broken {
			return compare.Cut{Run: rec, Step: st.Number}
		}
	}
	return compare.Cut{Run: rec}
}

// once makes one run of the breaking step with a fix.
func (s *story) once(ctx context.Context, name string, f fix) (*kasoku.Recording, error) {
	next := func(done []record.Done) (float64, bool) { return s.broken, len(done) == 0 }
	return s.run(ctx, "try-"+name, f.defects, f.maxIdle, next)
}

// judge describes what a fix did, against the run before; the control against the run
// of which it changes one thing.
//
// The seconds of one run do not show how much runs differ. So where the control
// seems to do something, the run that it is held against is made again, unchanged:
// what it does not do against both is no effect.
func (s *story) judge(ctx context.Context, f fix, rec, uncapped *kasoku.Recording) (*compare.EffectResult, error) {
	if !f.control {
		return compare.Effect(s.cut(s.before), s.cut(rec), compare.Options{})
	}
	first, err := compare.Effect(s.cut(uncapped), s.cut(rec), compare.Options{})
	if err != nil || first.Verdict == compare.NoEffect {
		return first, err
	}
	same := f
	same.maxIdle = 0
	again, err := s.once(ctx, f.id+"-repeat", same)
	if err != nil {
		return nil, err
	}
	second, err := compare.Effect(s.cut(again), s.cut(rec), compare.Options{})
	if err != nil {
		return nil, err
	}
	if first.Verdict.Gain() != second.Verdict.Gain() || second.Verdict == compare.NoEffect {
		first.Verdict = compare.NoEffect
	}
	first.Why += "; against an unchanged repeat: " + second.Why
	return first, nil
}
