package slowlog

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// Collect reads the lines to their end into a table, and describes what it
// read. On an error, both hold what was read before. No line of src may have been
// scanned yet.
func Collect(src *lines.Window, o Options) (*Table, kasoku.LogWindow, error) {
	p := newPipeline(src.Inputs(), NewTable(o))
	p.chain = true
	err := p.run(context.Background(), lines.SplitOptions{})
	r := &p.results[0]
	format := ""
	if r.cutter != nil {
		r.account.Add(&r.cutter.account)
		format = r.hints.format(r.cutter)
	}
	return p.table, r.account.Window("slowlog", format, src, append(p.notes, p.table.notes()...)...), err
}

// CollectAll reads the inputs, one after another, into a table and describes
// what it read of each. The result is the same for any number of workers. The
// progress, which may be nil, is called with the bytes read and the bytes there are, 0
// when that is not known. On an error, both hold what was read before.
//
// One goroutine reads and finds where entries begin and end, which has to be done
// in order; workers parse the entries and find out what their statements are; the
// caller's goroutine adds them up, in order again. So all that depends on the
// order, such as transactions, is as if one had read alone.
func CollectAll(ctx context.Context, in []lines.Input, o Options, progress func(done, total int64)) (*Table, []kasoku.LogWindow, error) {
	p := newPipeline(in, NewTable(o))
	err := p.run(ctx, lines.SplitOptions{Progress: progress})
	return p.table, p.windows(), err
}

// A pipeline is the state of one Collect or CollectAll.
type pipeline struct {
	in      []lines.Input
	chain   bool // the inputs are one log: parts of a file that was rotated
	opts    Options
	table   *Table
	input   int     // that the cutter works on
	before  int64   // bytes of the inputs of a chain before the present one
	last    int     // the present one
	cutter  *cutter // nil before the first input
	results []result
	notes   []string // by input
	failed  bool     // not all inputs were read
}

// A result is what became of one input.
type result struct {
	account logs.Account
	hints   hints
	cutter  *cutter // that has read it, nil when nothing was read
	bytes   int64
}

func newPipeline(in []lines.Input, t *Table) *pipeline {
	p := &pipeline{in: in, opts: t.opts, table: t, results: make([]result, max(len(in), 1)), notes: make([]string, len(in))}
	if p.opts.Workers <= 0 {
		p.opts.Workers = runtime.GOMAXPROCS(0)
	}
	return p
}

// run reads the inputs, in the blocks that the options say.
func (p *pipeline) run(ctx context.Context, split lines.SplitOptions) (err error) {
	split.Workers = 1
	split.Note = func(i int, text string) { p.notes[i] = text }
	if p.opts.Workers == 1 {
		err = p.alone(ctx, split)
	} else {
		err = p.together(ctx, split)
	}
	if p.failed = err != nil; p.failed {
		return fmt.Errorf("slow log: %w", err)
	}
	return nil
}

// cut feeds a block to the cutter of its input, and calls send with each batch of
// whole entries; send returns the batch to be filled next.
func (p *pipeline) cut(b *lines.Block, send func(*batch) *batch) {
	if p.chain {
		if b.Input != p.last {
			p.before, p.last = p.results[0].bytes, b.Input
		}
		b.Input, b.Offset = 0, p.before+b.Offset
	}
	if p.cutter == nil || b.Input != p.input {
		p.finishInput(send)
		p.input = b.Input
		p.cutter = newCutter(p.opts.Kind, send(nil))
		p.cutter.b.input = b.Input
		p.results[b.Input].cutter = p.cutter
	}
	c := p.cutter
	c.feed(b.Data, b.Offset, b.Cut)
	p.results[b.Input].bytes = c.offset
	switch {
	case c.full():
		full := c.b
		c.carry(send(nil))
		send(full)
	case c.loose() > lines.DefaultBlockSize:
		c.carry(c.b)
	}
}

