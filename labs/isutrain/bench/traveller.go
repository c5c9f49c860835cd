package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// A traveller books.
type traveller struct {
	*run
	*contest.User
	step   *scenario.Step
	person *person
	rand   *rand.Rand
	worker *scenario.Worker // nil while the service is verified
}

// newTraveller is who comes next: with an account, and logged in.
func (r *run) newTraveller(ctx context.Context, step *scenario.Step, number int, rng *rand.Rand) (*traveller, error) {
	u, err := contest.NewUser(r.o, step, "", answerWithin)
	if err != nil {
		return nil, err
	}
	t := &traveller{run: r, User: u, step: step, rand: rng,
		person: &person{email: fmt.Sprintf("traveller%d@example.com", number+1), password: fmt.Sprint(rng.Uint64())}}
	err = post(ctx, u, "POST /api/auth/signup", "/api/auth/signup", t.credentials(), nil)
	if err == nil {
		err = t.logIn(ctx)
	}
	if err != nil {
		u.Close()
		return nil, err
	}
	r.people.add(t.person)
	return t, nil
}

func (t *traveller) credentials() map[string]string {
	return map[string]string{"email": t.person.email, "password": t.person.password}
}

// logIn takes a new session, in a new browser.
func (t *traveller) logIn(ctx context.Context) error {
	var got struct {
		Session string `json:"session"`
	}
	const step = "POST /api/auth/login"
	if err := post(ctx, t.User, step, "/api/auth/login", t.credentials(), &got); err != nil {
		return err
	}
	if got.Session == "" {
		return scenario.Errorf(contest.Wrong, "%s: no session", step)
	}
	t.person.cookie = "session=" + got.Session
	u, err := contest.NewUser(t.o, t.step, t.person.cookie, answerWithin)
	if err != nil {
		return err
	}
	t.Close()
	t.User = u
	t.step.Score(tagSmall)
	return nil
}

// post sends JSON, and reads what is answered unless into is nil.
func post(ctx context.Context, u *contest.User, step, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return scenario.Fail(scenario.Internal, err)
	}
	r := &agent.Request{Step: step, Method: http.MethodPost, Path: path, ContentType: "application/json", Body: b}
	if into == nil {
		into = &struct {
			OK bool `json:"is_ok"`
		}{}
	}
	return u.JSON(ctx, r, into)
}

// rest is how long people think.
func (t *traveller) rest(ctx context.Context) error {
	if t.worker == nil {
		return nil
	}
	return t.worker.Sleep(ctx, t.worker.Between(80*time.Millisecond, 240*time.Millisecond))
}

// A plan is what someone looks for.
type plan struct {
	day      int
	from, to int
	after    time.Duration // since midnight
	class    string
	adults   int
	children int
}

// plan makes one up: half of all go on the first days, as holidays are.
func (t *traveller) plan() plan {
	p := plan{day: t.rand.IntN(t.days), after: 5*time.Hour + time.Duration(t.rand.IntN(8*60))*time.Minute}
	if t.rand.IntN(2) == 0 {
		p.day = t.rand.IntN(2)
	}
	every := 12
	if t.rand.IntN(4) == 0 {
		every, p.after = 4, min(p.after, 9*time.Hour)
	}
	for p.from == p.to {
		p.from, p.to = 1+every*t.rand.IntN(line/every), 1+every*t.rand.IntN(line/every)
	}
	p.adults, p.children = 1+t.rand.IntN(3), t.rand.IntN(3)
	if t.rand.IntN(3) == 0 && every == 12 {
		p.class = services[t.rand.IntN(len(services))].name
	}
	return p
}

// verify asks for everything once.
func (t *traveller) verify(ctx context.Context) error {
	for _, of := range services {
		p := t.plan()
		p.class = of.name
		trains, err := t.search(ctx, &p)
		if err != nil {
			return err
		}
		if len(trains) == 0 {
			continue
		}
		if _, err := t.look(ctx, &p, &trains[0], 4); err != nil {
			return err
		}
		x, err := t.reserve(ctx, &p, &trains[0], "reserved", 0, nil)
		if err != nil || x == nil || len(x.chairs) == 0 {
			return err
		}
		if _, err := t.look(ctx, &p, &trains[0], x.chairs[0].car); err != nil {
			return err
		}
		if err := t.commit(ctx, x); err != nil {
			return err
		}
		if err := t.compareList(ctx, t.User, t.person); err != nil {
			return err
		}
		return t.cancel(ctx, x)
	}
	return nil
}

