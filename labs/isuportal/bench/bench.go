// Package bench is the benchmark of isuportal, with the points of the contest's final.
//
//	contestants  10 a finished job that its team has seen, 10 an answer to a clarification,
//	             10 for five dashboards; times 1.0 to 2.0 by the number of contestants in teams
//	audience     1 for ten dashboards
//	a wrong status or answer, or one that is too old, -50; the sum of a hundred ends the run
//	a hundred timeouts -100
//
// Times are those of a run of a minute, in proportion: teams may register in its first sixth, what
// others score is hidden in its last. Where the first team took so long to register that all who come at once
// may take longer than that, they have as long as these take one after another, up to half of the run. Each job that
// a team has seen brings one more viewer, so that success makes the load.
//
// The audience's dashboard may be a second old, and nothing else: it has each job that was reported
// a second before it was asked for. Anybody's has what was reported before, each notification comes
// once, and no job is given to two.
//
// Start at [Run].
package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// What the contest says.
const (
	answerWithin    = 10 * time.Second
	dashboardWithin = 2 * time.Second
	mayBeOld        = time.Second // the audience's dashboard

	atOnce    = 20 // teams that come first
	more      = 10 // that come each sixtieth of the load after
	members   = 3  // of a team
	pollEach  = 300 * time.Millisecond
	watchEach = time.Second

	shortest = 1500 * time.Millisecond // of a registration
	jobTakes = 500 * time.Millisecond  // ours: what a virtual benchmark takes
	askEach  = 3 * time.Second         // clarifications
)

// Codes of what is wrong.
const (
	Stale  scenario.Code = "stale"  // older than the contest allows
	Twice  scenario.Code = "twice"  // a job or a notification
	Lost   scenario.Code = "lost"   // a notification or a job
	Unsafe scenario.Code = "unsafe" // a push that is not signed or encrypted as it should be
)

// The tags of what brings points, the first three with the factor of the teams.
const (
	tagJob       = "finished job ×"
	tagAnswer    = "answered question ×"
	tagDashboard = "five dashboards of a contestant ×"

	tagAudience scenario.Tag = "ten dashboards of the audience"
)

// factors by the number of contestants, each 60 more.
var factors = []string{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}

// rules are those of the contest.
func rules() scenario.Options {
	points := map[scenario.Tag]int64{tagAudience: 1}
	for i, f := range factors {
		for _, tag := range []string{tagJob, tagAnswer, tagDashboard} {
			points[scenario.Tag(tag+f)] = 10 + 2*int64(i)
		}
	}
	return scenario.Options{
		Scoring: scenario.Scoring{
			Points: points,
			Deduct: map[scenario.Code]int64{scenario.Application: 50, contest.Wrong: 50, Stale: 50, Twice: 50,
				Lost: 50, Unsafe: 50,
				scenario.Timeout: 100},
			Every: map[scenario.Code]uint64{scenario.Timeout: 100},
			Limit: map[scenario.Code]int{scenario.Critical: 1, scenario.Application: 100, contest.Wrong: 100,
				Stale: 100, Twice: 1,
				Lost: 100, Unsafe: 100},
		},
	}
}

// Run runs the benchmark.
func Run(ctx context.Context, o *contest.Options) (*scenario.Result, error) {
	r := &run{o: o, given: map[int64]bool{}, answered: map[int64]time.Time{}}
	res, err := contest.Run(ctx, o, rules(), r)
	if r.inbox != nil {
		r.inbox.close()
	}
	return res, err
}

// A run is one run.
type run struct {
	o     *contest.Options
	inbox *inbox // of what is pushed

	start, freeze, end time.Time     // of the contest
	takes              time.Duration // the last initialize
	enrols             time.Duration // the team of the rehearsal, to register

	mu          sync.Mutex
	teams       []*team
	byID        map[int64]*team
	given       map[int64]bool      // jobs that a benchmarker got
	answered    map[int64]time.Time // questions, when the staff's answer was confirmed
	contestants int                 // contestants in teams
	registering int                 // requests for a team that were not answered

	audience, viewers atomic.Int64 // dashboards that were seen; who looks
}

// user returns a client of a contestant; none has a name without.
func (r *run) user(step *scenario.Step, id string) (*contest.User, error) {
	cookie := ""
	if id != "" {
		cookie = "contestant=" + id
	}
	return contest.NewUser(r.o, step, cookie, answerWithin)
}

// visitor returns a client of the audience. Its browser has a cookie, as statistics of pages set one, by which no
// answer differs.
func (r *run) visitor(step *scenario.Step) (*contest.User, error) {
	return contest.NewUser(r.o, step, "visitor="+strconv.FormatInt(r.viewers.Load(), 10), answerWithin)
}

// post returns a request with a body.
func post(path string, body any) *agent.Request {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // of values of our own
	}
	return &agent.Request{Step: "POST " + path, Method: http.MethodPost, Path: path,
		ContentType: "application/json", Body: b}
}

// initialize has the contest begin anew, when that is done: its first sixth is for registration, but no
// less than shortest, and where the host is slow as long as all who come at once may take.
func (r *run) initialize(ctx context.Context, step *scenario.Step, lasts time.Duration) error {
	u, err := r.user(step, "")
	if err != nil {
		return err
	}
	defer u.Close()
	asked := time.Now()
	opens := asked.Add(r.takes) // as long as it took before
	open := max(lasts/6, shortest, 2*r.takes, min(atOnce*r.enrols, lasts/2))
	r.start, r.freeze, r.end = opens.Add(open), opens.Add(lasts*5/6), opens.Add(lasts)
	var said struct {
		Language string `json:"language"`
	}
	req := post("/initialize", map[string]any{"contest": map[string]int64{"registration_open_at": opens.UnixMilli(),
		"contest_starts_at": r.start.UnixMilli(), "contest_freezes_at": r.freeze.UnixMilli(), "contest_ends_at": r.end.UnixMilli()}})
	req.Timeout = 20 * time.Second
	err = u.JSON(ctx, req, &said)
	step.SetLanguage(said.Language)
	r.takes = time.Since(asked)
	return scenario.Fail(scenario.Critical, err)
}

