package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
)

// plants are the parts in which the tests here plant a panic.
var plants plantLedger

type plantLedger struct {
	mu    sync.Mutex
	parts []contain.Part
	ended int // tests
}

// plantingTests is how many tests plant. The last of them to end, where all of them run,
// checks that they left out no part that the code names.
const plantingTests = 4

// begin is called by each test that plants.
func (l *plantLedger) begin(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.ended++; l.ended == plantingTests {
			l.check(t)
		}
	})
}

func (l *plantLedger) add(p contain.Part) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, p)
}

// plantedElsewhere are the parts in which a test of another package plants a panic, as
// "PACKAGE TEST".
var plantedElsewhere = map[string]string{
	"goroutine carbon agent":         "load/carbon TestPlanted",
	"goroutine carbon agents":        "load/carbon TestPlanted",
	"goroutine carbon connection":    "load/carbon TestPlanted",
	"goroutine graphite sender":      "wire/graphite TestPlantedSender",
	"goroutine loading of a program": "trace/kernel TestPlantedLoading",
	"output page of metrics":         "export TestPlantedPage",
	"output page of a server":        "serve TestPlantedPage",
	"panel run":                      "watch TestPlantedRun",
	"step recording":                 "fleet/gather TestPlantedRecording",
	"step reading":                   "fleet/gather TestPlantedReading",
}

// unplanted are the parts in which none does, each with why.
var unplanted = map[string]string{
	"goroutine lock of the guard":      "it is in a guard alone whose recorder was killed, which has no answer",
	"step end of the command":          "as above",
	"step slow log of new sessions":    "it begins when a slow log is a burden, after half a minute; what it returns is an error of the step that holds it",
	"goroutine sampling of goroutines": "it needs the right to read a Go program of another process; without samples the profile says so",
	"engine dial":                      "it is entered where a name has addresses of both families; its error is that of the request",
	"engine scenario":                  "no command here has a scenario: labs do",
	"engine progress of a scenario":    "as above",
	"engine resources of a page":       "as above",
	"goroutine vars":                   "the page of attack --carbon --vars: who reads it says what is missing",
	"engine share":                     "it is entered in kasoku-hub; without it the coordinator says that a share was not sent",
	"step answer":                      "as above: the question is asked again",
	"step ask":                         "as above; a bug there is one of the connection, which has an error",
	"step generator":                   "it needs a fleet; its error is that of a generator",
	"step seconds":                     "no command here makes the load in the recorder: labs do",
	"output server of pages":           "it is the server itself: its error ends the command",
	"source runs of a directory":       "it looks each second while a page waits for news; the next page begins another",
	"step sums of a run":               "what it adds up is added up where it is asked for",
	"step run of the page":             "it waits for a run that a page began; the run is a process of its own",
	"step output of the page's run":    "as above: more of it stays in memory",
	"step end of the page's run":       "as above",
	"step autopilot":                   "it needs a lab that it may change; TestAutopilot has its errors",
	"step trial:*":                     "it needs a project that it may change; an error of a trial puts back all the same",
}

// ofHost are the parts that are entered only where something else runs on the host, each with what: what is
// entered once may not be entered again, so no panic is planted in them.
var ofHost = map[string]string{
	"check profiles of a program":        "a program that listens, such as those of other tests",
	"goroutine sessions of the database": "a program of another project that connects anew for each request; one look lacks what it would list",
}

// check compares the parts with those that the code names.
func (l *plantLedger) check(t *testing.T) {
	t.Helper()
	named := namedParts(t)
	for _, n := range named {
		visited := slices.ContainsFunc(l.parts, n.matches)
		switch elsewhere, why := plantedElsewhere[n.String()], unplanted[n.String()]; {
		case ofHost[n.String()] != "" && elsewhere+why == "":
		case visited && elsewhere+why != "":
			t.Errorf("%s is listed as an exception, and a panic is planted in it here", n)
		case !visited && elsewhere+why == "":
			t.Errorf("%s: no test plants a panic in %s", n.at, n)
		case elsewhere != "" && !plantsIn(t, elsewhere):
			t.Errorf("%s: %s plants nothing", n, elsewhere)
		}
	}
	for _, list := range []map[string]string{plantedElsewhere, unplanted, ofHost} {
		for name := range list {
			if !slices.ContainsFunc(named, func(n namedPart) bool { return n.String() == name }) {
				t.Errorf("%s is an exception, and no part", name)
			}
		}
	}
}

// plantsIn reports whether a test, as "PACKAGE TEST", is there, in a file that plants panics.
func plantsIn(t *testing.T, test string) bool {
	t.Helper()
	dir, name, _ := strings.Cut(test, " ")
	files, err := fs.Glob(os.DirFS(tree), dir+"/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		src, err := os.ReadFile(path.Join(tree, file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(src)
		return strings.Contains(text, "func "+name+"(") && (strings.Contains(text, "contain.Plant(") || strings.Contains(text, "contain.Visit("))
	})
}

