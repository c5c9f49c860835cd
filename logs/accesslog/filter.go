package accesslog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/routes"
)

// A Filter defines which requests belong to a table: an expression in the language
// of expr-lang.org over the names of [FilterNames], such as
//
//	status >= 500 and route == "/api/trend" and latency > 0.1
//	path startsWith "/api/" && ua contains "curl" or time >= date("2021-08-21T10:00:00Z")
//
// Its route is the one that the path alone gives. Where a place of the path has so
// many values that the table says :name, a route that the expression writes so is
// understood too, and so is one with the value of a dispatcher: "/index.php?action=list".
// A Filter is safe for concurrent use.
type Filter struct {
	program *vm.Program
	uses    map[string]bool
	folded  []string // routes with :name that the expression writes
	chosen  []string // routes with a query
	terms   []term
	simple  bool // terms are all there is
}

// A filterEnv holds the values of a record, by the names that filters have for
// them.
type filterEnv struct {
	Method   string    `expr:"method"`
	Path     string    `expr:"path"`  // without the query string
	URI      string    `expr:"uri"`   // as sent
	Query    string    `expr:"query"` // without the question mark
	Route    string    `expr:"route"`
	Status   int       `expr:"status"`
	Bytes    int       `expr:"bytes"`
	Request  int       `expr:"request_bytes"`
	Latency  float64   `expr:"latency"`  // s; -1 when the log has none
	Upstream float64   `expr:"upstream"` // s; -1 when the log has none
	Time     time.Time `expr:"time"`
	UA       string    `expr:"ua"`
	Referer  string    `expr:"referer"`
	Host     string    `expr:"host"` // of the client
	User     string    `expr:"user"`
	VHost    string    `expr:"vhost"`
	Protocol string    `expr:"protocol"`
	Bot      bool      `expr:"bot"`
}

// FilterNames returns the names that a filter may use.
func FilterNames() []string {
	var out []string
	for f := range reflect.TypeFor[filterEnv]().Fields() {
		out = append(out, f.Tag.Get("expr"))
	}
	return out
}

// CompileFilter reads an expression. The error says what is wrong with it and
// where.
func CompileFilter(text string) (*Filter, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read filter %q: %w", text, err)
	}
	f := &Filter{uses: map[string]bool{}}
	walk := &filterWalk{filter: f, unknown: map[string]bool{}}
	ast.Walk(&tree.Node, walk)
	if len(walk.unknown) > 0 {
		return nil, fmt.Errorf("read filter %q: unknown name %q, expected %s", text,
			slices.Min(slices.Collect(maps.Keys(walk.unknown))), strings.Join(FilterNames(), ", "))
	}
	f.terms, f.simple = termsOf(tree.Node)
	if f.program, err = expr.Compile(text, expr.Env(&filterEnv{}), expr.AsBool()); err != nil {
		return nil, fmt.Errorf("read filter %q: %w", text, err)
	}
	return f, nil
}

// A filterWalk finds out what an expression uses.
type filterWalk struct {
	filter  *Filter
	unknown map[string]bool
}

// Visit implements [ast.Visitor].
func (w *filterWalk) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		_, function := builtin.Index[n.Value]
		switch {
		case slices.Contains(FilterNames(), n.Value):
			w.filter.uses[n.Value] = true
		case !function:
			w.unknown[n.Value] = true
		}
	case *ast.StringNode:
		if strings.Contains(n.Value, ":name") {
			w.filter.folded = append(w.filter.folded, n.Value)
		}
		if strings.Contains(n.Value, "?") {
			w.filter.chosen = append(w.filter.chosen, n.Value)
		}
	case *ast.VariableDeclaratorNode:
		delete(w.unknown, n.Name)
	}
}

// A filterRun evaluates a filter, for one goroutine.
type filterRun struct {
	*Filter
	env     filterEnv
	machine vm.VM
	values  []func(r *accessformat.Record, t *Table) // those that are used
	set     map[string]func(r *accessformat.Record, t *Table)
	route   []byte
}

