package slowlog

// maxConns bounds the connections whose statements are followed: twice as many are
// remembered, those that were quiet the longest are forgotten first.
const maxConns = 1 << 13

// leastStreak is how many calls in a row are a streak.
const leastStreak = 10

// conns holds what is known of the connections, by id. Those that are used move
// from the old half to the new one; when that is full the old half is forgotten.
type conns struct {
	old, new map[uint64]*conn
	near     [256]*conn // the last one used, by the low bits of the id
}

// A conn is a connection of clients.
type conn struct {
	id    uint64
	class *class // of the last statement
	run   uint64 // statements of that class in a row
	txn   open

	user, host, schema []byte // as the general log gave them
}

func newConns() conns { return conns{new: map[uint64]*conn{}} }

// get returns the connection with that id.
func (cs *conns) get(id uint64) *conn {
	near := &cs.near[id&255]
	if c := *near; c != nil && c.id == id {
		return c
	}
	c := cs.new[id]
	if c == nil {
		if c = cs.old[id]; c == nil {
			c = &conn{id: id}
		}
		if len(cs.new) >= maxConns {
			cs.old, cs.new = cs.new, map[uint64]*conn{}
			clear(cs.near[:])
		}
		cs.new[id] = c
	}
	*near = c
	return c
}

// remove forgets a connection that was closed.
func (cs *conns) remove(id uint64) {
	delete(cs.old, id)
	delete(cs.new, id)
	if near := &cs.near[id&255]; *near != nil && (*near).id == id {
		*near = nil
	}
}

// count follows the calls in a row.
func (c *conn) count(to *class, single bool) {
	if to.rows && !single { // several rows at once are what a streak should be
		c.class, c.run = nil, 0
		return
	}
	if c.class != to {
		c.class, c.run = to, 0
	}
	c.run++
	q := &to.query
	q.Streak = max(q.Streak, c.run)
	switch {
	case c.run == leastStreak:
		q.Streaks += leastStreak
	case c.run > leastStreak:
		q.Streaks++
	}
}
