package indexes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/kasoku/kasoku"
)

// An access is what one statement does with one table.
type access struct {
	query *kasoku.Query
	table *table
	alias string // in lower case
	place

	equal   []string        // columns that are compared with a value for equality
	joined  []string        // columns that are equal to one of another table
	in      []string        // columns that are one of several values
	ranges  []string        // columns with a lower or an upper bound
	bounded map[string]bool // of the ranges, those with both
	filter  []string        // columns of conditions that no index can seek
	filters int             // how many such conditions
	never   bool            // a condition that no row of the table decides: of values alone

	sorting
	limit  bool
	single bool // the answer is one figure: COUNT, SUM
	star   bool
	reads  []string // all columns that it names
	wraps  []Wrapped
	hidden []Hidden
	geo    []geometry
}

// A listed is how many rows a statement examines today by an index of a column that is one of
// several values, and by no more of it.
type listed struct {
	column string
	rows   float64
}

// A place is where a table stands in the joins of a statement.
type place struct {
	first  bool    // of the tables that the statement reads
	probes float64 // how often it is looked into
	outer  bool    // one of the statement's joins is LEFT or RIGHT
	turn   turn
	leads  []*access       // the other tables of a join that could begin with this one; none where it could not
	step   *kasoku.PlanRow // of the server's plan, in a join; nil when it is not known
	listed listed          // of the server's plan, without a join

	block     int     // the SELECT that it is read by, as the server has it
	derived   bool    // its rows go into a derived table that is made by itself
	apart     bool    // so do they, or it is read for a part of a UNION: what is sent is not of it alone
	beside    bool    // other parts of a UNION, or of the statement around it, read tables too
	uncounted float64 // rows of a derived table that the server did not count as examined
}

// A sorting is the order in which a statement wants a table's rows.
type sorting struct {
	order   []Part
	sorted  bool // by order or by groups, and of this table's columns alone
	group   bool
	folds   bool    // rows that are found are not all sent: DISTINCT, groups, HAVING
	cut     bool    // the statement has a LIMIT
	most    float64 // rows that the LIMIT allows; 0 where its text was not kept
	skips   bool    // it has an OFFSET
	skip    float64 // rows that it skips; 0 where its text was not kept
	refuses bool    // the server sorts by itself, whatever index that is there has the order
	foundBy string  // the index by which it finds what it sorts
}

// Wrapped is a column that stands inside of a function where it is compared.
type Wrapped struct{ Function, Column string }

// A geometry is a test of where something lies.
type geometry struct {
	function string
	stored   string   // the column of a spatial type
	numbers  []string // columns that a function makes a point of
	constant bool     // it names no column at all
}

// A scope is the tables of one SELECT.
type scope struct {
	*reader
	sources map[string]*access // by lower-case alias
	own     []*access
	order   []*access // those of derived tables that are one with it among them
	outer   bool
	block   int
	within  bool // of a derived table
	part    bool // of a UNION or a common table expression

	derived map[string]*derived        // by lower-case alias
	made    map[string]*ast.ColumnName // of a derived table: its columns, by their names outside
	wild    []string
	groups  []string
	mapped  bool // names are those outside
}

// readShapes returns what the statement does with each table that is known.
func (w *work) readShapes(q *kasoku.Query, stmt ast.StmtNode, find func(schema, name string) *table) []*access {
	r := newReader(stmt)
	r.g, r.query, r.find, r.server = w.g, q, find, w.server
	stmt.Accept(&selects{each: func(n ast.Node) {
		if parts, _, _ := selectsOf(n); len(parts) > 1 {
			for _, p := range parts {
				r.parts[p] = true
			}
		} else if !r.seen[n] {
			r.read(n, false)
		}
	}})
	for _, a := range r.all {
		a.beside = a.apart && len(r.all) > 1
	}
	return r.all
}

// selects calls each for all parts of a statement that have tables of their own.
type selects struct{ each func(ast.Node) }

