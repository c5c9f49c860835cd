// Package bench is the benchmark of isucond, with the points of the contest: what owners
// have seen of their chairs counts, not what was asked for.
//
//	a condition that its owner had not seen    info 20, warning 8, critical 4
//	the graph of a day, seen for the first time   good 150, normal 100, bad 60, worst 10
//	that of today, when it has grown              good 60, normal 40, bad 24, worst 4
//	the start                                     1,000
//	a wrong status −1, a wrong answer −50; the sum of a hundred ends the run
//	ten timeouts of a second −1; reports of chairs have 0.1 s, and are never punished
//
// How good a graph is says the hour with the fewest conditions. A day takes 2.88 s here as
// there. The contest's thresholds are not published with it: good is all that a chair sends.
// With the points come users, each with two new chairs that report, until the service
// cannot show what they report any more.
//
// The trend may be a second old: every report that was confirmed before has to be counted
// in it. One that is older is an error of its own, [Stale].
//
// Start at [Run].
package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
)

// What there is, as the contest's manual says it of its own service.
const (
	knownUsers = 4   // with chairs that have reported before
	newUsers   = 196 // without any
	knownOf    = 3   // chairs of a known user that report
	newOf      = 2   // that a new user registers
	viewers    = 4   // of the trend, at level 0

	speed      = 30_000                 // seconds of chairs in one of ours
	reportEach = 200 * time.Millisecond // ours
	inReport   = 10                     // conditions

	reportWithin = 100 * time.Millisecond
	answerWithin = time.Second
	mayBeOld     = time.Second // the trend
)

// Stale is the code of a trend that is older than the contest allows.
const Stale scenario.Code = "stale"

// The tags of what brings points.
const (
	tagStart scenario.Tag = "start"
	tagGraph scenario.Tag = "graph, "
	tagToday scenario.Tag = "today's graph, "
	tagRead  scenario.Tag = "condition, "
	tagLost  scenario.Tag = "report that was not confirmed in time"
)

// rules are those of the contest.
func rules() scenario.Options {
	points := map[scenario.Tag]int64{
		tagStart:          1000,
		tagGraph + "good": 150, tagGraph + "normal": 100, tagGraph + "bad": 60, tagGraph + "worst": 10,
		tagToday + "good": 60, tagToday + "normal": 40, tagToday + "bad": 24, tagToday + "worst": 4,
		tagRead + "info": 20, tagRead + "warning": 8, tagRead + "critical": 4,
	}
	levels := make([]int64, newUsers)
	for i := range levels {
		levels[i] = int64(1+i) * 5000
	}
	return scenario.Options{
		Levels: levels,
		Scoring: scenario.Scoring{
			Points: points,
			Deduct: map[scenario.Code]int64{scenario.Application: 1, contest.Wrong: 50, scenario.Timeout: 1, Stale: 1},
			Every:  map[scenario.Code]uint64{scenario.Timeout: 10},
			Limit:  map[scenario.Code]int{scenario.Critical: 1, scenario.Application: 100, contest.Wrong: 2},
		},
	}
}

// Run runs the benchmark.
func Run(ctx context.Context, o *contest.Options) (*scenario.Result, error) {
	return contest.Run(ctx, o, rules(), &run{o: o})
}

// A run is one run.
type run struct {
	o     *contest.Options
	start time.Time // of the load
	acks  acks
}

// origin is when chairs begin to report: midnight, after all that was reported before.
var origin = time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)

// now is the time of chairs.
func (r *run) now() time.Time { return origin.Add(time.Since(r.start) * speed) }

// acks are when reports were confirmed.
type acks struct {
	mu    sync.Mutex
	times []time.Time // rising
	base  int         // reports that the service had counted before
}

func (a *acks) add(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := len(a.times)
	for i > 0 && a.times[i-1].After(at) {
		i--
	}
	a.times = slices.Insert(a.times, i, at)
}

// until is how many reports have to be counted at a time.
func (a *acks) until(t time.Time) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, _ := slices.BinarySearchFunc(a.times, t, time.Time.Compare)
	return a.base + n
}

// Prepare initialises the service and looks whether it answers.
func (r *run) Prepare(ctx context.Context, step *scenario.Step) error {
	if err := contest.Initialize(ctx, r.o, step); err != nil {
		return err
	}
	v, err := contest.NewUser(r.o, step, "", answerWithin)
	if err != nil {
		return err
	}
	defer v.Close()
	r.acks.base, err = (&viewer{r, v}).trend(ctx)
	return err
}

// Load has owners and viewers come.
func (r *run) Load(ctx context.Context, step *scenario.Step) error {
	r.start = time.Now()
	step.Score(tagStart)
	step.Workers(ctx, scenario.Workers{
		Name: "owner", Count: func(level int) int { return min(knownUsers+level, knownUsers+newUsers) }, Rest: -1,
		Begin: func(ctx context.Context, w *scenario.Worker) (err error) {
			w.Data, err = r.newOwner(ctx, step, w)
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(50*time.Millisecond, 150*time.Millisecond)); err != nil {
				return err
			}
			return w.Data.(*owner).look(ctx)
		},
		End: func(w *scenario.Worker) { w.Data.(*owner).Close() },
	})
	step.Workers(ctx, scenario.Workers{
		Name: "viewer", Count: func(level int) int { return viewers + level/2 }, Rest: -1,
		Begin: func(_ context.Context, w *scenario.Worker) error {
			u, err := contest.NewUser(r.o, step, "user=1", answerWithin) // browsers send their cookies everywhere
			w.Data = &viewer{r, u}
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(100*time.Millisecond, 300*time.Millisecond)); err != nil {
				return err
			}
			return w.Data.(*viewer).look(ctx)
		},
		End: func(w *scenario.Worker) { w.Data.(*viewer).Close() },
	})
	return nil
}
