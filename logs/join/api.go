package join

import (
	"context"
	"time"
)

// A Request is a request of an access log.
type Request struct {
	Start, End int64    // µs
	Endpoint   int32    // index into Input.Endpoints
	Status     int      // HTTP status; 499 is left out, its statements run on after End
	Literals   []uint64 // what LiteralsOfURI gives; may be nil
}

// An Event is a statement that ended.
type Event struct {
	Start, End int64 // µs, the latest that they can be
	// Slack is how much earlier than End, and as much earlier than Start, the
	// statement may have ended: 0 where the source gives microseconds, the time
	// between two looks (and a little) where the end is the time of reading a line.
	Slack int64
	// Seq is the event's place in the log, which has the statements of a connection
	// in their order; it orders what Start does not. May be 0 where Start is exact.
	Seq          int64
	Conn         uint64 // of the server; 0 when not known
	Query        int32  // index into Input.Queries
	RowsSent     uint64
	RowsExamined uint64
	Literals     []uint64 // what Literals gives; may be nil
}

// A QueryInfo is what the join must know of a class of statements.
type QueryInfo struct {
	// Begin, Commit and Rollback are of BEGIN, START TRANSACTION, COMMIT and the
	// like: what stands between them on one connection is of one request.
	Begin, Commit, Rollback bool
}

// InfoOf returns what the join must know of the class of a statement.
func InfoOf(sql []byte) QueryInfo { return infoOf(sql) }

// Input is what the times are of. Infer does not change it, and does not keep it.
type Input struct {
	Endpoints []string // of Request.Endpoint; only their number is used
	Queries   []QueryInfo
	Requests  []Request // in any order
	Events    []Event   // in any order
	// Resolution is how well the events' times are known; above MaxResolution
	// nothing is inferred.
	Resolution time.Duration
	// From and To are the time to look at, in µs; both 0 for all that both have.
	From, To int64
}

// LeastRequests is how many requests of an endpoint are needed if a pair of it is to be
// High; LeastInLine where more requests are open than connections, so that they wait in
// line for a worker or for a connection of a pool.
const (
	LeastRequests = 20
	LeastInLine   = 200
)

// LeastLengths is how many requests of an endpoint, one after the other, the window must
// have room for if a pair of it is to be High. Where requests wait in line for a worker all
// are open together, and their statements come at the pace of the workers: a window of few
// such lengths has too few looks at what goes with what.
const LeastLengths = 30

// MaxResolution is the coarsest resolution of the statements' times from which endpoints
// are inferred: with time stamps of 100 ms half of the pairs would be wrong, with those
// of a second nine of ten.
const MaxResolution = 20 * time.Millisecond

// Options configure how much is looked at.
type Options struct {
	// MaxEvents are looked at, in the middle of the time when there are more; 0
	// means 100,000.
	MaxEvents int
}

// A Class defines how sure a pair is.
type Class uint8

// The classes of pairs, from the surest on.
const (
	High     Class = iota + 1 // many of the class's statements, of which many can be no other endpoint's
	Possible                  // likely, but mostly shared with others or little of the class
	Group                     // of endpoints that are always called together: one of them or all
)

// A Pair says that requests of an endpoint run statements of a class.
type Pair struct {
	Endpoint int32 // the first of Group, where there is one
	Group    int32 // index into Result.Groups; -1 when the endpoint stands alone
	Query    int32
	Class    Class

	PerRequest float64 // statements for each request; for a group, for each of Endpoint's requests
	Least      float64 // bounds of PerRequest; statements that no request explains are in Most
	Most       float64
	Calls      float64 // statements that are the endpoint's
	Requests   uint64  // of the endpoint in the window
	Share      float64 // of the class's statements, 0..1
	Likelihood float64 // log likelihood ratio of the fit with the pair to the one without it
	Decisive   float64 // part of Calls that are nearly surely the endpoint's, 0..1
	Loop       bool    // the class comes in runs on one connection, and at least 5 times a request

	// List is the class whose rows these statements are looked up for, one by one;
	// -1 when none was found. Slope is how many come for each row, Correlation that
	// of rows and lookups.
	List        int32
	Slope       float64
	Correlation float64
}

// A Loop is a sequence of few classes on one connection that repeats.
type Loop struct {
	Queries []int32 // of one turn, ascending
	Runs    uint64
	Calls   uint64 // in the runs
	Longest uint64
	// Known are, of each of Queries, the statements whose literals are known, and Different how many of these
	// differ within their run, added up over runs.
	Known, Different []uint64
}

// Result is what the times say. Nothing in it refers to the Input.
type Result struct {
	Pairs       []Pair    // by endpoint and, within one, by calls, the most first
	Groups      [][]int32 // endpoints that are always called together, ascending
	Loops       []Loop    // the most calls first
	From, To    int64     // the window, µs
	Requests    uint64    // in the window
	Events      uint64    // in the window
	GivenUp     uint64    // requests of the window with status 499, which are left out
	Background  float64   // events that no request explains
	Connections uint64    // that were seen in the window
	Open        float64   // connections that were open at a time, their 95th percentile
	Busy        float64   // of them on average, in statements and gaps below 10 ms
	Saturated   bool      // all connections are in use: successive statements on one are of different requests
	Long        int       // endpoints of which no pair is High, as their requests are long beside the window
	InLine      bool      // more requests are open, on average, than connections at a time
	Refused     string    // why there are no pairs; empty when it was looked for them
}

// Infer joins the statements of in to its endpoints. When the times are too coarse or
// there is nothing to join, Result.Refused says so and there are no pairs; the only
// error is ctx's.
func Infer(ctx context.Context, in Input, o Options) (*Result, error) {
	return inferPairs(ctx, in, o)
}

// Literals appends hashes of the literals of a statement to dst: numbers and
// strings that distinguish one request from another. Of a statement with many it takes
// the first 8.
func Literals(dst []uint64, sql []byte) []uint64 { return appendLiterals(dst, sql) }

// LiteralsOfURI appends hashes of the values in a request's path and query to dst
// that a literal of a statement may equal.
func LiteralsOfURI(dst []uint64, uri []byte) []uint64 { return literalsOfURI(dst, uri) }
