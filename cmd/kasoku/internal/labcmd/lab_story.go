package labcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/insertbench"
	"github.com/kasoku/kasoku/labs/isucholar"
	"github.com/kasoku/kasoku/labs/isucond"
	"github.com/kasoku/kasoku/labs/isuportal"
	"github.com/kasoku/kasoku/labs/isutrain"
	"github.com/kasoku/kasoku/labs/isuumo/story"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/labs/writeup"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record"
)

// writtenUp is a lab's write-up with how a step of it is run here.
type writtenUp struct {
	*writeup.Story
	each time.Duration // the load of a step, unless another time is given
	// run makes the run of a step.
	run func(ctx context.Context, r *labRuns, o *labRecord, step string) (*labRunResult, error)
	// figures are what a run came to, in the order of the story's.
	figures func(*labRunResult) []float64
}

// stories are the labs that have a story.
func stories() []writtenUp {
	return []writtenUp{
		{userapi.Story(), 10 * time.Second, runUserapiStep, userapiFigures},
		smallStory(insertbench.Lab(), 25*time.Second, func(r *kasoku.Recording) []float64 {
			return []float64{insertbench.Seconds(scoreOf(r))}
		}),
		{story.Of(), 20 * time.Second, runIsuumoStep, isuumoFigures},
		smallStory(isucond.Lab(), 15*time.Second, func(r *kasoku.Recording) []float64 {
			return []float64{scoreOf(r), meanOf(r, isucond.ReportEndpoint), meanOf(r, isucond.TrendEndpoint)}
		}),
		smallStory(isucholar.Lab(), 15*time.Second, func(r *kasoku.Recording) []float64 {
			return []float64{scoreOf(r), failedPercent(r)}
		}),
		smallStory(isuportal.Lab(), 30*time.Second, func(r *kasoku.Recording) []float64 {
			return []float64{passedScore(r), meanOf(r, isuportal.AudienceEndpoint),
				meanOf(r, isuportal.NotificationsEndpoint)}
		}),
		smallStory(isutrain.Lab(), 40*time.Second, func(r *kasoku.Recording) []float64 {
			return []float64{passedScore(r), meanOf(r, isutrain.SearchEndpoint)}
		}),
		carbonStory(),
	}
}

// smallStory is that of a lab of package kit, loaded by its benchmark where it has one.
func smallStory(l *kit.Lab, each time.Duration, figures func(*kasoku.Recording) []float64) writtenUp {
	return writtenUp{l.Story, each, func(ctx context.Context, r *labRuns, o *labRecord, step string) (*labRunResult, error) {
		o.flags.set["variant"], o.flags.variant, o.flags.bench = true, step, true
		return resultOf(r.oneOf(ctx, smallLab(l), o))
	}, func(r *labRunResult) []float64 { return figures(r.rec) }}
}

// scoreOf is what the benchmark said.
func scoreOf(r *kasoku.Recording) float64 {
	if r.Run.Score == nil {
		return writeup.Missing
	}
	return r.Run.Score.Value
}

// passedScore is what the benchmark said, 0 of a run that failed, as in a contest.
func passedScore(r *kasoku.Recording) float64 {
	if r.Run.Score != nil && r.Run.Score.Outcome == kasoku.Failed {
		return 0
	}
	return scoreOf(r)
}

// failedPercent is the share of the load's requests that were not answered well.
func failedPercent(r *kasoku.Recording) float64 {
	if len(r.Steps) == 0 {
		return writeup.Missing
	}
	t := r.Tally(r.Steps[0].Number)
	return 100 * (1 - t.SuccessRatio())
}

// meanOf is the mean latency, in milliseconds, of the endpoints that begin so.
func meanOf(r *kasoku.Recording, prefix string) float64 {
	var total time.Duration
	var n uint64
	for i := range r.Endpoints {
		if e := &r.Endpoints[i]; strings.HasPrefix(e.Method+" "+e.Route, prefix) {
			total, n = total+e.Total, n+e.Count
		}
	}
	if n == 0 {
		return writeup.Missing
	}
	return total.Seconds() * 1e3 / float64(n)
}

