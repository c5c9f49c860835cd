package accesslog

import "time"

// A Record is one request. Its slices are valid until the next Scan.
type Record struct {
	Line   int64 // in the window, from 1
	Offset int64 // in the window, bytes

	Time       time.Time     // when the server logged it, at the end of the answer
	Resolution time.Duration // how exact Time is: a second or less
	Method     []byte        // empty when the request was no HTTP request
	Path       []byte        // with the query string, as sent; empty with no method
	Status     int           // 0 when the log does not tell
	Bytes      uint64        // of the response body
	Latency    time.Duration // request time
	HasLatency bool          // the log tells a request time
}

// reset empties the record.
func (r *Record) reset() { *r = Record{} }
