package kasoku

import (
	"sort"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// A LoadSecond is what the generator counted of the requests to one target
// that were due in one second of the run. A request belongs to the second, and
// to the step, in which it was due, whenever it was answered.
type LoadSecond struct {
	Second            int    // of the run's clock
	Step              int    // Step.Number
	Target            string // "POST /users"
	Asked             uint64 // requests due
	Codes             map[int]uint64
	Expected          uint64            // answers with other codes than 200 to 399 that the load asked for, such as 404 of a search
	Errors            map[string]uint64 // by message; includes the status text of answers that are neither successes nor expected
	BytesIn, BytesOut uint64

	Latency   *histogram.Histogram // from the due time to the end of the answer
	SendDelay *histogram.Histogram // from the due time to the first byte sent: the generator's own lateness
	Service   *histogram.Histogram // from the send to the end of the answer
}

// Good returns how many requests were answered as they ought to be: with codes from 200 to 399, or as
// the load expected.
func (s *LoadSecond) Good() uint64 {
	good, _ := s.good()
	return good
}

// good also returns how many of them the load expected, which are no more than there are answers
// with other codes, whatever a load claims.
func (s *LoadSecond) good() (all, expected uint64) {
	var others uint64
	for code, n := range s.Codes {
		switch {
		case code >= 200 && code < 400:
			all += n
		case code != 0:
			others += n
		}
	}
	expected = min(s.Expected, others)
	return all + expected, expected
}

// Add adds what another part of the same second counted.
func (s *LoadSecond) Add(o *LoadSecond) {
	s.Asked += o.Asked
	s.Expected += o.Expected
	s.BytesIn += o.BytesIn
	s.BytesOut += o.BytesOut
	s.Codes, s.Errors = added(s.Codes, o.Codes), added(s.Errors, o.Errors)
	s.Latency, s.SendDelay, s.Service = merged(s.Latency, o.Latency), merged(s.SendDelay, o.SendDelay),
		merged(s.Service, o.Service)
}

// added adds the counts of from to those of to.
func added[K comparable](to, from map[K]uint64) map[K]uint64 {
	if to == nil && from != nil {
		to = make(map[K]uint64, len(from))
	}
	for k, n := range from {
		to[k] += n
	}
	return to
}

// merged adds from to to, which is made when there is none.
func merged(to, from *histogram.Histogram) *histogram.Histogram {
	if to == nil && from != nil {
		to = histogram.New()
	}
	to.Merge(from)
	return to
}

// A Tally is the sum of several LoadSeconds.
type Tally struct {
	Asked             uint64 // due
	Answered          uint64 // with any status code
	Success           uint64 // [LoadSecond.Good]
	Expected          uint64 // of them, with other codes than 200 to 399
	Refused           uint64 // 503 to bots, on purpose: no failures; known of a run that has an access log
	Codes             map[int]uint64
	Errors            map[string]uint64
	BytesIn, BytesOut uint64
	Latency           *histogram.Histogram
	SendDelay         *histogram.Histogram
	Service           *histogram.Histogram
}

// NewTally returns an empty tally.
func NewTally() *Tally {
	return &Tally{
		Codes: map[int]uint64{}, Errors: map[string]uint64{},
		Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New(),
	}
}

// Add adds a second to the tally.
func (t *Tally) Add(s *LoadSecond) {
	t.Asked += s.Asked
	t.BytesIn += s.BytesIn
	t.BytesOut += s.BytesOut
	for code, n := range s.Codes {
		t.Codes[code] += n
		if code != 0 {
			t.Answered += n
		}
	}
	good, expected := s.good()
	t.Success += good
	t.Expected += expected
	t.Errors = added(t.Errors, s.Errors)
	t.Latency.Merge(s.Latency)
	t.SendDelay.Merge(s.SendDelay)
	t.Service.Merge(s.Service)
}

// Merge adds another tally.
func (t *Tally) Merge(o *Tally) {
	t.Asked += o.Asked
	t.Answered += o.Answered
	t.Success += o.Success
	t.Expected += o.Expected
	t.Refused += o.Refused
	t.BytesIn += o.BytesIn
	t.BytesOut += o.BytesOut
	t.Codes, t.Errors = added(t.Codes, o.Codes), added(t.Errors, o.Errors)
	t.Latency.Merge(o.Latency)
	t.SendDelay.Merge(o.SendDelay)
	t.Service.Merge(o.Service)
}

// Failed returns how many requests failed, unanswered ones included, without those that were
// refused on purpose.
func (t *Tally) Failed() uint64 { return t.Asked - min(t.Success+t.Refused, t.Asked) }

// SuccessRatio returns the share of the requests due that did not fail, 1 when none was due.
func (t *Tally) SuccessRatio() float64 {
	if t.Asked == 0 {
		return 1
	}
	return float64(t.Asked-t.Failed()) / float64(t.Asked)
}

// TopErrors returns the error messages, the most frequent first.
func (t *Tally) TopErrors() []ErrorCount {
	out := make([]ErrorCount, 0, len(t.Errors))
	for m, n := range t.Errors {
		out = append(out, ErrorCount{m, n})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Count != out[j].Count {
			return out[i].Count > out[j].Count
		}
		return out[i].Message < out[j].Message
	})
	return out
}

// An ErrorCount is an error message and how often it came.
type ErrorCount struct {
	Message string
	Count   uint64
}

// LoadSummary describes the generator that made a run's load.
type LoadSummary struct {
	Engine       string // epollhttp, nethttp
	EngineWhy    string // why this engine ran
	Model        string // open loop, closed loop
	Targets      []string
	MaxInFlight  int           // the cap
	PeakInFlight int           // the most that were in flight at once
	CPU          time.Duration // of the generator's process over the load; includes the recorder's when they share it
	Wall         time.Duration
	PeakCores    float64       // the most CPU that one second of the load took, in cores
	Cores        int           // that the generator might use
	Pacing       string        // how due times were kept: precise, economical, timers; empty in a closed loop
	Shards       int           // threads that sent, each with its own connections; 0 where the engine has none
	Connections  uint64        // opened over the load; 0 when the engine does not know
	Resent       uint64        // requests sent again on a new connection, because the server had closed an idle one; none of it had gone out, or it was idempotent
	Redirected   uint64        // answers that were followed to another place
	Stopped      string        // why it ended early, empty when it did not
	StoppedAt    time.Duration // from the start to the stop, without the wait for answers after it; 0 when it did not
}
