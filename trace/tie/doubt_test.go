package tie

import (
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestOlderGoroutine: what a goroutine runs that was started before the request of its parent is not
// that request's, nor what one runs whose request is over.
func TestOlderGoroutine(t *testing.T) {
	s := newStory()
	server, seen, old, young := goroutine(9000, 1), goroutine(9001, 9000), goroutine(30, 9000), goroutine(8990, 9000)
	s.add(seen, trace.Connected, 95, "")
	s.read(server, 10, "/a")
	s.query(seen, 95, "s")
	s.query(old, 96, "o")
	s.query(young, 97, "y")
	s.answer(server, 10)
	s.read(server, 10, "/b")
	s.query(young, 97, "late")
	s.answer(server, 10)
	s.add(server, trace.Closed, 10, "")
	if r := s.want(t, "y>/a"); r.Counts.Unresolved != 3 || r.Counts.Tied != 1 || r.Counts.Outside != 0 {
		t.Errorf("%+v", r.Counts)
	}
}
