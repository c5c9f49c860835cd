package tie

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
)

// read takes what a client sent.
func (t *Tier) read(p *process, u *unit, e *trace.Event) {
	c := t.conn(p, e.FD)
	if c == nil {
		return
	}
	if c.requests == nil {
		c.requests = protocol.NewRequests(e.Bytes)
	}
	begin := func(r trace.Request) {
		cost := requestBytes + len(r.Method) + len(r.Path) + len(r.Choice) + len(r.Host)
		if len(c.queue) >= mostQueued || !t.room.take(cost) {
			t.beyond++
			c.refused = true
			return
		}
		x := &request{Request: r, process: p, reader: u, conn: c, began: e.At, cost: cost}
		if n := len(c.queue); t.gap || c.refused || n > 0 && c.queue[n-1].began < e.At {
			// An answer was not seen, or the client did not wait for it.
			x.doubt()
			for _, q := range c.queue {
				q.doubt()
			}
		}
		c.queue = append(c.queue, x)
		if len(c.queue) == 1 {
			t.start(c.queue[0])
		}
	}
	c.requests.Feed(e.Bytes, e.Total, begin)
	if !t.room.hold(c) {
		t.beyond++
	}
}

// start lets the unit that read a request work for it.
func (t *Tier) start(r *request) {
	u, p := r.reader, r.process
	r.newest = p.newest
	r.unit, r.conn.current = u, r
	before := u.request
	if !u.serves {
		u.serves = true
		t.room.used += servingBytes // there was room for the unit
	}
	if p.golang && len(p.serving) < mostQueued {
		p.serving[u.start] = true
	}
	switch {
	case before == nil: // it works for requests: what it did was for one that had begun before all did
		t.out.Counts.Before += uint64(len(u.waiting))
		u.waiting, u.started = u.waiting[:0], u.started[:0]
	case before.answered:
		t.late(u, before)
		t.end(before)
	}
	p.overlap(u, nil)
	r.mixed = r.mixed || p.loop && u.owed > 0 // with one that was given up
	if u.open > 0 {                           // an event loop
		r.mixed = true
		if before != nil && !before.answered {
			before.mix()
		}
	}
	u.open++
	u.request = r
	p.working[r] = true
}

// mix takes back what was tied to a request before another one came to the same unit.
func (r *request) mix() {
	r.mixed = true
	if r.unit.asks {
		r.process.loop = true
	}
}

// late gives a request what its thread did after the answer, where that works for one request at a time.
func (t *Tier) late(u *unit, r *request) {
	p := r.process
	for i := range u.waiting {
		p.apart[u.waiting[i].class] = true
		if p.loop {
			t.out.Counts.Unresolved++
			continue
		}
		t.attach(r, &u.waiting[i])
	}
	u.waiting = u.waiting[:0]
	u.takeStarted(r, nil)
}

// outsiders counts what a unit did that has had no request. A thread that was given one before all began looks
// the same until it answers it: twice as long after that as requests take, what they run too is not known to be of
// none.
func (t *Tier) outsiders(p *process, u *unit) {
	if len(u.waiting) > 0 && p.golang {
		t.origins(p, u)
	}
	for i := range u.waiting {
		w := &u.waiting[i]
		if !p.golang && t.classes.served[w.class] && w.at-p.began <= 2*p.longest {
			t.out.Counts.Unresolved++
			continue
		}
		t.orphan(p, w)
	}
	u.waiting = u.waiting[:0]
}

// origins takes out of what a goroutine did what may be of a request: of one that had begun
// before all did, or of one that cannot be known, as the goroutine that started it was not seen.
// Goroutines without a request come from the program's first one.
func (t *Tier) origins(p *process, u *unit) {
	const first = 1
	if p.serves(u) {
		t.out.Counts.Before += uint64(len(u.waiting))
		u.waiting = u.waiting[:0]
		return
	}
	up := u
	for range mostLevels {
		if up.parent <= first {
			return
		}
		next := p.units[up.parent]
		if next == nil || next.request != nil { // which it may have been started for, or not
			t.out.Counts.Unresolved += uint64(len(u.waiting))
			u.waiting = u.waiting[:0]
			return
		}
		if p.serves(next) {
			t.out.Counts.Before += uint64(len(u.waiting))
			u.waiting = u.waiting[:0]
			return
		}
		if next.before > 0 {
			keep := u.waiting[:0]
			for _, w := range u.waiting {
				if w.at > next.before {
					keep = append(keep, w)
				}
			}
			t.out.Counts.Before += uint64(len(u.waiting) - len(keep))
			u.waiting = keep
		}
		up = next
	}
}

