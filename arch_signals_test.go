package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ownWords are the directories that may use a word that is also the key of a signal:
// the sources themselves; packages that ask a MySQL server in its own words; and what
// reads no recording.
var ownWords = []string{"observe", "mysql", "mysqlflags", "labs", "bench", "compat", "load", "logs", "wire", "sandbox",
	"tools", "internal/test", "cmd/mackerel-plugin-mysql", "cmd/mackerel-plugin-mysql-lite",
	"cmd/mackerel-plugin-graphite", "cmd/mackerel-plugin-linux-process-status", "cmd/check-mysql-connections"}

// TestSignalNames: outside of its source a signal is named by the constant that the
// folder of the source exports. A key of several words must not stand there as a
// string; one of a single word not where a series is looked up.
func TestSignalNames(t *testing.T) {
	keys := declaredKeys(t)
	if len(keys) < 200 {
		t.Fatalf("%d keys are declared in observe/*/signals.go", len(keys))
	}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(ownWords, name) || d.Name() == "testdata" || name != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		faults, err := typedSignals(name, src, keys)
		report(t, faults)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSignalNamesFound: the check sees what it is there for.
func TestSignalNamesFound(t *testing.T) {
	keys := map[string]bool{"cpu.user": true, "rss": true}
	f := func(expr string, want int) {
		t.Helper()
		got, err := typedSignals("x.go", []byte("package x\n\nvar x = "+expr+"\n"), keys)
		if err != nil || len(got) != want {
			t.Errorf("%s: %d faults, want %d: %v %v", expr, len(got), want, got, err)
		}
	}
	f(`"cpu.user"`, 1)
	f(`"cpu.idle"`, 0)
	f(`"rss"`, 0)
	f(`rec.FindAll(process.Name, "rss")`, 1)
	f(`kasoku.Key{Source: process.Name, Name: "rss"}`, 1)
	f(`Column{Key: "rss", Head: "RSS"}`, 0)
}

// declaredKeys are the constants of observe/signals.go and observe/*/signals.go.
func declaredKeys(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("observe/*/signals.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, name := range append(files, "observe/signals.go") {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for i, n := range v.Names {
					if key, ok := text(v.Values[i]); ok && n.Name != "Name" && n.IsExported() {
						keys[key] = true
					}
				}
			}
		}
	}
	return keys
}

// typedSignals returns where a file has the key of a signal as a string.
func typedSignals(name string, src []byte, keys map[string]bool) (faults []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	check := func(e ast.Expr, lookedUp bool) {
		if key, ok := text(e); ok && keys[key] && isDistinct(key) != lookedUp {
			faults = append(faults, fmt.Sprintf("%s: %q is a signal: take the constant of its source",
				set.Position(e.Pos()), key))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			check(n, false)
		case *ast.CallExpr:
			if slices.ContainsFunc(n.Args, isSourceName) {
				for _, arg := range n.Args {
					check(arg, true)
				}
			}
		case *ast.CompositeLit:
			source := slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
				kv, ok := e.(*ast.KeyValueExpr)
				return ok && isIdent(kv.Key, "Source") && isSourceName(kv.Value)
			})
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && source && isIdent(kv.Key, "Name") {
					check(kv.Value, true)
				}
			}
		}
		return true
	})
	return faults, nil
}

// text is the value of a string literal.
func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// isDistinct reports whether a key can hardly be anything else: cpu.user, InUse.
func isDistinct(key string) bool {
	if key == "max_connections" {
		return false // of memcached; a setting of MySQL, too
	}
	return strings.ContainsAny(key, "._/") || len(key) > 1 && strings.ToLower(key[1:]) != key[1:]
}

// isSourceName reports whether an expression is the name of a source: process.Name,
// observe.SelfName, diagnose.Host.
func isSourceName(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	if of.Name == "diagnose" {
		return slices.Contains([]string{"MySQL", "Host", "Process", "Self", "Cgroup"}, sel.Sel.Name)
	}
	_, err := os.Stat("observe/" + strings.TrimSuffix(of.Name, "keys"))
	return strings.HasSuffix(sel.Sel.Name, "Name") && (err == nil || of.Name == "observe")
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// TestSignalsAreDeclared: each key that a source exports is a signal that it declares, and
// each declaration with signals is held to a real server by a test of its folder, through
// observetest.Sampled.
func TestSignalsAreDeclared(t *testing.T) {
	files, err := filepath.Glob("observe/*/signals.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range append(files, "observe/signals.go") {
		f := signalsOf(t, name)
		for _, key := range f.keys {
			if !f.declared[key] {
				t.Errorf("%s: %s is a key, and no signal is declared with it", name, key)
			}
		}
		tests := ""
		pages, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			tests += string(text)
		}
		call := regexp.MustCompile(`observetest\.Sampled\(t, &(?:\w+\.)?(\w+),`)
		sampled := map[string]bool{}
		for _, m := range call.FindAllStringSubmatch(tests, -1) {
			sampled[m[1]] = true
		}
		for _, d := range f.declarations {
			if n++; !sampled[d] {
				t.Errorf("%s: no test has observetest.Sampled(t, &%s, …)", name, d)
			}
		}
	}
	if n < 18 {
		t.Errorf("%d declarations have signals", n)
	}
}

// A signalsFile is what a file signals.go has.
type signalsFile struct {
	keys         []string // constants that are keys
	declared     map[string]bool
	declarations []string // variables whose declaration has signals
}

func signalsOf(t *testing.T, name string) (out signalsFile) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out.declared = map[string]bool{}
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for _, n := range v.Names {
				if g.Tok == token.CONST && n.IsExported() && !strings.HasSuffix(n.Name, "Name") && !strings.HasSuffix(n.Name, "Prefix") {
					out.keys = append(out.keys, n.Name)
				}
			}
			signals := false
			ast.Inspect(v, func(n ast.Node) bool {
				kv, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				signals = signals || isIdent(kv.Key, "Signals")
				if id, ok := kv.Value.(*ast.Ident); ok && isIdent(kv.Key, "Key") {
					out.declared[id.Name] = true
				}
				return true
			})
			if signals {
				out.declarations = append(out.declarations, v.Names[0].Name)
			}
		}
	}
	return out
}
