package attack

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/logsize"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// clockSteps are by how much the wall clock is off, one after another, in mid-recording.
var clockSteps = map[string][]time.Duration{
	"forward":        {0, time.Hour},
	"back":           {0, -time.Hour},
	"forward, back":  {0, time.Hour, 0},
	"back, forward":  {0, -time.Hour, 0},
	"again and back": {0, time.Hour, 2 * time.Hour, -3 * time.Hour},
}

// TestClockSteps: the wall clock of a recording is set by hours, by a clock that this
// test hands in; that of the host stays. Requests that say the time of the set clock are
// all in the run, nothing is before its beginning or after its end, each step is an
// event, and what was changed on the database is put back.
func TestClockSteps(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	st := w.addStore(sandboxtest.MariaDB)
	names := sorted(clockSteps)
	if !whole() {
		names = []string{"forward, back"}
	}
	for _, name := range names {
		w.unchanged("clock "+name, func() { w.stepped(st, name, clockSteps[name]) })
		w.forget("stepped.kasoku")
	}
}

func (w *world) stepped(st *dbServer, name string, steps []time.Duration) {
	w.Helper()
	const each = 20 // requests
	var off atomic.Int64
	wall := func(at time.Time) time.Time { return at.Add(time.Duration(off.Load())) }
	log := w.write("stepped.log", "")
	o := record.Options{
		Path:     w.path("stepped.kasoku"),
		Interval: 100 * time.Millisecond,
		Course:   record.Course{For: 300 * time.Millisecond},
		Database: record.Database{MySQL: st.dsn, SlowLog: true, Digests: true,
			Guard: &record.Guard{Dir: w.dir + "/state",
				Program: command.Spec{Path: program, Args: []string{"guard"}, Env: w.env()}}},
		Sources: record.Sources{AccessLog: log},
		Wall:    wall,
	}
	o.Prepare = func(context.Context, record.Watch) error {
		for _, step := range steps {
			off.Store(int64(step))
			appendTo(w, log, strings.Repeat(accessLine(wall(time.Now()), "/a"), each))
			info, err := os.Stat(log)
			if err != nil {
				return err
			}
			// Both: a source that answers late says how long the log is now, of a tick that
			// compared the clocks before this step. A step that is taken back before the next
			// tick cannot be seen.
			w.lastOf(o.Path, logsize.Name, logsize.Size, func(v float64) bool { return v == float64(info.Size()) })
			w.lastOf(o.Path, observe.SelfName, observe.SelfClockDrift, func(v float64) bool {
				return math.Abs(v-step.Seconds()) < 1
			})
		}
		return nil
	}
	began := time.Now()
	res, err := record.Record(w.Context(), o)
	took := time.Since(began)
	if err != nil {
		w.Fatal(err)
	}
	rec := res.Recording
	var requests uint64
	for _, e := range rec.Endpoints {
		requests += e.Count
	}
	if want := uint64(each * len(steps)); requests != want {
		w.Errorf("%s: %d requests of %d: %+v", name, requests, want, rec.Logs)
	}
	if n := countEvents(rec, "clock"); n != len(steps)-1 {
		w.Errorf("%s: %d events say that the clock was set, want %d", name, n, len(steps)-1)
	}
	w.within(name, rec, took)
	for _, c := range rec.Changes {
		if !c.Restored {
			w.Errorf("%s: %+v", name, c)
		}
	}
}

// lastOf waits until the last sample of a series in a run file that is written has a
// value that is wanted.
func (w *world) lastOf(path, source, name string, wanted func(float64) bool) {
	w.Helper()
	w.seriesOf(path, func(s kasoku.Series) bool {
		return s.Key.Source == source && s.Key.Name == name && wanted(s.Points[len(s.Points)-1].Value)
	})
}

// seriesOf waits until a run file that is written has a series that is wanted.
func (w *world) seriesOf(path string, wanted func(kasoku.Series) bool) {
	w.Helper()
	if !eventually(func() bool {
		rec, err := store.Open(path)
		return err == nil && slices.ContainsFunc(rec.Series, wanted)
	}) {
		w.Fatalf("%s does not come to have the samples", path)
	}
}

func countEvents(rec *kasoku.Recording, kind string) (n int) {
	for _, e := range rec.Events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// within fails when something of a run is before its beginning, after the recorder's end,
// or goes back in time.
func (w *world) within(name string, rec *kasoku.Recording, end time.Duration) {
	w.Helper()
	if rec.Run.Length <= 0 || rec.Run.Length > 2*patience {
		w.Errorf("%s: the run took %s", name, rec.Run.Length)
	}
	for _, s := range rec.Series {
		last := time.Duration(0)
		for _, p := range s.Points {
			if p.At < last || p.At > end {
				w.Errorf("%s: %v has a sample at %s after one at %s", name, s.Key, p.At, last)
				break
			}
			last = p.At
		}
	}
	for _, e := range rec.Events {
		if e.At < 0 || e.At > end {
			w.Errorf("%s: event %q at %s", name, e.Text, e.At)
		}
	}
	for _, e := range rec.Endpoints {
		if e.First < 0 || e.Last < e.First || e.Last > end {
			w.Errorf("%s: requests from %s to %s", name, e.First, e.Last)
		}
		for second := range e.Seconds {
			if second < 0 || time.Duration(second)*time.Second > end {
				w.Errorf("%s: requests in second %d", name, second)
			}
		}
	}
	for _, g := range rec.Gaps {
		if g.Interval.From < 0 || g.Interval.To < g.Interval.From || g.Interval.To > end {
			w.Errorf("%s: gap %+v", name, g)
		}
	}
}
