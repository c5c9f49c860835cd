package truth

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A set is a set of ranks.
type set []uint64

func newSet(rows int) set { return make(set, (rows+63)/64) }

func (s set) has(rank int32) bool { return s[rank/64]&(1<<(rank%64)) != 0 }

func (s set) add(rank int32) { s[rank/64] |= 1 << (rank % 64) }

// len returns how many ranks the set holds.
func (s set) len() int64 { return s.below(int32(len(s) * 64)) }

// below returns how many ranks less than end the set holds.
func (s set) below(end int32) (n int64) {
	for _, w := range s[:end/64] {
		n += int64(bits.OnesCount64(w))
	}
	if end%64 != 0 {
		n += int64(bits.OnesCount64(s[end/64] << (64 - end%64)))
	}
	return n
}

// next returns the first rank from start on that the set holds, -1 without one.
func (s set) next(start int32) int32 {
	i := int(start / 64)
	if i >= len(s) {
		return -1
	}
	w := s[i] >> (start % 64) << (start % 64)
	for w == 0 {
		if i++; i == len(s) {
			return -1
		}
		w = s[i]
	}
	return int32(i*64 + bits.TrailingZeros64(w))
}

// A Moment is what is known of a table's rows at one time. It never changes.
type Moment struct {
	arriving set // the row's upload was begun
	arrived  set // it has ended well
	leaving  set // so many purchases were begun that the stock may be used up
	gone     set // the whole stock has been sold and confirmed
}

// A Span is the time from before a request was sent until after its answer was
// there. From is never later than To.
type Span struct {
	From, To *Moment
}

// certain reports whether the row counted during the whole span.
func (s Span) certain(rank int32) bool { return s.From.arrived.has(rank) && !s.To.leaving.has(rank) }

// possible reports whether the row may have counted at some time of the span.
func (s Span) possible(rank int32) bool { return s.To.arriving.has(rank) && !s.From.gone.has(rank) }

// A table is what the tables of chairs and estates have in common.
type table struct {
	what  string          // "chair" or "estate"
	ids   []int64         // by rank
	ranks map[int64]int32 // by id
	begin *Moment         // before the first request

	changing sync.Mutex // of now; readers need no lock
	now      atomic.Pointer[Moment]

	scratch sync.Pool // of *matches
}

// matches are the rows that fit a query.
type matches struct {
	certain, possible set
}

func newTable(what string, ids []int64, here func(id int64) bool) *table {
	ranks := make(map[int64]int32, len(ids))
	first := newSet(len(ids))
	for rank, id := range ids {
		ranks[id] = int32(rank)
		if here(id) {
			first.add(int32(rank))
		}
	}
	none := newSet(len(ids))
	t := &table{what: what, ids: ids, ranks: ranks, begin: &Moment{arriving: first, arrived: first, leaving: none, gone: none}}
	return t.again()
}

// again returns the table as it was before the first request. What never changes is shared.
func (t *table) again() *table {
	n := len(t.ids)
	a := &table{what: t.what, ids: t.ids, ranks: t.ranks, begin: t.begin}
	a.now.Store(a.begin)
	a.scratch.New = func() any { return &matches{certain: newSet(n), possible: newSet(n)} }
	return a
}

// Len returns how many rows the run has, those that are uploaded later too.
func (t *table) Len() int { return len(t.ids) }

// Rank returns the rank of a row.
func (t *table) Rank(id int64) (rank int32, ok bool) {
	rank, ok = t.ranks[id]
	return rank, ok
}

// Now returns the present moment. Take it before a request is sent.
func (t *table) Now() *Moment { return t.now.Load() }

// Since returns the span from a moment until now. Call it when the whole answer is
// there.
func (t *table) Since(from *Moment) Span { return Span{From: from, To: t.now.Load()} }

// UploadBegins reports that rows are about to be uploaded. Ids that are unknown are
// left out, here and in UploadEnds.
func (t *table) UploadBegins(ids []int64) {
	t.grow(ids, func(m *Moment) *set { return &m.arriving })
}

// UploadEnds reports that the service has confirmed the upload.
func (t *table) UploadEnds(ids []int64) {
	t.grow(ids, func(m *Moment) *set { return &m.arrived })
}

// grow adds rows to a set of the present moment. Moments that were given away keep
// theirs.
func (t *table) grow(ids []int64, which func(*Moment) *set) {
	t.changing.Lock()
	defer t.changing.Unlock()
	m := *t.now.Load()
	s := which(&m)
	*s = slices.Clone(*s)
	for _, id := range ids {
		if rank, ok := t.ranks[id]; ok {
			s.add(rank)
		}
	}
	t.now.Store(&m)
}

// Certain reports whether the row was there, and not sold out, during the whole
// span.
func (t *table) Certain(rank int32, s Span) bool { return s.certain(rank) }

// Possible reports whether the row may have been there, and not sold out, at some
// time of the span.
func (t *table) Possible(rank int32, s Span) bool { return s.possible(rank) }

// Begun reports whether the upload of a row was begun.
func (t *table) Begun(id int64) bool {
	rank, ok := t.ranks[id]
	return ok && t.Now().arriving.has(rank)
}

// Gone reports whether the row was sold out for certain when the span began.
func (t *table) Gone(rank int32, s Span) bool { return s.From.gone.has(rank) }
