//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

type collector struct {
	mu   sync.Mutex
	hits []load.Hit
}

func (c *collector) Hits(hits []load.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits = append(c.hits, hits...)
}

// sorted returns the hits by number.
func (c *collector) sorted() []load.Hit {
	slices.SortFunc(c.hits, func(a, b load.Hit) int { return int(a.N) - int(b.N) })
	return c.hits
}

func get(url string) load.Target { return load.Target{Method: "GET", URL: url} }

func constant(t testing.TB, perSec float64, d time.Duration) load.Schedule {
	t.Helper()
	s, err := load.Constant(perSec, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a load and returns what came of it, by number. Each request of an open
// loop is accounted for exactly once.
func runLoad(t testing.TB, ctx context.Context, o Options, sched load.Schedule, targets ...load.Target) (kasoku.LoadSummary, []load.Hit) {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var c collector
	sum, err := e.Run(ctx, load.Plan{Schedule: sched, Targets: targets}, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	hits := c.sorted()
	checkHits(t, hits, sched)
	return sum, hits
}

func checkHits(t testing.TB, hits []load.Hit, sched load.Schedule) {
	t.Helper()
	_, closed := sched.(*load.ClosedLoop)
	for i, h := range hits {
		if !closed && h.N != uint64(i) {
			t.Fatalf("request %d is accounted for at place %d", h.N, i)
		}
		if ok := h.Code >= 200 && h.Code < 400; ok != (h.Err == "") {
			t.Errorf("request %d: code %d, error %q", h.N, h.Code, h.Err)
		}
		if h.Sent < h.Due || h.Done < h.Sent {
			t.Errorf("request %d: due %s, sent %s, done %s", h.N, h.Due, h.Sent, h.Done)
		}
	}
}

// attack sends n requests round robin, all at once.
func attack(t testing.TB, o Options, n int, targets ...load.Target) (kasoku.LoadSummary, []load.Hit) {
	t.Helper()
	sum, hits := runLoad(t, t.Context(), o, constant(t, float64(n)*1000, time.Millisecond), targets...)
	if len(hits) != n {
		t.Fatalf("%d requests accounted for, want %d", len(hits), n)
	}
	return sum, hits
}

func TestGet(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 1024))
	}))
	defer srv.Close()
	sum, hits := runLoad(t, t.Context(), Options{}, constant(t, 2000, 500*time.Millisecond), get(srv.URL+"/a"))
	for _, h := range hits {
		if h.Code != 200 || h.BytesIn != 1024 {
			t.Fatalf("bad hit %+v", h)
		}
	}
	t.Logf("%+v", sum)
	if len(hits) != 1000 || sum.Connections == 0 || sum.Connections > 200 {
		t.Errorf("%d hits, summary %+v", len(hits), sum)
	}
	closed, err := load.Closed(300 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	sum, hits = runLoad(t, t.Context(), Options{MaxInFlight: 8}, closed, get(srv.URL+"/a"))
	t.Logf("%d hits %+v", len(hits), sum)
	for _, h := range hits {
		if h.Code != 200 || h.BytesIn != 1024 {
			t.Fatalf("bad hit %+v", h)
		}
	}
}
