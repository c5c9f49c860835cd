package rewrite

import (
	"errors"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/kasoku/kasoku/diagnose/indexes"
)

var (
	errCompared  = errors.New("what the function is compared with has no range of the column")
	errUntouched = errors.New("the condition is not one of those that all rows must meet")
)

// FreeColumn rewrites the conditions of a SELECT in which a column stands inside of a
// function, so that the column stands alone and an index can seek it: YEAR and DATE become
// ranges, LOWER and UPPER of a column that is compared without case go, and DATE of a DATE.
// It fails where a condition of the kind has no such form.
func (d Dialect) FreeColumn(text string, h indexes.Hidden) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	list, freed := splitAnd(s.Where), 0
	for i, e := range list {
		if !hides(e, h) {
			continue
		}
		if list[i], err = freeCondition(e, h); err != nil {
			return "", err
		}
		freed++
	}
	if freed == 0 {
		return "", errUntouched
	}
	s.Where = joinAnd(list)
	return printStatement(s)
}

// hides reports whether a condition compares the function of the column.
func hides(e ast.ExprNode, h indexes.Hidden) bool {
	if comparesOtherwise(e) {
		return false
	}
	switch e := unwrapParentheses(e).(type) {
	case *ast.BinaryOperationExpr:
		return wraps(e.L, h) || wraps(e.R, h)
	case *ast.BetweenExpr:
		return wraps(e.Expr, h) && !e.Not
	case *ast.PatternInExpr:
		return wraps(e.Expr, h) && !e.Not && e.Sel == nil
	}
	return false
}

// comparesOtherwise reports whether a condition says how it compares text, by COLLATE or
// BINARY: neither the column nor an index of its function compares so.
func comparesOtherwise(e ast.ExprNode) bool {
	return holds(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SetCollationExpr:
			return true
		case *ast.FuncCastExpr:
			return n.FunctionType == ast.CastBinaryOperator
		}
		return false
	})
}

// wraps reports whether an expression is the function of the column.
func wraps(e ast.ExprNode, h indexes.Hidden) bool {
	name, arg := indexes.FunctionOf(e)
	if name == "" || name != h.Function {
		return false
	}
	c, ok := unwrapParentheses(arg).(*ast.ColumnNameExpr)
	return ok && strings.EqualFold(c.Name.Name.O, h.Column)
}

// freeCondition writes one condition anew.
func freeCondition(e ast.ExprNode, h indexes.Hidden) (ast.ExprNode, error) {
	from, after := boundsOf(h)
	plain := from == nil
	if plain && !sameWithout(h) {
		return nil, errCompared
	}
	switch e := unwrapParentheses(e).(type) {
	case *ast.BinaryOperationExpr:
		value, op := e.R, e.Op
		name, column := indexes.FunctionOf(e.L)
		if name != h.Function {
			_, column = indexes.FunctionOf(e.R)
			value, op = e.L, turned(op)
		}
		if plain {
			if isText(h.Type) && hasColumn(value) { // which may compare with case
				return nil, errCompared
			}
			return compare(op, column, value), nil
		}
		switch op {
		case opcode.EQ:
			return joinAnd([]ast.ExprNode{compare(opcode.GE, column, from(value)), compare(opcode.LT, column,
				after(value))}), nil
		case opcode.GE, opcode.LT:
			return compare(op, column, from(value)), nil
		case opcode.GT:
			return compare(opcode.GE, column, after(value)), nil
		case opcode.LE:
			return compare(opcode.LT, column, after(value)), nil
		}
	case *ast.BetweenExpr:
		_, column := indexes.FunctionOf(e.Expr)
		if plain {
			e.Expr = column
			return e, nil
		}
		return joinAnd([]ast.ExprNode{compare(opcode.GE, column, from(e.Left)), compare(opcode.LT, column,
			after(e.Right))}), nil
	case *ast.PatternInExpr:
		if plain {
			_, e.Expr = indexes.FunctionOf(e.Expr)
			return e, nil
		}
	}
	return nil, errCompared
}

func compare(op opcode.Op, l, r ast.ExprNode) ast.ExprNode {
	return &ast.BinaryOperationExpr{Op: op, L: l, R: r}
}

// turned is the comparison with its sides changed.
func turned(op opcode.Op) opcode.Op {
	switch op {
	case opcode.LT:
		return opcode.GT
	case opcode.LE:
		return opcode.GE
	case opcode.GT:
		return opcode.LT
	case opcode.GE:
		return opcode.LE
	}
	return op
}

// boundsOf returns how the first moment of a year or a day is written, and the first after
// it; nil for other functions, and for a DATE, which is its own day.
func boundsOf(h indexes.Hidden) (from, after func(ast.ExprNode) ast.ExprNode) {
	kind, _, _ := strings.Cut(h.Type, "(")
	if kind != "date" && kind != "datetime" && kind != "timestamp" {
		return nil, nil
	}
	number := func(n int) ast.ExprNode { return ast.NewValueExpr(n, "", "") }
	switch {
	case h.Function == "YEAR":
		day := func(year ast.ExprNode) ast.ExprNode {
			return &ast.FuncCallExpr{FnName: ast.NewCIStr("MAKEDATE"), Args: []ast.ExprNode{year, number(1)}}
		}
		return day, func(year ast.ExprNode) ast.ExprNode {
			if !isValue(year) {
				year = &ast.ParenthesesExpr{Expr: year}
			}
			return day(compare(opcode.Plus, year, number(1)))
		}
	case h.Function == "DATE" && kind != "date":
		return func(day ast.ExprNode) ast.ExprNode { return day }, func(day ast.ExprNode) ast.ExprNode {
			return &ast.FuncCallExpr{FnName: ast.NewCIStr("DATE_ADD"),
				Args: []ast.ExprNode{day, number(1), &ast.TimeUnitExpr{Unit: ast.TimeUnitDay}}}
		}
	}
	return nil, nil
}