// tree is where the code is.
const tree = "../.."

// A namedPart is a part as the code names it.
type namedPart struct {
	kind, name string // of a name what is constant
	more       bool   // after it the name goes on
	at         string // FILE:LINE
}

// String is the name as the lists above have it: source *.
func (n namedPart) String() string {
	s := contain.Part{Kind: n.kind, Name: n.name}.String()
	if !n.more {
		return s
	}
	if n.name == "" {
		s += " "
	}
	return s + "*"
}

func (n namedPart) matches(p contain.Part) bool {
	return p.Kind == n.kind && (p.Name == n.name || n.more && strings.HasPrefix(p.Name, n.name))
}

// A naming is a function that makes a part of one of its arguments.
type naming struct {
	part namedPart // without what the argument adds
	arg  int
}

// namedParts returns the parts that the code names: literals of contain.Part, and what calls
// give to the functions that take its name as an argument.
func namedParts(t *testing.T) (out []namedPart) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	err := fs.WalkDir(os.DirFS(tree), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || name == "internal/contain") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path.Join(tree, name))
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	namings := map[string]naming{} // by DIRECTORY FUNCTION
	seen := map[token.Pos]bool{}   // literals and calls that are known
	note := func(pos token.Pos, in *ast.FuncDecl, dir string, part namedPart, name ast.Expr) {
		seen[pos] = true
		part.at = set.Position(pos).String()
		if arg := argumentOf(in, name); arg >= 0 {
			namings[dir+" "+in.Name.Name] = naming{part, arg}
			return
		}
		text, whole := constantStart(name)
		part.name, part.more = part.name+text, !whole
		if !slices.ContainsFunc(out, func(n namedPart) bool { return n.String() == part.String() }) {
			out = append(out, part)
		}
	}
	for known := -1; known < len(seen); { // a naming may call a naming
		known = len(seen)
		for _, f := range files {
			dir := path.Dir(set.Position(f.Pos()).Filename)
			for _, d := range f.Decls {
				in, _ := d.(*ast.FuncDecl)
				ast.Inspect(d, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.CompositeLit:
						if kind, name, ok := partOf(n); ok && !seen[n.Pos()] {
							note(n.Pos(), in, dir, namedPart{kind: kind}, name)
						}
					case *ast.CallExpr:
						if m, ok := namings[calledIn(dir, n)]; ok && !seen[n.Pos()] && m.arg < len(n.Args) {
							note(n.Pos(), in, dir, m.part, n.Args[m.arg])
						}
					}
					return true
				})
			}
		}
	}
	if len(out) < 100 {
		t.Errorf("%d parts were found", len(out))
	}
	return out
}

// partOf returns kind and name of a literal of contain.Part; no name is nil.
func partOf(lit *ast.CompositeLit) (kind string, name ast.Expr, ok bool) {
	if !isSelector(lit.Type, "contain", "Part") {
		return "", nil, false
	}
	for _, e := range lit.Elts {
		field, isField := e.(*ast.KeyValueExpr)
		if !isField {
			continue
		}
		switch key := field.Key.(*ast.Ident); key.Name {
		case "Kind":
			if s, isSel := field.Value.(*ast.SelectorExpr); isSel {
				kind = strings.ToLower(s.Sel.Name)
			}
		case "Name":
			name = field.Value
		}
	}
	return kind, name, slices.Contains(contain.Kinds(), kind)
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && s.Sel.Name == name
}

// calledIn returns the function of the same directory that a call may be of.
func calledIn(dir string, call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return dir + " " + f.Name
	case *ast.SelectorExpr:
		return dir + " " + f.Sel.Name
	}
	return ""
}

// argumentOf returns which argument of the function a name begins to be made of, -1: none.
func argumentOf(in *ast.FuncDecl, name ast.Expr) int {
	if b, ok := name.(*ast.BinaryExpr); ok {
		if _, constant := b.X.(*ast.BasicLit); constant {
			return -1 // what it adds is left out
		}
	}
	id, ok := name.(*ast.Ident)
	if in == nil || !ok {
		return -1
	}
	i := 0
	for _, field := range in.Type.Params.List {
		for _, param := range field.Names {
			if param.Name == id.Name {
				return i
			}
			i++
		}
	}
	return -1
}

// constantStart returns the text that an expression begins with, and whether that is all.
func constantStart(e ast.Expr) (text string, whole bool) {
	switch e := e.(type) {
	case nil:
		return "", true
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		text, _ = constantStart(e.X)
	}
	return text, false
}
