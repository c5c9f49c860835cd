package mysql

import (
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A Key is one index in a table's definition.
type Key struct {
	Name    string // PRIMARY for the primary key
	Kind    string // PRIMARY, UNIQUE, FULLTEXT, SPATIAL, empty for a plain one
	Text    string // as the server writes it: UNIQUE KEY `mail` (`mail`)
	Columns []string
	// Sound says that each part of Text is known: it can stand in ALTER TABLE … ADD
	// and does nothing else there, wherever the definition comes from.
	Sound bool
}

var keyLine = lazyregexp.New("^  (?:(PRIMARY|UNIQUE|FULLTEXT|SPATIAL) )?KEY (?:`|\\()")

// ParseKeys returns the indexes of a definition as SHOW CREATE TABLE writes it, in
// its order.
func ParseKeys(create string) []Key {
	var out []Key
	for line := range strings.Lines(create) {
		m := keyLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		k := Key{Kind: m[1], Name: "PRIMARY", Text: strings.TrimSuffix(strings.TrimRight(line[2:], "\r\n"), ",")}
		p := &keyParser{rest: k.Text}
		ok := p.take(strings.TrimPrefix(m[1]+" KEY ", " "))
		if ok && k.Kind != "PRIMARY" {
			k.Name, ok = p.name()
			ok = ok && p.take(" ")
		}
		if ok {
			k.Columns, ok = p.parts()
		}
		k.Sound = ok && p.options() && p.rest == ""
		out = append(out, k)
	}
	return out
}

// A keyParser reads a definition from its front.
type keyParser struct{ rest string }

func (p *keyParser) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

// name reads an identifier in backquotes; a doubled one stands for one.
func (p *keyParser) name() (string, bool) {
	if !p.take("`") {
		return "", false
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(p.rest, "`")
		if !ok {
			return "", false
		}
		b.WriteString(before)
		p.rest = after
		if !p.take("`") {
			return b.String(), b.Len() > 0
		}
		b.WriteByte('`')
	}
}

// parts reads the columns: names with a length, or expressions in brackets, each
// with a direction.
func (p *keyParser) parts() (columns []string, ok bool) {
	if !p.take("(") {
		return nil, false
	}
	for {
		if strings.HasPrefix(p.rest, "(") {
			if !p.expression() {
				return columns, false
			}
		} else {
			name, ok := p.name()
			if !ok {
				return columns, false
			}
			columns = append(columns, name)
			if p.take("(") && !(p.digits() && p.take(")")) {
				return columns, false
			}
		}
		_ = p.take(" ASC") || p.take(" DESC")
		switch {
		case p.take(","):
		case p.take(")"):
			return columns, true
		default:
			return columns, false
		}
	}
}

// expression reads up to the bracket that closes the first one. What could begin a
// comment, or hide a quote, is not read.
func (p *keyParser) expression() bool {
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.rest = p.rest[i+1:]
				return true
			}
		case '\'', '"', '`':
			end := strings.IndexByte(p.rest[i+1:], c)
			if end < 0 {
				return false
			}
			if strings.Contains(p.rest[i:i+1+end], `\`) {
				return false
			}
			i += end + 1
		case '#', ';', '\\':
			return false
		case '-', '/':
			if next := p.rest[i+1:]; strings.HasPrefix(next, "-") || strings.HasPrefix(next, "*") {
				return false
			}
		}
	}
	return false
}

func (p *keyParser) digits() bool {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	p.rest = p.rest[n:]
	return n > 0
}

// options reads what may follow the columns.
func (p *keyParser) options() bool {
	for p.rest != "" {
		switch {
		case p.take(" USING BTREE"), p.take(" USING HASH"), p.take(" USING RTREE"),
			p.take(" /*!80000 INVISIBLE */"), p.take(" IGNORED"), p.take(" /*!50100 WITH PARSER `ngram` */"):
		case p.take(" KEY_BLOCK_SIZE="):
			if !p.digits() {
				return false
			}
		case p.take(" COMMENT '"):
			end := strings.IndexByte(p.rest, '\'')
			if end < 0 || strings.Contains(p.rest[:end], `\`) {
				return false
			}
			p.rest = p.rest[end+1:]
		default:
			return false
		}
	}
	return true
}
