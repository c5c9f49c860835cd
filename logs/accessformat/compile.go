package accessformat

import (
	"fmt"
	"strings"
)

// A compileError says at which place a format cannot be read, and what was
// expected there.
type compileError struct {
	at       int // bytes into the format
	problem  string
	expected string
}

func (e *compileError) Error() string {
	s := fmt.Sprintf("at byte %d: %s", e.at, e.problem)
	if e.expected != "" {
		s += ", expected " + e.expected
	}
	return s
}

// compilePieces makes a program of the pieces of a format.
func compilePieces(pieces []piece) (*program, error) {
	pieces = onlyBest(joinTexts(fusePieces(joinTexts(pieces))))
	pr := &program{}
	values := 0
	for i := range pieces {
		pc := &pieces[i]
		if pc.isText() {
			if values == 0 {
				pr.prefix = pc.text
			}
			continue
		}
		values++
		s := step{slot: slot{meaning: pc.meaning, name: pc.name, key: pc.key, extra: -1}, maybe: pc.maybe}
		if i+1 < len(pieces) {
			next := &pieces[i+1]
			if !next.isText() {
				if pc.what != aTime && next.what != aPath {
					return nil, &compileError{next.at, fmt.Sprintf("nothing stands between %s and %s", pc.name,
						next.name),
						"a blank, a quote or other text, so that they can be distinguished"}
				}
			} else {
				s.text = next.text
			}
		}
		pc.quoted = i > 0 && strings.HasSuffix(pieces[i-1].text, `"`) && strings.HasPrefix(s.text, `"`)
		s.cut = cutOf(pc, s.text)
		if s.text == "" && pc.what != aTime && i+1 < len(pieces) {
			s.cut = untilSlash // a path follows
		}
		if s.text != "" {
			s.end = s.text[0]
		}
		pr.steps = append(pr.steps, s)
	}
	if values == 0 {
		return nil, &compileError{0, "no value in the format",
			`names such as $request_time (nginx), %D (Apache), (?P<uri>\S+)`}
	}
	if !hasRequest(pieces) {
		return nil, &compileError{0, "the format has no request",
			"$request or $request_uri (nginx), %r or %U (Apache, goaccess)"}
	}
	return pr, nil
}

// onlyBest takes the meaning from all values but the one that ranks highest of
// each meaning, and from what a request line says anyway.
func onlyBest(pieces []piece) []piece {
	var best [numFields]*piece
	for i := range pieces {
		p := &pieces[i]
		old := best[p.what]
		if old == nil || p.rank >= old.rank {
			p, best[p.what] = old, p
		}
		if p != nil {
			p.what = noField
		}
	}
	if best[aRequest] == nil {
		return pieces
	}
	for _, what := range []field{aMethod, aPath, aQuery, aProtocol} {
		if p := best[what]; p != nil {
			p.what = noField
		}
	}
	return pieces
}

// cutOf returns how the end of a value is found.
func cutOf(pc *piece, text string) cut {
	switch {
	case pc.what == aTime:
		return byTime
	case pc.list && !pc.quoted && (text == "" || text[0] == ' '):
		return untilNoList
	case text == "":
		return untilEnd
	case pc.blanks:
		return afterBlanks
	case pc.quoted:
		return untilQuote
	case pc.what == aRequest && text[0] == ' ':
		return untilProtocol
	}
	return untilText
}

// hasRequest reports whether the pieces say what was requested.
func hasRequest(pieces []piece) bool {
	for _, p := range pieces {
		if p.what == aRequest || p.what == aPath {
			return true
		}
	}
	return false
}

// joinTexts makes one of texts that follow one another.
func joinTexts(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		if n := len(out); p.isText() && n > 0 && out[n-1].isText() {
			out[n-1].text += p.text
		} else if !p.isText() || p.text != "" {
			out = append(out, p)
		}
	}
	return out
}

// fusePieces joins values that belong together: a path with the query string after it,
// and the three parts of a request line between quotes.
func fusePieces(pieces []piece) []piece {
	var out []piece
	for i := 0; i < len(pieces); {
		n, what := countFused(pieces[i:], i > 0 && strings.HasSuffix(pieces[i-1].text, `"`))
		p := pieces[i]
		if n > 1 {
			name := ""
			for _, part := range pieces[i : i+n] {
				name += part.name + part.text
			}
			p.name, p.what = name, what
		}
		out = append(out, p)
		i += n
	}
	return out
}

// countFused returns how many pieces from the first on are one value, and what it
// means.
func countFused(pieces []piece, quoted bool) (n int, what field) {
	is := func(i int, f field) bool { return i < len(pieces) && !pieces[i].isText() && pieces[i].what == f }
	text := func(i int, s string) bool { return i < len(pieces) && pieces[i].isText() && pieces[i].text == s }
	path := func(i int) int { // pieces of a path that starts at i
		switch {
		case !is(i, aPath):
			return 0
		case i+1 < len(pieces) && pieces[i+1].name == "$is_args":
			if is(i+2, aQuery) {
				return 3
			}
			return 2
		case is(i+1, aQuery):
			return 2
		case text(i+1, "?") && is(i+2, aQuery):
			return 3
		}
		return 1
	}
	if quoted && is(0, aMethod) && text(1, " ") && is(2, aPath) {
		n := 2 + path(2)
		if text(n, " ") && is(n+1, aProtocol) {
			n += 2
		}
		if n < len(pieces) && strings.HasPrefix(pieces[n].text, `"`) {
			return n, aRequest
		}
	}
	if n := path(0); n > 1 {
		return n, aPath
	}
	return 1, pieces[0].what
}
