package accesslog

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// A place defines where a record stands: in which input, and how many bytes are
// before it there.
type place struct {
	input  int
	offset int64
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.input, o.input), cmp.Compare(p.offset, o.offset))
}

// A slow is one of the slowest requests.
type slow struct {
	latency, upstream time.Duration
	place             place
	at                int64 // ns since offset 0, when stamped
	stamped           bool
	status            int
	bytes             uint64
	route             []byte // as in a key
	method, uri       []byte
}

// before orders requests: the slowest first, of equal ones the first in the log.
func (s *slow) before(o *slow) bool {
	return s.latency > o.latency || s.latency == o.latency && s.place.compare(o.place) < 0
}

// A slowest keeps the slowest requests, as a heap with the one on top that is to
// go first.
type slowest struct {
	max  int
	heap []slow
}

// wants reports whether a request of that duration may belong to the slowest.
func (s *slowest) wants(d time.Duration) bool {
	return len(s.heap) < s.max || s.max > 0 && d >= s.heap[0].latency
}

// maxSlowURI is how many bytes of a slow request's address are kept.
const maxSlowURI = 2 << 10

// add adds a request if it is among the slowest; the slices are copied.
func (s *slowest) add(n slow) {
	n.uri = n.uri[:min(len(n.uri), maxSlowURI)]
	n.method = n.method[:min(len(n.method), maxKeyPart)]
	if len(s.heap) < s.max {
		n.route, n.method, n.uri = bytes.Clone(n.route), bytes.Clone(n.method), bytes.Clone(n.uri)
		s.heap = append(s.heap, n)
		s.up(len(s.heap) - 1)
		return
	}
	top := &s.heap[0]
	if s.max == 0 || !n.before(top) {
		return
	}
	n.route, n.method, n.uri = append(top.route[:0], n.route...), append(top.method[:0], n.method...),
		append(top.uri[:0], n.uri...)
	*top = n
	s.down(0)
}

func (s *slowest) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !s.heap[parent].before(&s.heap[i]) {
			return
		}
		s.heap[parent], s.heap[i] = s.heap[i], s.heap[parent]
		i = parent
	}
}

func (s *slowest) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(s.heap); c++ {
			if s.heap[least].before(&s.heap[c]) {
				least = c
			}
		}
		if least == i {
			return
		}
		s.heap[least], s.heap[i] = s.heap[i], s.heap[least]
		i = least
	}
}

// sorted returns the requests, the slowest first.
func (s *slowest) sorted() []slow {
	out := slices.Clone(s.heap)
	slices.SortStableFunc(out, func(a, b slow) int {
		return cmp.Or(cmp.Compare(b.latency, a.latency), a.place.compare(b.place))
	})
	return out
}
