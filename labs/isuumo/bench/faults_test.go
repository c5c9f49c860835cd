package bench

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
	"github.com/kasoku/kasoku/load/scenario"
)

// A fault is what a service does wrong, and what both benchmarks have to say to it.
type fault struct {
	name   string
	spoil  func(*spoiling)
	strict string // part of a message; empty: nothing is said
	compat string // likewise, with Options.Compat

	validates bool // it shows after the load
}

// on spoils the answers of one endpoint to people, those with status 200.
func on(what request.Endpoint, spoil func(*spoiling)) func(*spoiling) {
	return func(s *spoiling) {
		if s.what == what && s.human && s.status == http.StatusOK {
			spoil(s)
		}
	}
}

// underLoad spares who verifies.
func underLoad(spoil func(*spoiling)) func(*spoiling) {
	return func(s *spoiling) {
		if s.request.UserAgent() != verifyAgent && s.request.UserAgent() != initializeAgent {
			spoil(s)
		}
	}
}

// afterwards spoils from the first request on that verifies after the load.
func afterwards(spoil func(*spoiling)) func(*spoiling) {
	var loaded, over atomic.Bool
	return func(s *spoiling) {
		if verifies := s.request.UserAgent() == verifyAgent; !verifies && s.what != request.Initialize {
			loaded.Store(true)
		} else if verifies && loaded.Load() {
			over.Store(true)
		}
		if over.Load() {
			spoil(s)
		}
	}
}

func chairsOf(s *spoiling) *model.ChairList   { return s.body.(*model.ChairList) }
func estatesOf(s *spoiling) *model.EstateList { return s.body.(*model.EstateList) }

func replaced(old, with string) func(*spoiling) {
	return func(s *spoiling) {
		raw, _ := jsonOf(s.body)
		s.raw = bytes.Replace(raw, []byte(old), []byte(with), 1)
	}
}

func faults() []fault {
	return []fault{
		{"low prices reversed", on(request.ChairLowPriced, func(s *spoiling) { slices.Reverse(chairsOf(s).Chairs) }),
			"GET /api/chair/low_priced: row 1 is chair ", "GET /api/chair/low_priced: row 1 is chair ", false},
		{"one low price too few", on(request.EstateLowPriced, func(s *spoiling) { l := estatesOf(s); l.Estates = l.Estates[:19] }),
			"the list ends after 19 rows, expected estate ", "the list ends after 19 rows", false},
		{"a filter left out under load", underLoad(on(request.ChairSearching, func(s *spoiling) {
			if page := s.request.URL.Query().Get("page"); page == "0" {
				chairsOf(s).Chairs = searchAll(s)
			}
		})), "which does not fit the query", "", false},
		{"a count too high under load", underLoad(on(request.EstateSearching, func(s *spoiling) { *estatesOf(s).Count++ })),
			"count ", "", false},
		{"pages after the first reversed", on(request.EstateSearching, func(s *spoiling) {
			if s.request.URL.Query().Get("page") != "0" {
				slices.Reverse(estatesOf(s).Estates)
			}
		}), "the order is popularity descending, id ascending", "", false},
		{"a page of the wrong size", underLoad(on(request.ChairSearching, func(s *spoiling) {
			if l := chairsOf(s); len(l.Chairs) == 25 {
				l.Chairs = l.Chairs[:24]
			}
		})), "the list ends after 24 rows", "", false},
		{"a row twice", underLoad(on(request.ChairSearching, func(s *spoiling) {
			if l := chairsOf(s); len(l.Chairs) == 25 {
				l.Chairs[24] = l.Chairs[23]
			}
		})), "row 25 is chair", "", false},
		{"one estate of a polygon missing", underLoad(on(request.EstatePolygon, func(s *spoiling) {
			if l := estatesOf(s); len(l.Estates) > 1 {
				l.Estates = l.Estates[1:]
				*l.Count--
			}
		})), "expected estate ", "", false},
		{"the bounding box for the polygon", underLoad(on(request.EstatePolygon, func(s *spoiling) {
			s.body = boundingBox(s)
		})), "POST /api/estate/nazotte with ", "", false},
		{"recommendations cut short", underLoad(on(request.Recommended, func(s *spoiling) { l := estatesOf(s); l.Estates = l.Estates[:5] })),
			"the list ends after 5 rows", "", false},
		{"width and height mixed up", on(request.EstateDetail, func(s *spoiling) {
			e := s.body.(model.Estate)
			e.DoorWidth, e.DoorHeight = e.DoorHeight, e.DoorWidth
			s.body = e
		}), "has doorHeight ", "has doorHeight ", false},
		{"latitude rounded", on(request.EstateDetail, func(s *spoiling) {
			e := s.body.(model.Estate)
			e.Latitude = float64(int(e.Latitude*100)) / 100
			s.body = e
		}), "has latitude ", "has latitude ", false},
		{"popularity shown", on(request.ChairDetail, replaced(`"id":`, `"popularity":1,"id":`)), `the key "popularity", which the API does not have there`, "", false},
		{"a count of low prices", on(request.ChairLowPriced, replaced(`{"chairs"`, `{"count":20,"chairs"`)), `the key "count", which the API does not have there`, "", false},
		{"a price with a fraction", on(request.ChairDetail, replaced(`,"height"`, `.0,"height"`)), "want a whole number", "cannot unmarshal", false},
		{"a list cut off", on(request.EstateSearching, func(s *spoiling) {
			raw, _ := jsonOf(s.body)
			s.raw = raw[:len(raw)-3]
		}), "the answer ends early", "unexpected end of JSON input", false},
		{"purchases refused", underLoad(func(s *spoiling) {
			if s.what == request.ChairBuy && s.human && s.status == http.StatusOK {
				s.status = http.StatusNotFound
			}
		}), "was refused, at least ", "", false},
		{"sold out chairs shown", underLoad(soldOut()), "GET /api/chair/search", "was sold out before the request", false},
		{"crawlers see another price", func(s *spoiling) {
			if c, ok := s.body.(model.Chair); ok && !s.human {
				c.Price++
				s.body = c
			}
		}, "has price ", "", false},
		{"crawlers get 500", func(s *spoiling) {
			if !s.human {
				s.status, s.body = http.StatusInternalServerError, nil
			}
		}, "status 500, expected 200", "", false},
		{"crawlers get 503", func(s *spoiling) {
			if !s.human {
				s.status, s.body = http.StatusServiceUnavailable, nil
			}
		}, "", "", false},
		{"people get 503", underLoad(on(request.ChairLowPriced, func(s *spoiling) { s.status, s.body = http.StatusServiceUnavailable, nil })),
			"status 503, expected 200", "status 503, expected 200", false},
		{"uploads lost", afterwards(func(s *spoiling) {
			if s.what == request.EstateSearching {
				s.service.estates = s.service.estates[:len(s.service.d.Estates)]
				s.body = again(s)
			}
		}), "GET /api/estate/search", "", true},
		{"purchases lost", afterwards(func(s *spoiling) {
			if s.what == request.ChairBuy && s.id != "0" && s.status == http.StatusNotFound {
				s.status = http.StatusOK // the stock was put back
			}
		}), "were sold, the stock was", "", true},
	}
}

