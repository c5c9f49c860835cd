package accesslog

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// A worker reads blocks into a table of its own.
type worker struct {
	c      *collection
	table  *Table
	input  int // of the parser
	parser *accessformat.Parser
	record accessformat.Record
	parts  []workerPart
	lost   []lostBlock
}

// A lostBlock is a block of an input whose lines a panic cost.
type lostBlock struct {
	input int
	bug   error
}

// A workerPart is what a worker read of one input.
type workerPart struct {
	input  int
	blocks []blockLines
	bad    []badLine // the first five, by block and line
	counts logs.Account
	bytes  int64 // where the last block ended
	strays uint64
}

type blockLines struct {
	block int
	lines uint32
}

type badLine struct {
	block, line int // of the block, from 1
	text        kasoku.BadLine
}

// read reads the lines of a block. A line that makes the parser panic is dropped, and
// the reading goes on with the next one.
func (w *worker) read(b *lines.Block) error {
	w.table.startBlock(b.Seq)
	w.open(b.Input)
	part := &w.parts[len(w.parts)-1]
	r := blockReading{block: b, rest: b.Data, next: b.Offset}
	for before := 0; len(r.rest) > 0; before = r.number {
		if contain.RunAt(accessPart, &r.at, func() { w.readLines(&r, part) }) == nil {
			continue
		}
		if r.number == before {
			r.take()
		}
		part.drop(b.Seq, r.number, r.line, logs.Bug)
	}
	if b.Cut > 0 {
		part.counts.Cut++
	}
	part.counts.Lines += uint64(r.number)
	part.counts.Records += r.records
	part.counts.Blank += r.blank
	part.bytes = b.Offset + int64(len(b.Data)) + b.Cut
	part.blocks = append(part.blocks, blockLines{b.Seq, uint32(r.number)})
	w.table.endBlock(b.Seq)
	return nil
}

// A blockReading is how far a block is read.
type blockReading struct {
	block          *lines.Block
	rest           []byte // after the present line
	line           []byte
	number         int   // of the line, in the block
	at, next       int64 // offsets of the line, and of the one after it
	records, blank uint64
}

// take goes on to the next line.
func (r *blockReading) take() []byte {
	r.line = r.rest
	i := bytes.IndexByte(r.rest, '\n')
	if i >= 0 {
		r.line, r.rest = r.rest[:i], r.rest[i+1:]
	} else {
		i, r.rest = len(r.rest), nil
	}
	r.number++
	r.at = r.next
	r.next += int64(i) + 1
	return r.line
}

// Parts of the reading: the lines, and what is done around those of a block.
var (
	accessPart = contain.Part{Kind: contain.Log, Name: "access log"}
	blockPart  = contain.Part{Kind: contain.Log, Name: "block of an access log"}
)

// readLines reads the lines of a block that are left.
func (w *worker) readLines(r *blockReading, part *workerPart) {
	for len(r.rest) > 0 {
		line := r.take()
		if len(line) == 0 || line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0 {
			r.blank++
			continue
		}
		why := accessformat.NoFormat
		if w.parser != nil {
			w.record.Line, w.record.Offset = int64(r.number), r.at
			why = w.parser.Parse(line, &w.record)
		}
		if why != "" {
			part.drop(r.block.Seq, r.number, line, why)
			continue
		}
		w.table.add(&w.record, place{r.block.Input, r.at})
		r.records++
	}
}

// open goes on to an input.
func (w *worker) open(input int) {
	if input == w.input {
		return
	}
	w.closeInput()
	w.input, w.parser = input, nil
	w.parts = append(w.parts, workerPart{input: input})
	if f := w.c.inputs[input].format; f != nil {
		w.parser = w.table.Parser(f)
	}
}

// closeInput notes what the parser has seen of the input.
func (w *worker) closeInput() {
	if w.parser != nil {
		w.parts[len(w.parts)-1].strays = w.parser.Strays()
	}
}

// drop counts a line that is no record. Blocks come to a worker in their order,
// so that the first five are the first.
func (p *workerPart) drop(block, line int, text []byte, why string) {
	p.counts.Drop(1, int64(line), text, why)
	if n := len(p.counts.Bad); n > len(p.bad) {
		p.bad = append(p.bad, badLine{block, line, p.counts.Bad[n-1]})
	}
}

// finish puts together what the workers read of each input.
func (c *collection) finish() {
	type parts struct {
		blocks []blockLines
		bad    []badLine
	}
	all := make([]parts, len(c.inputs))
	for _, w := range c.workers {
		for i := range w.parts {
			p := &w.parts[i]
			in := &c.inputs[p.input]
			p.counts.Bad = nil
			in.account.Add(&p.counts)
			in.bytes = max(in.bytes, p.bytes)
			in.strays += p.strays
			all[p.input].blocks = append(all[p.input].blocks, p.blocks...)
			all[p.input].bad = append(all[p.input].bad, p.bad...)
		}
	}
	for i := range all {
		c.inputs[i].account.Bad = firstBad(all[i].blocks, all[i].bad)
	}
}

// firstBad returns the first bad lines of an input, with their numbers in it.
func firstBad(blocks []blockLines, bad []badLine) []kasoku.BadLine {
	slices.SortFunc(blocks, func(a, b blockLines) int { return cmp.Compare(a.block, b.block) })
	slices.SortFunc(bad, func(a, b badLine) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.line, b.line))
	})
	var out []kasoku.BadLine
	before, next := int64(0), 0
	for _, b := range bad[:min(len(bad), logs.MaxBad)] {
		for next < len(blocks) && blocks[next].block < b.block {
			before += int64(blocks[next].lines)
			next++
		}
		b.text.Line = before + int64(b.line)
		out = append(out, b.text)
	}
	return out
}
