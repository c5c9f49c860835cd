package statements

import (
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// listOf returns the class whose rows are looked up one by one: what the callers
// say, else the one of the same endpoint that sends about as many rows for each
// request as lookups follow.
func listOf(c *diagnose.Case, l Looped) *kasoku.Query {
	if l.Caller != nil && l.Caller.List != "" {
		if q := c.Statements().QueryByID(l.Caller.List); q != nil {
			return q
		}
	}
	lookups := l.Per(c)
	if l.Caller == nil {
		lookups = perAnyRequest(c, l.Query) // compared with the lists' rows, whatever requests there were
	}
	var best *kasoku.Query
	keys, named := l.rowKeys(c), false
	apart := math.Log(alikeFactor)
	for i := range c.Queries {
		q := &c.Queries[i]
		if q == l.Query || q.Verb != "SELECT" || RowsPerCall(q) < NestedRows || l.isOf(c, q) {
			continue
		}
		per := perAnyRequest(c, q)
		if l.Caller != nil {
			if per = PerRequestOf(c, q.ID, l.Caller.Endpoint()); per <= 0 {
				continue
			}
		}
		rows := per * RowsPerCall(q)
		d := math.Abs(math.Log(rows / lookups))
		if lookups <= 0 || per > lookups/2 || d > math.Log(alikeFactor) {
			continue
		}
		if sends := sendsKey(c, q, keys); sends && !named || sends == named && d <= apart {
			best, apart, named = q, d, sends
		}
	}
	return best
}

// isOf reports whether a statement asks for what belongs to one row of the lookup's table, by a key that is named after
// it, and some request runs it more than once: its rows are those of one that was looked up, and not the list.
func (l Looped) isOf(c *diagnose.Case, q *kasoku.Query) bool {
	if l.Caller == nil || !slices.ContainsFunc(c.Callers, func(x kasoku.Caller) bool {
		return x.QueryID == q.ID && x.Endpoint() == l.Caller.Endpoint() && x.Most >= nestedPer
	}) {
		return false
	}
	asked := stemOf(l.Shape.Table)
	return slices.ContainsFunc(Of(q).Keys, func(k string) bool {
		k = strings.ToLower(k)
		stem, ok := strings.CutSuffix(k, "_id")
		return ok && (asked == stem || strings.HasSuffix(asked, "_"+stem))
	}) && slices.ContainsFunc(l.Shape.Keys, func(k string) bool { return strings.EqualFold(k, "id") })
}

// Named is the list, where what it sends may have the lookup's keys: that it has about as many rows
// is chance otherwise, and no reason to name it.
func (l Looped) Named(c *diagnose.Case) *kasoku.Query {
	if l.List == nil || !sendsKey(c, l.List, l.rowKeys(c)) {
		return nil
	}
	return l.List
}

// rowKeys returns the columns by which a row is looked up: those of a unique key, where all of one are compared, and
// not what else must hold, such as active = 1. That a list sends such a column, too, says nothing.
func (l Looped) rowKeys(c *diagnose.Case) []string {
	name := l.Shape.Table[strings.LastIndexByte(l.Shape.Table, '.')+1:]
	for i := range c.Tables {
		t := &c.Tables[i]
		if t.Host != l.Query.Host || !strings.EqualFold(t.Name, name) {
			continue
		}
		for k := range t.Indexes {
			x := &t.Indexes[k]
			if x.Unique && len(x.Columns) > 0 && !slices.ContainsFunc(x.Columns, func(column string) bool {
				return !slices.ContainsFunc(l.Shape.Keys, func(k string) bool {
					return strings.EqualFold(k, strings.TrimSuffix(column, " DESC"))
				})
			}) {
				return x.Columns
			}
		}
	}
	return l.Shape.Keys
}

// sendsKey reports whether a column that a list sends may be one of the keys, by its name. What
// is called id may be any column of another table but one of words.
func sendsKey(c *diagnose.Case, list *kasoku.Query, keys []string) bool {
	if len(keys) == 0 {
		return true
	}
	isKey := func(t string) bool {
		return slices.ContainsFunc(keys, func(k string) bool {
			k = strings.ToLower(k)
			return t == k || t == "id" && strings.HasSuffix(k, "id")
		})
	}
	if slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, "id") }) {
		return !sendsWords(list)
	}
	depth := 0
	for _, t := range tokensOf(TextOf(list)) {
		t = strings.ToLower(t)
		switch t {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > 0 {
			continue
		}
		if t == "from" {
			return false
		}
		if t == "*" && Of(list).tables == 1 { // all that the one table has
			if names := columnsOf(c, list); names != nil && !slices.ContainsFunc(names, isKey) {
				continue
			}
		}
		if t == "*" || isKey(t) {
			return true
		}
	}
	return true // not read to its end
}