// Prepare initialises the service, goes the way of one team, and initialises it again: nothing of
// before may be shown then, not even by what keeps answers, so the audience looks right before it and after it.
func (r *run) Prepare(ctx context.Context, step *scenario.Step) (err error) {
	if r.inbox, err = newInbox(); err != nil {
		return scenario.Fail(scenario.Internal, err)
	}
	if err := r.rehearse(ctx, step); err != nil {
		return scenario.Fail(scenario.Critical, err)
	}
	v, err := r.visitor(step)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := r.lookAsAudience(ctx, v); err != nil {
		return scenario.Fail(scenario.Critical, err)
	}
	if err := r.initialize(ctx, step, r.o.Duration); err != nil {
		return err
	}
	r.teams, r.byID, r.given, r.contestants = nil, map[int64]*team{}, map[int64]bool{}, 0
	r.answered = map[int64]time.Time{}
	return scenario.Fail(scenario.Critical, r.lookAsAudience(ctx, v))
}

// rehearse goes the way of one team, which has more time to register where the first was too short.
func (r *run) rehearse(ctx context.Context, step *scenario.Step) error {
	for lasts := 6 * shortest; ; lasts *= 3 {
		if err := r.initialize(ctx, step, lasts); err != nil {
			return err
		}
		r.byID = map[int64]*team{}
		began := time.Now()
		t, err := r.register(ctx, step, 1_000_000)
		switch {
		case err != nil:
			return err
		case t != nil:
			r.enrols = time.Since(began)
			return t.rehearse(ctx, step)
		case !r.hasStarted():
			return scenario.Errorf(scenario.Critical, "POST /api/registration/team: no team could register")
		}
	}
}

// Load has teams register, and take part from the start of the contest on.
func (r *run) Load(ctx context.Context, step *scenario.Step) error {
	if err := r.initialize(ctx, step, r.o.Duration); err != nil {
		return err
	}
	var full atomic.Bool
	come := func(number int) {
		step.Go(ctx, func(ctx context.Context) error {
			t, err := r.register(ctx, step, number)
			if t == nil {
				full.Store(err == nil)
				return err
			}
			return t.takePart(ctx, step)
		})
	}
	number := 0
	for range atOnce {
		number++
		come(number)
	}
	unit := r.o.Duration / 60
	tick := time.NewTicker(unit)
	defer tick.Stop()
	for time.Now().Before(r.start.Add(-unit)) && !full.Load() {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for range more {
			number++
			come(number)
		}
	}
	step.Go(ctx, func(ctx context.Context) error { return r.answerQuestions(ctx, step) })
	step.Go(ctx, func(ctx context.Context) error { return r.inbox.watch(ctx, step) })
	r.view(ctx, step)
	return nil
}

// Validate holds what is shown at the end against what was confirmed.
func (r *run) Validate(ctx context.Context, step *scenario.Step) error {
	r.mu.Lock()
	teams := len(r.teams)
	r.mu.Unlock()
	if teams == 0 {
		return scenario.Errorf(scenario.Critical, "no team could register")
	}
	v, err := r.visitor(step)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := pause(ctx, mayBeOld+time.Until(r.end)); err != nil {
		return err
	}
	return scenario.Fail(scenario.Critical, r.lookAsAudience(ctx, v))
}

// factor is the factor of points now, by the contestants in teams.
func (r *run) factor() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return factors[min(r.contestants/60, len(factors)-1)]
}

// view adds a viewer, who looks until the load is over.
func (r *run) view(ctx context.Context, step *scenario.Step) {
	r.viewers.Add(1)
	step.Go(ctx, func(ctx context.Context) error {
		v, err := r.visitor(step)
		if err != nil {
			return err
		}
		defer v.Close()
		return repeat(ctx, step, watchEach, func() error {
			err := r.lookAsAudience(ctx, v)
			if err == nil && r.audience.Add(1)%10 == 0 {
				step.Score(tagAudience)
			}
			return err
		})
	})
}

// repeat does something until the load is over, with a pause after each time.
func repeat(ctx context.Context, step *scenario.Step, each time.Duration, do func() error) error {
	for ctx.Err() == nil {
		if err := do(); err != nil && ctx.Err() == nil {
			step.Fail(err)
		}
		if pause(ctx, each) != nil {
			return nil
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// answerQuestions is the staff: one who answers all that is open.
func (r *run) answerQuestions(ctx context.Context, step *scenario.Step) error {
	u, err := r.user(step, "admin")
	if err != nil {
		return err
	}
	defer u.Close()
	return repeat(ctx, step, pollEach, func() error {
		var open []clarification
		if err := u.JSON(ctx, &agent.Request{Step: "GET /api/admin/clarifications",
			Path: "/api/admin/clarifications"}, &open); err != nil {
			return err
		}
		for _, c := range open {
			req := post("/api/admin/clarifications/"+strconv.FormatInt(c.ID, 10),
				map[string]any{"answer": answerTo(c.Question),
					"disclose": c.ID%7 == 0})
			req.Step, req.Method = "PUT /api/admin/clarifications/:id", http.MethodPut
			if err := u.JSON(ctx, req, &struct{}{}); err != nil {
				return err
			}
			r.mu.Lock()
			r.answered[c.ID] = time.Now()
			r.mu.Unlock()
		}
		return nil
	})
}

// answerTo is what the staff answers.
func answerTo(question string) string { return "Yes: " + question }
