package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// A condition is what a chair reports, and what is shown of it.
type condition struct {
	Time    time.Time `json:"time"`
	Sitting bool      `json:"is_sitting"`
	State   string    `json:"condition"`
	Message string    `json:"message"`
}

// level is the contest's word for how bad a condition is.
func (c *condition) level() scenario.Tag {
	return []scenario.Tag{"info", "warning", "critical"}[min(bytes.Count([]byte(c.State), []byte("=true")), 2)]
}

// A chair reports, and is looked at.
type chair struct {
	id      string
	picture []byte // nil: not known

	mu   sync.Mutex
	sent map[int64]condition // by Unix seconds

	// What its owner saw.
	seen  time.Time         // the last condition
	shown bool              // one that it reported to us
	days  map[time.Time]int // conditions of a day's graph
	past  time.Time         // days until here when they were over
}

// An owner looks at chairs.
type owner struct {
	*run
	*contest.User
	step   *scenario.Step
	chairs []*chair
	first  time.Time // day of which graphs are looked at first
}

// newOwner is who comes next: one whose chairs are known, or a new one, who registers some.
// They report from now on.
func (r *run) newOwner(ctx context.Context, step *scenario.Step, w *scenario.Worker) (*owner, error) {
	o := &owner{run: r, step: step, first: r.now().Truncate(24 * time.Hour)}
	var err error
	if o.User, err = contest.NewUser(r.o, step, "user="+strconv.Itoa(w.Number+1), answerWithin); err != nil {
		return nil, err
	}
	if err := loadPage(ctx, o.User); err != nil && !scenario.Is(err, scenario.Timeout) {
		return nil, err
	}
	if w.Number < knownUsers {
		err = o.choose(ctx, w.Rand)
	} else {
		err = o.register(ctx, w.Rand)
	}
	if err != nil {
		return nil, err
	}
	for i, c := range o.chairs {
		rng := step.Rand("chair "+strconv.Itoa(w.Number), i)
		c.seen, c.past = r.now().Add(-time.Second), o.first
		step.Go(ctx, func(ctx context.Context) error { return o.report(ctx, c, rng) })
	}
	return o, nil
}

// choose takes some of the owner's chairs. A list that comes too late is asked for again.
func (o *owner) choose(ctx context.Context, rng *rand.Rand) error {
	all, err := o.list(ctx)
	for scenario.Is(err, scenario.Timeout) && ctx.Err() == nil {
		o.step.Fail(err)
		all, err = o.list(ctx)
	}
	if err != nil {
		return err
	}
	if len(all) < knownOf {
		return scenario.Errorf(contest.Wrong, "GET /api/isu: %d chairs", len(all))
	}
	for _, i := range rng.Perm(len(all))[:knownOf] {
		o.chairs = append(o.chairs, newChair(all[i], nil))
	}
	return nil
}

func newChair(id string, picture []byte) *chair {
	return &chair{id: id, picture: picture, sent: map[int64]condition{}, days: map[time.Time]int{}}
}

// register posts new chairs, each with a picture.
func (o *owner) register(ctx context.Context, rng *rand.Rand) error {
	for range newOf {
		id := fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rng.Uint32(), rng.Uint32()>>16, rng.Uint32()>>20, rng.Uint32()>>20,
			rng.Uint64()>>16)
		picture := make([]byte, 20_000+rng.IntN(100_000))
		for i := range picture {
			picture[i] = byte(rng.Uint32())
		}
		kind, body, err := agent.Form(agent.File{Field: "jia_isu_uuid", Data: []byte(id)},
			agent.File{Field: "isu_name", Data: []byte("a new chair")},
			agent.File{Field: "image", Name: "a.jpg", ContentType: "image/jpeg", Data: picture})
		if err != nil {
			return scenario.Fail(scenario.Internal, err)
		}
		err = o.Ask(ctx, &agent.Request{Step: "POST /api/isu", Method: http.MethodPost, Path: "/api/isu", ContentType: kind,
			Body: body}, http.StatusCreated, nil)
		if scenario.Is(err, scenario.Timeout) { // whether it is there is not known: its owner tries another
			o.step.Fail(err)
			continue
		}
		if err != nil {
			return err
		}
		o.chairs = append(o.chairs, newChair(id, picture))
	}
	return nil
}

// report posts what a chair feels until the load is over. A report that is not confirmed in
// time is never sent again, nor punished: it may be lost.
func (o *owner) report(ctx context.Context, c *chair, rng *rand.Rand) error {
	u, err := contest.NewReporter(o.o, o.step, reportWithin)
	if err != nil {
		return err
	}
	defer u.Close()
	tick := time.NewTicker(reportEach)
	defer tick.Stop()
	at := o.now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		until := o.now()
		body := c.feel(at, until, rng)
		at = until
		err := u.Ask(ctx, &agent.Request{Step: "POST /api/condition/:id", Method: http.MethodPost,
			Path: "/api/condition/" + c.id, ContentType: "application/json", Body: body}, http.StatusAccepted, nil)
		switch {
		case err == nil:
			o.acks.add(time.Now())
		case ctx.Err() == nil:
			o.step.Score(tagLost)
		}
	}
}

// feel makes up the conditions between two times, and returns them as they are posted.
func (c *chair) feel(from, until time.Time, rng *rand.Rand) []byte {
	type posted struct {
		Sitting   bool   `json:"is_sitting"`
		Condition string `json:"condition"`
		Message   string `json:"message"`
		Timestamp int64  `json:"timestamp"`
	}
	var out []posted
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range inReport {
		at := from.Add(until.Sub(from) * time.Duration(i) / inReport).Unix()
		p := posted{rng.IntN(2) == 0, fmt.Sprintf("is_dirty=%t,is_overweight=%t", rng.IntN(2) == 0, rng.IntN(2) == 0),
			"felt " + strconv.FormatUint(rng.Uint64N(1e9), 10), at}
		c.sent[at] = condition{time.Unix(at, 0).UTC(), p.Sitting, p.Condition, p.Message}
		out = append(out, p)
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // of numbers and texts of our own
	}
	return b
}

