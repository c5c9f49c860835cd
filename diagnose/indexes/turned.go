package indexes

import "strings"

// A turn is another join order: it begins with another table, and the table that is read whole
// today is looked up by the columns of the join instead. A server chooses it as soon as there
// is an index on them.
type turn struct {
	probes float64 // how often the table is looked up then; 0: the join order cannot change
	before float64 // units of reading the table that comes first then
	others float64 // units that the other tables take as it is now
}

// turnJoins finds, for the first table of each join, the other order that is best: it begins
// with the table of the same statement whose conditions leave the fewest rows. An outer join
// fixes the order.
func turnJoins(list []*access) {
	for _, a := range list {
		if !a.first || len(a.joined) == 0 || a.outer || len(list) > maxJoined {
			continue
		}
		best := turn{}
		for _, b := range list {
			r, _ := b.best(b.table.have)
			if b == a {
				continue
			}
			best.others += r.units
			if len(b.equal)+len(b.in)+len(b.ranges) == 0 || len(b.joined) == 0 {
				continue
			}
			alone := *b
			alone.joined, alone.place = nil, place{first: true, probes: 1}
			begins, _ := alone.best(b.table.have)
			if n := max(1, alone.fitting()); best.probes == 0 || n < best.probes {
				best.probes, best.before = n, begins.units
			}
		}
		if best.probes > 0 {
			a.turn = best
		}
	}
}

// findLeads finds the tables with which a join could begin that reads another one whole today: those
// with a condition of their own, for whose rows all others are looked up by an index that they have.
// What is missing then is an index for the condition: as the join is, it would be asked beside one row
// of the table before, which the join finds well enough. An outer join fixes the order, and a subquery
// is no part of it.
func findLeads(list []*access) {
	for _, a := range list {
		if a.step == nil || a.step.Select != "SIMPLE" || a.outer || len(list) > maxJoined ||
			a.first && !isScan(a.step.Access) {
			return
		}
	}
	for _, a := range list {
		if a.first || len(a.joined) == 0 || len(a.equal)+len(a.in) == 0 {
			continue
		}
		var others []*access
		units := 0.0
		for _, o := range list {
			if o == a {
				continue
			}
			if r, by := accessLookedUp(o, 1).best(o.table.have); by == nil || r.equal == 0 || len(o.joined) == 0 {
				others = nil
				break
			}
			now, _ := o.best(o.table.have)
			others, units = append(others, o), units+now.units
		}
		if a.leads = others; len(others) > 0 {
			a.turn.others = units
		}
	}
}

// isScan reports whether a plan reads all rows of a table, or all of an index.
func isScan(way string) bool { return strings.EqualFold(way, "ALL") || strings.EqualFold(way, "index") }

// accessLookedUp is the access as it would be for so many rows of other tables.
func accessLookedUp(a *access, probes float64) *access {
	o := *a
	o.place = place{probes: probes}
	return &o
}

// accessLed is the access as it would be if the join began with it.
func accessLed(a *access) *access {
	o := *a
	o.joined, o.place = nil, place{first: true, probes: 1}
	return &o
}

// leadingBy returns how the statement would read by an index with which the join begins, the other
// tables' lookups included; ok is false where it cannot.
func leadingBy(a *access, ix *index) (r reading, ok bool) {
	if len(a.leads) == 0 {
		return r, false
	}
	alone := accessLed(a)
	if r, ok = alone.by(ix); !ok || r.equal == 0 {
		return r, false
	}
	n := max(1, alone.fitting())
	for _, o := range a.leads {
		x, _ := accessLookedUp(o, n).best(o.table.have)
		r.units, r.rows = r.units+x.units, r.rows+n*max(x.rows, 1)
	}
	r.turned = true
	return r, true
}

// maxJoined bounds the tables of a statement whose joins are turned: with more, what the
// others cost is a guess.
const maxJoined = 4
