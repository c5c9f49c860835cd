package indexes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A Hidden is a condition that no index of its column can seek: a function of the column
// is compared, the column by LIKE, or it is converted to be compared.
type Hidden struct {
	Column   string
	Function string // in upper case: LIKE, YEAR, DATE …
	Pattern  string // of LIKE: [PatternWild], [PatternText], [PatternAny], empty when its text was not kept
	Folded   bool   // of LIKE: LOWER or UPPER of the column is compared, so that no index seeks it
	Type     string // of the column, in lower case: datetime, varchar(40); empty when not known
	Collate  string // of a column with text, as far as the definition says
	With     *Other // of a conversion: what the column is compared with
}

// What is known of a LIKE's pattern.
const (
	PatternWild = "wild" // begins with % or _
	PatternText = "text" // begins with text: an index can seek it
	PatternAny  = "any"  // is % and nothing else: a search for nothing
)

// LikeFunction is the Function of a condition by LIKE, RegexpFunction of one by REGEXP or RLIKE, of which an index
// finds nothing.
const (
	LikeFunction   = "LIKE"
	RegexpFunction = "REGEXP"
)

// ListFunction is the Function of a condition on a column that has a list of values as text.
const ListFunction = "FIND_IN_SET"

// hide notes a condition that no index can seek; of an OR when a part is by LIKE, and all are
// conditions on the rows: such as values decide alone may leave the rest undone.
func (s *scope) hide(e ast.ExprNode) {
	switch e := unwrapParentheses(e).(type) {
	case *ast.PatternLikeOrIlikeExpr:
		if e.Not || !e.IsLike {
			return
		}
		column := e.Expr
		folded := foldOf(e.Expr)
		if folded != nil {
			column = folded
		}
		if a, name := s.bare(column); a != nil && len(s.touch(e.Pattern)) == 0 {
			h := a.hiddenColumn(name, LikeFunction, patternOf(e.Pattern))
			h.Folded = folded != nil
			a.hidden = append(a.hidden, h)
		}
	case *ast.PatternRegexpExpr:
		if a, name := s.bare(e.Expr); a != nil && !e.Not && len(s.touch(e.Pattern)) == 0 {
			a.hidden = append(a.hidden, a.hiddenColumn(name, RegexpFunction, PatternWild))
		}
	case *ast.BinaryOperationExpr:
		switch e.Op {
		case opcode.LogicOr:
			if all, some := s.likes(e); all && some {
				s.hideLikes(e)
			}
		case opcode.EQ, opcode.LT, opcode.LE, opcode.GT, opcode.GE:
			s.hideFunction(e.L, e.R)
			s.hideFunction(e.R, e.L)
		}
	case *ast.FuncCallExpr:
		if e.FnName.L == "find_in_set" && len(e.Args) == 2 && len(s.touch(e.Args[0])) == 0 {
			if a, name := s.bare(e.Args[1]); a != nil {
				a.hidden = append(a.hidden, a.hiddenColumn(name, ListFunction, ""))
			}
		}
	case *ast.BetweenExpr:
		if !e.Not {
			s.hideFunction(e.Expr, e.Left, e.Right)
		}
	case *ast.PatternInExpr:
		if !e.Not && e.Sel == nil {
			s.hideFunction(e.Expr, e.List...)
		}
	}
}

// likes reports of an OR whether all of its parts are conditions on columns, and some by LIKE.
func (s *scope) likes(e ast.ExprNode) (all, some bool) {
	switch e := unwrapParentheses(e).(type) {
	case *ast.BinaryOperationExpr:
		if e.Op != opcode.LogicOr {
			break
		}
		left, one := s.likes(e.L)
		right, other := s.likes(e.R)
		return left && right, one || other
	case *ast.PatternLikeOrIlikeExpr:
		return !e.Not && e.IsLike, true
	case *ast.PatternRegexpExpr:
		return !e.Not, true
	case *ast.MatchAgainst:
		return false, false // of an OR no index of words serves a part: the LIKE is not what reads all
	}
	return len(s.touch(e)) > 0, false
}

// hideLikes notes the LIKEs of an OR.
func (s *scope) hideLikes(e ast.ExprNode) {
	switch e := unwrapParentheses(e).(type) {
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicOr {
			s.hideLikes(e.L)
			s.hideLikes(e.R)
		}
	case *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr:
		s.hide(e)
	}
}

// foldOf returns what LOWER or UPPER is of; nil where an expression is neither.
func foldOf(e ast.ExprNode) ast.ExprNode {
	switch name, arg := FunctionOf(e); name {
	case "LOWER", "UPPER", "LCASE", "UCASE":
		return arg
	}
	return nil
}

// hideFunction notes a function of one column that is compared with values.
func (s *scope) hideFunction(e ast.ExprNode, values ...ast.ExprNode) {
	name, arg := FunctionOf(e)
	if name == "" {
		return
	}
	a, column := s.bare(arg)
	if a == nil {
		return
	}
	for _, v := range values {
		if len(s.touch(v)) > 0 {
			return
		}
		if _, is := v.(*ast.SubqueryExpr); is {
			return
		}
	}
	a.hidden = append(a.hidden, a.hiddenColumn(column, name, ""))
}

