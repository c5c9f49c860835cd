package export

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/observe"
)

// A Live is a sink of a sampler: it hands each frame to an output as its values. The
// output must not wait; see [Async]. An output with a method Seen, as [Page] has, is
// notified of each frame before, of those without values too. The load that runs beside,
// if there is one, is a source among them.
type Live struct {
	o        LiveOptions
	raters   map[string]*rater // by source
	reported map[string]bool   // sources and reasons that OnMissing was called with
	loads    *liveLoads        // nil: none are looked for
	host     string            // of the last frame
	frames   map[string]int    // by source, of those that a pattern waits for
	buf      []Value
}

// mostReported bounds how many reasons are printed: some have a number that changes.
const mostReported = 100

var _ observe.Sink = (*Live)(nil)

// LiveOptions configure what is handed to whom.
type LiveOptions struct {
	Output Output // not closed by Live
	Form   Form
	Only   Selection
	OnGap  func(kasoku.Gap) // of one that has ended; may be nil

	// OnMissing is called, once for each source and reason, while a source gives
	// nothing; may be nil.
	OnMissing func(kasoku.Gap)

	// Await are patterns of Only that must take a series of one of the sources Open, which
	// name theirs when they are read. OnUnmatched is called with those that took none once
	// each source that they concern was read some times, and what was seen of it.
	Await       Selection
	Open        []string
	OnUnmatched func(patterns []string, seen []kasoku.Key)

	// Loads returns what loads have counted since it was called last, by the second of
	// the export, and must not wait; may be nil. It is called once a second. A second
	// is reported 3 s after its end.
	Loads func() []kasoku.LoadSecond

	// Recorded returns the seconds before one of loads whose run is recorded, each once,
	// and up to which it knows them; it must not wait, and may be nil.
	Recorded func(before int) (seconds []kasoku.LoadSecond, upTo int)
}

// NewLive returns a sink.
func NewLive(o LiveOptions) *Live {
	l := &Live{o: o, raters: map[string]*rater{}, reported: map[string]bool{}}
	if o.Loads != nil || o.Recorded != nil {
		l.loads = newLiveLoads(o.Loads, o.Recorded)
	}
	return l
}

// Frame implements [observe.Sink].
func (l *Live) Frame(f *kasoku.Frame) error {
	r := l.raters[f.Source]
	if r == nil {
		r = &rater{}
		l.raters[f.Source] = r
	}
	l.seen(f.Source, f.At)
	l.await(f)
	if err := contain.Do(framePart, func() error {
		l.buf = r.append(l.buf[:0], f, l.o.Form, l.o.Only)
		return l.write()
	}); err != nil {
		if bug := new(contain.Bug); !errors.As(err, &bug) {
			return err
		}
		l.Missing(kasoku.Gap{Host: f.Host, Source: f.Source, Reason: err.Error()}) // the next frames may come through
	}
	l.host = f.Host
	if l.loads == nil || f.At < l.loads.looked+time.Second {
		return nil
	}
	l.loads.looked = f.At
	l.loads.add()
	before := max(int((f.At-loadSettles)/time.Second), 0)
	return l.sendLoads(f.At, l.loads.addRecorded(before))
}

// matchedBy is the frame of a source by which all of its series were there once: some
// sources read a part of them at a time.
const matchedBy = 3

// await looks for the series that patterns wait for.
func (l *Live) await(f *kasoku.Frame) {
	if len(l.o.Await) == 0 || !slices.Contains(l.o.Open, f.Source) {
		return
	}
	var keys []kasoku.Key
	for i := range f.Samples {
		keys = append(keys, kasoku.Key{Source: f.Source, Name: f.Samples[i].Name})
	}
	if l.frames == nil {
		l.frames = map[string]int{}
	}
	l.frames[f.Source]++
	l.o.Await = l.o.Await.Unmatched(keys)
	var none []string
	for _, p := range l.o.Await {
		read := func(source string) bool { return l.frames[source] >= matchedBy || !Concerns(p, source) }
		if Concerns(p, f.Source) && !slices.ContainsFunc(l.o.Open, func(s string) bool { return !read(s) }) {
			none = append(none, p)
		}
	}
	if len(none) > 0 {
		l.o.OnUnmatched(none, keys)
	}
}

// framePart names what a source gave at a tick, on its way to an output.
var framePart = contain.Part{Kind: contain.Output, Name: "frame"}

// sendLoads hands on the seconds of loads before that one.
func (l *Live) sendLoads(at time.Duration, before int) error {
	l.buf = l.loads.append(l.buf[:0], l.host, before)
	if len(l.buf) == 0 {
		return nil
	}
	l.seen(SourceLoad, at)
	l.buf = slices.DeleteFunc(l.buf, func(v Value) bool { return !l.o.Only.Takes(SourceLoad, v.Key.Name) })
	return l.write()
}

// Finish hands on the seconds of loads that were not reported yet, and returns how many
// answers came too late to be in any. No frame may come after.
func (l *Live) Finish() (late uint64, err error) {
	if l.loads == nil {
		return 0, nil
	}
	l.loads.add()
	err = l.sendLoads(l.loads.looked, l.loads.addRecorded(math.MaxInt))
	return l.loads.late, err
}

// seen notifies the output that a source has answered.
func (l *Live) seen(source string, at time.Duration) {
	if seen, ok := l.o.Output.(interface {
		Seen(source string, at time.Duration)
	}); ok {
		seen.Seen(source, at)
	}
}

func (l *Live) write() error {
	if len(l.buf) == 0 {
		return nil
	}
	for i := range l.buf {
		l.buf[i].Key, l.buf[i].Unit = printableKey(l.buf[i].Key), logs.Printable(l.buf[i].Unit)
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

// Missing is called with a gap that goes on.
func (l *Live) Missing(g kasoku.Gap) {
	key := g.Source + "\x00" + g.Reason
	if l.o.OnMissing == nil || l.reported[key] || len(l.reported) == mostReported {
		return
	}
	l.reported[key] = true
	l.o.OnMissing(g)
}

// Event implements [observe.Sink].
func (l *Live) Event(kasoku.Event) error { return nil }