func (f *Filter) run() *filterRun {
	run := &filterRun{Filter: f, set: map[string]func(r *accessformat.Record, t *Table){}}
	for _, name := range slices.Sorted(maps.Keys(f.uses)) {
		run.set[name] = run.value(name)
		run.values = append(run.values, run.set[name])
	}
	return run
}

// holds reports whether a record is wanted. An expression that cannot be
// evaluated for it does not hold.
func (f *filterRun) holds(r *accessformat.Record, t *Table) bool {
	for i := range f.terms {
		if !f.terms[i].holds(r, t, f) {
			return false
		}
	}
	if f.simple {
		return true
	}
	for _, set := range f.values {
		set(r, t)
	}
	out, err := f.machine.Run(f.program, &f.env)
	is, _ := out.(bool)
	return err == nil && is
}

// value returns what puts a record's value of that name into env.
func (f *filterRun) value(name string) func(r *accessformat.Record, t *Table) {
	e := &f.env
	switch name {
	case "method":
		return func(r *accessformat.Record, _ *Table) { e.Method = textOf(r.Method) }
	case "path":
		return func(r *accessformat.Record, _ *Table) { e.Path, _, _ = strings.Cut(textOf(r.Path), "?") }
	case "uri":
		return func(r *accessformat.Record, _ *Table) { e.URI = textOf(r.Path) }
	case "query":
		return func(r *accessformat.Record, _ *Table) { _, e.Query, _ = strings.Cut(textOf(r.Path), "?") }
	case "route":
		return f.setRoute
	case "status":
		return func(r *accessformat.Record, _ *Table) { e.Status = r.Status }
	case "bytes":
		return func(r *accessformat.Record, _ *Table) { e.Bytes = int(r.Bytes) }
	case "request_bytes":
		return func(r *accessformat.Record, _ *Table) { e.Request = int(r.RequestBytes) }
	case "latency":
		return func(r *accessformat.Record, _ *Table) {
			e.Latency = secondsOr(r.Latency, r.Has&accessformat.HasLatency != 0)
		}
	case "upstream":
		return func(r *accessformat.Record, _ *Table) {
			e.Upstream = secondsOr(r.Upstream, r.Has&accessformat.HasUpstream != 0)
		}
	case "time":
		return func(r *accessformat.Record, _ *Table) { e.Time = r.Time() }
	case "ua":
		return func(r *accessformat.Record, _ *Table) { e.UA = textOf(r.UserAgent) }
	case "referer":
		return func(r *accessformat.Record, _ *Table) { e.Referer = textOf(r.Referer) }
	case "host":
		return func(r *accessformat.Record, _ *Table) { e.Host = textOf(r.RemoteAddr) }
	case "user":
		return func(r *accessformat.Record, _ *Table) { e.User = textOf(r.User) }
	case "vhost":
		return func(r *accessformat.Record, _ *Table) { e.VHost = textOf(r.VHost) }
	case "protocol":
		return func(r *accessformat.Record, _ *Table) { e.Protocol = textOf(r.Protocol) }
	}
	return func(r *accessformat.Record, t *Table) { e.Bot = t.bots.is(r.UserAgent) } // bot
}

func secondsOr(d time.Duration, known bool) float64 {
	if !known {
		return -1
	}
	return d.Seconds()
}

func (f *filterRun) setRoute(r *accessformat.Record, t *Table) {
	f.route = t.appendRoute(f.route[:0], r)
	if len(f.route) > 0 && f.route[0] == given {
		f.env.Route = textOf(f.route[1:])
	} else {
		f.env.Route = f.asWritten(textOf(f.route), t.opts.Routes.Chooses())
	}
	for _, folded := range f.folded {
		if routes.Covers(folded, f.env.Route) {
			f.env.Route = folded
		}
	}
}

// asWritten returns a route that was found without what its query chooses, unless the expression writes
// that.
func (f *filterRun) asWritten(route string, chooses bool) string {
	path, choice := routes.CutChoice(route)
	if !chooses || choice == "" || slices.ContainsFunc(f.chosen, func(s string) bool { return strings.Contains(route, s) }) {
		return route
	}
	return path
}
