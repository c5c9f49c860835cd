package rewrite

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// A Batch is a lookup for many keys at once.
type Batch struct {
	SQL     string
	Keys    []string // the columns of the keys
	Grouped bool     // a row for each key that has rows: a count of 0 is missing
	Others  bool     // values that are no keys, which must be the same for all
}

var (
	errNoKey  = errors.New("the statement compares no column with one value")
	errLimit  = errors.New("a LIMIT for each key cannot be kept")
	errWindow = errors.New("functions over windows cannot be kept")
)

// shownKeys is how many keys the lookup is written for.
const shownKeys = 3

// LookUpMany rewrites a SELECT that looks up by one value of each of its keys, so that
// it takes several: the keys, which must all match, become a list, and all else stays.
// Keys that are not chosen are chosen too, and figures are grouped by them. A LIMIT goes
// only where the keys hold one of the unique ones, so that there is one row at most.
func LookUpMany(text string, unique [][]string) (Batch, error) {
	s, err := parseSelect(text)
	if err != nil {
		return Batch{}, err
	}
	keys, rest := splitKeys(s.Where)
	if len(keys) == 0 {
		return Batch{}, errNoKey
	}
	b := Batch{}
	for _, k := range keys {
		b.Keys = append(b.Keys, k.Name.Name.O)
	}
	if s.Limit != nil {
		if s.Limit.Offset != nil || !hasUnique(s, b.Keys, unique) {
			return Batch{}, errLimit
		}
		s.Limit = nil
	}
	found := inspectSelect(s)
	if found.window {
		return Batch{}, errWindow
	}
	b.Others = found.values > len(keys)
	s.Where = joinAnd(append([]ast.ExprNode{inKeys(keys)}, rest...))
	chooseKeys(s, keys)
	if b.Grouped = found.figures && s.GroupBy == nil; found.figures || s.GroupBy != nil {
		groupByKeys(s, keys)
	}
	b.SQL, err = printStatement(s)
	return b, err
}

// hasUnique reports whether the keys hold all columns of a unique one of the only table.
func hasUnique(s *ast.SelectStmt, keys []string, unique [][]string) bool {
	if s.From.TableRefs.Right != nil {
		return false
	}
	return slices.ContainsFunc(unique, func(columns []string) bool {
		return len(columns) > 0 && !slices.ContainsFunc(columns, func(name string) bool {
			return !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, name) })
		})
	})
}

// splitKeys returns the columns that must equal one value each, and the other conditions.
func splitKeys(where ast.ExprNode) (keys []*ast.ColumnNameExpr, rest []ast.ExprNode) {
	for _, e := range splitAnd(where) {
		if c := keyOf(e); c != nil {
			keys = append(keys, c)
			continue
		}
		rest = append(rest, e)
	}
	return keys, rest
}

func keyOf(e ast.ExprNode) *ast.ColumnNameExpr {
	b, ok := unwrapParentheses(e).(*ast.BinaryOperationExpr)
	if !ok || b.Op != opcode.EQ {
		return nil
	}
	for _, pair := range [2][2]ast.ExprNode{{b.L, b.R}, {b.R, b.L}} {
		c, ok := unwrapParentheses(pair[0]).(*ast.ColumnNameExpr)
		if ok && isValue(unwrapParentheses(pair[1])) {
			return c
		}
	}
	return nil
}

func isValue(e ast.ExprNode) bool {
	_, ok := e.(ast.ValueExpr) // those of a mask too
	return ok
}

func unwrapParentheses(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// splitAnd returns the conditions that must all hold.
func splitAnd(e ast.ExprNode) []ast.ExprNode {
	if e == nil {
		return nil
	}
	if b, ok := unwrapParentheses(e).(*ast.BinaryOperationExpr); ok && b.Op == opcode.LogicAnd {
		return append(splitAnd(b.L), splitAnd(b.R)...)
	}
	return []ast.ExprNode{e}
}

// joinAnd demands all conditions; those that bind weaker stand in parentheses.
func joinAnd(all []ast.ExprNode) ast.ExprNode {
	var out ast.ExprNode
	for _, e := range all {
		if b, ok := e.(*ast.BinaryOperationExpr); ok && (b.Op == opcode.LogicOr || b.Op == opcode.LogicXor) {
			e = &ast.ParenthesesExpr{Expr: e}
		}
		if out == nil {
			out = e
			continue
		}
		out = &ast.BinaryOperationExpr{Op: opcode.LogicAnd, L: out, R: e}
	}
	return out
}

// inKeys is the condition that the keys are in a list of values.
func inKeys(keys []*ast.ColumnNameExpr) ast.ExprNode {
	in := &ast.PatternInExpr{Expr: keys[0]}
	if len(keys) > 1 {
		in.Expr = rowOf(keys, func(k *ast.ColumnNameExpr) ast.ExprNode { return k })
	}
	for range shownKeys {
		if len(keys) == 1 {
			in.List = append(in.List, ast.NewParamMarkerExpr(0))
			continue
		}
		in.List = append(in.List, rowOf(keys, func(*ast.ColumnNameExpr) ast.ExprNode { return ast.NewParamMarkerExpr(0) }))
	}
	return in
}

func rowOf(keys []*ast.ColumnNameExpr, value func(*ast.ColumnNameExpr) ast.ExprNode) *ast.RowExpr {
	row := &ast.RowExpr{}
	for _, k := range keys {
		row.Values = append(row.Values, value(k))
	}
	return row
}

// chooseKeys adds the keys that are not among the chosen columns, before these.
func chooseKeys(s *ast.SelectStmt, keys []*ast.ColumnNameExpr) {
	var missing []*ast.SelectField
	for _, k := range keys {
		if !slices.ContainsFunc(s.Fields.Fields, func(f *ast.SelectField) bool { return choosesKey(f, k.Name) }) {
			missing = append(missing, &ast.SelectField{Expr: k})
		}
	}
	s.Fields.Fields = append(missing, s.Fields.Fields...)
}

// choosesKey reports whether a field is the column, or all of its table.
func choosesKey(f *ast.SelectField, k *ast.ColumnName) bool {
	if f.WildCard != nil {
		return f.WildCard.Table.L == "" || f.WildCard.Table.L == k.Table.L
	}
	c, ok := f.Expr.(*ast.ColumnNameExpr)
	return ok && f.AsName.L == "" && c.Name.Name.L == k.Name.L && c.Name.Table.L == k.Table.L
}

func groupByKeys(s *ast.SelectStmt, keys []*ast.ColumnNameExpr) {
	var items []*ast.ByItem
	for _, k := range keys {
		items = append(items, &ast.ByItem{Expr: k, NullOrder: true})
	}
	if s.GroupBy == nil {
		s.GroupBy = &ast.GroupByClause{}
	}
	s.GroupBy.Items = append(items, s.GroupBy.Items...)
}

// A content is what a statement holds, queries in it left out but for their values.
type content struct {
	depth   int
	values  int
	figures bool
	window  bool
}

func inspectSelect(s *ast.SelectStmt) *content {
	c := &content{}
	s.Accept(c)
	return c
}

// Enter implements ast.Visitor.
func (c *content) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.SelectStmt:
		c.depth++
	case *ast.AggregateFuncExpr:
		c.figures = c.figures || c.depth == 1
		return n, false
	case *ast.WindowFuncExpr:
		c.window = c.window || c.depth == 1
	case ast.ParamMarkerExpr:
		c.values++
	}
	return n, false
}

// Leave implements ast.Visitor.
func (c *content) Leave(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SelectStmt); ok {
		c.depth--
	}
	return n, true
}
