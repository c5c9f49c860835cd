package rewrite

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// rowNumber returns the name of the column that counts the rows of each key: one that nothing
// else which is sent has.
func rowNumber(names map[string]bool, columns []string) string {
	name := "row_no"
	taken := func(c string) bool { return strings.EqualFold(c, name) }
	for n := 2; names[name] || slices.ContainsFunc(columns, taken); n++ {
		name = "row_no_" + strconv.Itoa(n)
	}
	return name
}

var (
	errLimit   = errors.New("a LIMIT for each key cannot be kept")
	errNoOrder = errors.New("a LIMIT without ORDER BY takes any rows: say first which ones")
	errOffset  = errors.New("the page that a LIMIT takes of each key cannot be kept")
	errOld     = errors.New("a LIMIT for each key needs ROW_NUMBER(), which this server does not have")
)

// limitPerKey wraps a SELECT for many keys so that it sends the first rows of each, in
// their order: the rows of each key are counted by a function over a window.
func limitPerKey(s *ast.SelectStmt, keys []*ast.ColumnNameExpr, limit *ast.Limit, columns []string) (*ast.SelectStmt,
	error) {
	names, ok := outputNames(s)
	switch {
	case limit.Offset != nil:
		return nil, errOffset
	case s.OrderBy == nil:
		return nil, errNoOrder
	case !ok || s.Distinct || s.GroupBy != nil || s.Having != nil ||
		s.LockInfo != nil || s.With != nil:
		return nil, errLimit
	}
	order, err := orderOfRows(s)
	if err != nil {
		return nil, err
	}
	s.OrderBy = nil
	number := rowNumber(names, columns)
	part := &ast.PartitionByClause{}
	for _, k := range keys {
		part.Items = append(part.Items, &ast.ByItem{Expr: k, NullOrder: true})
	}
	fields := s.Fields.Fields
	if len(fields) == 1 && fields[0].WildCard != nil && fields[0].WildCard.Table.L == "" {
		name := tableOf(s).AsName // MariaDB takes no * beside other columns without its table
		if name.L == "" {
			name = tableOf(s).Source.(*ast.TableName).Name
		}
		fields[0] = &ast.SelectField{WildCard: &ast.WildCardField{Table: name}}
	}
	s.Fields.Fields = append(fields, &ast.SelectField{AsName: ast.NewCIStr(number),
		Expr: &ast.WindowFuncExpr{Name: "ROW_NUMBER", Spec: ast.WindowSpec{PartitionBy: part, OrderBy: order}}})
	from := &ast.TableSource{Source: s, AsName: ast.NewCIStr("numbered")}
	return &ast.SelectStmt{SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true}, Kind: ast.SelectStmtKindSelect,
		Fields:  &ast.FieldList{Fields: []*ast.SelectField{{WildCard: &ast.WildCardField{}}}},
		From:    &ast.TableRefsClause{TableRefs: &ast.Join{Left: from}},
		Where:   &ast.BinaryOperationExpr{Op: opcode.LE, L: columnNamed(number), R: limit.Count},
		OrderBy: &ast.OrderByClause{Items: []*ast.ByItem{{Expr: columnNamed(number), NullOrder: true}}}}, nil
}

// orderOfRows returns the order as a window can have it, which knows no other names of
// columns than those of the tables.
func orderOfRows(s *ast.SelectStmt) (*ast.OrderByClause, error) {
	renamed := map[string]ast.ExprNode{}
	for _, f := range s.Fields.Fields {
		if f.AsName.L != "" {
			renamed[f.AsName.L] = f.Expr
		}
	}
	out := &ast.OrderByClause{ForUnion: s.OrderBy.ForUnion}
	for _, item := range s.OrderBy.Items {
		copied := *item
		if c, ok := item.Expr.(*ast.ColumnNameExpr); ok && c.Name.Table.L == "" {
			if e := renamed[c.Name.Name.L]; e != nil {
				copied.Expr = e
			}
		} else if namesAny(item.Expr, renamed) {
			return nil, errLimit
		}
		if inspectNode(copied.Expr).queries > 0 {
			return nil, errLimit
		}
		out.Items = append(out.Items, &copied)
	}
	return out, nil
}

// namesAny reports whether an expression has a column that bears one of the names.
func namesAny(e ast.ExprNode, names map[string]ast.ExprNode) bool {
	f := &nameFinder{names: names}
	e.Accept(f)
	return f.found
}

type nameFinder struct {
	names map[string]ast.ExprNode
	found bool
}

// Enter implements ast.Visitor.
func (f *nameFinder) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnNameExpr); ok && c.Name.Table.L == "" && f.names[c.Name.Name.L] != nil {
		f.found = true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *nameFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
