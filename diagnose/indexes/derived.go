package indexes

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/kasoku/kasoku"
)

// A reader reads all SELECTs of one statement.
type reader struct {
	g      grammar
	query  *kasoku.Query
	find   func(schema, name string) *table
	server server
	all    []*access
	blocks int
	seen   map[ast.Node]bool // SELECTs that were read
	parts  map[ast.Node]bool // those of a UNION or a common table expression
	common map[*ast.TableName]*ast.CommonTableExpression
	uses   map[*ast.CommonTableExpression]int
}

// newReader finds which names of tables are those of common table expressions: in its own
// definition such a name is a table's, unless it is recursive.
func newReader(stmt ast.StmtNode) *reader {
	r := &reader{seen: map[ast.Node]bool{}, parts: map[ast.Node]bool{},
		common: map[*ast.TableName]*ast.CommonTableExpression{}, uses: map[*ast.CommonTableExpression]int{}}
	v := &commonNames{reader: r, by: map[string]*ast.CommonTableExpression{}}
	stmt.Accept(v)
	v.again = true
	stmt.Accept(v)
	return r
}

// commonNames collects common table expressions by name, and in a second pass what names them.
type commonNames struct {
	reader *reader
	by     map[string]*ast.CommonTableExpression
	within []*ast.CommonTableExpression
	again  bool
}

// Enter implements ast.Visitor.
func (v *commonNames) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.CommonTableExpression:
		v.within = append(v.within, n)
		if v.again {
			break
		}
		v.by[n.Name.L] = n
		selects, _, _ := selectsOf(n.Query)
		for _, s := range selects {
			v.reader.parts[s] = true
		}
	case *ast.TableName:
		if cte := v.by[n.Name.L]; v.again && cte != nil && n.Schema.L == "" &&
			(cte.IsRecursive || !slices.Contains(v.within, cte)) {
			v.reader.common[n] = cte
			v.reader.uses[cte]++
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *commonNames) Leave(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.CommonTableExpression); ok {
		v.within = v.within[:len(v.within)-1]
	}
	return n, true
}

// read reads one SELECT, UPDATE or DELETE, and the derived tables in its FROM.
func (r *reader) read(n ast.Node, within bool) *scope {
	r.seen[n] = true
	r.blocks++
	s := &scope{reader: r, sources: map[string]*access{}, block: r.blocks, within: within, part: r.parts[n]}
	s.read(n)
	return s
}

// A derived is a table that a query in FROM makes, or a common table expression that is used once.
//
// Both servers make one with the statement around it of a plain SELECT, so that conditions outside
// are conditions on its tables. Into groups and the parts of a UNION they carry those conditions on
// columns that groups or all parts have, and with which no table outside has to do.
//
// Sources: MySQL 9.7 Reference Manual, "Optimizing Derived Tables …", "Derived Condition Pushdown
// Optimization"; MariaDB documentation, "Derived Table Merge Optimization", "Condition Pushdown into
// Derived Table Optimization".
type derived struct {
	parts  []*scope // several of a UNION
	merged bool
	pushes bool
}

// readDerived reads a derived table and what may be known by its alias.
func readDerived(s *scope, alias string, from ast.ResultSetNode, lateral bool, names []ast.CIStr) {
	selects, whole, ok := selectsOf(from)
	if !ok || alias == "" || slices.ContainsFunc(selects, func(n *ast.SelectStmt) bool { return s.seen[n] }) {
		return // each SELECT is read by itself; of two that name each other neither is read twice
	}
	whole = whole && !lateral
	d := &derived{pushes: s.server.pushes && whole, merged: s.server.merges && whole && len(selects) == 1}
	for _, n := range selects {
		p := s.reader.read(n, true)
		if d.parts == nil && len(names) == 0 { // the others' columns have the names of the first one's
			names = readOutputs(p, n, nil)
		} else {
			readOutputs(p, n, names)
		}
		d.parts = append(d.parts, p)
		plain, takes := shapeOf(n)
		d.merged, d.pushes = d.merged && plain, d.pushes && takes
	}
	if s.derived == nil {
		s.derived = map[string]*derived{}
	}
	s.derived[alias] = d
	for _, p := range d.parts {
		for _, a := range p.order {
			if !d.merged {
				a.derived, a.apart = true, true
				continue
			}
			a.block, a.first, a.apart = s.block, a.first && len(s.order) == 0, s.part
			s.order = append(s.order, a)
		}
	}
	s.outer = s.outer || d.merged && d.parts[0].outer
}

