//go:build !race

package slowlog

import (
	"bytes"
	"testing"
)

// TestAllocations follows one batch through all stages, again and again: once
// buffers have grown and classes are known, nothing is allocated.
func TestAllocations(t *testing.T) {
	log := bytes.Repeat(fixture(t, "mariadb-10.11-verbose.log"), 3)
	for _, o := range []Options{{}, {Attributes: true}} {
		table := NewTable(o)
		w := newWorker(o, table)
		p := &pipeline{table: table, results: make([]result, 1)}
		c, full, next := newCutter(Slow, new(batch)), new(batch), new(batch)
		offset := int64(0)
		round := func() {
			c.feed(log, offset, 0)
			offset += int64(len(log))
			full = c.b
			next.reset()
			c.carry(next)
			w.work(full)
			p.add(full)
			next = full
		}
		for range 20 {
			round()
		}
		events := float64(len(full.events))
		if n := testing.AllocsPerRun(50, round); n > events/100 {
			t.Errorf("attributes %v: %v allocations for %v entries", o.Attributes, n, events)
		}
	}
}
