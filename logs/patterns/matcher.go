package patterns

import (
	"regexp/syntax"
	"slices"
)

// maxTable bounds the table of a [Matcher], in entries of four bytes. When it is
// full, the states are forgotten and made anew as texts need them: 1 MiB holds
// some 5,000 states of fifty classes, and lies in a core's second cache.
const maxTable = 1 << 18

// preceding is what precedes the place in a text where a state stands, as
// far as conditions such as ^ and \b ask.
type preceding uint16

const (
	afterNothing preceding = 1 << iota // the text begins here
	afterNewline
	afterWord
)

// char returns a character that may stand before such a place, -1 for none.
func (b preceding) char() rune {
	switch {
	case b&afterNothing != 0:
		return -1
	case b&afterNewline != 0:
		return '\n'
	case b&afterWord != 0:
		return 'a'
	}
	return ' '
}

// A Matcher asks a [Set]. It keeps the states of the automaton that texts have
// needed so far, at most some megabytes; so it is for one goroutine.
type Matcher struct {
	set *Set

	// next holds a row for each state, indexed by class. A state's name is where
	// its row begins. An entry is the state that follows, or unknown, or an answer
	// with the bit ended.
	next   []uint32
	states []state // by row
	pool   []uint32
	byKey  map[string]uint32
	start  uint32 // unknown: not made yet

	closed, reached sparse
	stack           []uint32
	insts           []uint32 // of a state being made
	key             []byte
}

const (
	unknown = 0       // that was not asked yet; no state is named 0
	ended   = 1 << 31 // the search ends, with the expression of the other bits; the number of expressions stands for none
)

// A state is a set of places in the programs where the search may be.
type state struct {
	from, to  int32 // its places, in pool
	best      int32 // the lowest expression that has matched; none has when it is the number of expressions
	preceding preceding
}

// Matcher returns a new Matcher of the set.
func (s *Set) Matcher() *Matcher {
	m := &Matcher{set: s, byKey: map[string]uint32{}}
	m.closed.init(len(s.insts))
	m.reached.init(len(s.insts))
	m.forget()
	return m
}

// forget drops all states. Row 0 belongs to no state.
func (m *Matcher) forget() {
	clear(m.byKey)
	m.next = append(m.next[:0], make([]uint32, m.set.count)...)
	m.states = append(m.states[:0], state{})
	m.pool = m.pool[:0]
	m.start = unknown
}

// First returns the index of the first expression of the list that matches
// anywhere in b, -1 when none does.
func (m *Matcher) First(b []byte) int {
	s := m.start
	if s == unknown {
		s = m.begin()
	}
	ascii, next := &m.set.ascii, m.next
	i := 0
	for s < ended {
		for i < len(b) {
			n := next[uint(s)+uint(ascii[b[i]])]
			if n-1 >= ended-1 { // unknown or an answer
				break
			}
			s = n
			i++
		}
		class, size := m.set.decode(b[i:])
		s = m.step(s, class)
		next = m.next
		i += size
	}
	if best := int(s &^ ended); best < len(m.set.starts) {
		return best
	}
	return -1
}

// begin makes the state in which a search begins.
func (m *Matcher) begin() uint32 {
	m.reached.clear()
	best := m.enter(int32(len(m.set.starts)), afterNothing)
	s := m.intern(best, afterNothing)
	m.start = s
	return s
}

// step returns what follows state s when a character of a class comes next.
func (m *Matcher) step(s uint32, class uint16) uint32 {
	entry := int(s) + int(class)
	if n := m.next[entry]; n != unknown {
		return n
	}
	st := m.states[int(s)/m.set.count]
	r := m.set.sample[class]
	best := m.look(st, syntax.EmptyOpContext(st.preceding.char(), r))
	if class == classEnd {
		m.next[entry] = ended | uint32(best)
		return m.next[entry]
	}
	m.reached.clear()
	after := precedingOf(r)
	for _, pc := range m.closed.dense {
		in := &m.set.insts[pc]
		if in.op == opRune && in.expr < best && m.set.holds[in.arg][class] {
			best = m.follow(in.out, best, after)
		}
	}
	best = m.enter(best, after)
	if len(m.next)+m.set.count > maxTable || len(m.pool)+len(m.reached.dense) > maxTable {
		m.forget()
		return m.intern(best, after)
	}
	n := m.intern(best, after)
	m.next[entry] = n
	return n
}

