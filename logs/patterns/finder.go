package patterns

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// A Finder reports where one expression and its groups match, as Go's regexp does.
// It is made for lines of logs, which mostly match, and in the way that the
// author of the expression had in mind.
//
// The one idea: follow the expression without ever going back. An alternative
// that fits is kept, a repetition takes all it can. When that reaches the end of
// the expression, it is the match that a search which does go back finds first:
// all that such a search tries before fails within the part that it tries, see
// [isDefinite]. When it does not, or when the expression is of a kind that cannot
// be followed so, regexp is asked.
//
// A Finder is safe for concurrent use.
type Finder struct {
	re    *regexp.Regexp
	steps []step // nil: always ask regexp
}

// CompileFinder reads an expression in the syntax of Go's regexp.
func CompileFinder(expr string) (*Finder, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("read regular expression %q: %w", expr, err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("read regular expression %q: %w", expr, err)
	}
	f := &Finder{re: re}
	if steps, ok := compileSteps(tree.Simplify()); ok {
		f.steps = steps
	}
	return f, nil
}

// Groups returns how many groups the expression has.
func (f *Finder) Groups() int { return f.re.NumSubexp() }

// Names returns the names of the groups; the first is that of the whole match.
func (f *Finder) Names() []string { return f.re.SubexpNames() }

// Find returns where the expression matches in b: two offsets for the whole match
// and for each group, -1 for a group that has no part in it. They are appended to
// dst[:0]. It returns nil when the expression does not match.
func (f *Finder) Find(dst []int, b []byte) []int {
	dst = dst[:0]
	for range 2 * (f.re.NumSubexp() + 1) {
		dst = append(dst, -1)
	}
	if f.steps != nil {
		if end := walkSteps(f.steps, b, 0, dst); end >= 0 {
			dst[0], dst[1] = 0, end
			return dst
		}
	}
	m := f.re.FindSubmatchIndex(b)
	if m == nil {
		return nil
	}
	return append(dst[:0], m...)
}

// A step is one part of an expression that is followed without going back.
type step struct {
	kind  kind
	char  byte       // stepUntil: what ends it; stepQuoted: the quote
	esc   byte       // stepQuoted: what escapes the quote
	min   int        // stepSpan, stepUntil, stepLazy: how many characters at least
	mark  int        // stepMark: an index of the result
	text  []byte     // stepText
	set   *[256]bool // stepOne, stepSpan, stepLazy
	ways  [][]step   // stepChoice: one after another; stepLoop: one, again and again
	ahead []byte     // stepLazy: what comes next
}

type kind uint8

const (
	stepText   kind = iota // this text
	stepOne                // one character of a set
	stepSpan               // all characters of a set that follow
	stepUntil              // all characters but one
	stepLazy               // as few characters of a set as there are before a text
	stepQuoted             // up to a quote that is not escaped
	stepMark               // a group begins or ends
	stepChoice             // the first way that fits
	stepLoop               // a way as often as it fits
	stepStart              // the text's beginning
	stepEnd                // the text's end
)

// walkSteps follows steps from offset i of b and notes the groups. It returns where it
// comes out, -1 when a step does not fit.
func walkSteps(steps []step, b []byte, i int, marks []int) int {
	for n := range steps {
		switch s := &steps[n]; s.kind {
		case stepText:
			if !bytes.HasPrefix(b[i:], s.text) {
				return -1
			}
			i += len(s.text)
		case stepMark:
			marks[s.mark] = i
		case stepUntil:
			end := bytes.IndexByte(b[i:], s.char)
			if end < 0 {
				end = len(b) - i
			}
			if end < s.min {
				return -1
			}
			i += end
		case stepSpan:
			from := i
			for i < len(b) && s.set[b[i]] {
				i++
			}
			if i-from < s.min {
				return -1
			}
		default:
			if i = s.walkRare(b, i, marks); i < 0 {
				return -1
			}
		}
	}
	return i
}

// walkRare follows a step of a kind that expressions for logs have few of.
func (s *step) walkRare(b []byte, i int, marks []int) int {
	switch s.kind {
	case stepOne:
		if i == len(b) || !s.set[b[i]] {
			return -1
		}
		return i + widthOf(b[i:])
	case stepQuoted:
		for from := i; ; i++ {
			end := bytes.IndexByte(b[i:], s.char)
			if end < 0 {
				return len(b)
			}
			i += end
			if i == from || b[i-1] != s.esc {
				return i
			}
		}
	case stepLazy:
		return s.walkLazy(b, i)
	case stepChoice:
		for _, way := range s.ways {
			if end := walkSteps(way, b, i, marks); end >= 0 {
				return end
			}
			forgetMarks(way, marks)
		}
	case stepLoop:
		for {
			end := walkSteps(s.ways[0], b, i, marks)
			if end < 0 {
				return i
			}
			i = end
		}
	case stepStart:
		if i == 0 {
			return i
		}
	case stepEnd:
		if i == len(b) {
			return i
		}
	}
	return -1
}

func (s *step) walkLazy(b []byte, i int) int {
	from := i
	if s.min == 1 {
		if i == len(b) || !s.set[b[i]] {
			return -1
		}
		from += widthOf(b[i:])
	}
	end := bytes.Index(b[from:], s.ahead)
	if end < 0 {
		return -1
	}
	for _, c := range b[from : from+end] {
		if !s.set[c] {
			return -1
		}
	}
	return from + end
}

// forgetMarks takes back the groups of a way that did not fit.
func forgetMarks(way []step, marks []int) {
	for i := range way {
		switch s := &way[i]; s.kind {
		case stepMark:
			marks[s.mark] = -1
		case stepChoice:
			for _, w := range s.ways {
				forgetMarks(w, marks)
			}
		}
	}
}
