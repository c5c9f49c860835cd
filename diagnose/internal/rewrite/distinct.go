package rewrite

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/kasoku/kasoku"
)

// WithoutDistinct leaves DISTINCT out of a SELECT that sends no row twice anyway: a key of its rows is among what it
// selects. That is the primary key of a table whose rows its joins do not multiply, each finding at most one row of
// another table by a unique key, also through a derived table. It returns the name of that table.
func (d Dialect) WithoutDistinct(text string, define func(schema, name string) *kasoku.TableDef) (code, table string,
	err error) {
	s, err := d.parseSelect(text)
	if err != nil {
		return "", "", err
	}
	if !s.Distinct || !isPlain(s) || s.LockInfo != nil {
		return "", "", errKind
	}
	k, ok := keyOfRows(s.From.TableRefs, define)
	if !ok {
		return "", "", errNeeded
	}
	if _, ok := k.sentBy(s); !ok {
		return "", "", errKeyless
	}
	s.Distinct = false
	code, err = printStatement(s)
	return code, k.table, err
}

// isPlain reports whether a SELECT sends rows of its tables, one for one.
func isPlain(s *ast.SelectStmt) bool {
	c := inspectNode(s)
	return s.From != nil && s.GroupBy == nil && s.Having == nil && s.With == nil &&
		!c.figures && !c.window && !c.volatile
}

// A rowKey is what no two rows of tables that are joined have alike.
type rowKey struct {
	alias   string // of the table or derived table that has it, in lower case
	columns []string
	table   string
}

// keyOfRows finds the key of the rows of a FROM.
func keyOfRows(n ast.ResultSetNode, define func(schema, name string) *kasoku.TableDef) (k rowKey, ok bool) {
	switch n := n.(type) {
	case *ast.Join:
		if n.Right == nil {
			return keyOfRows(n.Left, define)
		}
		right, isTable := n.Right.(*ast.TableSource)
		if !isTable || n.On == nil || n.Tp == ast.RightJoin {
			return k, false
		}
		j := &joined{tables: map[string]*kasoku.TableDef{}}
		if err := j.read(n, define); err != nil || !j.findsOne(aliasOf(right), j.tables[aliasOf(right)], n.On.Expr) {
			return k, false
		}
		return keyOfRows(n.Left, define)
	case *ast.TableSource:
		switch from := n.Source.(type) {
		case *ast.TableName:
			return primaryKey(aliasOf(n), define(from.Schema.O, from.Name.O))
		case *ast.SelectStmt:
			if !isPlain(from) || n.AsName.L == "" {
				return k, false
			}
			if k, ok = keyOfRows(from.From.TableRefs, define); !ok {
				return k, false
			}
			k.columns, ok = k.sentBy(from)
			k.alias = n.AsName.L
			return k, ok
		}
	}
	return k, false
}

// primaryKey is the key of a table's rows; of one that * leaves out nothing is known.
func primaryKey(alias string, t *kasoku.TableDef) (k rowKey, ok bool) {
	if t == nil || strings.Contains(strings.ToUpper(t.Create), "INVISIBLE") {
		return k, false
	}
	at := slices.IndexFunc(t.Indexes, func(x kasoku.IndexDef) bool { return x.Name == "PRIMARY" && len(x.Columns) > 0 })
	if at < 0 {
		return k, false
	}
	k = rowKey{alias: alias, table: t.Name}
	for _, c := range t.Indexes[at].Columns {
		k.columns = append(k.columns, strings.TrimSuffix(c, " DESC"))
	}
	return k, true
}

// sentBy returns the names by which a SELECT sends all columns of the key.
func (k rowKey) sentBy(s *ast.SelectStmt) (names []string, ok bool) {
	alone := s.From.TableRefs.Right == nil
	for _, column := range k.columns {
		at := slices.IndexFunc(s.Fields.Fields, func(f *ast.SelectField) bool {
			if w := f.WildCard; w != nil {
				return w.Table.L == "" || w.Table.L == k.alias
			}
			c, ok := f.Expr.(*ast.ColumnNameExpr)
			return ok && strings.EqualFold(c.Name.Name.O, column) &&
				(c.Name.Table.L == k.alias || c.Name.Table.L == "" && alone)
		})
		if at < 0 {
			return nil, false
		}
		if as := s.Fields.Fields[at].AsName.O; as != "" {
			column = as
		}
		names = append(names, column)
	}
	return names, true
}
