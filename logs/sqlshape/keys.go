package sqlshape

// Equalities calls yield with each column that the statement's WHERE compares
// with a literal for equality, and with the literal without its quotes, until
// yield returns false. A list with one literal is an equality. Column names
// come without their table and without quotes, as written.
func Equalities(sql []byte, yield func(column, literal []byte) bool) {
	l := NewLexer(sql)
	for {
		t := l.Next()
		if t.Kind == End {
			return
		}
		if t.Is("where") {
			break
		}
	}
	var column []byte
	for t := l.Next(); t.Kind != End; {
		if t.Kind != Word && t.Kind != Name {
			t = l.Next()
			continue
		}
		column = t.Unquoted()
		var literal Token
		if t = l.Next(); t.IsSymbol('=') {
			t = l.Next()
			literal = t
		} else if t.Is("in") {
			literal, t = singleLiteral(&l)
		}
		if !literal.Literal() || literal.Open {
			continue
		}
		if !yield(column, literal.Unquoted()) {
			return
		}
		t = l.Next()
	}
}

// singleLiteral reads ( literal ) and returns the literal, and else the token that
// was read last.
func singleLiteral(l *Lexer) (literal, last Token) {
	if last = l.Next(); !last.IsSymbol('(') {
		return Token{}, last
	}
	if literal = l.Next(); !literal.Literal() {
		return Token{}, literal
	}
	if last = l.Next(); !last.IsSymbol(')') {
		return Token{}, last
	}
	return literal, last
}

// maxColumns bounds the columns of an INSERT that are distinguished.
const maxColumns = 256

// Values calls yield with each literal that an INSERT or REPLACE writes, and
// with the column that it goes to, until yield returns false. The column is nil
// when the statement has no column list. Values that are expressions, and what
// stands after the values, are left out.
func Values(sql []byte, yield func(column, literal []byte) bool) {
	l := NewLexer(sql)
	var buf [32][]byte
	columns := buf[:0]
	for depth := 0; ; {
		t := l.Next()
		switch {
		case t.Kind == End:
			return
		case t.IsSymbol('('):
			depth++
			columns = columns[:0]
		case t.IsSymbol(')'):
			depth--
		case depth == 1 && (t.Kind == Word || t.Kind == Name) && len(columns) < maxColumns:
			columns = append(columns, t.Unquoted())
		case depth == 0 && (t.Is("values") || t.Is("value")):
			eachRow(&l, columns, yield)
			return
		case depth == 0 && t.Is("set"):
			eachAssignment(&l, yield)
			return
		case depth == 0 && t.Is("select"):
			return
		}
	}
}

// eachRow reads (v, v, …), (v, …) …
func eachRow(l *Lexer, columns [][]byte, yield func(column, literal []byte) bool) {
	depth, i := 0, 0
	prev := Token{}
	for {
		t := l.Next()
		switch {
		case t.Kind == End || depth == 0 && t.Kind == Word:
			return
		case t.IsSymbol('('):
			if depth++; depth == 1 {
				i = 0
			}
		case t.IsSymbol(')'):
			depth--
		case depth == 1 && t.IsSymbol(','):
			i++
		case depth == 1 && t.Literal() && !t.Open && (prev.IsSymbol('(') || prev.IsSymbol(',')):
			var column []byte
			if i < len(columns) {
				column = columns[i]
			}
			if !yield(column, t.Unquoted()) {
				return
			}
		}
		prev = t
	}
}

// eachAssignment reads column = v, column = v …
func eachAssignment(l *Lexer, yield func(column, literal []byte) bool) {
	var column []byte
	prev := Token{}
	for {
		t := l.Next()
		switch {
		case t.Kind == End || t.Is("on"):
			return
		case t.Kind == Word || t.Kind == Name:
			column = t.Unquoted()
		case t.Literal() && !t.Open && prev.IsSymbol('='):
			if !yield(column, t.Unquoted()) {
				return
			}
		}
		prev = t
	}
}
