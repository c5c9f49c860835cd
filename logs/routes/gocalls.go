package routes

import (
	"go/ast"
	"maps"
	"strings"
)

// call looks at one call and reports whether to look into its parts as well.
func (s *source) call(call *ast.CallExpr, sc scope) bool {
	s.pass(call, sc)
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return true
	}
	switch name := sel.Sel.Name; name {
	case "Methods": // gorilla: r.HandleFunc("/path", h).Methods("GET")
		inner, ok := sel.X.(*ast.CallExpr)
		if !ok {
			return true
		}
		before := len(s.found)
		s.walk(inner, sc)
		if added := s.found[before:]; len(added) > 0 {
			last := added[len(added)-1]
			s.found = s.found[:len(s.found)-1]
			for _, a := range call.Args {
				last.Method, _ = s.text(a)
				s.found = append(s.found, last)
			}
		}
		return false
	case "Route", "Group": // chi: r.Route("/prefix", func(r chi.Router) { … })
		return s.nested(call, sel, sc)
	case "Mount":
		if len(call.Args) == 2 {
			if path, ok := s.text(call.Args[0]); ok {
				s.mount(call.Args[1], s.prefix(sel.X, sc)+"/"+strings.Trim(path, "/"))
			}
		}
	default:
		s.register(name, sel, call.Args, sc)
	}
	return true
}

// nested walks the function literal that a group is given.
func (s *source) nested(call *ast.CallExpr, sel *ast.SelectorExpr, sc scope) bool {
	if len(call.Args) == 0 {
		return true
	}
	lit, ok := call.Args[len(call.Args)-1].(*ast.FuncLit)
	if !ok || len(lit.Type.Params.List) != 1 || len(lit.Type.Params.List[0].Names) != 1 {
		return true
	}
	prefix, _ := s.group(call, sc)
	inner := maps.Clone(sc)
	inner[lit.Type.Params.List[0].Names[0].Name] = prefix
	s.walk(lit.Body, inner)
	s.walk(sel.X, sc)
	return false
}

// mount notes that the routers which a function makes have a prefix.
func (s *source) mount(handler ast.Expr, prefix string) {
	if call, ok := handler.(*ast.CallExpr); ok {
		if name := s.callee(call); name != "" && prefix != "" {
			s.bind(name, binding{newRouter, prefix, s.caller})
		}
	}
}

// callee returns the name of the function of the source that a call means.
func (s *source) callee(call *ast.CallExpr) string {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if s.funcs[name] == nil {
		return ""
	}
	return name
}

// pass notes the routers with a prefix that a function of the source is given.
func (s *source) pass(call *ast.CallExpr, sc scope) {
	name := s.callee(call)
	if name == "" {
		return
	}
	var params []string
	for _, f := range s.funcs[name].Type.Params.List {
		for _, n := range f.Names {
			params = append(params, n.Name)
		}
	}
	for i, a := range call.Args {
		if prefix := s.prefix(a, sc); prefix != "" && i < len(params) {
			s.bind(name, binding{params[i], prefix, s.caller})
		}
	}
}

func (s *source) bind(name string, b binding) {
	for _, have := range s.with[name] {
		if have == b {
			return
		}
	}
	if len(s.with[name]) < 64 && len(b.prefix) <= MaxRoute {
		s.with[name] = append(s.with[name], b)
	}
}

// register notes the route that a call of a router's method registers.
func (s *source) register(name string, sel *ast.SelectorExpr, args []ast.Expr, sc scope) {
	prefix := s.prefix(sel.X, sc)
	method := strings.ToUpper(name)
	switch {
	case isVerb(method) && (name == method || name == method[:1]+strings.ToLower(method[1:])):
		if len(args) >= 2 && isHandler(args[1]) {
			s.add(method, prefix, args[0], false)
		}
	case (name == "Any" || name == "All") && len(args) >= 2:
		s.add("", prefix, args[0], false)
	case (name == "Handle" || name == "Add" || name == "Method" || name == "MethodFunc" || name == "HandlerFunc" ||
		name == "Handler") && len(args) >= 3:
		if m, ok := s.text(args[0]); ok && isVerb(strings.ToUpper(m)) {
			s.add(strings.ToUpper(m), prefix, args[1], false)
		}
	case name == "Match" && len(args) >= 3:
		list, ok := args[0].(*ast.CompositeLit)
		if !ok {
			return
		}
		for _, e := range list.Elts {
			if m, ok := s.text(e); ok {
				s.add(strings.ToUpper(m), prefix, args[1], false)
			}
		}
	case (name == "Handle" || name == "HandleFunc") && len(args) == 2:
		s.add("", prefix, args[0], true)
	case (name == "Static" || name == "StaticFS") && len(args) >= 2:
		if path, ok := s.text(args[0]); ok && strings.HasPrefix(path, "/") && path != "/" {
			s.found = append(s.found, Route{Path: prefix + strings.TrimSuffix(path, "/") + "/*"})
		}
	case (name == "File" || name == "StaticFile") && len(args) >= 2:
		s.add("GET", prefix, args[0], false)
	}
}

// isHandler reports whether an argument may be a handler: clients of HTTP have
// methods of the same names, whose second argument is a literal, a body or nil.
func isHandler(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.UnaryExpr:
		return false
	case *ast.Ident:
		return e.Name != "nil"
	}
	return true
}

// add notes a route. mux says that the pattern is one of net/http's ServeMux,
// which may begin with a method and a host and, ending with a slash, means all
// that is below.
func (s *source) add(method, prefix string, path ast.Expr, mux bool) {
	text, ok := s.text(path)
	if !ok {
		return
	}
	if mux {
		if verb, rest, ok := strings.Cut(text, " "); ok && isVerb(verb) {
			method, text = verb, strings.TrimLeft(rest, " \t")
		}
		if i := strings.IndexByte(text, '/'); i > 0 { // a host
			text = text[i:]
		}
		if strings.HasSuffix(text, "/") && text != "/" && prefix == "" {
			text += "*"
		}
	}
	switch {
	case text == "" && prefix != "":
	case text == "*":
		text = "/*"
	case !strings.HasPrefix(text, "/"):
		return
	}
	s.found = append(s.found, Route{Method: method, Path: prefix + text})
}
