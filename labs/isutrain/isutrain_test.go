package isutrain

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// sets are the variants whose answers are alike: each defect is in one of them alone, too.
func sets() []kit.Set {
	return []kit.Set{{}, Lab().All(), {"QRY-06"}, {"QRY-05", "LCK-05"}, {"LCK-01"}, {"OPS-04", "IDX-01"}}
}

// TestService: on both servers, each request is answered alike with every defect and without
// any, and refused alike.
func TestService(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		var first []string
		for i, d := range sets() {
			k := newDesk(t, s, "isutrain", d, 1, nil)
			got := append(k.searches(), k.bookings()...)
			k.refusals()
			k.races()
			if i == 0 {
				first = got
				continue
			}
			for n := range first {
				if n < len(got) && got[n] != first[n] {
					t.Errorf("%s: answer %d is %.300s\nwithout defects %.300s", d, n, got[n], first[n])
				}
			}
		}
	})
}

// searches asks for trains, and holds them to the order of departures.
func (k *desk) searches() (answers []string) {
	if got := k.ask(200, "POST", "/initialize",
		nil); got["available_days"] != float64(days) || got["language"] != "go" {
		k.t.Errorf("initialize: %v", got)
	}
	if got := k.ask(200, "GET", "/api/settings", nil); got["payment_api"] != k.pay.base {
		k.t.Errorf("settings: %v", got)
	}
	k.ask(200, "GET", "/", nil)
	for _, q := range []url.Values{
		{"from": {k.stations[0].Name}, "to": {k.stations[stations-1].Name}, "use_at": {at(6 * time.Hour)}},
		{"from": {k.stations[95].Name}, "to": {k.stations[0].Name}, "use_at": {at(13 * time.Hour)}},
		{"from": {k.stations[4].Name}, "to": {k.stations[24].Name}, "use_at": {at(7 * time.Hour)},
			"train_class": {"中間"}},
		{"from": {k.stations[1].Name}, "to": {k.stations[2].Name}, "use_at": {at(6 * time.Hour)},
			"train_class": {"最速"}},
	} {
		q.Set("adult", "2")
		q.Set("child", "1")
		code, body := k.send("GET", "/api/train/search?"+q.Encode(), nil)
		var got []listed
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 {
			k.t.Fatalf("%s: search: %d %s", k.d, code, body)
		}
		k.compareSearch(got, q)
		answers = append(answers, body)
	}
	return append(answers, func() string { _, b := k.send("GET", "/api/stations", nil); return b }())
}

// compareSearch holds a search to plain loops over the trains of the day.
func (k *desk) compareSearch(got []listed, q url.Values) {
	from, to := k.byName[q.Get("from")], k.byName[q.Get("to")]
	use, _ := time.Parse(time.RFC3339, q.Get("use_at"))
	after := clock(int(use.Sub(firstDay).Seconds()))
	var want []string
	for _, x := range trainsOf(0) {
		_, departs := x.at(from.ID)
		class := q.Get("train_class")
		if x.up == (from.ID > to.ID) && from.stops(x.kind.name) && to.stops(x.kind.name) && clock(departs) > after &&
			(class == "" || class == x.kind.name) && len(want) < mostListed {
			arrives, _ := x.at(to.ID)
			want = append(want, fmt.Sprintf("%s %s %s %s", x.kind.name, x.name, clock(departs), clock(arrives)))
		}
	}
	var names []string
	for _, l := range got {
		names = append(names, fmt.Sprintf("%s %s %s %s", l.Class, l.Name, l.Departs, l.Arrives))
	}
	if !slices.Equal(names, want) {
		k.t.Errorf("%s: search %v: %q, want %q", k.d, q, names, want)
	}
}

