package isutrain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// faults are what the benchmark has to find.
func faults() []fault {
	return slices.Concat(searchFaults(), seatFaults(), reserveFaults(), moneyFaults(), listFaults(), otherFaults())
}

// TestFaults: there are many, and no two of a name.
func TestFaults(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		if seen[f.name] || f.want == "" {
			t.Errorf("%q comes twice, or has nothing to be said of it", f.name)
		}
		seen[f.name] = true
	}
	if len(seen) < 40 {
		t.Errorf("%d faults, want 40 or more", len(seen))
	}
}

const (
	searchAt = "/api/train/search"
	seatsAt  = "/api/train/seats"
	sellAt   = "/api/train/reserve"
	commitAt = "/commit"
	cancelAt = "/cancel"
	listAt   = "/api/user/reservations"
)

// edit changes a list that is answered.
func edit(change func(l []any) []any) func(x *exchange) {
	return func(x *exchange) {
		if l := x.list(); len(l) > 1 {
			x.set(change(l))
		}
	}
}

// each changes the objects of a list.
func each(change func(o map[string]any)) func(x *exchange) {
	return edit(func(l []any) []any {
		for _, v := range l {
			change(v.(map[string]any))
		}
		return l
	})
}

// first changes the first object of a list, however long it is.
func first(change func(o map[string]any)) func(x *exchange) {
	return func(x *exchange) {
		if l := x.list(); len(l) > 0 {
			change(l[0].(map[string]any))
			x.set(l)
		}
	}
}

// field changes an object that is answered.
func field(change func(o map[string]any)) func(x *exchange) {
	return func(x *exchange) {
		if o := x.object(); o != nil {
			change(o)
			x.set(o)
		}
	}
}

// answer answers without the service.
func answer(status int, body string) func(x *exchange) {
	return func(x *exchange) { x.status, x.body = status, []byte(body) }
}

// searchFaults are those of searches.
func searchFaults() []fault {
	get := func(name, want string, after func(x *exchange)) fault {
		return fault{name: name, want: "GET /api/train/search: " + want, method: "GET", at: searchAt, after: after}
	}
	asked := func(name, want string, change func(q url.Values)) fault {
		return fault{name: name, want: "GET /api/train/search: " + want, method: "GET", at: searchAt,
			before: func(x *exchange) {
				q := x.r.URL.Query()
				change(q)
				x.r.URL.RawQuery = q.Encode()
			}}
	}
	const order = "train \\d+ of the list: the order is not that of departures"
	return []fault{
		get("the first two trains are swapped", order, edit(func(l []any) []any { l[0], l[1] = l[1], l[0]; return l })),
		get("trains of one minute are in the order of classes", order, edit(func(l []any) []any {
			for i := 1; i < len(l); i++ {
				a, b := l[i-1].(map[string]any), l[i].(map[string]any)
				if a["train_class"].(string) > b["train_class"].(string) {
					l[i-1], l[i] = l[i], l[i-1]
				}
			}
			return l
		})),
		get("the last train is missing", `\d+ trains, expected \d+`, edit(func(l []any) []any { return l[:len(l)-1] })),
		get("a train comes twice", order, edit(func(l []any) []any { l[1] = l[0]; return l })),
		get("nothing is found", `0 trains, expected \d+`, func(x *exchange) { x.set([]any{}) }),
		get("trains of another minute", `train 1 of the list: times `,
			first(func(o map[string]any) { o["departure_time"] = "00:00:01" })),
		get("they arrive later", `train 1 of the list: times `,
			first(func(o map[string]any) { o["arrival_time"] = "23:59:59" })),
		get("a fare of last year", `train 1 of the list: the fare of reserved is 1, expected \d+`,
			first(func(o map[string]any) {
				o["seat_fare"].(map[string]any)["reserved"] = 1
			})),
		get("availability is a number", `train 1 of the list: availability of premium is`,
			first(func(o map[string]any) {
				o["seat_availability"].(map[string]any)["premium"] = "12"
			})),
		get("it goes elsewhere", `train 1 of the list: other stations`,
			first(func(o map[string]any) { o["last"] = "青川" })),
		asked("times are read in UTC", "", func(q url.Values) {
			if at, err := time.Parse(time.RFC3339, q.Get("use_at")); err == nil {
				q.Set("use_at", at.Add(2*time.Hour).Format(time.RFC3339))
			}
		}),
		asked("children travel for nothing", `.*the fare of [a-z-]+ is`, func(q url.Values) { q.Set("child", "0") }),
		{name: "answers of another search", want: "GET /api/train/search: ", method: "GET", at: searchAt,
			before: func(x *exchange) {
				s := x.slot
				s.mu.Lock()
				kept, _ := s.kept.([]byte)
				s.mu.Unlock()
				if kept != nil {
					x.status, x.body = 200, kept
					return
				}
				x.do()
				s.mu.Lock()
				s.kept = slices.Clone(x.body)
				s.mu.Unlock()
			}},
	}
}

