package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// starters are the names that start a program, by import path.
var starters = map[string][]string{
	"github.com/kasoku/kasoku/internal/command": {"Start", "Run", "Output", "Become"},
	"os/exec":               {"Command", "CommandContext", "Cmd"},
	"os":                    {"StartProcess"},
	"syscall":               {"Exec", "ForkExec", "StartProcess"},
	"golang.org/x/sys/unix": {"Exec"},
}

// notKasoku are directories and files that no user of kasoku's commands runs: labs,
// benchmarks, servers and helpers of tests.
var notKasoku = regexp.MustCompile(`^(labs|bench|sandbox|internal/test|tools)/|^cmd/kasoku/internal/labcmd/`)

// TestWhatRunsAsWhom: each place that starts a program stands in the table of
// ARCHITECTURE.md with whose word it is, and the table has no other.
func TestWhatRunsAsWhom(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	written, breaches := parsePlaces(string(page))
	tr := theTree(t)
	found := map[string]bool{}
	for _, f := range tr.files {
		if f.test || notKasoku.MatchString(f.path) {
			continue
		}
		places, err := startsIn(os.DirFS("."), f.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			found[p] = true
		}
	}
	if len(found) == 0 {
		t.Fatal("no place was found: nothing was checked")
	}
	for p := range found {
		if !slices.Contains(written, p) {
			breaches = append(breaches, p+" starts a program: say in ARCHITECTURE.md, What runs as whom, which, as whom, and by whose word")
		}
	}
	for _, p := range written {
		if !found[p] {
			breaches = append(breaches, "ARCHITECTURE.md, What runs as whom: "+p+" starts no program")
		}
	}
	report(t, breaches)
}

var placeRow = regexp.MustCompile("(?m)^\\| `([^`]+\\.go [^`]+)` \\|(.*)\\|$")

// parsePlaces reads the rows of a page that begin with a file and a function.
func parsePlaces(page string) (places, breaches []string) {
	for _, row := range placeRow.FindAllStringSubmatch(page, -1) {
		places = append(places, row[1])
		if cells := strings.Split(row[2], "|"); len(cells) != 3 ||
			slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			breaches = append(breaches, fmt.Sprintf("ARCHITECTURE.md, What runs as whom: the row of %s wants program, as whom, and why", row[1]))
		}
	}
	return places, breaches
}

// startsIn returns "FILE FUNCTION" of each function that starts a program.
func startsIn(fsys fs.FS, name string) (places []string, err error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	local := map[string]string{}
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
		base := path.Base(p)
		if spec.Name != nil {
			base = spec.Name.Name
		}
		local[base] = p
	}
	own := path.Dir(name) == "internal/command" // its own functions start what their callers say
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		where := "package level"
		if ok {
			where = fn.Name.Name
		}
		starts := false
		ast.Inspect(decl, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(starters[local[x.Name]], sel.Sel.Name) {
					starts = true
				}
			}
			return true
		})
		if starts && !own {
			places = append(places, name+" "+where)
		}
	}
	return places, nil
}

// TestStartsIn: the check finds what it is for.
func TestStartsIn(t *testing.T) {
	const text = `package p

import (
	run "os/exec"
	"syscall"

	"github.com/kasoku/kasoku/internal/command"
)

func a() { command.Run(nil, command.Spec{}) }
func b() { f := run.Command; _ = f }
func c() { syscall.Exec("", nil, nil) }
func d() { command.LookPath("x"); syscall.Kill(0, 0) }
var e = command.Output
`
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/x.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := startsIn(os.DirFS(dir), "x.go")
	if want := []string{"x.go a", "x.go b", "x.go c", "x.go package level"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	places, breaches := parsePlaces("| `a/b.go f` | sh | user | his word |\n| `a.go g` | sh | | |\n| a | b |\n")
	if !slices.Equal(places, []string{"a/b.go f", "a.go g"}) || len(breaches) != 1 {
		t.Errorf("%q, %q", places, breaches)
	}
}
