package sqlshape

import "bytes"

// Unclosed returns the quote that the statement leaves open, '*' for a block
// comment, 0 when it ends outside of both.
func Unclosed(sql []byte) byte {
	var q Quotes
	q.Write(sql)
	return q.Open()
}

// Quotes follows a statement that comes in pieces and reports whether it
// is inside a quoted string, a quoted name or a comment. The zero value stands
// before a statement. Pieces must be cut at newlines.
type Quotes struct {
	open byte // ', " or `, * in a block comment
}

// Open returns the quote that is open, '*' for a block comment, 0 for none.
func (q *Quotes) Open() byte { return q.open }

// Write goes on with a piece.
func (q *Quotes) Write(sql []byte) {
	for i := 0; i < len(sql); {
		switch q.open {
		case 0:
			i = q.outside(sql, i)
		case '*':
			end := bytes.Index(sql[i:], []byte("*/"))
			if end < 0 {
				return
			}
			q.open = 0
			i += end + 2
		default:
			i = q.inside(sql, i)
		}
	}
}

// QuotedEnd returns the index after the quoted text that begins with the quote at i,
// one of ', " and `, and whether it is closed; the length of sql when it is not. A
// doubled quote stands for itself, and so does what follows a backslash, which means
// nothing in a quoted name.
//
// Source: MySQL 8.4 Reference Manual, 11.1.1 String Literals, 11.2 Schema Object Names.
func QuotedEnd(sql []byte, i int) (end int, closed bool) {
	quote := sql[i]
	for {
		if end = ClosingQuote(sql, i+1, quote); end < 0 {
			return len(sql), false
		}
		if end == len(sql) || sql[end] != quote {
			return end, true
		}
		i = end
	}
}

// ClosingQuote returns the index after the next closing quote from i on, which lies
// within quoted text, and -1 when there is none. A doubled one closes and opens again.
func ClosingQuote(sql []byte, i int, quote byte) int {
	for ; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\\' && quote != '`':
			i++
		case c == quote:
			return i + 1
		}
	}
	return -1
}

// inside goes to the closing quote. A doubled one closes and opens again.
func (q *Quotes) inside(sql []byte, i int) int {
	end := ClosingQuote(sql, i, q.open)
	if end < 0 {
		return len(sql)
	}
	q.open = 0
	return end
}

// outside goes to the next quote or comment.
func (q *Quotes) outside(sql []byte, i int) int {
	for ; i < len(sql); i++ {
		switch c := sql[i]; c {
		case '\'', '"', '`':
			q.open = c
			return i + 1
		case '/':
			l := Lexer{src: sql, pos: i}
			if l.at(1) == '*' && l.at(2) != '!' && (l.at(2) != 'M' || l.at(3) != '!') {
				q.open = '*'
				return i + 2
			}
		case '*': // the end of a /*! comment, of which the slash starts nothing
			if i+1 < len(sql) && sql[i+1] == '/' {
				i++
			}
		case '#', '-':
			l := Lexer{src: sql, pos: i}
			if c == '#' || l.at(1) == '-' && (i+2 >= len(sql) || sql[i+2] <= ' ') {
				l.lineComment()
				return l.pos
			}
		}
	}
	return i
}