// travel is one journey from the search to the ticket.
func (t *traveller) travel(ctx context.Context) error {
	if err := t.rest(ctx); err != nil {
		return err
	}
	p := t.plan()
	trains, err := t.search(ctx, &p)
	if err != nil || len(trains) == 0 {
		return err
	}
	if err := t.rest(ctx); err != nil {
		return err
	}
	train := &trains[0]
	if t.rand.IntN(2) == 0 {
		train = &trains[t.rand.IntN(len(trains))]
	}
	car, asked := 1+t.rand.IntN(12), []spot(nil)
	if t.rand.IntN(2) == 0 {
		free, err := t.look(ctx, &p, train, car)
		if err != nil {
			return err
		}
		if n := p.adults + p.children; t.rand.IntN(2) == 0 && len(free) >= n {
			at := t.rand.IntN(len(free) - n + 1)
			asked = free[at : at+n]
		}
		if err := t.rest(ctx); err != nil {
			return err
		}
	}
	class, _ := carClass(car)
	if asked == nil {
		class, car = []string{"premium", "reserved", "reserved", "non-reserved"}[t.rand.IntN(4)], 0
	}
	x, err := t.reserve(ctx, &p, train, class, car, asked)
	if err != nil || x == nil {
		return err
	}
	return t.after(ctx, x)
}

// after is what becomes of a ticket.
func (t *traveller) after(ctx context.Context, x *ticket) error {
	if err := t.rest(ctx); err != nil {
		return err
	}
	if t.rand.IntN(10) > 0 {
		if err := t.commit(ctx, x); err != nil {
			return err
		}
	}
	switch t.rand.IntN(6) {
	case 0, 1:
		if err := t.rest(ctx); err != nil {
			return err
		}
		return t.cancel(ctx, x)
	case 2:
		err := t.compareList(ctx, t.User, t.person)
		if err == nil {
			t.step.Score(tagSmall)
		}
		return err
	case 3:
		if t.rand.IntN(3) == 0 {
			return t.logIn(ctx)
		}
	}
	return nil
}

// A listed train is one that a search shows.
type listed struct {
	Class     string            `json:"train_class"`
	Name      string            `json:"train_name"`
	Start     string            `json:"start"`
	Last      string            `json:"last"`
	Departure string            `json:"departure"`
	Arrival   string            `json:"arrival"`
	Departs   string            `json:"departure_time"`
	Arrives   string            `json:"arrival_time"`
	Seats     map[string]string `json:"seat_availability"`
	Fares     map[string]int64  `json:"seat_fare"`
}

// search returns the trains that are shown, which are those that have to be.
func (t *traveller) search(ctx context.Context, p *plan) ([]departure, error) {
	q := url.Values{"use_at": {opening.AddDate(0, 0, p.day).Add(p.after).UTC().Format(time.RFC3339)},
		"from": {t.stations[p.from]}, "to": {t.stations[p.to]}, "train_class": {p.class},
		"adult": {strconv.Itoa(p.adults)}, "child": {strconv.Itoa(p.children)}}
	var got []listed
	const step = "GET /api/train/search"
	if err := t.JSON(ctx, &agent.Request{Step: step, Path: "/api/train/search?" + q.Encode()}, &got); err != nil {
		return nil, err
	}
	want := shown(p.day, p.from, p.to, p.after, p.class)
	if len(got) != len(want) {
		return nil, scenario.Errorf(contest.Wrong, "%s: %d trains, expected %d", step, len(got), len(want))
	}
	for i := range got {
		if err := t.compareTrain(&got[i], &want[i], p); err != nil {
			return nil, scenario.Errorf(contest.Wrong, "%s: train %d of the list: %w", step, i+1, err)
		}
	}
	t.step.Score(tagSearch)
	return want, nil
}

