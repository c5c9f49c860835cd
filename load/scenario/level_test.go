package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLevels: a level begins in the call that scores its last point, whatever was
// deducted, and the result knows when.
func TestLevels(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{Levels: []int64{3, 5, 6, 20}, Scoring: Scoring{Points: map[Tag]int64{"four": 4, "none": 0}, Deduct: map[Code]int64{Application: 1}}},
			parts{prepare: func(_ context.Context, s *Step) error {
				s.Score("one")
				return nil
			}},
			loading(func(ctx context.Context, s *Step) {
				var seen []int
				s.Fail(Errorf(Application, "x"))
				for _, tag := range []Tag{"one", "none", "one", "four", "one"} {
					time.Sleep(time.Second)
					s.Score(tag)
					seen = append(seen, s.Level())
				}
				if !slices.Equal(seen, []int{0, 0, 1, 3, 3}) {
					t.Errorf("levels %v", seen)
				}
			}),
			parts{validate: func(_ context.Context, s *Step) error {
				for range 20 {
					s.Score("one")
				}
				return nil
			}})
		if got := fmt.Sprint(r.Levels); got != "[{1 3 3} {2 4 7} {3 4 7}]" || r.Level != 3 {
			t.Errorf("level %d, %s", r.Level, got)
		}
	})
	// what preparing scored counts, but nothing rises before the load
	onBubble(t, func(t *testing.T) {
		r := runAll(t, t.Context(), Options{Levels: []int64{1}}, parts{prepare: func(_ context.Context, s *Step) error {
			s.Score("x")
			if s.Level() != 0 {
				t.Error("a level began before the load")
			}
			time.Sleep(time.Second)
			return nil
		}})
		if got := fmt.Sprint(r.Levels); got != "[{1 1 1}]" {
			t.Error(got)
		}
	})
}

// TestWorkersFollowTheLevel: at once, up and down.
func TestWorkersFollowTheLevel(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		count := []int{2, 5, 0, 1}
		var mu sync.Mutex
		at := map[int]bool{}
		var log []string
		note := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf(format, args...))
		}
		present := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return len(at)
		}
		r := runAll(t, t.Context(), Options{LoadTime: time.Minute, Levels: []int64{1, 2, 3}}, loading(func(ctx context.Context, s *Step) {
			s.Workers(ctx, Workers{
				Name: "user", Count: func(level int) int { return count[level] },
				Begin: func(_ context.Context, w *Worker) error {
					mu.Lock()
					at[w.Number] = true
					mu.Unlock()
					note("+%d", w.Number)
					w.Data = w.Number
					return nil
				},
				End: func(w *Worker) {
					mu.Lock()
					delete(at, w.Number)
					mu.Unlock()
					note("-%d", w.Data)
				},
				Do: func(ctx context.Context, w *Worker) error { return w.Sleep(ctx, time.Hour) },
			})
			for level, n := range count {
				if got := present(); got != n {
					t.Errorf("level %d has %d workers, want %d", level, got, n)
				}
				if level < 3 {
					time.Sleep(time.Second)
					s.Score("x")
				}
			}
		}))
		slices.Sort(log[:2])
		slices.Sort(log[2:5])
		slices.Sort(log[5:10])
		if got := strings.Join(log, " "); got != "+0 +1 +2 +3 +4 -0 -1 -2 -3 -4 +5 -5" || r.ErrorCount != 0 || r.Duration != 60 {
			t.Errorf("%s, %d errors in %g s", got, r.ErrorCount, r.Duration)
		}
	})
}

// TestWorkersLeave: a worker too many ends with the call that it is in.
func TestWorkersLeave(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var did []int
		var mu sync.Mutex
		runAll(t, t.Context(), Options{LoadTime: 10 * time.Second, Levels: []int64{1}}, loading(func(ctx context.Context, s *Step) {
			s.Workers(ctx, Workers{Count: func(level int) int { return 2 - level }, Do: func(ctx context.Context, w *Worker) error {
				time.Sleep(3 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				did = append(did, w.Number)
				return ctx.Err()
			}})
			time.Sleep(time.Second)
			s.Score("x")
		}))
		slices.Sort(did)
		if !slices.Equal(did, []int{0, 0, 0, 0, 1}) {
			t.Errorf("calls of workers %v", did)
		}
	})
}

