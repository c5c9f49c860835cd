package rewrite

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

var errHasLimit = errors.New("rows beyond the LIMIT of the statement would be missing")

// AddOrder gives a SELECT without ORDER BY one by a column that only the program knows.
func AddOrder(text string) (string, error) {
	s, err := parseSelect(text)
	if err != nil {
		return "", err
	}
	if s.OrderBy != nil {
		return "", errKind
	}
	s.OrderBy = orderBy(false)
	return printStatement(s)
}

func orderBy(desc bool) *ast.OrderByClause {
	return &ast.OrderByClause{Items: []*ast.ByItem{{Expr: columnNamed(unknown), Desc: desc, NullOrder: !desc}}}
}

// TakeFirst rewrites a SELECT so that it sends its first row alone; one without ORDER BY
// gets one. What stands for all columns becomes a column that only the program knows.
func TakeFirst(text string) (string, error) {
	s, err := parseSelect(text)
	if err != nil {
		return "", err
	}
	if s.Limit != nil {
		return "", errHasLimit
	}
	if f := s.Fields.Fields; len(f) == 1 && f[0].WildCard != nil {
		f[0] = &ast.SelectField{Expr: columnNamed(unknown)}
	}
	if s.OrderBy == nil {
		s.OrderBy = orderBy(true)
	}
	s.Limit = limitOne()
	return printStatement(s)
}

func limitOne() *ast.Limit { return &ast.Limit{Count: ast.NewValueExpr(1, "", "")} }

// AskWhether rewrites a SELECT that counts rows so that it asks whether there is one.
func AskWhether(text string) (string, error) {
	s, err := parseSelect(text)
	if err != nil {
		return "", err
	}
	if len(s.Fields.Fields) != 1 || s.GroupBy != nil || s.Having != nil || s.Limit != nil {
		return "", errKind
	}
	s.Fields.Fields[0] = &ast.SelectField{Expr: ast.NewValueExpr(1, "", "")}
	s.OrderBy, s.Distinct, s.Limit = nil, false, limitOne()
	return printStatement(s)
}

// AddShape adds to a SELECT that the point of two columns lies in a shape.
func AddShape(text, x, y string) (string, error) {
	s, err := parseSelect(text)
	if err != nil {
		return "", err
	}
	if s.Limit != nil {
		return "", errHasLimit
	}
	if s.GroupBy != nil || inspectSelect(s).figures {
		return "", errKind
	}
	shape := callOf("ST_PolygonFromText", ast.NewParamMarkerExpr(0))
	inside := callOf("ST_Contains", shape, callOf("POINT", columnNamed(x), columnNamed(y)))
	s.Where = joinAnd(append(splitAnd(s.Where), inside))
	return printStatement(s)
}

func callOf(name string, args ...ast.ExprNode) ast.ExprNode {
	return &ast.FuncCallExpr{FnName: ast.NewCIStr(name), Args: args}
}

// AddRange adds to a SELECT a range of a column that only the program knows.
func AddRange(text string) (string, error) {
	s, err := parseSelect(text)
	if err != nil {
		return "", err
	}
	all := splitAnd(s.Where)
	for _, op := range []opcode.Op{opcode.GE, opcode.LT} {
		all = append(all, &ast.BinaryOperationExpr{Op: op, L: columnNamed(unknown), R: ast.NewParamMarkerExpr(0)})
	}
	s.Where = joinAnd(all)
	return printStatement(s)
}

// InsertMany rewrites an INSERT or REPLACE of one row so that it has three.
func InsertMany(text string) (string, error) {
	stmt, err := parseInsert(text)
	if err != nil {
		return "", err
	}
	row := stmt.Lists[0]
	stmt.Lists = [][]ast.ExprNode{row, row, row}
	return printStatement(stmt)
}
