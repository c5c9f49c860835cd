package exact

// A Queue hands on what the blocks of a log told in the order of the blocks,
// though they are finished in any order. Who uses it has to lock.
type Queue[T any] struct {
	next    int
	waiting map[int]T
}

// Add takes what block seq told, and hands on with apply what is next, as much of
// it as there is. Blocks are numbered from 0 without gaps.
func (q *Queue[T]) Add(seq int, v T, apply func(T)) {
	if q.waiting == nil {
		q.waiting = map[int]T{}
	}
	q.waiting[seq] = v
	for {
		v, ok := q.waiting[q.next]
		if !ok {
			return
		}
		delete(q.waiting, q.next)
		q.next++
		apply(v)
	}
}
