package rewrite

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
)

var (
	errTables   = errors.New("not all of its tables are known")
	errNeeded   = errors.New("its joins may change what is counted")
	errOtherway = errors.New("it joins by NATURAL or USING, whose columns other joins may need")
)

// A Count is a SELECT that counts, without joins that its count does not need.
type Count struct {
	SQL    string
	Joins  []string // the tables that it does without, as the statement calls them, in lower case
	Tables []string // their names
	Once   bool     // at most one row of each fits: the count counts rows
}

// WithoutJoins leaves out of a SELECT of one COUNT the LEFT JOINs that leave its figure as it is: tables that
// nothing but their own condition names, where the count is of DISTINCT values of other tables, or where the
// condition finds at most one row of them by a unique key. A LEFT JOIN keeps each row that is there before it; where
// it finds several, COUNT(*) counts each, and the join stays. A count of DISTINCT primary keys of the only table
// left is one of rows. The tables' definitions must be known.
func (d Dialect) WithoutJoins(text string, define func(schema, name string) *kasoku.TableDef) (*Count, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return nil, err
	}
	if len(s.Fields.Fields) != 1 || s.GroupBy != nil || s.Having != nil || s.Distinct || s.LockInfo != nil || s.With != nil {
		return nil, errKind
	}
	counted, ok := s.Fields.Fields[0].Expr.(*ast.AggregateFuncExpr)
	if !ok || !strings.EqualFold(counted.F, ast.AggFuncCount) {
		return nil, errKind
	}
	j := &joined{stmt: s, distinct: counted.Distinct, tables: map[string]*kasoku.TableDef{}}
	if err := j.read(s.From.TableRefs, define); err != nil {
		return nil, err
	}
	out := &Count{Once: !counted.Distinct}
	for j.leaveOut(&s.From.TableRefs, out) {
	}
	if len(out.Joins) == 0 {
		return nil, errNeeded
	}
	if counted.Distinct {
		j.countRows(counted)
	}
	out.SQL, err = printStatement(s)
	return out, err
}

// A joined is a SELECT with the tables that it joins.
type joined struct {
	stmt     *ast.SelectStmt
	distinct bool
	tables   map[string]*kasoku.TableDef // by the names that the statement has for them, in lower case
}

// read finds the definitions of all tables; there must be nothing else.
func (j *joined) read(n ast.ResultSetNode, define func(schema, name string) *kasoku.TableDef) error {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.Join:
		if n.NaturalJoin || len(n.Using) > 0 {
			return errOtherway
		}
		if err := j.read(n.Left, define); err != nil {
			return err
		}
		return j.read(n.Right, define)
	case *ast.TableSource:
		name, ok := n.Source.(*ast.TableName)
		if !ok {
			return errDerived
		}
		def := define(name.Schema.O, name.Name.O)
		if def == nil || len(indexes.ColumnsOf(def)) == 0 {
			return errTables
		}
		j.tables[aliasOf(n)] = def
		return nil
	}
	return errKind
}

// aliasOf is how a statement calls a table, in lower case.
func aliasOf(n *ast.TableSource) string {
	if n.AsName.L != "" {
		return n.AsName.L
	}
	if name, ok := n.Source.(*ast.TableName); ok {
		return name.Name.L
	}
	return ""
}

// leaveOut leaves out one join, the outermost that can go; false where none can.
func (j *joined) leaveOut(at **ast.Join, out *Count) bool {
	n := *at
	if right, ok := n.Right.(*ast.TableSource); ok && n.Tp == ast.LeftJoin && n.On != nil {
		alias := aliasOf(right)
		def := j.tables[alias]
		if !j.uses(alias, def, n.On) && (j.distinct || j.findsOne(alias, def, n.On.Expr)) {
			switch left := n.Left.(type) {
			case *ast.Join:
				*at = left
			default:
				*at = &ast.Join{Left: left}
			}
			delete(j.tables, alias)
			out.Joins, out.Tables = append(out.Joins, alias), append(out.Tables, def.Name)
			return true
		}
	}
	left, ok := n.Left.(*ast.Join)
	if !ok {
		return false
	}
	was := left
	if !j.leaveOut(&left, out) {
		return false
	}
	if n.Left = left; left != was && left.Right == nil && left.On == nil {
		n.Left = left.Left
	}
	return true
}

// uses reports whether the statement names a column of a table anywhere but in that condition, or may do so.
func (j *joined) uses(alias string, def *kasoku.TableDef, but *ast.OnCondition) bool {
	columns := indexes.ColumnsOf(def)
	f := &nodeFinder{such: func(n ast.Node) bool {
		c, ok := n.(*ast.ColumnName)
		if !ok {
			return false
		}
		if c.Table.L != "" {
			return c.Table.L == alias
		}
		return containsFold(columns, c.Name.O)
	}}
	j.stmt.Accept(&skipper{nodeFinder: f, but: but})
	return f.found
}

// A skipper looks for nodes everywhere but in one condition.
type skipper struct {
	*nodeFinder
	but *ast.OnCondition
}

// Enter implements ast.Visitor.
func (s *skipper) Enter(n ast.Node) (ast.Node, bool) {
	if n == ast.Node(s.but) {
		return n, true
	}
	return s.nodeFinder.Enter(n)
}

// findsOne reports whether a condition finds at most one row of a table: it compares all columns of one of its
// unique keys with columns of the same kind of other tables.
func (j *joined) findsOne(alias string, def *kasoku.TableDef, on ast.ExprNode) bool {
	var equal []string
	for _, e := range splitAnd(on) {
		b, ok := unwrapParentheses(e).(*ast.BinaryOperationExpr)
		if !ok || b.Op != opcode.EQ {
			continue
		}
		for _, sides := range [][2]ast.ExprNode{{b.L, b.R}, {b.R, b.L}} {
			own, isOwn := unwrapParentheses(sides[0]).(*ast.ColumnNameExpr)
			other, isOther := unwrapParentheses(sides[1]).(*ast.ColumnNameExpr)
			if !isOwn || !isOther || own.Name.Table.L != alias {
				continue
			}
			if t := j.tables[other.Name.Table.L]; t != nil && other.Name.Table.L != alias &&
				indexes.ComparesAlike(def, own.Name.Name.O, t, other.Name.Name.O) {
				equal = append(equal, own.Name.Name.O)
			}
		}
	}
	return slices.ContainsFunc(def.Indexes, func(x kasoku.IndexDef) bool {
		return x.Unique && len(x.Columns) > 0 && hasAll(equal, x.Columns)
	})
}

// hasAll reports whether names have all columns of an index.
func hasAll(names, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool {
		return !containsFold(names, strings.TrimSuffix(c, " DESC"))
	})
}

// countRows makes COUNT(DISTINCT …) one of rows where it is of the primary key of the only table that is left.
func (j *joined) countRows(counted *ast.AggregateFuncExpr) {
	t := tableOf(j.stmt)
	if t == nil {
		return
	}
	alias := aliasOf(t)
	var names []string
	for _, e := range counted.Args {
		c, ok := unwrapParentheses(e).(*ast.ColumnNameExpr)
		if !ok || c.Name.Table.L != "" && c.Name.Table.L != alias {
			return
		}
		names = append(names, c.Name.Name.O)
	}
	for _, x := range j.tables[alias].Indexes {
		if x.Name == "PRIMARY" && len(names) == len(x.Columns) && hasAll(names, x.Columns) {
			counted.Distinct, counted.Args = false, []ast.ExprNode{ast.NewValueExpr(1, "", "")}
		}
	}
}
