package ship

import (
	"context"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// A Live is a sink of a sampler: it hands each frame to an output as its values. The
// output must not wait; see [Async]. An output with a method Seen, as [Page] has, is
// told of each frame before, of those without values too.
type Live struct {
	o      LiveOptions
	raters map[string]*rater // by source
	told   map[string]bool   // sources and reasons that OnMissing was called with
	buf    []Value
}

// mostTold bounds how many reasons are told: some have a number that changes.
const mostTold = 100

var _ observe.Sink = (*Live)(nil)

// LiveOptions say what is handed to whom.
type LiveOptions struct {
	Output Output // not closed by Live
	Form   Form
	Only   Selection
	OnGap  func(kasoku.Gap) // of one that has ended; may be nil

	// OnMissing is called, once for each source and reason, while a source gives
	// nothing; may be nil.
	OnMissing func(kasoku.Gap)
}

// NewLive returns a sink.
func NewLive(o LiveOptions) *Live {
	return &Live{o: o, raters: map[string]*rater{}, told: map[string]bool{}}
}

// Frame implements [observe.Sink].
func (l *Live) Frame(f *kasoku.Frame) error {
	r := l.raters[f.Source]
	if r == nil {
		r = &rater{}
		l.raters[f.Source] = r
	}
	if seen, ok := l.o.Output.(interface {
		Seen(source string, at time.Duration)
	}); ok {
		seen.Seen(f.Source, f.At)
	}
	l.buf = r.append(l.buf[:0], f, l.o.Form, l.o.Only)
	if len(l.buf) == 0 {
		return nil
	}
	return l.o.Output.Write(context.Background(), l.buf)
}

// Gap implements [observe.Sink]. A gap is no value: nothing is sent.
func (l *Live) Gap(g kasoku.Gap) error {
	if l.o.OnGap != nil {
		l.o.OnGap(g)
	}
	return nil
}

// Missing is told of a gap that goes on.
func (l *Live) Missing(g kasoku.Gap) {
	key := g.Source + "\x00" + g.Reason
	if l.o.OnMissing == nil || l.told[key] || len(l.told) == mostTold {
		return
	}
	l.told[key] = true
	l.o.OnMissing(g)
}

// Event implements [observe.Sink].
func (l *Live) Event(kasoku.Event) error { return nil }
