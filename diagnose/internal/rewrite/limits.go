package rewrite

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// keepLimits has LIMIT ? OFFSET ? printed as it was written: the grammar prints LIMIT offset, count, where the
// values that a program binds would come in another order. The returned function takes it back.
func keepLimits(n ast.Node) (undo func()) {
	v := &limitFinder{}
	n.Accept(v)
	return func() {
		for _, l := range v.found {
			both := l.Count.(*countAndOffset)
			l.Count, l.Offset = both.ExprNode, both.offset
		}
	}
}

type limitFinder struct{ found []*ast.Limit }

// Enter implements ast.Visitor.
func (v *limitFinder) Enter(n ast.Node) (ast.Node, bool) {
	l, ok := n.(*ast.Limit)
	if !ok {
		return n, false
	}
	count, ok1 := l.Count.(*test_driver.ParamMarkerExpr)
	offset, ok2 := l.Offset.(*test_driver.ParamMarkerExpr)
	if ok1 && ok2 && count.Offset < offset.Offset {
		l.Count, l.Offset = &countAndOffset{l.Count, l.Offset}, nil
		v.found = append(v.found, l)
	}
	return n, true
}

// Leave implements ast.Visitor.
func (v *limitFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// countAndOffset prints both values of a LIMIT, that of the count first.
type countAndOffset struct {
	ast.ExprNode
	offset ast.ExprNode
}

// Restore implements ast.Node.
func (c *countAndOffset) Restore(ctx *format.RestoreCtx) error {
	if err := c.ExprNode.Restore(ctx); err != nil {
		return err
	}
	ctx.WriteKeyWord(" OFFSET ")
	return c.offset.Restore(ctx)
}
