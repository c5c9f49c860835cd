package agent

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/scenario"
)

// openLoop makes two requests for each arrival of its schedule.
type openLoop struct {
	url string

	mu    sync.Mutex
	asked []scenario.Record // what the agent recorded of the second requests
	first []time.Duration   // from due to sent of the first ones
}

func (o *openLoop) Load(ctx context.Context, s *scenario.Step) error {
	schedule, err := load.Constant(50, 200*time.Millisecond)
	if err != nil {
		return err
	}
	s.Arrive(ctx, scenario.Arrivals{Name: "arrival", Schedule: schedule, MaxInFlight: 20, Do: func(ctx context.Context, w *scenario.Worker) error {
		var got []scenario.Record
		a, err := New(Options{BaseURL: o.url, Record: func(r scenario.Record) { got = append(got, r) }})
		if err != nil {
			return err
		}
		defer a.Close()
		w.Sleep(ctx, 20*time.Millisecond) // late, as with a generator that has no free worker
		for range 2 {
			if _, err := a.Get(ctx, "", "/ok"); err != nil {
				return err
			}
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.first = append(o.first, got[0].Sent.Sub(got[0].Due))
		o.asked = append(o.asked, got[1])
		return nil
	}})
	return nil
}

// TestArrivalIsDue: the first request of an arrival counts from when that was due, the
// next ones from when they were asked for.
func TestArrivalIsDue(t *testing.T) {
	o := &openLoop{url: loadtest.Start(t).URL("")}
	b, err := scenario.New(scenario.Options{LoadTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b.Add(o)
	if res := b.Run(t.Context()); !res.Pass {
		t.Fatalf("the benchmark failed: %+v", res)
	}
	if len(o.first) != 10 {
		t.Fatalf("%d arrivals", len(o.first))
	}
	for i, late := range o.first {
		if late < 20*time.Millisecond {
			t.Errorf("arrival %d was sent %s after it was due", i, late)
		}
		if second := o.asked[i]; !second.Due.Equal(second.Sent) {
			t.Errorf("arrival %d: the second request was due %s before it was sent", i, second.Sent.Sub(second.Due))
		}
	}
}
