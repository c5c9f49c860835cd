package load

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
	"golang.org/x/net/http/httpguts"
)

// maxChars bounds N of hex and alnum: 64 KiB of one place.
const maxChars = 64 << 10

const csvPrefix = "csv."

// variables are the names that a place can have, and what follows them.
var variables = []string{"uuid", "int A B", "float A B", "hex N", "alnum N", "seq", "pick A|B|C", "csv.COLUMN"}

// Where a value goes decides what has to be escaped in it.
type spot int

const (
	inBody spot = iota
	inHeader
	inPath
	inQuery
)

// A placeParser reads the texts of one target.
type placeParser struct {
	seed  uint64
	table *Table
	place uint64 // number of the next place
}

// text reads a header's value or a body.
func (p *placeParser) text(s string, where spot) (Text, error) {
	var t Text
	line := 0
	if where == inBody {
		line = 1
	}
	for s != "" {
		literal, rest, ok := strings.Cut(s, "{{")
		t.add(literal)
		if !ok {
			break
		}
		if where == inBody {
			line += strings.Count(literal, "\n")
		}
		after, err := p.add(&t, rest, where)
		if err != nil {
			if v := (*VariableError)(nil); errors.As(err, &v) {
				v.Line = line
			}
			return Text{}, err
		}
		line += strings.Count(rest[:len(rest)-len(after)], "\n")
		s = after
	}
	return t, nil
}

// url reads a URL. What net/http would encode in its path is encoded here, so
// that the text is a request's as it stands.
func (p *placeParser) url(s string) (Text, error) {
	var t Text
	start := authorityEnd(s)
	if i := strings.Index(s[:start], "{{"); i >= 0 {
		return Text{}, &VariableError{Text: clipText(s[i:]), Reason: "a host has none; put a / before it"}
	}
	t.add(s[:start])
	s = s[start:]
	if !strings.HasPrefix(s, "/") {
		t.add("/")
	}
	for where := inPath; s != ""; {
		literal, rest, place := strings.Cut(s, "{{")
		literal, _, fragment := strings.Cut(literal, "#")
		if where == inPath {
			path, query, ok := strings.Cut(literal, "?")
			literal = string(appendEscaped(nil, path, &rawPathSafe))
			if ok {
				literal, where = literal+"?"+query, inQuery
			}
		}
		t.add(literal)
		if fragment || !place {
			break
		}
		after, err := p.add(&t, rest, where)
		if err != nil {
			return Text{}, err
		}
		s = after
	}
	sample := string(t.Append(nil, 0))
	if _, err := url.ParseRequestURI(sample); err != nil {
		return Text{}, fmt.Errorf("bad URL %q: %w", clipText(sample), cmp.Or(errors.Unwrap(err), err))
	}
	return t, nil
}

// authorityEnd returns where the path, the query or the fragment of a URL begins.
func authorityEnd(s string) int {
	start := 0
	if i := strings.Index(s, "://"); i >= 0 {
		start = i + len("://")
	}
	if i := strings.IndexAny(s[start:], "/?#"); i >= 0 {
		return start + i
	}
	return len(s)
}

// add adds the place whose text, after the opening braces, begins rest, and returns
// what comes after it.
func (p *placeParser) add(t *Text, rest string, where spot) (after string, err error) {
	inside, after, ok := strings.Cut(rest, "}}")
	if !ok {
		return "", &VariableError{Text: clipText("{{" + rest), Reason: "no }} after it"}
	}
	f, err := p.fill(strings.TrimSpace(inside), where)
	if err != nil {
		return "", &VariableError{Text: clipText("{{" + inside + "}}"), Reason: err.Error()}
	}
	p.place++
	t.parts = append(t.parts, part{fill: f})
	return after, nil
}

// fill returns what a place is filled with.
func (p *placeParser) fill(s string, where spot) (fillFunc, error) {
	if column, ok := strings.CutPrefix(s, csvPrefix); ok {
		return p.column(column, where)
	}
	name, rest, _ := strings.Cut(s, " ")
	args := strings.Fields(rest)
	key := keyOf(p.seed, p.place)
	switch {
	case name == "uuid" && len(args) == 0:
		return fillUUID(key), nil
	case name == "seq" && len(args) == 0:
		return fillSeq(), nil
	case name == "int" && len(args) == 2:
		return parseInt(key, args[0], args[1])
	case name == "float" && len(args) == 2:
		return parseFloat(key, args[0], args[1])
	case (name == "hex" || name == "alnum") && len(args) == 1:
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 || n > maxChars {
			return nil, fmt.Errorf("want a number of characters from 1 to %d", maxChars)
		}
		if name == "hex" {
			return fillHex(key, n), nil
		}
		return fillAlnum(key, n), nil
	case name == "pick" && len(args) > 0:
		items := strings.Split(strings.TrimSpace(rest), "|")
		for i := range items {
			if where == inHeader && !httpguts.ValidHeaderFieldValue(items[i]) {
				return nil, errors.New("it holds a control character, which a header must not")
			}
			items[i] = string(where.append(nil, items[i]))
		}
		return fillPick(key, items), nil
	}
	return nil, unknownVariable(name)
}

// unknownVariable reports what a place can be, and when its name is right, how it
// goes on.
func unknownVariable(name string) error {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i], _, _ = strings.Cut(v, " ")
		if names[i] == name {
			return fmt.Errorf("want {{%s}}", v)
		}
	}
	maybe := ""
	if near, ok := unit.Nearest(name, names); ok {
		maybe = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("%sthere are %s", maybe, strings.Join(variables, ", "))
}

func (p *placeParser) column(name string, where spot) (fillFunc, error) {
	if p.table == nil {
		return nil, errors.New("there is no CSV file")
	}
	i, err := p.table.column(name)
	if err != nil {
		return nil, err
	}
	if where == inHeader {
		for row := range p.table.rows {
			if v := p.table.cell(row, i); !httpguts.ValidHeaderFieldValue(v) {
				return nil, fmt.Errorf("row %d of %s holds a control character, which a header must not", row+1,
					p.table.name)
			}
		}
	}
	return fillColumn(p.table, i, where), nil
}

func parseInt(key uint64, from, to string) (fillFunc, error) {
	least, err1 := strconv.ParseInt(from, 10, 64)
	most, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil {
		return nil, errors.New("want two whole numbers, such as {{int 1 100}}")
	}
	if most < least {
		return nil, errors.New("want the smaller number first")
	}
	return fillInt(key, least, most), nil
}

func parseFloat(key uint64, from, to string) (fillFunc, error) {
	decimals := max(decimalsOf(from), decimalsOf(to))
	if decimals == 0 {
		decimals = 6
	}
	least, ok1 := parseScaled(from, decimals)
	most, ok2 := parseScaled(to, decimals)
	if !ok1 || !ok2 {
		return nil, errors.New("want two numbers of at most 18 digits, such as {{float 0.00 1}}")
	}
	if most < least {
		return nil, errors.New("want the smaller number first")
	}
	return fillDecimal(key, least, most, decimals), nil
}

func decimalsOf(s string) int {
	_, frac, _ := strings.Cut(s, ".")
	return len(frac)
}

// parseScaled returns the decimal number s times 10^decimals.
func parseScaled(s string, decimals int) (int64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole, "-") + frac
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits)+decimals-len(frac) > 18 {
		return 0, false
	}
	v, err := strconv.ParseInt(whole+frac+strings.Repeat("0", decimals-len(frac)), 10, 64)
	return v, err == nil
}

// clipText cuts what is quoted in an error.
func clipText(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
