package exact

import (
	"bytes"
	"sync"

	"github.com/kasoku/kasoku/logs/lines"
)

// A Book is what the workers of a log share: the names of all classes, and what
// has to be known in the order of the lines.
type Book struct {
	// Each, when not nil, is called for every entry, in the order of the lines, never
	// twice at a time.
	Each func(id int, values [2]float64)

	mu      sync.Mutex
	ids     map[string]int
	names   []string     // by id
	sums    [][2]float64 // by id
	seen    []bool       // by id
	order   []int
	queue   lines.Order[*Batch]
	free    []*Batch
	lines   uint64
	dropped uint64
	first   Dropped
}

// A Dropped is a line that was not understood.
type Dropped struct {
	Line uint64 // from 1
	Why  string
	Text []byte // the beginning of it
}

// maxSample is how many bytes of a dropped line are kept.
const maxSample = 200

// A Batch is what a block says, in the order of its lines. It is for one
// goroutine.
type Batch struct {
	entries []entry
	lines   uint64
	dropped uint64
	first   Dropped
}

type entry struct {
	id     int
	values [2]float64
}

// Line counts a line and returns its number in the block, from 1.
func (b *Batch) Line() uint64 {
	b.lines++
	return b.lines
}

// Add notes what the present line says of a class.
func (b *Batch) Add(id int, values [2]float64) {
	b.entries = append(b.entries, entry{id, values})
}

// Drop notes that the present line was not understood.
func (b *Batch) Drop(line []byte, why string) {
	if b.dropped == 0 {
		b.first = Dropped{b.lines, why, bytes.Clone(line[:min(len(line), maxSample)])}
	}
	b.dropped++
}

// NewBook returns an empty book.
func NewBook() *Book { return &Book{ids: map[string]int{}} }

// ID returns the number of a class, counted from 0, and its name as the book
// keeps it.
func (k *Book) ID(name []byte) (string, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id, ok := k.ids[string(name)]; ok {
		return k.names[id], id
	}
	key, id := string(name), len(k.names)
	k.ids[key] = id
	k.names = append(k.names, key)
	k.sums = append(k.sums, [2]float64{})
	k.seen = append(k.seen, false)
	return key, id
}

// NewBatch returns an empty batch for the next block of a worker.
func (k *Book) NewBatch() *Batch {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.free)
	if n == 0 {
		return &Batch{}
	}
	b := k.free[n-1]
	k.free = k.free[:n-1]
	*b = Batch{entries: b.entries[:0]}
	return b
}

// Add enters a block as soon as all those before it are. The batch is the book's
// then.
func (k *Book) Add(seq int, b *Batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue.Add(seq, b, k.enter)
}

func (k *Book) enter(b *Batch) {
	for i := range b.entries {
		e := &b.entries[i]
		sum := &k.sums[e.id]
		sum[0] += e.values[0]
		sum[1] += e.values[1]
		if !k.seen[e.id] {
			k.seen[e.id] = true
			k.order = append(k.order, e.id)
		}
		if k.Each != nil {
			k.Each(e.id, e.values)
		}
	}
	if b.dropped > 0 && k.dropped == 0 {
		k.first = b.first
		k.first.Line += k.lines
	}
	k.lines += b.lines
	k.dropped += b.dropped
	k.free = append(k.free, b)
}

// The rest is for when all blocks are entered.

// Names returns the names of all classes, by number.
func (k *Book) Names() []string { return k.names }

// Sums returns the sums of a class, added up in the order of the lines.
func (k *Book) Sums(id int) [2]float64 { return k.sums[id] }

// Order returns the numbers of the classes in the order of their first lines.
func (k *Book) Order() []int { return k.order }

// Dropped returns how many of the lines were dropped, and the first of them.
func (k *Book) Dropped() (dropped, lines uint64, first Dropped) { return k.dropped, k.lines, k.first }
