package accesslog

import (
	"hash/crc32"
	"math"
	"slices"
)

// The first keys of a log get rows, and what comes later does not once they are too many.
// What is frequent must have a row whenever it comes: the one client that comes after a
// million others and sends a tenth of the requests. So the workers count a part of the
// requests of each block, by key, and report to the registry which keys had several of
// them, from the time on at which values fold. A key that has no row of its own and is
// reported often enough gets one, from a later block on. What came before stays where it
// was counted.
//
// All of this depends on what stands in the blocks and on their order alone. A
// decision takes effect a number of blocks after the one that brought it, and
// no worker begins a block before it knows what takes effect there.
const (
	longestGap  = 16  // requests from one that is counted to the next; half of it on average
	leastVotes  = 2   // counted requests of a block make a key known to the registry
	enoughVotes = 32  // make it frequent
	votesFade   = 256 // blocks after which all votes count half
	mostCounted = 4096
	decisionLag = 32   // blocks between a decision and its effect
	aloneBlock  = 1024 // requests that are as a block to a table without blocks
)

// frequentMark stands before the key of a row that is there because it is
// frequent, so that it is not the row that the same key had before it was folded.
const frequentMark = "\x03"

// mostFrequent is how many keys may get rows that way.
func (o *Options) mostFrequent() int { return max(o.MaxRoutes/8, 8) }

// A ballot counts the keys of some requests of a block. Each slot keeps the key
// that has the majority of what falls into it, or is near it.
type ballot struct {
	slots    [256]vote
	requests int
	gap      int    // requests until one is counted
	random   uint32 // makes gaps differ: many logs have a rhythm
}

type vote struct {
	key   []byte
	count int
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add counts a request, if it is its turn.
func (b *ballot) add(key []byte) {
	b.requests++
	if b.gap--; b.gap > 0 {
		return
	}
	b.random = b.random*1664525 + 1013904223 // Numerical Recipes' generator
	b.gap = 1 + int(b.random>>16%longestGap)
	v := &b.slots[crc32.Checksum(key, castagnoli)%uint32(len(b.slots))]
	switch {
	case v.count == 0:
		v.key, v.count = append(v.key[:0], key...), 1
	case string(v.key) == string(key):
		v.count++
	default:
		v.count--
	}
}

// appendResult appends the keys that had several requests, each with how many
// before it, and begins anew.
func (b *ballot) appendResult(dst []byte) []byte {
	for i := range b.slots {
		v := &b.slots[i]
		if v.count >= leastVotes {
			dst = append(dst, byte(min(v.count, math.MaxUint8)))
			dst = appendLong(dst, v.key)
		}
		v.count = 0
	}
	b.requests, b.gap, b.random = 0, 0, 0
	return dst
}

// A frequentKey has a row of its own from a block on.
type frequentKey struct {
	key  string
	from int
}

// count takes the result of a ballot. mu is held.
func (g *registry) count(result []byte, from int) {
	for len(result) > 0 {
		votes := int(result[0])
		var key []byte
		key, result = cutKey(result[1:])
		if !g.folds(key) || len(g.frequent) >= g.mostFrequent {
			continue
		}
		n, seen := g.votes[string(key)]
		n += votes
		switch {
		case n < enoughVotes && (seen || len(g.votes) < mostCounted):
			g.votes[string(key)] = n
		case n >= enoughVotes && !g.isFrequent[string(key)]:
			g.isFrequent[string(key)] = true
			g.frequent = append(g.frequent, frequentKey{string(key), from})
			delete(g.votes, string(key))
		}
	}
	if g.ballots++; g.ballots%votesFade == 0 {
		for key, n := range g.votes {
			if g.votes[key] = n / 2; n < 2 {
				delete(g.votes, key)
			}
		}
	}
}

// vote takes the result of a ballot of a table without blocks, which takes effect
// at once.
func (g *registry) vote(result []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(result, 0)
}

// folds reports whether the requests of a key go to a row that stands for
// several. mu is held.
func (g *registry) folds(key []byte) bool {
	g.scratch = g.mapped(g.scratch[:0], key)
	if string(g.scratch) != string(key) {
		return true
	}
	_, known := g.keys[string(key)]
	return !known && g.full
}

// await waits until it is known what takes effect in a block, or no more blocks
// come.
func (g *registry) await(block int) {
	if int(g.decided.Load()) > block-decisionLag {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for int(g.decided.Load()) <= block-decisionLag && !g.ended {
		g.more.Wait()
	}
}

// end ends all waiting: blocks will be missing.
func (g *registry) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.more.Broadcast()
}

// frequentFrom returns the frequent keys after the first n whose rows begin no
// later than that block.
func (g *registry) frequentFrom(n, block int) []frequentKey {
	g.mu.RLock()
	defer g.mu.RUnlock()
	rest := g.frequent[n:]
	end := slices.IndexFunc(rest, func(k frequentKey) bool { return k.from > block })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end:end]
}

// startBlock makes the table ready for the records of a block.
func (t *Table) startBlock(block int) {
	t.reg.await(block)
	t.refold()
	t.welcome(block)
	t.keys.counts = int64(block) >= t.reg.foldsFrom.Load()
}

// countKey counts a request of the present key.
func (t *Table) countKey() {
	t.keys.ballot.add(t.key)
	if !t.keys.inBlocks && t.keys.ballot.requests == aloneBlock {
		t.reg.vote(t.takeResult())
		t.welcome(math.MaxInt)
	}
}

// welcome makes rows for keys that are frequent.
func (t *Table) welcome(block int) {
	for _, k := range t.reg.frequentFrom(t.keys.frequent, block) {
		t.keys.frequent++
		t.rows.of([]byte(frequentMark + k.key)).frequent = true
	}
}

// takeResult returns the result of the ballot, until the next one.
func (t *Table) takeResult() []byte {
	t.keys.result = t.keys.ballot.appendResult(t.keys.result[:0])
	return t.keys.result
}

// frequentRow returns the row of the present key when it has one for being
// frequent.
func (t *Table) frequentRow() *row {
	if t.keys.frequent == 0 {
		return nil
	}
	t.resolved = append(append(t.resolved[:0], frequentMark...), t.key...)
	return t.rows.get(t.rows.hash(t.resolved), t.resolved)
}

// rowKey appends the key that a row of this table or another has here.
func (t *Table) rowKey(dst []byte, w *row) []byte {
	if w.frequent {
		return append(dst, w.key...)
	}
	dst, _ = t.reg.resolve(dst, []byte(w.key))
	return dst
}

// plainKey is the key without what only the table needs.
func (w *row) plainKey() string {
	if w.frequent {
		return w.key[len(frequentMark):]
	}
	return w.key
}
