package tie

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestBudget: all that is kept has one bound, and what is forgotten makes room.
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
	if free := mostBytes - s.tier.room.used; free < 0 || free >= connBytes+preparedBytes ||
		s.tier.beyond == 0 || kept < 9*mostBytes/10/preparedBytes {
		t.Errorf("%d are kept, %d beyond, %d bytes are free", kept, s.tier.beyond, free)
	}
	was := s.tier.room.used
	s.add(one, trace.Closed, 0, "")
	s.add(one, trace.Asked, 1, packet("\x19\x01\x00\x00\x00"))
	if got := was - s.tier.room.used; got != connBytes+(each+1)*preparedBytes {
		t.Errorf("%d bytes were given back", got)
	}
	s.tier.Gap(true)
	if used := s.tier.room.used; used > 60*connBytes+1000 {
		t.Errorf("%d bytes are used after a gap", used)
	}
}

// TestBudgetBalance: what is used does not grow by requests, connections, goroutines and heads that are
// over: nothing is given back too little or too much.
func TestBudgetBalance(t *testing.T) {
	s := newStory()
	s.tier.Each = nil
	round := func() {
		for i := range 50 {
			server, worker, fd := goroutine(uint64(1000+i), 1), thread(10+i), 100+i
			s.read(server, fd, "/a")
			s.query(server, 900, "a")
			s.answer(server, fd)
			s.add(server, trace.Read, fd, "GET /"+strings.Repeat("x", 400)) // whose rest never comes
			s.add(server, trace.Closed, fd, "")
			s.read(worker, fd, "/b")
			s.query(worker, 901, "b")
			s.add(worker, trace.Closed, fd, "") // without an answer
			s.add(worker, trace.Read, fd, "\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"+
				"\x01\x04\x00\x01\x01\x00\x00\x00abc")
			s.add(worker, trace.Closed, fd, "")
		}
		s.tier.forgetIdle()
	}
	round()
	used := s.tier.room.used
	for range 20 {
		round()
	}
	if s.tier.room.used != used {
		t.Errorf("%d bytes are used, %d after one round", s.tier.room.used, used)
	}
}

// TestBudgetHeads: connections of which each has sent a part of a request are kept within the bound, and one
// that was forgotten is followed again when a call begins a request.
func TestBudgetHeads(t *testing.T) {
	s := newStory()
	part := "GET /x HTTP/1.1\r\nA: " + strings.Repeat("a", 15_000)
	const conns = 5000
	for fd := range conns {
		s.add(thread(1), trace.Read, 10+fd, part)
	}
	held := 0
	for _, c := range s.tier.processes[7].conns {
		held += c.requests.Held()
	}
	if held > mostBytes || held < mostBytes/2 || s.tier.beyond == 0 || s.tier.room.used > mostBytes {
		t.Errorf("%d bytes of heads are kept, %d used, %d beyond", held, s.tier.room.used, s.tier.beyond)
	}
	for fd := range conns {
		s.add(thread(1), trace.Closed, 10+fd, "")
	}
	last := 10 + conns
	s.read(thread(1), last, "/b")
	s.query(thread(1), 9, "b")
	s.answer(thread(1), last)
	s.want(t, "b>/b")
}

// TestBudgetTallies: paths and classes, no two alike, are kept within the bound, and each statement is counted
// once.
func TestBudgetTallies(t *testing.T) {
	s := newStory()
	s.tier.Each = nil
	one := thread(1)
	for i := range 30_000 {
		s.add(one, trace.Read, 10, fmt.Sprintf("GET /%s/%x HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("p", 400), i))
		s.query(one, 90, fmt.Sprintf("c%x", i))
		s.query(one, 90, fmt.Sprintf("d%x", i%4000))
		s.answer(one, 10)
	}
	r := s.tier.Result()
	if used := s.tier.room.used; used > mostBytes+10*unitBytes {
		t.Errorf("%d bytes are used", used)
	}
	n, listed := r.Counts, uint64(0)
	for _, e := range r.Endpoints {
		for _, c := range e.Calls {
			listed += c.Count
		}
	}
	if n.Statements != 60_000 || listed != n.Tied || n.Tied+n.Unresolved+n.Unfinished != n.Statements {
		t.Errorf("%d are listed: %+v", listed, n)
	}
}
