package rewrite

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

var (
	errHasLimit = errors.New("rows beyond the LIMIT of the statement would be missing")
	errShape    = errors.New("how the lookup tests the shape is not in the statement")
)

// AddOrder gives a SELECT of one table without ORDER BY one by that column.
func (d Dialect) AddOrder(text, column string) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	if s.From.TableRefs.Right != nil || s.OrderBy != nil || selectsValue(s) || s.Distinct || s.GroupBy != nil || inspectNode(s).figures {
		return "", errKind
	}
	s.OrderBy = &ast.OrderByClause{Items: []*ast.ByItem{{Expr: columnNamed(column), NullOrder: true}}}
	return printStatement(s)
}

// AskWhether rewrites a SELECT that counts rows so that it asks whether there is one. A
// count of a column leaves out rows, and is refused.
func (d Dialect) AskWhether(text string) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	if len(s.Fields.Fields) != 1 || s.GroupBy != nil || s.Having != nil || s.Limit != nil || s.Distinct ||
		!countsRows(s.Fields.Fields[0].Expr) {
		return "", errKind
	}
	s.Fields.Fields[0] = &ast.SelectField{Expr: ast.NewValueExpr(1, "", "")}
	s.OrderBy, s.Limit = nil, &ast.Limit{Count: ast.NewValueExpr(1, "", "")}
	return printStatement(s)
}

// countsRows reports whether an expression is COUNT(*) or of a number.
func countsRows(e ast.ExprNode) bool {
	f, ok := e.(*ast.AggregateFuncExpr)
	return ok && strings.EqualFold(f.F, ast.AggFuncCount) && !f.Distinct && len(f.Args) == 1 && isValue(f.Args[0])
}

// AddShape adds to a SELECT that reads what lies in a box of two columns the conditions of
// the lookup that asks for each of its rows whether it lies in the shape. The lookup must
// be by a unique key of the same table. A point that it is sent as a value is made of the
// two columns.
func (d Dialect) AddShape(list, lookup string, box []string, unique [][]string) (string, error) {
	s, err := d.parseSelect(list)
	if err != nil {
		return "", err
	}
	l, err := d.parseSelect(lookup)
	if err != nil {
		return "", err
	}
	keys, rest := splitKeys(l.Where)
	var names []string
	for _, k := range keys {
		names = append(names, k.Name.Name.O)
	}
	switch {
	case s.Limit != nil:
		return "", errHasLimit
	case s.GroupBy != nil || inspectNode(s).figures || l.GroupBy != nil || l.Having != nil || inspectNode(l).figures:
		return "", errKind
	case !sameTable(s, l) || !hasUnique(l, names, unique):
		return "", errShape
	}
	tested := false
	for i, e := range rest {
		f, ok := unwrapParentheses(e).(*ast.FuncCallExpr)
		if !ok {
			continue
		}
		at, known := pointOf[f.FnName.L]
		if !known || len(f.Args) != 2 || tested {
			return "", errShape
		}
		if rest[i], tested = f, true; !hasColumn(f) {
			args := slices.Clone(f.Args)
			args[at] = &ast.FuncCallExpr{FnName: ast.NewCIStr("POINT"),
				Args: []ast.ExprNode{columnNamed(box[0]), columnNamed(box[1])}}
			rest[i] = &ast.FuncCallExpr{FnName: f.FnName, Args: args}
		}
	}
	if !tested {
		return "", errShape
	}
	s.Where = joinAnd(append(splitAnd(s.Where), rest...))
	return printStatement(s)
}

// pointOf is which argument of a test of a shape is the point.
var pointOf = map[string]int{"st_contains": 1, "mbrcontains": 1, "st_within": 0, "mbrwithin": 0}

func hasColumn(e ast.ExprNode) bool {
	return holds(e, func(n ast.Node) bool {
		_, is := n.(*ast.ColumnNameExpr)
		return is
	})
}

// holds reports whether one of the nodes of a tree is such a one.
func holds(tree ast.Node, such func(ast.Node) bool) bool {
	f := &nodeFinder{such: such}
	tree.Accept(f)
	return f.found
}

type nodeFinder struct {
	such  func(ast.Node) bool
	found bool
}

// Enter implements ast.Visitor.
func (f *nodeFinder) Enter(n ast.Node) (ast.Node, bool) {
	f.found = f.found || f.such(n)
	return n, f.found
}

// Leave implements ast.Visitor.
func (f *nodeFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// InsertMany rewrites an INSERT or REPLACE of one row so that it has three. What a row
// reads of those before it, or values that stand outside of the row, cannot be kept.
func (d Dialect) InsertMany(text string) (string, error) {
	node, err := d.parse(text)
	if err != nil {
		return "", err
	}
	i, ok := node.(*ast.InsertStmt)
	if !ok || i.Setlist || i.Select != nil || len(i.Lists) != 1 {
		return "", errKind
	}
	if c := inspectNode(i); c.volatile || c.queries > 0 {
		return "", errVolatile
	}
	for _, a := range i.OnDuplicate {
		if inspectNode(a.Expr).values > 0 {
			return "", errInner
		}
	}
	row := i.Lists[0]
	i.Lists = [][]ast.ExprNode{row, row, row}
	return printStatement(i)
}