// seatFaults are those of the seats of a car.
func seatFaults() []fault {
	get := func(name, want string, change func(seats []any) []any) fault {
		return fault{name: name, want: "GET /api/train/seats: " + want, method: "GET", at: seatsAt,
			after: field(func(o map[string]any) { o["seats"] = change(o["seats"].([]any)) })}
	}
	mark := func(taken bool) func(l []any) []any {
		return func(l []any) []any {
			for _, v := range l {
				v.(map[string]any)["is_occupied"] = taken
			}
			return l
		}
	}
	return []fault{
		get("all seats are free", "a seat that is reserved is shown as free", mark(false)),
		get("all seats are taken", "a seat that is free is shown as taken", mark(true)),
		get("seats are out of order", "seat 1 of the list", func(l []any) []any { l[0], l[1] = l[1], l[0]; return l }),
		get("a seat is missing", `\d+ seats, expected \d+`, func(l []any) []any { return l[1:] }),
		get("seats are of another class", "seat 1 of the list", func(l []any) []any {
			l[0].(map[string]any)["class"] = "throne"
			return l
		}),
		{name: "another car", want: "GET /api/train/seats: another car or train", method: "GET", at: seatsAt,
			after: field(func(o map[string]any) { o["car_number"] = 99 })},
	}
}

// reserveFaults are those of reservations.
func reserveFaults() []fault {
	post := func(name, want string, change func(o map[string]any)) fault {
		return fault{name: name, want: want, method: "POST", at: sellAt, after: field(change)}
	}
	const says = "POST /api/train/reserve: "
	seats := func(o map[string]any) []any { l, _ := o["seats"].([]any); return l }
	return []fault{
		post("a yen more", says+`\d+ yen, expected \d+`,
			func(o map[string]any) { o["amount"] = o["amount"].(float64) + 1 }),
		post("it is not ok", says+`reservation \d+, ok false`, func(o map[string]any) { o["is_ok"] = false }),
		post("a seat too few", says+`\d+ seats, expected \d+`, func(o map[string]any) {
			if l := seats(o); len(l) > 0 {
				o["seats"] = l[1:]
			}
		}),
		post("seats of another class", says+`car \d+ is not `, func(o map[string]any) {
			if len(seats(o)) > 0 {
				o["car_number"] = 16
			}
		}),
		post("a seat that there is not", says+`seat \d+Z: there is none`, func(o map[string]any) {
			if l := seats(o); len(l) > 0 {
				l[0].(map[string]any)["column"] = "Z"
			}
		}),
		{name: "a reservation of someone else", want: `critical ` + says + `reservation \d+ is someone else's`,
			method: "POST",
			at:     sellAt, after: field(func(o map[string]any) { o["reservation_id"] = 1 })},
		{name: "seats are not kept",
			want:   `critical ` + says + `a seat was sold twice|shown as free|other seats|seats, expected`,
			method: "POST", at: sellAt, after: field(func(map[string]any) {}), before: func(x *exchange) {
				x.do()
				if o := x.object(); o != nil {
					x.exec("DELETE FROM seat_reservations WHERE reservation_id = ?", o["reservation_id"])
				}
			}},
		{name: "a seat is sold twice", want: `critical ` + says + `a seat was sold twice`, method: "POST", at: sellAt,
			before: func(x *exchange) {
				// The same train and seats for all: the first of the first train.
				var o map[string]any
				_ = json.Unmarshal(x.sent, &o)
				x.do()
				if got := x.object(); got != nil && o["seat_class"] == reserved {
					got["car_number"] = 4
					for i, v := range got["seats"].([]any) {
						v.(map[string]any)["row"], v.(map[string]any)["column"] = 1, string(rune('A'+i))
					}
					x.set(got)
				}
			}},
		{name: "everything is sold out", want: says + `refused as sold out, and \d+ of \d+ seats are free`,
			method: "POST",
			at:     sellAt, before: answer(404, "sold out")},
		{name: "seats that are free are refused", want: says + "refused as taken, and the seats are free",
			method: "POST",
			at:     sellAt, before: func(x *exchange) {
				var o order
				if json.Unmarshal(x.sent, &o) == nil && len(o.Seats) > 0 {
					x.status, x.body = 409, []byte("taken")
				}
			}},
		{name: "a reservation is lost",
			want:   `reservation \d+ was confirmed and is lost|POST /api/train/reservation/commit: status 404`,
			method: "POST", at: sellAt, before: func(x *exchange) {
				x.do()
				if o := x.object(); o != nil {
					x.exec("DELETE FROM reservations WHERE reservation_id = ?", o["reservation_id"])
				}
			}},
	}
}