// selectsOf returns the SELECTs of a derived table; whole is false where a LIMIT cuts all of them.
func selectsOf(from ast.Node) (list []*ast.SelectStmt, whole, ok bool) {
	var parts []ast.Node
	whole = true
	switch n := from.(type) {
	case *ast.SelectStmt:
		return []*ast.SelectStmt{n}, n.Limit == nil, n.From != nil
	case *ast.SubqueryExpr:
		return selectsOf(n.Query)
	case *ast.SetOprStmt:
		whole = n.Limit == nil
		if n.SelectList != nil {
			parts = n.SelectList.Selects
		}
	case *ast.SetOprSelectList:
		parts, whole = n.Selects, n.Limit == nil
	}
	for _, p := range parts {
		more, all, found := selectsOf(p)
		if !found {
			return nil, false, false
		}
		list, whole = append(list, more...), whole && all && isUnion(p)
	}
	return list, whole, len(list) > 0
}

// isUnion reports whether a part of several SELECTs is added to those before it, not taken away.
func isUnion(n ast.Node) bool {
	var by *ast.SetOprType
	switch n := n.(type) {
	case *ast.SelectStmt:
		by = n.AfterSetOperator
	case *ast.SetOprSelectList:
		by = n.AfterSetOperator
	}
	return by == nil || *by == ast.Union || *by == ast.UnionAll
}

// shapeOf reports whether a SELECT is one with the statement around it, and whether it takes
// conditions on its columns.
func shapeOf(n *ast.SelectStmt) (plain, takes bool) {
	v := &makers{}
	n.Fields.Accept(v)
	takes = n.Limit == nil && !v.windows && len(n.WindowSpecs) == 0 && (n.GroupBy != nil || !v.sums) &&
		(n.GroupBy == nil || !n.GroupBy.Rollup)
	return takes && n.GroupBy == nil && !n.Distinct && n.Having == nil, takes
}

// makers finds what makes one row of several.
type makers struct{ sums, windows bool }

// Enter implements ast.Visitor.
func (v *makers) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.SubqueryExpr:
		return n, true
	case *ast.AggregateFuncExpr:
		v.sums = true
	case *ast.WindowFuncExpr:
		v.windows = true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *makers) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// readOutputs notes which of its columns a derived table's SELECT hands out, by the names that they have
// outside.
func readOutputs(s *scope, n *ast.SelectStmt, names []ast.CIStr) (by []ast.CIStr) {
	s.made = map[string]*ast.ColumnName{}
	for i, f := range n.Fields.Fields {
		if f.WildCard != nil {
			s.wild = append(s.wild, f.WildCard.Table.L)
			continue
		}
		c, ok := unwrapParentheses(f.Expr).(*ast.ColumnNameExpr)
		name := f.AsName.L
		if len(names) > i {
			name = names[i].L
		} else if ok && name == "" {
			name = c.Name.Name.L
		}
		if name == "" {
			name = strings.ToLower(f.Text())
		}
		by = append(by, ast.NewCIStr(name))
		s.made[name] = nil // is made, of no column alone
		if ok {
			s.made[name] = c.Name
		}
	}
	if len(names) > 0 && (len(s.wild) > 0 || names[0].L == "") { // which is which is not known
		s.made, s.wild = nil, nil
	}
	if len(s.wild) > 0 {
		by = []ast.CIStr{{}} // not known
	}
	if n.GroupBy != nil {
		s.groups = []string{}
		for _, i := range n.GroupBy.Items {
			if a, name := s.bare(i.Expr); a != nil {
				s.groups = append(s.groups, a.alias+"."+name)
			} else if c, ok := unwrapParentheses(i.Expr).(*ast.ColumnNameExpr); ok && s.made[c.Name.Name.L] != nil {
				if a, name := s.resolve(s.made[c.Name.Name.L]); a != nil { // GROUP BY an alias
					s.groups = append(s.groups, a.alias+"."+name)
				}
			}
		}
	}
	return by
}

