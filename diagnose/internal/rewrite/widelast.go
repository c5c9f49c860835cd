package rewrite

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

var (
	errKeyless = errors.New("the primary key of the table is not among what it selects")
	errOrdered = errors.New("its order is not of columns that it selects")
)

// A WideTable is a table with columns that are long, as a statement reads it. Its columns are
// in the order of its definition.
type WideTable struct {
	Alias   string // by which the statement names it
	Columns []string
	Primary []string
	Wide    []string
}

// FetchWideLast rewrites a SELECT DISTINCT with an order and a LIMIT so that the wide columns
// of a table are read for the rows of the page alone: what is distinct is found without them, as the
// table's primary key, which is selected, decides their values. The page is then joined with the table.
// Rows that are equal in the order may come in another one.
func (d Dialect) FetchWideLast(text string, t WideTable) (string, error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", err
	}
	figures := inspectNode(s)
	if !s.Distinct || s.Limit == nil || s.OrderBy == nil || s.GroupBy != nil || s.Having != nil || s.LockInfo != nil ||
		s.With != nil || figures.figures || figures.window || len(t.Primary) == 0 {
		return "", errKind
	}
	own := sourceNamed(s.From.TableRefs, t.Alias)
	if own == nil {
		return "", errKind
	}
	if t.Alias = own.AsName.O; t.Alias == "" { // as it is written: servers may keep capitals of tables apart
		t.Alias = own.Source.(*ast.TableName).Name.O
	}
	p := wideParts{t: t, page: "page"}
	if strings.EqualFold(t.Alias, p.page) {
		p.page = "page_keys"
	}
	alone := isOneTable(s)
	for _, f := range s.Fields.Fields {
		if err := p.add(f, alone); err != nil {
			return "", err
		}
	}
	on, err := p.sameKeys()
	if err != nil {
		return "", err
	}
	order, err := p.order(s.OrderBy, alone)
	if err != nil {
		return "", err
	}
	s.Fields = &ast.FieldList{Fields: p.inner}
	if names, ok := outputNames(s); !ok || len(names) == 0 {
		return "", errKind // a derived table cannot have two columns of one name
	}
	return printStatement(&ast.SelectStmt{
		Kind: ast.SelectStmtKindSelect, SelectStmtOpts: &ast.SelectStmtOpts{SQLCache: true},
		Fields: &ast.FieldList{Fields: p.outer}, OrderBy: order,
		From: &ast.TableRefsClause{TableRefs: &ast.Join{
			Left:  &ast.TableSource{Source: s, AsName: ast.NewCIStr(p.page)},
			Right: own, Tp: ast.LeftJoin, On: &ast.OnCondition{Expr: on}}},
	})
}

// wideParts are the two halves of a statement whose wide columns are read last.
type wideParts struct {
	t            WideTable
	page         string // what the inner half is called
	inner, outer []*ast.SelectField
	keys         map[string]string // lower-case column of the primary key: its name in the inner half
	plain        []plainField
	wide         []string // names by which wide columns are selected
}

// A plainField is a column that the inner half selects.
type plainField struct {
	column *ast.ColumnName
	name   string // by which it is selected
	own    bool   // of the wide table
}

// add takes one field of the statement.
func (p *wideParts) add(f *ast.SelectField, alone bool) error {
	if w := f.WildCard; w != nil {
		if w.Table.L != strings.ToLower(p.t.Alias) && !(w.Table.L == "" && alone) || w.Schema.L != "" {
			return errKind // what other tables have is not known
		}
		for _, name := range p.t.Columns {
			p.addColumn(&ast.ColumnName{Table: ast.NewCIStr(p.t.Alias), Name: ast.NewCIStr(name)}, name, true)
		}
		return nil
	}
	c, ok := f.Expr.(*ast.ColumnNameExpr)
	if !ok {
		if f.AsName.L == "" {
			return errKind
		}
		p.inner = append(p.inner, f)
		p.outer = append(p.outer, p.ofPage(f.AsName.O))
		return nil
	}
	name := f.AsName.O
	if name == "" {
		name = c.Name.Name.O
	}
	own, err := p.owns(c.Name, alone)
	if err != nil {
		return err
	}
	p.addColumn(c.Name, name, own)
	return nil
}

// owns reports whether a column is of the wide table. A name alone is of the one table that has it.
func (p *wideParts) owns(c *ast.ColumnName, alone bool) (bool, error) {
	has := containsFold(p.t.Columns, c.Name.O)
	switch {
	case c.Schema.L != "":
		return false, errKind
	case c.Table.L != "":
		return c.Table.L == strings.ToLower(p.t.Alias), nil
	case alone && !has:
		return false, errKind
	}
	return has, nil
}

