package tie

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/trace"
)

// A story is a sequence of system calls, each a millisecond after the one before.
type story struct {
	tier *Tier
	at   time.Duration
	got  []string
}

func newStory() *story {
	s := &story{tier: New()}
	s.tier.Each = func(r *trace.Request, comment string) {
		of := "none"
		if r != nil {
			of = r.Path
		}
		s.got = append(s.got, comment+">"+of)
	}
	return s
}

// A maker is who makes a call: a thread, or a goroutine and who started it.
type maker struct {
	tid          int
	goid, parent uint64
}

func (s *story) add(m maker, kind trace.Kind, fd int, bytes string, total ...int) {
	s.at += time.Millisecond
	e := trace.Event{Kind: kind, At: s.at, PID: 7, TID: m.tid, Goid: m.goid, Parent: m.parent, FD: fd,
		Bytes: []byte(bytes), Total: len(bytes)}
	if kind == trace.Replied {
		e.Took = time.Millisecond
	}
	if len(total) > 0 {
		e.Total = total[0]
	}
	s.tier.Add(&e)
}

func (s *story) read(m maker, fd int, path string) {
	s.add(m, trace.Read, fd, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
}

func (s *story) answer(m maker, fd int) { s.add(m, trace.Answered, fd, "HTTP/1.1 200 OK\r\n") }

func (s *story) query(m maker, fd int, comment string) {
	s.add(m, trace.Asked, fd, packet("\x03/*"+comment+"*/ SELECT 1 FROM "+comment))
	s.add(m, trace.Replied, fd, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00")
}

// begin opens a transaction, and end ends it.
func (s *story) begin(m maker, fd int) {
	s.add(m, trace.Asked, fd, packet("\x03BEGIN"))
	s.add(m, trace.Replied, fd, "\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00")
}

func (s *story) end(m maker, fd int) {
	s.add(m, trace.Asked, fd, packet("\x03COMMIT"))
	s.add(m, trace.Replied, fd, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00")
}

func packet(body string) string {
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(body)))
	return string(head[:]) + body
}

// want checks which statement went where, in the order in which it was decided.
func (s *story) want(t *testing.T, want string) *trace.Result {
	t.Helper()
	r := s.tier.Result()
	if got := strings.Join(s.got, " "); got != want {
		t.Errorf("got %q, want %q; %+v", got, want, r.Counts)
	}
	return r
}

func thread(id int) maker               { return maker{tid: id} }
func goroutine(id, parent uint64) maker { return maker{tid: 1, goid: id, parent: parent} }

// TestGoroutines: the calls of a goroutine, of those that it starts, and of those that these
// start are its request's; keep-alive, pipelines and a byte read by another one do not
// confuse that.
func TestGoroutines(t *testing.T) {
	s := newStory()
	server, child, grandchild, job := goroutine(20, 1), goroutine(30, 20), goroutine(31, 30), goroutine(5, 1)
	s.query(job, 90, "j")
	s.read(server, 10, "/a")
	s.query(server, 91, "a")
	s.query(child, 92, "b")
	s.query(grandchild, 93, "c")
	s.answer(server, 10)
	s.add(goroutine(40, 20), trace.Read, 10, "G") // net/http's background read
	s.add(server, trace.Read, 10, "ET /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\n")
	s.query(server, 91, "d")
	s.answer(server, 10)
	s.query(server, 91, "e")
	s.answer(server, 10)
	s.add(server, trace.Closed, 10, "")
	r := s.want(t, "a>/a b>/a c>/a d>/b e>/c j>none")
	if r.Counts.Outside != 1 || r.Counts.Tied != 5 || r.Counts.Requests != 3 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestBefore: a request that had begun before all did has no path; its statements are neither
// another's nor a job's.
func TestBefore(t *testing.T) {
	s := newStory()
	server, child := goroutine(20, 1), goroutine(30, 20)
	s.query(server, 91, "a")
	s.query(child, 92, "b")
	s.answer(server, 10)
	s.query(goroutine(60, 55), 93, "c") // the goroutine that started it was not seen
	if r := s.want(t, ""); r.Counts.Before != 2 || r.Counts.Unresolved != 1 || r.Counts.Outside != 0 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestThreads: a thread works for one request at a time, also for one that another thread
// read; what it does after the answer is that request's.
func TestThreads(t *testing.T) {
	s := newStory()
	reactor, one, two, job := thread(1), thread(2), thread(3), thread(9)
	s.read(reactor, 10, "/a")
	s.read(reactor, 11, "/b")
	s.query(two, 92, "b")
	s.query(one, 91, "a")
	s.query(job, 99, "j")
	s.answer(one, 10)
	s.answer(two, 11)
	s.read(one, 10, "/c")
	s.query(one, 91, "c")
	s.answer(one, 10)
	s.query(one, 91, "d")
	s.read(one, 10, "/e")
	s.answer(one, 10)
	r := s.want(t, "c>/c d>/c a>/a b>/b j>none")
	if r.Counts.Outside != 1 || r.Counts.Unresolved != 0 || r.Counts.After != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestThreadBefore: a thread that had a request before all began, and answers it afterwards or not at all, runs
// what is neither a job's nor another request's. A job runs what no request does, or runs it so late that no
// such request can be the reason.
func TestThreadBefore(t *testing.T) {
	s := newStory()
	reactor, one, two, three, job := thread(1), thread(2), thread(3), thread(4), thread(9)
	s.query(one, 91, "a") // of a request that is not seen
	s.query(two, 92, "a") // so is that, and its end is not seen either
	s.query(job, 99, "j")
	s.read(reactor, 10, "/b")
	s.query(one, 91, "b")
	s.answer(one, 10)
	s.read(three, 11, "/a")
	s.query(three, 93, "a")
	s.answer(three, 11)
	for range 4 {
		s.query(job, 99, "j")
	}
	s.query(job, 99, "a")
	r := s.want(t, "a>/a b>/b j>none j>none j>none j>none j>none a>none")
	if r.Counts.Before != 1 || r.Counts.Unresolved != 1 || r.Counts.Outside != 6 {
		t.Errorf("%+v", r.Counts)
	}
	s = newStory()
	s.query(job, 99, "j")
	s.read(reactor, 10, "/b") // takes longer than all this
	s.read(three, 11, "/a")
	s.query(three, 93, "a")
	s.answer(three, 11)
	s.query(two, 92, "a") // and so may one that had begun before
	if r := s.want(t, "a>/a j>none"); r.Counts.Unresolved != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestEventLoop: of a thread with several requests at a time only those are known that were
// alone.
func TestEventLoop(t *testing.T) {
	s := newStory()
	loop := thread(1)
	s.read(loop, 10, "/alone")
	s.query(loop, 91, "a")
	s.answer(loop, 10)
	s.read(loop, 10, "/b")
	s.read(loop, 11, "/c")
	s.query(loop, 91, "b")
	s.query(loop, 92, "c")
	s.answer(loop, 11)
	s.query(loop, 91, "d")
	s.answer(loop, 10)
	r := s.want(t, "a>/alone")
	if r.Counts.Mixed != 2 || r.Counts.Unresolved != 3 || r.Counts.Requests != 1 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestWorkStealing: threads that read, work for and answer requests of one another tie nothing.
func TestWorkStealing(t *testing.T) {
	s := newStory()
	one, two := thread(1), thread(2)
	s.read(one, 10, "/a")
	s.read(one, 11, "/b")
	s.query(one, 91, "a") // of /b, perhaps
	s.query(two, 92, "b")
	s.answer(two, 10)
	s.answer(one, 11)
	r := s.want(t, "")
	if r.Counts.Tied != 0 || r.Counts.Unresolved == 0 {
		t.Errorf("%+v", r.Counts)
	}
}

// TestHeldTransaction: a transaction that stays open while another service is asked.
func TestHeldTransaction(t *testing.T) {
	s := newStory()
	one := thread(1)
	s.read(one, 10, "/a")
	s.begin(one, 91)
	s.add(one, trace.Called, 50, "POST /pay/17 HTTP/1.1\r\nHost: bank\r\n\r\n")
	s.add(one, trace.Replied, 50, "HTTP/1.1 200 OK")
	s.end(one, 91)
	s.add(one, trace.Called, 50, "POST /mail HTTP/1.1\r\nHost: bank\r\n\r\n")
	s.add(one, trace.Replied, 50, "HTTP/1.1 200 OK")
	s.answer(one, 10)
	r := s.tier.Result()
	if got := fmt.Sprint(r.Endpoints[0].External); got != "[{bank POST /pay/:id 1 1ms 1 1ms 0 0s 0} {bank POST /mail 1 1ms 0 0s 0 0s 0}]" {
		t.Error(got)
	}
	if r.Endpoints[0].Idle != 3*time.Millisecond {
		t.Errorf("idle %s", r.Endpoints[0].Idle)
	}
}

// TestLockedRows: a transaction holds rows from its first statement that writes or asks for locks until
// it ends, and what is asked of another service meanwhile is known, with that statement.
func TestLockedRows(t *testing.T) {
	s := newStory()
	one := thread(1)
	done := func(open bool) string {
		if open {
			return "\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00"
		}
		return "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"
	}
	run := func(fd int, text string, open bool) {
		s.add(one, trace.Asked, fd, packet("\x03"+text))
		s.add(one, trace.Replied, fd, done(open))
	}
	call := func(path string) {
		s.add(one, trace.Called, 50, "POST "+path+" HTTP/1.1\r\nHost: bank\r\n\r\n")
		s.add(one, trace.Replied, 50, "HTTP/1.1 200 OK")
	}
	s.read(one, 10, "/a")
	s.begin(one, 91)
	run(91, "SELECT a FROM t WHERE id = 1", true)
	call("/read")
	run(91, "UPDATE t SET a = 2 WHERE id = 1", true)
	call("/written")
	run(91, "COMMIT", false)
	call("/over")
	run(91, "UPDATE t SET a = 3 WHERE id = 1", false) // commits by itself
	call("/single")
	s.begin(one, 91)
	run(91, "SELECT a FROM t WHERE id = 1 FOR UPDATE", true)
	call("/asked")
	run(91, "UPDATE t SET a = 3 WHERE id = 1", true)
	s.add(one, trace.Closed, 91, "")
	call("/closed")
	s.answer(one, 10)
	r := s.tier.Result()
	var got []string
	for _, x := range r.Endpoints[0].External {
		text := fmt.Sprintf("%s held %d locked %d %s", x.Path, x.Held, x.Locked, x.LockedTime)
		if x.Locked > 0 {
			text += " " + r.Classes[x.Locks].Fingerprint
		}
		got = append(got, text)
	}
	want := []string{"/read held 1 locked 0 0s", "/written held 1 locked 1 1ms update t set a = ? where id = ?",
		"/over held 0 locked 0 0s", "/single held 0 locked 0 0s",
		"/asked held 1 locked 1 1ms select a from t where id = ? for update", "/closed held 0 locked 0 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestAutocommitOff: where autocommit is off, reading rows to lock them begins a transaction, which the answer
// says at its end, that is not seen.
func TestAutocommitOff(t *testing.T) {
	s := newStory()
	one := thread(1)
	const rows = "\x01\x00\x00\x01\x02"
	run := func(text, reply string) {
		s.add(one, trace.Asked, 91, packet("\x03"+text))
		s.add(one, trace.Replied, 91, reply)
	}
	call := func(path string) {
		s.add(one, trace.Called, 50, "POST "+path+" HTTP/1.1\r\nHost: bank\r\n\r\n")
		s.add(one, trace.Replied, 50, "HTTP/1.1 200 OK")
	}
	s.read(one, 10, "/a")
	run("SELECT a FROM t WHERE id = 1 FOR UPDATE", rows)
	call("/on")
	run("set autocommit=0", "\x07\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00")
	run("SELECT 1 FOR UPDATE", rows)
	call("/none")
	run("SELECT a FROM t WHERE id = 1 FOR UPDATE", "\x09\x00\x00\x01\xff\x10\x04")
	call("/failed")
	run("SELECT a FROM t WHERE id = 1 FOR UPDATE", rows)
	call("/off")
	run("COMMIT", "\x07\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00")
	call("/over")
	s.answer(one, 10)
	for _, x := range s.tier.Result().Endpoints[0].External {
		want := uint64(0)
		if x.Path == "/off" {
			want = 1
		}
		if x.Held != want || x.Locked != want {
			t.Errorf("%s: held %d, locked %d, want %d", x.Path, x.Held, x.Locked, want)
		}
	}
}

// TestLonelyCaller: of what Go's net/http sends by a goroutine of the connection's own it is known whose it
// is where one request alone can have sent it: it is in work, and waits for no database.
func TestLonelyCaller(t *testing.T) {
	s := newStory()
	a, b, writer := goroutine(20, 1), goroutine(21, 1), goroutine(30, 20)
	call := func(fd int) {
		s.add(writer, trace.Called, fd, fmt.Sprintf("POST /pay/%d HTTP/1.1\r\nHost: bank\r\n\r\n", fd))
		s.add(goroutine(31, 20), trace.Replied, fd, "HTTP/1.1 200 OK")
	}
	s.read(a, 10, "/a")
	s.begin(a, 91)
	s.add(a, trace.Asked, 91, packet("\x03INSERT INTO t VALUES (1)"))
	call(50) // a waits for its database
	s.add(a, trace.Replied, 91, "\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00")
	call(51) // of a
	s.read(b, 11, "/b")
	call(52) // of either
	s.add(b, trace.Asked, 92, packet("\x03SELECT 1 FROM t"))
	call(53) // of a: b waits
	s.add(b, trace.Replied, 92, "\x01\x00\x00\x01\x02")
	s.end(a, 91)
	s.answer(a, 10)
	call(54) // of b: a has answered
	s.answer(b, 11)
	call(55) // of none that is known
	r := s.tier.Result()
	for _, e := range r.Endpoints {
		calls, locked := uint64(0), uint64(0)
		for _, x := range e.External {
			calls, locked = calls+x.Count, locked+x.Locked
		}
		want := map[string][2]uint64{"/a": {2, 2}, "/b": {1, 0}}[e.Path]
		if calls != want[0] || locked != want[1] {
			t.Errorf("%s: %d calls, %d locked, want %v: %+v", e.Path, calls, locked, want, e.External)
		}
	}
	if r.Counts.Calls != 3 {
		t.Errorf("of %d calls it is not known whose they are, want 3", r.Counts.Calls)
	}
}

// TestPoolWait: a request that runs its statement as soon as another one gives the connection
// back waited for it.
func TestPoolWait(t *testing.T) {
	s := newStory()
	one, two := thread(1), thread(2)
	s.read(one, 10, "/a")
	s.add(one, trace.Asked, 91, packet("\x03SELECT 1"))
	s.read(two, 11, "/b")
	s.at += 20 * time.Millisecond
	s.add(one, trace.Replied, 91, "\x01\x00\x00\x01\x02")
	s.query(two, 91, "b")
	s.answer(two, 11)
	s.answer(one, 10)
	for _, e := range s.tier.Result().Endpoints {
		if want := map[string]time.Duration{"/b": 21 * time.Millisecond}[e.Path]; e.PoolWait != want {
			t.Errorf("%s waited %s, want %s", e.Path, e.PoolWait, want)
		}
	}
}

// TestCutStatement: no value of a statement that is cut stays in its fingerprint.
func TestCutStatement(t *testing.T) {
	s := newStory()
	text := packet("\x03INSERT INTO t VALUES ('secret words that go on and")
	s.add(thread(1), trace.Asked, 91, text, 100_000)
	if r := s.tier.Result(); strings.Contains(r.Classes[0].Fingerprint, "secret") || !r.Classes[0].Cut {
		t.Errorf("%+v", r.Classes)
	}
}

// TestHostile: whatever a program does, what is kept of it stays small.
func TestHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tier := New()
	junk := make([]byte, 8192)
	kinds := []trace.Kind{trace.Read, trace.Answered, trace.Asked, trace.Called, trace.Replied, trace.Greeted,
		trace.LoggedIn, trace.Connected,
		trace.Closed, trace.Foreign, trace.Synced}
	const events = 300_000
	for i := range events {
		e := trace.Event{Kind: kinds[rng.IntN(len(kinds))], At: time.Duration(i), PID: rng.IntN(50),
			TID: rng.IntN(1000), Goid: rng.Uint64N(200_000),
			Parent: rng.Uint64N(200_000), FD: rng.IntN(5000), Took: 1, Bytes: junk[:rng.IntN(300)]}
		e.Total = rng.IntN(1 << 30)
		for k := range min(len(e.Bytes), 40) {
			e.Bytes[k] = byte(rng.IntN(256))
		}
		switch e.Kind {
		case trace.Read:
			e.Bytes = []byte(fmt.Sprintf("GET /%d/%x HTTP/1.1\r\n\r\n", i, rng.Uint64()))
		case trace.Asked:
			e.Bytes = []byte(packet(fmt.Sprintf("\x03SELECT a%x FROM b%x", rng.Uint64(), rng.Uint64())))
		}
		tier.Add(&e)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const most = 80 << 20
	if m.HeapAlloc > most {
		t.Errorf("%d MiB are kept", m.HeapAlloc>>20)
	}
	t.Logf("%d MiB", m.HeapAlloc>>20)
	tier.Result()
}