// look fills closed with the places of a state and those reached through conditions
// that hold, now that the next character is known. It returns the lowest expression
// that has matched.
func (m *Matcher) look(st state, hold syntax.EmptyOp) int32 {
	m.closed.clear()
	m.stack = append(m.stack[:0], m.pool[st.from:st.to]...)
	return m.spread(&m.closed, st.best, hold)
}

// spread adds to a set the places of the stack and those that they lead to
// without reading a character, past conditions that hold.
func (m *Matcher) spread(to *sparse, best int32, hold syntax.EmptyOp) int32 {
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !to.add(pc) {
			continue
		}
		switch in := &m.set.insts[pc]; in.op {
		case opAlt:
			m.stack = append(m.stack, in.out, in.arg)
		case opNop:
			m.stack = append(m.stack, in.out)
		case opEmpty:
			if syntax.EmptyOp(in.arg)&^hold == 0 {
				m.stack = append(m.stack, in.out)
			}
		case opMatch:
			best = min(best, in.expr)
		}
	}
	return best
}

// enter adds the beginnings of the expressions that may still improve the
// answer: a match may begin at every place.
func (m *Matcher) enter(best int32, after preceding) int32 {
	for expr := int32(0); expr < best; expr++ {
		best = m.follow(m.set.starts[expr], best, after)
	}
	return best
}

// lookBack are the conditions that need not know the next character.
const lookBack = syntax.EmptyBeginText | syntax.EmptyBeginLine

// follow adds to reached a place and those that it leads to without reading a
// character. A condition that looks ahead is kept until the next character is
// known; one that looks back is decided here, so that an expression that begins
// with ^ is dead after the first character.
func (m *Matcher) follow(pc uint32, best int32, after preceding) int32 {
	var hold syntax.EmptyOp
	if after&afterNothing != 0 {
		hold = lookBack
	}
	if after&afterNewline != 0 {
		hold |= syntax.EmptyBeginLine
	}
	m.stack = append(m.stack[:0], pc)
	return m.spread(&m.reached, best, hold)
}

// intern returns the state of the places in reached. When none of them can
// improve the answer it returns the answer.
func (m *Matcher) intern(best int32, after preceding) uint32 {
	m.insts = m.insts[:0]
	var looks bool
	for _, pc := range m.reached.dense {
		in := &m.set.insts[pc]
		if in.expr >= best || !m.waits(in, after) {
			continue
		}
		looks = looks || in.op == opEmpty
		m.insts = append(m.insts, pc)
	}
	if len(m.insts) == 0 && m.set.later >= best {
		return ended | uint32(best)
	}
	if !looks {
		after = 0
	}
	slices.Sort(m.insts)
	m.key = append(m.key[:0], byte(after), byte(best), byte(best>>8), byte(best>>16), byte(best>>24))
	for _, pc := range m.insts {
		m.key = append(m.key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if s, ok := m.byKey[string(m.key)]; ok {
		return s
	}
	s := uint32(len(m.next))
	m.next = append(m.next, make([]uint32, m.set.count)...)
	from := int32(len(m.pool))
	m.pool = append(m.pool, m.insts...)
	m.states = append(m.states, state{from: from, to: int32(len(m.pool)), best: best, preceding: after})
	m.byKey[string(m.key)] = s
	return s
}

// waits reports whether a place waits for the next character: it reads it, or
// has a condition that is open until it is known.
func (m *Matcher) waits(in *inst, after preceding) bool {
	switch in.op {
	case opRune:
		return true
	case opEmpty:
		ask := syntax.EmptyOp(in.arg)
		if ask&syntax.EmptyBeginText != 0 && after&afterNothing == 0 {
			return false
		}
		if ask&syntax.EmptyBeginLine != 0 && after&(afterNothing|afterNewline) == 0 {
			return false
		}
		return ask&^lookBack != 0
	}
	return false
}

// A sparse is a set of small numbers that is emptied at no cost.
// Source: Briggs and Torczon, "An Efficient Representation for Sparse Sets", 1993.
type sparse struct {
	at    []uint32 // by number: its place in dense, if it is there
	dense []uint32
}

func (s *sparse) init(n int) {
	s.at, s.dense = make([]uint32, n), make([]uint32, 0, n)
}

func (s *sparse) clear() { s.dense = s.dense[:0] }

// add reports whether n was not in the set before.
func (s *sparse) add(n uint32) bool {
	if i := s.at[n]; int(i) < len(s.dense) && s.dense[i] == n {
		return false
	}
	s.at[n] = uint32(len(s.dense))
	s.dense = append(s.dense, n)
	return true
}
