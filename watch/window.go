package watch

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
)

// DefaultKeep is how much of a live watch can be scrolled back to.
const DefaultKeep = 15 * time.Minute

// mostEvents bounds what a window keeps of events and of gaps.
const mostEvents = 1000

// A Window is a recording of the last minutes. It is an [observe.Sink], and safe for
// concurrent use.
type Window struct {
	keep   time.Duration
	access *access // logs that are followed; nil without

	mu       sync.Mutex // guards the fields below
	rec      kasoku.Recording
	index    map[kasoku.Key]int // of rec.Series
	load     Load               // that was handed over
	runs     Load               // of runs that others record
	runSteps []kasoku.Step
	counted  []counted     // statements, oldest first
	now      time.Duration // of the last frame
	forgot   time.Duration // what is older was dropped
}

// NewWindow returns an empty window of a run that goes on. A keep of 0 is
// DefaultKeep.
func NewWindow(run kasoku.Run, settings []kasoku.Setting, keep time.Duration) *Window {
	if keep == 0 {
		keep = DefaultKeep
	}
	run.State = kasoku.Running
	return &Window{keep: keep, index: map[kasoku.Key]int{}, rec: kasoku.Recording{Run: run, Settings: settings}}
}

// Frame keeps the samples of a frame.
func (w *Window) Frame(f *kasoku.Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range f.Samples {
		s := &f.Samples[i]
		key := kasoku.Key{Host: f.Host, Source: f.Source, Name: s.Name, Instance: s.Instance}
		at, ok := w.index[key]
		if !ok {
			at = len(w.rec.Series)
			w.index[key] = at
			w.rec.Series = append(w.rec.Series, kasoku.Series{Key: key, Kind: s.Kind, Unit: s.Unit})
		}
		one := &w.rec.Series[at]
		one.Points = append(one.Points, kasoku.Point{At: f.At, Value: s.Value})
	}
	w.now = max(w.now, f.At)
	if w.now-w.keep > w.forgot+time.Minute {
		w.forget(w.now - w.keep)
	}
	return nil
}

// Gap keeps a gap.
func (w *Window) Gap(g kasoku.Gap) error {
	w.Missing(g)
	return nil
}

// Missing keeps a gap that goes on: what is reported of it later, its end too, is one with
// it.
func (w *Window) Missing(g kasoku.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = max(w.now, g.Interval.To)
	for i := len(w.rec.Gaps) - 1; i >= 0; i-- {
		last := &w.rec.Gaps[i]
		if last.Host == g.Host && last.Source == g.Source && last.Reason == g.Reason &&
			g.Interval.From-last.Interval.To < 2*time.Second {
			last.Interval.To = max(last.Interval.To, g.Interval.To)
			return
		}
	}
	w.rec.Gaps = tail(append(w.rec.Gaps, g))
}

// Event keeps an event.
func (w *Window) Event(e kasoku.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rec.Events = tail(append(w.rec.Events, e))
	return nil
}

func tail[T any](s []T) []T {
	if len(s) > mostEvents {
		return slices.Clone(s[len(s)-mostEvents:])
	}
	return s
}

// forget drops what is older. Points that were handed out stay as they are.
func (w *Window) forget(before time.Duration) {
	w.forgot = before
	kept := w.rec.Series[:0:0]
	clear(w.index)
	for _, s := range w.rec.Series {
		at, _ := slices.BinarySearchFunc(s.Points, before, func(p kasoku.Point,
			t time.Duration) int {
			return cmp.Compare(p.At, t)
		})
		if at == len(s.Points) {
			continue // a process that ended, a disk that is gone
		}
		s.Points = slices.Clone(s.Points[at:])
		w.index[s.Key] = len(kept)
		kept = append(kept, s)
	}
	w.rec.Series = kept
	w.load.Forget(int(before / time.Second))
	w.runs.Forget(int(before / time.Second))
	w.rec.Gaps = slices.DeleteFunc(slices.Clone(w.rec.Gaps), func(g kasoku.Gap) bool { return g.Interval.To < before })
	w.rec.Events = slices.DeleteFunc(slices.Clone(w.rec.Events), func(e kasoku.Event) bool { return e.At < before })
	w.counted = slices.DeleteFunc(slices.Clone(w.counted),
		func(c counted) bool { return c.second < int(before/time.Second) })
}

// AddSeconds adds what a load counted, on the window's clock.
func (w *Window) AddSeconds(seconds []kasoku.LoadSecond, steps []kasoku.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.load.Add(seconds)
	w.rec.Steps = steps
}

// SetLoad sets the load of a run that another process records. Where a load was handed
// over meanwhile, that one is shown.
func (w *Window) SetLoad(l Load, steps []kasoku.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	runs := l.over(&w.runs)
	runs.seconds = map[int]*kasoku.Tally{}
	maps.Copy(runs.seconds, w.runs.seconds)
	maps.Copy(runs.seconds, l.seconds)
	w.runs = runs
	w.runSteps = steps
}

