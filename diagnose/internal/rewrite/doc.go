// Package rewrite changes statements for the fixes of findings: a lookup for many keys
// at once, an order, a limit, rows inserted together.
//
// Its one idea: a statement is read with the SQL grammar, one part of its tree is
// changed, and the tree is printed; so conditions, joins, groups and locks stay, and what
// is printed can be parsed again. What cannot be kept is an error, and the finding then
// says in words what to do.
//
// A column that only the program knows is written as "…".
package rewrite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/kasoku/kasoku/diagnose/indexes"
)

// maxCode bounds a statement that people are to read, in bytes.
const maxCode = 4 << 10

var (
	errKind = errors.New("the statement is of another kind")
	errLong = errors.New("the rewritten statement is too long to read")
)

// unknown stands for a column that only the program knows.
const unknown = "…"

// parseSelect reads a plain SELECT, nothing that is united with others.
func parseSelect(text string) (*ast.SelectStmt, error) {
	stmt, err := indexes.ParseStatement(text)
	if err != nil {
		return nil, err
	}
	s, ok := stmt.(*ast.SelectStmt)
	if !ok || s.Kind != ast.SelectStmtKindSelect || s.From == nil || s.SelectIntoOpt != nil {
		return nil, errKind
	}
	return s, nil
}

// A printer quotes only the names that need it. The grammar writes a quoted name or
// string in three parts: the quote, all that is quoted, the quote.
type printer struct {
	strings.Builder
	quote string // that is open
	name  string // that is quoted by it
}

// Write implements io.Writer.
func (p *printer) Write(b []byte) (int, error) { return p.WriteString(string(b)) }

// WriteString implements format.RestoreWriter.
func (p *printer) WriteString(s string) (int, error) {
	switch {
	case p.quote == "" && (s == "`" || s == "'"):
		p.quote, p.name = s, ""
		if s == "'" {
			p.Builder.WriteString(s)
		}
	case p.quote == "":
		if s == "," {
			s = ", "
		}
		p.Builder.WriteString(s)
	case p.quote == "'":
		p.Builder.WriteString(s)
		if s == "'" {
			p.quote = ""
		}
	case s == "`":
		p.quote = ""
		if p.name != unknown {
			p.name = indexes.QuoteName(p.name)
		}
		p.Builder.WriteString(p.name)
	default:
		p.name = strings.ReplaceAll(s, "``", "`")
	}
	return len(s), nil
}

// printStatement prints a statement, with a semicolon.
func printStatement(n ast.Node) (code string, err error) {
	defer func() {
		if p := recover(); p != nil { // the grammar's code, on text that others wrote
			code, err = "", fmt.Errorf("print statement: %v", p)
		}
	}()
	var out printer
	flags := format.RestoreStringSingleQuotes | format.RestoreStringEscapeBackslash | format.RestoreKeyWordUppercase |
		format.RestoreNameBackQuotes | format.RestoreSpacesAroundBinaryOperation | format.RestoreStringWithoutDefaultCharset
	if err := n.Restore(format.NewRestoreCtx(flags, &out)); err != nil {
		return "", fmt.Errorf("print statement: %w", err)
	}
	if out.Len() > maxCode {
		return "", errLong
	}
	return out.String() + ";", nil
}

// columnNamed is a column of that name, which may be [unknown].
func columnNamed(name string) ast.ExprNode {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(name)}}
}

// parseInsert reads an INSERT or REPLACE with values.
func parseInsert(text string) (*ast.InsertStmt, error) {
	stmt, err := indexes.ParseStatement(text)
	if err != nil {
		return nil, err
	}
	i, ok := stmt.(*ast.InsertStmt)
	if !ok || i.Setlist || i.Select != nil || len(i.Lists) == 0 {
		return nil, errKind
	}
	return i, nil
}
