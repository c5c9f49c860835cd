package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/record/trigger"
)

// request is a line of an access log: the request ended now and took so long.
func request(method, path string, took time.Duration) string {
	return fmt.Sprintf("time:%s\tmethod:%s\turi:%s\tstatus:200\tsize:3\treqtime:%.3f\n", time.Now().Format(time.RFC3339Nano), method, path, took.Seconds())
}

// awaiting are options of a run that begins with POST /initialize.
func awaiting(t testing.TB) Options {
	t.Helper()
	o := quick(t)
	o.AccessLog, o.On = filepath.Join(t.TempDir(), "access.log"), phases.Initialize
	if err := add(o.AccessLog, request("GET", "/before", time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	return o
}

// once lets a step of the progress act one time.
func once(phase string, do func() error) func(t testing.TB) func(Progress) {
	return func(t testing.TB) func(Progress) {
		done := false
		return func(p Progress) {
			if p.Phase != phase || done || p.Elapsed < 300*time.Millisecond {
				return
			}
			done = true
			if err := do(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAwait: the run begins before the awaited request did, with all samples and
// log lines from there on, and without what was long before.
func TestAwait(t *testing.T) {
	o := awaiting(t)
	o.OnProgress = once(PhaseWait, func() error {
		// Requests that are not it, then it, which took 250 ms.
		return add(o.AccessLog, request("GET", "/initialize", 0)+request("GET", "/page", 0)+"garbage\n"+
			request("POST", "/initialize?lang=go", 250*time.Millisecond)+request("GET", "/after", 0))
	})(t)
	rec := mustRecord(t, o)
	if rec.Run.State != kasoku.Finished || rec.Run.Length < o.For+250*time.Millisecond || rec.Run.Length > 20*time.Second {
		t.Errorf("%s, %s long, waited for %s after the request", rec.Run.State, rec.Run.Length, o.For)
	}
	if n := requests(rec); n != 4 {
		t.Errorf("%d requests: %+v", n, rec.Endpoints)
	}
	var trigger time.Duration
	for _, e := range rec.Events {
		if e.Kind == "trigger" {
			trigger = e.At
			if !strings.HasPrefix(e.Text, "POST /initialize in ") || e.Host == "" {
				t.Errorf("event %+v", e)
			}
		}
	}
	for _, e := range rec.Endpoints {
		if e.Method == "POST" && (e.Last-e.Latency.Max()-trigger).Abs() > 100*time.Millisecond {
			t.Errorf("the request ended at %s after %s, the event is at %s", e.Last, e.Latency.Max(), trigger)
		}
	}
	if len(rec.Phases) == 0 || !slices.ContainsFunc(rec.Phases, func(p kasoku.Phase) bool { return p.Kind == kasoku.PhaseInitialize && p.Interval.Contains(trigger) }) {
		t.Errorf("phases %+v, the request began at %s", rec.Phases, trigger)
	}
	ticksFrom(t, rec, o.Interval)
}

// ticksFrom wants a sample for each interval of the run, from its beginning on, or a gap:
// a machine that is busy may not let the recorder run for a second.
func ticksFrom(t testing.TB, rec *kasoku.Recording, interval time.Duration) {
	t.Helper()
	s := rec.Find(kasoku.Key{Source: "self", Name: "rss"})
	if s == nil || len(s.Points) == 0 {
		t.Fatal("nothing was sampled")
	}
	if first := s.Points[0].At; first > 10*interval {
		t.Errorf("the first sample is at %s", first)
	}
	last := s.Points[0].At
	for _, p := range s.Points {
		if p.At-last > 10*interval && !hasGap(rec, last, p.At, interval) {
			t.Errorf("no sample between %s and %s, and no gap: %+v", last, p.At, rec.Gaps)
		}
		last = p.At
	}
}

// hasGap reports whether a gap of the recorder itself reaches from one moment to another,
// but for an interval at both ends.
func hasGap(rec *kasoku.Recording, from, to, interval time.Duration) bool {
	return slices.ContainsFunc(rec.Gaps, func(g kasoku.Gap) bool {
		return g.Source == "self" && g.Interval.From <= from+2*interval && g.Interval.To >= to-2*interval
	})
}

// TestAwaitLong: of a long wait only a moment before the request is kept.
func TestAwaitLong(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	o := awaiting(t)
	o.Interval = 200 * time.Millisecond
	waited := time.Now()
	done := false
	o.OnProgress = func(p Progress) {
		if p.Phase == PhaseWait && p.Elapsed > 4500*time.Millisecond && !done {
			done = true
			if err := add(o.AccessLog, request("POST", "/initialize", 0)); err != nil {
				t.Error(err)
			}
		}
	}
	rec := mustRecord(t, o)
	if before := rec.Run.Started.Sub(waited); before < time.Second || rec.Run.Length > time.Since(waited)-before+time.Second {
		t.Errorf("the run began %s after kasoku did and is %s long", before, rec.Run.Length)
	}
	const lead = 3 * time.Second // before the request
	if rec.Run.Length < lead {
		t.Errorf("the run is %s long, with less than %s before the request", rec.Run.Length, lead)
	}
	if n := requests(rec); n != 1 {
		t.Errorf("%d requests", n)
	}
	ticksFrom(t, rec, o.Interval)
}

// TestAwaitStopped: a run that is stopped while it waits leaves nothing.
func TestAwaitStopped(t *testing.T) {
	o := awaiting(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	o.OnProgress = once(PhaseWait, func() error { cancel(errors.New("interrupt")); return nil })(t)
	res, err := Record(ctx, o)
	if res != nil || err == nil || err.Error() != "stopped before the recording began: interrupt" {
		t.Errorf("%v, %v", res, err)
	}
	left, err := filepath.Glob(o.Path + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestAwaitAgain: the second run begins with a request that came before it began
// to watch, and says so.
func TestAwaitAgain(t *testing.T) {
	o := awaiting(t)
	o.OnProgress = once(PhaseWait, func() error { return add(o.AccessLog, request("POST", "/initialize", 0)) })(t)
	first, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := add(o.AccessLog, request("POST", "/initialize", time.Second)); err != nil {
		t.Fatal(err)
	}
	o.After, o.OnProgress, o.Path = first, nil, o.Path+".2"
	second := mustRecord(t, o)
	if w := warned(second, "late-begin"); !strings.Contains(w.Text, "after POST /initialize") {
		t.Errorf("warnings %+v", second.Warnings)
	}
	if w := warned(first.Recording, "late-begin"); w.Text != "" {
		t.Errorf("the first run: %q", w.Text)
	}
}

// TestAwaitUnknownFormat: a log that is not understood can never begin a run.
func TestAwaitUnknownFormat(t *testing.T) {
	o := awaiting(t)
	if err := os.WriteFile(o.AccessLog, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.OnProgress = once(PhaseWait, func() error { return add(o.AccessLog, strings.Repeat("who knows\n", 10)) })(t)
	_, err := Record(t.Context(), o)
	var unknown *accessformat.UnknownFormatError
	if !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

// TestUntilIdle: the run ends when requests do not come any more, and not before
// the first one.
func TestUntilIdle(t *testing.T) {
	o := quick(t)
	o.For, o.UntilIdle, o.AccessLog = 0, 600*time.Millisecond, filepath.Join(t.TempDir(), "access.log")
	var last time.Time
	count := 0
	o.OnProgress = func(p Progress) {
		if p.Phase == PhaseRecord && p.Elapsed > 800*time.Millisecond && count < 5 {
			count++
			last = time.Now()
			if err := add(o.AccessLog, ltsv("/a")); err != nil {
				t.Error(err)
			}
		}
	}
	rec := mustRecord(t, o)
	ended := rec.Run.Started.Add(rec.Run.Length)
	if rec.Run.State != kasoku.Finished || count != 5 || ended.Sub(last) < o.UntilIdle-trigger.LookEvery {
		t.Errorf("%s after %d requests, %s after the last one", rec.Run.State, count, ended.Sub(last))
	}
	if n := requests(rec); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestUntilIdleStopped: that it is to end by itself makes a stop an early one.
func TestUntilIdleStopped(t *testing.T) {
	o := quick(t)
	o.For, o.UntilIdle, o.AccessLog = 0, time.Hour, filepath.Join(t.TempDir(), "access.log")
	ctx, cancel := context.WithCancelCause(t.Context())
	o.OnProgress = once(PhaseRecord, func() error { cancel(errors.New("interrupt")); return nil })(t)
	res, err := Record(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if r := res.Recording.Run; r.State != kasoku.Incomplete || r.StopReason != "interrupt" {
		t.Errorf("%s, %q", r.State, r.StopReason)
	}
}

// TestObserversOff: nothing but the host is asked while the run is made.
func TestObserversOff(t *testing.T) {
	o := quick(t)
	o.Observers, o.MySQL, o.SlowLog, o.PIDs = kasoku.ObserversOff, "missing@tcp(127.0.0.1:1)/x", true, []int{1}
	o.AccessLog = filepath.Join(t.TempDir(), "access.log")
	o.Prepare = during(func() error { return add(o.AccessLog, ltsv("/a")) })
	rec := mustRecord(t, o)
	if rec.Run.Observers != kasoku.ObserversOff || requests(rec) != 1 {
		t.Errorf("observers %q, %d requests", rec.Run.Observers, requests(rec))
	}
	for _, s := range rec.Series {
		if !slices.Contains([]string{"host", "self", "log"}, s.Key.Source) {
			t.Errorf("series %+v", s.Key)
			break
		}
	}
	if rec := mustRecord(t, quick(t)); rec.Run.Observers != kasoku.ObserversOn {
		t.Errorf("observers %q", rec.Run.Observers)
	}
}

// TestSeveralLogs: what several logs of a kind hold is added up.
func TestSeveralLogs(t *testing.T) {
	o := quick(t)
	dir := t.TempDir()
	o.AccessLog, o.MoreLogs.Access = filepath.Join(dir, "a.log"), []string{filepath.Join(dir, "b.log")}
	o.MoreLogs.App, o.MoreLogs.Error = []string{filepath.Join(dir, "c.log")}, []string{filepath.Join(dir, "d.log")}
	o.Prepare = during(func() error {
		return errors.Join(add(filepath.Join(dir, "a.log"), ltsv("/a")+ltsv("/both")), add(filepath.Join(dir, "b.log"), ltsv("/both")),
			add(filepath.Join(dir, "c.log"), "ERROR one\n"), add(filepath.Join(dir, "d.log"), "ERROR two\n"))
	})
	rec := mustRecord(t, o)
	counts := map[string]uint64{}
	for _, e := range rec.Endpoints {
		counts[e.Route] += e.Count
	}
	if len(rec.Logs) != 4 || len(rec.Messages) != 2 || counts["/a"] != 1 || counts["/both"] != 2 || len(rec.Endpoints) != 2 {
		t.Errorf("%d logs, %d messages, endpoints %v", len(rec.Logs), len(rec.Messages), counts)
	}
}

func TestValidateEnd(t *testing.T) {
	f := func(want string, change func(*Options)) {
		t.Helper()
		o := Options{Path: "x.kasoku"}
		change(&o)
		err := o.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	on := phases.Initialize
	f("", func(o *Options) { o.UntilIdle, o.AccessLog = time.Second, "a" })
	f("", func(o *Options) { o.On, o.MoreLogs.Access, o.For = on, []string{"a"}, time.Second })
	f("not both", func(o *Options) { o.UntilIdle, o.For, o.AccessLog = 1, 1, "a" })
	f("ends with it", func(o *Options) { o.UntilIdle, o.Command, o.AccessLog = 1, []string{"ab"}, "a" })
	f("in an access log", func(o *Options) { o.UntilIdle = 1 })
	f("POST /initialize is waited for in an access log", func(o *Options) { o.On = on })
	f("neither", func(o *Options) { o.On, o.Command, o.AccessLog = on, []string{"ab"}, "a" })
	f("count rows", func(o *Options) { o.On, o.CountRows, o.MySQL, o.AccessLog = on, []string{"t"}, "x", "a" })
	f("observers", func(o *Options) { o.Observers = "some" })
	f("score: JSON path", func(o *Options) { o.Score.JSON = "$" })
	f("pass: error parsing", func(o *Options) { o.Pass.Regexp = "(" })
}