// contained cuts entries. Of those that a panic costs, a note of the input says so; the
// next ones are cut.
func (p *pipeline) contained(cut func()) error {
	if bug := contain.Run(cutPart, cut); bug != nil && p.input < len(p.notes) {
		p.notes[p.input] = bug.Error()
	}
	return nil
}

// finishInput sends what is left of an input.
func (p *pipeline) finishInput(send func(*batch) *batch) {
	if p.cutter == nil {
		return
	}
	c := p.cutter
	p.cutter = nil
	_ = p.contained(c.end)
	send(c.b)
}

// add adds a batch's events to the table. One that makes the table panic is
// dropped, and the adding goes on with the next one.
func (p *pipeline) add(b *batch) {
	for next := 0; next < len(b.events); {
		if contain.Run(tablePart, func() { p.addFrom(b, &next) }) != nil {
			e := &b.events[next]
			e.junk, e.bad = false, logs.Bug
			accountFor(&p.results[b.input].account, e)
			next++
		}
	}
}

// addFrom adds a batch's events from the next one on.
func (p *pipeline) addFrom(b *batch, next *int) {
	r := &p.results[b.input]
	for ; *next < len(b.events); *next++ {
		e := &b.events[*next]
		if !e.junk && e.bad == "" {
			r.hints.see(e)
			p.table.add(e)
		}
		accountFor(&r.account, e) // last: one that panics is not a record
	}
}

// alone does all the work in one goroutine.
func (p *pipeline) alone(ctx context.Context, split lines.SplitOptions) error {
	w := newWorker(p.opts, p.table)
	var free []*batch
	send := func(b *batch) *batch {
		if b != nil {
			w.work(b)
			p.add(b)
			free = append(free, b)
			return nil
		}
		if n := len(free); n > 0 {
			b, free = free[n-1], free[:n-1]
			b.reset()
			return b
		}
		return new(batch)
	}
	err := lines.Split(ctx, p.in, split, func(_ int, b *lines.Block) error {
		return p.contained(func() { p.cut(b, send) })
	})
	return errors.Join(err, p.contained(func() { p.finishInput(send) }))
}

// together works with workers beside the goroutine that reads and the caller's.
func (p *pipeline) together(ctx context.Context, split lines.SplitOptions) error {
	// Batches go around: to be filled, to be parsed, to be added in their order.
	n := p.opts.Workers + 2
	free, work, order := make(chan *batch, n), make(chan *batch, n), make(chan *batch, n)
	for range n {
		free <- &batch{parsed: make(chan struct{}, 1)}
	}
	var wg sync.WaitGroup
	for range p.opts.Workers {
		wg.Go(func() {
			w := newWorker(p.opts, p.table)
			for b := range work {
				if contain.Run(workPart, func() { w.work(b) }) != nil {
					b.spoilRest()
				}
				b.parsed <- struct{}{}
			}
		})
	}
	var err error
	wg.Go(func() {
		send := func(b *batch) *batch {
			if b != nil {
				work <- b
				order <- b
				return nil
			}
			b = <-free
			b.reset()
			return b
		}
		err = lines.Split(ctx, p.in, split, func(_ int, b *lines.Block) error {
			return p.contained(func() { p.cut(b, send) })
		})
		err = errors.Join(err, p.contained(func() { p.finishInput(send) }))
		close(work)
		close(order)
	})
	for b := range order {
		<-b.parsed
		p.add(b)
		free <- b
	}
	wg.Wait()
	return err
}

// A worker turns batches of entries into events with names.
type worker struct {
	parser parser
	namer  *namer
}

func newWorker(o Options, t *Table) *worker {
	return &worker{parser: parser{zone: o.Location, wanted: t.names}, namer: newNamer(o, t.reg)}
}

