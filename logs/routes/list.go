package routes

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Route is a route as an application defines it. Segments of its path may
// have parameters, in the forms of the usual routers:
//
//	/users/{id}  /users/:id  /users/{id:[0-9]+}  /files/{name}.json
//	/static/*    /static/*path   /static/{path...}   (any number of segments)
//	/users/:id?  (the segment may be missing)
type Route struct {
	Method string // empty: any
	Path   string
	Name   string // to show; empty: the path
}

// A List finds which route of several a path belongs to: the most specific. From
// the first segment on, one that is written out comes before one with a
// parameter, more fixed characters before fewer, a parameter with an expression
// before one without, and all before a star. The list does not change.
type List struct {
	root listNode
}

type listNode struct {
	fixed  map[string]*listNode
	params []*param // the most specific first
	star   *listNode
	names  []methodName // of routes that end here
}

// A param is a segment with a parameter.
type param struct {
	prefix, suffix string
	expr           *regexp.Regexp // nil: anything
	text           string         // the segment without the parameter's name
	next           *listNode
}

type methodName struct{ method, name string }

// NewList returns a list of the routes. Of two with the same path and method the
// first counts.
func NewList(routes []Route) (*List, error) {
	l := &List{}
	for _, r := range routes {
		if r.Path == "" || r.Path[0] != '/' && r.Path[0] != '*' {
			return nil, fmt.Errorf("route %q: expected a path like /users/{id}", r.Path)
		}
		if err := l.add(r); err != nil {
			return nil, fmt.Errorf("route %q: %w", r.Path, err)
		}
	}
	return l, nil
}

func (l *List) add(r Route) error {
	entry := methodName{strings.ToUpper(r.Method), cmp.Or(r.Name, r.Path)}
	n := &l.root
	rest := strings.TrimPrefix(strings.TrimSuffix(r.Path, "{$}"), "/")
	for more := true; more; {
		var segment string
		if segment, rest, more = cutSegment(rest); isStar(segment) {
			if n.star == nil {
				n.star = &listNode{}
			}
			n.star.end(entry)
			return nil
		}
		if strings.HasPrefix(segment, ":") && strings.HasSuffix(segment, "?") {
			n.end(entry)
			segment = strings.TrimSuffix(segment, "?")
		}
		p, err := parseParam(segment)
		if err != nil {
			return err
		}
		if p == nil {
			n = n.child(segment)
		} else {
			n = n.param(p)
		}
	}
	n.end(entry)
	return nil
}

// cutSegment cuts at the next slash that is not in braces.
func cutSegment(s string) (segment, rest string, more bool) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '/':
			if depth <= 0 {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

func isStar(segment string) bool {
	return strings.HasPrefix(segment, "*") || strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "...}")
}

// parseParam reads a segment with a parameter; nil when it has none.
func parseParam(s string) (*param, error) {
	if i := strings.IndexByte(s, ':'); i >= 0 && strings.IndexByte(s, '{') < 0 {
		end := i + 1
		for end < len(s) && class[s[end]]&(digit|letters) != 0 || end < len(s) && s[end] == '_' {
			end++
		}
		if end == i+1 {
			return nil, nil
		}
		return &param{prefix: s[:i], suffix: s[end:], text: s[:i] + ":" + s[end:]}, nil
	}
	open, end := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if open < 0 || end < open {
		return nil, nil
	}
	p := &param{prefix: s[:open], suffix: s[end+1:]}
	_, expr, some := strings.Cut(s[open+1:end], ":")
	p.text = p.prefix + ":" + expr + ":" + p.suffix
	if some && expr != "" && !strings.ContainsAny(expr, "{}/") {
		re, err := regexp.Compile("^(?:" + expr + ")$")
		if err != nil {
			return nil, err
		}
		p.expr = re
	}
	return p, nil
}

func (n *listNode) child(segment string) *listNode {
	c := n.fixed[segment]
	if c == nil {
		if n.fixed == nil {
			n.fixed = map[string]*listNode{}
		}
		c = &listNode{}
		n.fixed[segment] = c
	}
	return c
}

func (n *listNode) param(p *param) *listNode {
	for _, q := range n.params {
		if q.text == p.text {
			return q.next
		}
	}
	p.next = &listNode{}
	n.params = append(n.params, p)
	slices.SortStableFunc(n.params, func(a, b *param) int { return cmp.Compare(b.weight(), a.weight()) })
	return p.next
}

// weight describes how specific a parameter is: fixed characters count first, then
// whether there is an expression.
func (p *param) weight() int {
	w := 2 * (len(p.prefix) + len(p.suffix))
	if p.expr != nil {
		w++
	}
	return w
}

func (n *listNode) end(e methodName) {
	if !slices.ContainsFunc(n.names, func(m methodName) bool { return m.method == e.method }) {
		n.names = append(n.names, e)
	}
}

// find returns the name of the route that a request belongs to. A slash too many
// or too few at the end is forgiven.
func (l *List) find(method, path []byte) (name string, ok bool) {
	path = bytes.TrimPrefix(path, []byte("/"))
	if name, ok = l.root.find(method, path, true); !ok && len(path) > 0 && path[len(path)-1] == '/' {
		name, ok = l.root.find(method, path[:len(path)-1], true)
	}
	return name, ok
}

// find looks below the node for the rest of a path; some says that there is a
// rest, which may be empty.
func (n *listNode) find(method, path []byte, some bool) (name string, ok bool) {
	if !some {
		name, ok = n.name(method)
		if c := n.fixed[""]; !ok && c != nil {
			return c.name(method)
		}
		return name, ok
	}
	segment, rest, more := bytes.Cut(path, []byte("/"))
	if c := n.fixed[string(segment)]; c != nil {
		if name, ok = c.find(method, rest, more); ok {
			return name, true
		}
	}
	for _, p := range n.params {
		if p.matches(segment) {
			if name, ok = p.next.find(method, rest, more); ok {
				return name, true
			}
		}
	}
	if n.star != nil {
		return n.star.name(method)
	}
	return "", false
}

func (p *param) matches(segment []byte) bool {
	n := len(segment) - len(p.prefix) - len(p.suffix)
	if n <= 0 || string(segment[:len(p.prefix)]) != p.prefix || string(segment[len(p.prefix)+n:]) != p.suffix {
		return false
	}
	return p.expr == nil || p.expr.Match(segment[len(p.prefix):len(p.prefix)+n])
}

// name returns the route of that method that ends here, or else the one of any.
// A server answers HEAD as it answers GET.
func (n *listNode) name(method []byte) (name string, ok bool) {
	rank := 0
	for _, m := range n.names {
		switch {
		case m.method == string(method):
			return m.name, true
		case m.method == "" && rank < 2:
			name, rank = m.name, 2
		case m.method == "GET" && string(method) == "HEAD" && rank < 1:
			name, rank = m.name, 1
		}
	}
	return name, rank > 0
}
