package scenario

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPubSub(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		var p PubSub[int]
		p.Publish(1) // nobody hears it
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		got := make([][]int, 3)
		var done sync.WaitGroup
		for i := range got {
			values := p.Subscribe(ctx)
			done.Go(func() {
				for v := range values {
					mu.Lock()
					got[i] = append(got[i], v)
					mu.Unlock()
					if i == 2 && v == 3 {
						return
					}
				}
			})
		}
		for v := 2; v < 6; v++ {
			p.Publish(v)
		}
		synctest.Wait()
		p.Publish(6)
		synctest.Wait()
		cancel()
		synctest.Wait()
		p.Publish(7)
		done.Wait()
		for i, want := range [][]int{{2, 3, 4, 5, 6}, {2, 3, 4, 5, 6}, {2, 3}} {
			if !slices.Equal(got[i], want) {
				t.Errorf("subscriber %d got %v, want %v", i, got[i], want)
			}
		}
		if len(p.subscribers) != 0 || p.Lost() != 0 {
			t.Errorf("%d subscribers stay, %d values lost", len(p.subscribers), p.Lost())
		}
	})
}

// TestPubSubNeverWaits: who does not read loses the oldest values, and who does not
// even begin to is forgotten with its context.
func TestPubSubNeverWaits(t *testing.T) {
	onBubble(t, func(t *testing.T) {
		p := PubSub[int]{Limit: 3}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		values := p.Subscribe(ctx)
		p.Subscribe(ctx)
		for v := range 10 {
			p.Publish(v)
		}
		var got []int
		for v := range values {
			got = append(got, v)
		}
		if !slices.Equal(got, []int{7, 8, 9}) || p.Lost() != 14 {
			t.Errorf("got %v, lost %d", got, p.Lost())
		}
		synctest.Wait()
		if len(p.subscribers) != 0 {
			t.Errorf("%d subscribers stay", len(p.subscribers))
		}
	})
}

// TestPubSub_Race: each subscriber gets each publisher's values in order.
func TestPubSub_Race(t *testing.T) {
	const publishers, each = 8, 1000
	var p PubSub[[2]int]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers, writers sync.WaitGroup
	for range 4 {
		values := p.Subscribe(ctx)
		readers.Go(func() {
			var next [publishers]int
			n := 0
			for v := range values {
				if v[1] != next[v[0]] {
					t.Errorf("publisher %d: value %d, want %d", v[0], v[1], next[v[0]])
					return
				}
				next[v[0]]++
				if n++; n == publishers*each {
					return
				}
			}
		})
	}
	for w := range publishers {
		writers.Go(func() {
			for i := range each {
				p.Publish([2]int{w, i})
			}
		})
	}
	writers.Wait()
	readers.Wait()
}