// follows reports whether the lookups are known to be for the rows of a list: their numbers go
// together over requests, or a name says so. That a list sends about as many rows is chance where
// a page loops over several things.
func (l Looped) follows(c *diagnose.Case, list *kasoku.Query) bool {
	if l.Caller != nil && l.Caller.List == list.ID || len(l.Shape.Keys) == 0 {
		return true
	}
	return l.sharesKey(c, list, l.rowKeys(c))
}

// Joinable reports whether names say that the list has the lookup's key, so that one may be joined in the other. That
// both have a column called name or type says nothing.
func (l Looped) Joinable(c *diagnose.Case) bool {
	keys := slices.DeleteFunc(slices.Clone(l.rowKeys(c)), func(k string) bool {
		return slices.Contains(wordColumns, strings.ToLower(k))
	})
	return l.Named(c) != nil && l.sharesKey(c, l.List, keys)
}

// sharesKey reports whether a list sends one of the keys, or they are named after it.
func (l Looped) sharesKey(c *diagnose.Case, list *kasoku.Query, keys []string) bool {
	rows, asked := stemOf(Of(list).Table), stemOf(l.Shape.Table)
	return slices.ContainsFunc(keys, func(k string) bool {
		k = strings.ToLower(k)
		if k != "id" && strings.Contains(k, rows) { // lesson_id, and the list is of lessons
			return true
		}
		return sendsColumn(c, list, func(t string) bool {
			if k == "id" { // of authors, and the list sends author_id or author
				return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(t, "id"), "_"), asked)
			}
			return t == k
		})
	})
}

// sendsColumn reports whether a column that a list sends fits; what it sends is taken to fit where
// it is not known.
func sendsColumn(c *diagnose.Case, list *kasoku.Query, fits func(column string) bool) bool {
	depth := 0
	for _, t := range tokensOf(TextOf(list)) {
		t = strings.ToLower(t)
		switch {
		case t == "(":
			depth++
		case t == ")":
			depth--
		case depth > 0:
		case t == "from":
			return false
		case t == "*":
			names := columnsOf(c, list)
			return names == nil || slices.ContainsFunc(names, fits)
		case fits(t):
			return true
		}
	}
	return true // not read to its end
}

// columnsOf returns the columns of the first table of a statement in lower case, nil where its
// definition is not known.
func columnsOf(c *diagnose.Case, q *kasoku.Query) (names []string) {
	for line := range strings.Lines(definitionOf(c, q)) {
		if name, _, ok := columnLine(line); ok {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// stemOf returns a table's name in lower case without its schema and the ending of a plural.
func stemOf(table string) string {
	t := strings.ToLower(table[strings.LastIndexByte(table, '.')+1:])
	switch {
	case strings.HasSuffix(t, "ies"):
		return t[:len(t)-len("ies")] + "y"
	case strings.HasSuffix(t, "sses"), strings.HasSuffix(t, "xes"), strings.HasSuffix(t, "ches"):
		return t[:len(t)-len("es")]
	}
	return strings.TrimSuffix(t, "s")
}

// wordColumns are how the names of columns end that hold words for people, and no number of a row.
var wordColumns = []string{"name", "title", "subject", "status", "type", "text", "description", "email", "label"}

// sendsWords reports whether all that a list sends are columns, and each of them is named as one
// of words.
func sendsWords(list *kasoku.Query) bool {
	last, seen := "", false
	for i, t := range tokensOf(TextOf(list)) {
		t = strings.ToLower(t)
		switch {
		case i == 0 && t == "select", i == 1 && t == "distinct", t == ".":
		case t == "," || t == "from":
			if !slices.ContainsFunc(wordColumns, func(w string) bool { return strings.HasSuffix(last, w) }) {
				return false
			}
			if last, seen = "", true; t == "from" {
				return seen
			}
		case !isColumn(t):
			return false
		default:
			last = t
		}
	}
	return false // not read to its end
}
