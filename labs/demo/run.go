package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// chapters is the number of parts that the story is reported in, "1/5" to "5/5".
const chapters = 5

// settle is how long a ladder's run goes on without load, so that connections
// that stay open can be distinguished from those that churn.
const settle = 2 * time.Second

// story is one running demo.
type story struct {
	o          Options
	stack      *userapi.Stack
	broken     float64 // the asked rate that broke; 0 until it is known
	before     *kasoku.Recording
	after      *kasoku.Recording
	tries      []Try
	comparison *compare.Comparison
}

// Result is the story with all that was recorded, as far as it got.
type Result struct {
	Summary    Summary
	Before     *kasoku.Recording // nil when there is none
	After      *kasoku.Recording
	Tries      []Try
	Comparison *compare.Comparison
}

// Run plays the story and returns what it came to. The result is filled as far
// as the story got, also with an error.
func Run(ctx context.Context, o Options) (res Result, err error) {
	o.defaults()
	if err := private.Output.MkdirAll(o.Dir); err != nil {
		return res, fmt.Errorf("make result directory: %w", err)
	}
	if err := clearResults(o.Dir); err != nil {
		return res, err
	}
	s := &story{o: o}
	defer func() {
		if s.stack != nil {
			err = errors.Join(err, s.stack.Down(context.WithoutCancel(ctx)))
		}
	}()
	o.Story.Chapter(1, chapters, fmt.Sprintf("Climb: %s, each step %s, open loop", printRates(o.Ladder), o.Each))
	s.stack, err = userapi.Up(ctx, userapi.Options{Dir: o.Work, Database: o.Database, Program: o.Program})
	if err != nil {
		return res, err
	}
	for _, chapter := range []func(context.Context) error{s.climb, s.diagnose, s.tryFixes, s.climbAgain, s.compare} {
		if err = chapter(ctx); err != nil {
			break
		}
	}
	res = Result{Before: s.before, After: s.after, Tries: s.tries, Comparison: s.comparison}
	res.Summary, err = s.finish(err)
	return res, err
}

// clearResults removes what an earlier demo left, and nothing else.
func clearResults(dir string) error {
	for _, pattern := range []string{"before.kasoku*", "after.kasoku*", "try-*.kasoku*", "report.html",
		"summary.json"} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("remove old result: %w", err)
			}
		}
	}
	return nil
}

// climb makes the run before, up to the first step that clearly breaks.
func (s *story) climb(ctx context.Context) (err error) {
	next := func(done []record.Done) (float64, bool) {
		if n := len(done); n > 0 && done[n-1].Tally.SuccessRatio() < kasoku.BrokenBelow {
			return 0, false
		}
		return s.rung(len(done))
	}
	s.before, err = s.run(ctx, "before", userapi.Seeded(), 0, next)
	if s.before != nil {
		s.o.Story.Run(s.before)
	}
	if err != nil {
		return err
	}
	ratios := make([]float64, len(s.before.Steps))
	for i, st := range s.before.Steps {
		ratios[i] = s.before.Tally(st.Number).SuccessRatio()
	}
	if i := kasoku.FirstBroken(ratios); i >= 0 {
		s.broken = s.before.Steps[i].PerSec
		return nil
	}
	return ErrNotReproducible
}

// rung returns the asked rate of step i, from 0: the ladder, then doubling.
func (s *story) rung(i int) (float64, bool) {
	if i < len(s.o.Ladder) {
		return s.o.Ladder[i], true
	}
	rate := s.o.Ladder[len(s.o.Ladder)-1]
	for range i - len(s.o.Ladder) + 1 {
		rate *= 2
	}
	return rate, rate <= s.o.Most
}

// diagnose reports the findings of the run before. They come from the file,
// opened afresh, so that anyone can find again what is reported.
func (s *story) diagnose(context.Context) error {
	s.o.Story.Chapter(2, chapters, "Diagnose the run")
	rec, err := store.Open(s.file("before"))
	if err != nil {
		return err
	}
	rec.Diagnosis = diagnose.Diagnose(diagnose.NewCase(rec, nil), rules.All())
	s.before = rec
	s.o.Story.Diagnosis(rec)
	return nil
}

// climbAgain makes the run after, with all fixes, up to the step that broke.
func (s *story) climbAgain(ctx context.Context) (err error) {
	s.o.Story.Chapter(4, chapters, "Apply all and climb again")
	next := func(done []record.Done) (float64, bool) {
		if len(done) >= len(s.before.Steps) {
			return 0, false
		}
		return s.before.Steps[len(done)].PerSec, true
	}
	s.after, err = s.run(ctx, "after", userapi.Tuned(), 0, next)
	if s.after != nil {
		s.o.Story.Run(s.after)
	}
	return err
}

func (s *story) compare(context.Context) error {
	s.o.Story.Chapter(5, chapters, "Compare before and after")
	c, err := compare.Compare([]*kasoku.Recording{s.before}, []*kasoku.Recording{s.after}, compare.Options{})
	if err != nil {
		return err
	}
	s.comparison = c
	s.o.Story.Comparison(c)
	return nil
}

func (s *story) file(label string) string { return filepath.Join(s.o.Dir, label+".kasoku") }

// run starts the service afresh, makes one recorded run and stops the service.
func (s *story) run(ctx context.Context, label string, d userapi.Defects, maxIdle int,
	next func([]record.Done) (float64, bool)) (*kasoku.Recording, error) {
	sender, _, err := engine.New(engine.Options{HTTP: nethttp.Options{Timeout: 10 * time.Second, Hard: s.o.Hard}},
		load.Plan{})
	if err != nil {
		return nil, err
	}
	ld := &record.Load{Engine: sender, Each: s.o.Each, Pause: s.o.Pause, Next: next}
	if label == "before" || label == "after" {
		ld.Settle = settle
	}
	res, err := record.Record(ctx, record.Options{
		Path: s.file(label),
		Run: kasoku.Run{Project: "userapi", Label: label, Note: "defects " + d.String(), Version: s.o.Version,
			Load: "POST /users, open loop"},
		Database: record.Database{MySQL: s.stack.DSN, SlowLog: true, CountRows: []string{"users"}},
		Settings: userapi.Settings(d, maxIdle),
		Sources:  record.Sources{AccessLog: s.stack.AccessLog, AppLog: s.stack.AppLog, PIDs: []int{s.stack.DB.Pid()}},
		Course: record.Course{Prepare: func(ctx context.Context, w record.Watch) error {
			pid, err := s.stack.StartApp(ctx, d, userapi.Knobs{MaxIdle: maxIdle})
			if err != nil {
				return err
			}
			w.Process(pid)
			ld.Targets = []load.Target{{Method: http.MethodPost, URL: s.stack.URL() + "/users"}}
			return nil
		},
			Load: ld},
		Rules:      rules.All(),
		Hard:       s.o.Hard,
		OnProgress: s.o.Story.Progress,
	})
	err = errors.Join(err, s.stack.StopApp())
	if res == nil {
		return nil, err
	}
	if res.Recording.Run.State != kasoku.Finished && err == nil {
		err = fmt.Errorf("run %s stopped: %s", label, res.Recording.Run.StopReason)
	}
	return res.Recording, err
}