// bookings reserves, pays, cancels, and looks at what is left.
func (k *desk) bookings() (answers []string) {
	k.join("a@example.com")
	o := k.someOrder()
	show := func(method, path string, body any) {
		_, text := k.send(method, path, body)
		answers = append(answers, text)
	}
	show("POST", "/api/train/reserve", o)
	o.Smoking, o.Child = true, 2
	show("POST", "/api/train/reserve", o)
	o.SeatClass, o.Smoking = premium, false
	o.Car, o.Seats = 1, []spot{{2, "B"}, {2, "C"}, {9, "A"}, {9, "B"}}
	show("POST", "/api/train/reserve", o)
	show("POST", "/api/train/reserve", o) // taken
	o.SeatClass = nonReserved
	show("POST", "/api/train/reserve", o)
	pay := func(id int) {
		k.ask(200, "POST", "/api/train/reservation/commit", map[string]any{"reservation_id": id})
	}
	pay(1)
	pay(2)
	if k.paid(1) == 0 || k.paid(1) != int64(k.count("SELECT amount FROM reservations WHERE reservation_id = 1")) {
		k.t.Errorf("%s: %d yen are paid", k.d, k.paid(1))
	}
	k.ask(200, "POST", "/api/user/reservations/2/cancel", nil)
	k.ask(200, "POST", "/api/user/reservations/3/cancel", nil)
	if k.paid(2) != 0 || k.count("SELECT COUNT(*) FROM seat_reservations WHERE reservation_id IN (2, 3)") != 0 {
		k.t.Errorf("%s: what was cancelled is paid for, or has seats", k.d)
	}
	show("GET", "/api/user/reservations", nil)
	show("GET", "/api/user/reservations/1", nil)
	q := url.Values{"date": {o.Date}, "train_class": {o.Class}, "train_name": {o.Name}, "from": {o.Departure},
		"to": {o.Arrival}, "car_number": {"4"}}
	show("GET", "/api/train/seats?"+q.Encode(), nil)
	return answers
}

// refusals asks for what is refused.
func (k *desk) refusals() {
	o := k.someOrder()
	bad := func(want int, change func(o *order)) {
		k.t.Helper()
		x := o
		change(&x)
		k.ask(want, "POST", "/api/train/reserve", x)
	}
	bad(400, func(o *order) { o.Adult = 0 })
	bad(400, func(o *order) { o.Adult = 99 })
	bad(400, func(o *order) { o.SeatClass = "throne" })
	bad(400, func(o *order) { o.Arrival = "nowhere" })
	bad(400, func(o *order) { o.Car, o.Seats = 4, []spot{{1, "A"}} })
	bad(400, func(o *order) { o.Car, o.Seats = 4, []spot{{1, "A"}, {1, "A"}} })
	bad(400, func(o *order) { o.Car, o.Seats = 1, []spot{{1, "A"}, {1, "B"}} })
	bad(404, func(o *order) { o.Date = "2027-01-01" })
	bad(404, func(o *order) { o.Name = "999" })
	bad(404, func(o *order) { o.Departure, o.Arrival = o.Arrival, o.Departure })
	k.ask(409, "POST", "/api/train/reservation/commit", map[string]any{"reservation_id": 1})
	k.ask(404, "POST", "/api/train/reservation/commit", map[string]any{"reservation_id": 2})
	k.ask(404, "POST", "/api/user/reservations/2/cancel", nil)
	k.ask(400, "GET", "/api/user/reservations/x", nil)
	k.ask(409, "POST", "/api/auth/signup", credentials{"a@example.com", "other"})
	k.ask(403, "POST", "/api/auth/login", credentials{"a@example.com", "other"})
	k.ask(403, "POST", "/api/auth/login", credentials{"b@example.com", "secret"})
	k.ask(400, "GET", "/api/train/search?use_at=now", nil)
	mine := k.cookie
	k.join("b@example.com")
	k.ask(404, "GET", "/api/user/reservations/1", nil)
	k.ask(404, "POST", "/api/user/reservations/1/cancel", nil)
	for _, cookie := range []string{"", "session=1.00", "session=x"} {
		k.cookie = cookie
		k.ask(401, "POST", "/api/train/reserve", o)
	}
	k.cookie = mine
}

