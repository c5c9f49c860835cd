// Package bench is the benchmark of isutrain, with the points of the contest.
//
//	a search, seats of a car                            3 each
//	a reservation                                       5, and 10 for its seats
//	two, three, four or five people side by side        10, 15, 20, 25
//	stations, log-in, commit, cancellation, a list      1 each
//	a wrong answer, a wrong status, a timeout of 10 s   −5
//
// Travellers look for trains, look at seats, reserve, pay, and sometimes cancel. How many come
// rises with the points, up to the number of days that /initialize says can be booked.
//
// Twenty wrong answers end the run. A search has to show the first ten trains after its time: as they depart, and
// of one minute
// by their names. A seat that is sold twice for a part of the way ends the run. What was
// cancelled has to be so at the payment service after 5 s; at the end what is paid is compared
// with what was reserved, for each reservation.
//
// Start at [Run].
package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

const (
	atFirst  = 4 // travellers
	mostDays = 40
	fewDays  = 10
	perLevel = 200 // points

	answerWithin     = 10 * time.Second
	cancelledWithin  = 5 * time.Second
	initializeWithin = 20 * time.Second
)

// The tags of what brings points.
const (
	tagSmall   scenario.Tag = "small"
	tagSearch  scenario.Tag = "search"
	tagSeats   scenario.Tag = "seats"
	tagReserve scenario.Tag = "reservation"
	tagGood    scenario.Tag = "seats of a reservation"
	tagBeside  scenario.Tag = "side by side, "
)

// rules are those of the contest.
func rules() scenario.Options {
	points := map[scenario.Tag]int64{tagSmall: 1, tagSearch: 3, tagSeats: 3, tagReserve: 5, tagGood: 10,
		tagBeside + "2": 10, tagBeside + "3": 15, tagBeside + "4": 20, tagBeside + "5": 25}
	levels := make([]int64, mostDays-atFirst)
	for i := range levels {
		levels[i] = int64(1+i) * perLevel
	}
	return scenario.Options{
		Levels: levels,
		Scoring: scenario.Scoring{
			Points: points,
			Deduct: map[scenario.Code]int64{scenario.Application: 5, contest.Wrong: 5, scenario.Timeout: 5},
			Limit:  map[scenario.Code]int{scenario.Critical: 1, scenario.Application: 101, contest.Wrong: 20},
		},
	}
}

// Run runs the benchmark.
func Run(ctx context.Context, o *contest.Options) (*scenario.Result, error) {
	return contest.Run(ctx, o, rules(), &run{o: o, book: newBook()})
}

// A run is one run.
type run struct {
	o        *contest.Options
	days     int
	stations []string // names by number, from 1
	pay      *agent.Agent
	book     *book
	people   people
}

// Prepare has the service begin anew, and looks whether it answers.
func (r *run) Prepare(ctx context.Context, step *scenario.Step) error {
	u, err := contest.NewUser(r.o, step, "", initializeWithin)
	if err != nil {
		return err
	}
	defer u.Close()
	var said struct {
		Days     int    `json:"available_days"`
		Language string `json:"language"`
	}
	err = u.JSON(ctx, &agent.Request{Step: "POST /initialize", Method: http.MethodPost, Path: "/initialize"}, &said)
	if err == nil && (said.Days < fewDays || said.Days > mostDays) {
		err = fmt.Errorf("POST /initialize: available_days %d, expected %d to %d", said.Days, fewDays, mostDays)
	}
	if err != nil {
		return scenario.Fail(scenario.Critical, err)
	}
	step.SetLanguage(said.Language)
	r.days = said.Days
	var settings struct {
		API string `json:"payment_api"`
	}
	if err := u.JSON(ctx, &agent.Request{Step: "GET /api/settings", Path: "/api/settings"}, &settings); err != nil {
		return err
	}
	r.pay, err = agent.New(agent.Options{BaseURL: settings.API, Timeout: answerWithin, NoCookies: true, Permit: r.o.Permit})
	if err != nil {
		return scenario.Errorf(scenario.Critical, "GET /api/settings: %w", err)
	}
	if r.stations, err = askStations(ctx, u); err != nil {
		return err
	}
	// Each kind of request once, so that a service that fails is not loaded.
	t, err := r.newTraveller(ctx, step, -1, step.Rand("verify", 0))
	if err != nil {
		return err
	}
	defer t.Close()
	return t.verify(ctx)
}

// Load has travellers come.
func (r *run) Load(ctx context.Context, step *scenario.Step) error {
	step.Workers(ctx, scenario.Workers{
		Name: "traveller", Count: func(level int) int { return min(atFirst+level, r.days) }, Rest: -1,
		Begin: func(ctx context.Context, w *scenario.Worker) error {
			t, err := r.newTraveller(ctx, step, w.Number, w.Rand)
			if err != nil {
				return err
			}
			t.worker, w.Data = w, t
			return nil
		},
		Do:  func(ctx context.Context, w *scenario.Worker) error { return w.Data.(*traveller).travel(ctx) },
		End: func(w *scenario.Worker) { w.Data.(*traveller).Close() },
	})
	step.Go(ctx, func(ctx context.Context) error { return r.watchCancelled(ctx, step) })
	return nil
}

// watchCancelled looks up what was cancelled longer ago at the payment service.
func (r *run) watchCancelled(ctx context.Context, step *scenario.Step) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, t := range r.book.overdue(cancelledWithin) {
			all, err := r.payments(ctx, t.id)
			if err != nil {
				return err
			}
			for _, p := range all {
				if !p.Cancelled && !t.unknown {
					step.Fail(scenario.Errorf(contest.Wrong, "cancelled, and still paid %s later: reservation %d",
						cancelledWithin, t.id))
				}
			}
		}
	}
}

// Validate compares what is paid and what is listed with what was confirmed.
func (r *run) Validate(ctx context.Context, step *scenario.Step) error {
	defer r.pay.Close()
	until := time.Now().Add(cancelledWithin)
	for {
		all, err := r.payments(ctx, 0)
		if err != nil {
			return err
		}
		errs := r.book.audit(all)
		if len(errs) == 0 {
			break
		}
		if time.Now().After(until) {
			for _, err := range errs[:min(len(errs), 20)] {
				step.Fail(scenario.Errorf(contest.Wrong, "final check: %w", err))
			}
			break
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var errs []error
	for _, p := range r.people.all() {
		errs = append(errs, r.checkList(ctx, step, p))
	}
	return errors.Join(errs...)
}
