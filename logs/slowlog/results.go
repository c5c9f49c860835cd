package slowlog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// Queries returns the classes, the one that took the most time first. They share
// nothing with the table that changes.
func (t *Table) Queries() []kasoku.Query {
	classes := t.Classes()
	out := make([]kasoku.Query, len(classes))
	for i := range classes {
		out[i] = classes[i].Query
	}
	return out
}

// Classes returns the classes in the order of [Table.Queries], with all that is
// known of them.
func (t *Table) Classes() []Class {
	out := make([]Class, 0, len(t.classes))
	for _, c := range t.classes {
		x := c.result(t.opts.KeepRaw)
		if t.opts.Seconds && t.counts.seconds <= mostBySecond {
			x.BySecond = c.bySecond.Clone()
		}
		if t.names != nil {
			x.Attributes = attributesOf(c, t.names.all)
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Tag, b.Tag))
	})
	return out
}

// Overall returns what all classes hold together. It has no fingerprint, and its
// Distinct is that of the texts.
func (t *Table) Overall() Class {
	all := &class{query: kasoku.Query{Latency: histogram.New()}}
	left := room(maxMoments)
	for _, key := range t.order() {
		c := t.classes[key]
		all.merge(c, &left)
		all.mergeAttributes(c)
	}
	out := all.result(false)
	if t.names != nil {
		out.Attributes = attributesOf(all, t.names.all)
	}
	return out
}

// Transactions returns the classes of transactions, the one that took the most
// time first. They are known only by fingerprint.
func (t *Table) Transactions() []kasoku.Transaction { return t.transactions.list() }

// Saves returns the tables with the trail of an ORM's save, the most frequent
// first.
func (t *Table) Saves() []kasoku.SaveShape { return t.saves.shapes() }

// Statements returns how many statements the log holds, administrator commands
// not included: what the server counts as Questions, when it logs them all.
func (t *Table) Statements() uint64 { return t.counts.statements }

// Admin returns how many administrator commands, such as Prepare or Quit, the
// log holds. MariaDB logs none.
func (t *Table) Admin() uint64 { return t.counts.admin }

// Connections returns how many connections the statements came over. It is a
// lower bound when there are more than a million.
func (t *Table) Connections() uint64 { return uint64(len(t.seen.ids)) }

// Outside returns how many entries lie outside of the run's interval and were
// left out.
func (t *Table) Outside() uint64 { return t.counts.outside }

// notes describes what a reader of the table has to know.
func (t *Table) notes() []string {
	var out []string
	add := func(n uint64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	add(t.counts.outside, "%d entries outside the run were left out")
	add(t.counts.own, "%d statements of kasoku itself were left out")
	add(t.counts.folded, "%d calls of rare statements were folded into "+Other)
	add(t.transactions.folded, "%d transactions of rare shapes were left out")
	add(t.counts.unseen, "%d calls are missing in the figures by the second, which are too many")
	if t.seen.crowded {
		out = append(out, fmt.Sprintf("more than %d connections", maxConnections))
	}
	return out
}
