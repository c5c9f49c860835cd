package indexes

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// where takes a condition apart at its ANDs.
func (s *scope) where(e ast.ExprNode) {
	switch e := e.(type) {
	case nil:
		return
	case *ast.ParenthesesExpr:
		s.where(e.Expr)
		return
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicAnd {
			s.where(e.L)
			s.where(e.R)
			return
		}
	}
	s.condition(e)
}

// condition files one condition under what an index can do with it.
func (s *scope) condition(e ast.ExprNode) {
	if pushDown(s, e) {
		return
	}
	found := s.touch(e)
	s.functions(e)
	s.hide(e)
	switch e := e.(type) {
	case *ast.BinaryOperationExpr:
		if s.comparison(e) {
			return
		}
	case *ast.BetweenExpr:
		if a, name := s.bare(e.Expr); a != nil && !e.Not && !s.names(a, e.Left) && !s.names(a, e.Right) {
			if s.convert(a, name, e.Expr, false, e.Left, e.Right) {
				return
			}
			a.ranges, a.bounded[name] = appendNew(a.ranges, name), true
			return
		}
	case *ast.PatternInExpr:
		if a, name := s.bare(e.Expr); a != nil && !e.Not {
			if e.Sel == nil && s.convert(a, name, e.Expr, true, e.List...) {
				return
			}
			if e.Sel == nil && len(e.List) == 1 && !strings.HasSuffix(s.query.Fingerprint, "(?+)") && !s.listed() {
				a.equal = appendNew(a.equal, name)
			} else {
				a.in = appendNew(a.in, name)
			}
			return
		}
	case *ast.IsNullExpr:
		if a, name := s.bare(e.Expr); a != nil && !e.Not {
			a.equal = appendNew(a.equal, name)
			return
		}
	}
	if a, name := s.oneOf(e); a != nil {
		a.in = appendNew(a.in, name)
		return
	}
	for a, names := range found {
		a.filters++
		for _, n := range names {
			a.filter = appendNew(a.filter, n)
		}
	}
	if len(found) > 0 {
		return
	}
	computed := computedBy(s, e)
	for _, a := range computed {
		a.filters++
	}
	for _, a := range s.order {
		a.never = a.never || len(computed) == 0
	}
}

// listed reports whether the fingerprint has lists of values, which are cut there.
func (s *scope) listed() bool { return strings.Contains(s.query.Fingerprint, "in(?+)") }

// comparison files col = x, col < x and their like; false when it is none.
func (s *scope) comparison(e *ast.BinaryOperationExpr) bool {
	switch e.Op {
	case opcode.EQ, opcode.NullEQ, opcode.LT, opcode.LE, opcode.GT, opcode.GE:
	default:
		return false
	}
	taken := false
	for _, side := range [2][2]ast.ExprNode{{e.L, e.R}, {e.R, e.L}} {
		a, name := s.bare(side[0])
		if a == nil || s.names(a, side[1]) {
			continue
		}
		if s.convert(a, name, side[0], e.Op == opcode.EQ || e.Op == opcode.NullEQ, side[1]) {
			taken = true
			continue
		}
		_, subquery := side[1].(*ast.SubqueryExpr)
		other, _ := s.bare(side[1])
		qualified := isForeignColumn(side[1]) || isOfDerived(s, side[1])
		switch {
		case e.Op == opcode.EQ || e.Op == opcode.NullEQ:
			if other != nil || qualified && !subquery {
				a.joined = appendNew(a.joined, name)
			} else {
				a.equal = appendNew(a.equal, name)
			}
		case other != nil:
			a.filter, a.filters = appendNew(a.filter, name), a.filters+1
		default:
			a.bounded[name] = a.bounded[name] || containsName(a.ranges, name)
			a.ranges = appendNew(a.ranges, name)
		}
		taken = true
	}
	return taken
}

// isForeignColumn reports whether an expression is a column, be it of an outer query.
func isForeignColumn(e ast.ExprNode) bool {
	c, ok := unwrapParentheses(e).(*ast.ColumnNameExpr)
	return ok && c.Name.Table.L != ""
}

func containsName(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
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

// bare returns the column that an expression is, and nothing else.
func (s *scope) bare(e ast.ExprNode) (*access, string) {
	if c, ok := unwrapParentheses(e).(*ast.ColumnNameExpr); ok {
		return s.resolve(c.Name)
	}
	return nil, ""
}

// names reports whether an expression names a column of the table.
func (s *scope) names(a *access, e ast.ExprNode) bool { return len(s.touch(e)[a]) > 0 }

// oneOf returns the column of "a = 1 OR a = 2".
func (s *scope) oneOf(e ast.ExprNode) (*access, string) {
	b, ok := unwrapParentheses(e).(*ast.BinaryOperationExpr)
	if !ok {
		return nil, ""
	}
	switch b.Op {
	case opcode.LogicOr:
		a, name := s.oneOf(b.L)
		a2, name2 := s.oneOf(b.R)
		if a != nil && a == a2 && name == name2 {
			return a, name
		}
	case opcode.EQ:
		if a, name := s.bare(b.L); a != nil && len(s.touch(b.R)) == 0 {
			return a, name
		}
	}
	return nil, ""
}

// functions notes columns inside of functions, and tests of where something lies.
func (s *scope) functions(e ast.ExprNode) { e.Accept(&calls{scope: s}) }

type calls struct{ scope *scope }

// Enter implements ast.Visitor.
func (v *calls) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SubqueryExpr); ok {
		return n, true
	}
	f, ok := n.(*ast.FuncCallExpr)
	if !ok {
		return n, false
	}
	if isRelation(f.FnName.L) {
		v.scope.geometry(f)
		return n, true
	}
	for a, names := range v.scope.touch(f) {
		for _, name := range names {
			a.wraps = append(a.wraps, Wrapped{strings.ToUpper(f.FnName.L), name})
		}
	}
	return n, true
}

// Leave implements ast.Visitor.
func (v *calls) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// isRelation reports whether a function tests how two geometries lie, so that a
// spatial index can serve it.
func isRelation(name string) bool {
	name = strings.TrimPrefix(name, "st_")
	switch strings.TrimPrefix(name, "mbr") {
	case "contains", "within", "intersects", "overlaps", "touches", "equals", "crosses", "covers", "coveredby",
		"disjoint":
		return true
	}
	return false
}

func (s *scope) geometry(f *ast.FuncCallExpr) {
	any := false
	for _, arg := range f.Args {
		for a, names := range s.touch(arg) {
			any = true
			g := geometry{function: strings.ToUpper(f.FnName.L)}
			if _, bare := unwrapParentheses(arg).(*ast.ColumnNameExpr); bare {
				if c, _ := a.table.column(names[0]); c.spatial {
					g.stored = names[0]
				}
			} else {
				g.numbers = names
			}
			a.geo = append(a.geo, g)
		}
	}
	if any {
		return
	}
	for _, a := range s.order {
		a.geo = append(a.geo, geometry{function: strings.ToUpper(f.FnName.L), constant: true})
	}
}