// check is what is wrong with a condition that is shown: it has to be one that was sent.
func (c *chair) check(got condition, message bool) error {
	if got.Time.Before(origin) {
		return nil // of before
	}
	c.mu.Lock()
	want, ok := c.sent[got.Time.Unix()]
	c.mu.Unlock()
	if !message {
		want.Message = ""
	}
	if !ok || !got.Time.Equal(want.Time) ||
		got.Sitting != want.Sitting || got.State != want.State || got.Message != want.Message {
		return errors.New("a condition that its chair did not report")
	}
	return nil
}

// look goes once through all that an owner looks at. What comes too late is left.
func (o *owner) look(ctx context.Context) error {
	ids, err := o.list(ctx)
	if err != nil {
		return err
	}
	for _, c := range o.chairs { // chairs that have not reported are not listed
		if c.shown && !slices.Contains(ids, c.id) {
			return scenario.Errorf(contest.Wrong, "GET /api/isu: a chair that has reported is not listed")
		}
	}
	return contest.Together(len(o.chairs), func(i int) error {
		c := o.chairs[i]
		if err := o.icon(ctx, c); err != nil {
			return err
		}
		if err := o.conditions(ctx, c); err != nil {
			return err
		}
		return o.graphs(ctx, c)
	})
}

// list returns the ids of the owner's chairs.
func (o *owner) list(ctx context.Context) (ids []string, err error) {
	var all []struct {
		ID   string    `json:"id"`
		Name string    `json:"name"`
		Last condition `json:"last"`
	}
	if err := o.JSON(ctx, &agent.Request{Step: "GET /api/isu", Path: "/api/isu"}, &all); err != nil {
		return nil, err
	}
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids, nil
}

// icon loads the picture of a chair, which never changes.
func (o *owner) icon(ctx context.Context, c *chair) error {
	r := &agent.Request{Step: "GET /api/isu/:id/icon", Path: "/api/isu/" + c.id + "/icon"}
	return o.Ask(ctx, r, http.StatusOK, func(b []byte) error {
		if c.picture == nil {
			c.picture = bytes.Clone(b)
		}
		if len(b) == 0 || !bytes.Equal(b, c.picture) {
			return errors.New("not the picture of the chair")
		}
		return nil
	})
}

// conditions reads the newest, of which those that are new bring points.
func (o *owner) conditions(ctx context.Context, c *chair) error {
	var all []condition
	r := &agent.Request{Step: "GET /api/condition/:id", Path: "/api/condition/" + c.id}
	if err := o.JSON(ctx, r, &all); err != nil {
		return err
	}
	last := c.seen
	for i, one := range all {
		err := c.check(one, true)
		if i > 0 && one.Time.After(all[i-1].Time) {
			err = errors.New("the newest condition does not come first")
		}
		if err != nil {
			return scenario.Errorf(contest.Wrong, "%s: %w", r.Step, err)
		}
		if one.Time.After(last) {
			o.step.Score(tagRead + one.level())
			c.seen, c.shown = later(c.seen, one.Time), true
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

const day = 24 * time.Hour

// graphs looks at today, and back at days that are over and were not seen since.
func (o *owner) graphs(ctx context.Context, c *chair) error {
	today := o.now().Truncate(day)
	for at := today; !at.Before(c.past); at = at.Add(-day) {
		all, err := o.graph(ctx, c, at)
		if err != nil {
			return err
		}
		switch {
		case at.Before(today):
			o.step.Score(tagGraph + grade(all, at, at.Add(day)))
		case len(all) > c.days[at]:
			o.step.Score(tagToday + grade(all, at, all[len(all)-1].Time.Truncate(time.Hour)))
		}
		c.days[at] = len(all)
	}
	c.past = today
	return nil
}

// graph reads a day's conditions.
func (o *owner) graph(ctx context.Context, c *chair, at time.Time) (all []condition, err error) {
	r := &agent.Request{Step: "GET /api/isu/:id/graph",
		Path: fmt.Sprintf("/api/isu/%s/graph?datetime=%d", c.id, at.Unix())}
	if err := o.JSON(ctx, r, &all); err != nil {
		return nil, err
	}
	for i, one := range all {
		err := c.check(one, false)
		if i > 0 && one.Time.Before(all[i-1].Time) || one.Time.Before(at) || !one.Time.Before(at.Add(day)) {
			err = errors.New("a condition of another day, or out of order")
		}
		if err != nil {
			return nil, scenario.Errorf(contest.Wrong, "%s: %w", r.Step, err)
		}
	}
	return all, nil
}

// grade is how good the graph of a time is: what the hour with the fewest conditions has.
func grade(all []condition, from, until time.Time) scenario.Tag {
	const sent = int(time.Hour / (speed * reportEach / inReport)) // in an hour, when nothing is lost
	counts := map[time.Time]int{}
	for i := range all {
		counts[all[i].Time.Truncate(time.Hour)]++
	}
	least := sent
	for at := from; at.Before(until); at = at.Add(time.Hour) {
		least = min(least, counts[at])
	}
	switch {
	case least >= sent-1: // an hour's border may fall between two
		return "good"
	case least >= sent/2:
		return "normal"
	case least > 0:
		return "bad"
	}
	return "worst"
}
