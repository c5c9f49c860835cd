// Package rewrite changes statements for the fixes of findings: a lookup for many keys
// at once, an order, a limit, rows inserted together.
//
// Its one idea: a statement is read with the SQL grammar, one part of its tree is
// changed, and the tree is printed; so conditions, joins, groups and locks stay, and what
// is printed can be parsed again. What cannot be shown to answer the same is an error,
// and the finding then says in words what to do; diagnose/pasted runs each kind of
// rewrite beside its original on real servers.
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
	errRead = errors.New("its text is not one that can be rewritten safely")
)

// parse reads a statement that the server reads in the same way. Of a list of values
// that was cut short two are left, so that it stays a list.
func (d Dialect) parse(text string) (ast.StmtNode, error) {
	if err := d.check(text); err != nil {
		return nil, err
	}
	n, err := indexes.ParseStatement(strings.ReplaceAll(strings.ReplaceAll(text, "?, …)", "?, ?)"), "?+)", "?, ?)"))
	if err != nil {
		return nil, errRead // where the grammar stopped helps no reader of a finding
	}
	return n, nil
}

// parseSelect reads a plain SELECT, nothing that is united with others.
func (d Dialect) parseSelect(text string) (*ast.SelectStmt, error) {
	stmt, err := d.parse(text)
	if err != nil {
		return nil, err
	}
	s, ok := stmt.(*ast.SelectStmt)
	if !ok || s.Kind != ast.SelectStmtKindSelect || s.From == nil || s.SelectIntoOpt != nil {
		return nil, errKind
	}
	return s, checkSelect(s, inspectNode(s))
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
		p.Builder.WriteString(indexes.QuoteName(p.name))
	default:
		p.name = strings.ReplaceAll(s, "``", "`")
	}
	return len(s), nil
}

// shared is how a lock is printed that not each server can read, and how each can.
const shared, sharedByAll = " FOR SHARE", " LOCK IN SHARE MODE"

// printStatement prints a statement, with a semicolon. What is printed must be read again as
// it was meant: the grammar leaves out the value that TRIM(LEADING ? FROM a) takes off.
func printStatement(n ast.Node) (code string, err error) {
	defer func() {
		if p := recover(); p != nil { // the grammar's code, on text that others wrote
			code, err = "", fmt.Errorf("print statement: %v", p)
		}
	}()
	var out printer
	flags := format.RestoreStringSingleQuotes | format.RestoreStringEscapeBackslash | format.RestoreKeyWordUppercase |
		format.RestoreNameBackQuotes | format.RestoreSpacesAroundBinaryOperation | format.RestoreStringWithoutDefaultCharset
	undo := keepLimits(n)
	err = n.Restore(format.NewRestoreCtx(flags, &out))
	undo()
	if err != nil {
		return "", fmt.Errorf("print statement: %w", err)
	}
	if out.Len() > maxCode {
		return "", errLong
	}
	text := out.String()
	if rest, ok := strings.CutSuffix(text, shared); ok {
		text = rest + sharedByAll
	}
	if _, whole := n.(ast.StmtNode); whole {
		again, err := indexes.ParseStatement(text)
		if err != nil || inspectNode(again).values != inspectNode(n).values {
			return "", errRead
		}
	}
	return text + ";", nil
}

// columnNamed is a column of that name.
func columnNamed(name string) ast.ExprNode {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(name)}}
}
