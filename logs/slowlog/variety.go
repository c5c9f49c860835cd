package slowlog

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A variety estimates how many different values there were and how often the most
// frequent came. The zero value is empty.
//
// It counts up to maxExact values exactly. Then it goes over to estimates: of the
// values by HyperLogLog with 2,048 registers, whose standard error is 2.3 %, of
// the most frequent one by the counters of Space-Saving, less their greatest
// error, so that the figure is never more than the truth.
//
// Sources: Flajolet and others, HyperLogLog, 2007; Metwally and others, Efficient
// Computation of Frequent and Top-k Elements, 2005.
type variety struct {
	slots []frequency // hash table, or the counters once registers are there
	used  int
	regs  []uint8
}

// A frequency is a value, by its hash, and how often it came. As a counter of
// Space-Saving it can be too large by up to over.
type frequency struct {
	hash    uint64
	n, over uint32
}

const (
	maxExact  = 96 // of a table of 128
	registers = 2048
	indexBits = 11
	counters  = 16
)

// add counts a value by its hash.
func (v *variety) add(h uint64) {
	if v.regs != nil {
		v.register(h)
		v.counter(h, 1, 0)
		return
	}
	v.exact(h, 1)
}

// exact counts in the hash table.
func (v *variety) exact(h uint64, n uint32) {
	if len(v.slots) == 0 {
		v.slots = make([]frequency, 4)
	}
	for i := int(h); ; i++ {
		s := &v.slots[i&(len(v.slots)-1)]
		switch {
		case s.n == 0:
			if (v.used+1)*4 > len(v.slots)*3 {
				v.grow()
				v.addN(h, n)
				return
			}
			v.used++
			s.hash, s.n = h, n
			return
		case s.hash == h:
			s.n = addSaturated(s.n, n)
			return
		}
	}
}

// addN counts a value that came several times.
func (v *variety) addN(h uint64, n uint32) {
	if v.regs == nil {
		v.exact(h, n)
		return
	}
	v.register(h)
	v.counter(h, n, 0)
}

func addSaturated(a, b uint32) uint32 {
	sum, carry := bits.Add32(a, b, 0)
	if carry > 0 {
		return math.MaxUint32
	}
	return sum
}

// grow doubles the table, or goes over to estimates.
func (v *variety) grow() {
	old := v.slots
	if v.used < maxExact {
		v.slots, v.used = make([]frequency, 2*len(old)), 0
		for _, s := range old {
			if s.n > 0 {
				v.exact(s.hash, s.n)
			}
		}
		return
	}
	v.estimate()
}

// estimate goes over to registers and counters.
func (v *variety) estimate() {
	old := slices.DeleteFunc(v.slots, func(s frequency) bool { return s.n == 0 })
	v.regs = make([]uint8, registers)
	for _, s := range old {
		v.register(s.hash)
	}
	slices.SortFunc(old, func(a, b frequency) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.hash, b.hash)) })
	v.slots = slices.Clone(old[:min(len(old), counters)])
	v.used = len(v.slots)
}

func (v *variety) register(h uint64) {
	i := h >> (64 - indexBits)
	rank := uint8(bits.LeadingZeros64(h<<indexBits|1<<(indexBits-1))) + 1
	if rank > v.regs[i] {
		v.regs[i] = rank
	}
}

// counter counts in the counters; a new value takes the place of the least
// frequent one, and its count.
func (v *variety) counter(h uint64, n, over uint32) {
	least := 0
	for i := range v.slots {
		if v.slots[i].hash == h {
			v.slots[i].n = addSaturated(v.slots[i].n, n)
			v.slots[i].over += over
			return
		}
		if v.slots[i].n < v.slots[least].n {
			least = i
		}
	}
	if len(v.slots) < counters {
		v.slots = append(v.slots, frequency{h, n, over})
		return
	}
	s := &v.slots[least]
	*s = frequency{h, addSaturated(s.n, n), s.n + over}
}

// distinct returns how many different values there were.
func (v *variety) distinct() uint64 {
	if v.regs == nil {
		return uint64(v.used)
	}
	sum, zero := 0.0, 0
	for _, r := range v.regs {
		sum += 1 / float64(uint64(1)<<r)
		if r == 0 {
			zero++
		}
	}
	const m = registers
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && zero > 0 {
		estimate = m * math.Log(m/float64(zero))
	}
	return uint64(math.Round(estimate))
}

// most returns how often the most frequent value came, at least.
func (v *variety) most() uint64 {
	var most uint32
	for _, s := range v.slots {
		most = max(most, s.n-s.over)
	}
	return uint64(most)
}

// merge adds what another variety has seen.
func (v *variety) merge(o *variety) {
	if o.regs == nil {
		for _, s := range o.slots {
			if s.n > 0 {
				v.addN(s.hash, s.n)
			}
		}
		return
	}
	if v.regs == nil {
		v.estimate()
	}
	for i, r := range o.regs {
		v.regs[i] = max(v.regs[i], r)
	}
	for _, s := range o.slots {
		v.counter(s.hash, s.n, s.over)
	}
}
