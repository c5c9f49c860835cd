package trace

import "time"

// A Result is what was seen in a stretch of time.
type Result struct {
	Endpoints []Endpoint
	Classes   []Class
	Syncs     []Sync
	Counts    Counts
	Uncovered []Uncovered
}

// Counts are how many of what there were.
type Counts struct {
	Requests   uint64 // that began and were answered meanwhile
	Unanswered uint64 // whose connection was closed before
	Mixed      uint64 // of event loops, that were not alone: their statements are not known
	Statements uint64 // all
	Tied       uint64 // that are of the requests
	Before     uint64 // of requests that had begun before
	Unfinished uint64 // of requests that had not ended, or that were not answered
	Outside    uint64 // of no request: jobs
	Unresolved uint64 // of event loops and threads that are of no one request
	Setup      uint64 // that a driver sends when it connects
	After      uint64 // of those tied, when the answer had begun
	Prepares   uint64
	Calls      uint64 // of other services by goroutines of a connection's own: whose they are is not known
	Beyond     uint64 // requests whose paths were too many to keep
}

// An Endpoint is a method and a path of a member, with what its requests did.
type Endpoint struct {
	Member   string // whose processes answered
	Method   string
	Path     string // of one request, with ?key=value where its query chooses what is done
	Requests uint64
	Time     time.Duration // from reading the request to the beginning of its answer, of all
	Database time.Duration // from sending a statement to the beginning of its answer, of all
	PoolWait time.Duration // that requests at least waited for a connection that others used
	Waits    uint64        // how often
	Idle     time.Duration // in which a transaction was open and its connection asked nothing
	Calls    []Calls
	External []External
	Programs []Program
}

// A Program is one that the requests of an endpoint started, or what they started did.
type Program struct {
	Name  string // without directories
	With  uint64 // requests that started it
	Count uint64
}

// Calls are the statements of a class that the requests of an endpoint ran.
type Calls struct {
	Class    int // index in Result.Classes
	With     uint64
	Requests uint64 // of the endpoint
	Count    uint64
	Least    uint64 // in one request
	Most     uint64
	Time     time.Duration
	// Known are those of Count whose values are known, and Different how many of these differ within
	// their request, added up over requests.
	Known, Different uint64
}

// An External is what the requests of an endpoint asked of another service.
type External struct {
	Host, Method, Path string
	Count              uint64
	Time               time.Duration
	Held               uint64 // of them, while a transaction was open
	HeldTime           time.Duration
	Locked             uint64 // of Held, after a statement of the transaction that locks rows
	LockedTime         time.Duration
	Locks              int // index in Result.Classes of such a statement; where Locked is 0 of none
}

// A Class is a class of statements.
type Class struct {
	ID          string        // as of the slow log's
	Fingerprint string        // without values
	Cut         bool          // it is longer than what was copied
	Sample      string        // its slowest statement as it was sent, whole; empty where none was, or there was no room
	Slowest     time.Duration // of Sample
	Count       uint64
	Outside     uint64
	Time        time.Duration
}

// A Sync is a file that was written to its disk.
type Sync struct {
	PID   int
	File  string
	Count uint64
	Time  time.Duration
	Most  time.Duration
}

// An Uncovered is something that was seen and not read.
type Uncovered struct {
	What  string // "TLS", "HTTP/2", "compressed session of the database"
	Count uint64
}
