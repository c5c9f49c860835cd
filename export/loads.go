package export

import (
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// loadSettles is how long after its end a second of a load is reported: what is counted
// comes once a second, and slow answers in later parts.
const loadSettles = 3 * time.Second

// mostTargets is how many targets are reported one by one; more are in the sum alone.
const mostTargets = 1000

// liveLoads reports the loads that run beside a live export, each second once.
type liveLoads struct {
	take     func() []kasoku.LoadSecond
	settled  func(before int) ([]kasoku.LoadSecond, int)
	pending  map[int]map[string]*kasoku.LoadSecond // by second and target
	targets  map[string]bool                       // that are reported
	looked   time.Duration
	reported int    // seconds before it were reported
	late     uint64 // answers that came after that
}

func newLiveLoads(take func() []kasoku.LoadSecond, settled func(before int) ([]kasoku.LoadSecond, int)) *liveLoads {
	return &liveLoads{take: take, settled: settled, pending: map[int]map[string]*kasoku.LoadSecond{},
		targets: map[string]bool{}, looked: -time.Second}
}

// add takes what was counted since.
func (l *liveLoads) add() {
	if l.take == nil {
		return
	}
	seconds := l.take()
	for i := range seconds {
		s := &seconds[i]
		switch {
		case s.Second < 0:
			continue // before the export
		case s.Second < l.reported:
			t := kasoku.NewTally()
			t.Add(s)
			l.late += t.Success + t.Failed()
			continue
		}
		l.count(s)
	}
}

// addRecorded takes the seconds before that one of loads whose run is recorded, and
// returns before which all are there.
func (l *liveLoads) addRecorded(before int) int {
	if l.settled == nil {
		return before
	}
	seconds, before := l.settled(before)
	for i := range seconds {
		l.count(&seconds[i])
	}
	return before
}

// count adds to what is reported of a second.
func (l *liveLoads) count(s *kasoku.LoadSecond) {
	if l.pending[s.Second] == nil {
		l.pending[s.Second] = map[string]*kasoku.LoadSecond{}
	}
	if len(l.targets) < mostTargets {
		l.targets[s.Target] = true
	}
	of := l.pending[s.Second]
	if of[s.Target] == nil {
		of[s.Target] = &kasoku.LoadSecond{}
	}
	of[s.Target].Add(s)
}

// append appends the values of the seconds before that one: of all targets, and of
// each once there were several.
func (l *liveLoads) append(dst []Value, host string, before int) []Value {
	l.reported = max(l.reported, before)
	for _, n := range slices.Sorted(maps.Keys(l.pending)) {
		if n >= before {
			break
		}
		of := l.pending[n]
		delete(l.pending, n)
		appendValues := func(entity string, s *kasoku.LoadSecond) {
			valuesOfLoad(s, func(name, unit string, v float64) {
				dst = append(dst, Value{Key: kasoku.Key{Host: host, Source: SourceLoad, Name: name, Instance: entity},
					Unit: unit, At: endOf(n), Value: v})
			})
		}
		whole := &kasoku.LoadSecond{}
		for _, target := range slices.Sorted(maps.Keys(of)) {
			whole.Add(of[target])
		}
		appendValues("", whole)
		if len(l.targets) == 1 {
			continue
		}
		for _, target := range slices.Sorted(maps.Keys(of)) {
			if l.targets[target] {
				appendValues(target, of[target])
			}
		}
	}
	return dst
}

// valuesOfLoad passes on the figures of a second of a load.
func valuesOfLoad(s *kasoku.LoadSecond, add func(name, unit string, v float64)) {
	t := kasoku.NewTally()
	t.Add(s)
	add("requests", "count/s", float64(s.Asked))
	add("success", "count/s", float64(t.Success))
	add("failed", "count/s", float64(t.Failed()))
	add("bytes_in", "bytes/s", float64(s.BytesIn))
	add("bytes_out", "bytes/s", float64(s.BytesOut))
	addLatency(add, s.Latency)
}

// addLatency adds percentiles; a second without an answer has none.
func addLatency(add func(name, unit string, v float64), h *histogram.Histogram) {
	if h == nil || h.Count() == 0 {
		return
	}
	for _, q := range []struct {
		name  string
		share float64
	}{{"latency.p50", 0.5}, {"latency.p90", 0.9}, {"latency.p95", 0.95}, {"latency.p99", 0.99}} {
		add(q.name, "s", h.Quantile(q.share).Seconds())
	}
	add("latency.max", "s", h.Max().Seconds())
}
