package tie

import (
	"testing"
	"time"

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

// TestLostAnswer: where an answer was not seen, no request of the connection has the statements of
// the next one.
func TestLostAnswer(t *testing.T) {
	for _, server := range []maker{goroutine(20, 1), thread(2)} {
		s := newStory()
		s.read(server, 10, "/a")
		s.query(server, 91, "a")
		s.read(server, 10, "/b") // the answer to /a is lost
		s.query(server, 91, "b")
		s.answer(server, 10)
		s.read(server, 10, "/c")
		s.query(server, 91, "c")
		s.answer(server, 10)
		s.read(server, 11, "/d")
		s.query(server, 91, "d")
		s.answer(server, 11)
		s.add(server, trace.Closed, 10, "")
		s.add(server, trace.Closed, 11, "")
		if r := s.tier.Result(); r.Counts.Mixed < 3 || r.Counts.Tied > 1 {
			t.Errorf("%v: %+v", s.got, r.Counts)
		}
	}
}

// TestLostRead: where the reading of a request was not seen, the one before has not its statements.
func TestLostRead(t *testing.T) {
	s := newStory()
	server := goroutine(20, 1)
	s.read(server, 10, "/a")
	s.query(server, 91, "a")
	s.answer(server, 10)
	s.query(server, 91, "b") // of one whose reading is lost
	s.answer(server, 10)
	s.read(server, 10, "/c")
	s.query(server, 91, "c")
	s.add(server, trace.Answered, 10, "HTTP/1.1 103 Early Hints\r\n")
	s.answer(server, 10)
	s.add(server, trace.Closed, 10, "")
	if r := s.want(t, "c>/c"); r.Counts.Mixed != 1 || r.Counts.Unresolved != 2 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestLostPrepared: where the answer to a prepare was not seen, no number has another one's text.
func TestLostPrepared(t *testing.T) {
	s := newStory()
	one := thread(1)
	prepare := func(table, reply string) {
		s.add(one, trace.Asked, 91, packet("\x16SELECT 1 FROM "+table))
		if reply != "" {
			s.add(one, trace.Replied, 91, "\x0c\x00\x00\x01\x00"+reply+"\x01\x00\x00\x00")
		}
	}
	prepare("a", "")
	prepare("b", "\x02\x00\x00\x00")
	s.add(one, trace.Asked, 91, packet("\x17\x02\x00\x00\x00"))
	for _, c := range s.tier.Result().Classes {
		if c.ID != "" && c.Count > 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestPreparedTogether: a client that sends the first execution with the preparation and reads then has both
// answers in one reading, or in two; later executions are of that text too, by its number. A thread that
// does so is no event loop.
func TestPreparedTogether(t *testing.T) {
	const prepared, done = "\x0c\x00\x00\x01\x00\x05\x00\x00\x00\x01\x00", "\x01\x00\x00\x01\x02"
	for _, apart := range []bool{false, true} {
		s := newStory()
		one := thread(1)
		s.read(one, 10, "/a")
		s.add(one, trace.Asked, 91, packet("\x16/*a*/ SELECT ? FROM a"))
		s.add(one, trace.Asked, 91, packet("\x17\xff\xff\xff\xff"))
		s.add(one, trace.Replied, 91, prepared)
		if apart {
			s.at += 20 * time.Millisecond
			e := trace.Event{Kind: trace.Replied, At: s.at, PID: 7, TID: 1, FD: 91, Bytes: []byte(done), Total: len(done),
				Took: 21 * time.Millisecond}
			s.tier.Add(&e)
		}
		s.query(one, 92, "b") // on another connection
		s.add(one, trace.Asked, 91, packet("\x17\x05\x00\x00\x00"))
		s.add(one, trace.Replied, 91, done)
		s.answer(one, 10)
		s.read(one, 10, "/c")
		s.query(one, 92, "c")
		s.answer(one, 10)
		r := s.want(t, "a>/a b>/a a>/a c>/c")
		want := 2 * time.Millisecond
		if apart {
			want += 20 * time.Millisecond
		}
		if k := r.Classes[0]; k.Count != 2 || k.Time != want || r.Counts.Tied != 4 {
			t.Errorf("apart %v: %+v, want 2 in %s; %+v", apart, k, want, r.Counts)
		}
	}
}

// TestGap: what was in work while events were lost is not counted, what began later is.
func TestGap(t *testing.T) {
	s := newStory()
	one, two := goroutine(20, 1), goroutine(21, 1)
	s.read(one, 10, "/a")
	s.query(one, 91, "a")
	s.tier.Gap(true)
	s.answer(one, 10)
	s.read(two, 11, "/b")
	s.query(two, 92, "b")
	s.answer(two, 11)
	s.tier.Gap(false)
	s.query(two, 92, "b")
	s.read(one, 10, "/c")
	s.query(one, 91, "c")
	s.answer(one, 10)
	s.tier.Gap(false)
	s.add(one, trace.Closed, 10, "")
	s.add(two, trace.Closed, 11, "")
	if r := s.want(t, "c>/c"); r.Counts.Mixed != 2 || r.Counts.Tied != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestGivenUp: what a thread did for a request of which it closes the connection without an answer is
// not of the one that it answers next, even where that was read before.
func TestGivenUp(t *testing.T) {
	s := newStory()
	reactor, worker := thread(1), thread(2)
	s.read(reactor, 10, "/slow")
	s.read(reactor, 11, "/b")
	s.query(worker, 91, "slow")
	s.add(worker, trace.Closed, 10, "")
	s.query(worker, 91, "b")
	s.answer(worker, 11)
	if r := s.want(t, "b>/b"); r.Counts.Unfinished != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestCutOff: where threads answer what others have read, what one did when all ended is not of the request that
// it answered last: it may be of one that was not answered yet.
func TestCutOff(t *testing.T) {
	for _, seen := range []bool{true, false} { // that another one has read it
		s := newStory()
		reactor, worker := thread(1), thread(2)
		s.read(worker, 10, "/slow")
		s.query(worker, 91, "slow")
		s.answer(worker, 10)
		if seen {
			s.read(reactor, 11, "/a")
		}
		s.query(worker, 91, "a")
		s.answer(worker, 11)
		s.read(worker, 10, "/b")
		s.query(worker, 91, "b")
		s.answer(worker, 10)
		s.query(worker, 91, "posts")
		want := "slow>/slow b>/b"
		if seen {
			want += " a>/a"
		}
		if r := s.want(t, want); r.Counts.Unfinished != 1 {
			t.Errorf("%+v", r.Counts)
		}
	}
}

// TestReadBefore: what a thread does for a request that was read before all began is not of the one
// that it answered last.
func TestReadBefore(t *testing.T) {
	s := newStory()
	worker := thread(2)
	s.read(worker, 10, "/slow")
	s.query(worker, 91, "slow")
	s.answer(worker, 10)
	s.query(worker, 91, "posts")
	s.answer(worker, 11) // that another thread had read
	s.read(worker, 10, "/b")
	s.query(worker, 91, "b")
	s.answer(worker, 10)
	if r := s.want(t, "slow>/slow b>/b"); r.Counts.Before != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestFreeConnection: no request waits for a connection while another one is free.
func TestFreeConnection(t *testing.T) {
	s := newStory()
	one, two, job := thread(1), thread(2), thread(3)
	s.query(job, 92, "j")
	s.read(one, 10, "/a")
	s.add(one, trace.Asked, 91, packet("\x03SELECT 1"))
	s.read(two, 11, "/b")
	s.at += 20 * time.Millisecond
	s.add(one, trace.Replied, 91, "\x01\x00\x00\x01\x02")
	s.query(two, 91, "b")
	s.answer(two, 11)
	s.answer(one, 10)
	for _, e := range s.tier.Result().Endpoints {
		if e.PoolWait != 0 || e.Waits != 0 {
			t.Errorf("%+v", e)
		}
	}
}

// TestLoopJobs: on an event loop a request that is alone has not what a timer runs meanwhile, which
// shows as it also runs between requests.
func TestLoopJobs(t *testing.T) {
	s := newStory()
	loop := thread(1)
	ask := func(fd int, comment string) {
		s.add(loop, trace.Asked, fd, packet("\x03/*"+comment+"*/ SELECT 1 FROM "+comment))
	}
	reply := func(fd int) { s.add(loop, trace.Replied, fd, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00") }
	s.read(loop, 10, "/a")
	ask(91, "a")
	ask(92, "job") // while the answer to a is awaited
	reply(91)
	reply(92)
	s.answer(loop, 10)
	s.query(loop, 92, "job")
	s.read(loop, 10, "/b")
	s.query(loop, 91, "b")
	s.query(loop, 92, "job")
	s.answer(loop, 10)
	r := s.want(t, "b>/b") // while /a was in work it showed that this is an event loop
	if r.Counts.Tied != 1 || r.Counts.Unresolved != 4 || r.Counts.Outside != 0 || r.Counts.Requests != 1 {
		t.Errorf("%+v", r.Counts)
	}
	for _, e := range r.Endpoints {
		if len(e.Calls) != 1 {
			t.Errorf("%+v", e)
		}
	}
}

// TestLoopGivenUp: on an event loop a request is not alone while a statement of one is awaited that was
// given up.
func TestLoopGivenUp(t *testing.T) {
	s := newStory()
	loop := thread(1)
	s.read(loop, 10, "/slow")
	s.add(loop, trace.Asked, 91, packet("\x03/*slow*/ SELECT SLEEP(1)"))
	s.add(loop, trace.Closed, 10, "")
	s.read(loop, 11, "/b")
	s.add(loop, trace.Replied, 91, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00")
	s.query(loop, 91, "slow, too")
	s.answer(loop, 11)
	s.read(loop, 11, "/c")
	s.query(loop, 91, "c")
	s.answer(loop, 11)
	if r := s.want(t, "slow>/slow c>/c"); r.Counts.Mixed != 1 || r.Counts.Unfinished != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestLoopBefore: on an event loop a request is not known to be alone while one is in work that had begun before
// all did, which shows when that is answered.
func TestLoopBefore(t *testing.T) {
	s := newStory()
	loop := thread(1)
	s.read(loop, 10, "/a")
	s.query(loop, 91, "a")
	s.query(loop, 92, "b") // of one that had begun before
	s.answer(loop, 10)
	s.answer(loop, 11) // which ends here
	s.read(loop, 10, "/c")
	s.add(loop, trace.Asked, 91, packet("\x03/*c*/ SELECT 1 FROM c"))
	s.query(loop, 92, "job")
	s.add(loop, trace.Replied, 91, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00")
	s.answer(loop, 10)
	s.read(loop, 10, "/d")
	s.query(loop, 91, "d")
	s.answer(loop, 10)
	if r := s.want(t, "d>/d"); r.Counts.Mixed != 2 || r.Counts.Unresolved != 4 || r.Counts.Tied != 1 {
		t.Errorf("%+v", r.Counts)
	}
}
