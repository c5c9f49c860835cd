package patterns

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// A Set is a list of compiled expressions. It does not change after [Compile]
// and may be used by several goroutines, each with a [Matcher] of its own.
type Set struct {
	insts  []inst
	starts []uint32 // by expression: where it begins in insts
	later  int32    // the lowest expression that may begin to match after the text's first character
	alphabet
}

// An inst is one step of an expression's program.
type inst struct {
	op   op
	expr int32 // whose it is, an index into the list
	out  uint32
	arg  uint32 // opAlt: the other way; opRune: index into predicates; opEmpty: syntax.EmptyOp
}

type op uint8

const (
	opFail  op = iota
	opAlt      // goes both ways
	opNop      // goes on
	opRune     // goes on past a character that its predicate holds for
	opEmpty    // goes on between two characters that its conditions hold for
	opMatch    // the expression matches
)

// An alphabet sorts the characters into classes that no expression of a set can
// distinguish. Class 0 is no class: it stands for the bytes of characters beyond
// ASCII, which have to be decoded first. Class 1 is the end of the text.
type alphabet struct {
	ascii   [256]uint16 // by byte; 0 from 0x80 on
	bounds  []rune      // where the next interval of characters begins, ascending, first 0
	classes []uint16    // by interval: its class
	count   int         // classes, those two included
	sample  []rune      // by class: one character of it
	holds   [][]bool    // by predicate and class: whether it holds
}

const (
	classMany = 0
	classEnd  = 1
)

// Compile reads expressions in the syntax of Go's regexp. The error names the
// first one that cannot be read.
func Compile(exprs []string) (*Set, error) {
	set := &Set{}
	b := alphabetBuilder{index: map[string]uint32{}}
	for i, text := range exprs {
		re, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("read regular expression %d, %q: %w", i+1, text, err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			return nil, fmt.Errorf("compile regular expression %d, %q: %w", i+1, text, err)
		}
		set.add(int32(i), prog, &b)
	}
	set.alphabet = b.alphabet()
	for set.later < int32(len(exprs)) && !set.beginsLater(set.starts[set.later]) {
		set.later++
	}
	return set, nil
}

// beginsLater reports whether a program can go on from its start elsewhere than
// at the beginning of the text.
func (s *Set) beginsLater(start uint32) bool {
	var seen sparse
	seen.init(len(s.insts))
	stack := []uint32{start}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen.add(pc) {
			continue
		}
		switch in := &s.insts[pc]; in.op {
		case opRune, opMatch:
			return true
		case opAlt:
			stack = append(stack, in.out, in.arg)
		case opNop:
			stack = append(stack, in.out)
		case opEmpty:
			if syntax.EmptyOp(in.arg)&syntax.EmptyBeginText == 0 {
				stack = append(stack, in.out)
			}
		}
	}
	return false
}

// add appends the program of an expression.
func (s *Set) add(expr int32, prog *syntax.Prog, b *alphabetBuilder) {
	base := uint32(len(s.insts))
	s.starts = append(s.starts, base+uint32(prog.Start))
	for i := range prog.Inst {
		from := &prog.Inst[i]
		to := inst{expr: expr, out: base + from.Out}
		switch from.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			to.op, to.arg = opAlt, base+from.Arg
		case syntax.InstCapture, syntax.InstNop:
			to.op = opNop
		case syntax.InstEmptyWidth:
			to.op, to.arg = opEmpty, from.Arg
			b.looks = true
		case syntax.InstMatch:
			to.op = opMatch
		case syntax.InstFail:
			to.op = opFail
		default:
			to.op, to.arg = opRune, b.predicate(from)
		}
		s.insts = append(s.insts, to)
	}
}

// An alphabetBuilder collects what a set asks of characters.
type alphabetBuilder struct {
	predicates []*syntax.Inst
	index      map[string]uint32 // by what a predicate asks
	looks      bool              // some expression asks for a line's end or a word's
}

// predicate returns the index of what an instruction asks of a character.
func (b *alphabetBuilder) predicate(in *syntax.Inst) uint32 {
	key := fmt.Sprint(in.Op, in.Arg, in.Rune)
	i, ok := b.index[key]
	if !ok {
		i = uint32(len(b.predicates))
		b.predicates = append(b.predicates, in)
		b.index[key] = i
	}
	return i
}

// alphabet makes the classes: the characters are cut where any predicate may
// change its mind, and intervals with the same answers are joined.
func (b *alphabetBuilder) alphabet() alphabet {
	a := alphabet{bounds: b.bounds(), count: 2, sample: []rune{-1, -1}}
	a.holds = make([][]bool, len(b.predicates))
	for p := range a.holds {
		a.holds[p] = []bool{false, false}
	}
	known := map[string]uint16{}
	answers := make([]byte, len(b.predicates)+2)
	for _, r := range a.bounds {
		for p, in := range b.predicates {
			answers[p] = 0
			if in.MatchRune(r) {
				answers[p] = 1
			}
		}
		if b.looks {
			after := precedingOf(r)
			answers[len(answers)-2], answers[len(answers)-1] = byte(after), byte(after>>8)
		}
		class, ok := known[string(answers)]
		if !ok {
			class = uint16(a.count)
			known[string(answers)] = class
			a.count++
			a.sample = append(a.sample, r)
			for p := range a.holds {
				a.holds[p] = append(a.holds[p], answers[p] == 1)
			}
		}
		a.classes = append(a.classes, class)
	}
	for c := range rune(0x80) {
		a.ascii[c] = a.class(c)
	}
	return a
}

// bounds returns where intervals of characters begin that are alike for every
// predicate.
func (b *alphabetBuilder) bounds() []rune {
	out := []rune{0}
	interval := func(lo, hi rune) { out = append(out, lo, hi+1) }
	for _, in := range b.predicates {
		switch {
		case in.Op == syntax.InstRuneAny:
		case in.Op == syntax.InstRuneAnyNotNL:
			interval('\n', '\n')
		case len(in.Rune) == 1:
			r := in.Rune[0]
			interval(r, r)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				interval(f, f)
			}
		default:
			for i := 0; i+1 < len(in.Rune); i += 2 {
				interval(in.Rune[i], in.Rune[i+1])
			}
		}
	}
	if b.looks {
		interval('\n', '\n')
		interval('0', '9')
		interval('A', 'Z')
		interval('_', '_')
		interval('a', 'z')
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// decode returns the class of the character that b begins with, and its bytes.
func (a *alphabet) decode(b []byte) (class uint16, size int) {
	if len(b) == 0 {
		return classEnd, 0
	}
	if class = a.ascii[b[0]]; class != classMany {
		return class, 1
	}
	r, size := utf8.DecodeRune(b)
	return a.class(r), size
}

// class returns the class of a character.
func (a *alphabet) class(r rune) uint16 {
	i := sort.Search(len(a.bounds), func(i int) bool { return a.bounds[i] > r })
	return a.classes[i-1]
}

// precedingOf returns which of the conditions that look back hold right after a
// character. The bits are those of preceding, not of syntax.EmptyOp.
func precedingOf(r rune) preceding {
	var b preceding
	if r == '\n' {
		b |= afterNewline
	}
	if syntax.IsWordChar(r) {
		b |= afterWord
	}
	return b
}