// sameWithout reports whether the column alone compares as its function does: a DATE is its
// own day, and where letters compare without case LOWER and UPPER change nothing.
func sameWithout(h indexes.Hidden) bool {
	switch h.Function {
	case "DATE":
		return h.Type == "date"
	case "LOWER", "UPPER", "LCASE", "UCASE":
		return isText(h.Type) && strings.Contains(h.Collate, "_ci")
	}
	return false
}

func isText(kind string) bool {
	return strings.Contains(kind, "char") || strings.Contains(kind, "text")
}

// NameColumn rewrites a SELECT so that it compares a column of its own where it compared a
// function of one. Both must be given as the statement and its table have them.
func (d Dialect) NameColumn(text string, h indexes.Hidden, column string) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	v := &functionNamer{h: h, column: column}
	list := splitAnd(s.Where)
	for i, e := range list {
		if hides(e, h) {
			node, _ := e.Accept(v)
			list[i] = node.(ast.ExprNode)
		}
	}
	if !v.named {
		return "", errUntouched
	}
	s.Where = joinAnd(list)
	return printStatement(s)
}

// A functionNamer puts a column in place of a function.
type functionNamer struct {
	h      indexes.Hidden
	column string
	named  bool
}

// Enter implements ast.Visitor.
func (v *functionNamer) Enter(n ast.Node) (ast.Node, bool) { return n, false }

// Leave implements ast.Visitor.
func (v *functionNamer) Leave(n ast.Node) (ast.Node, bool) {
	e, ok := n.(ast.ExprNode)
	if !ok {
		return n, true
	}
	if !wraps(e, v.h) {
		return n, true
	}
	v.named = true
	_, arg := indexes.FunctionOf(e)
	own := *unwrapParentheses(arg).(*ast.ColumnNameExpr).Name
	own.Name = ast.NewCIStr(v.column)
	return &ast.ColumnNameExpr{Name: &own}, true
}

// FunctionText prints the first function of the column that a SELECT compares, as an index
// of it is written: without the name of a table, and with values that are not masked.
func (d Dialect) FunctionText(text string, h indexes.Hidden) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	for _, e := range splitAnd(s.Where) {
		if !hides(e, h) {
			continue
		}
		f := &functionFinder{h: h}
		e.Accept(f)
		if f.call == nil || inspectNode(f.call).values > 0 {
			return "", errCompared
		}
		name := unwrapParentheses(f.call.Args[0]).(*ast.ColumnNameExpr).Name
		name.Table, name.Schema = ast.NewCIStr(""), ast.NewCIStr("")
		out, err := printStatement(f.call)
		return strings.TrimSuffix(out, ";"), err
	}
	return "", errUntouched
}

// A functionFinder finds the call of a column's function.
type functionFinder struct {
	h    indexes.Hidden
	call *ast.FuncCallExpr
}

// Enter implements ast.Visitor.
func (f *functionFinder) Enter(n ast.Node) (ast.Node, bool) {
	if call, ok := n.(*ast.FuncCallExpr); ok && f.call == nil && wraps(call, f.h) {
		f.call = call
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *functionFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// MatchWords rewrites a SELECT that searches columns by LIKE so that it searches their words:
// each LIKE, or those of one OR, becomes MATCH of their columns, which are returned. What is
// found is not the same: words, not what stands anywhere.
func (d Dialect) MatchWords(text string) (code string, columns [][]string, err error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", nil, err
	}
	list := splitAnd(s.Where)
	for i, e := range list {
		names := likesOf(e)
		if len(names) == 0 {
			continue
		}
		m := &ast.MatchAgainst{ColumnNames: names, Against: ast.NewParamMarkerExpr(0),
			Modifier: ast.FulltextSearchModifier(ast.FulltextSearchModifierBooleanMode)}
		var own []string
		for _, n := range names {
			if n.Table.L != names[0].Table.L {
				return "", nil, errKind
			}
			own = append(own, n.Name.O)
		}
		list[i], columns = m, append(columns, own)
	}
	if len(columns) == 0 {
		return "", nil, errUntouched
	}
	s.Where = joinAnd(list)
	code, err = printStatement(s)
	return code, columns, err
}

// likesOf returns the columns of a LIKE, or of an OR of nothing else.
func likesOf(e ast.ExprNode) []*ast.ColumnName {
	switch e := unwrapParentheses(e).(type) {
	case *ast.PatternLikeOrIlikeExpr:
		if c, ok := unwrapParentheses(e.Expr).(*ast.ColumnNameExpr); ok && !e.Not && e.IsLike && !hasColumn(e.Pattern) {
			return []*ast.ColumnName{c.Name}
		}
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicOr {
			l, r := likesOf(e.L), likesOf(e.R)
			if len(l) > 0 && len(r) > 0 {
				return append(l, r...)
			}
		}
	}
	return nil
}
