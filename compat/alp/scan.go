package alp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/patterns"
)

// A scan reads logs side by side and counts their requests by class.
type scan struct {
	options *options
	names   []string // of the values that are read
	finder  *patterns.Finder
	groups  []string // matching groups
	match   *patterns.Set
	filter  *filter
	rule    keyRule
	book    *exact.Book
	workers []*worker

	// take counts a request that is wanted.
	take func(w *worker, q *request, p exact.Place)
}

// A worker reads blocks. It is for one goroutine.
type worker struct {
	*scan
	reader  requestReader
	request request
	matcher *patterns.Matcher
	vm      vm.VM
	key     []byte
	frac    int // decimals of the times in pages; -1: none was read yet
	classes map[string]*class
	top     exact.Top[[]string]
	batch   *exact.Batch
}

// A class is what a worker knows of the requests with one key. It holds what
// does not depend on the order of the lines.
type class struct {
	id      int // in the book
	n       uint64
	status  [6]uint64 // by hundreds
	minBody float64
	maxBody float64
	tally   exact.Tally
}

// newScan prepares a scan for the values of requests and others.
func newScan(o *options, others []string, now func() time.Time) (*scan, error) {
	s := &scan{options: o, names: o.fields.valueNames(others), rule: keyRule{o.uris.query, o.uris.ignoreValues}, book: exact.NewBook()}
	loc, err := o.zone()
	if err != nil {
		return nil, err
	}
	if s.groups, s.match, err = o.uris.matching(); err != nil {
		return nil, err
	}
	if o.filters != "" {
		if s.filter, err = compileFilter(o.filters, loc, now); err != nil {
			return nil, err
		}
	}
	if o.fields.kind == "regexp" {
		if s.finder, err = patterns.CompileFinder(o.fields.pattern); err != nil {
			return nil, fmt.Errorf("--pattern: %w", err)
		}
	}
	for range runtime.GOMAXPROCS(0) {
		s.workers = append(s.workers, s.newWorker())
	}
	return s, nil
}

func (s *scan) newWorker() *worker {
	w := &worker{
		scan:    s,
		reader:  requestReader{lines: s.options.fields.newReader(s.names, s.finder), rule: s.rule, names: s.names},
		request: request{values: make([][]byte, len(s.names))},
		frac:    -1, classes: map[string]*class{},
	}
	if s.match != nil {
		w.matcher = s.match.Matcher()
	}
	return w
}

// run reads the logs, and says on stderr what was unusual and how many lines were
// dropped. It returns how many bytes were read, decompressed.
func (s *scan) run(ctx context.Context, in []lines.Input, stderr io.Writer) (int64, error) {
	read := make([]int64, len(s.workers))
	o := lines.SplitOptions{Workers: len(s.workers), Note: func(_ int, text string) {
		fmt.Fprintln(stderr, "alp:",
			text)
	}}
	err := lines.Split(ctx, in, o, func(i int, b *lines.Block) error {
		read[i] += int64(len(b.Data)) + b.Cut
		return s.workers[i].block(b)
	})
	if err != nil {
		return 0, err
	}
	if dropped, all, first := s.book.Dropped(); dropped > 0 {
		fmt.Fprintf(stderr, "alp: %d of %d lines were dropped; the first is line %d (%s): %q\n", dropped, all,
			first.Line, first.Why, first.Text)
	}
	sum := int64(0)
	for _, n := range read {
		sum += n
	}
	return sum, nil
}

func (w *worker) block(b *lines.Block) error {
	w.batch = w.book.NewBatch()
	for line := range bytes.Lines(b.Data) {
		if err := w.line(bytes.TrimSuffix(line, []byte("\n")),
			exact.Place{Seq: b.Seq, Line: w.batch.Line()}); err != nil {
			return err
		}
	}
	w.book.Add(b.Seq, w.batch)
	return nil
}

func (w *worker) line(line []byte, p exact.Place) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	q := &w.request
	if why := w.reader.read(line, q); why != "" {
		w.batch.Drop(line, why)
		return nil
	}
	if w.filter != nil {
		wanted, err := w.filter.match(&w.vm, filterEnv{
			Uri: string(q.name), Method: string(q.method), Time: string(q.time),
			ResponseTime: q.took.Value, BodyBytes: q.body, Status: q.status,
		})
		if err != nil || !wanted {
			return err
		}
	}
	w.take(w, q, p)
	return nil
}

// named returns the class with the key that is in w.key.
func (w *worker) named() *class {
	if c := w.classes[string(w.key)]; c != nil {
		return c
	}
	key, id := w.book.ID(w.key)
	c := &class{id: id}
	w.classes[key] = c
	return c
}

// keyEnd stands after each part of a key. No part holds it: one that did, of a
// hostile log, may at worst be counted with another.
const keyEnd = 0

// takeProfile counts a request for the table.
func (w *worker) takeProfile(q *request) {
	w.key = append(append(w.key[:0], q.method...), keyEnd)
	group := -1
	if w.matcher != nil {
		group = w.matcher.First(q.name)
	}
	if group >= 0 {
		w.key = append(w.key, w.groups[group]...)
	} else {
		w.key = append(w.key, q.name...)
	}
	c := w.named()
	if w.frac < 0 {
		w.frac = q.took.Frac
	}
	c.tally.Add(q.took, w.frac)
	if class := q.status / 100; class >= 1 && class < len(c.status) {
		c.status[class]++
	}
	if c.n == 0 {
		c.minBody, c.maxBody = q.body, q.body
	}
	c.n++
	c.minBody, c.maxBody = min(c.minBody, q.body), max(c.maxBody, q.body)
	w.batch.Add(c.id, [2]float64{q.took.Value, q.body})
}
