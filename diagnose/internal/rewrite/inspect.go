package rewrite

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

var (
	errVolatile  = errors.New("it has variables, or functions whose result depends on how often they run")
	errInner     = errors.New("a query within it has values, which may be those of the key")
	errPosition  = errors.New("it names columns by their position")
	errValueRead = errors.New("it selects a value, which may be that of the key, or a name in double quotes")
	errRollup    = errors.New("the totals of WITH ROLLUP cannot be kept")
	errFoundRows = errors.New("SQL_CALC_FOUND_ROWS counts the rows of one statement")
)

// A content is what a statement holds.
type content struct {
	depth    int
	values   int
	inner    int  // of the values, those in queries within it
	figures  bool // of the outer query
	window   bool // of the outer query
	volatile bool
	position bool
	listed   bool // rows are put into one value in the order in which they come
	queries  int
}

func inspectNode(n ast.Node) *content {
	c := &content{}
	n.Accept(c)
	return c
}

// volatileWords are functions that do not give the same when they run once for several rows.
var volatileWords = map[string]bool{"rand": true, "uuid": true, "uuid_short": true, "found_rows": true,
	"last_insert_id": true, "row_count": true, "sleep": true, "get_lock": true, "release_lock": true, "benchmark": true,
	"nextval": true, "lastval": true}

// lists are the figures whose value depends on the order of the rows.
var lists = map[string]bool{ast.AggFuncGroupConcat: true, ast.AggFuncJsonArrayagg: true, ast.AggFuncJsonObjectAgg: true}

// Enter implements ast.Visitor.
func (c *content) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		c.depth++
		c.queries++
	case *ast.AggregateFuncExpr:
		c.figures = c.figures || c.depth == 1
		c.listed = c.listed || lists[strings.ToLower(n.F)] && n.Order == nil
	case *ast.WindowFuncExpr:
		c.window = c.window || c.depth == 1
	case *ast.VariableExpr:
		c.volatile = true
	case *ast.FuncCallExpr:
		c.volatile = c.volatile || volatileWords[n.FnName.L]
	case *ast.PositionExpr:
		c.position = true
	case *ast.ByItem:
		c.position = c.position || isValue(n.Expr) // its number was masked
	case ast.ParamMarkerExpr:
		c.values++
		if c.depth > 1 {
			c.inner++
		}
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

// checkSelect refuses what no rewrite of a SELECT keeps for sure.
func checkSelect(s *ast.SelectStmt, c *content) error {
	switch {
	case c.volatile:
		return errVolatile
	case c.position:
		return errPosition
	case s.SelectStmtOpts != nil && s.CalcFoundRows:
		return errFoundRows
	case s.GroupBy != nil && s.GroupBy.Rollup:
		return errRollup
	}
	return nil
}

// selectsValue reports whether a value stands among columns that are selected; SELECT 1 asks
// whether there is a row.
func selectsValue(s *ast.SelectStmt) bool {
	fields := s.Fields.Fields
	return len(fields) > 1 && slices.ContainsFunc(fields, func(f *ast.SelectField) bool { return isValue(f.Expr) })
}

// outputNames returns the names of the columns that a SELECT sends, in lower case. ok is false
// where they are not known, or two have the same, which a derived table must not have.
func outputNames(s *ast.SelectStmt) (names map[string]bool, ok bool) {
	names = map[string]bool{}
	for _, f := range s.Fields.Fields {
		if f.WildCard != nil {
			return names, len(s.Fields.Fields) == 1 && isOneTable(s)
		}
		name := f.AsName.L
		if c, isColumn := f.Expr.(*ast.ColumnNameExpr); isColumn && name == "" {
			name = c.Name.Name.L
		}
		if name == "" || names[name] {
			return nil, false
		}
		names[name] = true
	}
	return names, true
}

// isOneTable reports whether a SELECT reads one table, and no query or view of others' columns.
func isOneTable(s *ast.SelectStmt) bool { return tableOf(s) != nil }

// tableOf returns the only table that a SELECT reads, nil where there are several.
func tableOf(s *ast.SelectStmt) *ast.TableSource {
	if s.From == nil || s.From.TableRefs.Right != nil {
		return nil
	}
	t, ok := s.From.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return nil
	}
	if _, ok = t.Source.(*ast.TableName); !ok {
		return nil
	}
	return t
}

// sameTable reports whether two SELECTs read the same one table by the same name.
func sameTable(a, b *ast.SelectStmt) bool {
	x, y := tableOf(a), tableOf(b)
	if x == nil || y == nil {
		return false
	}
	p, q := x.Source.(*ast.TableName), y.Source.(*ast.TableName)
	return strings.EqualFold(p.Name.O, q.Name.O) && p.Schema.L == q.Schema.L && x.AsName.L == y.AsName.L
}
