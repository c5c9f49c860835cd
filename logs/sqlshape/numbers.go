package sqlshape

import (
	"slices"
	"strings"
)

// maxNumbered bounds the columns that [Numbers] returns, and the bytes of each.
const (
	maxNumbered = 16
	maxNumberOf = 128
)

// Numbers returns the columns that the conditions of a statement compare with a number by =,
// <=> or IN, as they are written without quotes: u.phone. What a mask of the statement does not
// show is so known: 5 and not '5'. A column that is compared with a text, too, is left out.
func Numbers(sql []byte) (columns []string) {
	n := numberReader{lex: NewLexer(sql)}
	for n.next(); n.t.Kind != End; {
		switch {
		case n.t.Is("where"), n.t.Is("on"), n.t.Is("having"):
			n.condition = true
		case slices.ContainsFunc(otherClauses, n.t.Is):
			n.condition = false
		case n.condition && (n.t.Kind == Word || n.t.Kind == Name):
			n.comparison()
			continue
		}
		n.next()
	}
	return slices.DeleteFunc(n.numbers, func(c string) bool {
		return slices.ContainsFunc(n.texts, func(t string) bool { return sameColumn(c, t) })
	})
}

// otherClauses begin what is no condition.
var otherClauses = []string{"select", "set", "update", "values", "group", "order", "limit"}

// sameColumn reports whether two names may be of one column: u.phone is phone.
func sameColumn(a, b string) bool {
	return strings.EqualFold(a[strings.IndexByte(a, '.')+1:], b[strings.IndexByte(b, '.')+1:])
}

type numberReader struct {
	lex            Lexer
	t              Token
	condition      bool // in WHERE, ON or HAVING
	numbers, texts []string
}

func (n *numberReader) next() { n.t = n.lex.Next() }

// comparison reads on from a name, which may be that of a column that is compared.
func (n *numberReader) comparison() {
	name := n.t.Unquoted()
	if n.next(); n.t.IsSymbol('.') {
		n.next()
		if n.t.Kind != Word && n.t.Kind != Name {
			return
		}
		name = append(append(slices.Clip(name), '.'), n.t.Unquoted()...)
		n.next()
	}
	switch {
	case n.t.IsSymbol('='):
		n.next()
		n.file(name, n.value())
	case n.t.IsSymbol('<'):
		if n.next(); !n.t.IsSymbol('=') {
			return
		}
		if n.next(); n.t.IsSymbol('>') {
			n.next()
			n.file(name, n.value())
		}
	case n.t.Is("in"):
		if n.next(); !n.t.IsSymbol('(') {
			return
		}
		for n.t.IsSymbol('(') || n.t.IsSymbol(',') {
			n.next()
			n.file(name, n.value())
		}
	}
}

// value reads past a literal, and returns its kind; [End] where something else stands there.
func (n *numberReader) value() Kind {
	if n.t.IsSymbol('-') || n.t.IsSymbol('+') {
		n.next()
		if n.t.Kind != Number {
			return End
		}
	}
	t := n.t
	if !t.Literal() || t.Open {
		return End
	}
	n.next()
	if len(t.Text) > 1 && t.Kind == Number && isPrefixed(t.Text) {
		return String // 0x41 is the text A
	}
	return t.Kind
}

func (n *numberReader) file(name []byte, kind Kind) {
	into := &n.texts
	switch kind {
	case End:
		return
	case Number:
		into = &n.numbers
	}
	if c := string(name); len(*into) < maxNumbered && len(c) <= maxNumberOf && !slices.Contains(*into, c) {
		*into = append(*into, c)
	}
}
