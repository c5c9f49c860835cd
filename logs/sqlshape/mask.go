package sqlshape

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// maxList is how many masked literals in a row a mask shows before it cuts the
// list short. It is more than the columns of most tables.
const maxList = 20

// AppendMasked appends the statement with each literal replaced by ?, but for the digit of
// NOW(3) and its like, which is no value (a server refuses NOW(?)), blanks
// and control bytes collapsed to one space, and long lists and all rows but
// the first cut to an ellipsis. It appends at most limit bytes, and an ellipsis
// when that was too few. A literal that does not end is a literal.
//
// Comments stay, since they say where a statement comes from; quoted strings
// in them, and in names that do not end, go.
func AppendMasked(dst, sql []byte, limit int) []byte {
	m := masker{dst: dst, limit: len(dst) + max(limit, 0), lex: NewLexer(sql)}
	out := m.run()
	if len(out) <= m.limit+len(ellipsis) {
		return out
	}
	// The last token was a name without an end, whose strings went: it grows by those.
	end := m.limit
	for end > len(dst) && !utf8.RuneStart(out[end]) {
		end--
	}
	return append(out[:end], ellipsis...)
}

// ellipsis stands for what is cut.
const ellipsis = "…"

type masker struct {
	dst   []byte
	limit int
	cut   bool // a token did not fit
	lex   Lexer
	list  int // literals in a row
	depth int // of parentheses
	rows  rowState
	first bool // the first word was seen
	clock int  // 1 after the name of a clock, 2 after its parenthesis
}

// rowState defines where in the rows of an INSERT or REPLACE a masker is.
type rowState uint8

const (
	noRows     rowState = iota // another statement, or after the rows
	before                     // of VALUES
	inFirst                    // in the first row
	afterFirst                 // it
	further                    // in the other rows, which are left out
)

func (m *masker) run() []byte {
	end := 0 // of the token before
	for {
		t := m.lex.Raw()
		if t.Kind == End {
			return m.dst
		}
		space := end > 0 && m.lex.pos-len(t.Text) > end
		end = m.lex.pos
		if len(m.dst) >= m.limit {
			return append(m.dst, ellipsis...)
		}
		if m.furtherRows(t) || m.longList(t) {
			continue
		}
		if space {
			m.dst = append(m.dst, ' ')
		}
		if m.token(t); m.cut {
			return append(m.dst, ellipsis...)
		}
	}
}

// furtherRows leaves out the rows after the first one.
func (m *masker) furtherRows(t Token) bool {
	if !m.first && t.Kind == Word {
		m.first = true
		if t.Is("insert") || t.Is("replace") {
			m.rows = before
		}
	}
	switch {
	case t.IsSymbol('('):
		m.depth++
	case t.IsSymbol(')'):
		if m.depth--; m.depth == 0 && m.rows == inFirst {
			m.rows = afterFirst
		}
	case m.depth != 0:
	case m.rows == before && (t.Is("values") || t.Is("value")):
		m.rows = inFirst
	case m.rows == afterFirst && t.IsSymbol(','):
		m.rows = further
		m.dst = append(m.dst, ", …"...)
	case m.rows > before && !t.IsSymbol(','):
		m.rows = noRows
	}
	return m.rows == further
}

// longList leaves out what comes after the first literals of a list.
func (m *masker) longList(t Token) bool {
	switch {
	case t.Literal():
		if m.list++; m.list == maxList+1 {
			m.dst = append(bytes.TrimRight(m.dst, ", "), ", …"...)
		}
	case !t.IsSymbol(',') && t.Kind != Comment:
		m.list = 0
	}
	return m.list > maxList
}

func (m *masker) token(t Token) {
	clock := m.clock
	m.clock = afterClock(t, clock)
	switch {
	case t.Literal() && clock == 2 && len(t.Text) == 1 && '0' <= t.Text[0] && t.Text[0] <= '6':
		m.dst = append(m.dst, t.Text...)
	case t.Literal():
		m.dst = append(m.dst, '?')
	case t.Kind == Comment && isLineComment(t.Text):
		m.lineComment(t.Text)
	case t.Kind == Comment, t.Kind == Name && t.Open:
		m.comment(t.Text)
	default:
		m.append(t.Text)
	}
}

// clocks are functions whose one argument is how many digits of a second they give.
var clocks = []string{"now", "current_timestamp", "localtimestamp", "sysdate", "utc_timestamp", "curtime", "current_time", "utc_time"}

// afterClock is a masker's state after a token.
func afterClock(t Token, state int) int {
	switch {
	case t.Kind == Word && slices.ContainsFunc(clocks, t.Is):
		return 1
	case state == 1 && t.IsSymbol('('):
		return 2
	}
	return 0
}

func isLineComment(text []byte) bool { return bytes.HasPrefix(text, []byte("--")) || text[0] == '#' }

// lineComment appends a comment that ends with its line as one that ends by itself: a mask has
// one line, and what came after would become part of the comment.
func (m *masker) lineComment(text []byte) {
	text = trimSpace(bytes.TrimLeft(text, "-#"))
	m.append([]byte("/* "))
	m.comment(bytes.ReplaceAll(text, []byte("*/"), []byte("* /")))
	m.append([]byte(" */"))
}

// comment appends text with quoted strings masked.
func (m *masker) comment(text []byte) {
	for {
		i := bytes.IndexAny(text, `'"`)
		if i < 0 {
			break
		}
		m.append(text[:i])
		m.dst = append(m.dst, '?')
		end := bytes.IndexByte(text[i+1:], text[i])
		if end < 0 {
			return
		}
		text = text[i+1+end+1:]
	}
	m.append(text)
}

// append appends text as far as the limit, control bytes as spaces.
func (m *masker) append(text []byte) {
	if n := max(m.limit-len(m.dst), 0); len(text) > n {
		text, m.cut = text[:n], true
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		m.dst = append(m.dst, c)
	}
}

// maxTag is the longest tag, in bytes, that splits a class.
const maxTag = 64

// Tag returns the first /* tag */ of a COMMIT or ROLLBACK, which distinguishes
// the transactions of a program, and nothing for other statements. What has
// other characters than names have, such as a trace id in key='value' form, is
// no tag: it would make every statement a class.
func Tag(sql []byte) []byte {
	if !bytes.Contains(sql, []byte("/*")) {
		return nil
	}
	l := NewLexer(sql)
	var tag []byte
	seen := false
	for {
		t := l.Raw()
		switch {
		case t.Kind == Comment && tag == nil:
			tag = tagOf(t.Text)
		case t.Kind == Comment:
		case t.Kind == End:
			if seen {
				return tag
			}
			return nil
		case !seen:
			if !t.Is("commit") && !t.Is("rollback") {
				return nil
			}
			seen = true
		}
	}
}

func tagOf(comment []byte) []byte {
	text, ok := bytes.CutPrefix(comment, []byte("/*"))
	if !ok || len(text) == 0 || text[0] == '!' {
		return nil
	}
	return plainTag(trimSpace(bytes.TrimSuffix(text, []byte("*/"))))
}

// plainTag returns the text when it is a tag.
func plainTag(text []byte) []byte {
	if len(text) == 0 || len(text) > maxTag {
		return nil
	}
	for _, c := range text {
		if !isName(c) && bytes.IndexByte([]byte(" .:/#()-"), c) < 0 {
			return nil
		}
	}
	return text
}