// serves reports whether a goroutine without a request is of those that have one: one that had
// begun before all did, or was read together with one before, as of a pipeline.
func (p *process) serves(u *unit) bool {
	return u.request == nil && u.start != 0 && p.serving[u.start]
}

// orphan counts a statement of no request.
func (t *Tier) orphan(p *process, s *statement) {
	if _, known := p.lone[s.class]; !known && !t.room.take(loneBytes) {
		t.beyond++
		t.out.Counts.Unresolved++
		return
	}
	p.lone[s.class]++
	if t.Each != nil {
		p.tags = append(p.tags, s.tag)
	}
}

// interim reports whether an answer comes before the one that counts.
func interim(b []byte) bool {
	const early = "HTTP/1.1 10"
	return bytes.HasPrefix(b, []byte(early)) && !bytes.HasPrefix(b, []byte(early+"1"))
}

// answer takes the beginning of an answer.
func (t *Tier) answer(p *process, u *unit, e *trace.Event) {
	if interim(e.Bytes) {
		return
	}
	c := p.conns[e.FD]
	if c == nil || len(c.queue) == 0 {
		t.unseen(p, u, c, e.At)
		return
	}
	r := c.queue[0]
	r.answered, r.took = true, e.At-r.began
	p.longest = max(p.longest, r.took)
	delete(p.working, r)
	switch {
	case u == r.unit || p.golang:
		r.unit.open = max(r.unit.open-1, 0)
	default:
		t.adopt(u, r)
	}
	u.freed = e.At
	if r.mixed {
		t.end(r)
	}
	c.queue = c.queue[1:]
	if len(c.queue) > 0 {
		c.queue[0].began = e.At
		t.start(c.queue[0])
	}
}

// unseen takes the answer to a request whose reading was not seen, as it was before all began or is
// lost: what the unit did since it answered the one before is of neither for sure.
func (t *Tier) unseen(p *process, u *unit, c *conn, at time.Duration) {
	u.unseen = at
	switch {
	case u.request == nil:
		u.before = at
	case c != nil && c.answersInParts(): // more of an answer
		return
	case p.golang && c == nil:
		return
	case p.golang || !u.request.answered:
		u.request.doubt()
	default: // it had read one itself meanwhile
		p.hands = true
	}
	t.out.Counts.Before += uint64(len(u.waiting))
	u.waiting = u.waiting[:0]
}

// adopt gives a request to the thread that answers it, with what that did since it
// answered the one before.
func (t *Tier) adopt(u *unit, r *request) {
	reader := r.unit
	reader.open = max(reader.open-1, 0)
	if reader.request == r {
		reader.request = nil
	}
	r.adopted, r.mixed, r.unit, r.process.hands = true, r.doubted, u, true
	for i := range u.waiting {
		w := &u.waiting[i]
		switch {
		case w.at >= r.began:
			t.attach(r, w)
		case u.request != nil && u.request.answered:
			t.attach(u.request, w)
		default: // it works for requests, of which one had begun before all did
			t.out.Counts.Before++
		}
	}
	u.waiting = u.waiting[:0]
	u.takeStarted(r, u.request)
	if u.request != nil && u.request.answered {
		t.end(u.request)
		u.request = nil
	}
	t.end(r)
}

