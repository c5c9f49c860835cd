package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// Mask replaces the secrets of a text by [kasoku.MaskedSecret] and says how many
// it found. The kind is that of a [kasoku.Config] and names the notation of the
// text. Only the secret goes; its line stays, so a masked text has the same
// lines as the text, each at its place.
//
// What is looked for: values of names such as password, secret, token, api_key or
// authorization in the notations of option files, units, nginx, VCL, YAML, JSON,
// TOML, XML, .env files, PHP and shells; passwords in URLs and DSNs; IDENTIFIED BY
// in SQL; private keys; password hashes; tokens known by their beginning, such as
// those of AWS and GitHub. Where a value's end is not certain, more is masked
// rather than less. A secret under a name that says nothing of it is not found.
func Mask(kind, text string) (masked string, n int) {
	m := masker{kind: kind, lines: strings.SplitAfter(text, "\n")}
	var b strings.Builder
	b.Grow(len(text))
	for i, full := range m.lines {
		line := strings.TrimRight(full, "\r\n")
		m.at = i
		from := 0
		for _, s := range m.spans(line) {
			b.WriteString(line[from:s.from])
			b.WriteString(kasoku.MaskedSecret)
			from = s.to
			n++
		}
		b.WriteString(full[from:])
	}
	return b.String(), n
}

// A span is the part [from, to) of a line that is secret.
type span struct{ from, to int }

// A masker goes through a text line by line.
type masker struct {
	kind  string
	lines []string // of the whole text, with their ends
	at    int      // the line that is looked at

	inKey bool  // between BEGIN and END of a private key
	carry carry // a value that goes on in the next lines
}

// A carry is a secret value that did not end with its line.
type carry struct {
	quote  string // goes on to this quote
	block  bool   // goes on while lines stand further in than indent
	next   bool   // stands alone on the next line, further in than indent
	value  bool   // the next line names it: value: …
	indent int
}

// spans returns the secret parts of a line, in order, none touching another.
func (m *masker) spans(line string) []span {
	low := strings.ToLower(line)
	if strings.HasPrefix(m.kind, KindSchema) {
		return merge(line, m.patterns(line, low, everywhere()))
	}
	if s, done := m.key(line); done {
		return merge(line, s)
	}
	out, rest := m.carried(line)
	if rest < len(line) {
		out = append(out, m.patterns(line, low, everywhere())...)
		out = append(out, m.patterns(line, low, inPrograms())...)
		if containsAny(low, hints) || containsAny(low, otherHints) {
			out = append(out, m.directives(line)...)
			out = append(out, m.assignments(line, rest)...)
		}
	}
	return merge(line, out)
}

// merge puts spans in order, joins those that overlap or touch, and drops what is
// empty or masked already.
func merge(line string, spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	out := spans[:0]
	for _, s := range spans {
		switch last := len(out) - 1; {
		case s.from >= s.to || line[s.from:s.to] == kasoku.MaskedSecret:
		case last >= 0 && s.from <= out[last].to:
			out[last].to = max(out[last].to, s.to)
		default:
			out = append(out, s)
		}
	}
	return out
}

// RFC 7468, and OpenPGP's armor.
var (
	keyBegin = lazyregexp.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = lazyregexp.New(`-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyBody  = lazyregexp.New(`^[A-Za-z0-9+/=]*$|^[A-Za-z-]+: `)
	// looseKey is a line of a key whose beginning lies outside of a diff's hunk.
	looseKey = lazyregexp.New(`^[+\- ]?\s*[A-Za-z0-9+/]{60,}={0,2}$`)
)

// leastKeyLine is what looseKey matches at least.
const leastKeyLine = 60

// key masks private keys; done is true when nothing else need be looked for.
func (m *masker) key(line string) (out []span, done bool) {
	from := 0
	if !m.inKey {
		if m.kind == KindGit && len(line) >= leastKeyLine && looseKey().MatchString(line) {
			return []span{m.content(line)}, true
		}
		if !strings.Contains(line, "-----BEGIN") {
			return nil, false
		}
		b := keyBegin().FindStringIndex(line)
		if b == nil {
			return nil, false
		}
		m.inKey, from = true, b[1]
	}
	if e := keyEnd().FindStringIndex(line[from:]); e != nil {
		m.inKey = false
		return []span{{max(from, m.content(line).from), from + e[0]}}, true
	}
	s := m.content(line)
	s.from = max(s.from, from)
	if s.from >= s.to {
		return nil, true
	}
	// A key is base64; what else comes belongs to something else. Quotes, commas and
	// \n come with keys that are written as a string.
	if from == 0 && !keyBody().MatchString(strings.Trim(strings.TrimRight(line[s.from:s.to], `n\",'+ `), `"'+ `)) {
		m.inKey = false
		return nil, false
	}
	return []span{s}, true
}

// content is a line without the sign of a diff and the space around.
func (m *masker) content(line string) span {
	from := m.indent(line)
	return span{from, max(from, len(strings.TrimRight(line, " \t")))}
}

// indent is where a line's text begins.
func (m *masker) indent(line string) int {
	i := 0
	if m.kind == KindGit && line != "" && strings.ContainsRune("+-", rune(line[0])) {
		i = 1
	}
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}

var (
	keyed     = lazyregexp.New(`^["']?[\w.-]+["']?\s*[:=]|^[\[{(}\])]*$`)
	item      = lazyregexp.New(`^-\s+`)
	namedNext = lazyregexp.New(`^["']?value["']?\s*[:=]\s*`)
)

// carried masks what a value that began on an earlier line has on this one, and
// returns where the rest of the line begins.
func (m *masker) carried(line string) (out []span, rest int) {
	c := m.carry
	s := m.content(line)
	switch {
	case c.quote != "":
		end := closing(line, c.quote)
		if end < 0 {
			return []span{s}, len(line)
		}
		m.carry = carry{}
		return []span{{min(s.from, end), end}}, end + len(c.quote)
	case c.block:
		if s.from < s.to && s.from <= c.indent {
			m.carry = carry{}
			return nil, 0
		}
		return []span{s}, len(line)
	case c.next:
		m.carry = carry{}
		if i := item().FindString(line[s.from:]); i != "" && s.from >= c.indent {
			s.from += len(i)
			m.carry = c // of a list, more may follow
		}
		if s.from > c.indent && !keyed().MatchString(line[s.from:]) {
			return []span{s}, len(line)
		}
	case c.value:
		m.carry = carry{}
		if loc := namedNext().FindStringIndex(line[s.from:]); loc != nil {
			v, _ := m.value(line, s.from+loc[1], toEnd, 0)
			return []span{v}, len(line)
		}
	}
	return nil, 0
}
