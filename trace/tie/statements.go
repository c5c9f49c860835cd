package tie

import (
	"bytes"
	"slices"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
)

const (
	mostFingerprint = 2000
	mostSample      = 8 << 10
	// recent is how long ago at most a connection became free for who uses it next to have
	// waited for it, and least is what counts as waiting.
	recent = 2 * time.Millisecond
	least  = time.Millisecond
)

// ask takes what a client sends to a database.
func (t *Tier) ask(p *process, u *unit, e *trace.Event) {
	c := t.conn(p, e.FD)
	if c == nil {
		return
	}
	u.asks, c.database, c.asker = true, true, u
	p.overlap(u, c)
	if len(c.preparing) > 0 && !protocol.ExecutesLast(e.Bytes) {
		c.doubted, c.preparing = true, c.preparing[:0]
	}
	protocol.Commands(e.Bytes, func(m protocol.Command) {
		m.Cut = m.Cut || len(e.Bytes) < e.Total
		switch m.Code {
		case protocol.Query:
			text := protocol.QueryText(m.Text)
			if c.fresh && isSetup(text) {
				t.out.Counts.Setup++
				return
			}
			c.fresh = false
			class := 0
			if text == nil {
				class = t.classes.named("(a statement with attributes)")
			} else {
				class = t.classes.of(text, m.Cut)
			}
			t.run(p, u, c, statement{class: class, text: textOf(t.seed, text, m.Cut), at: e.At, unit: u,
				tag: tagOf(t.Each, text)})
			c.hold(&t.room, text, m.Cut)
		case protocol.Prepare:
			t.out.Counts.Prepares++
			c.answered() // the one before, perhaps together with its preparation
			c.last = prepared{t.classes.of(m.Text, m.Cut), tagOf(t.Each, m.Text), textOf(t.seed, m.Text, m.Cut),
				len(sqlshape.Parameters(m.Text))}
			t.classes.mark(c.last.class, m.Text, m.Cut)
			if !c.doubted && len(c.preparing) < mostQueued {
				c.preparing = append(c.preparing, c.last)
			}
			c.reply = c.reply[:0]
		case protocol.Execute, protocol.BulkExecute:
			x, known := c.prepared[m.Statement]
			switch {
			case m.Statement == protocol.LastPrepared && c.last != unprepared:
				x = c.last
			case !known:
				x.class = t.classes.named("(prepared before the trace began)")
			}
			c.fresh = false
			t.run(p, u, c, statement{class: x.class, text: textOfExecution(t.seed, x, m), at: e.At, unit: u,
				tag: x.tag})
			c.hold(&t.room, t.classes.filled(x.class, m), m.Cut)
		case protocol.Ping:
			c.answered()
		case protocol.CloseStmt:
			if _, known := c.prepared[m.Statement]; known {
				delete(c.prepared, m.Statement)
				t.room.give(preparedBytes)
			}
		}
	})
}

// isSetup reports whether a statement is one with which drivers begin.
func isSetup(text []byte) bool {
	verb := bytes.ToUpper(text[:min(len(text), 9)])
	return bytes.HasPrefix(verb, []byte("SET ")) || bytes.HasPrefix(verb, []byte("SELECT @@"))
}

// run takes a statement that is run on a connection.
func (t *Tier) run(p *process, u *unit, c *conn, s statement) {
	t.out.Counts.Statements++
	t.classes.list[s.class].Count++
	r := t.current(p, u)
	s.owed = r != nil && (r.mixed || !r.answered)
	switch {
	case r != nil && r.mixed:
		t.out.Counts.Unresolved++
		p.loop = p.loop || !p.golang && !r.doubted
		if u.open == 0 {
			p.apart[s.class] = true
		}
		r = nil
	case r != nil && (p.golang || !r.answered):
		r.waitedFor(u, c, s.at)
		if c.begun == r && c.freed > r.began {
			r.idle += s.at - c.freed
		}
		t.attach(r, &s)
	default:
		r = nil
		if len(u.waiting) >= min(mostOrphans, max(mostWaiting/t.units, fewOrphans)) {
			t.outsiders(p, u)
		}
		u.waiting = append(u.waiting, s)
	}
	c.answered()
	if c.user = r; r != nil {
		r.asking++
	}
	s.request = r
	u.asking++
	if s.owed {
		u.owed++
	}
	c.asked = &s
}

// answered ends the wait for the answer of the last statement.
func (c *conn) answered() {
	if c.asked != nil {
		c.asked.unit.asking--
		if c.asked.owed {
			c.asked.unit.owed--
		}
		if c.asked.request != nil {
			c.asked.request.asking--
		}
	}
	c.asked = nil
}

// waitedFor counts the time for which a request waited for a connection that another one
// used until just now.
func (r *request) waitedFor(u *unit, c *conn, at time.Duration) {
	if c.user == nil || c.user == r || u.last < r.began || c.freed <= u.last || at-c.freed > recent {
		return
	}
	if wait := c.freed - u.last; wait >= least && !r.process.hadFree(c) {
		r.waited += wait
		r.waits++
	}
}

// hadFree reports whether another connection to a database was free for some time when that one became
// so: who used that one next had no need to wait for it.
func (p *process) hadFree(c *conn) bool {
	for _, x := range p.conns {
		waits := x.asked != nil && x.asked.counted == 0 || len(x.preparing) > 0
		if x != c && x.database && !waits && x.begun == nil && x.freed > 0 && c.freed-x.freed >= least {
			return true
		}
	}
	return false
}

