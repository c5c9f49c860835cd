package exact

import (
	"cmp"
	"slices"
)

// A Place is what requests are ranked by, and where a request stands in the log.
type Place struct {
	Value float64
	Seq   int    // block
	Line  uint64 // in the block
}

// A Ranked is one of a [Top].
type Ranked[T any] struct {
	Place
	Item T
}

// A Top keeps the first of a ranking, the largest values or the smallest ones;
// of those that tie the earlier line comes first.
type Top[T any] struct {
	Keep     int
	Smallest bool
	list     []Ranked[T]
}

func (t *Top[T]) compare(a, b Place) int {
	c := cmp.Compare(b.Value, a.Value)
	if t.Smallest {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Line, b.Line))
}

// Wants reports whether a request there would be kept.
func (t *Top[T]) Wants(p Place) bool {
	n := len(t.list)
	return n < t.Keep || n > 0 && t.compare(p, t.list[n-1].Place) < 0
}

// Put takes a request that is wanted.
func (t *Top[T]) Put(p Place, item T) {
	i, _ := slices.BinarySearchFunc(t.list, p, func(r Ranked[T], p Place) int { return t.compare(r.Place, p) })
	t.list = slices.Insert(t.list, i, Ranked[T]{p, item})
	t.list = t.list[:min(len(t.list), t.Keep)]
}

// Merge takes what another Top keeps.
func (t *Top[T]) Merge(other *Top[T]) {
	for _, r := range other.list {
		if t.Wants(r.Place) {
			t.Put(r.Place, r.Item)
		}
	}
}

// List returns what is kept, in order.
func (t *Top[T]) List() []Ranked[T] { return t.list }
