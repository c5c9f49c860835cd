package kasoku

import "time"

// A CallerClass defines how sure it is that an endpoint runs a class of statements.
type CallerClass string

// The classes of callers, from the surest on.
const (
	CallerConfirmed CallerClass = "confirmed" // counted: by a trace, comments in the statements or a probe
	CallerHigh      CallerClass = "high"      // overlap in time, much of it with no other endpoint
	CallerPossible  CallerClass = "possible"  // overlap in time
	CallerGroup     CallerClass = "group"     // of endpoints that are always called together
)

// Where callers are known from.
const (
	FromComments = "comments"
	FromProbe    = "probe"
	FromOverlap  = "overlap"
)

// A Caller says that requests of an endpoint run statements of a class.
type Caller struct {
	Host       string // of the database
	QueryID    string
	Method     string
	Route      string
	With       []string    // the other endpoints of a group, "GET /me"
	Class      CallerClass // how sure it is
	Source     string      // FromTrace, FromComments, FromProbe or FromOverlap
	PerRequest float64     // statements for each request
	Least      float64     // in one request; by overlap the bounds of the estimate
	Most       float64
	Requests   uint64  // of the endpoint that were looked at
	Calls      float64 // statements that are the endpoint's
	Share      float64 // of all statements of the class, 0..1
	Likelihood float64 // log likelihood ratio against the statements being others'; 0 where they were counted
	Decisive   float64 // part of Calls that are hardly anyone else's, 0..1
	Loop       bool    // they come one after another on one connection

	// List is the class of statements whose rows these are looked up for, one by
	// one; empty when none was found. Slope is how many lookups come for each row,
	// Correlation that of rows and lookups over requests.
	List        string
	Slope       float64
	Correlation float64

	Note string // why it is no surer
}

// Endpoint returns the endpoint as people write it, "GET /users/:id".
func (c *Caller) Endpoint() string { return c.Method + " " + c.Route }

// A Join defines how well it is known which endpoint runs which statements.
type Join struct {
	Host        string        // of the database
	Source      string        // of the statements' times, "slow log's table", "slow log, read every 5 ms"
	Resolution  time.Duration // of these times
	Interval    Interval      // that was looked at
	Requests    uint64
	Statements  uint64
	Questions   uint64  // that the server counted meanwhile; 0 when not known
	Background  float64 // statements that no request explains
	Connections uint64  // of the database that were seen
	Busy        float64 // of them on average
	Saturated   bool    // all connections of a pool in use: successive statements on one are of different requests
	Refused     string  // why there is no join by overlap; empty when there is one
	Checks      []JoinCheck
	Loops       []QueryLoop
	CPU         time.Duration // that it took
}

// A JoinCheck is one precondition of a join.
type JoinCheck struct {
	Name  string // "logged statements", "requests given up", "clocks", "requests", "pool"
	Holds bool
	Text  string // what was measured and what it should be
}

// A QueryLoop is a few classes of statements that repeat one right after another on one
// connection: a loop in a program, whoever runs it.
type QueryLoop struct {
	QueryIDs []string // of one turn
	Runs     uint64   // how often the loop ran, each time of several turns
	Calls    uint64   // statements in all runs
	Longest  uint64   // statements in the longest run
	// Known are, of each of QueryIDs, the statements whose values are known, and Different how many of these
	// differ within their run, added up over runs; nil in older run files.
	Known, Different []uint64
}

// A LockWait is a class of waits for locks of rows: whose statement waited for
// whose transaction.
type LockWait struct {
	Host        string
	Table       string
	Index       string
	Waiting     string // fingerprint of the statement that waits
	WaitingID   string // id of its class
	Blocking    string // fingerprint of the last statement of the transaction that holds the lock; empty when it is idle
	BlockingID  string
	Samples     uint64        // of one a second, in which it was seen
	Waiters     uint64        // most at once
	Longest     time.Duration // of one wait
	Oldest      time.Duration // age of the blocking transaction, the greatest
	First, Last time.Duration
}

// A Deadlock is the last one that the server reported.
type Deadlock struct {
	Host       string
	At         time.Duration
	Table      string
	Statements []string // fingerprints, of the one that was rolled back last
	Indexes    []string
	Count      uint64 // deadlocks during the run, 0 when the server does not count them
}
