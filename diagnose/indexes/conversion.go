package indexes

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// ConversionFunction is the Function of a column whose values are converted to be compared: text
// that equals a number is compared as a number, and of two texts one has the other's character
// set or collation. An index has the values as they are stored.
//
// Sources: MySQL 9.7 Reference Manual, "Type Conversion in Expression Evaluation", "Collation
// Coercibility in Expressions"; MariaDB documentation, "Type Conversion", "Charset Narrowing
// Optimization", which is off as MariaDB is installed.
const ConversionFunction = "CONVERSION"

// An Other is what a column is compared with after a conversion: a number that is sent, or
// another column.
type Other struct {
	Table   *kasoku.TableDef // nil: a number
	Column  string
	Type    string // bigint unsigned
	Charset string // of text
	Collate string
	Few     bool // an equality with the column finds few of its rows
}

func newOther(t *table, name string) *Other {
	k := t.kindOf(name)
	return &Other{Table: &t.def, Column: name, Type: k.words, Charset: k.charset, Collate: k.collate}
}

// convert files a comparison of a column with values for which its own are converted: as one that
// no index can seek. It reports false, and does nothing, where nothing of the kind is known.
func (s *scope) convert(a *access, name string, as ast.ExprNode, equal bool, values ...ast.ExprNode) bool {
	own := a.table.kindOf(name)
	if own.class != textClass {
		return false
	}
	var with *Other
	for _, v := range values {
		o := s.otherOf(own, as, v)
		if o == nil {
			return false
		}
		with = o
	}
	a.hideConverted(name, equal, with)
	return with != nil
}

// hideConverted notes that no index of the column seeks.
func (a *access) hideConverted(name string, equal bool, with *Other) {
	if with == nil {
		return
	}
	a.filter, a.filters = appendNew(a.filter, name), a.filters+1
	if !equal {
		return
	}
	h := a.hiddenColumn(name, ConversionFunction, "")
	with.Few = a.table.share(name, nil, 0) <= fewOfRows
	h.With = with
	a.hidden = append(a.hidden, h)
}

// fewOfRows is which part of a table's rows an index finds faster than reading all.
const fewOfRows = 0.1

// otherOf returns what a column of text is converted for, nil where its index serves or where it is
// not known.
func (s *scope) otherOf(own kind, as, v ast.ExprNode) *Other {
	switch v := unwrapParentheses(v).(type) {
	case *ast.ColumnNameExpr:
		t, name := s.definedColumn(v.Name)
		if t == nil {
			return nil
		}
		if !loses(own, t.kindOf(name)) {
			return nil
		}
		return newOther(t, name)
	case ast.ParamMarkerExpr:
		if c, ok := unwrapParentheses(as).(*ast.ColumnNameExpr); ok && s.numbered(c.Name) {
			return &Other{}
		}
	case ast.ValueExpr:
		if isNumber(v) {
			return &Other{}
		}
	case *ast.UnaryOperationExpr:
		if v.Op == opcode.Minus || v.Op == opcode.Plus {
			return s.otherOf(own, as, v.V)
		}
	}
	return nil
}

// numbered reports whether the kept statement compares the column with a number, as far as a mask
// of it does not show.
func (s *scope) numbered(c *ast.ColumnName) bool {
	name := c.Name.O
	if c.Table.O != "" {
		name = c.Table.O + "." + name
	}
	return slices.ContainsFunc(s.query.Numbers, func(n string) bool { return strings.EqualFold(n, name) })
}

// isNumber reports whether a value is one, written without quotes.
func isNumber(v ast.ValueExpr) bool {
	switch v.GetValue().(type) {
	case int64, uint64, float64, *test_driver.MyDecimal:
		return true
	}
	return false // also of 0x41, which is the text A
}

// definedColumn finds a column of the SELECT's tables, or of those of one around it.
func (s *scope) definedColumn(c *ast.ColumnName) (*table, string) {
	if a, name := s.resolve(c); a != nil {
		return a.table, name
	}
	if c.Table.L == "" {
		return nil, ""
	}
	for _, a := range slices.Backward(s.all) {
		if a.alias == c.Table.L && a.query == s.query {
			if d, ok := a.table.column(c.Name.O); ok {
				return a.table, d.name
			}
		}
	}
	return nil, ""
}

// using files the column by which tables are joined.
func (s *scope) using(column string) {
	var of []*access
	for _, a := range s.own {
		if _, ok := a.table.column(column); ok {
			of = append(of, a)
		}
	}
	for _, a := range of {
		c, _ := a.table.column(column)
		own := a.table.kindOf(c.name)
		at := slices.IndexFunc(of, func(b *access) bool { return b != a && loses(own, b.table.kindOf(c.name)) })
		if at < 0 {
			a.joined = appendNew(a.joined, c.name)
			continue
		}
		a.hideConverted(c.name, true, newOther(of[at].table, c.name))
	}
}

// A kind is what the definition says of how a column is compared.
type kind struct {
	class            kindClass
	words            string // varchar(40), bigint(20) unsigned
	charset, collate string // of text; empty where the definition does not say
	seeksBinary      bool
}

type kindClass uint8

const (
	otherClass kindClass = iota // whose comparisons are not known here: ENUM, JSON, BIT, bytes
	textClass
	numberClass
	clockClass
)

// kindOf reads the definition of a column.
func (t *table) kindOf(name string) kind {
	def := strings.ToLower(t.definitionOf(name))
	k := kind{words: kindWords().FindString(def), seeksBinary: t.seeksBinary}
	word, _, _ := strings.Cut(k.words, "(")
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		k.class = textClass
		k.charset, k.collate = t.charsetOf(def)
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double":
		k.class = numberClass
	case "date", "datetime", "timestamp":
		k.class = clockClass
	}
	return k
}

