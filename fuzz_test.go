package kasoku_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// parses are the names of exported functions and methods that read what others wrote.
var parses = regexp.MustCompile(`^(?:Parse|Detect|Read|Decode|Unmarshal|Scan|New\w*Reader)\w*$`)

// Each package with an exported parser has a fuzz target, whose seeds every run of the
// tests replays.
func TestParsersAreFuzzed(t *testing.T) {
	t.Parallel()
	has, fuzzed := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			switch top, _, _ := strings.Cut(name, "/"); {
			case top == "labs", top == "bench", top == "cmd", top == "tools", top == "internal",
				name != "." && strings.HasPrefix(path.Base(name), "."), path.Base(name) == "testdata":
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			switch fn, ok := decl.(*ast.FuncDecl); {
			case !ok:
			case strings.HasSuffix(name, "_test.go"):
				fuzzed[path.Dir(name)] = fuzzed[path.Dir(name)] || strings.HasPrefix(fn.Name.Name, "Fuzz")
			case parses.MatchString(fn.Name.Name):
				has[path.Dir(name)] = fn.Name.Name
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, name := range has {
		if !fuzzed[dir] {
			t.Errorf("%s: %s reads what others wrote, and no fuzz target is there", dir, name)
		}
	}
	if len(has) < 20 {
		t.Errorf("only %d packages with parsers were found", len(has))
	}
}