func (p *wideParts) addColumn(c *ast.ColumnName, name string, own bool) {
	if own && containsFold(p.t.Wide, c.Name.O) {
		wide := &ast.SelectField{Expr: columnOf(p.t.Alias, c.Name.O)}
		if !strings.EqualFold(name, c.Name.O) {
			wide.AsName = ast.NewCIStr(name)
		}
		p.outer, p.wide = append(p.outer, wide), append(p.wide, name)
		return
	}
	field := &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: c}}
	if name != c.Name.O {
		field.AsName = ast.NewCIStr(name)
	}
	p.inner = append(p.inner, field)
	p.outer = append(p.outer, p.ofPage(name))
	p.plain = append(p.plain, plainField{column: c, name: name, own: own})
	if own && containsFold(p.t.Primary, c.Name.O) {
		if p.keys == nil {
			p.keys = map[string]string{}
		}
		p.keys[c.Name.L] = name
	}
}

// ofPage is a column of the inner half, as the outer one selects it.
func (p *wideParts) ofPage(name string) *ast.SelectField {
	return &ast.SelectField{Expr: columnOf(p.page, name)}
}

// sameKeys is the condition that a row of the table is that of a row of the page.
func (p *wideParts) sameKeys() (ast.ExprNode, error) {
	if len(p.outer) == len(p.inner) {
		return nil, errUntouched
	}
	var all []ast.ExprNode
	for _, key := range p.t.Primary {
		name, ok := p.keys[strings.ToLower(key)]
		if !ok {
			return nil, errKeyless
		}
		all = append(all, compare(opcode.EQ, columnOf(p.t.Alias, key), columnOf(p.page, name)))
	}
	return joinAnd(all), nil
}

// order is the statement's order, of the columns of the page.
func (p *wideParts) order(by *ast.OrderByClause, alone bool) (*ast.OrderByClause, error) {
	out := &ast.OrderByClause{}
	for _, item := range by.Items {
		c, ok := unwrapParentheses(item.Expr).(*ast.ColumnNameExpr)
		if !ok {
			return nil, errOrdered
		}
		e, err := p.ordered(c.Name, alone)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, &ast.ByItem{Expr: e, Desc: item.Desc, NullOrder: item.NullOrder})
	}
	return out, nil
}

// ordered finds a column of the order: a name alone is first that of a field (MySQL, "SELECT Statement").
func (p *wideParts) ordered(c *ast.ColumnName, alone bool) (ast.ExprNode, error) {
	if c.Table.L == "" {
		if name, ok := p.selected(c.Name.L); ok {
			return columnOf(p.page, name), nil
		}
		if containsFold(p.wide, c.Name.O) {
			return nil, errOrdered
		}
	}
	own, err := p.owns(c, alone)
	if err != nil {
		return nil, err
	}
	for _, f := range p.plain {
		if f.column.Name.L == c.Name.L && (f.own && own || f.column.Table.L == c.Table.L) {
			return columnOf(p.page, f.name), nil
		}
	}
	return nil, errOrdered
}

// selected returns the field of the inner half by that name.
func (p *wideParts) selected(name string) (as string, ok bool) {
	for _, f := range p.inner {
		as := f.AsName.O
		if c, column := f.Expr.(*ast.ColumnNameExpr); column && as == "" {
			as = c.Name.Name.O
		}
		if strings.EqualFold(as, name) {
			return as, true
		}
	}
	return "", false
}

// sourceNamed returns a copy of the table that a statement reads by that name, without hints; nil
// where there is none.
func sourceNamed(tree ast.ResultSetNode, alias string) *ast.TableSource {
	switch n := tree.(type) {
	case *ast.Join:
		if n == nil {
			return nil
		}
		if found := sourceNamed(n.Left, alias); found != nil {
			return found
		}
		return sourceNamed(n.Right, alias)
	case *ast.TableSource:
		t, ok := n.Source.(*ast.TableName)
		if !ok || aliasOf(n) != strings.ToLower(alias) {
			return nil
		}
		return &ast.TableSource{Source: &ast.TableName{Schema: t.Schema, Name: t.Name}, AsName: n.AsName}
	}
	return nil
}

func columnOf(table, name string) ast.ExprNode {
	return &ast.ColumnNameExpr{Name: &ast.ColumnName{Table: ast.NewCIStr(table), Name: ast.NewCIStr(name)}}
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
