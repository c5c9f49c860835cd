package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// A result of a team's job, in the order in which they were reported. Guarded by run.mu.
type result struct {
	id                  int64
	score               int64
	reported, confirmed time.Time // when the report was sent, and answered; zero: it was not
}

// A team takes part.
type team struct {
	*run
	number int
	id     int64
	name   string
	made   time.Time
	people []*contestant

	jobs   []result // guarded by run.mu
	unsure bool     // likewise: a report was not answered

	notes      notes
	dashboards atomic.Int64
}

// notes are what its members know of, by notifications.
type notes struct {
	mu       sync.Mutex
	finished map[int64]bool // jobs
	news     chan struct{}
}

// A contestant is a member.
type contestant struct {
	id   string
	user *contest.User
	key  string // with which notifications are signed; empty: they are polled for
	last int64  // notification

	mu     sync.Mutex
	pushed map[int64]bool
}

type clarification struct {
	ID       int64    `json:"id"`
	Team     string   `json:"team"`
	Leader   string   `json:"leader"`
	Members  []string `json:"members"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Answered bool     `json:"answered"`
}

type job struct {
	ID       int64  `json:"id"`
	Status   int    `json:"status"`
	Target   string `json:"target_hostname"`
	Score    *int64 `json:"score"`
	Created  int64  `json:"created_at"`
	Finished *int64 `json:"finished_at"`
}

// finishedStatus is a job's that has a result.
const finishedStatus = 4

// signUp makes a contestant.
func (r *run) signUp(ctx context.Context, step *scenario.Step, id string) (*contestant, error) {
	u, err := r.user(step, id)
	if err != nil {
		return nil, err
	}
	if err := u.JSON(ctx, post("/api/signup", map[string]string{"contestant_id": id, "password": "p " + id}),
		&struct{}{}); err != nil {
		u.Close()
		return nil, err
	}
	return &contestant{id: id, user: u, pushed: map[int64]bool{}}, nil
}

// register makes a team with its members. It is nil, without an error, when there is no room.
func (r *run) register(ctx context.Context, step *scenario.Step, number int) (*team, error) {
	t := &team{run: r, number: number, name: "Team " + strconv.Itoa(number)}
	t.notes.finished, t.notes.news = map[int64]bool{}, make(chan struct{}, 1)
	defer func() {
		if t.made.IsZero() {
			t.close()
		}
	}()
	for n := range members {
		c, err := r.signUp(ctx, step, fmt.Sprintf("c%d-%d", number, n))
		if err != nil {
			return nil, err
		}
		t.people = append(t.people, c)
	}
	var made struct {
		ID    int64  `json:"team_id"`
		Token string `json:"invite_token"`
	}
	full := false
	req := post("/api/registration/team", map[string]any{"team_name": t.name, "name": t.memberName(0),
		"email_address": "a@example.com",
		"is_student":    t.ofStudents()})
	r.mu.Lock()
	r.registering++
	r.mu.Unlock()
	err := t.people[0].user.Answer(ctx, req, func(status int, body []byte) error {
		if full = status == http.StatusForbidden; full {
			return nil
		}
		return contest.ReadJSON(status, body, &made)
	})
	r.mu.Lock()
	if err == nil && !full {
		t.id = made.ID
		r.byID[t.id] = t
		r.registering--
	} else if full {
		r.registering--
	} // a team whose request was not answered may be there
	r.mu.Unlock()
	if err != nil || full {
		return nil, err
	}
	for n, c := range t.people[1:] {
		req := post("/api/registration/contestant", map[string]any{"team_id": t.id, "invite_token": made.Token,
			"name": t.memberName(n + 1), "is_student": t.ofStudents()})
		late := false
		if err := c.user.Answer(ctx, req, func(status int, body []byte) error {
			if late = status == http.StatusForbidden && r.hasStarted(); late {
				return nil
			}
			return contest.ReadJSON(status, body, &struct{}{})
		}); err != nil || late {
			return nil, err // it takes no part
		}
	}
	for _, c := range t.people {
		if err := t.enter(ctx, c); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.made = time.Now()
	r.teams = append(r.teams, t)
	r.contestants += members
	return t, nil
}

// hasStarted reports whether the contest is on; a service that was given milliseconds may be early.
func (r *run) hasStarted() bool { return time.Until(r.start) <= time.Millisecond }

func (t *team) ofStudents() bool { return t.number%3 == 0 }

func (t *team) memberName(n int) string { return fmt.Sprintf("Member %d of %d", n, t.number) }

func (t *team) close() {
	for _, c := range t.people {
		c.user.Close()
	}
}

// enter looks who one is, and subscribes to what is pushed.
func (t *team) enter(ctx context.Context, c *contestant) error {
	var said struct {
		ID   string `json:"contestant_id"`
		Team int64  `json:"team_id"`
		Key  string `json:"push_key"`
	}
	if err := c.user.JSON(ctx, &agent.Request{Step: "GET /api/session", Path: "/api/session"}, &said); err != nil {
		return err
	}
	if said.ID != c.id || said.Team != t.id {
		return scenario.Errorf(contest.Wrong, "GET /api/session: somebody else, or another team")
	}
	if c.key = said.Key; c.key == "" {
		return nil
	}
	return c.user.JSON(ctx, post("/api/contestant/push_subscriptions", t.inbox.subscribe(t, c)), &struct{}{})
}

// takePart waits for the start and does all that the team does.
func (t *team) takePart(ctx context.Context, step *scenario.Step) error {
	if pause(ctx, time.Until(t.start)) != nil {
		return nil
	}
	for _, c := range t.people {
		step.Go(ctx, func(ctx context.Context) error {
			return repeat(ctx, step, pollEach, func() error { return t.poll(ctx, c) })
		})
	}
	step.Go(ctx, func(ctx context.Context) error { // the operator
		return repeat(ctx, step, watchEach, func() error { return t.operate(ctx, step) })
	})
	step.Go(ctx, func(ctx context.Context) error { return t.lead(ctx, step) })
	step.Go(ctx, func(ctx context.Context) error { return t.benchmark(ctx, step) })
	return repeat(ctx, step, watchEach/10, func() error { return t.enqueue(ctx, step) })
}

// rehearse goes the way of a team once.
func (t *team) rehearse(ctx context.Context, step *scenario.Step) error {
	if err := pause(ctx, time.Until(t.start)); err != nil {
		return err
	}
	if _, err := t.ask(ctx); err != nil {
		return err
	}
	u, err := t.user(step, "")
	if err != nil {
		return err
	}
	defer u.Close()
	id, err := t.request(ctx)
	if err != nil {
		return err
	}
	if err := t.work(ctx, u); err != nil {
		return err
	}
	if err := t.operate(ctx, nil); err != nil {
		return err
	}
	return t.seen(ctx, id)
}

// operate looks at the dashboard and the list of jobs.
func (t *team) operate(ctx context.Context, step *scenario.Step) error {
	u := t.people[1].user
	if err := t.look(ctx, u, "/api/contestant/dashboard", t.id, 0); err != nil {
		return err
	}
	if step != nil && t.dashboards.Add(1)%5 == 0 {
		step.Score(scenario.Tag(tagDashboard + t.factor()))
	}
	_, err := t.list(ctx, u)
	return err
}

// list returns the newest jobs of the team.
func (t *team) list(ctx context.Context, u *contest.User) (all []job, err error) {
	r := &agent.Request{Step: "GET /api/contestant/benchmark_jobs", Path: "/api/contestant/benchmark_jobs"}
	if err := u.JSON(ctx, r, &all); err != nil {
		return nil, err
	}
	for i, j := range all {
		if j.Target != t.target() || i > 0 && j.ID >= all[i-1].ID {
			return nil, scenario.Errorf(contest.Wrong, "%s: another team's job, or out of order", r.Step)
		}
	}
	return all, nil
}

func (t *team) target() string { return fmt.Sprintf("team%d.example.com", t.number) }

// request asks for a job, which the list has at once.
func (t *team) request(ctx context.Context) (id int64, err error) {
	u := t.people[0].user
	var made job
	if err := u.JSON(ctx, post("/api/contestant/benchmark_jobs", map[string]string{"target_hostname": t.target()}),
		&made); err != nil {
		return 0, err
	}
	all, err := t.list(ctx, u)
	if err == nil && !slices.ContainsFunc(all, func(j job) bool { return j.ID == made.ID }) {
		err = scenario.Errorf(Stale, "GET /api/contestant/benchmark_jobs: a job that was asked for is not listed")
	}
	return made.ID, err
}

// enqueue looks at the page and asks for a job, waits until the team hears that it is finished, and
// looks at it.
func (t *team) enqueue(ctx context.Context, step *scenario.Step) error {
	if !time.Now().Before(t.end.Add(-jobTakes)) {
		return pause(ctx, watchEach)
	}
	u := t.people[0].user
	if err := t.loadPage(ctx, u); err != nil {
		return err
	}
	if err := t.look(ctx, u, "/api/contestant/dashboard", t.id, 0); err != nil {
		return err
	}
	id, err := t.request(ctx)
	if err != nil {
		return err
	}
	for !t.notes.has(id) {
		select {
		case <-ctx.Done():
			return nil
		case <-t.notes.news:
		case <-time.After(answerWithin):
			if all, err := t.list(ctx,
				u); err == nil && len(all) > 0 && all[0].ID == id && all[0].Status == finishedStatus {
				return scenario.Errorf(Lost, "a job is finished, and its team was not notified within %s", answerWithin)
			}
		}
	}
	if err := t.seen(ctx, id); err != nil {
		return err
	}
	step.Score(scenario.Tag(tagJob + t.factor()))
	t.view(ctx, step)
	return nil
}

// loadPage loads the page and the session.
func (t *team) loadPage(ctx context.Context, u *contest.User) error {
	if err := u.Ask(ctx, &agent.Request{Step: "GET /", Path: "/"}, http.StatusOK, nil); err != nil {
		return err
	}
	return u.Ask(ctx, &agent.Request{Step: "GET /api/session", Path: "/api/session"}, http.StatusOK, nil)
}

// seen looks at a job that is finished: it has its result.
func (t *team) seen(ctx context.Context, id int64) error {
	var got job
	r := &agent.Request{Step: "GET /api/contestant/benchmark_jobs/:id",
		Path: "/api/contestant/benchmark_jobs/" + strconv.FormatInt(id, 10)}
	if err := t.people[0].user.JSON(ctx, r, &got); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.jobs, func(x result) bool { return x.id == id })
	if got.Status != finishedStatus || got.Score == nil || got.Finished == nil || i >= 0 && *got.Score != t.jobs[i].score {
		return scenario.Errorf(contest.Wrong, "%s: a finished job has no result, or another", r.Step)
	}
	return nil
}

// lead asks questions and waits for their answers; a quarter of the leaders has none.
func (t *team) lead(ctx context.Context, step *scenario.Step) error {
	if t.number%4 == 0 {
		return nil
	}
	waiting := map[int64]bool{}
	return repeat(ctx, step, askEach, func() error {
		if len(waiting) == 0 {
			id, err := t.ask(ctx)
			if err != nil {
				return err
			}
			waiting[id] = true
		}
		asked := time.Now()
		var all []clarification
		if err := t.people[0].user.JSON(ctx, &agent.Request{Step: "GET /api/contestant/clarifications",
			Path: "/api/contestant/clarifications"}, &all); err != nil {
			return err
		}
		for i := range all {
			if err := t.checkClarification(&all[i]); err != nil {
				return err
			}
			if !all[i].Answered && t.wasAnswered(all[i].ID, asked) {
				return scenario.Errorf(Stale,
					"GET /api/contestant/clarifications: an answer that was given before is not there")
			}
			if c := &all[i]; c.Answered && waiting[c.ID] {
				delete(waiting, c.ID)
				step.Score(scenario.Tag(tagAnswer + t.factor()))
			}
		}
		return nil
	})
}

// wasAnswered reports whether a question was answered before a time.
func (r *run) wasAnswered(id int64, by time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.answered[id]
	return ok && at.Before(by)
}

// ask posts a question.
func (t *team) ask(ctx context.Context) (int64, error) {
	var made struct {
		ID int64 `json:"id"`
	}
	err := t.people[0].user.JSON(ctx, post("/api/contestant/clarifications", map[string]string{
		"question": "May " + t.name + " ask?"}), &made)
	return made.ID, err
}

// checkClarification checks one: of whom it is, and its answer.
func (t *team) checkClarification(c *clarification) error {
	var number int
	if _, err := fmt.Sscanf(c.Team, "Team %d", &number); err != nil || c.Question != "May "+c.Team+" ask?" {
		return scenario.Errorf(contest.Wrong,
			"GET /api/contestant/clarifications: a question that its team did not ask")
	}
	of := &team{number: number}
	want := []string{of.memberName(0), of.memberName(1), of.memberName(2)}
	if c.Leader != want[0] || !slices.Equal(c.Members, want) || c.Answered != (c.Answer == answerTo(c.Question)) {
		return scenario.Errorf(contest.Wrong, "GET /api/contestant/clarifications: other members, or another answer")
	}
	return nil
}

// has reports whether the team knows that a job is finished.
func (n *notes) has(id int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.finished[id]
}

// add takes note of a notification.
func (n *notes) add(x *notification) {
	if x.Kind != "job" {
		return
	}
	n.mu.Lock()
	n.finished[x.Of] = true
	n.mu.Unlock()
	select {
	case n.news <- struct{}{}:
	default:
	}
}

// A notification of a job, or of a clarification.
type notification struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"`
	Of   int64  `json:"of"`
	At   int64  `json:"created_at"`
}

// poll asks for notifications, each of which comes once.
func (t *team) poll(ctx context.Context, c *contestant) error {
	var got struct {
		Last int64          `json:"last_answered_clarification_id"`
		All  []notification `json:"notifications"`
	}
	r := &agent.Request{Step: "GET /api/contestant/notifications",
		Path: "/api/contestant/notifications?after=" + strconv.FormatInt(c.last, 10)}
	if err := c.user.JSON(ctx, r, &got); err != nil {
		return err
	}
	for i := range got.All {
		if got.All[i].ID <= c.last {
			return scenario.Errorf(Twice, "%s: a notification that was there before, or out of order", r.Step)
		}
		c.last = got.All[i].ID
		t.notes.add(&got.All[i])
	}
	return nil
}
