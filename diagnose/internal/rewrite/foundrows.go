package rewrite

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// SplitFoundRows rewrites a SELECT with SQL_CALC_FOUND_ROWS as two: the page without it, and
// the count of all rows that FOUND_ROWS() would return.
func (d Dialect) SplitFoundRows(text string) (page, count string, err error) {
	stmt, err := d.parse(text)
	if err != nil {
		return "", "", err
	}
	s, ok := stmt.(*ast.SelectStmt)
	if !ok || s.SelectStmtOpts == nil || !s.CalcFoundRows || s.Kind != ast.SelectStmtKindSelect || s.From == nil ||
		s.SelectIntoOpt != nil {
		return "", "", errKind
	}
	s.CalcFoundRows = false
	if err := checkSelect(s, inspectNode(s)); err != nil {
		return "", "", err
	}
	if page, err = printStatement(s); err != nil {
		return "", "", err
	}
	figures := inspectNode(s)
	s.OrderBy, s.Limit, s.LockInfo = nil, nil, nil
	if figures.figures || figures.window || s.GroupBy != nil || s.Having != nil || s.Distinct {
		if _, ok := outputNames(s); !ok {
			return "", "", errKind // a derived table cannot have two columns of one name
		}
		inner, err := printStatement(s)
		if err != nil {
			return "", "", err
		}
		return page, "SELECT COUNT(*) FROM (" + strings.TrimSuffix(inner, ";") + ") AS every_row;", nil
	}
	s.Fields = &ast.FieldList{Fields: []*ast.SelectField{{Expr: &ast.AggregateFuncExpr{F: "COUNT",
		Args: []ast.ExprNode{ast.NewValueExpr(1, "", "")}}}}}
	count, err = printStatement(s)
	return page, count, err
}