// FunctionOf returns the function of one column that an expression is, in upper case, and
// its argument; other arguments are values. CAST(… AS DATE) is DATE. The name is empty
// where it is none.
func FunctionOf(e ast.ExprNode) (name string, column ast.ExprNode) {
	switch f := unwrapParentheses(e).(type) {
	case *ast.FuncCastExpr:
		if f.Tp.GetType() == mysql.TypeDate && f.FunctionType == ast.CastFunction {
			return "DATE", f.Expr
		}
	case *ast.FuncCallExpr:
		if inner, ok := unquoted(f); ok { // column->>'$.key' is written so, too
			return FunctionOf(inner)
		}
		for i, arg := range f.Args {
			if _, is := unwrapParentheses(arg).(*ast.ColumnNameExpr); is != (i == 0) {
				return "", nil
			}
		}
		if len(f.Args) > 0 && !isRelation(f.FnName.L) {
			return strings.ToUpper(f.FnName.L), f.Args[0]
		}
	}
	return "", nil
}

// unquoted returns the JSON_EXTRACT whose text a JSON_UNQUOTE gives.
func unquoted(f *ast.FuncCallExpr) (*ast.FuncCallExpr, bool) {
	if f.FnName.L != "json_unquote" || len(f.Args) != 1 {
		return nil, false
	}
	inner, ok := unwrapParentheses(f.Args[0]).(*ast.FuncCallExpr)
	return inner, ok && inner.FnName.L == "json_extract"
}

// patternOf reads a pattern, or its beginning where it is put together.
func patternOf(e ast.ExprNode) string {
	switch e := unwrapParentheses(e).(type) {
	case ast.ParamMarkerExpr:
		return ""
	case ast.ValueExpr:
		switch text := e.GetString(); {
		case text == "":
			return ""
		case strings.Trim(text, "%") == "":
			return PatternAny
		case text[0] == '%' || text[0] == '_':
			return PatternWild
		default:
			return PatternText
		}
	case *ast.FuncCallExpr:
		if e.FnName.L == "replace" && len(e.Args) == 3 { // of backslashes, as Hibernate writes it
			return patternOf(e.Args[0])
		}
		if e.FnName.L == "concat" && len(e.Args) > 0 {
			if p := patternOf(e.Args[0]); p != PatternAny {
				return p
			}
			for _, arg := range e.Args[1:] {
				if v, ok := arg.(ast.ValueExpr); !ok || strings.Trim(v.GetString(), "%") != "" {
					return PatternWild
				}
			}
			return PatternAny
		}
	}
	return ""
}

// hiddenColumn fills in what the definition of the table says of the column.
func (a *access) hiddenColumn(name, function, pattern string) Hidden {
	h := Hidden{Column: name, Function: function, Pattern: pattern}
	if m := a.table.definitionOf(name); m != "" {
		h.Type = typeWords().FindString(strings.ToLower(m))
		h.Collate = a.table.collation(m)
	}
	return h
}

var (
	typeWords    = lazyregexp.New(`^[a-z]+(\(\d+\))?`)
	collateWords = lazyregexp.New(`(?i)\bCOLLATE[ =](\w+)`)
	charsetWords = lazyregexp.New(`(?i)\bCHARACTER SET \w+`)
)

// definitionOf returns what a definition says of a column, after its name.
func (t *table) definitionOf(name string) string {
	begin := "`" + strings.ReplaceAll(name, "`", "``") + "` "
	for line := range strings.Lines(t.def.Create) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), begin); ok {
			return rest
		}
	}
	return ""
}

// collation returns that of a column, else of the table; empty where a character set
// stands for its default.
func (t *table) collation(column string) string {
	if m := collateWords().FindStringSubmatch(column); m != nil {
		return m[1]
	}
	tail := optionsTail().FindString(t.def.Create)
	if m := collateWords().FindStringSubmatch(tail); m != nil && !charsetWords().MatchString(column) {
		return m[1]
	}
	return ""
}

// IndexOn returns the statements that make and drop an index of a table's columns, by a
// name that is free.
func IndexOn(t *kasoku.TableDef, columns ...string) (name, do, undo string) {
	var parts []Part
	known := newTable(newGrammar(), t)
	name = t.Name
	for _, c := range columns {
		p, ok := known.part(c)
		if !ok { // a column that is still to be made
			p = Part{Column: c}
		}
		parts = append(parts, p)
		name += "_" + c
	}
	name = FreeIndexName(t, name)
	do, undo = indexDDL(name, t.Name, parts)
	return name, do, undo
}

// FreeIndexName returns the name, or one like it that no index of the table has.
func FreeIndexName(t *kasoku.TableDef, name string) string {
	name = strings.ToValidUTF8(cutBytes(name, 60), "")
	free := name
	taken := func(x kasoku.IndexDef) bool { return strings.EqualFold(x.Name, free) }
	for i := 2; slices.ContainsFunc(t.Indexes, taken); i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	return free
}
