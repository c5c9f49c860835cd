package play_test

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/play"
	"github.com/kasoku/kasoku/labs/goldrush/server"
)

// TestFirstByte: a client that sends the next request when an answer begins to come counts each
// once, and has none in flight twice.
func TestFirstByte(t *testing.T) {
	s := server.New(mine.Options{Rules: goldrush.Published(), Seed: 42})
	ctx, end := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	runs.Go(func() { s.Run(ctx) })
	web := httptest.NewServer(s)
	defer func() { web.Close(); end(); runs.Wait() }()
	r := play.Run(t.Context(), play.Played{Asker: newHTTP(t, web.URL, play.HTTPOptions{}), Rules: goldrush.Published(),
		Params: variant(t, "tuned"), Lasts: 1500 * time.Millisecond, FirstByte: true})
	if r.Coins() == 0 || r.Counts.Of(429)+r.Counts.Of(403)+r.Counts.Of(0) > 0 {
		t.Errorf("%d coins, answers %v", r.Coins(), r.Counts.Answers)
	}
	for call, n := range r.Counts.InFlight {
		if n < 0 {
			t.Errorf("%d of call %d are in flight", n, call)
		}
	}
}
