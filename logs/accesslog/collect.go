package accesslog

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

// Collect reads the lines to their end into a table, and describes what it
// read. On an error, both hold what was read before.
func Collect(src *lines.Window, o Options) (*Table, kasoku.LogWindow, error) {
	t, parts, err := collectInputs(context.Background(), src.Inputs(), o, nil)
	if t == nil {
		return nil, kasoku.LogWindow{}, err
	}
	var account logs.Account
	format := ""
	var lacks []kasoku.LogLack
	var notes []string
	for i := range parts.inputs {
		p := &parts.inputs[i]
		for k := range p.account.Bad {
			p.account.Bad[k].Line += int64(account.Lines)
		}
		account.Add(&p.account)
		if p.account.Records > 0 && format == "" {
			format, lacks = p.format.Name(), p.format.Lacking()
			notes = append(notes, p.format.Assumed()...)
		}
		notes = append(notes, p.notes...)
	}
	w := account.Window("accesslog", format, src, append(notes, t.Notes()...)...)
	w.Lacks = lacks
	return t, w, err
}

// CollectAll reads logs to their end into a table, each in its own format, and
// describes what it read of each. Blocks of lines are read side by side; the
// result does not depend on how many workers there are and how fast they are.
// On an error, both hold what was read before. An input of which no line was
// understood is an [*UnknownFormatError]; the others are read nevertheless.
//
// progress is called with how many stored bytes were read, of how many, as in
// [lines.SplitOptions]; it may be nil.
func CollectAll(ctx context.Context, in []lines.Input, o Options, progress func(done, total int64)) (*Table, []kasoku.LogWindow, error) {
	t, parts, err := collectInputs(ctx, in, o, progress)
	if t == nil {
		return nil, nil, err
	}
	var out []kasoku.LogWindow
	for i := range parts.inputs {
		out = append(out, parts.inputs[i].window(&in[i]))
	}
	return t, out, err
}

// inputPart is what was read of one input.
type inputPart struct {
	format  *accessformat.Format // nil: unknown
	account logs.Account
	bytes   int64
	notes   []string
	strays  uint64
}

// window describes what was read of the input.
func (p *inputPart) window(in *lines.Input) kasoku.LogWindow {
	format := ""
	if p.format != nil && p.account.Records > 0 {
		format = p.format.Name()
	}
	notes := p.notes
	if format != "" {
		notes = append(notes, p.format.Assumed()...)
	}
	if p.strays > 0 {
		notes = append(notes, fmt.Sprintf("%d lines have another format than the others", p.strays))
	}
	return p.account.Describe("accesslog", format, []lines.Segment{in.Segment(p.bytes)}, notes...)
}

// find finds the format of an input, or of the one that was asked for what only the
// lines can show.
func (p *inputPart) find(ctx context.Context, in *lines.Input, given *accessformat.Format) (err error) {
	if given != nil {
		p.format, err = given.SniffInput(ctx, in)
		return err
	}
	p.format, err = accessformat.DetectInput(ctx, in)
	var unknown *accessformat.UnknownFormatError
	var bug *contain.Bug
	switch {
	case errors.As(err, &unknown):
		return nil
	case errors.As(err, &bug):
		p.notes = append(p.notes, bug.Error()) // its lines are dropped; the other inputs are read
		return nil
	}
	return err
}

// A collection is the work of reading inputs into tables.
type collection struct {
	opts    Options
	inputs  []inputPart
	workers []*worker
}

func collectInputs(ctx context.Context, in []lines.Input, o Options, progress func(done, total int64)) (*Table, *collection, error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	t := NewTable(o)
	c := &collection{opts: t.opts, inputs: make([]inputPart, len(in))}
	for i := range in {
		if err := c.inputs[i].find(ctx, &in[i], o.Format); err != nil {
			return nil, nil, err
		}
	}
	if o.Detail {
		o.Workers = 1
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	for range o.Workers {
		c.workers = append(c.workers, &worker{c: c, table: t.beside(), input: -1})
	}
	err := lines.Split(ctx, in, lines.SplitOptions{
		Workers: o.Workers, BlockSize: o.BlockSize, Progress: progress, Failed: t.reg.end,
		Note: func(input int, text string) { c.inputs[input].notes = append(c.inputs[input].notes, text) },
	}, func(w int, b *lines.Block) error {
		var err error
		if bug := contain.Run(blockPart, func() { err = c.workers[w].read(b) }); bug != nil {
			c.workers[w].lost = append(c.workers[w].lost, lostBlock{b.Input, bug})
		}
		return err
	})
	t.reg.flush()
	for _, w := range c.workers {
		w.closeInput()
		for _, l := range w.lost {
			if n := &c.inputs[l.input].notes; !slices.Contains(*n, l.bug.Error()) {
				*n = append(*n, l.bug.Error())
			}
		}
		t.Merge(w.table)
	}
	c.finish()
	if err == nil {
		err = c.unknown(in)
	}
	return t, c, err
}

// unknown describes which inputs were not understood.
func (c *collection) unknown(in []lines.Input) error {
	var errs []error
	for i := range c.inputs {
		a := &c.inputs[i].account
		if a.Records > 0 || a.Dropped == 0 {
			continue
		}
		path := in[i].Path
		if path == "" {
			path = "access log"
		}
		errs = append(errs, accessformat.NotUnderstood(path, a.Bad[0], c.opts.Format))
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
