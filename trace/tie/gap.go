package tie

// doubt keeps a request from being counted: its statements may be those of others.
func (r *request) doubt() { r.mixed, r.doubted = true, true }

// Gap says whether events are missing of those that are added next. What was in work before the
// gap, in it and at its end is not counted, as a request whose beginning or end was not seen may
// have the statements of another one.
func (t *Tier) Gap(open bool) {
	if !open && !t.gap {
		return
	}
	t.gap = open
	for _, p := range t.processes {
		for _, c := range p.conns {
			for _, r := range c.queue {
				r.doubt()
			}
			t.room.give(preparedBytes * len(c.prepared))
			clear(c.prepared)
			c.answered()
			c.preparing, c.reply, c.call, c.last = c.preparing[:0], c.reply[:0], nil, unprepared
			c.user, c.manual = nil, false
			c.doubted = open
		}
		for _, u := range p.units {
			if u.request != nil && !u.request.done {
				u.request.doubt()
			}
			t.out.Counts.Unresolved += uint64(len(u.waiting))
			u.waiting = u.waiting[:0]
		}
	}
}
