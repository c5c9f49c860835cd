package accessformat

import "time"

// Has defines which values a line had.
type Has uint8

// The values that a line may lack.
const (
	HasTime         Has = 1 << iota // Unix, Resolution and Zone
	HasStatus                       // Status
	HasBytes                        // Bytes
	HasRequestBytes                 // RequestBytes
	HasLatency                      // Latency
	HasUpstream                     // Upstream
	HasConnect                      // Connect
)

// A Record is one request. Its slices point into the line, or into a buffer of
// the parser, and are valid until the next line is parsed or read.
type Record struct {
	Line   int64 // in the window, from 1; set by who reads the lines
	Offset int64 // in the window, bytes; set by who reads the lines

	Unix       int64         // ns since 1970 when the server logged it, at the end of the answer
	Resolution time.Duration // how exact Unix is: a second or less
	Zone       int32         // s ahead of UTC in which the time was written, or in which it was read

	Request  []byte // the request line as logged; nil when the format has none
	Method   []byte // empty with no path, and where the log has paths alone
	Path     []byte // with the query string, as logged; empty when the request was no HTTP request
	Protocol []byte // HTTP/1.1; empty when the log has none

	Status       int           // 0 when the log has none, and when the server sent none
	Bytes        uint64        // of the response: of its body when the log has that
	RequestBytes uint64        // of the request
	Latency      time.Duration // request time; that of the upstream servers when the log has no other
	Upstream     time.Duration // time that upstream servers took, of all that were asked
	Connect      time.Duration // part of it that opening connections to them took; 0 when one was there
	Has          Has

	RemoteAddr   []byte // as the server saw it: an address, a name, perhaps with a port
	User         []byte
	Referer      []byte
	UserAgent    []byte
	VHost        []byte
	ForwardedFor []byte

	Extra [][]byte // values of ParserOptions.Extra, nil for those that the line lacks
}

// Time returns when the server logged the request. It means nothing without
// [HasTime].
func (r *Record) Time() time.Time { return time.Unix(0, r.Unix) }

// Timed reports whether the log has a request time.
func (r *Record) Timed() bool { return r.Has&HasLatency != 0 }

// Stamped reports whether the log says when the request was logged.
func (r *Record) Stamped() bool { return r.Has&HasTime != 0 }

// resetRecord empties a record but for its place.
func resetRecord(r *Record) {
	*r = Record{Line: r.Line, Offset: r.Offset}
}
