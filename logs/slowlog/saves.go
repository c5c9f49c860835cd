package slowlog

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// maxSaveTables bounds the tables whose INSERTs are counted.
const maxSaveTables = 1000

// maxLiterals bounds how many literals of one INSERT are looked up: those of
// its first rows.
const maxLiterals = 256

// saves follows the trail of saves: an UPDATE that affects no row, a SELECT
// with the same key, an INSERT with that key, all of one table. The key is a
// literal that the UPDATE's WHERE compares for equality; connections play no
// part, since a pool may give each statement another one. BEGIN, COMMIT and
// statements of other tables or keys may stand in between.
//
// MySQL does not log rows affected, so there every UPDATE may be the first of a
// trail: an INSERT of a key that exists would fail, so few others follow.
type saves struct {
	seed     maphash.Seed
	tables   map[string]*saveTable
	updated  lru // by table, column and literal
	selected lru // by table and literal
}

// A saveTable is what is known of one table.
type saveTable struct {
	name    string
	count   uint64
	inserts uint64
	sample  []string
	pending int // trails begun
}

func newSaves(limit int) saves {
	return saves{
		seed: maphash.MakeSeed(), tables: map[string]*saveTable{},
		updated: newLRU(limit), selected: newLRU(limit),
	}
}

// add follows the trail by one statement of a class.
func (s *saves) add(e *Event, c *class) {
	if len(c.query.Tables) == 0 {
		return
	}
	switch c.query.Verb {
	case "UPDATE":
		s.update(e, c)
	case "SELECT":
		if len(s.updated.index) == 0 && len(s.selected.index) == 0 {
			return
		}
		for _, name := range c.query.Tables {
			if t := s.tables[bareName(name)]; t != nil && t.pending > 0 {
				s.choose(e, c, t)
			}
		}
	case "INSERT", "REPLACE":
		if t := s.table(c.query.Tables[0]); t != nil {
			t.inserts++
			if t.pending > 0 {
				s.insert(e, c, t)
			}
		}
	}
}

// bareName returns a table's name without its database: the same table is
// named with and without.
func bareName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func (s *saves) table(name string) *saveTable {
	name = bareName(name)
	t := s.tables[name]
	if t == nil && len(s.tables) < maxSaveTables {
		t = &saveTable{name: name}
		s.tables[name] = t
	}
	return t
}

// update begins a trail. An UPDATE that did affect rows ends one.
func (s *saves) update(e *Event, c *class) {
	none := !e.HasAffected || e.RowsAffected == 0
	t := s.tables[bareName(c.query.Tables[0])]
	if t == nil && none {
		t = s.table(c.query.Tables[0])
	}
	if t == nil || !none && t.pending == 0 {
		return
	}
	column, literal := saveKey(e.Statement)
	if literal == nil {
		return
	}
	key := s.hash(t.name, column, literal)
	if !none {
		s.updated.remove(key)
		return
	}
	s.updated.put(trail{key: key, table: t, column: s.hash("", column, nil), update: c})
}

// saveKey returns the column and literal by which an UPDATE finds its row: a
// column named id, else one that ends in id or key, else the longest literal,
// which is the one least likely to be shared.
func saveKey(sql []byte) (column, literal []byte) {
	best := -1
	sqlshape.Equalities(sql, func(c, l []byte) bool {
		rank := len(l)
		switch name := strings.ToLower(string(c)); {
		case name == "id":
			rank += 2 << 20
		case strings.HasSuffix(name, "id") || strings.HasSuffix(name, "key"):
			rank += 1 << 20
		}
		if len(l) > 0 && rank > best {
			best, column, literal = rank, c, l
		}
		return true
	})
	return column, literal
}

// choose goes on with trails by a SELECT.
func (s *saves) choose(e *Event, c *class, t *saveTable) {
	sqlshape.Equalities(e.Statement, func(column, literal []byte) bool {
		x, ok := s.updated.remove(s.hash(t.name, column, literal))
		if ok {
			x.key, x.choose = s.hash(t.name, nil, literal), c
			s.selected.put(x)
		}
		return true
	})
}

// insert ends a trail. Where the statement names its columns, the literal must
// stand in the one that the UPDATE compared.
func (s *saves) insert(e *Event, c *class, t *saveTable) {
	n := 0
	sqlshape.Values(e.Statement, func(column, literal []byte) bool {
		key := s.hash(t.name, nil, literal)
		if x, ok := s.selected.get(key); ok && (column == nil || s.hash("", column, nil) == x.column) {
			s.selected.remove(key)
			t.count++
			if t.sample == nil {
				t.sample = []string{x.update.query.Sample, x.choose.query.Sample, c.query.Sample}
			}
		}
		n++
		return n < maxLiterals
	})
}

// hash returns the key of a trail. Columns are the same in any case.
func (s *saves) hash(table string, column, literal []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.WriteString(table)
	h.WriteByte(0)
	for _, c := range column {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h.WriteByte(c)
	}
	h.WriteByte(0)
	h.Write(literal)
	return h.Sum64()
}

func (s *saves) shapes() []kasoku.SaveShape {
	var out []kasoku.SaveShape
	for _, t := range s.tables {
		if t.count > 0 {
			out = append(out, kasoku.SaveShape{
				Table: t.name, Count: t.count, Inserts: t.inserts, Sample: slices.Clone(t.sample),
			})
		}
	}
	slices.SortFunc(out, func(a, b kasoku.SaveShape) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Table, b.Table))
	})
	return out
}

// A trail is a save that is not complete yet.
type trail struct {
	key            uint64
	table          *saveTable
	column         uint64 // hash of the key's column
	update, choose *class
	older, newer   int32 // neighbours in the list, by age
}

// An lru holds a bounded number of trails and forgets the oldest. Its memory
// grows with what it holds.
type lru struct {
	limit  int
	index  map[uint64]int32
	trails []trail // 0 is the head of the ring: newer is the oldest, older the newest
	free   []int32
}

func newLRU(limit int) lru {
	return lru{limit: limit, index: map[uint64]int32{}, trails: make([]trail, 1)}
}

func (l *lru) get(key uint64) (trail, bool) {
	i, ok := l.index[key]
	if !ok {
		return trail{}, false
	}
	return l.trails[i], true
}

// put adds a trail as the newest, in place of one with the same key.
func (l *lru) put(x trail) {
	l.remove(x.key)
	if len(l.index) >= l.limit {
		l.remove(l.trails[l.trails[0].newer].key)
	}
	var i int32
	if n := len(l.free); n > 0 {
		i, l.free = l.free[n-1], l.free[:n-1]
	} else {
		i = int32(len(l.trails))
		l.trails = append(l.trails, trail{})
	}
	x.older, x.newer = l.trails[0].older, 0
	l.trails[i] = x
	l.trails[x.older].newer = i
	l.trails[0].older = i
	l.index[x.key] = i
	x.table.pending++
}

// remove takes a trail out.
func (l *lru) remove(key uint64) (trail, bool) {
	i, ok := l.index[key]
	if !ok {
		return trail{}, false
	}
	x := l.trails[i]
	l.trails[x.older].newer, l.trails[x.newer].older = x.newer, x.older
	l.trails[i] = trail{}
	delete(l.index, key)
	l.free = append(l.free, i)
	x.table.pending--
	return x, true
}
