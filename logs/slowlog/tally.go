package slowlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// maxTally bounds the different values that are counted of one thing of a class,
// maxTallied the bytes of one.
const (
	maxTally   = 32
	maxTallied = 128
)

// OtherValue stands for the values beyond the bound in a list of counts.
const OtherValue = "(other values)"

// A tally counts values. The zero value is empty.
type tally struct {
	values []Count
	last   int // index of the one that was counted last
	other  uint64
}

// add counts a value once.
func (t *tally) add(v []byte) {
	if t.last < len(t.values) && t.values[t.last].Value == string(v) {
		t.values[t.last].N++
		return
	}
	t.addN(v, 1)
}

func (t *tally) addN(v []byte, n uint64) {
	if len(v) > maxTallied {
		v = v[:maxTallied]
	}
	for i := range t.values {
		if t.values[i].Value == string(v) {
			t.values[i].N += n
			t.last = i
			return
		}
	}
	if len(t.values) >= maxTally {
		t.other += n
		return
	}
	t.last = len(t.values)
	t.values = append(t.values, Count{string(v), n})
}

func (t *tally) merge(o *tally) {
	for _, c := range o.values {
		t.addN([]byte(c.Value), c.N)
	}
	t.other += o.other
}

// counts returns the values, the most frequent first, without the empty one.
func (t *tally) counts() []Count {
	out := make([]Count, 0, len(t.values)+1)
	for _, c := range t.values {
		if c.Value != "" {
			out = append(out, Count{textOf([]byte(c.Value), maxTallied), c.N})
		}
	}
	slices.SortStableFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value))
	})
	if t.other > 0 {
		out = append(out, Count{OtherValue, t.other})
	}
	return out
}

// A series counts calls by the second.
type series struct {
	moments []moment // by second
	last    int      // index of the one that was counted last
}

type moment struct {
	second int64
	calls  uint64
	total  time.Duration
	rows   uint64 // sent
}

// room is how many seconds the series of a table may still take together.
type room int

// maxMoments bounds the seconds of all series of a table: 32 MB.
const maxMoments = 1 << 20

// mostBySecond bounds the seconds of which the classes of a table keep the times, together: some 60 MB.
const mostBySecond = 1 << 19

// add adds what happened in a second. It returns false when there is no room for
// another one.
func (s *series) add(n moment, left *room) bool {
	if s.last < len(s.moments) {
		if m := &s.moments[s.last]; m.second == n.second {
			m.add(n)
			return true
		}
	}
	i, found := s.find(n.second)
	if !found {
		if *left <= 0 {
			return false
		}
		*left--
		s.moments = slices.Insert(s.moments, i, moment{second: n.second})
	}
	s.last = i
	s.moments[i].add(n)
	return true
}

func (m *moment) add(n moment) {
	m.calls += n.calls
	m.total += n.total
	m.rows += n.rows
}

// find returns where a second is or belongs; most are the last one or new.
func (s *series) find(second int64) (int, bool) {
	if n := len(s.moments); n == 0 || s.moments[n-1].second < second {
		return n, false
	}
	return slices.BinarySearchFunc(s.moments, second, func(m moment, at int64) int { return cmp.Compare(m.second, at) })
}

// merge adds another series, and returns how many calls were not counted, as there was no room for
// their seconds.
func (s *series) merge(o *series, left *room) (missed uint64) {
	for _, m := range o.moments {
		if !s.add(m, left) {
			missed += m.calls
		}
	}
	return missed
}

func (s *series) seconds() map[int]kasoku.QuerySecond {
	out := make(map[int]kasoku.QuerySecond, len(s.moments))
	for _, m := range s.moments {
		out[int(m.second)] = kasoku.QuerySecond{Calls: m.calls, Total: m.total, Rows: m.rows}
	}
	return out
}
