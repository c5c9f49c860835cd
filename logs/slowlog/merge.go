package slowlog

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/logs/lines"
)

// CollectEach reads logs that are no parts of one another, such as those of several servers or
// days, into a table, and describes what it read of each. Connections, transactions and what an
// entry inherits from the one before end with a log. It is what [Table.Merge] of the tables of each
// log gives, so that it does not matter who read which of them. Its arguments and errors are those
// of [CollectAll].
func CollectEach(
	ctx context.Context, in []lines.Input, o Options, progress func(done, total int64),
) (*Table, []kasoku.LogWindow, error) {
	total := NewTable(o)
	var windows []kasoku.LogWindow
	sizes := lines.StoredBytes(in)
	var before int64
	for i := range in {
		t, w, err := CollectOne(ctx, in[i], i, o, func(done, _ int64) {
			if progress != nil {
				progress(before+done, sizes)
			}
		})
		total.Merge(t)
		windows = append(windows, w...)
		if err != nil {
			return total, total.Noted(windows), err
		}
		before += lines.StoredBytes(in[i : i+1])
	}
	return total, total.Noted(windows), nil
}

// CollectOne reads a log, which is the one of that number, for [Table.Merge].
func CollectOne(
	ctx context.Context, in lines.Input, number int, o Options, progress func(done, total int64),
) (*Table, []kasoku.LogWindow, error) {
	p := newPipeline([]lines.Input{in}, NewTable(o))
	err := p.run(ctx, lines.SplitOptions{Progress: progress})
	for _, c := range p.table.classes {
		c.worst.Input = number
	}
	return p.table, p.described(), err
}

// Merge adds the table of another log. Both have the same Options, without a Clock, Each and
// Attributes, and no entry is added to either from then on.
func (t *Table) Merge(o *Table) {
	for _, key := range o.order() {
		from := o.classes[key]
		to := t.classes[key]
		switch {
		case to != nil:
		case key == Other || t.isFull():
			if key != Other {
				t.counts.folded += from.query.Calls
			}
			to = t.other()
		default:
			to = from.blank()
			t.classes[key] = to
		}
		t.counts.unseen += to.merge(from, &t.left)
	}
	t.counts.unseen += t.series.merge(&o.series, &t.left)
	t.transactions.merge(&o.transactions)
	t.saves.merge(&o.saves)
	for id := range o.seen.ids {
		t.seen.add(id)
	}
	t.seen.crowded = t.seen.crowded || o.seen.crowded
	n, m := &t.counts, &o.counts
	n.statements += m.statements
	n.admin += m.admin
	n.outside += m.outside
	n.unwanted += m.unwanted
	n.own += m.own
	n.folded += m.folded
	n.unseen += m.unseen
}

// isFull reports whether there is no room for another class.
func (t *Table) isFull() bool {
	n := len(t.classes)
	if t.classes[Other] != nil {
		n--
	}
	return n >= t.opts.MaxQueries
}

// blank returns a class of the same statements, which has seen none.
func (c *class) blank() *class {
	q := &c.query
	return &class{key: c.key, write: c.write, rows: c.rows, role: c.role, query: kasoku.Query{
		ID: q.ID, Fingerprint: q.Fingerprint, Tag: q.Tag, Verb: q.Verb, Tables: q.Tables, Sample: q.Sample,
		Numbers: q.Numbers, Latency: histogram.New()}}
}

// inOrder returns the keys of the transactions, the one that took the most time first.
func (t *transactions) inOrder() []string {
	return slices.SortedFunc(maps.Keys(t.classes), func(a, b string) int {
		x, y := t.classes[a], t.classes[b]
		return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(y.count, x.count), cmp.Compare(a, b))
	})
}

func (t *transactions) merge(o *transactions) {
	t.folded += o.folded
	for _, key := range o.inOrder() {
		from := o.classes[key]
		to := t.classes[key]
		if to == nil {
			if len(t.classes) >= maxTransactions {
				t.folded += from.count
				continue
			}
			to = &transaction{shape: from.shape, cut: from.cut, tag: from.tag, readOnly: true}
			t.classes[key] = to
		}
		to.count += from.count
		to.rolledBack += from.rolledBack
		to.readOnly = to.readOnly && from.readOnly
		to.statements += from.statements
		to.total += from.total
		to.max = max(to.max, from.max)
	}
}

// inOrder returns the tables by name.
func (s *saves) inOrder() []*saveTable {
	return slices.SortedFunc(maps.Values(s.tables), func(a, b *saveTable) int { return cmp.Compare(a.name, b.name) })
}

func (s *saves) merge(o *saves) {
	for _, from := range o.inOrder() {
		to := s.table(from.name)
		if to == nil {
			continue // there are too many
		}
		to.count += from.count
		to.inserts += from.inserts
		if to.sample == nil {
			to.sample = from.sample
		}
	}
}
