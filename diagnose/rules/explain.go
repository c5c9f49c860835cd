package rules

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"strings"

	"github.com/kasoku/kasoku/diagnose"
)

// source is this package's own text: the doc comment of a rule is what
// `kasoku rules` prints, so that it is written once.
//
//go:embed *.go
var source embed.FS

// Explain returns the doc comment of a rule: what it finds, then its Evidence,
// Cause, Fix and Silent.
func Explain(r diagnose.Rule) string {
	name := reflect.TypeOf(r).Name()
	files, err := fs.Glob(source, "*.go")
	if err != nil {
		return ""
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(source, file)
		if err != nil {
			return ""
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
		if err != nil {
			return ""
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
				return strings.TrimPrefix(g.Doc.Text(), name+" ")
			}
		}
	}
	return ""
}
