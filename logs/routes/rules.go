package routes

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/logs/patterns"
)

// Options configure how paths become routes. The zero value finds routes by itself.
type Options struct {
	// Patterns are regular expressions that override everything else. The path,
	// without its query string, of a request that one of them matches anywhere
	// belongs to the route of that name: "NAME=REGEXP", or the expression itself.
	// The first that matches wins. A name is what stands before the first "=" when
	// that is letters, digits, blanks and the characters of paths.
	Patterns []string

	// Bundles and Replaces are those of a kataribe.toml, with its meaning: they see
	// the request line, "GET /path?query HTTP/1.1". The first bundle that matches
	// anywhere names the route; then the replacements are made one after another,
	// in what a bundle named, too. What they change is the route, without method
	// and protocol. They come after Patterns, and before what follows.
	Bundles  []Bundle
	Replaces []Replace

	// Routes are known routes, which come before what is found by itself. Of
	// several that match, the most specific wins; see [List].
	Routes []Route

	// Keep are the keys of query strings that belong to the route, in the order of
	// their names: "page" with its value as sent, "page=*" with :id for values that
	// are ids, "page=" its name alone; "*" every key, "*=" the names of all, see
	// [AppendKeys]. Without any, a route that is found by itself has what [AppendChoice] finds in
	// the query string, for [Choose] to decide about, and no other one has a query.
	Keep []string
}

// A Bundle names the requests that an expression matches.
type Bundle struct {
	Name string // empty: the expression
	Expr string
}

// A Replace replaces all matches of an expression; With may refer to its groups,
// as in [regexp.Regexp.ReplaceAll].
type Replace struct {
	Expr string
	With string
}

// Rules are Options ready for use. They do not change and may be used by several
// goroutines, each with its own [Mapper].
type Rules struct {
	set      *patterns.Set
	names    []string
	kataribe *kataribe // nil without bundles and replaces
	list     *List
	keep     keeper
}

// Automatic returns the rules of no Options: routes are found by themselves.
func Automatic() *Rules { return &Rules{} }

// NewRules reads the options. The error names the pattern, route or key that is
// wrong.
func NewRules(o Options) (*Rules, error) {
	r := &Rules{}
	var exprs []string
	for _, p := range o.Patterns {
		name, expr := cutName(p)
		r.names, exprs = append(r.names, name), append(exprs, expr)
	}
	var err error
	if len(exprs) > 0 {
		if r.set, err = patterns.Compile(exprs); err != nil {
			return nil, fmt.Errorf("route patterns: %w", err)
		}
	}
	if len(o.Bundles)+len(o.Replaces) > 0 {
		if r.kataribe, err = newKataribe(o.Bundles, o.Replaces); err != nil {
			return nil, err
		}
	}
	if len(o.Routes) > 0 {
		if r.list, err = NewList(o.Routes); err != nil {
			return nil, err
		}
	}
	r.keep, err = newKeeper(o.Keep)
	return r, err
}

// cutName splits NAME=REGEXP. An expression that has an equals sign of its own
// is recognised by what stands before it: a name has no character that only
// expressions have.
func cutName(p string) (name, expr string) {
	name, expr, ok := strings.Cut(p, "=")
	if !ok || name == "" || expr == "" || strings.ContainsAny(name, `^$\[](){}|+?`) || strings.Contains(name, ".*") {
		return p, p
	}
	return strings.TrimSpace(name), expr
}

// A Mapper appends routes. It is for one goroutine.
type Mapper struct {
	rules   *Rules
	matcher *patterns.Matcher // nil without patterns
	bundler *bundler          // nil without bundles and replaces
}

// Mapper returns a new mapper.
func (r *Rules) Mapper() *Mapper {
	m := &Mapper{rules: r}
	if r.set != nil {
		m.matcher = r.set.Matcher()
	}
	if r.kataribe != nil {
		m.bundler = r.kataribe.bundler()
	}
	return m
}

// Append appends the route of a request and reports whether a pattern or a list
// gave it, so that it is to stay as it is. The path is as it was logged, with its
// query string and perhaps with scheme and host. No route is empty.
func (m *Mapper) Append(dst, method, path []byte) (route []byte, given bool) {
	path = targetOf(path)
	r := m.rules
	start := len(dst)
	end := -1
	if m.matcher != nil {
		end = endOfPath(path)
		if i := m.matcher.First(path[:end]); i >= 0 {
			dst, given = append(dst, r.names[i]...), true
		}
	}
	if !given && m.bundler != nil {
		if name, ok := m.bundler.find(method, path); ok {
			return append(dst, name...), true
		}
	}
	if !given && r.list != nil {
		if end < 0 {
			end = endOfPath(path)
		}
		if name, ok := r.list.find(method, path[:end]); ok {
			dst, given = append(dst, name...), true
		}
	}
	if !given {
		dst, end = appendAuto(dst, path)
		if len(dst) == start {
			dst = append(dst, '/')
		}
	}
	switch {
	case !r.keep.none():
		dst = r.keep.append(dst, path[end:])
	case !given && end+1 < len(path) && path[end] == '?':
		dst = appendChoiceOf(dst, path[end+1:])
	}
	return dst, given
}

// appendChoiceOf appends ? and what a query string chooses, nothing where it chooses nothing.
func appendChoiceOf(dst, query []byte) []byte {
	if i := bytes.IndexByte(query, '#'); i >= 0 {
		query = query[:i]
	}
	n := len(dst)
	dst, ok := AppendChoice(append(dst, '?'), query)
	if !ok {
		return dst[:n]
	}
	return dst
}

// Chooses reports whether routes have what [AppendChoice] finds.
func (r *Rules) Chooses() bool { return r.keep.none() }
