package ptquerydigest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// A filter is the part of Perl that --filter is mostly used with: attributes of
// the event, numbers, strings, comparisons, matches, && || ! and parentheses. A
// value is a text; the empty one and 0 are false.
type filter struct{ eval node }

// A node evaluates a part of a filter. Attr returns an attribute of the event, an
// empty text when the event has none of that name.
type node func(attr func(name string) string) string

// keep reports whether an event passes.
func (f *filter) keep(attr func(name string) string) bool { return isTrue(f.eval(attr)) }

func isTrue(s string) bool { return s != "" && s != "0" }

func truthWord(b bool) string {
	if b {
		return "1"
	}
	return ""
}

const filterHint = `what is understood: $event->{NAME}, numbers, "strings", == != < <= > >= eq ne lt le gt ge, =~ m/RE2/i, !~, && || ! and parentheses, lc uc length and make_checksum`

// maxDepth bounds how deep the parentheses of a filter may go.
const maxDepth = 200

// A filterParser goes through the text of a filter.
type filterParser struct {
	text  string
	pos   int
	depth int
}

func parseFilter(text string) (*filter, error) {
	p := &filterParser{text: text}
	n, err := p.or()
	if err == nil && !p.end() {
		err = fmt.Errorf("at %q", p.rest())
	}
	if err != nil {
		return nil, badOption("--filter %q is not understood %v; %s", text, err, filterHint)
	}
	return &filter{n}, nil
}

func (p *filterParser) rest() string {
	s := p.text[p.pos:]
	return s[:min(len(s), 30)]
}

func (p *filterParser) end() bool {
	p.blanks()
	return p.pos >= len(p.text)
}

func (p *filterParser) blanks() {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
	}
}

// eat takes an operator of signs, or a whole word.
func (p *filterParser) eat(op string) bool {
	p.blanks()
	if !strings.HasPrefix(p.text[p.pos:], op) {
		return false
	}
	after := p.pos + len(op)
	if isWord(op[0]) && after < len(p.text) && isWord(p.text[after]) {
		return false
	}
	p.pos = after
	return true
}

func (p *filterParser) or() (node, error) {
	left, err := p.and()
	for err == nil && (p.eat("||") || p.eat("or")) {
		var right node
		a := left
		if right, err = p.and(); err == nil {
			left = func(attr func(string) string) string {
				if s := a(attr); isTrue(s) {
					return s
				}
				return right(attr)
			}
		}
	}
	return left, err
}

func (p *filterParser) and() (node, error) {
	left, err := p.not()
	for err == nil && (p.eat("&&") || p.eat("and")) {
		var right node
		a := left
		if right, err = p.not(); err == nil {
			left = func(attr func(string) string) string {
				if s := a(attr); !isTrue(s) {
					return s
				}
				return right(attr)
			}
		}
	}
	return left, err
}

// not takes what stands on one side of && and ||. A ! belongs to the operand
// after it, the word not to the whole comparison.
func (p *filterParser) not() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("too many parentheses")
	}
	defer func() { p.depth-- }()
	if p.eat("not") {
		n, err := p.not()
		return negateNode(n), err
	}
	return p.comparison()
}

func negateNode(n node) node {
	return func(attr func(string) string) string { return truthWord(!isTrue(n(attr))) }
}

// comparisons are the operators, longer ones first.
var comparisons = []struct {
	op      string
	numbers bool
	holds   func(order int) bool
}{
	{"==", true, func(o int) bool { return o == 0 }}, {"!=", true, func(o int) bool { return o != 0 }},
	{"<=", true, func(o int) bool { return o <= 0 }}, {">=", true, func(o int) bool { return o >= 0 }},
	{"<", true, func(o int) bool { return o < 0 }}, {">", true, func(o int) bool { return o > 0 }},
	{"eq", false, func(o int) bool { return o == 0 }}, {"ne", false, func(o int) bool { return o != 0 }},
	{"le", false, func(o int) bool { return o <= 0 }}, {"ge", false, func(o int) bool { return o >= 0 }},
	{"lt", false, func(o int) bool { return o < 0 }}, {"gt", false, func(o int) bool { return o > 0 }},
}

func (p *filterParser) comparison() (node, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	for _, want := range []bool{true, false} {
		op := map[bool]string{true: "=~", false: "!~"}[want]
		if p.eat(op) {
			re, err := p.pattern()
			return func(attr func(string) string) string { return truthWord(re.MatchString(left(attr)) == want) }, err
		}
	}
	for _, c := range comparisons {
		if !p.eat(c.op) {
			continue
		}
		right, err := p.operand()
		return func(attr func(string) string) string {
			a, b := left(attr), right(attr)
			if c.numbers {
				x, y := numberOf(a), numberOf(b)
				return truthWord(c.holds(compareNumbers(x, y)))
			}
			return truthWord(c.holds(strings.Compare(a, b)))
		}, err
	}
	return left, nil
}

