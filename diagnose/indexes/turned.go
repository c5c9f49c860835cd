package indexes

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

// maxJoined bounds the tables of a statement whose joins are turned: with more, what the
// others cost is a guess.
const maxJoined = 4
