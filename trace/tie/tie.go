package tie

import (
	"hash/maphash"
	"time"

	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
)

// A Tier takes events and ties statements to requests. It is not safe for concurrent use.
type Tier struct {
	// Each, when it is set, is called with each statement when it is decided whose it is (nil:
	// no request's), and with its first comment, which has no part in that: for tests.
	Each func(r *trace.Request, comment string)

	// Members are the members that processes are of: what they answer is not added up.
	Members map[int]string

	processes processes
	units     int
	conns     int
	classes   classes
	out       trace.Result
	paths     map[string]*tally
	choices   choices
	order     []*tally
	syncs     map[syncKey]*trace.Sync
	uncovered map[string]uint64
	mapper    *routes.Mapper
	starts    starts
	gap       bool   // events are missing
	adopted   uint64 // requests that others had read
	room      budget
	forgot    time.Duration // when units were looked for that can be forgotten
	seed      maphash.Seed  // of texts
	beyond    uint64        // units, connections and so on for which there was no room
}

type syncKey struct{ pid, fd int }

// New returns a Tier.
func New() *Tier {
	t := &Tier{
		processes: map[int]*process{}, classes: classes{index: map[string]int{}}, paths: map[string]*tally{},
		choices:   choices{},
		syncs:     map[syncKey]*trace.Sync{},
		uncovered: map[string]uint64{}, starts: starts{}, mapper: routes.Automatic().Mapper(), seed: maphash.MakeSeed(),
	}
	t.classes.room = &t.room
	return t
}

// Add takes an event. Events come in the order of their times.
func (t *Tier) Add(e *trace.Event) {
	switch e.Kind {
	case trace.Started:
		t.starts.take(t, e)
		return
	case trace.Executed:
		t.starts.run(t, e)
		return
	}
	p := t.processes.of(e)
	switch e.Kind {
	case trace.Synced:
		t.sync(e)
		return
	case trace.Replied: // to who has asked
		t.replied(p, e)
		return
	}
	u := t.unit(p, e)
	if u == nil {
		return
	}
	switch e.Kind {
	case trace.Read:
		t.read(p, u, e)
	case trace.Answered:
		t.answer(p, u, e)
	case trace.Asked:
		t.ask(p, u, e)
	case trace.Called:
		t.callOut(p, u, e)
	case trace.Greeted:
		if c := t.conn(p, e.FD); c != nil {
			c.fresh = true
		}
	case trace.LoggedIn:
		t.login(e)
	case trace.Connected, trace.Closed:
		t.drop(p, u, e.FD)
	case trace.Secured:
		t.uncovered["TLS to other processes"]++
	case trace.Foreign:
		p.foreign = true
		t.uncovered[protocol.Name(e.Bytes)]++
	}
	u.last = e.At
}

// processes are the service's, by their numbers.
type processes map[int]*process

// of returns the process that an event is of.
func (m processes) of(e *trace.Event) *process {
	p := m[e.PID]
	if p == nil {
		p = &process{pid: e.PID, conns: map[int]*conn{}, units: map[uint64]*unit{}, lone: map[int]uint64{},
			serving: map[uint32]bool{}, working: map[*request]bool{},
			apart: map[int]bool{}, spanned: spanned{began: e.At}}
		m[e.PID] = p
	}
	p.golang = p.golang || e.Goid != 0
	p.newest, p.last = max(p.newest, e.Goid), e.At
	return p
}

// unit returns who made the call; nil when there are too many.
func (t *Tier) unit(p *process, e *trace.Event) *unit {
	id := e.Goid
	if id == 0 {
		id = uint64(e.TID)
	}
	u := p.units[id]
	if u != nil {
		return u
	}
	full := t.units >= mostUnits || !t.room.take(unitBytes)
	if full && e.At-t.forgot >= forgetEvery {
		t.forgot = e.At
		t.forgetIdle()
		full = t.units >= mostUnits || !t.room.take(unitBytes)
	}
	if full {
		t.beyond++
		return nil
	}
	t.units++
	u = &unit{id: id, parent: e.Parent, start: e.Start, seen: e.At}
	p.units[id] = u
	return u
}

// forgetIdle forgets the goroutines that have no request and nothing that waits for one.
func (t *Tier) forgetIdle() {
	for _, p := range t.processes {
		if !p.golang {
			continue
		}
		for id, u := range p.units {
			if u.request == nil || u.request.done {
				t.outsiders(p, u)
				delete(p.units, id)
				t.units--
				t.room.give(unitBytes)
				if u.serves {
					t.room.give(servingBytes)
				}
			}
		}
	}
}

// conn returns a connection; nil when there are too many.
func (t *Tier) conn(p *process, fd int) *conn {
	c := p.conns[fd]
	if c != nil {
		return c
	}
	if t.conns >= mostConns || !t.room.take(connBytes) {
		t.beyond++
		return nil
	}
	t.conns++
	c = &conn{last: unprepared}
	p.conns[fd] = c
	return c
}

// drop forgets a connection, for its descriptor is another's now. A thread that closes one without an
// answer to what another thread had read worked for that: what it did is not of its next request.
func (t *Tier) drop(p *process, u *unit, fd int) {
	c := p.conns[fd]
	if c == nil {
		return
	}
	if len(c.queue) > 0 && c.queue[0].unit != u && !p.golang {
		t.out.Counts.Unfinished += uint64(len(u.waiting))
		u.waiting = u.waiting[:0]
	}
	for _, r := range c.queue {
		t.end(r)
	}
	c.answered()
	c.transaction(nil, false)
	if p.golang && c.current != nil && c.current.answered { // its goroutine ends
		t.end(c.current)
	}
	delete(p.conns, fd)
	t.conns--
	t.room.give(connBytes + c.held + preparedBytes*len(c.prepared) + cap(c.text))
}

func (t *Tier) sync(e *trace.Event) {
	k := syncKey{e.PID, e.FD}
	s := t.syncs[k]
	if s == nil {
		if len(t.syncs) >= mostConns {
			return
		}
		s = &trace.Sync{PID: e.PID}
		t.syncs[k] = s
	}
	s.Count, s.Time, s.Most = s.Count+1, s.Time+e.Took, max(s.Most, e.Took)
}

// Files calls name for each file that was written to its disk and has no name yet.
func (t *Tier) Files(name func(pid, fd int) string) {
	for k, s := range t.syncs {
		if s.File == "" {
			s.File = name(k.pid, k.fd)
		}
	}
}

func (t *Tier) login(e *trace.Event) {
	encrypted, compressed := protocol.Login(e.Bytes)
	if encrypted {
		t.uncovered["encrypted session of a database"]++
	} else if compressed {
		t.uncovered["compressed session of a database"]++
	}
}

// current returns the request that a unit works for: its own, else that of the goroutine that
// started it.
func (t *Tier) current(p *process, u *unit) *request {
	if u.request != nil {
		return u.request
	}
	if !p.golang {
		return nil
	}
	up := u
	for range mostLevels {
		next := p.units[up.parent]
		if up.parent == 0 || next == nil || next == up {
			return nil
		}
		if r := next.request; r != nil {
			if u.seen < r.began || u.id+older < r.newest { // it was started for something before
				return nil
			}
			u.request = next.request // what it was started for
			return u.request
		}
		up = next
	}
	return nil
}