func compareNumbers(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

var leadingNumber = lazyregexp.New(`^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

// numberOf is the number that a text starts with, 0 without one.
func numberOf(s string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSpace(leadingNumber().FindString(s)), 64) // out of range is infinite
	return v
}

// functions are those of Perl that filters call.
var functions = map[string]func(string) string{
	"lc": strings.ToLower, "uc": strings.ToUpper, "make_checksum": checksumOf,
	"defined": func(s string) string { return truthWord(s != "") },
	"length":  func(s string) string { return strconv.Itoa(len(s)) },
}

func (p *filterParser) operand() (node, error) {
	p.blanks()
	switch {
	case p.pos >= len(p.text):
		return nil, fmt.Errorf("at its end")
	case p.eat("("):
		n, err := p.or()
		if err == nil && !p.eat(")") {
			err = fmt.Errorf("without a closing parenthesis")
		}
		return n, err
	case p.text[p.pos] == '!':
		p.pos++
		if p.depth++; p.depth > maxDepth {
			return nil, fmt.Errorf("too many negations")
		}
		defer func() { p.depth-- }()
		n, err := p.operand()
		return negateNode(n), err
	case p.eat("$event->{"):
		return p.attribute()
	case p.text[p.pos] == '\'' || p.text[p.pos] == '"':
		s, err := p.quoted()
		return func(func(string) string) string { return s }, err
	}
	for name, f := range functions {
		if p.eat(name) {
			n, err := p.operand()
			return func(attr func(string) string) string { return f(n(attr)) }, err
		}
	}
	return p.number()
}

func (p *filterParser) attribute() (node, error) {
	end := strings.IndexByte(p.text[p.pos:], '}')
	if end < 0 {
		return nil, fmt.Errorf("without a closing brace")
	}
	name := strings.Trim(strings.TrimSpace(p.text[p.pos:p.pos+end]), `'"`)
	p.pos += end + 1
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return nil, fmt.Errorf("at the attribute %q", name)
	}
	return func(attr func(string) string) string { return attr(name) }, nil
}

func (p *filterParser) number() (node, error) {
	from := p.pos
	for p.pos < len(p.text) && (isWord(p.text[p.pos]) || p.text[p.pos] == '.' || p.pos == from &&
		p.text[p.pos] == '-') {
		p.pos++
	}
	s := strings.ReplaceAll(p.text[from:p.pos], "_", "")
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		p.pos = from
		return nil, fmt.Errorf("at %q", p.rest())
	}
	return func(func(string) string) string { return s }, nil
}

// quoted takes a string. In double quotes, what Perl would fill in is refused.
func (p *filterParser) quoted() (string, error) {
	quote := p.text[p.pos]
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == quote:
			p.pos = i + 1
			return b.String(), nil
		case c == '\\' && i+1 < len(p.text) && strings.IndexByte(`\'"$@`, p.text[i+1]) >= 0:
			i++
			b.WriteByte(p.text[i])
		case quote == '"' && (c == '$' || c == '@' || c == '\\'):
			return "", fmt.Errorf("at %q within double quotes", c)
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("without a closing quote")
}

// pattern takes m/…/i, /…/ or m{…}.
func (p *filterParser) pattern() (*regexp.Regexp, error) {
	p.blanks()
	rest := p.text[p.pos:]
	if strings.HasPrefix(rest, "m") {
		rest = rest[1:]
		p.pos++
	}
	if rest == "" || isWord(rest[0]) || isBlank(rest[0]) {
		return nil, fmt.Errorf("at %q where a match is expected", p.rest())
	}
	end := rest[0]
	if i := strings.IndexByte("{([<", end); i >= 0 {
		end = "})]>"[i]
	}
	i := 1
	for i < len(rest) && rest[i] != end {
		if rest[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(rest) {
		return nil, fmt.Errorf("without an end of the match")
	}
	expr := strings.ReplaceAll(rest[1:i], `\/`, "/")
	p.pos += i + 1
	flags := ""
	for p.pos < len(p.text) && isWord(p.text[p.pos]) {
		switch c := p.text[p.pos]; c {
		case 'i', 's', 'm':
			flags += string(c)
		case 'o', 'g':
		default:
			return nil, fmt.Errorf("at the flag %q", c)
		}
		p.pos++
	}
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	return regexp.Compile(expr)
}