var (
	kindWords     = lazyregexp.New(`^[a-z]+(\(\d+(,\d+)?\))?( unsigned)?( zerofill)?`)
	charsetOption = lazyregexp.New(`(?i)\b(?:CHARACTER SET|CHARSET)[ =](\w+)`)
)

// charsetOf returns the character set and the collation of a column with text: its own, else the
// table's. The collation is empty where it is the character set's own one.
func (t *table) charsetOf(column string) (charset, collate string) {
	for _, text := range []string{column, optionsTail().FindString(t.def.Create)} {
		if m := collateWords().FindStringSubmatch(text); m != nil {
			collate = strings.ToLower(m[1])
		}
		if m := charsetOption().FindStringSubmatch(text); m != nil {
			charset = strings.ToLower(m[1])
		} else if collate != "" {
			charset, _, _ = strings.Cut(collate, "_")
		}
		if charset != "" {
			break
		}
	}
	if charset == "utf8" {
		charset = "utf8mb3"
	}
	if rest, ok := strings.CutPrefix(collate, "utf8_"); ok {
		collate = "utf8mb3_" + rest
	}
	return charset, collate
}

// loses reports whether the values of a column of text are converted when it equals another
// column, so that its index does not seek. What is not known is not said.
func loses(own, other kind) bool {
	if own.class != textClass {
		return false
	}
	switch other.class {
	case numberClass, clockClass:
		return true
	case textClass:
		if own.charset == "" || other.charset == "" {
			return false
		}
		if own.charset != other.charset {
			return breadth(own.charset) < breadth(other.charset)
		}
		return !own.seeksBinary && strings.HasSuffix(other.collate, "_bin") && own.collate != other.collate
	}
	return false
}

// breadth orders the character sets of which the broader one is taken: those that are not
// Unicode's are converted to it.
func breadth(charset string) int {
	switch charset {
	case "utf8mb4", "utf16", "utf32", "utf16le":
		return 3
	case "utf8mb3", "ucs2":
		return 2
	case "binary":
		return 0 // compares bytes, which is another matter
	}
	return 1
}

// Alike returns the statement that gives a column, which is converted to be compared, the type of
// the other one, or its character set and collation. It reports false where that takes more than
// one statement: a generated column, one of a foreign key, a default that the type does not have.
func Alike(t *kasoku.TableDef, h Hidden) (do string, ok bool) {
	known := newTable(newGrammar(), t)
	def := strings.TrimSuffix(strings.TrimSpace(known.definitionOf(h.Column)), ",")
	own := known.kindOf(h.Column)
	if h.With == nil || h.With.Table == nil || own.class != textClass || generatedWords().MatchString(def) ||
		isForeignKey(t, h.Column) || isForeignKey(h.With.Table, h.With.Column) {
		return "", false
	}
	rest := textOptions().ReplaceAllString(def[len(own.words):], "")
	switch other := newTable(newGrammar(), h.With.Table).kindOf(h.With.Column); {
	case other.class == textClass:
		rest = own.words + " CHARACTER SET " + other.charset + collateOption(other.collate) + rest
	case other.class == numberClass && !fractionWords().MatchString(other.words) &&
		!strings.Contains(strings.ToUpper(rest), "DEFAULT '"):
		rest = other.words + rest
	default:
		return "", false
	}
	return "ALTER TABLE " + quoteName(t.Name) + " MODIFY " + quoteName(h.Column) + " " + rest, true
}

func collateOption(collate string) string {
	if collate == "" {
		return ""
	}
	return " COLLATE " + collate
}

var (
	fractionWords  = lazyregexp.New(`^(float|double)`)
	generatedWords = lazyregexp.New(`(?i)\bGENERATED ALWAYS\b|\bAS \(`)
	textOptions    = lazyregexp.New(`(?i)^( CHARACTER SET \w+)?( COLLATE \w+)?`)
)

// isForeignKey reports whether a foreign key of the table has the column.
func isForeignKey(t *kasoku.TableDef, column string) bool {
	quoted := "`" + strings.ToLower(column) + "`"
	for line := range strings.Lines(strings.ToLower(t.Create)) {
		_, keys, ok := strings.Cut(line, "foreign key (")
		if keys, _, _ = strings.Cut(keys, ")"); ok && strings.Contains(keys, quoted) {
			return true
		}
	}
	return false
}

// ComparesAlike reports whether two columns are of kinds whose values are equal where they are the same, so that
// one of a unique key finds at most one row by the other: whole numbers, texts of one collation, the same type
// of times or bytes. What the definitions do not say is not alike.
func ComparesAlike(a *kasoku.TableDef, column string, b *kasoku.TableDef, other string) bool {
	g := newGrammar()
	x, y := newTable(g, a).kindOf(column), newTable(g, b).kindOf(other)
	switch {
	case x.class != y.class:
		return false
	case x.class == numberClass:
		return wholeWords().MatchString(x.words) && wholeWords().MatchString(y.words)
	case x.class == textClass:
		return x.charset != "" && x.charset == y.charset && x.collate == y.collate
	case x.class == clockClass:
		return x.words == y.words
	}
	return x.words == y.words && bytesWords().MatchString(x.words)
}

var (
	wholeWords = lazyregexp.New(`^(tiny|small|medium|big)?int\b`)
	bytesWords = lazyregexp.New(`^(binary|varbinary)\b`)
)
