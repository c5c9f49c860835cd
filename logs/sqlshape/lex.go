package sqlshape

import "bytes"

// A Kind is a kind of token.
type Kind uint8

// The kinds of tokens. Blanks between tokens are no tokens.
const (
	End     Kind = iota
	Word         // keyword, name or @variable without quotes
	Name         // name in backquotes
	String       // literal in quotes, with its prefix: 'x', "x", N'x', x'0f'
	Number       // 1, 1.5e-3, 0x0f
	Comment      // block or line
	Symbol       // one byte
)

// A Token is one token of a statement.
type Token struct {
	Kind Kind
	Text []byte // as written, with quotes
	Open bool   // the statement ends inside of it
}

// Is reports whether the token is the lower-case keyword, in any case.
func (t Token) Is(keyword string) bool { return t.Kind == Word && equalFold(t.Text, keyword) }

// IsSymbol reports whether the token is that byte.
func (t Token) IsSymbol(c byte) bool { return t.Kind == Symbol && t.Text[0] == c }

// Literal reports whether the token is a value.
func (t Token) Literal() bool { return t.Kind == String || t.Kind == Number }

// Unquoted returns the text without its quotes and prefix. Escapes stay.
func (t Token) Unquoted() []byte {
	b := t.Text
	if t.Kind != String && t.Kind != Name {
		return b
	}
	i := bytes.IndexAny(b, "'\"`")
	if i < 0 {
		return b
	}
	b = b[i+1:]
	if !t.Open && len(b) > 0 {
		b = b[:len(b)-1]
	}
	return b
}

// A Lexer splits a statement into tokens. It follows the default sql_mode:
// "x" is a string, a backslash escapes. The start and end of a /*! … */ are
// comments of their own, so that what is inside counts.
type Lexer struct {
	src []byte
	pos int
}

// NewLexer returns a lexer of the statement, which must not change meanwhile.
func NewLexer(sql []byte) Lexer { return Lexer{src: sql} }

// Next returns the next token that is no comment.
func (l *Lexer) Next() Token {
	for {
		if t := l.Raw(); t.Kind != Comment {
			return t
		}
	}
}

// Raw returns the next token, comments included, and at the end one of kind
// [End].
func (l *Lexer) Raw() Token {
	l.pos = skipSpace(l.src, l.pos)
	if l.pos >= len(l.src) {
		return Token{}
	}
	start, c := l.pos, l.src[l.pos]
	t := Token{Kind: Symbol}
	switch {
	case c == '\'' || c == '"':
		t.Kind, t.Open = String, l.quoted()
	case c == '`':
		t.Kind, t.Open = Name, l.quoted()
	case c == '/' && l.at(1) == '*':
		t.Kind, t.Open = Comment, l.blockComment()
	case c == '*' && l.at(1) == '/':
		t.Kind = Comment
		l.pos += 2
	case c == '#' || c == '-' && l.at(1) == '-' && (l.pos+2 >= len(l.src) || l.src[l.pos+2] <= ' '):
		t.Kind = Comment
		l.lineComment()
	case isDigit(c) || c == '.' && isDigit(l.at(1)) && !l.afterName():
		t.Kind = l.number()
	case isName(c) || c == '@':
		t.Kind, t.Open = l.word()
	default:
		l.pos++
	}
	t.Text = l.src[start:l.pos]
	return t
}

func (l *Lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// isName reports whether the byte can stand in a name without quotes. All bytes
// beyond ASCII can.
func isName(c byte) bool { return isWord(c) || c == '$' || c >= 0x80 }

// afterName reports whether a dot here belongs to a qualified name.
func (l *Lexer) afterName() bool {
	return l.pos > 0 && (isName(l.src[l.pos-1]) || l.src[l.pos-1] == '`')
}

// quoted moves past the closing quote and reports whether it is missing. Before the
// position stands the prefix of a string, if it has one.
func (l *Lexer) quoted() (open bool) {
	end, closed := QuotedEnd(l.src, l.pos)
	l.pos = end
	return !closed
}

// blockComment moves past a comment, or only past the /*!50100 of one whose
// inside counts, and reports whether the comment's end is missing.
func (l *Lexer) blockComment() (open bool) {
	if l.at(2) == '!' || l.at(2) == 'M' && l.at(3) == '!' {
		for l.pos += 3; l.at(0) == '!' || isDigit(l.at(0)); l.pos++ {
		}
		return false
	}
	i := bytes.Index(l.src[l.pos+2:], []byte("*/"))
	if i < 0 {
		l.pos = len(l.src)
		return true
	}
	l.pos += 2 + i + 2
	return false
}

func (l *Lexer) lineComment() {
	if i := bytes.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
		l.pos += i
		return
	}
	l.pos = len(l.src)
}

// number moves past a number. What starts with digits and goes on with
// letters is a name.
func (l *Lexer) number() Kind {
	start := l.pos
	for isDigit(l.at(0)) {
		l.pos++
	}
	if l.at(0) == '.' {
		for l.pos++; isDigit(l.at(0)); l.pos++ {
		}
	}
	if c := l.at(0); (c == 'e' || c == 'E') && l.exponent() {
		for l.pos += 2; isDigit(l.at(0)); l.pos++ {
		}
	}
	if l.pos < len(l.src) && isName(l.src[l.pos]) {
		for l.pos < len(l.src) && isName(l.src[l.pos]) {
			l.pos++
		}
		if w := l.src[start:l.pos]; !isPrefixed(w) && bytes.IndexByte(w, '.') < 0 {
			return Word
		}
	}
	return Number
}

// exponent reports whether an e here is followed by digits.
func (l *Lexer) exponent() bool {
	c := l.at(1)
	return isDigit(c) || (c == '+' || c == '-') && isDigit(l.at(2))
}

// isPrefixed reports whether the word is 0x0f or 0b01.
func isPrefixed(w []byte) bool {
	if len(w) < 3 || w[0] != '0' {
		return false
	}
	digits := "0123456789abcdefABCDEF"
	switch w[1] {
	case 'x':
	case 'b':
		digits = "01"
	default:
		return false
	}
	return len(bytes.Trim(w[2:], digits)) == 0
}

// word moves past a word. A word that is the prefix of a string goes with it.
func (l *Lexer) word() (k Kind, open bool) {
	start := l.pos
	for l.pos++; l.pos < len(l.src) && (isName(l.src[l.pos]) || l.src[l.pos] == '@'); l.pos++ {
	}
	if c := l.at(0); (c == '\'' || c == '"') && isStringPrefix(l.src[start:l.pos]) {
		return String, l.quoted()
	}
	return Word, false
}

// isStringPrefix reports whether the word makes a string of the quotes after
// it: x, b, n or a character set such as _utf8mb4.
func isStringPrefix(w []byte) bool {
	return len(w) == 1 && bytes.IndexByte([]byte("xXbBnN"), w[0]) >= 0 || w[0] == '_'
}
