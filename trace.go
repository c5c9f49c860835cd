package kasoku

import "time"

// FromTrace is the source of callers that are known from the system calls of the service's
// processes.
const FromTrace = "trace"

// A Trace is what the kernel showed of a service for some seconds of a run: which requests its
// processes answered, and which statements each of them ran.
type Trace struct {
	Host     string
	Interval Interval // that was watched; its seconds are those that the watching cost something in
	Members  []string // ids of the members whose calls were watched
	Attach   time.Duration
	CPU      time.Duration // of kasoku while it watched
	Events   uint64
	Lost     uint64   // events for which there was no room
	Notes    []string // what was not covered
	Refused  string   // why nothing was watched; empty when something was
	Counts   TraceCounts

	Endpoints []TracedEndpoint // the fields of the four are those of the run file, as JSON
	Calls     []TracedCall
	Externals []TracedExternal
	Syncs     []TracedSync
}

// TraceCounts are how many of what a trace saw.
type TraceCounts struct {
	Requests   uint64 // that began and were answered meanwhile
	Unanswered uint64 // whose connection was closed before
	Mixed      uint64 // of event loops, that were not alone: their statements are not known
	Statements uint64 // all
	Tied       uint64 // that are of the requests
	Partial    uint64 // of requests that began before, or were not answered
	Outside    uint64 // of no request: jobs
	Unresolved uint64 // of event loops, and of threads that are of no one request
	Setup      uint64 // that drivers send when they connect
	After      uint64 // of those tied, when the answer had begun
}

// A TracedEndpoint is what the requests of an endpoint did while they were watched.
type TracedEndpoint struct {
	Method   string        `json:"method"`
	Route    string        `json:"route"`
	Requests uint64        `json:"requests"`
	Time     time.Duration `json:"time_ns"`      // from reading a request to the beginning of its answer, of all
	Database time.Duration `json:"database_ns"`  // from sending a statement to the beginning of its answer, of all
	PoolWait time.Duration `json:"pool_wait_ns"` // in which requests at least waited for a connection that others used
	Waits    uint64        `json:"waits"`        // how often
	Idle     time.Duration `json:"idle_ns"`      // in which a transaction was open and its connection asked nothing

	Programs []TracedProgram `json:"programs,omitempty"`
}

// A TracedProgram is one that the requests of an endpoint started, or what they started did.
type TracedProgram struct {
	Name   string `json:"name"`     // without directories
	With   uint64 `json:"with_any"` // requests that started it
	Starts uint64 `json:"starts"`
}

// A TracedCall is a class of statements of an endpoint; of no request where Method is empty.
type TracedCall struct {
	Method      string        `json:"method"`
	Route       string        `json:"route"`
	QueryID     string        `json:"query_id"`    // as of the slow log's classes
	Fingerprint string        `json:"fingerprint"` // without values
	Requests    uint64        `json:"requests"`    // of the endpoint
	With        uint64        `json:"with_any"`    // of them, that ran any
	Calls       uint64        `json:"calls"`
	Seen        uint64        `json:"seen,omitempty"` // of the class in all, also where whose they are is not known
	Least       uint64        `json:"least"`          // in one request
	Most        uint64        `json:"most"`
	Time        time.Duration `json:"time_ns"`
	// Known are those of Calls whose values were seen, and Different how many of these differ within their
	// request, added up over requests: 1 of each where a request asks for the same again and again.
	Known     uint64 `json:"known,omitempty"`
	Different uint64 `json:"different,omitempty"`
}

// A TracedExternal is what the requests of an endpoint asked of another service.
type TracedExternal struct {
	Method   string        `json:"method"`
	Route    string        `json:"route"`
	To       string        `json:"called"`   // "GET rates.example/rates/:id"
	Requests uint64        `json:"requests"` // of the endpoint
	Calls    uint64        `json:"calls"`
	Time     time.Duration `json:"time_ns"`
	Held     uint64        `json:"held"` // calls while a transaction of the same request was open
	HeldTime time.Duration `json:"held_time_ns"`
	// Locked are those of Held before which the transaction ran a statement that locks rows; Locks is the
	// query id of such a statement.
	Locked     uint64        `json:"locked,omitempty"`
	LockedTime time.Duration `json:"locked_time_ns,omitempty"`
	Locks      string        `json:"locks,omitempty"`
}

// A TracedSync is a file that a member wrote to its disk.
type TracedSync struct {
	Member string        `json:"member"`
	File   string        `json:"file"`
	Count  uint64        `json:"count"`
	Time   time.Duration `json:"time_ns"`
	Most   time.Duration `json:"most_ns"` // of one
}

// Endpoint returns the endpoint as people write it; empty for statements of no request.
func (c *TracedCall) Endpoint() string {
	if c.Method == "" {
		return ""
	}
	return c.Method + " " + c.Route
}

// PerRequest returns how many statements of the class come for each request.
func (c *TracedCall) PerRequest() float64 {
	if c.Requests == 0 {
		return 0
	}
	return float64(c.Calls) / float64(c.Requests)
}