// attach gives a statement to a request.
func (t *Tier) attach(r *request, s *statement) {
	s.request = r
	if r.done { // of a goroutine that outlives it, and may work for others
		t.out.Counts.Unresolved++
		return
	}
	r.count++
	t.classes.served[s.class] = true
	if r.answered && s.at > r.began+r.took {
		r.after++
	}
	if k := r.use(s.class, &t.room); k != nil {
		k.count++
		r.cost += k.add(s.text, &t.room)
	}
	if t.Each != nil {
		r.tags = append(r.tags, *s)
	}
}

// use returns the class's counts in the request; nil when there are too many.
func (r *request) use(class int, room *budget) *used {
	i := slices.IndexFunc(r.classes, func(k used) bool { return k.class == class })
	if i < 0 {
		if len(r.classes) >= mostOfRequest || !room.take(usedBytes) {
			return nil
		}
		r.cost += usedBytes
		i = len(r.classes)
		r.classes = append(r.classes, used{class: class})
	}
	return &r.classes[i]
}

// overlap notes that a thread does something while statements of it are not answered, on connections other
// than one. When they are answered later, it has not waited for them: it is an event loop.
func (p *process) overlap(u *unit, other *conn) {
	if u.asking == 0 || p.golang || p.loop {
		return
	}
	for _, c := range p.conns {
		if c != other && c.asked != nil && c.asked.unit == u && c.asked.counted == 0 {
			c.asked.overlapped = true
		}
	}
}

// replied takes what came of an answer.
func (t *Tier) replied(p *process, e *trace.Event) {
	c := p.conns[e.FD]
	if c == nil {
		return
	}
	c.freed = e.At
	if c.asker != nil {
		c.asker.last = e.At
	}
	if c.call != nil {
		c.call.took = e.Took
		c.call = nil
		return
	}
	if len(c.preparing) > 0 {
		c.reply = append(c.reply, e.Bytes[:min(len(e.Bytes), 64)]...)
		reply, whole := protocol.ReadReply(c.reply, true)
		if !whole {
			return
		}
		if reply.OK && len(c.prepared) < mostPrepared {
			c.keep(t, reply.Statement, c.preparing[0])
		}
		c.preparing = c.preparing[1:]
		c.reply = c.reply[:0]
		if s := c.asked; s != nil { // its answer may have come with that
			s.counted = e.Took
			s.took(t, s.counted)
		}
		return
	}
	if c.asked == nil {
		return
	}
	s := c.asked
	c.answered()
	if s.overlapped {
		p.loop = true
		if r := s.unit.request; r != nil && !r.answered {
			r.mixed = true
		}
	}
	s.took(t, e.Took-s.counted)
	t.classes.keep(s.class, e.Took, c.text)
	switch reply, ok := protocol.ReadReply(e.Bytes, false); {
	case ok && reply.Known:
		c.manual = reply.Manual
		c.transaction(s.request, reply.InTransaction)
	case ok && c.manual && !reply.Failed && t.classes.readsLocked(s.class): // rows, at whose end it is said
		c.transaction(s.request, true)
	}
	if r := s.request; r != nil && c.begun == r && t.classes.locks[s.class] {
		r.locks = s.class
		if !c.locked {
			c.locked = true
			r.locked++
		}
	}
}

// took adds time to a statement.
func (s *statement) took(t *Tier, time time.Duration) {
	t.classes.list[s.class].Time += time
	if r := s.request; r != nil && !r.done {
		r.database += time
		if k := r.use(s.class, &t.room); k != nil {
			k.time += time
		}
	}
}

// keep keeps a statement by its number, where there is room.
func (c *conn) keep(t *Tier, number uint32, x prepared) {
	if _, known := c.prepared[number]; !known {
		if !t.room.take(preparedBytes) {
			t.beyond++
			return
		}
	}
	if c.prepared == nil {
		c.prepared = map[uint32]prepared{}
	}
	c.prepared[number] = x
}

// transaction keeps whose transaction is open on a connection.
func (c *conn) transaction(r *request, open bool) {
	switch {
	case open && c.begun == nil && r != nil:
		c.begun = r
		r.open++
	case !open && c.begun != nil:
		c.begun.open--
		if c.locked {
			c.begun.locked--
		}
		c.begun, c.locked = nil, false
	}
}

// callOut takes a request to another service.
func (t *Tier) callOut(p *process, u *unit, e *trace.Event) {
	c := t.conn(p, e.FD)
	if c != nil {
		c.asker = u
	}
	r := t.current(p, u)
	if p.golang && (r == nil || r.unit != u) { // Go's net/http sends from a goroutine of the connection's own
		if r = p.lonely(); r == nil {
			t.out.Counts.Calls++
			return
		}
	}
	if c == nil || r == nil || r.mixed || r.done || len(r.calls) >= mostOfRequest {
		return
	}
	head, ok := protocol.ReadHead(e.Bytes)
	if !ok {
		return
	}
	route, _ := t.mapper.Append(nil, []byte(head.Method), []byte(head.Path))
	head.Path = string(route) // without what the query chooses: no log says whether the other service does
	k := &call{Request: head, at: e.At, held: r.open > 0, locked: r.locked > 0, locks: r.locks}
	r.calls = append(r.calls, k)
	c.call = k
}

// lonely returns the request of a process that alone can have sent something just now: the only one that
// is in work and waits for no answer of a database; nil when there are several, or too many to look at.
func (p *process) lonely() (lone *request) {
	if len(p.working) > mostQueued {
		return nil
	}
	for r := range p.working {
		switch {
		case r.mixed || r.done || r.asking > 0:
		case lone != nil:
			return nil
		default:
			lone = r
		}
	}
	return lone
}

// tagOf returns the first comment of a statement, for tests.
func tagOf(each func(*trace.Request, string), text []byte) string {
	if each == nil {
		return ""
	}
	_, after, _ := bytes.Cut(text, []byte("/*"))
	tag, _, _ := bytes.Cut(after, []byte("*/"))
	return string(tag)
}
