package accesslog

import "github.com/kasoku/kasoku/logs/accessformat"

// A Locator defines which row of a table a request belongs to. It is not safe for
// concurrent use, and the table may not change meanwhile.
type Locator struct {
	table *Table
	final *settled
	known map[string]located // by key
}

type located struct{ method, route string }

// maxLocated bounds the keys that a locator remembers.
const maxLocated = 1 << 16

// Locator returns a locator of a table whose rows have a method and a route, when
// all requests were added.
func (t *Table) Locator() *Locator {
	return &Locator{table: t, final: t.settle(), known: map[string]located{}}
}

// Locate returns the method and the route of the row of a request, as
// [Table.Endpoints] has them. Those beyond the bound of rows have their own.
func (l *Locator) Locate(r *accessformat.Record) (method, route string) {
	t := l.table
	t.key = t.appendKey(t.key[:0], r)
	if k, ok := l.known[string(t.key)]; ok {
		return k.method, k.route
	}
	t.resolved, _ = t.reg.resolve(t.resolved[:0], t.key)
	values := t.by.values(l.final.finalKey(string(t.resolved)))
	var k located
	if t.by.method >= 0 {
		k.method = shownValue(values[t.by.method])
	}
	if t.by.route >= 0 {
		k.route = shownValue(values[t.by.route])
	}
	if len(l.known) >= maxLocated {
		clear(l.known)
	}
	l.known[string(t.key)] = k
	return k.method, k.route
}
