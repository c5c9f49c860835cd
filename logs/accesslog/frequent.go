package accesslog

import (
	"hash/crc32"
	"math"
	"slices"
)

// The first keys of a log get rows; once there are too many, later keys share rows (they
// fold). A frequent key must have a row of its own however late it comes: the one client
// that comes after a million others and sends a tenth of the requests. So, as soon as keys
// fold, the workers sample the requests of each block and report to the registry which
// keys had several of them. A key without a row of its own that is reported often enough
// gets one, from a later block on. What came before stays where it was counted.
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
	aloneBlock  = 1024 // requests after which a table without blocks reports
)

// frequentMark stands before the key of a row that is there because it is
// frequent, so that it is not the row that the same key had before it was folded.
const frequentMark = "\x03"

// mostFrequent is how many keys may get rows that way.
func (o *Options) mostFrequent() int { return max(o.MaxRoutes/8, 8) }

// A ballot counts the keys of some requests of a block. A slot is chosen by the hash of
// the key, and keeps the key that has the majority of what falls into it, or is near it
// (the majority vote of Boyer and Moore).
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

// rowKey appends the key that a row of any table has by what is decided.
func (g *registry) rowKey(dst []byte, w *row) []byte {
	if w.frequent {
		return append(dst, w.key...)
	}
	dst, _ = g.resolve(dst, []byte(w.key))
	return dst
}

// keyReports are what a table learns of keys and hands to the registry: those of the
// present block that it met first, and its ballot. A table that adds without blocks
// reports at once.
type keyReports struct {
	reg      *registry
	inBlocks bool
	fresh    []byte
	ballot   *ballot
	counts   bool   // requests for the ballot: values fold
	result   []byte // of it
	frequent int    // rows for being frequent, in the order of the registry
	key      []byte // of such a row
	version  uint64 // of the registry, when the rows were last put in order
}

// count counts a request of a key.
func (k *keyReports) count(rows *seriesRows, key []byte) {
	k.ballot.add(key)
	if !k.inBlocks && k.ballot.requests == aloneBlock {
		k.reg.vote(k.takeResult())
		k.welcome(rows, math.MaxInt)
	}
}

// takeResult returns the result of the ballot, until the next one.
func (k *keyReports) takeResult() []byte {
	k.result = k.ballot.appendResult(k.result[:0])
	return k.result
}

// welcome makes rows for the keys that are frequent by that block.
func (k *keyReports) welcome(rows *seriesRows, block int) {
	for _, f := range k.reg.frequentFrom(k.frequent, block) {
		k.frequent++
		rows.of([]byte(frequentMark + f.key)).frequent = true
	}
}

// row returns the row that a key has for being frequent, nil when it has none.
func (k *keyReports) row(rows *seriesRows, key []byte) *row {
	if k.frequent == 0 {
		return nil
	}
	k.key = append(append(k.key[:0], frequentMark...), key...)
	return rows.get(rows.hash(k.key), k.key)
}

// startBlock makes the table ready for the records of a block.
func (t *Table) startBlock(block int) {
	t.reg.await(block)
	t.refold()
	t.keys.welcome(&t.rows, block)
	t.keys.counts = int64(block) >= t.reg.foldsFrom.Load()
}

// plainKey is the key without what only the table needs.
func (w *row) plainKey() string {
	if w.frequent {
		return w.key[len(frequentMark):]
	}
	return w.key
}