// Parts of the reading: entries are cut, parsed, named and added to the table.
var (
	cutPart   = contain.Part{Kind: contain.Log, Name: "entries of a slow log"}
	slowPart  = contain.Part{Kind: contain.Log, Name: "slow log"}
	namePart  = contain.Part{Kind: contain.Log, Name: "names of a slow log"}
	tablePart = contain.Part{Kind: contain.Log, Name: "table of a slow log"}
	workPart  = contain.Part{Kind: contain.Log, Name: "batch of a slow log"}
)

// spoilRest drops the entries of a batch that are not parsed.
func (b *batch) spoilRest() {
	for len(b.events) < len(b.entries) {
		b.events = append(b.events, Event{})
		b.spoil(len(b.events) - 1)
	}
}

// work parses a batch. An entry that makes the parser panic is dropped, and the work
// goes on with the next one.
func (w *worker) work(b *batch) {
	for before := 0; len(b.events) < len(b.entries); before = len(b.events) {
		if contain.Run(slowPart, func() { w.parser.parse(b) }) == nil {
			continue
		}
		if len(b.events) == before {
			b.events = append(b.events, Event{})
		}
		b.spoil(len(b.events) - 1)
	}
	w.namer.arena = b.names
	for next := 0; next < len(b.events); {
		if contain.Run(namePart, func() { w.name(b, &next) }) != nil {
			b.spoil(next)
			next++
		}
	}
	b.names = w.namer.arena
}

// name names the statements of a batch from the next one on.
func (w *worker) name(b *batch, next *int) {
	for ; *next < len(b.events); *next++ {
		if e := &b.events[*next]; !e.junk && e.bad == "" {
			w.namer.name(e)
		}
	}
}

// spoil makes an event one that is dropped because of a bug.
func (b *batch) spoil(i int) {
	en := &b.entries[i]
	b.events[i] = Event{
		Place:     Place{Input: b.input, Line: en.line, Offset: en.offset},
		Statement: b.buf[en.text:en.textEnd],
		fate:      fate{bad: logs.Bug, lines: en.lines},
	}
}

// windows describes what was read. The notes of the table belong to the last
// input, since they are of all of them.
func (p *pipeline) windows() []kasoku.LogWindow { return p.table.Noted(p.described()) }

// Noted adds to the last of the windows what a reader of the table has to know.
func (t *Table) Noted(windows []kasoku.LogWindow) []kasoku.LogWindow {
	if n := len(windows); n > 0 {
		windows[n-1].Note = strings.Join(append(notEmpty(windows[n-1].Note), t.notes()...), "; ")
	}
	return windows
}

func (p *pipeline) described() []kasoku.LogWindow {
	var out []kasoku.LogWindow
	for i := range p.results {
		r := &p.results[i]
		if r.cutter == nil && i > p.input && p.failed {
			break
		}
		w := kasoku.LogWindow{Kind: "slowlog", Path: p.in[i].Path, From: p.in[i].From, To: p.in[i].From + r.bytes, Files: 1}
		if r.cutter != nil {
			r.account.Add(&r.cutter.account)
			w.Format = r.hints.format(r.cutter)
		}
		a := &r.account
		w.Lines, w.Records, w.Continued, w.Blank, w.Dropped, w.BadSample = a.Lines, a.Records, a.Continued, a.Blank, a.Dropped, a.Bad
		w.Note = joinNotes(p.notes[i], a)
		out = append(out, w)
	}
	return out
}

func joinNotes(note string, a *logs.Account) string {
	return strings.Join(append(notEmpty(note), notEmpty(a.CutNote())...), "; ")
}

func notEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// accountFor counts the lines of an event, and reports whether it can be used.
func accountFor(a *logs.Account, e *Event) bool {
	switch {
	case e.junk:
		dropStatement(a, e)
	case e.bad != "":
		a.Drop(e.lines, e.Line, firstLine(e.head), e.bad)
	default:
		a.Records++
		a.Continued += e.lines - 1
		return true
	}
	return false
}
