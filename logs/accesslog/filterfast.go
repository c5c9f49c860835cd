package accesslog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/kasoku/kasoku/logs/accessformat"
)

// A term is one of the conditions that a filter joins with "and", where it
// compares a value of a record with a constant. Such terms are looked at before
// the expression as a whole is, which takes a hundred times as long and rarely
// has to be done.
type term struct {
	name     string
	operator string
	number   float64
	text     string
	isText   bool
}

// termsOf returns the simple conditions of an expression, the cheapest first, and
// whether it has no others.
func termsOf(node ast.Node) (out []term, all bool) {
	if b, ok := node.(*ast.BinaryNode); ok && (b.Operator == "and" || b.Operator == "&&") {
		left, allLeft := termsOf(b.Left)
		right, allRight := termsOf(b.Right)
		out = append(left, right...)
		slices.SortStableFunc(out, func(a, b term) int { return cmp.Compare(a.cost(), b.cost()) })
		return out, allLeft && allRight
	}
	if t, ok := parseTerm(node); ok {
		return []term{t}, true
	}
	return nil, false
}

// cost orders terms: numbers, texts, routes.
func (t *term) cost() int {
	switch {
	case t.name == "route":
		return 2
	case t.isText:
		return 1
	}
	return 0
}

func parseTerm(node ast.Node) (term, bool) {
	b, ok := node.(*ast.BinaryNode)
	if !ok {
		return term{}, false
	}
	name, ok := b.Left.(*ast.IdentifierNode)
	if !ok {
		return term{}, false
	}
	t := term{name: name.Value, operator: b.Operator}
	switch right := b.Right.(type) {
	case *ast.IntegerNode:
		t.number = float64(right.Value)
	case *ast.FloatNode:
		t.number = right.Value
	case *ast.StringNode:
		t.text, t.isText = right.Value, true
	default:
		return term{}, false
	}
	switch t.operator {
	case "==", "!=":
	case "<", "<=", ">", ">=":
		ok = !t.isText
	case "startsWith", "endsWith", "contains":
		ok = t.isText
	default:
		ok = false
	}
	switch t.name {
	case "status", "bytes", "request_bytes", "latency", "upstream":
		return t, ok && !t.isText
	case "method", "path", "uri", "query", "route", "ua", "referer", "host", "user", "vhost", "protocol":
		return t, ok && t.isText
	}
	return term{}, false
}

// holds reports whether a record meets the condition; f has the values that are
// not as they stand in the record.
func (t *term) holds(r *accessformat.Record, table *Table, f *filterRun) bool {
	e := &f.env
	switch t.name {
	case "status":
		return compareNumbers(float64(r.Status), t.operator, t.number)
	case "bytes":
		return compareNumbers(float64(r.Bytes), t.operator, t.number)
	case "request_bytes":
		return compareNumbers(float64(r.RequestBytes), t.operator, t.number)
	case "latency":
		return compareNumbers(secondsOr(r.Latency, r.Has&accessformat.HasLatency != 0), t.operator, t.number)
	case "upstream":
		return compareNumbers(secondsOr(r.Upstream, r.Has&accessformat.HasUpstream != 0), t.operator, t.number)
	case "method":
		return t.compareText(textOf(r.Method))
	case "uri":
		return t.compareText(textOf(r.Path))
	case "route":
		f.setRoute(r, table)
		return t.compareText(e.Route)
	}
	f.set[t.name](r, table)
	switch t.name {
	case "path":
		return t.compareText(e.Path)
	case "query":
		return t.compareText(e.Query)
	case "ua":
		return t.compareText(e.UA)
	case "referer":
		return t.compareText(e.Referer)
	case "host":
		return t.compareText(e.Host)
	case "user":
		return t.compareText(e.User)
	case "vhost":
		return t.compareText(e.VHost)
	}
	return t.compareText(e.Protocol)
}

func compareNumbers(a float64, operator string, b float64) bool {
	switch operator {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

func (t *term) compareText(s string) bool {
	switch t.operator {
	case "==":
		return s == t.text
	case "!=":
		return s != t.text
	case "startsWith":
		return strings.HasPrefix(s, t.text)
	case "endsWith":
		return strings.HasSuffix(s, t.text)
	}
	return strings.Contains(s, t.text)
}
