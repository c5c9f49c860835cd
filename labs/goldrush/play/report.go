package play

import (
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/digger"
	"github.com/kasoku/kasoku/load/scenario"
)

// A reporter passes on what a client sends, second by second, in the form of a benchmark: so a
// recording has its requests by call and status, and how long each was answered after.
type reporter struct {
	sink  scenario.Sink
	begin time.Time

	second  int
	targets [goldrush.Calls]*kasoku.LoadSecond // of the second
	peak    int                                // requests in flight
}

func newReporter(sink scenario.Sink, begin time.Time) *reporter {
	return &reporter{sink: sink, begin: begin}
}

// note counts an answer in the present second.
func (r *reporter) note(s *digger.Sent, status int, now time.Duration, inFlight int) {
	if r.sink == nil {
		return
	}
	r.peak = max(r.peak, inFlight)
	at := r.targets[s.Request.Call]
	if at == nil {
		method, path := s.Request.Call.Route()
		at = &kasoku.LoadSecond{Second: r.second, Step: scenario.Load.Number(), Target: method + " " + path,
			Codes: map[int]uint64{}, Errors: map[string]uint64{}, Latency: histogram.New(), SendDelay: histogram.New(),
			Service: histogram.New()}
		r.targets[s.Request.Call] = at
	}
	at.Asked++
	at.Codes[status]++
	switch {
	case s.Request.Call.Expects(status):
		at.Expected++
	case status == 0:
		at.Errors["no answer"]++
	case status >= http.StatusBadRequest:
		at.Errors[strconv.Itoa(status)+" "+http.StatusText(status)]++
	}
	at.Latency.Record(now - s.At)
	at.Service.Record(now - s.At)
	at.SendDelay.Record(0)
}

// flush passes on what was counted until now; result is nil before the end.
func (r *reporter) flush(now time.Duration, result *scenario.Result) {
	if r.sink == nil {
		return
	}
	var seconds []kasoku.LoadSecond
	for c, s := range r.targets {
		if s != nil {
			seconds = append(seconds, *s)
		}
		r.targets[c] = nil
	}
	r.second = int(now / time.Second)
	r.sink(&scenario.Report{
		Start: r.begin, Seconds: seconds, Result: result,
		Phases: []scenario.Span{{Phase: scenario.Load, Interval: kasoku.Interval{To: now}, Over: result != nil}},
		Summary: kasoku.LoadSummary{Engine: "goldrush", EngineWhy: "the game's own client", Model: "closed loop",
			PeakInFlight: r.peak, Wall: now},
	})
}
