package isutrain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A desk is the service of a test, with rows of some days.
type desk struct {
	*server
	t      testing.TB
	h      http.Handler
	ledger *ledger
	cookie string
}

// newDesk makes the schema of a name and starts the service with these defects.
func newDesk(t testing.TB, s *sandbox.Server, name string, d kit.Set, days int, pay http.Handler) *desk {
	t.Helper()
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "DROP DATABASE IF EXISTS "+name,
		"CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	if err := fillDays(t.Context(), sandboxtest.DB(t, s, name), d, days); err != nil {
		t.Fatal(err)
	}
	k := &desk{t: t, ledger: &ledger{}}
	if pay == nil {
		pay = k.ledger.routes()
	}
	srv := httptest.NewServer(pay)
	t.Cleanup(srv.Close)
	var err error
	k.server, err = newServer(t.Context(), kit.Config{DSN: s.DSN("root", name), Defects: d, Log: io.Discard,
		Beside: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.db.Close() })
	k.h = k.routes()
	return k
}

// send asks for something and returns status and body.
func (k *desk) send(method, path string, body any) (int, string) {
	b, err := json.Marshal(body)
	if err != nil {
		k.t.Fatal(err)
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(b))
	if k.cookie != "" {
		r.Header.Set("Cookie", k.cookie)
	}
	w := httptest.NewRecorder()
	k.h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// ask wants a status, and reads the JSON of a good answer.
func (k *desk) ask(want int, method, path string, body any) map[string]any {
	k.t.Helper()
	code, text := k.send(method, path, body)
	if code != want {
		k.t.Errorf("%s: %s %s: %d %s, want %d", k.d, method, path, code, text, want)
	}
	var got map[string]any
	if want == http.StatusOK && strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			k.t.Error(err)
		}
	}
	return got
}

// join makes an account and logs it in.
func (k *desk) join(email string) {
	k.t.Helper()
	who := credentials{email, "secret"}
	k.cookie = ""
	k.ask(200, "POST", "/api/auth/signup", who)
	k.cookie = "session=" + fmt.Sprint(k.ask(200, "POST", "/api/auth/login", who)["session"])
}

// someOrder is one of the first train of the first day.
func (k *desk) someOrder() order {
	x := trainsOf(0)[0]
	from, to := k.stations[0].Name, k.stations[stations-1].Name
	if x.up {
		from, to = to, from
	}
	return order{Date: dateOf(0), Class: x.kind.name, Name: x.name, Departure: from, Arrival: to,
		SeatClass: reserved, Adult: 2}
}

// paid is what is paid for a reservation.
func (k *desk) paid(id any) (sum int64) {
	for _, p := range k.ledger.list(fmt.Sprint(id)) {
		if !p.Cancelled {
			sum += p.Amount
		}
	}
	return sum
}

// soldTwice is how many pairs of reservations have a seat in common, and a part of the way.
const soldTwice = `SELECT COUNT(*) FROM seat_reservations x JOIN seat_reservations y ON x.car_number = y.car_number
	AND x.seat_row = y.seat_row AND x.seat_column = y.seat_column AND x.reservation_id < y.reservation_id
	JOIN reservations r ON r.reservation_id = x.reservation_id JOIN reservations s ON s.reservation_id = y.reservation_id
	AND s.date = r.date AND s.train_name = r.train_name
	JOIN station_master rd ON rd.name = r.departure JOIN station_master ra ON ra.name = r.arrival
	JOIN station_master sd ON sd.name = s.departure JOIN station_master sa ON sa.name = s.arrival
	WHERE LEAST(rd.id, ra.id) < GREATEST(sd.id, sa.id) AND GREATEST(rd.id, ra.id) > LEAST(sd.id, sa.id)`

func (k *desk) count(query string, args ...any) (n int) {
	k.t.Helper()
	if err := k.db.QueryRow(query, args...).Scan(&n); err != nil {
		k.t.Fatal(err)
	}
	return n
}

// at is a time of the first day.
func at(clock time.Duration) string { return firstDay.Add(clock).UTC().Format(time.RFC3339) }
