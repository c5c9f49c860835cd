package rules

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
)

// TestExplain: docs.json is what the doc comments of the rules say, each with the four
// labels.
func TestExplain(t *testing.T) {
	comments := docComments(t)
	texts := map[string]string{}
	for _, r := range All() {
		name := reflect.TypeOf(r).Name()
		texts[r.ID()] = strings.TrimPrefix(comments[name], name+" ")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(texts); err != nil {
		t.Fatal(err)
	}
	golden.CheckString(t, "docs.json", out.String())
	for id, text := range texts {
		for _, label := range []string{"Evidence:", "Cause:", "Fix:", "Silent:"} {
			if !strings.Contains(text, label) {
				t.Errorf("%s: no %s in %q", id, label, text)
			}
		}
	}
}

// docComments returns the comment of each type of the package.
func docComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				spec, _ := g.Specs[0].(*ast.TypeSpec)
				out[spec.Name.Name] = g.Doc.Text()
			}
		}
	}
	return out
}
