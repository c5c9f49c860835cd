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

	"github.com/kasoku/kasoku/labs/contest/contesttest"
)

// faults are what the benchmark has to find.
func faults() []fault {
	return slices.Concat(searchFaults(), seatFaults(), reserveFaults(), moneyFaults(), listFaults(), otherFaults())
}

// TestFaults: there are many, and no two of a name.
func TestFaults(t *testing.T) { contesttest.CheckNames(t, faults()) }

const (
	searchAt = "/api/train/search"
	seatsAt  = "/api/train/seats"
	sellAt   = "/api/train/reserve"
	commitAt = "/commit"
	cancelAt = "/cancel"
	listAt   = "/api/user/reservations"
)

// each changes the objects of a list.
func each(change func(o map[string]any)) func(x *exchange) {
	return contesttest.Edit(func(l []any) []any {
		for _, v := range l {
			change(v.(map[string]any))
		}
		return l
	})
}

// searchFaults are those of searches.
func searchFaults() []fault {
	get := func(name, want string, after func(x *exchange)) fault {
		return fault{Name: name, Want: "GET /api/train/search: " + want, Method: "GET", At: searchAt, After: after}
	}
	asked := func(name, want string, change func(q url.Values)) fault {
		return fault{Name: name, Want: "GET /api/train/search: " + want, Method: "GET", At: searchAt,
			Before: func(x *exchange) {
				q := x.Request.URL.Query()
				change(q)
				x.Request.URL.RawQuery = q.Encode()
			}}
	}
	const order = "train \\d+ of the list: the order is not that of departures"
	return []fault{
		get("the first two trains are swapped", order, contesttest.Edit(func(l []any) []any { l[0], l[1] = l[1], l[0]; return l })),
		get("trains of one minute are in the order of classes", order, contesttest.Edit(func(l []any) []any {
			for i := 1; i < len(l); i++ {
				a, b := l[i-1].(map[string]any), l[i].(map[string]any)
				if a["train_class"].(string) > b["train_class"].(string) {
					l[i-1], l[i] = l[i], l[i-1]
				}
			}
			return l
		})),
		get("the last train is missing", `\d+ trains, expected \d+`, contesttest.Edit(func(l []any) []any { return l[:len(l)-1] })),
		get("a train comes twice", order, contesttest.Edit(func(l []any) []any { l[1] = l[0]; return l })),
		get("nothing is found", `0 trains, expected \d+`, func(x *exchange) { x.Set([]any{}) }),
		get("trains of another minute", `train 1 of the list: times `,
			contesttest.First(func(o map[string]any) { o["departure_time"] = "00:00:01" })),
		get("they arrive later", `train 1 of the list: times `,
			contesttest.First(func(o map[string]any) { o["arrival_time"] = "23:59:59" })),
		get("a fare of last year", `train 1 of the list: the fare of reserved is 1, expected \d+`,
			contesttest.First(func(o map[string]any) {
				o["seat_fare"].(map[string]any)["reserved"] = 1
			})),
		get("availability is a number", `train 1 of the list: availability of premium is`,
			contesttest.First(func(o map[string]any) {
				o["seat_availability"].(map[string]any)["premium"] = "12"
			})),
		get("it goes elsewhere", `train 1 of the list: other stations`,
			contesttest.First(func(o map[string]any) { o["last"] = "青川" })),
		asked("times are read in UTC", "", func(q url.Values) {
			if at, err := time.Parse(time.RFC3339, q.Get("use_at")); err == nil {
				q.Set("use_at", at.Add(2*time.Hour).Format(time.RFC3339))
			}
		}),
		asked("children travel for nothing", `.*the fare of [a-z-]+ is`, func(q url.Values) { q.Set("child", "0") }),
		{Name: "answers of another search", Want: "GET /api/train/search: ", Method: "GET", At: searchAt,
			Before: func(x *exchange) {
				x.Keep.Lock()
				kept := x.Keep.Body
				x.Keep.Unlock()
				if kept != nil {
					x.Status, x.Body = 200, kept
					return
				}
				x.Do()
				x.Keep.Lock()
				x.Keep.Body = slices.Clone(x.Body)
				x.Keep.Unlock()
			}},
	}
}

// seatFaults are those of the seats of a car.
func seatFaults() []fault {
	get := func(name, want string, change func(seats []any) []any) fault {
		return fault{Name: name, Want: "GET /api/train/seats: " + want, Method: "GET", At: seatsAt,
			After: contesttest.Field(func(o map[string]any) { o["seats"] = change(o["seats"].([]any)) })}
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
		{Name: "another car", Want: "GET /api/train/seats: another car or train", Method: "GET", At: seatsAt,
			After: contesttest.Field(func(o map[string]any) { o["car_number"] = 99 })},
	}
}

