package load

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A page counts hits until it is turned. Its figures are those of the part of
// the load since then. Not safe for concurrent use.
type page struct {
	offset time.Duration // of the load's start in the run
	names  *names
	errors *messages

	slots []*slot // with hits, in the order of their first ones
	last  *slot   // of the newest hit, which most hits share
	empty []*slot // to be used again
}

const (
	maxSlots  = 16 // seconds that a page may have before it is turned unasked
	keptSlots = 4  // that are kept to be used again
)

// A slot is one second of one step.
type slot struct {
	second, step int
	from, to     time.Duration // due times that belong to it
	cells        []*cell       // by the target's place; nil before its first hit
}

// A cell counts the hits of one slot to the targets of one name. Its memory is
// used again.
type cell struct {
	asked             uint64
	bytesIn, bytesOut uint64
	codes             counts
	errors            counts // by the message's place
	latency           histogram.Histogram
	sendDelay         histogram.Histogram
	service           histogram.Histogram
}

// counts are how often each of a few numbers came, the most frequent ones mostly
// in front.
type counts []count

type count struct {
	of int
	n  uint64
}

// add counts one more and returns false when of is not there yet.
func (c counts) add(of int) bool {
	for i := range c {
		if c[i].of == of {
			c[i].n++
			if i > 0 && c[i].n > c[i-1].n {
				c[i], c[i-1] = c[i-1], c[i]
			}
			return true
		}
	}
	return false
}

// count counts a hit as one of the name at place.
func (p *page) count(h *Hit, place int) {
	s := p.last
	if s == nil || h.Step != s.step || h.Due < s.from || h.Due >= s.to {
		s = p.slot(h)
	}
	if place >= len(s.cells) || s.cells[place] == nil {
		s.grow(place)
	}
	c := s.cells[place]
	c.asked++
	c.bytesIn += h.BytesIn
	c.bytesOut += h.BytesOut
	c.latency.Record(h.Latency())
	c.sendDelay.Record(h.SendDelay())
	c.service.Record(h.Service())
	if !c.codes.add(h.Code) {
		c.codes = append(c.codes, count{h.Code, 1})
	}
	if h.Err != "" {
		c.countError(p.errors.of(h))
	}
}

func (c *cell) countError(message int) {
	if c.errors.add(message) {
		return
	}
	if len(c.errors) >= maxErrors && message != 0 {
		c.countError(0)
		return
	}
	c.errors = append(c.errors, count{message, 1})
}

// slot finds the slot of a hit, or makes it.
func (p *page) slot(h *Hit) *slot {
	second := int((p.offset + h.Due) / time.Second)
	for _, s := range p.slots {
		if s.second == second && s.step == h.Step {
			p.last = s
			return s
		}
	}
	var s *slot
	if n := len(p.empty); n > 0 {
		s, p.empty = p.empty[n-1], p.empty[:n-1]
	} else {
		s = &slot{}
	}
	s.second, s.step = second, h.Step
	s.from = time.Duration(second)*time.Second - p.offset
	s.to = s.from + time.Second
	p.slots = append(p.slots, s)
	p.last = s
	return s
}

//go:noinline
func (s *slot) grow(place int) {
	for len(s.cells) <= place {
		s.cells = append(s.cells, nil)
	}
	if s.cells[place] == nil {
		s.cells[place] = &cell{}
	}
}

// A turned page is what was counted on it. Its names and messages stay as they
// are, whatever comes.
type turned struct {
	slots, unused   []*slot
	names, messages []string
}

// turn returns what the page holds and begins an empty one, in the memory given.
func (p *page) turn(empty []*slot) turned {
	old := turned{p.slots, p.empty, p.names.list, p.errors.list}
	p.slots, p.last, p.empty = make([]*slot, 0, keptSlots), nil, empty
	return old
}

// second returns a cell's figures as part of a second. The histograms are the
// cell's own.
func (c *cell) second(s *slot, name string, texts []string) *kasoku.LoadSecond {
	part := &kasoku.LoadSecond{
		Second: s.second, Step: s.step, Target: name, Asked: c.asked, BytesIn: c.bytesIn, BytesOut: c.bytesOut,
		Codes: make(map[int]uint64, len(c.codes)), Errors: make(map[string]uint64, len(c.errors)),
		Latency: &c.latency, SendDelay: &c.sendDelay, Service: &c.service,
	}
	for _, k := range c.codes {
		part.Codes[k.of] = k.n
	}
	for _, k := range c.errors {
		part.Errors[texts[k.of]] = k.n
	}
	return part
}

func (c *cell) reset() {
	c.asked, c.bytesIn, c.bytesOut = 0, 0, 0
	c.codes, c.errors = c.codes[:0], c.errors[:0]
	c.latency.Reset()
	c.sendDelay.Reset()
	c.service.Reset()
}
