package memory

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestSalesQuery(t *testing.T) {
	f := func(want string, rows int64, ids ...int64) {
		t.Helper()
		var batch []*purchase
		for _, id := range ids {
			batch = append(batch, &purchase{id: id})
		}
		if got, n := salesQuery(batch); got != "UPDATE chair SET stock = stock - "+want || n != rows {
			t.Errorf("%v: %q, %d rows", ids, got, n)
		}
	}
	f("1 WHERE id IN (7) AND stock >= 1", 1, 7)
	f("1 WHERE id IN (3,7) AND stock >= 1", 2, 7, 3)
	f("CASE id WHEN 7 THEN 3 ELSE 1 END WHERE id IN (-3,7,9) AND stock >= CASE id WHEN 7 THEN 3 ELSE 1 END", 3, 7, 7, 9, -3, 7)
}

// TestMariaDB runs what one server is enough for.
func TestMariaDB(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.MariaDB(t, durable)
	for name, test := range map[string]func(*testing.T, *sandbox.Server){
		"HiddenBeforeCommit":  testHiddenBeforeCommit,
		"NoSoldChairIsShown":  testNoSoldChairIsShown,
		"DatabaseDisagrees":   testDatabaseDisagrees,
		"InitializeUnderLoad": testInitializeUnderLoad,
		"OPS-09":              testOPS09,
		"OtherProcess":        testOtherProcess,
		"Contains":            testContains,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

// testHiddenBeforeCommit: with the last one of a chair taken, and the database still
// to hear of it, no answer shows the chair.
func testHiddenBeforeCommit(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	s := l.started(t)
	c := l.data.Chairs[0]
	for range c.Stock - 1 {
		if code := buy(s, c.ID); code != http.StatusOK {
			t.Fatalf("purchase: %d", code)
		}
	}
	if !l.shown(t, s, &c) {
		t.Fatal("the last chair is not shown")
	}
	// Somebody else's lock holds up the statement that sells the last one.
	tx, err := l.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT id FROM isuumo.chair WHERE id = ? FOR UPDATE", c.ID); err != nil {
		t.Fatal(err)
	}
	sold := make(chan int, 1)
	go func() { sold <- buy(s, c.ID) }()
	until(t, "the last one is taken", func() bool { return stockOf(s, c.ID) == 0 })
	if l.shown(t, s, &c) {
		t.Error("a sold chair is shown before its commit")
	}
	if code := buy(s, c.ID); code != http.StatusNotFound {
		t.Errorf("purchase of a sold chair: %d", code)
	}
	select {
	case code := <-sold:
		t.Errorf("sold without the database: %d", code)
	default:
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if code := <-sold; code != http.StatusOK {
		t.Errorf("purchase: %d", code)
	}
	l.check(t, s)
}

func stockOf(s *Service, id int64) int64 {
	slot, _ := s.world.Load().chairs.slot(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stock[slot]
}

// shown reports whether any answer shows the chair.
func (l *lab) shown(t testing.TB, h http.Handler, c *isuumo.Chair) bool {
	t.Helper()
	q := model.ChairQuery{Kind: c.Kind, Color: c.Color, PerPage: 1 << 20}
	object := appendChair(nil, c)
	code, _ := answerOf(h, "GET", fmt.Sprintf("/api/chair/%d", c.ID), "")
	return code == http.StatusOK ||
		bytes.Contains(ask(t, h, "GET", "/api/chair/search?"+q.Values().Encode(), ""), object) ||
		bytes.Contains(ask(t, h, "GET", "/api/chair/low_priced", ""), object)
}

// testNoSoldChairIsShown: whoever sees in the database that a chair is sold out, even
// before its commit, never sees it in an answer afterwards, while uploads renew the
// world.
func testNoSoldChairIsShown(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	s := l.started(t)
	watcher, err := l.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	for _, q := range []string{"USE isuumo", "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"} {
		if _, err := watcher.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	chairs := l.data.Chairs[:100]
	var buyers sync.WaitGroup
	for i := range 8 {
		buyers.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for left := len(chairs) * 3; left > 0; left-- {
				c := &chairs[rng.IntN(len(chairs))]
				if code := buy(s, c.ID); code != http.StatusOK && code != http.StatusNotFound {
					t.Errorf("purchase: %d", code)
				}
			}
		})
	}
	buyers.Go(func() {
		for i := range l.data.DraftChairs {
			if code := postChairs(s, l.data.DraftChairs[i]...); code != http.StatusCreated {
				t.Errorf("upload: %d", code)
			}
		}
	})
	done := make(chan struct{})
	go func() { buyers.Wait(); close(done) }()
	seen := map[int64]bool{}
	for open := true; open; {
		select {
		case <-done:
			open = false // and look once more
		default:
		}
		for _, id := range soldOut(t, watcher) {
			if seen[id] {
				continue
			}
			seen[id] = true
			if l.shown(t, s, &chairs[id-1]) {
				t.Errorf("chair %d is sold out and shown", id)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d chairs were sold out", len(seen))
	}
	l.check(t, s)
}

func soldOut(t *testing.T, c *sql.Conn) (ids []int64) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), "SELECT id FROM chair WHERE stock <= 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// until waits for a condition that something else brings about.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// testDatabaseDisagrees: when the database has other rows than the memory, or ends,
// nothing is sold until they agree again.
func testDatabaseDisagrees(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	s := l.started(t)
	sandboxtest.Exec(t, l.db, "UPDATE isuumo.chair SET stock = 0 WHERE id = 1")
	if code := buy(s, 1); code != http.StatusServiceUnavailable {
		t.Errorf("purchase of what the database does not have: %d", code)
	}
	until(t, "memory is read again", func() bool { return buy(s, 2) == http.StatusOK })
	if code := buy(s, 1); code != http.StatusNotFound {
		t.Errorf("purchase of what is sold out: %d", code)
	}
	l.check(t, s)

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if code := buy(s, 3); code != http.StatusServiceUnavailable {
			t.Errorf("purchase without a database: %d", code)
		}
	}
	ask(t, s, "GET", "/api/chair/3", "")
	if code := postEstates(s, l.data.DraftEstates[0]...); code != http.StatusServiceUnavailable {
		t.Errorf("upload without a database: %d", code)
	}
	if code, _ := answerOf(s, "POST", "/initialize", ""); code != http.StatusInternalServerError {
		t.Errorf("initialize without a database: %d", code)
	}
	ask(t, s, "GET", "/api/chair/3", "")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "memory is read again", func() bool { return buy(s, 3) == http.StatusOK })
	l.check(t, s)
}

// testOPS09: with the defect, a memory that was filled once stays as it is.
func testOPS09(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	o := l.options(t.Output())
	o.Defects = isuumo.Defects{"OPS-09"}
	s, stop := l.start(t, o)
	ask(t, s, "POST", "/initialize", "")
	l.check(t, s)
	if code := postChairs(s, l.data.DraftChairs[0]...); code != http.StatusCreated {
		t.Errorf("upload: %d", code)
	}
	ask(t, s, "POST", "/initialize", "")
	id := l.data.DraftChairs[0][0].ID
	ask(t, s, "GET", fmt.Sprintf("/api/chair/%d", id), "") // it is in memory only
	if code := postChairs(s, l.data.DraftChairs[0]...); code != http.StatusCreated {
		t.Errorf("second upload: %d", code)
	}
	l.check(t, s)
	stop()
	s, _ = l.start(t, o)
	l.check(t, s)
}

// testInitializeUnderLoad: purchases and uploads that come during /initialize are
// those of the time before or after it, as a whole.
func testInitializeUnderLoad(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	s := l.started(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for ctx.Err() == nil {
				if code := buy(s, 1+rng.Int64N(50)); code != http.StatusOK && code != http.StatusNotFound {
					t.Errorf("purchase: %d", code)
				}
			}
		})
	}
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			draft := l.data.DraftChairs[i%len(l.data.DraftChairs)]
			if code := postChairs(s, draft...); code != http.StatusCreated && code != http.StatusInternalServerError {
				t.Errorf("upload: %d", code)
			}
			if body := ask(t, s, "GET", "/api/chair/low_priced", ""); strings.Count(string(body), `"id":`) != isuumo.LowPricedLimit {
				t.Errorf("low prices: %.100s", body)
			}
		}
	})
	for range 4 {
		ask(t, s, "POST", "/initialize", "")
	}
	cancel()
	wg.Wait()
	l.check(t, s)
}

// testOtherProcess: as long as a session of another process may write, a service
// waits for its end; then it reads the rows by itself.
func testOtherProcess(t *testing.T, server *sandbox.Server) {
	l := newLab(t, server)
	_, stop := l.start(t, l.options(t.Output()))
	stop()
	database := "isuumo"
	other, err := openSession(t.Context(), l.db, saleLock, &database)
	if err != nil {
		t.Fatal(err)
	}
	log := command.NewTail(1 << 16)
	s, _ := l.start(t, l.options(log))
	if !strings.Contains(log.String(), errLocked.Error()) {
		t.Errorf("log %q", log.String())
	}
	if code, _ := answerOf(s, "POST", "/initialize", ""); code != http.StatusInternalServerError {
		t.Errorf("initialize beside another process: %d", code)
	}
	other.close()
	ask(t, s, "POST", "/initialize", "")
	l.check(t, s)
}