// storyFlags are the flags of lab story.
type storyFlags struct {
	database string
	duration time.Duration
	size     string
	out      cli.Output
}

// storyNames are those of stories, in the same order: these need no lab for a command's help.
var storyNames = []string{"userapi", "insertbench", "isuumo", "isucond", "isucholar", "isuportal", "isutrain", "carbon"}

func newLabStory(e *cli.Env) *cobra.Command {
	var f storyFlags
	cmd := &cobra.Command{
		Use:   "story NAME",
		Short: "Walk a write-up's steps: what its author saw, changed, got, and what this machine gives",
		Long: `For each step of the write-up start the lab in the state that its author had, run the
load under a recording, and stop it. At the end stands a table of effects, the author's beside
those of here: figures of two machines differ, the direction of an effect should not. Why an
effect may differ, such as by hardware, is marked beforehand.

Stories: ` + strings.Join(storyNames, ", ") + `. Each takes less than eight minutes.

Exit code 1 when an effect is not the author's, 3 when it was stopped; what was measured by
then is printed, and the runs are kept.`,
		Example: `  kasoku lab story userapi
  kasoku lab story insertbench -db mysql
  kasoku lab story isuumo -o json
  kasoku lab story isuumo -html isuumo.html`,
		Annotations:       map[string]string{"vegeta": "flags"},
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(storyNames, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, t := range stories() {
				if t.Lab == args[0] {
					if cmd.Flags().Changed("size") && t.Lab != "isuumo" {
						return cli.Usagef("", "--size is for isuumo")
					}
					return f.walkThrough(cmd.Context(), e, t)
				}
			}
			if _, err := labNamed(args[0]); err != nil {
				return err
			}
			return cli.Usagef("", "no story of %s: want %s", args[0], strings.Join(storyNames, ", "))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.database, "db", "mariadb", "database: mariadb or mysql")
	fl.DurationVar(&f.duration, "duration", 0, "of the load of a step; default as the story has it")
	fl.StringVar(&f.size, "size", "full", "isuumo: rows: full or small")
	f.out.Register(cmd)
	f.out.Dir = cli.RunsDir
	return cmd
}

// A walker walks through one story.
type walker struct {
	writtenUp
	*labRuns
	flags *storyFlags
	got   map[string]*writeup.Measured
}

func (f *storyFlags) walkThrough(parent context.Context, e *cli.Env, t writtenUp) (err error) {
	if err := f.out.Check(); err != nil {
		return err
	}
	if err := knownDatabase(f.database); err != nil {
		return err
	}
	if f.duration == 0 {
		f.duration = t.each
	}
	if err := checkLoadTime(f.duration); err != nil {
		return err
	}
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	s := &walker{writtenUp: t, flags: f, got: map[string]*writeup.Measured{},
		labRuns: &labRuns{e: e, hard: hard, progress: e.Progress(), f: f.runFlags()}}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	free, err := s.lock(t.Lab)
	if err != nil {
		return err
	}
	defer free()
	err = s.walk(ctx)
	s.progress.Clear()
	if len(s.got) > 0 {
		err = errors.Join(err, f.out.Print(e, s.printer()))
	}
	switch {
	case ctx.Err() != nil:
		return cli.Stopped("stopped before the end: " + context.Cause(ctx).Error())
	case err != nil:
		return err
	}
	return s.judgeEffects()
}

// runFlags are those of lab run that a story makes its runs with.
func (f *storyFlags) runFlags() *labRunFlags {
	return &labRunFlags{times: 1, duration: f.duration, out: f.out,
		lab: labFlags{database: f.database, size: f.size, set: map[string]bool{"size": true}}}
}

// walk makes the runs of all steps. What keeps a run from its end ends it; what went wrong
// beside a run that is whole is returned after the last.
func (s *walker) walk(ctx context.Context) (beside error) {
	for i := range s.Steps {
		step := &s.Steps[i]
		res, err := s.record(ctx, step)
		s.progress.Clear()
		if res == nil || ctx.Err() != nil || res.rec.Run.State != kasoku.Finished { // cut short: it is no step
			return errors.Join(beside, err)
		}
		if err != nil {
			beside = errors.Join(beside, fmt.Errorf("step %s: %w", step.Name, err))
		}
		if failed := cli.NothingSucceeded(res.rec); failed != "" {
			return errors.Join(beside, fmt.Errorf("step %s: %s", step.Name, failed))
		}
		m := &writeup.Measured{Figures: s.figures(res), File: filepath.Base(res.path), Finding: firstFinding(res.rec)}
		s.got[step.Name] = m
		s.progress.Say(fmt.Sprintf("step %d of %d  %s  %s", i+1, len(s.Steps), step.Name, s.here(m)))
	}
	return beside
}

// record makes the run of a step.
func (s *walker) record(ctx context.Context, step *writeup.Step) (*labRunResult, error) {
	s.sides = []*labSide{{name: step.Name}}
	o := &labRecord{flags: &s.f.lab, duration: s.flags.duration, options: record.Options{Rules: rules.All(), Hard: s.hard}}
	o.options.Run.Label, o.options.Run.Version = step.Name, cli.VersionString()
	var err error
	if o.options.Path, err = cli.PlaceRun(&o.options.Run, "", s.flags.out.Dir, s.e.Now()); err != nil {
		return nil, err
	}
	return s.run(ctx, s.labRuns, o, step.Name)
}

// firstFinding is the first finding of a run in a few words, empty when it has none.
func firstFinding(rec *kasoku.Recording) string {
	if rec.Diagnosis == nil {
		return ""
	}
	for _, f := range rec.Diagnosis.Findings {
		if f.Severity == kasoku.Problem {
			return f.ID + "  " + f.Title
		}
	}
	return ""
}

// judgeEffects returns what the exit code says.
func (s *walker) judgeEffects() error {
	var other []string
	for _, e := range s.Effects(s.got) {
		if !e.Holds() {
			other = append(other, e.Step+": "+e.Figure.Name+": "+string(e.Verdict()))
		}
	}
	if len(other) == 0 {
		return nil
	}
	return cli.Bad(fmt.Sprintf("%s not as the author had it: %s", unit.Counted(len(other), "effect is", "effects are"),
		strings.Join(other, "; ")))
}

func runUserapiStep(ctx context.Context, r *labRuns, o *labRecord, step string) (*labRunResult, error) {
	d, k := userapi.StepOf(step)
	l := userapiLab()
	l.record = func(ctx context.Context, o *labRecord) (*record.Result, error) {
		return recordUserapi(ctx, o, userapiLoad{defects: d, knobs: k, spacing: load.Even, each: o.duration,
			rates: []float64{1000}})
	}
	return resultOf(r.oneOf(ctx, l, o))
}

func userapiFigures(r *labRunResult) []float64 {
	if len(r.rec.Steps) == 0 {
		return nil
	}
	t := r.rec.Tally(r.rec.Steps[0].Number)
	return []float64{100 * t.SuccessRatio(), float64(t.Latency.Mean()) / 1e6}
}

func runIsuumoStep(ctx context.Context, r *labRuns, o *labRecord, step string) (*labRunResult, error) {
	o.flags.set["defects"], o.flags.defects = true, story.StepOf(step).String()
	if r.data == nil {
		var err error
		if r.data, err = o.flags.read(); err != nil {
			return nil, err
		}
	}
	return r.one(ctx, r.sides[0])
}

func isuumoFigures(r *labRunResult) []float64 {
	side := labSide{runs: []*labRunResult{r}}
	s := side.summary()
	return []float64{orMissing(s.Score), orMissing(s.Polygon)}
}

func orMissing(v *float64) float64 {
	if v == nil {
		return writeup.Missing
	}
	return *v
}

// resultOf is a recorded run as a result.
func resultOf(res *record.Result, err error) (*labRunResult, error) {
	if res == nil {
		return nil, err
	}
	return &labRunResult{path: res.Path, rec: res.Recording}, err
}