// exec changes the database of the slot.
func (x *exchange) exec(query string, args ...any) {
	if _, err := x.slot.desk.db.Exec(query, args...); err != nil {
		x.slot.desk.t.Error(err)
	}
}

// moneyFaults are those of payments.
func moneyFaults() []fault {
	ok := answer(200, `{"is_ok":true}`)
	amount := func(change func(a float64) float64) func(x *exchange) {
		return func(x *exchange) {
			var o map[string]any
			if json.Unmarshal(x.sent, &o) == nil {
				o["amount"] = change(o["amount"].(float64))
				x.sent, _ = json.Marshal(o)
			}
		}
	}
	return []fault{
		{name: "half of it is paid", want: `final check: sums differ: \d+ yen are paid`, method: "POST",
			at:     "payment/payment",
			before: amount(func(a float64) float64 { return a / 2 })},
		{name: "a commit does nothing", want: `status "requesting", expected "done"|sums differ`, method: "POST",
			at:     commitAt,
			before: ok},
		{name: "it is paid twice", want: `final check: sums differ`, method: "POST", at: "payment/payment",
			before: func(x *exchange) {
				var p payment
				if json.Unmarshal(x.sent, &p) == nil {
					l := x.slot.desk.ledger
					l.mu.Lock()
					l.all = append(l.all, &payment{ID: fmt.Sprintf("twice%d", x.n), Reservation: p.Reservation,
						Amount: p.Amount})
					l.mu.Unlock()
				}
				x.do()
				l := x.slot.desk.ledger
				l.mu.Lock()
				l.all = append(l.all, &payment{ID: fmt.Sprintf("again%d", x.n), Reservation: p.Reservation,
					Amount: p.Amount})
				l.mu.Unlock()
			}},
		{name: "a cancellation is lost", want: `still paid`, method: "DELETE", at: "payment/payment/", before: ok},
		{name: "a payment that no one asked for",
			want:   `final check: reservation \d+ is paid for, which was never confirmed`,
			method: "POST", at: "payment/payment", most: 1, before: func(x *exchange) {
				l := x.slot.desk.ledger
				l.mu.Lock()
				l.all = append(l.all, &payment{ID: "none", Reservation: 1 << 40, Amount: 100})
				l.mu.Unlock()
			}},
		{name: "a reservation is paid for at once",
			want:   `final check: a reservation that was not committed is paid for|sums differ`,
			method: "POST", at: sellAt, before: func(x *exchange) {
				x.do()
				if o := x.object(); o != nil {
					l := x.slot.desk.ledger
					l.mu.Lock()
					l.all = append(l.all, &payment{ID: fmt.Sprintf("early%d", x.n),
						Reservation: int64(o["reservation_id"].(float64)), Amount: 10})
					l.mu.Unlock()
				}
			}},
	}
}