// seconds returns the load from a second on, which becomes the first.
func (w *Window) seconds(from int) (out []kasoku.LoadSecond) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seconds := map[int]*kasoku.Tally{}
	maps.Copy(seconds, w.runs.seconds)
	maps.Copy(seconds, w.load.seconds)
	for _, at := range slices.Sorted(maps.Keys(seconds)) {
		if at >= from {
			t := kasoku.NewTally()
			t.Merge(seconds[at])
			out = append(out, kasoku.LoadSecond{Second: at - from, Target: "load", Asked: t.Asked, Codes: t.Codes,
				Expected: t.Expected, Errors: t.Errors, BytesIn: t.BytesIn, BytesOut: t.BytesOut, Latency: t.Latency, SendDelay: t.SendDelay,
				Service: t.Service})
		}
	}
	return out
}

// AddQueries adds what statements did up to a second, since they were counted last, so
// long before.
func (w *Window) AddQueries(queries []kasoku.Query, second int, long time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counted = append(w.counted, counted{second, long, queries})
}

// counted is what statements did up to a second.
type counted struct {
	second  int
	long    time.Duration // since the look before
	queries []kasoku.Query
}

// sum adds up what the statements did in the seconds (from, to].
func sum(all []counted, from, to int) (out []kasoku.Query) {
	known := map[string]int{}
	for _, c := range all {
		if c.second <= from || c.second > to {
			continue
		}
		for i := range c.queries {
			q := &c.queries[i]
			at, ok := known[q.ID]
			if !ok {
				at = len(out)
				known[q.ID] = at
				out = append(out, kasoku.Query{
					Host: q.Host, ID: q.ID, Fingerprint: q.Fingerprint, Verb: q.Verb, Tables: q.Tables,
					HasAffected: q.HasAffected,
					Seconds:     map[int]kasoku.QuerySecond{},
				})
			}
			sum := &out[at]
			sum.Calls += q.Calls
			sum.Total += q.Total
			sum.Lock += q.Lock
			sum.RowsExamined += q.RowsExamined
			sum.RowsSent += q.RowsSent
			sum.RowsAffected += q.RowsAffected
			sum.Seconds[c.second-from] = kasoku.QuerySecond{Calls: q.Calls, Total: q.Total, Rows: q.RowsSent}
		}
	}
	return out
}

// Mark notes a moment, and returns it.
func (w *Window) Mark(at time.Duration, text string) kasoku.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := kasoku.Event{At: at, Kind: "mark", Text: text}
	if len(w.rec.Run.Hosts) > 0 {
		e.Host = w.rec.Run.Hosts[0].Name
	}
	w.rec.Events = tail(append(w.rec.Events, e))
	return e
}

// Now returns the moment of the last sample.
func (w *Window) Now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Take returns what the window holds. The recording shares samples with the window
// and must not be changed; what comes later is not in it.
func (w *Window) Take() *Data {
	w.mu.Lock()
	defer w.mu.Unlock()
	rec := w.rec
	rec.Run.Length = w.now
	rec.Series = slices.Clone(w.rec.Series)
	rec.Gaps = slices.Clone(w.rec.Gaps)
	rec.Events = slices.Clone(w.rec.Events)
	rec.Steps = slices.Concat(w.rec.Steps, w.runSteps)
	d := &Data{seconds: seconds{Rec: &rec}, Load: w.load.over(&w.runs), Oldest: w.forgot, Live: true, looks: slices.Clone(w.counted)}
	if w.access != nil {
		d.routeLooks, d.lateLog = w.access.snapshot()
	}
	return d
}

// Minute returns the last stretch of the window as a run of its own, whose clock
// begins where the stretch does, and that beginning. logged is false when access logs
// were not read whole meanwhile.
func (w *Window) Minute(long time.Duration) (_ *kasoku.Recording, from time.Duration, logged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from = max(w.now-long, 0)
	rec := kasoku.Recording{Run: w.rec.Run, Settings: w.rec.Settings}
	rec.Run.Started = rec.Run.Started.Add(from)
	rec.Run.Length = w.now - from
	rec.Run.State = kasoku.Finished
	for i := range w.rec.Series {
		s := w.rec.Series[i]
		points := s.Within(kasoku.Interval{From: from, To: w.now + 1})
		if len(points) == 0 {
			continue
		}
		s.Points = slices.Clone(points)
		for j := range s.Points {
			s.Points[j].At -= from
		}
		rec.Series = append(rec.Series, s)
	}
	slices.SortFunc(rec.Series, func(a, b kasoku.Series) int { return compareKeys(a.Key, b.Key) })
	rec.Queries = sum(w.counted, int(from/time.Second), int(w.now/time.Second))
	if w.access != nil {
		rec.Endpoints, logged = w.access.endpoints(from)
	}
	return &rec, from, logged
}

func compareKeys(a, b kasoku.Key) int {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Instance, b.Instance))
}
