package answers

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// What of a place can be volatile, or differ.
const (
	ofValue    = "value"    // of a scalar
	ofKind     = "kind"     // text, number, list …; with all that is below
	ofOrder    = "order"    // of a list
	ofElements = "elements" // which ones a list has
	ofPresence = "presence" // of a member

	isAdded  = "added"  // a member that was not there; volatile as ofPresence
	isLonger = "longer" // a list with elements that were not there; volatile as ofElements
	hasLost  = "lost"   // a list whose other elements are volatile, of those that never are
)

// A place is a node of the trees that are compared: all elements of a list are one.
type place struct {
	parent   *place
	name     string // of a member; of elements empty
	element  bool
	members  map[string]*place
	elements *place
	volatile map[string]bool
}

func (p *place) member(name string) *place {
	m := p.members[name]
	if m == nil {
		m = &place{parent: p, name: name}
		if p.members == nil {
			p.members = map[string]*place{}
		}
		p.members[name] = m
	}
	return m
}

func (p *place) each() *place {
	if p.elements == nil {
		p.elements = &place{parent: p, element: true}
	}
	return p.elements
}

// setVolatile reports whether that is new.
func (p *place) setVolatile(what string) bool {
	if p.volatile[what] {
		return false
	}
	if p.volatile == nil {
		p.volatile = map[string]bool{}
	}
	p.volatile[what] = true
	return true
}

// mostPathNames bounds the names of a path that is written.
const mostPathNames = 40

// path writes the place as items[].price; a name with other characters is quoted.
func (p *place) path() string {
	var names []string
	for at := p; at.parent != nil && len(names) < mostPathNames; at = at.parent {
		switch {
		case at.element:
			names = append(names, "[]")
		case isPlainName(at.name):
			names = append(names, at.name)
		default:
			names = append(names, strconv.Quote(at.name))
		}
	}
	var b strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] != "[]" && b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(names[i])
	}
	return b.String()
}

func isPlainName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && r != '>' && r != ':' && r != '@' && r != '#' && r != '/' && r != ' ' &&
			!unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// at finds the place of a path below this one.
func (p *place) at(path string) (*place, error) {
	for rest, first := path, true; rest != ""; first = false {
		if after, ok := strings.CutPrefix(rest, "[]"); ok {
			p, rest = p.each(), after
			continue
		}
		if !first {
			after, ok := strings.CutPrefix(rest, ".")
			if !ok || after == "" {
				return nil, fmt.Errorf("path %.80q: want a point before each name", path)
			}
			rest = after
		}
		name := rest
		if quoted, err := strconv.QuotedPrefix(rest); err == nil && rest[0] == '"' {
			name, _ = strconv.Unquote(quoted)
			rest = rest[len(quoted):]
		} else {
			if i := strings.IndexAny(rest, ".["); i >= 0 {
				name = rest[:i]
			}
			rest = rest[len(name):]
			if !isPlainName(name) {
				return nil, fmt.Errorf("path %.80q: %.40q is no name", path, name)
			}
		}
		p = p.member(name)
	}
	return p, nil
}