// faultsAtOnce is how many services are measured at once. They mostly wait.
const faultsAtOnce = 4

// TestFaults: what is wrong is reported, and the contest's own benchmark overlooks what it
// does not check.
func TestFaults(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("runs the benchmark many times")
	}
	slots := make(chan struct{}, faultsAtOnce)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range faults() {
		for _, compat := range []bool{false, true} {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				f := faults()[i] // of its own: some remember what they have seen
				want := f.strict
				if compat {
					want = f.compat
				}
				msgs := reportedOf(t, f, compat, want != "")
				if all := strings.Join(msgs, "\n"); want == "" && len(msgs) > 0 || !strings.Contains(all, want) {
					t.Errorf("%s, compat %v: %q, want %q", f.name, compat, msgs[:min(len(msgs), 5)], want)
				}
			})
		}
	}
}

// reportedOf returns what a benchmark reports of a fault, except timeouts, which may be due
// to a busy machine. The run ends early: with the first errors when some are expected,
// or when all kinds of users have come.
func reportedOf(t *testing.T, f fault, compat, expected bool) []string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := short(newReference(f.spoil).serve(t))
	o.Compat = compat
	if !f.validates {
		o.Duration = 20 * time.Second
		o.OnProgress = func(p scenario.Progress) {
			if expected && p.Errors > 0 || !expected && p.Level == len(o.Levels) && p.Elapsed > time.Second {
				cancel()
			}
		}
	}
	b, err := New(o)
	if err != nil {
		t.Error(err)
		return nil
	}
	res, err := b.Run(ctx)
	if err != nil {
		t.Error(err)
	}
	msgs := []string{}
	for _, e := range res.Errors {
		if e.Code != scenario.Timeout && e.Code != scenario.Trivial {
			msgs = append(msgs, e.Samples...)
		}
	}
	return msgs
}

// TestRestart: the service is restarted between load and validation, and what it loses
// then is reported.
func TestRestart(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	s := newReference(nil)
	o := short(s.serve(t))
	restarts := 0
	o.Restart = func(context.Context) error {
		restarts++
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reset()
		return nil
	}
	res, _ := runBench(t, o)
	if restarts != 1 || res.Pass || res.Reason == "OK" {
		t.Errorf("%d restarts, pass %v, %q", restarts, res.Pass, res.Reason)
	}
	o.Restart = func(context.Context) error { return context.DeadlineExceeded }
	if res, _ = runBench(t, o); res.Pass || !strings.Contains(res.Messages[0].Text, "restart the service") {
		t.Errorf("pass %v, %v", res.Pass, res.Messages)
	}
}

// TestStale: a service that answers searches from a cache of a second is found out,
// whatever else it does right.
func TestStale(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	type entry struct {
		body any
		at   time.Time
	}
	cache := map[string]entry{}
	s := newReference(underLoad(on(request.ChairSearching, func(s *spoiling) {
		key := s.request.URL.RawQuery
		if e, ok := cache[key]; ok && time.Since(e.at) < time.Second {
			s.body = e.body
			return
		}
		cache[key] = entry{s.body, time.Now()}
	})))
	o := short(s.serve(t))
	d := *o.Data
	d.Chairs = slices.Clone(d.Chairs)
	for i := range d.Chairs {
		d.Chairs[i].Stock = 1
	}
	o.Data, s.d, o.Duration = &d, &d, 3*time.Second
	res, _ := runBench(t, o)
	if len(res.Messages) == 0 {
		t.Error("nothing was found")
	}
	for _, m := range res.Messages {
		if !strings.Contains(m.Text, "/api/chair/search") {
			t.Errorf("%q", m.Text)
		}
	}
}
