package lines

import (
	"maps"
	"slices"
)

// An Order hands on what workers made of the blocks of [Split] in the order of the
// blocks, though they are finished in any order. The zero value waits for block 0.
// It is not safe for concurrent use: callers must lock.
type Order[T any] struct {
	next    int
	waiting map[int]T
}

// Add takes what was made of block seq, and hands on with apply what is next, as
// much of it as there is.
func (o *Order[T]) Add(seq int, v T, apply func(T)) {
	if o.waiting == nil {
		o.waiting = map[int]T{}
	}
	o.waiting[seq] = v
	for {
		v, ok := o.waiting[o.next]
		if !ok {
			return
		}
		delete(o.waiting, o.next)
		o.next++
		apply(v)
	}
}

// Flush hands on what waits for blocks that will not come.
func (o *Order[T]) Flush(apply func(T)) {
	for _, seq := range slices.Sorted(maps.Keys(o.waiting)) {
		apply(o.waiting[seq])
	}
	clear(o.waiting)
}
