package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The kinds of tokens.
const (
	end        = iota // of the file
	word              // a keyword or a name
	quotedName        // `name`
	quotedText        // 'text' or "text", without its escapes
	numeral           // 12, -3.4e5
	sign              // one character
)

type token struct {
	kind int
	text string
}

func (t token) is(s string) bool     { return t.kind == sign && t.text == s }
func (t token) isWord(s string) bool { return t.kind == word && strings.EqualFold(t.text, s) }

// String is for messages.
func (t token) String() string {
	if t.kind == end {
		return "the end of the file"
	}
	const most = 40
	if len(t.text) > most {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(t.text[:most], ""))
	}
	return strconv.Quote(t.text)
}

// A sqlLexer cuts SQL into tokens. It holds one token at a time, of bounded length.
type sqlLexer struct {
	r    *bufio.Reader
	line int // of the character to come, from 1
	buf  []byte
}

// read returns the next byte, and false at the end.
func (l *sqlLexer) read() (byte, bool, error) {
	c, err := l.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, false, nil
	}
	if c == '\n' && err == nil {
		l.line++
	}
	return c, err == nil, err
}

// peek returns the byte that is so far ahead, 0 beyond the end.
func (l *sqlLexer) peek(ahead int) byte {
	b, _ := l.r.Peek(ahead + 1)
	if len(b) <= ahead {
		return 0
	}
	return b[ahead]
}

// next returns the next token. Space and comments are skipped.
func (l *sqlLexer) next() (token, error) {
	for {
		c, ok, err := l.read()
		switch {
		case err != nil || !ok:
			return token{}, err
		case strings.IndexByte(" \t\r\n\v\f", c) >= 0:
		case c == '#', c == '-' && l.peek(0) == '-' && l.peek(1) <= ' ':
			err = l.skipLine(c)
		case c == '/' && l.peek(0) == '*':
			err = l.skipComment()
		case c == '\'' || c == '"':
			return l.quoted(quotedText, c)
		case c == '`':
			return l.quoted(quotedName, c)
		case isDigit(c), (c == '-' || c == '+' || c == '.') && (isDigit(l.peek(0)) || l.peek(0) == '.'):
			return l.run(numeral, c, func(c byte) bool { return isDigit(c) || strings.IndexByte("+-.eE", c) >= 0 })
		case isWordByte(c):
			return l.run(word, c, isWordByte)
		default:
			return token{sign, string(rune(c))}, nil
		}
		if err != nil {
			return token{}, err
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '@' ||
		c >= utf8.RuneSelf
}

// run reads a token that lasts as long as its bytes belong to it.
func (l *sqlLexer) run(kind int, first byte, belongs func(byte) bool) (token, error) {
	l.buf = append(l.buf[:0], first)
	for belongs(l.peek(0)) {
		c, _, err := l.read()
		if err != nil {
			return token{}, err
		}
		if l.buf = append(l.buf, c); len(l.buf) > maxText {
			return token{}, fmt.Errorf("want words below %d bytes", maxText)
		}
	}
	return token{kind, string(l.buf)}, nil
}

// quoted reads to the closing quote and undoes escapes.
func (l *sqlLexer) quoted(kind int, quote byte) (token, error) {
	l.buf = l.buf[:0]
	from := l.line
	for {
		c, ok, err := l.read()
		switch {
		case err != nil:
		case !ok:
			err = fmt.Errorf("want the end of what is quoted since line %d, have the end of the file", from)
		case c == quote && l.peek(0) != quote:
			return token{kind, string(l.buf)}, nil
		case c == quote: // doubled, it stands for itself
			l.buf = append(l.buf, c)
			_, _, err = l.read()
		case c == '\\' && kind == quotedText:
			if c, ok, err = l.read(); ok {
				l.buf = appendEscaped(l.buf, c)
			}
		default:
			l.buf = append(l.buf, c)
		}
		if err == nil && len(l.buf) > maxText {
			err = fmt.Errorf("want values below %d bytes", maxText)
		}
		if err != nil {
			return token{}, err
		}
	}
}

// appendEscaped appends what a backslash and the byte stand for: MySQL's manual,
// "String Literals".
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '0':
		return append(dst, 0)
	case 'b':
		return append(dst, '\b')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'Z':
		return append(dst, 0x1a)
	case '%', '_':
		return append(dst, '\\', c)
	}
	return append(dst, c)
}

func (l *sqlLexer) skipLine(c byte) (err error) {
	for ok := true; ok && c != '\n'; {
		if c, ok, err = l.read(); err != nil {
			return err
		}
	}
	return nil
}

// skipComment skips to the closing sign; the opening slash is read.
func (l *sqlLexer) skipComment() error {
	from := l.line
	if _, _, err := l.read(); err != nil {
		return err
	}
	for {
		c, ok, err := l.read()
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("want the end of the comment of line %d, have the end of the file", from)
		case c == '*' && l.peek(0) == '/':
			_, _, err := l.read()
			return err
		}
	}
}
