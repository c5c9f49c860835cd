package patterns

import (
	"bytes"
	"regexp/syntax"
	"unicode/utf8"
)

// widthOf returns how many bytes the character takes that b begins with.
func widthOf(b []byte) int {
	if b[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(b)
	return n
}

// compileSteps turns a simplified expression into steps. It reports false for one
// that is not to be followed without going back.
func compileSteps(re *syntax.Regexp) ([]step, bool) {
	c := stepCompiler{ok: true, groups: map[int]bool{}}
	steps := c.append(nil, re)
	steps, ok := lookAhead(steps)
	return steps, c.ok && ok
}

// A stepCompiler notes when an expression has a part that no step stands for.
type stepCompiler struct {
	ok     bool
	nested int // depth of choices and loops
	loops  int // depth of loops
	groups map[int]bool
}

func (c *stepCompiler) append(out []step, re *syntax.Regexp) []step {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return out
	case syntax.OpLiteral:
		return c.appendText(out, re)
	case syntax.OpCapture:
		c.ok = c.ok && c.loops == 0 && !c.groups[re.Cap] // what a group had before would have to be remembered
		c.groups[re.Cap] = true
		out = append(out, step{kind: stepMark, mark: 2 * re.Cap})
		out = c.append(out, re.Sub[0])
		return append(out, step{kind: stepMark, mark: 2*re.Cap + 1})
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out = c.append(out, sub)
		}
		return out
	case syntax.OpAlternate:
		return append(out, step{kind: stepChoice, ways: c.ways(re.Sub...)})
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return c.appendRepeat(out, re)
	case syntax.OpBeginText:
		return append(out, step{kind: stepStart})
	case syntax.OpEndText:
		return append(out, step{kind: stepEnd})
	}
	if set := byteSet(re); set != nil {
		return append(out, step{kind: stepOne, set: set})
	}
	c.ok = false
	return out
}

func (c *stepCompiler) appendText(out []step, re *syntax.Regexp) []step {
	var text []byte
	for _, r := range re.Rune {
		text = utf8.AppendRune(text, r)
		// U+FFFD stands for bytes that are no UTF-8 as well.
		c.ok = c.ok && r != utf8.RuneError && re.Flags&syntax.FoldCase == 0
	}
	return append(out, step{kind: stepText, text: text})
}

func (c *stepCompiler) ways(subs ...*syntax.Regexp) (out [][]step) {
	c.nested++
	defer func() { c.nested-- }()
	for _, sub := range subs {
		way := c.append(nil, sub)
		c.ok = c.ok && isDefinite(way)
		out = append(out, way)
	}
	return out
}

// isDefinite reports whether a way that does not fit without going back does not
// fit at all, so that the next one may be tried. It has only one way to go on
// then: a step that could have taken less stands at the end, or is followed by
// something that could not begin earlier.
func isDefinite(way []step) bool {
	for i := range way {
		s := &way[i]
		switch s.kind {
		case stepText, stepOne, stepMark, stepStart, stepEnd:
			continue
		case stepLazy:
			return false
		}
		next := i + 1
		for next < len(way) && way[next].kind == stepMark {
			next++
		}
		if next < len(way) && !areApart(s, &way[next]) {
			return false
		}
	}
	return true
}

