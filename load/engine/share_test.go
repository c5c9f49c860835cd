package engine

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
)

// TestShares: three machines with the shares of one load send each of its requests once,
// to the target that has its turn in the whole, with either engine and several threads.
func TestShares(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Header.Get("N")+r.URL.Path]++
	}))
	defer srv.Close()
	for _, name := range []string{EpollHTTP, NetHTTP} {
		mu.Lock()
		clear(seen)
		mu.Unlock()
		for k := range 3 {
			p := plan(t, 90, get(srv.URL+"/even"), get(srv.URL+"/odd"))
			p.Share = load.Share{Index: k, Of: 3}
			e, _, err := New(Options{Engine: name, Shards: 2, HTTP: nethttp.Options{SeqHeader: "N"}}, p)
			if err != nil {
				t.Fatal(err)
			}
			var c loadtest.Collector
			if _, err := e.Run(t.Context(), p, time.Now(), &c); err != nil || len(c.All()) != 30 {
				t.Fatalf("%s: %d hits, error %v", name, len(c.All()), err)
			}
			for _, h := range c.All() {
				if h.N%3 != uint64(k) || h.Target != int(h.N%2) || h.Code != 200 {
					t.Errorf("%s: machine %d has %+v", name, k, h)
				}
			}
		}
		mu.Lock()
		for key, n := range seen {
			if n != 1 {
				t.Errorf("%s: %s came %d times", name, key, n)
			}
		}
		if len(seen) != 90 {
			t.Errorf("%s: %d requests came, want 90", name, len(seen))
		}
		mu.Unlock()
	}
}

// TestSharedUsers: the numbers of a closed loop's requests are no other machine's.
func TestSharedUsers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	for _, name := range []string{EpollHTTP, NetHTTP} {
		loop, err := load.Closed(50 * time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		p := load.Plan{Schedule: loop, Targets: []load.Target{get(srv.URL)}, Share: load.Share{Index: 1, Of: 2}}
		e, _, err := New(Options{Engine: name, HTTP: nethttp.Options{MaxInFlight: 3}}, p)
		if err != nil {
			t.Fatal(err)
		}
		var c loadtest.Collector
		if _, err := e.Run(t.Context(), p, time.Now(), &c); err != nil || len(c.All()) < 3 {
			t.Fatalf("%s: %d hits, error %v", name, len(c.All()), err)
		}
		seen := map[uint64]bool{}
		for _, h := range c.All() {
			if h.N%2 != 1 || seen[h.N] {
				t.Errorf("%s: number %d", name, h.N)
			}
			seen[h.N] = true
		}
	}
}
