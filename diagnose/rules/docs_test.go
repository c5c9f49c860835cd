package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labels are the parts that the doc comment of a rule must have, in this order.
var labels = []string{"Evidence: ", "Cause: ", "Fix: ", "Silent: "}

// ruleDoc is a rule's type as its source shows it.
type ruleDoc struct{ file, name, doc string }

// ruleDocs returns the types of the package that have a method Check.
func ruleDocs(t *testing.T) []ruleDoc {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	docs := map[string]ruleDoc{}
	checked := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "Check" && d.Recv != nil {
					if id, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
						checked[id.Name] = name
					}
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok {
						docs[ts.Name.Name] = ruleDoc{name, ts.Name.Name, d.Doc.Text()}
					}
				}
			}
		}
	}
	var out []ruleDoc
	for name, file := range checked {
		d := docs[name]
		if d.file != file {
			t.Errorf("%s: type in %s, Check in %s", name, d.file, file)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b ruleDoc) int { return strings.Compare(a.file, b.file) })
	return out
}

// TestRuleDocs: one rule a file, and each says in the fixed form what it looks at.
func TestRuleDocs(t *testing.T) {
	docs := ruleDocs(t)
	if len(docs) != len(All()) {
		t.Errorf("%d rules in the source, %d in All", len(docs), len(All()))
	}
	for i, d := range docs {
		if i > 0 && docs[i-1].file == d.file {
			t.Errorf("%s: two rules, %s and %s", d.file, docs[i-1].name, d.name)
		}
		if !strings.HasPrefix(d.doc, d.name+" ") {
			t.Errorf("%s: the comment does not begin with the name", d.name)
		}
		from := 0
		for _, l := range labels {
			at := strings.Index(d.doc[from:], "\n"+l)
			if at < 0 {
				t.Errorf("%s: %s: no %q after the part before it", d.file, d.name, strings.TrimSpace(l))
				break
			}
			from += at + len(l)
		}
	}
}

// TestIDs: ids are unique and every testdata directory belongs to one.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All() {
		if seen[r.ID()] {
			t.Errorf("%s twice", r.ID())
		}
		seen[r.ID()] = true
	}
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if d.IsDir() && d.Name() != "fuzz" && d.Name() != "rapid" && !seen[d.Name()] {
			t.Errorf("testdata/%s belongs to no rule", d.Name())
		}
	}
}