// end counts a request that is over.
func (t *Tier) end(r *request) {
	if r.done {
		return
	}
	r.done = true
	delete(r.process.working, r)
	if !r.answered && r.unit != nil {
		r.unit.open = max(r.unit.open-1, 0)
	}
	switch {
	case r.mixed:
		t.out.Counts.Mixed++
		t.out.Counts.Unresolved += r.count
	case r.adopted:
		r.process.adopted = append(r.process.adopted, r)
		t.adopted++
		return
	case !r.process.golang && !r.process.settled && r.began < r.process.began+earlyFor:
		r.process.early = append(r.process.early, r)
		return
	default:
		t.tally(r)
	}
	t.room.give(r.cost)
	r.classes, r.calls, r.started, r.tags, r.Request, r.cost = nil, nil, nil, nil, trace.Request{}, 0
}

// tally adds a request to its endpoint.
func (t *Tier) tally(r *request) {
	counts := &t.out.Counts
	r.say(t.Each)
	if !r.answered {
		counts.Unanswered++
		counts.Unfinished += r.count
		return
	}
	x := t.endpoint(r)
	if x == nil {
		counts.Beyond++
		counts.Unresolved += r.count
		return
	}
	counts.Requests++
	counts.Tied += r.count
	counts.After += r.after
	r.process.tied += r.count
	x.Requests++
	x.Time += r.took
	x.Database += r.database
	x.PoolWait += r.waited
	x.Idle += r.idle
	x.Waits += r.waits
	for _, k := range r.classes {
		if !x.add(k, &t.room) {
			t.beyond++
			counts.Tied -= k.count
			counts.Unresolved += k.count
		}
	}
	for _, k := range r.calls {
		x.addCall(k, &t.room)
	}
	x.addPrograms(r.started, &t.room)
}

// endpoint returns the tally of a request's member, method and path; nil when there are too many.
// Beyond many paths those are one that differ in what looks like a value.
func (t *Tier) endpoint(r *request) *tally {
	member, path := t.Members[r.process.pid], r.Path
	if r.Choice != "" {
		path = t.choices.path(r.Path, r.Choice)
	}
	key := member + " " + r.Method + " " + path
	if x := t.paths[key]; x != nil {
		return x
	}
	if len(t.order) >= mostPaths/4 {
		route, _ := t.mapper.Append(nil, []byte(r.Method), []byte(path))
		key = member + " " + r.Method + "  " + string(route)
		if x := t.paths[key]; x != nil {
			return x
		}
	}
	if len(t.order) >= mostPaths || !t.room.take(tallyBytes+2*len(key)) {
		return nil
	}
	x := &tally{Endpoint: trace.Endpoint{Member: member, Method: r.Method, Path: path}, calls: map[int]*trace.Calls{},
		index: map[string]int{}}
	t.paths[key] = x
	t.order = append(t.order, x)
	return x
}

// choices are the paths that were met with what their queries choose: the first ones, since what is
// frequent comes early.
type choices map[string]bool

// path returns a path with what its query chooses, where there is room to have it apart.
func (m choices) path(path, choice string) string {
	with := path + "?" + choice
	switch {
	case m[with]:
	case len(m) >= mostChoices:
		return path
	default:
		m[with] = true
	}
	return with
}

// add adds the statements of a class; false where there is no room.
func (x *tally) add(k used, room *budget) bool {
	c := x.calls[k.class]
	if c == nil {
		if !room.take(callsBytes) {
			return false
		}
		c = &trace.Calls{Class: k.class, Least: k.count}
		x.calls[k.class] = c
	}
	c.With++
	c.Count += k.count
	c.Least, c.Most = min(c.Least, k.count), max(c.Most, k.count)
	c.Time += k.time
	c.Known, c.Different = c.Known+k.known, c.Different+uint64(len(k.texts))
	return true
}

func (x *tally) addCall(k *call, room *budget) {
	key := k.Host + " " + k.Method + " " + k.Path
	i, known := x.index[key]
	if !known {
		if len(x.External) >= mostExternals || !room.take(externalBytes) {
			return
		}
		i = len(x.External)
		x.index[key] = i
		x.External = append(x.External, trace.External{Host: k.Host, Method: k.Method, Path: k.Path})
	}
	e := &x.External[i]
	e.Count++
	e.Time += k.took
	if k.held {
		e.Held++
		e.HeldTime += k.took
	}
	if k.locked {
		e.Locked++
		e.LockedTime += k.took
		e.Locks = k.locks
	}
}