func (t *traveller) compareTrain(got *listed, want *departure, p *plan) error {
	ends := [2]string{t.stations[1], t.stations[line]}
	if want.inbound {
		ends[0], ends[1] = ends[1], ends[0]
	}
	switch {
	case got.Class != want.name || got.Name != want.number:
		return fmt.Errorf("the order is not that of departures: %s %s, expected %s %s", got.Class, got.Name, want.name,
			want.number)
	case got.Departs != clockOf(want.passes(p.from)) || got.Arrives != clockOf(want.reaches(p.to)):
		return fmt.Errorf("times %s to %s, expected %s to %s", got.Departs, got.Arrives, clockOf(want.passes(p.from)),
			clockOf(want.reaches(p.to)))
	case got.Departure != t.stations[p.from] || got.Arrival != t.stations[p.to] || got.Start != ends[0] ||
		got.Last != ends[1]:
		return errors.New("other stations")
	}
	for class := range seatPrices {
		if want := price(want.service, class, p.from, p.to, p.adults, p.children); got.Fares[class] != want {
			return fmt.Errorf("the fare of %s is %d, expected %d", class, got.Fares[class], want)
		}
	}
	for _, class := range []string{"premium", "premium_smoke", "reserved", "reserved_smoke", "non_reserved"} {
		if !slices.Contains([]string{"○", "△", "×"}, got.Seats[class]) {
			return fmt.Errorf("availability of %s is %q", class, got.Seats[class])
		}
	}
	return nil
}

// A placed seat is one that is shown.
type placed struct {
	Car     int    `json:"car_number"`
	Row     int    `json:"row"`
	Column  string `json:"column"`
	Class   string `json:"class"`
	Smoking bool   `json:"is_smoking_seat"`
	Taken   bool   `json:"is_occupied"`
}

// look returns the free seats of a car.
func (t *traveller) look(ctx context.Context, p *plan, d *departure, car int) (free []spot, err error) {
	of := trip{p.day, d.name, d.number}
	q := url.Values{"date": {dayText(p.day)}, "train_class": {d.name}, "train_name": {d.number},
		"car_number": {strconv.Itoa(car)}, "from": {t.stations[p.from]}, "to": {t.stations[p.to]}}
	var got struct {
		Date  string   `json:"date"`
		Class string   `json:"train_class"`
		Name  string   `json:"train_name"`
		Car   int      `json:"car_number"`
		Seats []placed `json:"seats"`
	}
	before := t.book.look(of, p.from, p.to)
	const step = "GET /api/train/seats"
	if err := t.JSON(ctx, &agent.Request{Step: step, Path: "/api/train/seats?" + q.Encode()}, &got); err != nil {
		return nil, err
	}
	after := t.book.look(of, p.from, p.to)
	if got.Date != dayText(p.day) || got.Class != d.name || got.Name != d.number || got.Car != car {
		return nil, scenario.Errorf(contest.Wrong, "%s: another car or train", step)
	}
	if len(got.Seats) != d.rows*5 {
		return nil, scenario.Errorf(contest.Wrong, "%s: %d seats, expected %d", step, len(got.Seats), d.rows*5)
	}
	class, smoking := carClass(car)
	exact := before.sure && before.changes == after.changes
	for i, s := range got.Seats {
		c := chair{car, 1 + i/5, string(rune('A' + i%5))}
		switch {
		case (chair{s.Car, s.Row, s.Column}) != c || s.Class != class || s.Smoking != smoking:
			return nil, scenario.Errorf(contest.Wrong, "%s: seat %d of the list is %d%s of %s, expected %d%s: out of order",
				step, i+1, s.Row, s.Column, s.Class, c.row, c.column)
		case !s.Taken && before.taken[c] && after.taken[c]:
			return nil, scenario.Errorf(contest.Wrong, "%s: a seat that is reserved is shown as free", step)
		case s.Taken && exact && !before.taken[c]:
			return nil, scenario.Errorf(contest.Wrong, "%s: a seat that is free is shown as taken", step)
		case !s.Taken:
			free = append(free, spot{s.Row, s.Column})
		}
	}
	t.step.Score(tagSeats)
	return free, nil
}
