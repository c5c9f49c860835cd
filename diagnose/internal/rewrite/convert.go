package rewrite

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// AsText rewrites a SELECT that compares a column with numbers so that it compares it with texts:
// each value that the column of the table, by its alias, equals becomes one that only the program
// knows.
func (d Dialect) AsText(text, alias, column string) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	done := false
	isColumn := func(e ast.ExprNode) bool {
		c, ok := unwrapParentheses(e).(*ast.ColumnNameExpr)
		return ok && strings.EqualFold(c.Name.Name.O, column) && (c.Name.Table.L == "" || c.Name.Table.L == alias)
	}
	asText := func(e ast.ExprNode) ast.ExprNode {
		value := unwrapParentheses(e)
		if u, ok := value.(*ast.UnaryOperationExpr); ok { // -1
			value = unwrapParentheses(u.V)
		}
		if !isValue(value) {
			return e
		}
		done = true
		return ast.NewValueExpr("?", "", "")
	}
	for _, e := range splitAnd(s.Where) {
		switch e := unwrapParentheses(e).(type) {
		case *ast.BinaryOperationExpr:
			switch {
			case e.Op != opcode.EQ && e.Op != opcode.NullEQ:
			case isColumn(e.L):
				e.R = asText(e.R)
			case isColumn(e.R):
				e.L = asText(e.L)
			}
		case *ast.PatternInExpr:
			if isColumn(e.Expr) && !e.Not && e.Sel == nil {
				for i := range e.List {
					e.List[i] = asText(e.List[i])
				}
			}
		}
	}
	if !done {
		return "", errUntouched
	}
	return printStatement(s)
}