// Enter implements ast.Visitor.
func (v *selects) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.SelectStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.SetOprStmt:
		v.each(n)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *selects) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (s *scope) read(n ast.Node) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		if n.From == nil || n.From.TableRefs == nil {
			return
		}
		s.from(n.From.TableRefs)
		s.fields(n)
		s.where(n.Where)
		s.sort(n)
		s.limited(n.Limit)
		for _, a := range s.order {
			a.outer = a.outer || s.outer
		}
	case *ast.UpdateStmt:
		s.from(n.TableRefs.TableRefs)
		s.whole(n.Where, n.Order, n.Limit)
	case *ast.DeleteStmt:
		s.from(n.TableRefs.TableRefs)
		s.whole(n.Where, n.Order, n.Limit)
	}
}

// whole reads a statement that changes rows, and so reads all of each.
func (s *scope) whole(where ast.ExprNode, order *ast.OrderByClause, limit *ast.Limit) {
	for _, a := range s.order {
		a.star = true
	}
	s.where(where)
	if order != nil {
		s.orderBy(order.Items)
	}
	s.limited(limit)
}

func (s *scope) from(n ast.ResultSetNode) {
	switch n := n.(type) {
	case *ast.Join:
		s.from(n.Left)
		s.outer = s.outer || n.Tp == ast.LeftJoin || n.Tp == ast.RightJoin
		if n.Right != nil {
			s.from(n.Right)
		}
		if n.On != nil {
			s.where(n.On.Expr)
		}
		for _, u := range n.Using {
			s.using(u.Name.O)
		}
	case *ast.TableSource:
		readSource(s, n)
	}
}

func readSource(s *scope, n *ast.TableSource) {
	name, ok := n.Source.(*ast.TableName)
	if !ok {
		readDerived(s, n.AsName.L, n.Source, n.Lateral, nil)
		return
	}
	alias := cmp.Or(n.AsName.L, name.Name.L)
	if made := s.common[name]; made != nil {
		if s.uses[made] == 1 && !made.IsRecursive {
			readDerived(s, alias, made.Query.Query, false, made.ColNameList)
		}
		return
	}
	t := s.find(name.Schema.O, name.Name.O)
	if t == nil {
		return
	}
	a := &access{query: s.query, table: t, alias: alias, bounded: map[string]bool{},
		place: place{first: len(s.order) == 0, probes: 1, block: s.block, apart: s.part}}
	s.sources[alias] = a
	s.own, s.order, s.all = append(s.own, a), append(s.order, a), append(s.all, a)
}

// resolve finds the table and the name of a column.
func (s *scope) resolve(c *ast.ColumnName) (*access, string) {
	if s.mapped {
		s.mapped = false
		defer func() { s.mapped = true }()
		a, name, _ := outputOf(s, c.Name.L)
		return a, name
	}
	if c.Table.L != "" {
		if a := s.sources[c.Table.L]; a != nil {
			if d, ok := a.table.column(c.Name.O); ok {
				return a, d.name
			}
			return nil, ""
		}
	} else {
		for _, a := range s.own {
			if d, ok := a.table.column(c.Name.O); ok {
				return a, d.name
			}
		}
	}
	if d := derivedOf(s, c); d != nil && d.merged {
		a, name, _ := outputOf(d.parts[0], c.Name.L)
		return a, name
	}
	return nil, ""
}

func (s *scope) fields(n *ast.SelectStmt) {
	figures := n.GroupBy == nil && len(n.Fields.Fields) > 0
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil {
			figures = false
			for alias, a := range s.sources {
				a.star = a.star || f.WildCard.Table.L == "" || f.WildCard.Table.L == alias
			}
			continue
		}
		agg, ok := f.Expr.(*ast.AggregateFuncExpr)
		figures = figures && ok
		s.touch(f.Expr)
		if ok && len(n.Fields.Fields) == 1 && n.GroupBy == nil {
			s.extreme(agg)
		}
	}
	for _, a := range s.order {
		a.single, a.folds = figures, n.Distinct || n.GroupBy != nil || n.Having != nil
	}
	s.touchAll(n.Having)
}

