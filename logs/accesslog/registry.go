package accesslog

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
)

// A registry decides which keys a log's rows have, so that memory is bounded and
// the answer is the same however many workers read it. All tables of one reading
// share it.
//
// It hears of each key when some worker meets it for the first time, and hears
// of them in the order in which they stand in the log: what a worker met in a
// block waits until those of all blocks before are there. The first keys stay,
// up to a bound; [routes.Tree] folds those of them that have too many values at
// one place. Until it is decided, a worker counts a key in a row of its own,
// which it adds to the right one later.
//
// What was decided once only ever gets coarser, so that a worker that learns of
// it late is right in the end.
type registry struct {
	by      *grouping
	max     int
	version atomic.Uint64 // counts decisions that change the rows of keys

	mu      sync.RWMutex // guards what follows
	tree    *routes.Tree
	keys    map[string]struct{}
	order   []string // keys, in the order of the log
	full    bool     // no new key becomes a row
	scratch []byte
	blocks  lines.Order[handed]
	decided atomic.Int64 // blocks, to be read without the lock
	more    *sync.Cond   // decided was raised, or ended
	ended   bool         // not all blocks will come

	foldsFrom    atomic.Int64   // the first block whose requests are counted: values fold
	votes        map[string]int // of keys that may be frequent
	ballots      int
	frequent     []frequentKey
	isFrequent   map[string]bool
	mostFrequent int
}

// handed is what a block hands in: the keys that were met first, each with its
// length before it, and the result of its ballot.
type handed struct{ keys, votes []byte }

// nodesPerKey bounds the pieces of routes that a registry keeps, by the number of
// keys.
const nodesPerKey = 4

func newRegistry(by *grouping, o *Options) *registry {
	g := &registry{
		by: by, max: o.tracked(), tree: routes.NewTree(), keys: map[string]struct{}{},
		votes: map[string]int{}, isFrequent: map[string]bool{}, mostFrequent: o.mostFrequent(),
	}
	g.more = sync.NewCond(&g.mu)
	g.foldsFrom.Store(math.MaxInt64)
	return g
}

// resolve appends the key that the row of a key has, and reports whether that is
// decided.
func (g *registry) resolve(dst, key []byte) (row []byte, known bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	from := len(dst)
	dst = g.mapped(dst, key)
	_, known = g.keys[string(dst[from:])]
	if !known && (g.full || string(dst[from:]) == otherKey) {
		return append(dst[:from], otherKey...), true
	}
	return dst, known
}

// mapped appends the key with the values that the tree folds. mu is held.
func (g *registry) mapped(dst, key []byte) []byte {
	from, to, ok := g.by.automatic(key)
	if !ok {
		return append(dst, key...)
	}
	dst = append(dst, key[:from]...)
	dst = g.tree.Append(dst, key[from:to])
	return append(dst, key[to:]...)
}

// folded returns the route with the values that the tree folds.
func (g *registry) folded(route []byte) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return string(g.tree.Append(nil, route))
}

// submit hands in what a worker learned from a block.
func (g *registry) submit(block int, h handed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocks.Add(block, handed{slices.Clone(h.keys), slices.Clone(h.votes)}, g.takeBlock)
	g.more.Broadcast()
}

// takeBlock takes what the next block hands in. mu is held.
func (g *registry) takeBlock(h handed) {
	g.takeAll(h.keys)
	from := int(g.decided.Load()) + decisionLag
	g.count(h.votes, from)
	if g.version.Load() > 0 && g.foldsFrom.Load() == math.MaxInt64 {
		g.foldsFrom.Store(int64(from))
	}
	g.decided.Add(1)
}

// flush takes what waits for blocks that will not come.
func (g *registry) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocks.Flush(g.takeBlock)
}

// takeAll takes a list of keys. mu is held.
func (g *registry) takeAll(keys []byte) {
	for len(keys) > 0 {
		var key []byte
		key, keys = cutKey(keys)
		g.take(key)
	}
}

// add takes one key at once.
func (g *registry) add(key []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.take(key)
}

func (g *registry) take(key []byte) {
	g.scratch = g.mapped(g.scratch[:0], key)
	if _, ok := g.keys[string(g.scratch)]; ok || g.full || string(g.scratch) == otherKey {
		return
	}
	if from, to, ok := g.by.automatic(g.scratch); ok {
		changed := g.tree.Add(g.scratch[from:to])
		if changed {
			g.version.Add(1)
			g.scratch = g.mapped(g.scratch[:0], key)
		}
	}
	g.insert(string(g.scratch))
	for len(g.order) >= g.max || g.tree.Nodes() >= nodesPerKey*g.max {
		g.version.Add(1)
		if g.full = !g.tree.Tighten(); g.full {
			return
		}
		g.reinsert()
	}
}

func (g *registry) insert(key string) {
	if _, ok := g.keys[key]; !ok {
		g.keys[key] = struct{}{}
		g.order = append(g.order, key)
	}
}

// reinsert maps all keys anew.
func (g *registry) reinsert() {
	before := g.order
	g.keys, g.order = make(map[string]struct{}, len(before)), nil
	for _, key := range before {
		g.insert(string(g.mapped(nil, []byte(key))))
	}
}

// appendLong appends a key with its length before it, for [cutKey].
func appendLong(dst, key []byte) []byte {
	n := len(key)
	return append(append(dst, byte(n), byte(n>>8), byte(n>>16)), key...)
}

func cutKey(b []byte) (key, rest []byte) {
	n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	return b[3 : 3+n], b[3+n:]
}
