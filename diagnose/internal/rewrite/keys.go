package rewrite

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// A Batch is a lookup for many keys at once.
type Batch struct {
	SQL      string
	Keys     []string // the columns of the keys
	Grouped  bool     // a row for each key that has rows: a count of 0 is missing
	Others   bool     // values that are no keys, which must be the same for all
	Numbered bool     // a last column counts the rows of each key
}

var (
	errNoKey   = errors.New("the statement compares no column with one value")
	errDerived = errors.New("it reads a query in its FROM, which has the keys")
	errSameKey = errors.New("one column is compared with two values")
	errWindow  = errors.New("functions over windows cannot be kept")
	errListed  = errors.New("it lists values in one without ORDER BY, and another plan lists them in another order")
)

// shownKeys is how many keys the lookup is written for.
const shownKeys = 3

// LookUpMany rewrites a SELECT that looks up by one value of each of its keys, so that
// it takes several: the keys, which must all match, become a list, and all else stays.
// Keys that are not chosen are chosen too, and figures are grouped by them. A LIMIT goes
// where the keys hold one of the unique ones, so that there is one row at most; else the
// rows of each key are counted, in a column by a name that none of the table's columns has.
func (d Dialect) LookUpMany(text string, unique [][]string, columns ...string) (Batch, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return Batch{}, err
	}
	keys, rest := splitKeys(s.Where)
	b := Batch{}
	for _, k := range keys {
		if slices.Contains(b.Keys, k.Name.Name.O) {
			return Batch{}, errSameKey
		}
		b.Keys = append(b.Keys, k.Name.Name.O)
	}
	found := inspectNode(s)
	switch {
	case len(keys) == 0 && s.Where == nil && found.inner > 0:
		return Batch{}, errDerived
	case len(keys) == 0:
		return Batch{}, errNoKey
	case found.window:
		return Batch{}, errWindow
	case found.listed:
		return Batch{}, errListed
	case found.inner > 0:
		return Batch{}, errInner
	case selectsValue(s):
		return Batch{}, errValueRead
	}
	limit := s.Limit
	s.Limit = nil
	b.Grouped = found.figures && s.GroupBy == nil
	if limit != nil && limit.Offset == nil && (b.Grouped || hasUnique(s, b.Keys, unique)) {
		limit, found.values = nil, found.values-countValues(limit.Count)
	}
	if b.Grouped {
		s.OrderBy = nil // of one row; the rest of its columns cannot be sorted by
	}
	s.Where = joinAnd(append([]ast.ExprNode{inKeys(keys)}, rest...))
	chosen := chooseKeys(s, keys, columns)
	if found.figures || s.GroupBy != nil {
		groupByKeys(s, chosen)
	}
	b.Others = found.values > len(keys)
	if limit != nil {
		if !d.windows {
			return Batch{}, errOld
		}
		if s, err = limitPerKey(s, keys, limit, columns); err != nil {
			return Batch{}, err
		}
		b.Numbered, b.Others = true, found.values-countValues(limit.Count) > len(keys)
	}
	b.SQL, err = printStatement(s)
	return b, err
}

func countValues(e ast.ExprNode) int { return inspectNode(e).values }

// hasUnique reports whether the keys hold all columns of a unique one of the only table.
func hasUnique(s *ast.SelectStmt, keys []string, unique [][]string) bool {
	if !isOneTable(s) {
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
		if value := unwrapParentheses(pair[1]); ok && isValue(value) && !isTruth(value) {
			return c
		}
	}
	return nil
}

func isValue(e ast.ExprNode) bool {
	_, ok := e.(ast.ValueExpr) // those of a mask too
	return ok
}

// isTruth reports whether a value is TRUE or FALSE, which the statement says itself: no key.
func isTruth(e ast.ExprNode) bool {
	v, ok := e.(ast.ValueExpr)
	return ok && mysql.HasIsBooleanFlag(v.GetType().GetFlag())
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
		if b, ok := e.(*ast.BinaryOperationExpr); ok && len(all) > 1 &&
			(b.Op == opcode.LogicOr || b.Op == opcode.LogicXor) {
			e = &ast.ParenthesesExpr{Expr: e}
		}
		out = joinBy(opcode.LogicAnd, out, e)
	}
	return out
}

// inKeys is the condition that the key is in a list of values. Several keys are compared
// one row of values after another: MariaDB reads the whole table for a list of rows.
func inKeys(keys []*ast.ColumnNameExpr) ast.ExprNode {
	if len(keys) == 1 {
		in := &ast.PatternInExpr{Expr: keys[0]}
		for range shownKeys {
			in.List = append(in.List, ast.NewParamMarkerExpr(0))
		}
		return in
	}
	var any ast.ExprNode
	for range shownKeys {
		var all ast.ExprNode
		for _, k := range keys {
			equal := &ast.BinaryOperationExpr{Op: opcode.EQ, L: k, R: ast.NewParamMarkerExpr(0)}
			all = joinBy(opcode.LogicAnd, all, equal)
		}
		any = joinBy(opcode.LogicOr, any, &ast.ParenthesesExpr{Expr: all})
	}
	return any
}

func joinBy(op opcode.Op, left, right ast.ExprNode) ast.ExprNode {
	if left == nil {
		return right
	}
	return &ast.BinaryOperationExpr{Op: op, L: left, R: right}
}

// chooseKeys adds the keys that are not among the chosen columns, before these, by a name that no other
// chosen column has, and returns the names by which rows are grouped by them.
func chooseKeys(s *ast.SelectStmt, keys []*ast.ColumnNameExpr, columns []string) (chosen []*ast.ColumnNameExpr) {
	var missing []*ast.SelectField
	for _, k := range keys {
		chosen = append(chosen, k)
		if slices.ContainsFunc(s.Fields.Fields, func(f *ast.SelectField) bool { return choosesKey(f, k.Name) }) {
			continue
		}
		field := &ast.SelectField{Expr: k}
		if all := func(f *ast.SelectField) bool { return f.WildCard != nil }; sendsName(s, k.Name.Name.L) ||
			slices.ContainsFunc(s.Fields.Fields, all) { // * of another table may send any name
			field.AsName = ast.NewCIStr(freeName(s, k.Name.Name.O+"_key", columns))
			chosen[len(chosen)-1] = &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: field.AsName}}
		}
		missing = append(missing, field)
	}
	s.Fields.Fields = append(missing, s.Fields.Fields...)
	return chosen
}

// freeName returns a name that neither a chosen column nor one of the table's has.
func freeName(s *ast.SelectStmt, name string, columns []string) string {
	free := name
	taken := func(c string) bool { return strings.EqualFold(c, free) }
	for n := 2; sendsName(s, strings.ToLower(free)) || slices.ContainsFunc(columns, taken); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

// sendsName reports whether a chosen column has the name.
func sendsName(s *ast.SelectStmt, name string) bool {
	return slices.ContainsFunc(s.Fields.Fields, func(f *ast.SelectField) bool {
		c, ok := f.Expr.(*ast.ColumnNameExpr)
		return f.AsName.L == name || ok && f.AsName.L == "" && c.Name.Name.L == name
	})
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
