package routes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// FromGo returns the routes that a Go program registers with net/http,
// gorilla/mux, echo, gin, httprouter, chi or fiber, in the order of its files. The
// source is read, not type-checked: what counts is how calls look, such as
// e.GET("/path", handler), and paths have to be constant. Prefixes of groups are
// followed through variables, function literals and calls of functions in the
// same tree. Source that does not parse is read as far as it goes.
func FromGo(dir string) ([]Route, error) {
	files, err := goFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("read Go source: %w", err)
	}
	s := newSource()
	fset := token.NewFileSet()
	for _, path := range files {
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if f == nil {
			return nil, fmt.Errorf("read Go source: %w", err)
		}
		s.index(f)
	}
	out := s.routes()
	if len(out) == 0 {
		return nil, fmt.Errorf("read Go source %s: no routes in %d files: expected calls like e.GET(\"/path\", handler) or mux.HandleFunc(\"GET /path\", handler)", dir, len(files))
	}
	return out, nil
}

func newSource() *source {
	return &source{consts: verbConsts(), funcs: map[string]*ast.FuncDecl{}, with: map[string][]binding{}}
}

// A source is the Go source of a program.
type source struct {
	consts map[string]string
	funcs  map[string]*ast.FuncDecl
	order  []string // names of funcs
	with   map[string][]binding
	found  []Route // of the function that is walked
	caller string  // that function, empty when it is walked with a prefix
}

// A binding is a prefix that a function is called with.
type binding struct {
	param  string // its parameter; newRouter: the routers that it makes
	prefix string
	caller string // function that was walked without a prefix when this was seen
}

// verbConsts are net/http's constants of methods.
func verbConsts() map[string]string {
	out := map[string]string{}
	for _, v := range []string{"Get", "Head", "Post", "Put", "Patch", "Delete", "Options", "Connect", "Trace"} {
		out["Method"+v] = strings.ToUpper(v)
	}
	return out
}

// newRouter is the name of the routers that a function makes, in its scope.
const newRouter = "new router"

// maxNested is how deep calls with prefixes are followed.
const maxNested = 8

func (s *source) index(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			for s.funcs[name] != nil { // init, and methods of different types
				name += "'"
			}
			s.funcs[name] = d
			s.order = append(s.order, name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, n := range v.Names {
					if i < len(v.Values) {
						if text, ok := s.text(v.Values[i]); ok {
							s.consts[n.Name] = text
						}
					}
				}
			}
		}
	}
}

// routes walks all functions. Those that are called with a prefix are walked
// with it only.
func (s *source) routes() []Route {
	found := map[string][]Route{}
	for _, name := range s.order {
		s.found, s.caller = nil, name
		s.walk(s.funcs[name].Body, scope{})
		found[name] = s.found
	}
	s.caller = ""
	bound := map[string][]Route{}
	done := map[string]int{}
	for range maxNested {
		for _, name := range s.order {
			for ; done[name] < len(s.with[name]); done[name]++ {
				b := s.with[name][done[name]]
				if b.caller != "" && len(s.with[b.caller]) > 0 {
					continue // it will be seen with the caller's own prefix
				}
				s.found = nil
				s.walk(s.funcs[name].Body, scope{b.param: b.prefix})
				bound[name] = append(bound[name], s.found...)
			}
		}
	}
	var out []Route
	for _, name := range s.order {
		list := found[name]
		if len(s.with[name]) > 0 {
			list = bound[name]
		}
		for _, r := range list {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// A scope is what is known of the variables of a function: the prefix of each
// router, by its expression.
type scope map[string]string

// walk looks for routes in the order of the source.
func (s *source) walk(n ast.Node, sc scope) {
	if b, ok := n.(*ast.BlockStmt); n == nil || ok && b == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i := range n.Lhs {
					s.assign(n.Lhs[i], n.Rhs[i], sc)
				}
			}
		case *ast.CallExpr:
			return s.call(n, sc)
		}
		return true
	})
}

// assign notes a router that a variable holds.
func (s *source) assign(to, from ast.Expr, sc scope) {
	name := exprText(to)
	if call, ok := from.(*ast.CallExpr); ok && name != "" {
		if prefix, ok := s.group(call, sc); ok {
			sc[name] = prefix
			return
		}
		if prefix, ok := sc[newRouter]; ok {
			sc[name] = prefix
		}
	}
	if prefix, ok := sc[exprText(from)]; ok && name != "" {
		sc[name] = prefix
	}
}

// prefix returns the prefix of a router.
func (s *source) prefix(e ast.Expr, sc scope) string {
	if call, ok := e.(*ast.CallExpr); ok {
		if prefix, ok := s.group(call, sc); ok {
			return prefix
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok { // r.With(…), r.Host(…)
			return s.prefix(sel.X, sc)
		}
	}
	return sc[exprText(e)]
}

// group returns the prefix of the router that a call makes.
func (s *source) group(call *ast.CallExpr, sc scope) (string, bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	switch sel.Sel.Name {
	case "Group", "PathPrefix", "Route":
		if len(call.Args) > 0 {
			if path, ok := s.text(call.Args[0]); ok {
				if path = strings.Trim(path, "/"); path != "" {
					path = "/" + path
				}
				return s.prefix(sel.X, sc) + path, true
			}
		}
		return s.prefix(sel.X, sc), true
	case "Subrouter", "With":
		return s.prefix(sel.X, sc), true
	}
	return "", false
}

// text returns the value of a constant string.
func (s *source) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		text, ok := s.consts[e.Name]
		return text, ok
	case *ast.SelectorExpr:
		text, ok := s.consts[e.Sel.Name]
		return text, ok
	case *ast.ParenExpr:
		return s.text(e.X)
	case *ast.BinaryExpr:
		x, ok := s.text(e.X)
		y, ok2 := s.text(e.Y)
		return x + y, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}

// exprText returns a variable or a chain of fields as text, empty for all else.
func exprText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := exprText(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	}
	return ""
}
