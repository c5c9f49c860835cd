package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// A payment is what the payment service knows.
type payment struct {
	ID          string `json:"payment_id"`
	Reservation int64  `json:"reservation_id"`
	Amount      int64  `json:"amount"`
	Cancelled   bool   `json:"is_canceled"`
}

// payments asks for those of a reservation, or for all.
func (r *run) payments(ctx context.Context, reservation int64) (out []payment, err error) {
	path := "/payments"
	if reservation > 0 {
		path += fmt.Sprintf("?reservation_id=%d", reservation)
	}
	res, err := r.pay.Get(ctx, "the payment service", path)
	if err != nil {
		return nil, err
	}
	defer res.Release()
	if err := json.Unmarshal(res.Body, &out); err != nil {
		return nil, scenario.Errorf(scenario.Critical, "the payment service: status %d: %w", res.Status, err)
	}
	return out, nil
}

// askStations returns their names by number.
func askStations(ctx context.Context, u *contest.User) ([]string, error) {
	var got []struct {
		ID      int    `json:"id"`
		Name    string `json:"name"`
		Express bool   `json:"is_stop_express"`
		Semi    bool   `json:"is_stop_semi_express"`
		Local   bool   `json:"is_stop_local"`
	}
	const step = "GET /api/stations"
	if err := u.JSON(ctx, &agent.Request{Step: step, Path: "/api/stations"}, &got); err != nil {
		return nil, err
	}
	if len(got) != line {
		return nil, scenario.Errorf(contest.Wrong, "%s: %d stations, expected %d", step, len(got), line)
	}
	names := make([]string, line+1)
	for i, s := range got {
		n := i + 1
		if s.ID != n || s.Name == "" || slices.Contains(names, s.Name) {
			return nil, scenario.Errorf(contest.Wrong, "%s: station %d is %d %q: out of order, or twice", step, n, s.ID, s.Name)
		}
		if s.Express != stopsAt(&services[0], n) || s.Semi != stopsAt(&services[1], n) || !s.Local {
			return nil, scenario.Errorf(contest.Wrong, "%s: other trains stop at station %d", step, n)
		}
		names[n] = s.Name
	}
	return names, nil
}

// A person has tickets.
type person struct {
	email, password string
	cookie          string

	mu      sync.Mutex
	tickets []*ticket
	lost    int // reservations without an answer
}

// people are all who came.
type people struct {
	mu   sync.Mutex
	here []*person
}

func (p *people) add(x *person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.here = append(p.here, x)
}

func (p *people) all() []*person {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.here)
}

// A booking is a reservation as it is listed.
type booking struct {
	ID        int64  `json:"reservation_id"`
	Date      string `json:"date"`
	Class     string `json:"train_class"`
	Name      string `json:"train_name"`
	Departure string `json:"departure"`
	Arrival   string `json:"arrival"`
	Status    string `json:"status"`
	Adult     int    `json:"adult"`
	Child     int    `json:"child"`
	Amount    int64  `json:"amount"`
	Car       int    `json:"car_number"`
	Seats     []spot `json:"seats"`
}

type spot struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
}

// checkList compares what is listed for a person with what was confirmed to them. None of the
// person's requests is under way.
func (r *run) checkList(ctx context.Context, step *scenario.Step, p *person) error {
	u, err := contest.NewUser(r.o, step, p.cookie, answerWithin)
	if err != nil {
		return err
	}
	defer u.Close()
	return r.compareList(ctx, u, p)
}

func (r *run) compareList(ctx context.Context, u *contest.User, p *person) error {
	var got []booking
	const name = "GET /api/user/reservations"
	if err := u.JSON(ctx, &agent.Request{Step: name, Path: "/api/user/reservations"}, &got); err != nil {
		return err
	}
	at := map[int64]*booking{}
	for i := range got {
		if at[got[i].ID] != nil || i > 0 && got[i].ID < got[i-1].ID {
			return scenario.Errorf(contest.Wrong, "%s: reservation %d comes twice, or out of order", name, got[i].ID)
		}
		at[got[i].ID] = &got[i]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tickets {
		b := at[t.id]
		delete(at, t.id)
		r.book.mu.Lock()
		now := *t
		r.book.mu.Unlock()
		switch {
		case now.unknown:
		case !now.cancelled.IsZero() && b != nil:
			return scenario.Errorf(contest.Wrong, "%s: reservation %d was cancelled and is listed", name, t.id)
		case !now.cancelled.IsZero():
		case b == nil:
			return scenario.Errorf(contest.Wrong, "%s: reservation %d was confirmed and is lost", name, t.id)
		default:
			if err := r.compareBooking(b, &now); err != nil {
				return scenario.Errorf(contest.Wrong, "%s: reservation %d: %w", name, t.id, err)
			}
		}
	}
	if len(at) > p.lost {
		return scenario.Errorf(contest.Wrong, "%s: %d reservations that were not confirmed", name, len(at)-p.lost)
	}
	return nil
}

func (r *run) compareBooking(b *booking, t *ticket) error {
	status := "requesting"
	if t.paid {
		status = "done"
	}
	switch {
	case b.Status != status:
		return fmt.Errorf("status %q, expected %q", b.Status, status)
	case b.Amount != t.amount:
		return fmt.Errorf("%d yen, expected %d", b.Amount, t.amount)
	case b.Date != dayText(t.trip.day) || b.Class != t.trip.class || b.Name != t.trip.name:
		return errors.New("another train")
	case b.Departure != r.stations[t.from] || b.Arrival != r.stations[t.to]:
		return errors.New("other stations")
	case b.Adult != t.adults || b.Child != t.children:
		return errors.New("other people")
	}
	var seats []chair
	for _, s := range b.Seats {
		seats = append(seats, chair{b.Car, s.Row, s.Column})
	}
	if len(seats) != len(t.chairs) {
		return fmt.Errorf("%d seats, expected %d", len(seats), len(t.chairs))
	}
	for _, c := range t.chairs {
		if !slices.Contains(seats, c) {
			return errors.New("other seats")
		}
	}
	return nil
}
