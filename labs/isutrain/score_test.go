package isutrain

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isutrain/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// sometimes answers 503 while down.
func sometimes(h http.Handler, down *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

type (
	fault    = contesttest.Fault
	exchange = contesttest.Exchange
)

// newSlot returns a service with its payment service, either of which a fault may spoil.
func newSlot(dsn func(pay http.Handler) *desk) *contesttest.Slot {
	s := &contesttest.Slot{Always: func(x *exchange) {
		if o := x.Object(); o != nil && x.Request.URL.Path == "/initialize" {
			o["available_days"] = fewDays // so many have rows
			x.Set(o)
		}
	}}
	l := &ledger{}
	k := dsn(s.Through("payment", l.routes()))
	k.ledger, s.Service, s.Of = l, k.h, k
	return s
}

// TestScore: the benchmark says nothing of a service that answers well, tuned or not, and
// names each fault of one that does not.
func TestScore(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server, and runs the benchmark many times")
	}
	const atOnce = 5
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	slots := make(chan *contesttest.Slot, atOnce)
	for i := range atOnce {
		slots <- newSlot(func(pay http.Handler) *desk {
			return newDesk(t, server, fmt.Sprintf("isutrain%d", i), kit.Set{}, fewDays, pay)
		})
	}
	var runs sync.WaitGroup
	for _, f := range faults() {
		if !turn.Takes(f.Name) {
			continue
		}
		s := <-slots
		runs.Go(func() {
			defer func() { slots <- s }()
			s.Find(t, bench.Run, &f, 2*time.Second, 18*time.Second)
		})
	}
	runs.Wait()
	s := <-slots
	if res, _ := s.Run(t, bench.Run, nil, 3*time.Second); !res.Pass || res.Points == 0 || contesttest.WithoutTimeouts(res) != "" {
		t.Errorf("a good service: pass %t, score %d, %s", res.Pass, res.Score, contesttest.ListErrors(res))
	}
}

// TestScore_Initial: the service as it was shipped passes.
func TestScore_Initial(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	s := newSlot(func(pay http.Handler) *desk { return newDesk(t, server, "isutrain", Lab().All(), fewDays, pay) })
	if res, _ := s.Run(t, bench.Run, nil, 3*time.Second); !res.Pass || res.Points == 0 || contesttest.WithoutTimeouts(res) != "" {
		t.Errorf("pass %t, score %d, %s", res.Pass, res.Score, contesttest.ListErrors(res))
	}
}
