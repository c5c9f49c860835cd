package indexes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// When an index is worth it.
const (
	fewRows      = 200                  // of a table that is read in no time
	leastShare   = 0.01                 // of the time of all statements that one must save
	keepShare    = 0.003                // … when it is looked at again, the others being there
	mostOfTable  = 8                    // indexes proposed for one table
	entryWrite   = 5 * time.Microsecond // to write an entry, in memory
	perEntryByte = 5 * time.Nanosecond
)

// A chooser weighs the candidates of one table.
type chooser struct {
	t        *table
	accesses []*access
	weight   []time.Duration // of the statement's time, what the access takes
	now      []reading
	by       []*index
	busy     time.Duration // all statements of the run
	writes   writes
	whole    map[string]reading // all tables of a statement, by its id
}

// writes is how many rows a table gets and how often columns of it change.
type writes struct {
	rows    float64
	updates map[string]float64 // by column
}

func newChooser(t *table, accesses []*access, whole map[string]reading, busy time.Duration, w writes) *chooser {
	c := &chooser{t: t, accesses: accesses, busy: busy, writes: w, whole: whole}
	for _, a := range accesses {
		r, by := a.best(t.have)
		if _, examined := a.perCall(); a.alone() && examined > 0 {
			r.units = min(r.units, callUnits+examined*(1+lookupUnits))
		}
		c.now, c.by = append(c.now, r), append(c.by, by)
		share := 1.0
		if all := whole[a.query.ID].units; all > 0 {
			share = min(1, r.units/all)
		}
		c.weight = append(c.weight, time.Duration(share*float64(a.query.Total-min(a.query.Lock, a.query.Total))))
	}
	return c
}

// saves returns what one access would save of its time with a set of indexes.
func (c *chooser) saves(i int, set []*index) time.Duration {
	r, _ := c.accesses[i].best(set)
	return c.spared(i, c.now[i], r)
}

// spared is the time that one reading takes less than another. One that turns a join spares
// what the other tables take too.
func (c *chooser) spared(i int, before, after reading) time.Duration {
	a := c.accesses[i]
	if !after.turned || before.turned {
		return time.Duration((before.units - after.units) / max(c.now[i].units, 1) * float64(c.weight[i]))
	}
	took := float64(a.query.Total - min(a.query.Lock, a.query.Total))
	return time.Duration((a.whole(before) - a.whole(after)) / max(a.whole(c.now[i]), 1) * took)
}

func (c *chooser) all(set []*index) (sum time.Duration) {
	for i := range c.accesses {
		sum += c.saves(i, set)
	}
	return sum
}

// costs is the time that writes take longer with an index.
func (c *chooser) costs(parts []Part) time.Duration {
	n := c.writes.rows
	most := 0.0
	for _, p := range parts {
		most = max(most, c.writes.updates[p.Column])
	}
	n += 2 * most // an entry goes and another comes
	return time.Duration(n * float64(entryWrite+time.Duration(c.t.keyBytes(parts))*perEntryByte))
}

// choose takes the candidate that saves most, again and again, then drops those that later
// ones made needless. It returns them with what each saves beyond those before it, and the
// best of those that save too little.
func (c *chooser) choose(from []*candidate) (chosen []*candidate, refused []Refused) {
	least := time.Duration(leastShare * float64(c.busy))
	set := slices.Clone(c.t.have)
	have := c.all(set)
	for len(chosen) < mostOfTable {
		var best *candidate
		gain := least
		for _, x := range from {
			g := c.all(append(slices.Clip(set), &x.index)) - have - c.costs(x.parts)
			if g > gain || best != nil && g == gain && len(x.parts) < len(best.parts) {
				best, gain = x, g
			}
		}
		if best == nil {
			break
		}
		chosen = append(chosen, best)
		set = append(set, &best.index)
		have = c.all(set)
	}
	chosen = c.prune(chosen)
	return chosen, c.refused(from, chosen, least)
}

// prune drops the candidates without which the others save nearly as much (keepShare), and
// columns that save next to nothing.
func (c *chooser) prune(chosen []*candidate) []*candidate {
	least := time.Duration(keepShare * float64(c.busy))
	for i := 0; i < len(chosen); {
		without := slices.Delete(slices.Clone(chosen), i, i+1)
		if c.all(c.with(chosen))-c.all(c.with(without)) < least {
			chosen = without
			continue
		}
		c.shorten(chosen, i)
		i++
	}
	return chosen
}

// shorten drops, from the last on, the columns that neither find rows nor give their order and
// whose loss costs next to nothing; of one value, which find nothing in any statement, those
// whose loss costs less than an index must save.
func (c *chooser) shorten(chosen []*candidate, i int) {
	full := c.all(c.with(chosen))
	for k := len(chosen[i].parts) - 1; k >= chosen[i].seek; k-- {
		x := *chosen[i]
		x.parts = slices.Delete(slices.Clone(x.parts), k, k+1)
		with := slices.Clone(chosen)
		with[i] = &x
		least := keepShare / 4
		if c.t.isOneValue(chosen[i].parts[k].Column) {
			least = leastShare
		}
		if full-c.all(c.with(with)) > time.Duration(least*float64(c.busy)) {
			continue
		}
		chosen[i] = &x
	}
}

func (c *chooser) with(chosen []*candidate) []*index {
	set := slices.Clone(c.t.have)
	for _, x := range chosen {
		set = append(set, &x.index)
	}
	return set
}