// listFaults are those of lists of reservations.
func listFaults() []fault {
	get := func(name, want string, change func(x *exchange)) fault {
		return fault{name: name, want: "GET /api/user/reservations: " + want, method: "GET", at: listAt, after: change}
	}
	set := func(key string, v any) func(x *exchange) { return first(func(o map[string]any) { o[key] = v }) }
	return []fault{
		get("the list is empty", `reservation \d+ was confirmed and is lost`, func(x *exchange) { x.set([]any{}) }),
		get("a reservation comes twice", `reservation \d+ comes twice`, func(x *exchange) {
			if l := x.list(); len(l) > 0 {
				x.set(append(l, l[0]))
			}
		}),
		get("one that is not theirs", `\d+ reservations that were not confirmed`, func(x *exchange) {
			if l := x.list(); len(l) > 0 {
				more := map[string]any{}
				for k, v := range l[0].(map[string]any) {
					more[k] = v
				}
				more["reservation_id"] = 1 << 40
				x.set(append(l, more))
			}
		}),
		get("another sum", `reservation \d+: 1 yen, expected \d+`, set("amount", 1)),
		get("another train", `reservation \d+: another train`, set("train_name", "99")),
		get("other stations", `reservation \d+: other stations`, set("arrival", "nowhere")),
		get("other people", `reservation \d+: other people`, set("adult", 9)),
		{name: "a cancellation does nothing", want: `reservation \d+ was cancelled and is listed|still paid`,
			method: "POST",
			at:     cancelAt, before: answer(200, `{"is_ok":true}`)},
	}
}

// otherFaults are those of everything else.
func otherFaults() []fault {
	return []fault{
		{name: "a search of ten fails", want: "application GET /api/train/search: status 500, expected 200",
			method: "GET",
			at:     searchAt, before: func(x *exchange) {
				if x.n%10 == 4 {
					x.status, x.body = 500, []byte("oops")
				}
			}},
		{name: "seats take too long", want: "timeout GET /api/train/seats", method: "GET", at: seatsAt, most: 1,
			before: func(x *exchange) {
				select {
				case <-time.After(11 * time.Second):
				case <-x.r.Context().Done():
				}
			}},
		{name: "no session", want: "POST /api/auth/login: no session", method: "POST", at: "/login",
			after: field(func(o map[string]any) { o["session"] = "" })},
		{name: "a session that no one takes", want: "status 401, expected 200", method: "POST", at: "/login",
			after: field(func(o map[string]any) { o["session"] = "7.0" })},
		{name: "stations are out of order", want: "GET /api/stations: station 1 is", method: "GET", at: "/api/stations",
			after: edit(func(l []any) []any { l[0], l[1] = l[1], l[0]; return l })},
		{name: "a station is missing", want: "GET /api/stations: 95 stations, expected 96", method: "GET",
			at:    "/api/stations",
			after: edit(func(l []any) []any { return l[1:] })},
		{name: "express trains stop everywhere", want: "GET /api/stations: other trains stop", method: "GET",
			at: "/api/stations", after: each(func(o map[string]any) { o["is_stop_express"] = true })},
		{name: "more days than there are", want: "critical POST /initialize: available_days 400", method: "POST",
			at: "/initialize", after: field(func(o map[string]any) { o["available_days"] = 400 })},
		{name: "initialize fails", want: "critical POST /initialize: status 500", method: "POST", at: "/initialize",
			before: answer(http.StatusInternalServerError, "oops")},
		{name: "JSON is cut short", want: "GET /api/train/search: not the JSON", method: "GET", at: searchAt,
			after: func(x *exchange) { x.body = bytes.TrimSuffix(bytes.TrimSpace(x.body), []byte("]")) }},
		{name: "a field that no one knows", want: "GET /api/train/seats: not the JSON", method: "GET", at: seatsAt,
			after: field(func(o map[string]any) { o["extra"] = strings.Repeat("x", 10) })},
	}
}
