package encode

import "github.com/kasoku/kasoku"

// A Trace is what the kernel showed of the service's processes.
type Trace struct {
	Host       string           `json:"host"`
	From       float64          `json:"from_s"`
	To         float64          `json:"to_s"`
	Members    []string         `json:"members"`
	Attach     float64          `json:"attach_s"`
	CPU        float64          `json:"cpu_s"`
	Events     uint64           `json:"events"`
	Lost       uint64           `json:"lost"`
	Notes      []string         `json:"notes"` // what was not covered
	Refused    string           `json:"refused,omitempty"`
	Statements TraceCounts      `json:"counts"`
	Endpoints  []TracedEndpoint `json:"endpoints"`
	Calls      []TracedCall     `json:"calls"`
	Externals  []TracedExternal `json:"externals"`
	Syncs      []TracedSync     `json:"syncs"`
}

// TraceCounts are how many of what a trace saw.
type TraceCounts struct {
	Requests   uint64 `json:"requests"`
	Unanswered uint64 `json:"unanswered"`
	Mixed      uint64 `json:"mixed"`
	Statements uint64 `json:"statements"`
	Tied       uint64 `json:"tied"`
	Partial    uint64 `json:"partial"`
	Outside    uint64 `json:"outside"`
	Unresolved uint64 `json:"unresolved"`
	Setup      uint64 `json:"setup"`
	After      uint64 `json:"after"`
}

// A TracedEndpoint is what the requests of an endpoint did while they were watched.
type TracedEndpoint struct {
	Method   string  `json:"method"`
	Route    string  `json:"route"`
	Requests uint64  `json:"requests"`
	Time     float64 `json:"time_s"`
	Database float64 `json:"database_s"`
	PoolWait float64 `json:"pool_wait_s"`
	Waits    uint64  `json:"waits"`
	Idle     float64 `json:"transaction_idle_s"`

	Programs []TracedProgram `json:"programs"`
}

// A TracedProgram is one that the requests of an endpoint started, or what they started did.
type TracedProgram struct {
	Name   string `json:"name"`
	With   uint64 `json:"with_any"`
	Starts uint64 `json:"starts"`
}

// A TracedCall is a class of statements of an endpoint, or of no request.
type TracedCall struct {
	Method      string  `json:"method"`
	Route       string  `json:"route"`
	QueryID     string  `json:"query_id"`
	Fingerprint string  `json:"fingerprint"`
	Requests    uint64  `json:"requests"`
	With        uint64  `json:"with_any"`
	Calls       uint64  `json:"calls"`
	PerRequest  float64 `json:"per_request"`
	Least       uint64  `json:"least"`
	Most        uint64  `json:"most"`
	Time        float64 `json:"time_s"`
}

// A TracedExternal is what the requests of an endpoint asked of another service.
type TracedExternal struct {
	Method   string  `json:"method"`
	Route    string  `json:"route"`
	To       string  `json:"called"`
	Requests uint64  `json:"requests"`
	Calls    uint64  `json:"calls"`
	Time     float64 `json:"time_s"`
	Held     uint64  `json:"held"`
	HeldTime float64 `json:"held_time_s"`

	Locked     uint64  `json:"locked"` // of held, with rows locked
	LockedTime float64 `json:"locked_time_s"`
	Locks      string  `json:"locks,omitempty"` // query id of a statement that locked them
}

// A TracedSync is a file that a member wrote to its disk.
type TracedSync struct {
	Member string  `json:"member"`
	File   string  `json:"file"`
	Count  uint64  `json:"count"`
	Time   float64 `json:"time_s"`
	Most   float64 `json:"max_s"`
}

func newTrace(t *kasoku.Trace) Trace {
	return Trace{
		t.Host, t.Interval.From.Seconds(), t.Interval.To.Seconds(), full(t.Members), t.Attach.Seconds(),
		t.CPU.Seconds(), t.Events,
		t.Lost, full(t.Notes), t.Refused, TraceCounts(t.Counts),
		list(t.Endpoints, func(e *kasoku.TracedEndpoint) TracedEndpoint {
			return TracedEndpoint{e.Method, e.Route, e.Requests, e.Time.Seconds(), e.Database.Seconds(),
				e.PoolWait.Seconds(), e.Waits, e.Idle.Seconds(),
				list(e.Programs, func(p *kasoku.TracedProgram) TracedProgram { return TracedProgram(*p) })}
		}),
		list(t.Calls, func(c *kasoku.TracedCall) TracedCall {
			return TracedCall{c.Method, c.Route, c.QueryID, c.Fingerprint, c.Requests, c.With, c.Calls,
				rounded(c.PerRequest()), c.Least,
				c.Most, c.Time.Seconds()}
		}),
		list(t.Externals, func(x *kasoku.TracedExternal) TracedExternal {
			return TracedExternal{x.Method, x.Route, x.To, x.Requests, x.Calls, x.Time.Seconds(), x.Held,
				x.HeldTime.Seconds(), x.Locked, x.LockedTime.Seconds(), x.Locks}
		}),
		list(t.Syncs, func(s *kasoku.TracedSync) TracedSync {
			return TracedSync{s.Member, s.File, s.Count, s.Time.Seconds(), s.Most.Seconds()}
		}),
	}
}