// refused names the best candidate that was left, and why.
func (c *chooser) refused(from, chosen []*candidate, least time.Duration) []Refused {
	set := c.with(chosen)
	have := c.all(set)
	var best *candidate
	var gain time.Duration
	for _, x := range from {
		if g := c.all(append(slices.Clip(set), &x.index)) - have; g > gain && !slices.Contains(chosen, x) {
			best, gain = x, g
		}
	}
	if best == nil || gain < least/10 {
		return nil
	}
	why := fmt.Sprintf("it would save %s of %s that all statements took", gain.Round(time.Millisecond),
		c.busy.Round(time.Millisecond))
	if w := c.costs(best.parts); w > 0 {
		why += fmt.Sprintf(", writes would take %s more", w.Round(time.Millisecond))
	}
	return []Refused{{Table: c.t.def.Name, Columns: columnsOf(best.parts), Why: why}}
}

func columnsOf(parts []Part) string {
	var out []string
	for _, p := range parts {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// proposals describes the chosen.
func (c *chooser) proposals(chosen []*candidate) []Proposal {
	var out []Proposal
	set := slices.Clone(c.t.have)
	names := map[string]bool{}
	for _, h := range c.t.have {
		names[strings.ToLower(h.name)] = true
	}
	for _, x := range chosen {
		p := Proposal{Host: c.t.def.Host, Schema: c.t.def.Schema, Table: c.t.def.Name, Columns: x.parts, Seek: x.seek,
			WriteCost: c.costs(x.parts)}
		p.Name = nameOf(c.t.def.Name, x, names)
		p.DDL, p.Undo = indexDDL(p.Name, c.t.def.Name, x.parts)
		c.serve(&p, set, x)
		set = append(set, &x.index)
		for _, h := range c.t.have {
			if !h.unique && !h.other && !c.t.foreign(h) && len(h.parts) < len(x.parts) && isPrefix(h.parts, x.parts) {
				p.Replaces = append(p.Replaces, h.name)
			}
		}
		out = append(out, p)
	}
	return out
}

// serve fills in which statements a proposal makes shorter, and why they are long.
func (c *chooser) serve(p *Proposal, set []*index, x *candidate) {
	why := map[string]time.Duration{}
	for i, a := range c.accesses {
		before, _ := a.best(set)
		after, by := a.best(append(slices.Clip(set), &x.index))
		saved := c.spared(i, before, after)
		examined, left := c.rowsWith(i, after)
		if by == &x.index && examined > 0 && left > examined {
			continue // the model is wrong about what it reads today
		}
		p.Saved += saved
		if by != &x.index || saved <= 0 || after.seek == 0 && 2*saved < a.query.Total {
			continue // or the index only holds what it reads, and most of its time goes elsewhere
		}
		p.Serves = append(p.Serves, Served{QueryID: a.query.ID, Before: examined, After: left, Saved: saved,
			Ordered: after.ordered && a.sorted, Covered: after.covered,
			Skips: a.skips && after.ordered, Skipped: a.skip, Derived: a.uncounted > 0})
		why[c.why(i, a, after, x)] += saved
	}
	slices.SortStableFunc(p.Serves, func(a, b Served) int {
		return cmp.Or(cmp.Compare(b.Saved, a.Saved), strings.Compare(a.QueryID, b.QueryID))
	})
	for _, w := range []string{MixedOrder, WrongOrder, Composite, Equality, General} {
		if p.Why == "" || why[w] > why[p.Why] {
			p.Why = w
		}
	}
}

// rowsWith returns how many rows a statement examines, and how many when it reads the table in another
// way: what it examines of its other tables stays, unless the join is turned, and is not counted where
// the table is read apart from them.
func (c *chooser) rowsWith(i int, after reading) (examined, left float64) {
	a := c.accesses[i]
	_, examined = a.perCall()
	left = after.rows * after.times
	now, all := c.now[i].rows*c.now[i].times, c.whole[a.query.ID].rows
	if a.alone() || after.turned || now <= 0 || all <= 0 {
		return examined, left
	}
	part := min(1, now/all)
	switch {
	case a.uncounted > 0:
		return a.uncounted, min(left, a.uncounted)
	case a.apart:
		return examined * part, examined * part * min(1, left/now)
	}
	return examined, examined * (1 - part + part*min(1, left/now))
}

// why says for one statement why it is long without the candidate.
func (c *chooser) why(i int, a *access, after reading, x *candidate) string {
	now, by := c.now[i], c.by[i]
	mixed := slices.ContainsFunc(x.parts[:x.seek], func(p Part) bool { return p.Desc })
	switch {
	case after.turned && after.equal > 0 && !c.t.has(x.parts[:1]):
		return Equality
	case after.ordered && mixed:
		return MixedOrder
	case a.refuses && after.ordered && after.equal > 0 && c.t.beginsWithEqual(a, a.foundBy) == after.equal:
		return WrongOrder
	case by != nil && now.equal > 0 && after.ordered && !now.ordered && after.equal == now.equal &&
		len(by.parts) > now.equal:
		return WrongOrder
	case by != nil && now.equal > 0 && after.equal > now.equal:
		return Composite
	case after.equal > 0 && now.equal == 0 && !c.t.has(x.parts[:1]):
		return Equality
	}
	return General
}

// beginsWithEqual returns with how many columns that a statement compares for equality an index
// of the table begins.
func (t *table) beginsWithEqual(a *access, name string) (n int) {
	for _, h := range t.have {
		if h.name != name {
			continue
		}
		for n < len(h.parts) && containsName(a.equal, h.parts[n].Column) {
			n++
		}
	}
	return n
}

// nameOf makes a name of the columns that seek, and none that is there.
func nameOf(table string, x *candidate, taken map[string]bool) string {
	words := []string{table}
	for _, p := range x.parts[:min(x.seek, len(x.parts))] {
		words = append(words, p.Column)
	}
	base := strings.ToValidUTF8(cutBytes(strings.Join(words, "_"), 60), "")
	name := base
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

func cutBytes(s string, n int) string { return s[:min(len(s), n)] }
