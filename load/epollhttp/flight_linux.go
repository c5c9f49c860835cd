//go:build amd64 || arm64

package epollhttp

import "github.com/kasoku/kasoku/load"

// A flight is one request under way: it waits for a connection or stands in the
// queue of one. Its memory is used again.
type flight struct {
	hit     load.Hit
	t       *template
	host    *host
	conn    *conn  // nil while it waits for one
	bodyOut uint64 // length of its body
	wrote   bool   // a byte of it has left
	reused  bool   // its connection had been used before it
	resent  bool   // it is on its second connection

	prev, next   *flight // in the queue of its connection or of its host
	older, newer *flight // in the order of sending
}

// A queue is a list of flights, each in one queue at a time.
type queue struct {
	head, tail *flight
	n          int
}

func (q *queue) push(f *flight) {
	f.prev, f.next = q.tail, nil
	if q.tail != nil {
		q.tail.next = f
	} else {
		q.head = f
	}
	q.tail = f
	q.n++
}

func (q *queue) pop() *flight {
	f := q.head
	if f != nil {
		q.remove(f)
	}
	return f
}

func (q *queue) remove(f *flight) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		q.head = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		q.tail = f.prev
	}
	f.prev, f.next = nil, nil
	q.n--
}

// ages are the flights in the order of sending. All have one timeout, so the
// first is the first to time out, and no flight needs a timer.
type ages struct {
	first, last *flight
}

func (a *ages) push(f *flight) {
	f.older, f.newer = a.last, nil
	if a.last != nil {
		a.last.newer = f
	} else {
		a.first = f
	}
	a.last = f
}

func (a *ages) remove(f *flight) {
	if f.older != nil {
		f.older.newer = f.newer
	} else {
		a.first = f.newer
	}
	if f.newer != nil {
		f.newer.older = f.older
	} else {
		a.last = f.older
	}
	f.older, f.newer = nil, nil
}

// flights are the requests of a shard that are under way.
type flights struct {
	ages   ages      // of all but the redirected ones
	failed []*flight // whose end is to be reported
	spare  *flight
}

// flightBlock is how many flights are allocated at once.
const flightBlock = 32

// next returns a flight with its hit zero.
func (l *flights) next() *flight {
	f := l.spare
	if f == nil {
		block := make([]flight, flightBlock)
		for i := range block {
			block[i].next = l.spare
			l.spare = &block[i]
		}
		f = l.spare
	}
	l.spare, f.next = f.next, nil
	return f
}

func (l *flights) free(f *flight) {
	*f = flight{next: l.spare}
	l.spare = f
}
