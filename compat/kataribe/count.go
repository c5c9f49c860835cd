package kataribe

import (
	"bytes"
	"strconv"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/patterns"
)

// A class is what a worker knows of the requests with one name. It holds what
// does not depend on the order of the lines.
type class struct {
	id       int // in the book
	n        uint64
	status   [6]uint64 // by first digit
	bytes    int64
	minBytes int64
	maxBytes int64
	tally    exact.Tally
}

// A worker counts the lines of blocks. It is for one goroutine.
type worker struct {
	plan    *plan
	book    *exact.Book
	changer changer
	bundles *patterns.Matcher
	marks   []int

	frac     int // decimals of the durations in pages; -1: none was read yet
	byBundle []*class
	byName   map[string]*class
	slow     exact.Top[string]
	batch    *exact.Batch
}

func newWorker(p *plan, b *exact.Book) *worker {
	w := &worker{
		plan: p, book: b, changer: p.newChanger(), frac: -1,
		byBundle: make([]*class, len(p.names)), byName: map[string]*class{}, slow: exact.Top[string]{Keep: p.SlowCount},
	}
	if p.bundles != nil {
		w.bundles = p.bundles.Matcher()
	}
	return w
}

// block counts the lines of a block and enters them in the book.
func (w *worker) block(b *lines.Block) {
	w.batch = w.book.NewBatch()
	for line := range bytes.Lines(b.Data) {
		w.line(bytes.TrimSpace(line), b.Seq)
	}
	w.book.Add(b.Seq, w.batch)
}

func (w *worker) line(line []byte, seq int) {
	number := w.batch.Line()
	if len(line) == 0 {
		return
	}
	marks := w.plan.line.Find(w.marks, line)
	if marks == nil {
		w.batch.Drop(line, "")
		return
	}
	w.marks = marks
	request := groupOf(line, marks, w.plan.RequestIndex)
	c := w.class(request)
	took, _ := exact.Parse(groupOf(line, marks, w.plan.DurationIndex), w.plan.factor)
	if w.frac < 0 {
		w.frac = took.Frac
	}
	c.n++
	c.tally.Add(took, w.frac)
	if s := groupOf(line, marks, w.plan.StatusIndex); len(s) > 0 && s[0]-'0' < byte(len(c.status)) {
		c.status[s[0]-'0']++
	}
	size := parseSize(groupOf(line, marks, w.plan.BytesIndex))
	if c.n == 1 {
		c.minBytes, c.maxBytes = size, size
	}
	c.bytes += size
	c.minBytes, c.maxBytes = min(c.minBytes, size), max(c.maxBytes, size)
	w.batch.Add(c.id, [2]float64{took.Value})
	if p := (exact.Place{Value: took.Value, Seq: seq, Line: number}); w.slow.Wants(p) {
		w.slow.Put(p, string(request))
	}
}

// groupOf returns a group of the line, empty when it has no part in the match.
func groupOf(line []byte, marks []int, i int) []byte {
	if marks[2*i] < 0 {
		return nil
	}
	return line[marks[2*i]:marks[2*i+1]]
}

// class returns what is known of requests like this one.
func (w *worker) class(request []byte) *class {
	if w.bundles != nil {
		if i := w.bundles.First(request); i >= 0 {
			c := w.byBundle[i]
			if c == nil {
				c = w.named([]byte(w.plan.names[i]))
				w.byBundle[i] = c
			}
			return c
		}
	}
	if len(w.plan.changes) > 0 {
		request = w.changer.change(request)
	}
	return w.named(request)
}

func (w *worker) named(name []byte) *class {
	if c := w.byName[string(name)]; c != nil {
		return c
	}
	key, id := w.book.ID(name)
	c := &class{id: id}
	w.byName[key] = c
	return c
}

// parseSize reads bytes as strconv.Atoi does; what is no number is 0.
func parseSize(text []byte) int64 {
	if len(text) == 0 || len(text) > 18 {
		return parseRareSize(text)
	}
	n := int64(0)
	for _, c := range text {
		if c-'0' > 9 {
			return parseRareSize(text)
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

func parseRareSize(text []byte) int64 {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0
	}
	return int64(n)
}