// reserveFaults are those of reservations.
func reserveFaults() []fault {
	post := func(name, want string, change func(o map[string]any)) fault {
		return fault{Name: name, Want: want, Method: "POST", At: sellAt, After: contesttest.Field(change)}
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
		{Name: "a reservation of someone else", Want: `critical ` + says + `reservation \d+ is someone else's`,
			Method: "POST",
			At:     sellAt, After: contesttest.Field(func(o map[string]any) { o["reservation_id"] = 1 })},
		{Name: "seats are not kept",
			Want:   `critical ` + says + `a seat was sold twice|shown as free|other seats|seats, expected`,
			Method: "POST", At: sellAt, After: contesttest.Field(func(map[string]any) {}), Before: func(x *exchange) {
				x.Do()
				if o := x.Object(); o != nil {
					exec(x, "DELETE FROM seat_reservations WHERE reservation_id = ?", o["reservation_id"])
				}
			}},
		{Name: "a seat is sold twice", Want: `critical ` + says + `a seat was sold twice`, Method: "POST", At: sellAt,
			Before: func(x *exchange) {
				// The same train and seats for all: the first of the first train.
				var o map[string]any
				_ = json.Unmarshal(x.Sent, &o)
				x.Do()
				if got := x.Object(); got != nil && o["seat_class"] == reserved {
					got["car_number"] = 4
					for i, v := range got["seats"].([]any) {
						v.(map[string]any)["row"], v.(map[string]any)["column"] = 1, string(rune('A'+i))
					}
					x.Set(got)
				}
			}},
		{Name: "everything is sold out", Want: says + `refused as sold out, and \d+ of \d+ seats are free`,
			Method: "POST",
			At:     sellAt, Before: contesttest.Answered(404, "sold out")},
		{Name: "seats that are free are refused", Want: says + "refused as taken, and the seats are free",
			Method: "POST",
			At:     sellAt, Before: func(x *exchange) {
				var o order
				if json.Unmarshal(x.Sent, &o) == nil && len(o.Seats) > 0 {
					x.Status, x.Body = 409, []byte("taken")
				}
			}},
		{Name: "a reservation is lost",
			Want:   `reservation \d+ was confirmed and is lost|commit: status 404|a seat that is reserved is shown as free`,
			Method: "POST", At: sellAt, Before: func(x *exchange) {
				x.Do()
				if o := x.Object(); o != nil {
					exec(x, "DELETE FROM reservations WHERE reservation_id = ?", o["reservation_id"])
				}
			}},
	}
}

// deskOf is the service of an exchange.
func deskOf(x *exchange) *desk { return x.Slot.Of.(*desk) }

// exec changes the database of the slot.
func exec(x *exchange, query string, args ...any) {
	if _, err := deskOf(x).db.Exec(query, args...); err != nil {
		deskOf(x).t.Error(err)
	}
}

// moneyFaults are those of payments.
func moneyFaults() []fault {
	ok := contesttest.Answered(200, `{"is_ok":true}`)
	amount := func(change func(a float64) float64) func(x *exchange) {
		return func(x *exchange) {
			var o map[string]any
			if json.Unmarshal(x.Sent, &o) == nil {
				o["amount"] = change(o["amount"].(float64))
				x.Sent, _ = json.Marshal(o)
			}
		}
	}
	return []fault{
		{Name: "half of it is paid", Want: `final check: sums differ: \d+ yen are paid`, Method: "POST",
			Side: "payment", At: "/payment",
			Before: amount(func(a float64) float64 { return a / 2 })},
		{Name: "a commit does nothing", Want: `status "requesting", expected "done"|sums differ`, Method: "POST",
			At:     commitAt,
			Before: ok},
		{Name: "it is paid twice", Want: `final check: sums differ`, Method: "POST", Side: "payment", At: "/payment",
			Before: func(x *exchange) {
				var p payment
				if json.Unmarshal(x.Sent, &p) == nil {
					l := deskOf(x).ledger
					l.mu.Lock()
					l.all = append(l.all, &payment{ID: fmt.Sprintf("twice%d", x.N), Reservation: p.Reservation,
						Amount: p.Amount})
					l.mu.Unlock()
				}
				x.Do()
				l := deskOf(x).ledger
				l.mu.Lock()
				l.all = append(l.all, &payment{ID: fmt.Sprintf("again%d", x.N), Reservation: p.Reservation,
					Amount: p.Amount})
				l.mu.Unlock()
			}},
		{Name: "a cancellation is lost", Want: `still paid`, Method: "DELETE", Side: "payment", At: "/payment/", Before: ok},
		{Name: "a payment that no one asked for",
			Want:   `final check: reservation \d+ is paid for, which was never confirmed`,
			Method: "POST", Side: "payment", At: "/payment", Most: 1, Before: func(x *exchange) {
				l := deskOf(x).ledger
				l.mu.Lock()
				l.all = append(l.all, &payment{ID: "none", Reservation: 1 << 40, Amount: 100})
				l.mu.Unlock()
			}},
		{Name: "a reservation is paid for at once",
			Want:   `final check: a reservation that was not committed is paid for|sums differ`,
			Method: "POST", At: sellAt, Before: func(x *exchange) {
				x.Do()
				if o := x.Object(); o != nil {
					l := deskOf(x).ledger
					l.mu.Lock()
					l.all = append(l.all, &payment{ID: fmt.Sprintf("early%d", x.N),
						Reservation: int64(o["reservation_id"].(float64)), Amount: 10})
					l.mu.Unlock()
				}
			}},
	}
}

