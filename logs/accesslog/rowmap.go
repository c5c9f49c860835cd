package accesslog

import (
	"hash/maphash"
	"slices"
	"time"
)

// A rowMap finds rows by key. It is a table with open addressing and linear
// probing, which costs a third of what a map of strings does.
type rowMap struct {
	seed  maphash.Seed
	slots []*row // a power of two; nil: free
	n     int
}

func newRowMap() rowMap {
	return rowMap{seed: maphash.MakeSeed(), slots: make([]*row, 256)}
}

func (m *rowMap) hash(key []byte) uint64 { return maphash.Bytes(m.seed, key) }

// get returns the row of a key, nil when it has none.
func (m *rowMap) get(hash uint64, key []byte) *row {
	mask := uint64(len(m.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		w := m.slots[i]
		if w == nil || w.hash == hash && w.key == string(key) {
			return w
		}
	}
}

// put adds a row whose key has none.
func (m *rowMap) put(w *row) {
	if 2*(m.n+1) > len(m.slots) {
		old := m.slots
		m.slots = make([]*row, 2*len(old))
		for _, w := range old {
			if w != nil {
				m.place(w)
			}
		}
	}
	m.place(w)
	m.n++
}

func (m *rowMap) place(w *row) {
	mask := uint64(len(m.slots) - 1)
	i := w.hash & mask
	for m.slots[i] != nil {
		i = (i + 1) & mask
	}
	m.slots[i] = w
}

// of returns the row of a key, which is made if need be.
func (m *rowMap) of(key []byte) *row {
	hash := m.hash(key)
	w := m.get(hash, key)
	if w == nil {
		w = newRow(string(key), hash)
		m.put(w)
	}
	return w
}

// each calls f for every row, in no order.
func (m *rowMap) each(f func(*row)) {
	for _, w := range m.slots {
		if w != nil {
			f(w)
		}
	}
}

// seriesRows are rows whose series all have one step, so that they can be added up and
// stand beside one another. Where one grows too long, the step of all does.
type seriesRows struct {
	rowMap
	step time.Duration
	most int // steps of a series
}

func newSeriesRows(most int) seriesRows {
	return seriesRows{rowMap: newRowMap(), step: steps[0], most: most}
}

// merge adds a row, whose series has that step or a longer one, to the row of a key. It
// stays as it is.
func (m *seriesRows) merge(key []byte, from *row, step time.Duration) {
	if step < m.step {
		c := *from
		c.series.buckets = slices.Clone(from.series.buckets)
		c.series.coarsen(step, m.step)
		from = &c
	}
	to := m.of(key)
	to.frequent = from.frequent
	to.merge(from)
	if len(to.series.buckets) > m.most {
		m.coarsen(longerStep(m.step))
	}
}

// coarsen makes the step of all series at least so long, and longer where a series needs
// it.
func (m *seriesRows) coarsen(step time.Duration) {
	for m.step < step {
		from := m.step
		m.step = longerStep(from)
		longest := 0
		m.each(func(w *row) {
			w.series.coarsen(from, m.step)
			longest = max(longest, len(w.series.buckets))
		})
		if longest > m.most {
			step = max(step, longerStep(m.step))
		}
	}
}
