package tie

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kasoku/kasoku/trace"
)

// Seen returns how many statements there were so far, and those or the requests, whichever are more.
func (t *Tier) Seen() (statements, most uint64) {
	return t.out.Counts.Statements, max(t.out.Counts.Statements, t.out.Counts.Requests+t.adopted)
}

// Result ends the tying and returns what came of it.
func (t *Tier) Result() *trace.Result {
	for _, pid := range slices.Sorted(maps.Keys(t.processes)) {
		t.settle(t.processes[pid])
	}
	apart := t.processes.apart(t.Members)
	for _, x := range t.order {
		for _, class := range slices.Sorted(maps.Keys(x.calls)) {
			c := *x.calls[class]
			if apart[x.Member][class] {
				x.Database -= c.Time
				t.out.Counts.Tied -= c.Count
				t.out.Counts.Unresolved += c.Count
				continue
			}
			c.Requests = x.Requests
			if c.With < c.Requests {
				c.Least = 0
			}
			x.Calls = append(x.Calls, c)
		}
		t.out.Endpoints = append(t.out.Endpoints, x.Endpoint)
	}
	for _, s := range t.syncs {
		t.out.Syncs = append(t.out.Syncs, *s)
	}
	slices.SortFunc(t.out.Syncs, func(a, b trace.Sync) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.PID, b.PID), cmp.Compare(a.File, b.File))
	})
	if t.beyond > 0 {
		t.uncovered["goroutines and connections beyond those that are kept"] = t.beyond
	}
	for _, what := range slices.Sorted(maps.Keys(t.uncovered)) {
		t.out.Uncovered = append(t.out.Uncovered, trace.Uncovered{What: what, Count: t.uncovered[what]})
	}
	t.out.Classes = t.classes.list
	return &t.out
}

// settle decides what of a process is open still.
func (t *Tier) settle(p *process) {
	counts := &t.out.Counts
	p.settled = true
	for _, r := range p.early {
		if p.loop && r.began <= r.unit.unseen {
			counts.Mixed++
			counts.Unresolved += r.count
			continue
		}
		t.tally(r)
	}
	for _, c := range p.conns {
		for i, r := range c.queue {
			if i > 0 || r.done {
				continue // one that waits in a queue has done nothing
			}
			r.done = true
			p.longest = max(p.longest, p.last-r.began) // at least
			counts.Unfinished += r.count
			if !r.mixed {
				r.say(t.Each)
			}
		}
	}
	for _, u := range p.units {
		switch r := u.request; {
		case r != nil && r.answered:
			if p.hands { // what it did last may be for one that another thread has read
				counts.Unfinished += uint64(len(u.waiting))
				u.waiting = u.waiting[:0]
			}
			t.late(u, r)
			t.end(r)
		default:
			t.outsiders(p, u)
		}
	}
	for _, r := range p.adopted {
		if p.loop {
			counts.Mixed++
			counts.Unresolved += r.count
			continue
		}
		t.tally(r)
	}
	certain := !p.loop && p.tied > 0 && !p.foreign
	for class, n := range p.lone {
		if !certain { // threads, say, that work for requests which others read and answer
			counts.Unresolved += n
			continue
		}
		counts.Outside += n
		t.classes.list[class].Outside += n
	}
	for _, s := range p.said {
		if !p.loop || !p.apart[s.class] {
			t.Each(s.of, s.tag)
		}
	}
	if certain && t.Each != nil {
		for _, tag := range p.tags {
			t.Each(nil, tag)
		}
	}
}

// apart returns, by member, the classes that its event loops run for no request too.
func (m processes) apart(members map[int]string) map[string]map[int]bool {
	out := map[string]map[int]bool{}
	for pid, p := range m {
		if !p.loop {
			continue
		}
		member := members[pid]
		if out[member] == nil {
			out[member] = map[int]bool{}
		}
		maps.Copy(out[member], p.apart)
	}
	return out
}

// A saying is a statement of a request, for tests.
type saying struct {
	of    *trace.Request
	class int
	tag   string
}

// say reports to tests which statements are a request's: at once where nothing that is seen later can be
// against it.
func (r *request) say(each func(*trace.Request, string)) {
	if each == nil {
		return
	}
	of := r.Request
	for _, s := range r.tags {
		if r.process.golang {
			each(&of, s.tag)
			continue
		}
		r.process.said = append(r.process.said, saying{&of, s.class, s.tag})
	}
}
