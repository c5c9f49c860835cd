package explain

import (
	"strings"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A span is a keyword's place in a statement, in bytes.
type span struct{ from, to int }

// parts are the places of the keywords outside of brackets that begin a statement's
// clauses.
type parts struct {
	text string
	verb string
	body int             // where the verb and its modifiers end
	at   map[string]span // of the first of each keyword
}

// split finds the keywords.
func split(statement string) parts {
	sql := []byte(statement)
	p := parts{text: statement, at: map[string]span{}}
	l := sqlshape.NewLexer(sql)
	depth, modifiers, last := 0, true, ""
	for t := l.Next(); t.Kind != sqlshape.End; t = l.Next() {
		from := cap(sql) - cap(t.Text) // the text is a part of the statement
		to := from + len(t.Text)
		switch {
		case t.IsSymbol('('):
			depth++
		case t.IsSymbol(')'):
			depth--
		}
		word := ""
		if t.Kind == sqlshape.Word && depth == 0 {
			word = strings.ToLower(string(t.Text))
		}
		switch {
		case p.verb == "":
			p.verb, p.body = word, to
		case modifiers && isModifier(word):
			p.body = to
		default:
			modifiers = false
			p.keyword(word, last, span{from, to})
		}
		last = word
	}
	return p
}

// keyword remembers the place of a keyword, unless it was there before.
func (p *parts) keyword(word, last string, at span) {
	switch word {
	case "duplicate":
		if last != "on" {
			return
		}
		word, at.from = "on duplicate", strings.LastIndexAny(p.text[:at.from], "oO")
	case "set", "from", "using", "where", "order", "limit", "select", "with", "returning":
	default:
		return
	}
	if _, known := p.at[word]; !known {
		p.at[word] = at
	}
}

func isModifier(word string) bool {
	switch word {
	case "low_priority", "ignore", "quick", "delayed", "high_priority":
		return true
	}
	return false
}

// end is where the statement's last clause that a SELECT has too ends.
func (p *parts) end() int {
	if at, ok := p.at["returning"]; ok {
		return at.from
	}
	return len(p.text)
}

// between returns the text after one keyword, or after the verb when that is
// empty, up to another keyword or to the end.
func (p *parts) between(after, before string) (string, bool) {
	from, to := p.body, p.end()
	if after != "" {
		at, ok := p.at[after]
		if !ok {
			return "", false
		}
		from = at.to
	}
	if before != "" {
		at, ok := p.at[before]
		if !ok || at.from < from {
			return "", false
		}
		to = at.from
	}
	return strings.TrimSpace(p.text[from:to]), true
}

// clauses returns WHERE and what follows it, else from ORDER BY, else from LIMIT.
func (p *parts) clauses() (string, bool) {
	for _, word := range []string{"where", "order", "limit"} {
		if at, ok := p.at[word]; ok {
			return strings.TrimSpace(p.text[at.from:p.end()]), true
		}
	}
	return "", false
}
