package tie

import (
	"encoding/binary"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestBudget: the prepared statements of all connections have one bound, and what is forgotten makes room.
func TestBudget(t *testing.T) {
	s := newStory()
	one := thread(1)
	const each = 10_000
	fill := func(fd int) {
		for i := range each {
			var number [4]byte
			binary.LittleEndian.PutUint32(number[:], uint32(i))
			s.add(one, trace.Asked, fd, packet("\x16SELECT 1"))
			s.add(one, trace.Replied, fd, "\x0c\x00\x00\x01\x00"+string(number[:])+"\x01\x00\x00\x00")
		}
	}
	for fd := range 60 {
		fill(fd)
	}
	kept := 0
	for _, c := range s.tier.processes[7].conns {
		kept += len(c.prepared)
	}
	if kept != mostKept || s.tier.kept != mostKept || s.tier.beyond != 60*each-mostKept {
		t.Errorf("%d are kept, %d counted, %d beyond", kept, s.tier.kept, s.tier.beyond)
	}
	s.add(one, trace.Closed, 0, "")
	s.add(one, trace.Asked, 1, packet("\x19\x01\x00\x00\x00"))
	if got := s.tier.kept; got != mostKept-each-1 {
		t.Errorf("%d are counted", got)
	}
	s.tier.Gap(true)
	if s.tier.kept != 0 {
		t.Errorf("%d are counted after a gap", s.tier.kept)
	}
}
