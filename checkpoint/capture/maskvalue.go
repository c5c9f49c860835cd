package capture

import (
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/secret"
)

// until defines where a value ends that is not in quotes.
type until int

const (
	toGroup     until = iota // where the group of the pattern does
	toEnd                    // of the line
	toWord                   // as a word of a shell
	toSemicolon              // as in nginx and VCL
	toTag                    // before the next <
	toQuote                  // of SQL: in quotes, else as a word
)

// secretPart is what a name holds whose value is secret.
var secretPart = secret.Pattern()

var (
	secretName = lazyregexp.New(`(?i)` + secretPart)
	// Names that hold such a word and no secret.
	innocent = lazyregexp.New(`(?i)tokeniz|(?:server|max|min|num|n|total|input|output|prompt|completion)[-_]?tokens|` +
		`(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached)[-_]pass|[-_.](?:file|path)$|File$|Path$`)
	shortName   = lazyregexp.New(`(?:^|[-_.])(?:pass|pwd|pw)(?:$|[-_.\d])`)
	camelShort  = lazyregexp.New(`[a-z](?:Pass|Pwd)(?:$|[^a-z])`)
	workingDir  = lazyregexp.New(`^(?:OLD)?PWD$`)
	mysqlSecret = lazyregexp.New(`(?i)(?:password|passwd|passphrase|secret|token|pass|sst[-_]auth)$`)
)

// isSecret reports whether a name is that of a secret.
func (m *masker) isSecret(name string) bool {
	low := strings.ToLower(name)
	if !containsAny(low, hints) {
		return false
	}
	if m.kind == KindMySQL {
		return mysqlSecret().MatchString(name)
	}
	if innocent().MatchString(name) || workingDir().MatchString(name) {
		return false
	}
	return secretName().MatchString(name) || shortName().MatchString(low) || camelShort().MatchString(name)
}

var (
	// What may stand between a name and its value: what closes a quote or an index,
	// and the signs of assignment and comparison of all notations.
	assign = lazyregexp.New("^[\"'`\\])]*\\s*(===?|=>|:=|!==?|[=!]~|[+?]=|=|:)\\s*")
)

// assignments finds name = value and its like, from an offset on.
func (m *masker) assignments(line string, from int) (out []span) {
	for from < len(line) {
		start, end := nextName(line, from)
		if start < 0 {
			break
		}
		from = end
		name := strings.TrimRight(line[start:end], ".-")
		if !m.isSecret(name) {
			continue
		}
		end = start + len(name)
		sep := assign().FindStringSubmatchIndex(line[end:])
		if sep == nil {
			continue
		}
		sign := line[end+sep[2] : end+sep[3]]
		at := end + sep[1]
		if sign == ":" && (strings.HasPrefix(line[at:], ":") || start > 0 && line[start-1] == '$') {
			continue // a scope, or text of nginx
		}
		how, quote := m.ends(line, start, end)
		s, next := m.value(line, at, how, quote)
		out = append(out, s)
		from = max(from, next)
		if m.carry != (carry{}) {
			break
		}
	}
	if m.carry == (carry{}) && namesSecret().MatchString(line) {
		m.carry = carry{value: true}
	}
	return out
}

