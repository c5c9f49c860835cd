package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// sharedHTTP are what package net/http shares between all of a program: it follows
// redirects to any host.
var sharedHTTP = []string{"DefaultClient", "Get", "Head", "Post", "PostForm"}

// TestNoHostUnasked: kasoku asks the hosts that it was given. No HTTP client of its own follows
// a redirect because no one decided on it.
func TestNoHostUnasked(t *testing.T) {
	checked := 0
	for _, f := range theTree(t).files {
		if f.test || notKasoku.MatchString(f.path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"net/http"` }) {
			checked++
			for _, breach := range followers(file) {
				t.Errorf("%s: %s: a redirect would lead to any host; internal/onehost makes clients", path.Clean(f.path), breach)
			}
		}
	}
	if checked < 10 {
		t.Fatalf("%d files with net/http: nothing was checked", checked)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nvar _ = http.Client{}\nvar _ = http.DefaultClient\nvar _ = &http.Client{CheckRedirect: f}", 0)
	if err != nil || len(followers(file)) != 2 {
		t.Errorf("not seen: %v, %v", followers(file), err)
	}
}

// followers returns what in a file is a client that follows redirects.
func followers(file *ast.File) (out []string) {
	isHTTP := func(e ast.Expr, names ...string) (string, bool) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		x, ok := s.X.(*ast.Ident)
		return s.Sel.Name, ok && x.Name == "http" && slices.Contains(names, s.Sel.Name)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if name, ok := isHTTP(n, sharedHTTP...); ok {
				out = append(out, "http."+name)
			}
		case *ast.CompositeLit:
			if _, ok := isHTTP(n.Type, "Client"); ok && !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && strings.HasPrefix(fmt.Sprint(kv.Key), "CheckRedirect")
			}) {
				out = append(out, "an http.Client without CheckRedirect")
			}
		}
		return true
	})
	return out
}
