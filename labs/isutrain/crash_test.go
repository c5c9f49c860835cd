package isutrain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// childEnv makes the test binary a service: its value is the DSN, the payment service and the
// defects, with line breaks between them.
const childEnv = "KASOKU_TEST_ISUTRAIN"

func TestMain(m *testing.M) { contesttest.Main(m, childEnv, child) }

// child serves until it is killed.
func child(value string, ready func(address string)) error {
	v := strings.Split(value, "\n")
	d, err := Lab().Parse(v[2])
	if err != nil {
		return err
	}
	return serveService(context.Background(), kit.Config{DSN: v[0], Beside: v[1], Defects: d, Listen: "127.0.0.1:0",
		Log: io.Discard, Ready: ready})
}

// A wreck is a service in a process of its own that is killed again and again, and what its
// clients know.
type wreck struct {
	t      *testing.T
	app    *contesttest.Victim
	client http.Client
	order  order

	sold atomic.Int64 // confirmed

	mu   sync.Mutex
	kept map[int64][]spot // confirmed, and none began to cancel them; with their seats
	car  map[int64]int
	done map[int64]bool // and their payment was confirmed
	gone map[int64]bool // their cancellation was confirmed
}

// send returns the status, 0 when there was no answer.
func (w *wreck) send(path string, body, into any) int {
	b, err := json.Marshal(body)
	if err != nil {
		w.t.Error(err)
	}
	r, err := http.NewRequest("POST", w.app.Base()+path, bytes.NewReader(b))
	if err != nil {
		w.t.Error(err)
		return 0
	}
	r.Header.Set("Cookie", "session="+tokenOf(1))
	resp, err := w.client.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if resp.StatusCode == http.StatusOK && into != nil && json.Unmarshal(answer, into) != nil {
		w.t.Errorf("%s: %s", path, answer)
	}
	return resp.StatusCode
}

// travel reserves, pays, cancels. It reports whether the service was there.
func (w *wreck) travel(rng *rand.Rand) bool {
	o := w.order
	o.Adult, o.SeatClass = 1+rng.IntN(2), []string{premium, reserved}[rng.IntN(2)]
	if rng.IntN(3) == 0 {
		o.Car, o.Adult, o.Seats = 4, 1, []spot{{1 + rng.IntN(10), string(rune('A' + rng.IntN(5)))}}
		o.SeatClass = reserved
	}
	var got struct {
		ID    int64  `json:"reservation_id"`
		Car   int    `json:"car_number"`
		Seats []spot `json:"seats"`
	}
	if code := w.send("/api/train/reserve", o, &got); code != http.StatusOK {
		return code != 0 && code != http.StatusInternalServerError
	}
	w.sold.Add(1)
	w.mu.Lock()
	w.kept[got.ID], w.car[got.ID] = got.Seats, got.Car
	w.mu.Unlock()
	if w.send("/api/train/reservation/commit", map[string]any{"reservation_id": got.ID}, nil) == http.StatusOK {
		w.mu.Lock()
		w.done[got.ID] = true
		w.mu.Unlock()
	}
	if rng.IntN(2) == 0 {
		w.mu.Lock()
		delete(w.kept, got.ID)
		w.mu.Unlock()
		if w.send(fmt.Sprintf("/api/user/reservations/%d/cancel", got.ID), nil, nil) == http.StatusOK {
			w.mu.Lock()
			w.gone[got.ID] = true
			w.mu.Unlock()
		}
	}
	return true
}

// progress waits until some more reservations were confirmed.
func (w *wreck) progress() {
	w.t.Helper()
	want := w.sold.Load() + 20
	sandboxtest.Until(w.t, "reservations go on", func() bool { return w.sold.Load() >= want })
}

// TestCrashes: whatever is killed with SIGKILL and under load, the service or the database,
// what was confirmed is there, what was cancelled is gone and paid back, and no seat is sold
// twice.
func TestCrashes(t *testing.T) {
	turn.Wait(t)
	kills := 2
	if os.Getenv("KASOKU_LONG") != "" {
		kills = 25
	}
	server := sandboxtest.MariaDB(t, sandbox.Options{Args: listArgs(nil, "")})
	for _, d := range []kit.Set{{}, Lab().All()} {
		t.Run(d.String(), func(t *testing.T) { crash(t, server, d, kills) })
	}
}

func crash(t *testing.T, server *sandbox.Server, d kit.Set, kills int) {
	k := newDesk(t, server, "isutrain", d, 1, nil)
	k.ask(200, "POST", "/initialize", nil)
	k.join("a@example.com")
	w := &wreck{t: t, app: contesttest.NewVictim(t, childEnv, strings.Join([]string{server.DSN("root", "isutrain"), k.pay.base, d.String()}, "\n")),
		order: k.someOrder(), kept: map[int64][]spot{}, car: map[int64]int{}, done: map[int64]bool{}, gone: map[int64]bool{}}
	w.client.Timeout = 10 * time.Second
	w.app.Start()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range 6 {
		clients.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for ctx.Err() == nil {
				if !w.travel(rng) {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	for range kills {
		w.progress()
		w.app.Kill()
		w.app.Start()
		w.progress()
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.progress()
	cancel()
	clients.Wait()
	w.app.Kill()
	w.check(k)
	t.Logf("%d reservations confirmed over %d kills, %d cancelled", w.sold.Load(), 2*kills, len(w.gone))
}

// check compares the tables and the payments with what was confirmed.
func (w *wreck) check(k *desk) {
	w.t.Helper()
	if n := k.count(soldTwice); n != 0 {
		w.t.Errorf("%d seats are sold twice", n)
	}
	for id, seats := range w.kept {
		for _, s := range seats {
			if k.count("SELECT COUNT(*) FROM seat_reservations x JOIN reservations r ON r.reservation_id = x.reservation_id "+
				"WHERE x.reservation_id = ? AND x.car_number = ? AND x.seat_row = ? AND x.seat_column = ?",
				id, w.car[id], s.Row, s.Column) != 1 {
				w.t.Errorf("reservation %d was confirmed and has lost seat %d%s", id, s.Row, s.Column)
			}
		}
		if w.done[id] && (k.count("SELECT COUNT(*) FROM reservations WHERE reservation_id = ? AND status = 'done'",
			id) != 1 ||
			k.paid(id) != int64(k.count("SELECT amount FROM reservations WHERE reservation_id = ?", id))) {
			w.t.Errorf("the payment of reservation %d was confirmed and is lost: %d yen", id, k.paid(id))
		}
	}
	for id := range w.gone {
		if k.paid(id) != 0 || k.count("SELECT COUNT(*) FROM reservations WHERE reservation_id = ?", id) != 0 {
			w.t.Errorf("reservation %d was cancelled, and is there or paid for: %d yen", id, k.paid(id))
		}
	}
	if len(w.kept) == 0 || len(w.gone) == 0 {
		w.t.Error("nothing was kept, or nothing cancelled")
	}
}
