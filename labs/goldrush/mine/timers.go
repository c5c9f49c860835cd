package mine

import (
	"container/heap"
	"time"
)

// timers are what is due at a time, the earliest first; of one time what was set first.
type timers struct {
	all []timer
	set uint64
}

type timer struct {
	at    time.Duration
	order uint64
	run   func()
}

func (t *timers) after(at time.Duration, run func()) {
	t.set++
	heap.Push(t, timer{at, t.set, run})
}

// next returns when the earliest is due, and whether there is one.
func (t *timers) next() (time.Duration, bool) {
	if len(t.all) == 0 {
		return 0, false
	}
	return t.all[0].at, true
}

// take takes the earliest of timers that has one.
func (t *timers) take() timer { return heap.Pop(t).(timer) }

// Len, Less, Swap, Push and Pop are for package heap.
func (t *timers) Len() int { return len(t.all) }

// Less is for package heap.
func (t *timers) Less(i, j int) bool {
	a, b := &t.all[i], &t.all[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

// Swap is for package heap.
func (t *timers) Swap(i, j int) { t.all[i], t.all[j] = t.all[j], t.all[i] }

// Push is for package heap.
func (t *timers) Push(x any) { t.all = append(t.all, x.(timer)) }

// Pop is for package heap.
func (t *timers) Pop() any {
	last := len(t.all) - 1
	x := t.all[last]
	t.all[last] = timer{}
	t.all = t.all[:last]
	return x
}