// races has many people ask for the same at once.
func (k *desk) races() {
	o := k.someOrder()
	o.Car, o.Seats = 5, []spot{{1, "A"}, {1, "B"}}
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			switch code, text := k.send("POST", "/api/train/reserve", o); code {
			case 200:
				won.Add(1)
			case 409:
				lost.Add(1)
			default:
				k.t.Errorf("%s: reserve: %d %s", k.d, code, text)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 7 {
		k.t.Errorf("%s: %d of 8 have the same seat", k.d, won.Load())
	}
	o.Car, o.Seats, o.Adult, o.SeatClass = 0, nil, 10, premium
	var sold atomic.Int64
	for range 16 { // for 2 cars of 50 seats or more
		wg.Go(func() {
			if code, text := k.send("POST", "/api/train/reserve", o); code == 200 {
				sold.Add(10)
			} else if code != 404 && code != 409 {
				k.t.Errorf("%s: reserve: %d %s", k.d, code, text)
			}
		})
	}
	wg.Wait()
	most := 2 * columns * kinds[slices.IndexFunc(kinds, func(x kind) bool { return x.name == o.Class })].rows
	if n := sold.Load(); n > int64(most) || n < 50 {
		k.t.Errorf("%s: %d seats of %d are sold", k.d, n, most)
	}
	if n := k.count(soldTwice); n != 0 {
		k.t.Errorf("%s: %d seats are sold twice", k.d, n)
	}
}

// TestOrder: a key that is added breaks the order, and dropping it brings none back; where
// statements say their order, it does no harm.
func TestOrder(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		q := url.Values{"use_at": {at(6 * time.Hour)}, "adult": {"1"}, "child": {"0"}}
		search := func(d kit.Set) string {
			k := newDesk(t, s, "isutrain", d, 1, nil)
			q.Set("from", k.stations[0].Name)
			q.Set("to", k.stations[95].Name)
			_, body := k.send("GET", "/api/train/search?"+q.Encode(), nil)
			return body
		}
		good := search(kit.Set{"OPS-04"})
		if search(kit.Set{"OPS-04", "OPS-04K"}) == good {
			t.Error("a key changes nothing")
		}
		if search(kit.Set{"OPS-04", "OPS-04D"}) == good {
			t.Error("dropping it brings the order back")
		}
		k := newDesk(t, s, "isutrain", kit.Set{}, 1, nil)
		if _, err := k.db.Exec("ALTER TABLE train_master DROP PRIMARY KEY, " +
			"ADD PRIMARY KEY (date, departure_at, train_class, train_name)"); err != nil {
			t.Fatal(err)
		}
		if _, body := k.send("GET", "/api/train/search?"+q.Encode(), nil); body != good {
			t.Error("the order that is said is not that of answers")
		}
	})
}

// TestPaymentFails: a payment service that fails leaves nothing half done that asking again does not mend.
func TestPaymentFails(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	for _, d := range []kit.Set{{}, {"LCK-05"}} {
		l := &ledger{}
		var down atomic.Bool
		k := newDesk(t, s, "isutrain", d, 1, sometimes(l.routes(), &down))
		k.ledger = l
		k.ask(200, "POST", "/initialize", nil)
		k.join("a@example.com")
		id := k.ask(200, "POST", "/api/train/reserve", k.someOrder())["reservation_id"]
		body := map[string]any{"reservation_id": id}
		down.Store(true)
		k.ask(500, "POST", "/api/train/reservation/commit", body)
		down.Store(false)
		k.ask(200, "POST", "/api/train/reservation/commit", body)
		down.Store(true)
		k.ask(500, "POST", fmt.Sprintf("/api/user/reservations/%v/cancel", id), nil)
		if k.paid(id) == 0 || k.count("SELECT COUNT(*) FROM seat_reservations") != 2 {
			t.Errorf("%s: a cancellation that failed lost something", d)
		}
		down.Store(false)
		k.ask(200, "POST", fmt.Sprintf("/api/user/reservations/%v/cancel", id), nil)
		if k.paid(id) != 0 || k.count("SELECT COUNT(*) FROM seat_reservations") != 0 {
			t.Errorf("%s: a cancellation that was asked for again left something", d)
		}
	}
}
