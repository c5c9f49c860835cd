package tie

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// execution is the command that runs what was prepared under a number with one whole number, with its type or without.
func execution(number, value uint32, typed bool) string {
	b := binary.LittleEndian.AppendUint32([]byte{0x17}, number)
	b = append(b, 0, 1, 0, 0, 0, 0) // no cursor, once, nothing is NULL
	if typed {
		b = append(b, 1, 3, 0)
	} else {
		b = append(b, 0)
	}
	return packet(string(binary.LittleEndian.AppendUint32(b, value)))
}

// TestRepeats: of each class it is counted within a request how many statements ask for something else. Comments, which
// may be of one call alone, are nothing else.
func TestRepeats(t *testing.T) {
	const ok = "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
	f := func(name string, known, different uint64, ask func(s *story, m maker)) {
		t.Helper()
		s := newStory()
		server := goroutine(20, 1)
		for range 3 { // requests
			s.read(server, 10, "/a")
			ask(s, server)
			s.answer(server, 10)
		}
		r := s.tier.Result()
		if len(r.Endpoints) != 1 || len(r.Endpoints[0].Calls) != 1 {
			t.Fatalf("%s: %+v", name, r.Endpoints)
		}
		if c := r.Endpoints[0].Calls[0]; c.Known != known || c.Different != different || c.Count < c.Known {
			t.Errorf("%s: %d known, %d different of %d, want %d and %d", name, c.Known, c.Different, c.Count, known, different)
		}
	}
	query := func(s *story, m maker, sql string, total ...int) {
		s.add(m, trace.Asked, 91, packet("\x03"+sql), total...)
		s.add(m, trace.Replied, 91, ok)
	}
	f("one key again and again", 18, 3, func(s *story, m maker) {
		for i := range 6 {
			query(s, m, fmt.Sprintf("SELECT a FROM t WHERE id = 7 /* call %d */", i))
		}
	})
	f("six keys", 18, 18, func(s *story, m maker) {
		for i := range 6 {
			query(s, m, fmt.Sprintf("SELECT a FROM t WHERE id = %d", i))
		}
	})
	f("two keys, the one five times", 18, 6, func(s *story, m maker) {
		for i := range 6 {
			query(s, m, fmt.Sprintf("SELECT a FROM t WHERE id = '%d'", i/5))
		}
	})
	f("more keys than are known apart", 3*mostTexts, 3*mostTexts, func(s *story, m maker) {
		for i := range mostTexts + 10 {
			query(s, m, fmt.Sprintf("SELECT a FROM t WHERE id = %d", i))
		}
	})
	f("of which too little was copied", 0, 0, func(s *story, m maker) {
		for range 6 {
			query(s, m, "SELECT a FROM t WHERE id = 7", 9000)
		}
	})
	for value, different := range map[uint32]uint64{0: 3, 1: 18} {
		f("prepared", 18, different, func(s *story, m maker) {
			s.add(m, trace.Asked, 91, packet("\x16SELECT a FROM t WHERE id = ?"))
			s.add(m, trace.Replied, 91, "\x0c\x00\x00\x01\x00\x05\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00")
			for i := range uint32(6) {
				s.add(m, trace.Asked, 91, execution(5, 7+i*value, i == 0)) // the types are sent once
				s.add(m, trace.Replied, 91, ok)
			}
		})
	}
}
