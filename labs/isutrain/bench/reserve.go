package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// An order is what is asked for.
type order struct {
	Date      string `json:"date"`
	Class     string `json:"train_class"`
	Name      string `json:"train_name"`
	Departure string `json:"departure"`
	Arrival   string `json:"arrival"`
	SeatClass string `json:"seat_class"`
	Smoking   bool   `json:"is_smoking_seat"`
	Adult     int    `json:"adult"`
	Child     int    `json:"child"`
	Car       int    `json:"car_number"`
	Seats     []spot `json:"seats"`
}

const reserving = "POST /api/train/reserve"

// reserve returns a ticket, nil where there was none to have. Seats are asked for, or any.
func (t *traveller) reserve(ctx context.Context, p *plan, d *departure, class string, car int, asked []spot,
) (*ticket, error) {
	o := order{dayText(p.day), d.name, d.number, t.stations[p.from], t.stations[p.to], class, t.rand.IntN(4) == 0,
		p.adults, p.children, car, asked}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, scenario.Fail(scenario.Internal, err)
	}
	of := trip{p.day, d.name, d.number}
	x := &ticket{trip: of, from: p.from, to: p.to, class: class, adults: p.adults, children: p.children}
	before := t.book.look(of, p.from, p.to)
	t.book.begin(of)
	refused := 0
	var got confirmed
	err = t.Answer(ctx, &agent.Request{Step: reserving, Method: http.MethodPost, Path: "/api/train/reserve",
		ContentType: "application/json", Body: body}, func(status int, body []byte) error {
		if status == http.StatusConflict || status == http.StatusNotFound {
			refused = status
			return nil
		}
		return contest.ReadJSON(status, body, &got)
	})
	lost := err != nil && !scenario.Is(err, scenario.Application) // it may be reserved
	if err == nil && refused == 0 {
		err = t.confirm(x, d, &o, &got)
	}
	after := t.book.look(of, p.from, p.to)
	t.book.end(of, lost)
	switch {
	case lost:
		t.book.lose()
		t.person.mu.Lock()
		t.person.lost++
		t.person.mu.Unlock()
		return nil, err
	case err != nil:
		return nil, err
	case refused > 0:
		return nil, checkRefusal(refused, d, &o, before, before.sure && after.changes == before.changes+1)
	}
	return x, nil
}

// confirmed is the answer.
type confirmed struct {
	OK     bool   `json:"is_ok"`
	ID     int64  `json:"reservation_id"`
	Amount int64  `json:"amount"`
	Car    int    `json:"car_number"`
	Seats  []spot `json:"seats"`
}

// confirm checks what was confirmed, and notes it.
func (t *traveller) confirm(x *ticket, d *departure, o *order, got *confirmed) error {
	x.id, x.amount = got.ID, price(d.service, x.class, x.from, x.to, x.adults, x.children)
	for _, s := range got.Seats {
		x.chairs = append(x.chairs, chair{got.Car, s.Row, s.Column})
	}
	if err := t.book.sell(x); err != nil {
		return err
	}
	t.person.mu.Lock()
	t.person.tickets = append(t.person.tickets, x)
	t.person.mu.Unlock()
	if !got.OK || got.ID <= 0 {
		return scenario.Errorf(contest.Wrong, "%s: reservation %d, ok %t", reserving, got.ID, got.OK)
	}
	if got.Amount != x.amount {
		return scenario.Errorf(contest.Wrong, "%s: %d yen, expected %d", reserving, got.Amount, x.amount)
	}
	if err := checkSeats(d, o, got); err != nil {
		return scenario.Errorf(contest.Wrong, "%s: %w", reserving, err)
	}
	t.step.Score(tagReserve)
	if len(got.Seats) > 0 {
		t.step.Score(tagGood)
	}
	if n := len(got.Seats); n >= 2 && n <= 5 && sideBySide(got.Seats) {
		t.step.Score(tagBeside + scenario.Tag(strconv.Itoa(n)))
	}
	return nil
}

// checkSeats reports seats that are not what was asked for.
func checkSeats(d *departure, o *order, got *confirmed) error {
	want := o.Adult + o.Child
	if o.SeatClass == "non-reserved" {
		want = 0
	}
	if len(got.Seats) != want {
		return fmt.Errorf("%d seats, expected %d", len(got.Seats), want)
	}
	if want == 0 {
		return nil
	}
	class, smoking := carClass(got.Car)
	switch {
	case got.Car < 1 || got.Car > longest || class != o.SeatClass:
		return fmt.Errorf("car %d is not %s", got.Car, o.SeatClass)
	case len(o.Seats) == 0 && smoking != o.Smoking:
		return fmt.Errorf("car %d: people smoke where they may not, or the reverse", got.Car)
	case len(o.Seats) > 0 && (got.Car != o.Car || !slices.Equal(got.Seats, o.Seats)):
		return fmt.Errorf("other seats than those that were asked for")
	}
	for i, s := range got.Seats {
		if s.Row < 1 || s.Row > d.rows || !strings.Contains("ABCDE", s.Column) || len(s.Column) != 1 ||
			slices.Contains(got.Seats[:i], s) {
			return fmt.Errorf("seat %d%s: there is none, or it comes twice", s.Row, s.Column)
		}
	}
	return nil
}

func sideBySide(seats []spot) bool {
	for i := 1; i < len(seats); i++ {
		if seats[i].Row != seats[0].Row || seats[i].Column[0] != seats[i-1].Column[0]+1 {
			return false
		}
	}
	return true
}

// checkRefusal reports a refusal of what is to be had, as far as that is known: exactly, where
// no one else changed the train's seats meanwhile.
func checkRefusal(status int, d *departure, o *order, before view, exact bool) error {
	if status == http.StatusConflict {
		for _, s := range o.Seats {
			exact = exact && !before.taken[chair{o.Car, s.Row, s.Column}]
		}
		if exact && len(o.Seats) > 0 {
			return scenario.Errorf(contest.Wrong, "%s: refused as taken, and the seats are free", reserving)
		}
		return nil
	}
	taken := 0
	for c := range before.taken {
		if class, smoking := carClass(c.car); class == o.SeatClass && (smoking == o.Smoking || len(o.Seats) > 0) {
			taken++
		}
	}
	all := 0
	for car := 1; car <= longest; car++ {
		if class, smoking := carClass(car); class == o.SeatClass && smoking == o.Smoking {
			all += d.rows * 5
		}
	}
	if o.SeatClass == "non-reserved" || taken < all/2 {
		return scenario.Errorf(contest.Wrong, "%s: refused as sold out, and %d of %d seats are free", reserving, all-taken, all)
	}
	return nil
}

// commit pays for a ticket.
func (t *traveller) commit(ctx context.Context, x *ticket) error {
	err := post(ctx, t.User, "POST /api/train/reservation/commit", "/api/train/reservation/commit",
		map[string]any{"card_token": "c" + t.person.email, "reservation_id": x.id}, nil)
	if err != nil {
		t.book.doubt(x)
		return err
	}
	t.book.pay(x)
	t.step.Score(tagSmall)
	return nil
}

// cancel gives a ticket back.
func (t *traveller) cancel(ctx context.Context, x *ticket) error {
	t.book.begin(x.trip)
	t.book.leave(x)
	err := post(ctx, t.User, "POST /api/user/reservations/:id/cancel",
		fmt.Sprintf("/api/user/reservations/%d/cancel", x.id), nil, nil)
	t.book.end(x.trip, err != nil)
	if err != nil {
		t.book.doubt(x)
		return err
	}
	t.book.cancel(x)
	t.step.Score(tagSmall)
	return nil
}
