package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
)

// TestRand: what is random follows from seed, name and number, whatever else happens.
func TestRand(t *testing.T) {
	drawn := func(seed uint64, delay time.Duration) map[string][]uint64 {
		out := map[string][]uint64{}
		onBubble(t, func(t *testing.T) {
			var mu sync.Mutex
			runAll(t, t.Context(), Options{Seed: seed, LoadTime: time.Minute}, loading(func(ctx context.Context, s *Step) {
				for _, name := range []string{"a", "b"} {
					s.Workers(ctx, Workers{Name: name, Count: func(int) int { return 3 }, Loops: 5, Do: func(ctx context.Context, w *Worker) error {
						if err := w.Sleep(ctx, time.Duration(w.Number)*delay+w.Between(0, delay)); err != nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						key := fmt.Sprint(w.Name, w.Number)
						out[key] = append(out[key], w.Rand.Uint64())
						return nil
					}})
				}
			}))
		})
		return out
	}
	first := drawn(1, ms)
	firsts := map[uint64]bool{}
	for key, numbers := range first {
		firsts[numbers[0]] = true
		if again := drawn(1, 3*ms)[key]; len(numbers) != 5 || !slices.Equal(numbers, again) {
			t.Errorf("%s drew %d, then %d", key, numbers, again)
		}
		if other := drawn(2, ms)[key]; slices.Equal(numbers, other) {
			t.Errorf("%s draws the same with another seed", key)
		}
	}
	if len(firsts) != 6 {
		t.Errorf("workers draw the same numbers: %v", first)
	}
}

func TestWorkerBetween(t *testing.T) {
	w := Worker{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 1000 {
		if d := w.Between(time.Second, 2*time.Second); d < time.Second || d >= 2*time.Second {
			t.Fatalf("drew %s", d)
		}
	}
	if d := w.Between(time.Second, time.Second); d != time.Second {
		t.Errorf("drew %s", d)
	}
}

// TestRest: after an error a worker pauses.
func TestRest(t *testing.T) {
	f := func(rest time.Duration, want int) {
		t.Helper()
		onBubble(t, func(t *testing.T) {
			r := runAll(t, t.Context(), Options{LoadTime: 9850 * ms, Scoring: Scoring{Limit: map[Code]int{}}}, loading(func(ctx context.Context, s *Step) {
				s.Workers(ctx, Workers{Count: func(int) int { return 1 }, Rest: rest, Do: func(ctx context.Context, w *Worker) error {
					if err := w.Sleep(ctx, 100*ms); err != nil {
						return err
					}
					return errors.New("down")
				}})
			}))
			if r.ErrorCount != uint64(want) {
				t.Errorf("rest %s: %d calls, want %d", rest, r.ErrorCount, want)
			}
		})
	}
	f(0, 17)
	f(900*ms, 10)
	f(-1, 98)
}

func TestBeginFails(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{}, loading(func(ctx context.Context, s *Step) {
			s.Workers(ctx, Workers{
				Count: func(int) int { return 1 },
				Begin: func(context.Context, *Worker) error { return errors.New("no address") },
				Do: func(context.Context, *Worker) error {
					t.Error("worked")
					return nil
				},
				End: func(*Worker) { t.Error("ended what had not begun") },
			})
		}))
		if r.ErrorCount != 1 || r.Duration != 0 {
			t.Errorf("%d errors, %g s", r.ErrorCount, r.Duration)
		}
	})
}

func constant(t *testing.T, perSec float64, d time.Duration) load.Schedule {
	t.Helper()
	s, err := load.Constant(perSec, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestArrive: an open loop keeps its clock beside workers that wait for answers, and
// what had to wait for its turn has its wait counted.
func TestArrive(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{LoadTime: 10 * time.Second}, loading(func(ctx context.Context, s *Step) {
			s.Workers(ctx, Workers{Count: func(int) int { return 1 }, Loops: 1, Do: func(ctx context.Context, w *Worker) error { return w.Sleep(ctx, 5*time.Second) }})
			s.Arrive(ctx, Arrivals{Name: "open", Schedule: constant(t, 10, 5*time.Second), MaxInFlight: 2, Do: func(ctx context.Context, w *Worker) error {
				for i, step := range []string{"GET /a", "GET /b"} {
					r := Record{Step: step, Sent: time.Now(), Code: 200}
					due, ok := Due(ctx)
					if ok != (i == 0) {
						t.Errorf("%s has a due time: %t", step, ok)
					}
					r.Due = due
					took := 10 * ms
					if w.Number < 2 && i == 0 { // both slots are taken for a second
						took = time.Second
					}
					time.Sleep(took)
					r.Done = time.Now()
					s.Record(r)
				}
				s.Score("arrival")
				return nil
			}})
		}))
		if r.Score != 50 || r.Duration != 5 || r.ErrorCount != 0 {
			t.Errorf("score %d in %g s, %v", r.Score, r.Duration, r.Messages)
		}
		a, b := r.Steps[0], r.Steps[1]
		if a.Step != "GET /a" || a.Count != 50 || a.Max != 1000 || a.P90 < 300 || a.P50 < 10 || b.Step != "GET /b" || b.Max != 10 {
			t.Errorf("%+v\n%+v", a, b)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != load.InFlightCap {
			t.Errorf("warnings %+v", r.Warnings)
		}
	})
}

// TestArriveIsCutOff: what was due and never had its turn is recorded all the same.
func TestArriveIsCutOff(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{LoadTime: 1050 * ms}, loading(func(ctx context.Context, s *Step) {
			s.Arrive(ctx, Arrivals{Name: "open", Schedule: constant(t, 10, 0), MaxInFlight: 3, Do: func(ctx context.Context, w *Worker) error {
				<-ctx.Done()
				return ctx.Err()
			}})
		}))
		if len(r.Steps) != 1 || r.Steps[0].Step != "open" || r.Steps[0].Count != 8 || r.Steps[0].Errors != 8 || r.ErrorCount != 0 {
			t.Errorf("%+v, %v", r.Steps, r.Messages)
		}
	})
}

func TestDueElsewhere(t *testing.T) {
	if _, ok := Due(t.Context()); ok {
		t.Error("a context that is of no arrival has a due time")
	}
}

// TestWithin: a context of the scenario's own is bound to the phase once, however
// often it is handed on.
func TestWithin(t *testing.T) {
	var phase context.Context
	runAll(t, t.Context(), Options{LoadTime: time.Second}, loading(func(_ context.Context, s *Step) {
		phase = s.within(context.Background())
		if s.within(phase) != phase {
			t.Error("a context that ends with the phase is bound to it again")
		}
	}))
	<-phase.Done() // with the phase
}