// nextName returns where the next name of a line stands, -1 when there is none: a
// letter or _ followed by letters, digits, _, . and -.
func nextName(line string, from int) (start, end int) {
	first := func(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	for start = from; start < len(line) && !first(line[start]); start++ {
	}
	if start >= len(line) {
		return -1, -1
	}
	end = start + 1
	for end < len(line) && (first(line[end]) || line[end] >= '0' && line[end] <= '9' || line[end] == '.' ||
		line[end] == '-') {
		end++
	}
	return start, end
}

// namesSecret is a line of YAML that names a variable; the next has its value.
var namesSecret = lazyregexp.New(`(?i)^[+\- ]*(?:-\s+)?["']?(?:name|key)["']?\s*:\s*["']?[\w.-]*` + secretPart +
	`[\w.-]*["']?,?\s*$`)

// ends describes where a value ends whose name stands at [start, end): quote is the one
// around name and value, 0 without.
func (m *masker) ends(line string, start, end int) (how until, quote byte) {
	before := strings.TrimRight(line[:start], "-")
	if n := len(before); n > 0 && strings.IndexByte("\"'`", before[n-1]) >= 0 &&
		(end >= len(line) || line[end] != before[n-1]) {
		quote = before[n-1]
	}
	switch {
	case m.kind == KindUnit, strings.HasSuffix(line[:start], "--"):
		return toWord, quote
	case m.kind == KindNginx, m.kind == KindVCL:
		return toSemicolon, quote
	}
	return toEnd, quote
}

var (
	blockScalar = lazyregexp.New(`^[|>][+-]?\d*\s*$`)
	// What is no secret: nothing, a yes or no, a reference to the environment.
	noSecret = lazyregexp.New(`(?i)^(?:|null|nil|none|undefined|true|false|on|off|yes|no|\$\{\w+\})[;,]?$`)
	// Variables of nginx and VCL.
	variables = lazyregexp.New(`^["']?(?:\$\w+|\$\{\w+\})+["']?$|^(?:be)?re(?:q|sp)\.http\.[\w-]+$`)
)

// value returns the secret that begins at an offset, and where the rest of the line
// begins. A quote that is not 0 stands around name and value.
func (m *masker) value(line string, at int, how until, quote byte) (s span, next int) {
	end := len(strings.TrimRight(line, " \t"))
	at = min(at, end)
	rest := line[at:end]
	switch {
	case rest == "" && how == toEnd:
		m.carry = carry{next: true, indent: m.indent(line)}
		return span{at, at}, end
	case quote != 0:
		if i := closing(line[at:], string(quote)); i >= 0 {
			end = at + i
		}
		return m.judged(line, span{at, end}), end
	case blockScalar().MatchString(rest):
		m.carry = carry{block: true, indent: m.indent(line)}
		return span{at, at}, end
	case rest != "" && strings.IndexByte("\"'`", rest[0]) >= 0:
		return m.quoted(line, at, end)
	}
	switch how {
	case toSemicolon:
		if i := strings.IndexByte(rest, ';'); i >= 0 {
			end = at + i
		}
	case toTag:
		if i := strings.IndexByte(rest, '<'); i >= 0 {
			end = at + i
		}
	case toWord, toQuote:
		end = at + word(rest)
	}
	return m.judged(line, span{at, end}), end
}

// judged empties a span that holds no secret.
func (m *masker) judged(line string, s span) span {
	v := strings.TrimSpace(line[s.from:s.to])
	if noSecret().MatchString(v) || (m.kind == KindNginx || m.kind == KindVCL) && variables().MatchString(v) {
		s.to = s.from
	}
	return s
}

// quoted returns the inside of the quotes that begin at an offset. What is glued to
// the closing quote belongs to it; a string that does not end goes on in the next
// lines when one of them ends it.
func (m *masker) quoted(line string, at, end int) (s span, next int) {
	quote := line[at : at+1]
	if three := strings.Repeat(quote, 3); strings.HasPrefix(line[at:], three) {
		quote = three
	}
	from := at + len(quote)
	i := closing(line[from:], quote)
	if i < 0 {
		if m.closesLater(quote) {
			m.carry = carry{quote: quote}
		}
		return m.judged(line, span{from, max(from, end)}), end
	}
	to := from + i
	next = to + len(quote)
	for next < len(line) && strings.IndexByte(" \t,;)]}>:/", line[next]) < 0 {
		next++
		to = next
	}
	return m.judged(line, span{from, to}), next
}

// mostCarried is how many lines a quoted value may take: more is a stray quote.
const mostCarried = 50

func (m *masker) closesLater(quote string) bool {
	for _, l := range m.lines[min(m.at+1, len(m.lines)):min(m.at+1+mostCarried, len(m.lines))] {
		if closing(l, quote) >= 0 {
			return true
		}
	}
	return false
}

// closing returns where the quote ends a string that s begins within, -1 when it
// does not. A backslash hides what follows it, and a doubled quote stands for one.
func closing(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			if len(quote) == 1 && i+1 < len(s) && s[i+1] == quote[0] {
				i++
				continue
			}
			return i
		}
	}
	return -1
}

// word returns the length of the word of a shell that s begins with.
func word(s string) int {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t':
			return i
		}
	}
	return len(s)
}

var (
	// A directive that gives a name a value, as in proxy_set_header NAME VALUE.
	setting = lazyregexp.New(`(?i)(?:^|[\s;{])(?:proxy_set_header|grpc_set_header|add_header|add_trailer|more_set_(?:input_)?headers|` +
		`(?:fastcgi|uwsgi|scgi)_param|set|env)\s+["']?\$?([\w.-]+)["']?\s+()[^\s=!~]`)
	// A directive with its value, as in secure_link_secret VALUE.
	directive = lazyregexp.New(`(?:^|[;{}])\s*(?:#\s*)?([a-z_0-9]+)\s+()[^\s;{]`)
	cookie    = lazyregexp.New(`(?i)^cookie$`)
	linkWord  = lazyregexp.New(`^secure_link_(?:md5|secret)$`)
)

// otherHints are parts of the names that directives looks for, beside those of hints.
var otherHints = words("cookie secure_link")

// directives finds secrets in the notation of nginx, which puts only space between
// a name and its value.
func (m *masker) directives(line string) (out []span) {
	if m.kind == KindMySQL || m.kind == KindUnit {
		return nil
	}
	for _, loc := range setting().FindAllStringSubmatchIndex(line, -1) {
		if name := line[loc[2]:loc[3]]; m.isSecret(name) || cookie().MatchString(name) {
			s, _ := m.value(line, loc[4], toSemicolon, 0)
			if variables().MatchString(strings.TrimSpace(line[s.from:s.to])) {
				continue
			}
			out = append(out, s)
		}
	}
	for _, loc := range directive().FindAllStringSubmatchIndex(line, -1) {
		name := line[loc[2]:loc[3]]
		if linkWord().MatchString(name) || m.kind == KindNginx && m.isSecret(name) {
			s, _ := m.value(line, loc[4], toSemicolon, 0)
			out = append(out, s)
		}
	}
	return out
}
