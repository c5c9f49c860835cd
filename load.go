package kasoku

import (
	"sort"
	"time"

	"github.com/kasoku/kasoku/histogram"
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
	Errors            map[string]uint64 // by message; includes the status text of answers that are not successes
	BytesIn, BytesOut uint64

	Latency   *histogram.Histogram // from the due time to the end of the answer
	SendDelay *histogram.Histogram // from the due time to the first byte sent: the generator's own lateness
	Service   *histogram.Histogram // from the send to the end of the answer
}

// A Tally is the sum of several LoadSeconds.
type Tally struct {
	Asked             uint64 // due
	Answered          uint64 // with any status code
	Success           uint64 // 200 <= code < 400
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
		if code >= 200 && code < 400 {
			t.Success += n
		}
	}
	for msg, n := range s.Errors {
		t.Errors[msg] += n
	}
	t.Latency.Merge(s.Latency)
	t.SendDelay.Merge(s.SendDelay)
	t.Service.Merge(s.Service)
}

// Failed returns how many requests did not succeed, unanswered ones included.
func (t *Tally) Failed() uint64 { return t.Asked - min(t.Success, t.Asked) }

// SuccessRatio returns successes over requests due, 1 when none was due.
func (t *Tally) SuccessRatio() float64 {
	if t.Asked == 0 {
		return 1
	}
	return float64(t.Success) / float64(t.Asked)
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
	PeakCores    float64 // the most CPU that one second of the load took, in cores
	Cores        int     // that the generator might use
	Pacing       string  // how due times were kept: precise, economical, timers; empty in a closed loop
	Shards       int     // threads that sent, each with its own connections; 0 where the engine has none
	Connections  uint64  // opened over the load; 0 when the engine does not know
	Resent       uint64  // requests sent again on a new connection, because the server had closed an idle one; only idempotent ones are
	Redirected   uint64  // answers that were followed to another place
	Stopped      string  // why it ended early, empty when it did not
}