// extreme takes MIN and MAX of a column for what an index makes of it: the first row
// in an order.
func (s *scope) extreme(agg *ast.AggregateFuncExpr) {
	f := strings.ToLower(agg.F)
	if f != "min" && f != "max" || len(agg.Args) != 1 {
		return
	}
	if c, ok := agg.Args[0].(*ast.ColumnNameExpr); ok {
		if a, name := s.resolve(c.Name); a != nil {
			a.order, a.sorted, a.limit = []Part{{Column: name, Desc: f == "max"}}, true, true
		}
	}
}

func (s *scope) touchAll(h *ast.HavingClause) {
	if h != nil {
		s.touch(h.Expr)
	}
}

// touch notes the columns of an expression and returns those of it, by table.
func (s *scope) touch(e ast.ExprNode) map[*access][]string {
	v := &columns{scope: s, found: map[*access][]string{}}
	if e != nil {
		e.Accept(v)
	}
	for a, names := range v.found {
		for _, n := range names {
			a.reads = appendNew(a.reads, n)
		}
	}
	return v.found
}

// columns collects those of an expression, not those of queries in it.
type columns struct {
	scope *scope
	found map[*access][]string
}

// Enter implements ast.Visitor.
func (v *columns) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr:
		return n, true
	case *ast.ColumnNameExpr:
		if a, name := v.scope.resolve(n.Name); a != nil {
			v.found[a] = appendNew(v.found[a], name)
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *columns) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (s *scope) sort(n *ast.SelectStmt) {
	if s.within && n.Limit == nil && n.GroupBy == nil {
		return // rows of a derived table have no order
	}
	if n.GroupBy != nil {
		s.orderBy(n.GroupBy.Items)
		for _, a := range s.order {
			a.group = true
			if n.OrderBy != nil { // groups are sorted once more, unless both agree
				a.sorted = a.sorted && sameColumns(a.order, s.partsOf(n.OrderBy.Items))
			}
		}
	}
	if n.OrderBy == nil {
		return
	}
	if n.GroupBy == nil {
		s.orderBy(n.OrderBy.Items)
		return
	}
	for _, i := range n.OrderBy.Items {
		s.touch(i.Expr)
	}
}

func sameColumns(a, b []Part) bool {
	return len(b) > 0 && len(b) <= len(a) && slices.EqualFunc(a[:len(b)], b,
		func(x, y Part) bool { return x.Column == y.Column })
}

// partsOf returns the columns of a list, nil when some are none or of several tables.
func (s *scope) partsOf(items []*ast.ByItem) []Part {
	var of *access
	var out []Part
	for _, i := range items {
		c, ok := i.Expr.(*ast.ColumnNameExpr)
		if !ok {
			return nil
		}
		a, name := s.resolve(c.Name)
		if a == nil || of != nil && a != of {
			return nil
		}
		of, out = a, append(out, Part{Column: name, Desc: i.Desc})
	}
	return out
}

func (s *scope) orderBy(items []*ast.ByItem) {
	for _, i := range items {
		s.touch(i.Expr)
	}
	parts := s.partsOf(items)
	if len(parts) == 0 {
		return
	}
	for _, a := range s.order {
		if c, ok := a.table.column(parts[0].Column); ok && c.name == parts[0].Column &&
			slices.Contains(a.reads, c.name) {
			a.order, a.sorted = parts, true
			return
		}
	}
}

func (s *scope) limited(l *ast.Limit) {
	for _, a := range s.order {
		a.limit = a.limit || l != nil && len(s.order) == 1 && (len(s.derived) == 0 || len(s.own) == 0)
		a.cut = a.cut || l != nil
		if l != nil && a.most == 0 {
			a.most = countOf(l.Count)
		}
		if l != nil && l.Offset != nil && a.limit {
			a.skips, a.skip = true, countOf(l.Offset)
		}
	}
}

// appendNew appends what is not there.
func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// countOf returns the number of a LIMIT, 0 where it is masked.
func countOf(e ast.ExprNode) float64 {
	if v, ok := e.(ast.ValueExpr); ok {
		switch n := v.GetValue().(type) {
		case uint64:
			return float64(n)
		case int64:
			return float64(n)
		}
	}
	return 0
}