// areApart reports whether a step cannot begin with a character that the span
// before it takes.
func areApart(span, s *step) bool {
	takes := func(c byte) bool {
		if span.kind == stepUntil {
			return c != span.char
		}
		return span.set[c]
	}
	if span.kind != stepUntil && span.kind != stepSpan {
		return false
	}
	switch s.kind {
	case stepText:
		return !takes(s.text[0])
	case stepOne:
		for c, in := range s.set {
			if in && takes(byte(c)) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *stepCompiler) appendRepeat(out []step, re *syntax.Regexp) []step {
	sub, least := re.Sub[0], 0
	if re.Op == syntax.OpPlus {
		least = 1
	}
	set := byteSet(sub)
	lazy := re.Flags&syntax.NonGreedy != 0
	switch {
	case lazy:
		c.ok = c.ok && set != nil && re.Op != syntax.OpQuest && c.nested == 0
		return append(out, step{kind: stepLazy, set: set, min: least})
	case re.Op == syntax.OpQuest:
		return append(out, step{kind: stepChoice, ways: append(c.ways(sub), nil)})
	case set != nil:
		if char, ok := onlyMissing(set); ok {
			return append(out, step{kind: stepUntil, char: char, min: least})
		}
		return append(out, step{kind: stepSpan, set: set, min: least})
	case least == 0:
		if q, ok := quotedStep(sub); ok {
			return append(out, q)
		}
	}
	c.loops++
	ways := c.ways(sub)
	c.loops--
	c.ok = c.ok && !maybeEmpty(sub)
	if least == 1 {
		out = append(out, ways[0]...)
	}
	return append(out, step{kind: stepLoop, ways: ways})
}

// byteSet returns the bytes of an expression that stands for one character, nil
// for another one, and when characters beyond ASCII are not all alike to it.
func byteSet(re *syntax.Regexp) *[256]bool {
	var set [256]bool
	var beyond bool
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for c := range set {
			set[c] = c != '\n' || re.Op == syntax.OpAnyChar
		}
		return &set
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			for c := lo; c <= min(hi, 0x7f); c++ {
				set[c] = true
			}
			if hi >= 0x80 {
				if lo > 0x80 || hi != utf8.MaxRune {
					return nil
				}
				beyond = true
			}
		}
		for c := 0x80; c < 0x100; c++ {
			set[c] = beyond
		}
		return &set
	case syntax.OpLiteral:
		if len(re.Rune) == 1 && re.Rune[0] < 0x80 && re.Flags&syntax.FoldCase == 0 {
			set[re.Rune[0]] = true
			return &set
		}
	}
	return nil
}

// onlyMissing returns the one byte that is not in the set, if it is just one.
func onlyMissing(set *[256]bool) (char byte, ok bool) {
	n := 0
	for c, in := range set {
		if !in {
			char = byte(c)
			n++
		}
	}
	return char, n == 1
}

// quotedStep returns the step for what (?:\\"|[^"])* says: anything up to a quote
// that no backslash escapes.
func quotedStep(re *syntax.Regexp) (step, bool) {
	if re.Op != syntax.OpAlternate || len(re.Sub) != 2 {
		return step{}, false
	}
	escaped, other := re.Sub[0], byteSet(re.Sub[1])
	if escaped.Op != syntax.OpLiteral || escaped.Flags&syntax.FoldCase != 0 || len(escaped.Rune) != 2 || other == nil {
		return step{}, false
	}
	esc, quote := escaped.Rune[0], escaped.Rune[1]
	missing, ok := onlyMissing(other)
	if !ok || rune(missing) != quote || esc == quote || esc >= 0x80 {
		return step{}, false
	}
	return step{kind: stepQuoted, char: missing, esc: byte(esc)}, true
}

// maybeEmpty reports whether an expression may match nothing.
func maybeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !maybeEmpty(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if maybeEmpty(sub) {
				return true
			}
		}
		return false
	case syntax.OpPlus, syntax.OpCapture:
		return maybeEmpty(re.Sub[0])
	}
	return true
}

// lookAhead gives each lazy step the text that ends it. It reports false when
// something else comes next.
func lookAhead(steps []step) ([]step, bool) {
	for i := range steps {
		if steps[i].kind != stepLazy {
			continue
		}
		next := i + 1
		for next < len(steps) && steps[next].kind == stepMark {
			next++
		}
		if next == len(steps) || steps[next].kind != stepText {
			return nil, false
		}
		steps[i].ahead = bytes.Clone(steps[next].text)
	}
	return steps, true
}