// outputOf finds the column that a derived table hands out by a name; made reports whether it hands
// out anything by it, as far as that is known.
func outputOf(s *scope, name string) (a *access, column string, made bool) {
	c, made := s.made[strings.ToLower(name)]
	if made && c == nil {
		return nil, "", true
	}
	if made {
		a, column = s.resolve(c)
	}
	for _, w := range s.wild {
		if a == nil {
			a, column = s.resolve(&ast.ColumnName{Table: ast.NewCIStr(w), Name: ast.NewCIStr(name)})
			made = made || a != nil
		}
	}
	if a != nil && s.groups != nil && !slices.Contains(s.groups, a.alias+"."+column) {
		return nil, "", true
	}
	return a, column, made
}

// derivedOf returns the derived table that a column is of, nil where it is of a table.
func derivedOf(s *scope, c *ast.ColumnName) *derived {
	if c.Table.L != "" {
		return s.derived[c.Table.L]
	}
	if slices.ContainsFunc(s.own, func(a *access) bool { _, ok := a.table.column(c.Name.O); return ok }) {
		return nil
	}
	for _, d := range s.derived {
		if _, _, made := outputOf(d.parts[0], c.Name.L); made {
			return d
		}
	}
	return nil
}

// isOfDerived reports whether an expression is a column of a derived table.
func isOfDerived(s *scope, e ast.ExprNode) bool {
	c, ok := unwrapParentheses(e).(*ast.ColumnNameExpr)
	return ok && !s.mapped && derivedOf(s, c.Name) != nil
}

// pushDown files a condition whose columns are all of one derived table that is made by itself where
// it finds its way into it; it reports whether the condition is such a one. Where rows of an outer
// join may lack the table, what the server does is not known.
func pushDown(s *scope, e ast.ExprNode) bool {
	if s.mapped || len(s.derived) == 0 {
		return false
	}
	v := &names{}
	e.Accept(v)
	if len(v.list) == 0 || v.queries {
		return false
	}
	d := derivedOf(s, v.list[0])
	if d == nil || d.merged || slices.ContainsFunc(v.list, func(c *ast.ColumnName) bool { return derivedOf(s, c) != d }) {
		return false
	}
	if !d.pushes || s.outer {
		return true
	}
	for _, p := range d.parts {
		if !slices.ContainsFunc(v.list, func(c *ast.ColumnName) bool { a, _, _ := outputOf(p, c.Name.L); return a == nil }) {
			p.mapped = true
			p.condition(e)
			p.mapped = false
		}
	}
	return true
}

// computedBy returns the tables of the derived ones, one with the statement around them, that work out what
// a condition is on.
func computedBy(s *scope, e ast.ExprNode) (out []*access) {
	v := &names{}
	e.Accept(v)
	for _, c := range v.list {
		if d := derivedOf(s, c); d != nil && d.merged && !s.mapped {
			return d.parts[0].order
		}
	}
	return nil
}

// names collects the columns of an expression.
type names struct {
	list    []*ast.ColumnName
	queries bool
}

// Enter implements ast.Visitor.
func (v *names) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr:
		v.queries = true
	case *ast.ColumnNameExpr:
		v.list = append(v.list, n.Name)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *names) Leave(n ast.Node) (ast.Node, bool) { return n, true }
