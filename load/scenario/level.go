package scenario

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// levels define how high the load is. A level begins in the call that scores its last
// point, and that call calls the followers of the level.
type levels struct {
	at    []int64 // the points of level 1, 2, …
	start time.Time

	level atomic.Int64
	next  atomic.Int64 // points at which the next level begins; without a load they are out of reach

	mu        sync.Mutex
	loading   bool
	rises     []Rise
	followers []func()
}

func newLevels(at []int64, start time.Time) *levels {
	l := &levels{at: at, start: start}
	l.next.Store(math.MaxInt64)
	return l
}

func (l *levels) now() int { return int(l.level.Load()) }

// begin lets levels rise from now on. Points of before count.
func (l *levels) begin(points int64) {
	l.mu.Lock()
	l.loading = true
	l.aim()
	l.mu.Unlock()
	l.reach(points)
}

// end lets them rise no more.
func (l *levels) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loading, l.followers = false, nil
	l.aim()
}

// aim sets next. The caller holds mu.
func (l *levels) aim() {
	if n := l.now(); l.loading && n < len(l.at) {
		l.next.Store(l.at[n])
		return
	}
	l.next.Store(math.MaxInt64)
}

// reach raises the level as far as the points allow.
func (l *levels) reach(points int64) {
	if points < l.next.Load() {
		return
	}
	l.mu.Lock()
	before := l.now()
	for points >= l.next.Load() {
		l.rises = append(l.rises, Rise{Level: l.now() + 1, At: time.Since(l.start), Score: points})
		l.level.Add(1)
		l.aim()
	}
	var follow []func()
	if l.now() > before {
		follow = slices.Clone(l.followers)
	}
	l.mu.Unlock()
	for _, f := range follow {
		f()
	}
}

// follow calls f now and after each rise, several times at once when scores come so.
func (l *levels) follow(f func()) {
	l.mu.Lock()
	l.followers = append(l.followers, f)
	l.mu.Unlock()
	f()
}

func (l *levels) all() []Rise {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.rises)
}