func TestOnce(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var did []string
		job := func(ctx context.Context, w *Worker) error {
			mu.Lock()
			defer mu.Unlock()
			did = append(did, fmt.Sprintf("%s %d", w.Name, w.Number))
			return nil
		}
		runAll(t, t.Context(), Options{LoadTime: time.Minute, Levels: []int64{1, 3}}, loading(func(ctx context.Context, s *Step) {
			s.Score("x")
			s.Once(ctx, Jobs{Name: "a", Count: func(level int) int { return 2 * level }, Do: job})
			s.Once(ctx, Jobs{Name: "b", Do: job})
			synctest.Wait()
			slices.Sort(did)
			if got := strings.Join(did, ", "); got != "a 0, a 1, b 0, b 1" {
				t.Errorf("at level 1: %s", got)
			}
			did = nil
			s.Score("x")
			s.Score("x")
			s.Score("x")
			synctest.Wait()
			slices.Sort(did)
			if got := strings.Join(did, ", "); got != "a 2, a 3, a 4, a 5, b 2" {
				t.Errorf("at level 2: %s", got)
			}
		}))
	})
}

// TestOnLevel: each level is reported once, in order, one after the other.
func TestOnLevel(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var seen []string
		r := runAll(t, t.Context(), Options{LoadTime: time.Minute, Levels: []int64{1, 2, 3, 4}}, loading(func(ctx context.Context, s *Step) {
			s.Score("x")
			began := time.Now()
			s.OnLevel(ctx, func(ctx context.Context, level int) {
				seen = append(seen, fmt.Sprintf("%d after %s", level, time.Since(began)))
				time.Sleep(2 * time.Second)
				if level == 1 {
					s.Score("x")
				}
			})
			time.Sleep(time.Second)
			s.Score("x")
			time.Sleep(10 * time.Second)
			s.Score("x")
		}))
		if got := strings.Join(seen, ", "); got != "1 after 0s, 2 after 2s, 3 after 4s, 4 after 11s" || r.Level != 4 {
			t.Errorf("level %d: %s", r.Level, got)
		}
	})
}

// TestFollowersOfAnOwnContext: workers, jobs and hooks end with the context that they
// were given, although the phase goes on; and with the phase, whatever that context is.
func TestFollowersOfAnOwnContext(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var calls atomic.Int64
		r := runAll(t, t.Context(), Options{LoadTime: time.Minute, Levels: []int64{1}}, loading(func(ctx context.Context, s *Step) {
			own, cancel := context.WithCancel(ctx)
			count := func(ctx context.Context, w *Worker) error {
				calls.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			s.Workers(own, Workers{Count: func(level int) int { return 1 + level }, Do: count})
			s.Once(own, Jobs{Do: count})
			s.OnLevel(own, func(context.Context, int) { calls.Add(1) })
			synctest.Wait()
			cancel()
			synctest.Wait()
			s.Score("x")
			synctest.Wait()
			if calls := calls.Load(); calls != 3 {
				t.Errorf("%d calls, want 3", calls)
			}
			s.Workers(context.Background(), Workers{Count: func(int) int { return 1 }, Do: count})
		}))
		if r.Duration != 60 || len(r.Warnings) != 0 {
			t.Errorf("%g s, %v", r.Duration, r.Warnings)
		}
	})
}

// TestLevels_Race scores from many goroutines: no point is lost, no level is left out,
// and workers are as many as the last level asks for.
func TestLevels_Race(t *testing.T) {
	const users, each = 16, 500
	var levels []int64
	for i := range int64(100) {
		levels = append(levels, (i+1)*users*each/100)
	}
	var mu sync.Mutex
	var seen []int
	jobs := 0
	r := runAll(t, t.Context(), Options{Levels: levels}, loading(func(ctx context.Context, s *Step) {
		s.OnLevel(ctx, func(_ context.Context, level int) { seen = append(seen, level) })
		s.Once(ctx, Jobs{Do: func(context.Context, *Worker) error {
			mu.Lock()
			defer mu.Unlock()
			jobs++
			return nil
		}})
		s.Workers(ctx, Workers{Count: func(int) int { return users }, Loops: each, Do: func(_ context.Context, w *Worker) error {
			s.Score(Tag(fmt.Sprint(w.Loop % 7)))
			s.Fail(Errorf(Timeout, "%d", w.Loop%3))
			s.Record(Record{Step: "x", Sent: time.Now(), Done: time.Now(), Code: 200})
			return nil
		}})
	}))
	if r.Score != users*each || r.ErrorCount != users*each || r.Steps[0].Count != users*each || r.Level != 100 || len(r.Levels) != 100 || jobs != 101 {
		t.Errorf("score %d, %d errors, %d requests, level %d, %d rises, %d jobs", r.Score, r.ErrorCount, r.Steps[0].Count, r.Level, len(r.Levels), jobs)
	}
	if len(seen) != 101 || !slices.IsSorted(seen) {
		t.Errorf("levels %v", seen)
	}
	for i, l := range r.Levels {
		if l.Level != i+1 || l.Points < levels[i] {
			t.Errorf("rise %+v", l)
		}
	}
}