// listFaults are those of lists of reservations.
func listFaults() []fault {
	get := func(name, want string, change func(x *exchange)) fault {
		return fault{Name: name, Want: "GET /api/user/reservations: " + want, Method: "GET", At: listAt, After: change}
	}
	set := func(key string, v any) func(x *exchange) {
		return contesttest.First(func(o map[string]any) { o[key] = v })
	}
	return []fault{
		get("the list is empty", `reservation \d+ was confirmed and is lost`, func(x *exchange) { x.Set([]any{}) }),
		get("a reservation comes twice", `reservation \d+ comes twice`, func(x *exchange) {
			if l := x.List(); len(l) > 0 {
				x.Set(append(l, l[0]))
			}
		}),
		get("one that is not theirs", `\d+ reservations that were not confirmed`, func(x *exchange) {
			if l := x.List(); len(l) > 0 {
				more := map[string]any{}
				for k, v := range l[0].(map[string]any) {
					more[k] = v
				}
				more["reservation_id"] = 1 << 40
				x.Set(append(l, more))
			}
		}),
		get("another sum", `reservation \d+: 1 yen, expected \d+`, set("amount", 1)),
		get("another train", `reservation \d+: another train`, set("train_name", "99")),
		get("other stations", `reservation \d+: other stations`, set("arrival", "nowhere")),
		get("other people", `reservation \d+: other people`, set("adult", 9)),
		{Name: "a cancellation does nothing", Want: `reservation \d+ was cancelled and is listed|still paid`,
			Method: "POST",
			At:     cancelAt, Before: contesttest.Answered(200, `{"is_ok":true}`)},
	}
}

// otherFaults are those of everything else.
func otherFaults() []fault {
	return []fault{
		{Name: "a search of ten fails", Want: "application GET /api/train/search: status 500, expected 200",
			Method: "GET",
			At:     searchAt, Before: func(x *exchange) {
				if x.N%10 == 4 {
					x.Status, x.Body = 500, []byte("oops")
				}
			}},
		{Name: "seats take too long", Want: "timeout GET /api/train/seats", Method: "GET", At: seatsAt, Most: 1,
			Before: func(x *exchange) {
				select {
				case <-time.After(11 * time.Second):
				case <-x.Request.Context().Done():
				}
			}},
		{Name: "no session", Want: "POST /api/auth/login: no session", Method: "POST", At: "/login",
			After: contesttest.Field(func(o map[string]any) { o["session"] = "" })},
		{Name: "a session that no one takes", Want: "status 401, expected 200", Method: "POST", At: "/login",
			After: contesttest.Field(func(o map[string]any) { o["session"] = "7.0" })},
		{Name: "stations are out of order", Want: "GET /api/stations: station 1 is", Method: "GET", At: "/api/stations",
			After: contesttest.Edit(func(l []any) []any { l[0], l[1] = l[1], l[0]; return l })},
		{Name: "a station is missing", Want: "GET /api/stations: 95 stations, expected 96", Method: "GET",
			At:    "/api/stations",
			After: contesttest.Edit(func(l []any) []any { return l[1:] })},
		{Name: "express trains stop everywhere", Want: "GET /api/stations: other trains stop", Method: "GET",
			At: "/api/stations", After: each(func(o map[string]any) { o["is_stop_express"] = true })},
		{Name: "more days than there are", Want: "critical POST /initialize: available_days 400", Method: "POST",
			At: "/initialize", After: contesttest.Field(func(o map[string]any) { o["available_days"] = 400 })},
		{Name: "initialize fails", Want: "critical POST /initialize: status 500", Method: "POST", At: "/initialize",
			Before: contesttest.Answered(http.StatusInternalServerError, "oops")},
		{Name: "JSON is cut short", Want: "GET /api/train/search: not the JSON", Method: "GET", At: searchAt,
			After: func(x *exchange) { x.Body = bytes.TrimSuffix(bytes.TrimSpace(x.Body), []byte("]")) }},
		{Name: "a field that no one knows", Want: "GET /api/train/seats: not the JSON", Method: "GET", At: seatsAt,
			After: contesttest.Field(func(o map[string]any) { o["extra"] = strings.Repeat("x", 10) })},
	}
}
