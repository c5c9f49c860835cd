package kasoku

import (
	"time"

	"github.com/kasoku/kasoku/histogram"
)

// A LogWindow says which part of a log file was read for a run and accounts
// for every line of it: Lines = Records + Continued + Dropped + Blank.
type LogWindow struct {
	Host      string
	Kind      string // accesslog, slowlog, applog
	Path      string
	Format    string // ltsv, combined, mariadb, mysql, text …
	Device    uint64
	Inode     uint64
	From, To  int64 // byte offsets
	Files     int   // more than 1 when the log was rotated during the run
	Lines     uint64
	Records   uint64 // entries parsed
	Continued uint64 // further lines of entries with several lines
	Blank     uint64
	Dropped   uint64 // lines that could not be parsed
	BadSample []BadLine
	Note      string // "rotated at 14:02:11", "missing" …
}

// A BadLine is one line that a parser refused.
type BadLine struct {
	Line int64 // 1 for the first line of the window
	Text string
	Why  string
}

// An Endpoint is one route as the access log saw it.
type Endpoint struct {
	Host        string
	Method      string
	Route       string
	Count       uint64
	Codes       map[int]uint64
	Bytes       uint64 // response bodies
	Latency     *histogram.Histogram
	Total       time.Duration // sum of the request times
	First, Last time.Duration
	Seconds     map[int]EndpointSecond
}

// EndpointSecond is one second of an Endpoint.
type EndpointSecond struct {
	Count, Failed uint64 // Failed: 5xx
}

// Failed returns how many answers were 5xx.
func (e *Endpoint) Failed() uint64 {
	var n uint64
	for c, k := range e.Codes {
		if c >= 500 {
			n += k
		}
	}
	return n
}

// A Query is one class of statements of the slow log.
type Query struct {
	Host         string
	ID           string // pt-query-digest's: upper-case hex MD5 of the fingerprint, 32 digits; COMMIT and ROLLBACK split by tag
	Fingerprint  string
	Tag          string // the /* tag */ of COMMIT and ROLLBACK
	Verb         string // SELECT, INSERT, UPDATE … of the statement
	Tables       []string
	Sample       string // one statement with its literals masked
	Calls        uint64
	Total        time.Duration // sum of Query_time
	Lock         time.Duration
	Latency      *histogram.Histogram
	RowsExamined uint64
	RowsSent     uint64
	RowsAffected uint64
	HasAffected  bool   // MySQL's slow log does not tell rows affected
	NoneAffected uint64 // calls that affected no row; counts only with HasAffected
	First, Last  time.Duration
}

// A SaveShape is the trail of an ORM's "save": an UPDATE that changes nothing,
// a SELECT that finds nothing and an INSERT, all of one key of one table (DRV-04).
type SaveShape struct {
	Host    string
	Table   string
	Count   uint64
	Inserts uint64   // all INSERTs into the table in the same window
	Sample  []string // the statements of one, in order, literals masked
}

// A Message is one class of lines of an application's log.
type Message struct {
	Host        string
	Path        string
	Pattern     string // the line with numbers, ids, quoted strings and times replaced
	Level       string // error, warn, info or empty when the log does not say
	Code        string // a MySQL error number such as 1040, empty without one
	SQL         bool   // the line carries a statement's text
	Count       uint64
	Bytes       uint64
	Sample      string        // the first such line, secrets masked, cut
	First, Last time.Duration // approximate where the log has no time: by offset at each tick
	Seconds     map[int]uint64
}
