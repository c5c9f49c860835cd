package kataribe

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/kasoku/kasoku/peers/exact"
)

// A book is what the workers share: the names of all classes, and what has to be
// added up in the order of the lines.
type book struct {
	mu      sync.Mutex
	ids     map[string]int
	names   []string // by id
	totals  []float64
	queue   exact.Queue[*batch]
	free    []*batch
	lines   uint64
	dropped uint64
	first   dropped
}

// A dropped line is the first one that log_format does not match.
type dropped struct {
	number uint64
	text   []byte
}

// A batch is what a block tells, in the order of its lines.
type batch struct {
	took    []entry
	lines   uint64
	dropped uint64
	first   dropped
}

type entry struct {
	id    int
	value float64
}

// maxSample is how many bytes of a dropped line are shown.
const maxSample = 200

// drop notes a line that is no request. Blank lines are none to tell of.
func (b *batch) drop(line []byte) {
	if len(line) == 0 {
		return
	}
	if b.dropped == 0 {
		b.first = dropped{b.lines, bytes.Clone(line[:min(len(line), maxSample)])}
	}
	b.dropped++
}

func newBook() *book {
	return &book{ids: map[string]int{}}
}

// id returns the number of a class, and its name as the book keeps it.
func (k *book) id(name []byte) (string, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id, ok := k.ids[string(name)]; ok {
		return k.names[id], id
	}
	key, id := string(name), len(k.names)
	k.ids[key] = id
	k.names = append(k.names, key)
	k.totals = append(k.totals, 0)
	return key, id
}

func (k *book) newBatch() *batch {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.free)
	if n == 0 {
		return &batch{}
	}
	b := k.free[n-1]
	k.free = k.free[:n-1]
	*b = batch{took: b.took[:0]}
	return b
}

// add enters a block as soon as all those before it are.
func (k *book) add(seq int, b *batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue.Add(seq, b, k.enter)
}

func (k *book) enter(b *batch) {
	for _, e := range b.took {
		k.totals[e.id] += e.value
	}
	if b.dropped > 0 && k.dropped == 0 {
		k.first = dropped{k.lines + b.first.number, b.first.text}
	}
	k.lines += b.lines
	k.dropped += b.dropped
	k.free = append(k.free, b)
}

// A slow is a request and where it stands in the log.
type slow struct {
	value   float64
	seq     int    // block
	line    uint64 // in the block
	request string
}

// compare orders slow requests: the longest first, of equals the earlier one.
func (a slow) compare(b slow) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.seq, b.seq), cmp.Compare(a.line, b.line))
}

// slowest keeps the slowest requests, in order.
type slowest struct {
	keep int
	list []slow
}

// offer takes a request if it is slow enough.
func (s *slowest) offer(r slow, request []byte) {
	if n := len(s.list); n >= s.keep && (n == 0 || s.list[n-1].compare(r) < 0) {
		return
	}
	r.request = string(request)
	i, _ := slices.BinarySearchFunc(s.list, r, slow.compare)
	s.list = slices.Insert(s.list, i, r)
	s.list = s.list[:min(len(s.list), s.keep)]
}
