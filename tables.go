package kasoku

import (
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// A LogWindow defines which part of a log file was read for a run and accounts
// for every line of it: Lines = Records + Continued + Dropped + Blank.
type LogWindow struct {
	Host      string
	Kind      string // accesslog, slowlog, applog, errorlog (of a server such as nginx)
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
	// Lacks are the values that findings rest on and that the lines of an access log do
	// not have. Run files keep the warning of it, not the list.
	Lacks []LogLack
}

// A LogLack is a value that findings rest on and that the lines of a log do not have.
type LogLack struct {
	Variable string // of nginx's log_format that gives it: $request_time
	Lost     string // what is not known without it, as a noun phrase
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
	Squares     float64       // sum of the squared request times, in s²; 0 in older run files
	First, Last time.Duration
	Seconds     map[int]EndpointSecond
	BySecond    *histogram.BySecond // Latency by the second of the run; nil when it was not kept

	MinBytes, MaxBytes uint64
	RequestBytes       uint64        // requests as received, 0 when the log does not say
	Upstream           time.Duration // sum of the times that upstream servers took
	UpstreamCount      uint64        // requests that have one
	Bots               uint64        // requests of user agents that call themselves bots

	Connects        uint64        // requests for which a connection to the upstream server was opened
	ConnectCount    uint64        // requests that say whether one was opened
	MaxRequestBytes uint64        // the longest request
	BotsPassed      uint64        // requests of bots that the upstream server answered
	BotsUpstream    time.Duration // what that took it
	Paths           uint64        // different URIs, estimated; 0 when not counted
	Varied          uint64        // answers 200 of another size than the one before of the same URI
	Variants        uint64        // different sizes of answers 200, counted anew for each URI and second
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

// A SlowRequest is one of the slowest requests of a log, as it was sent.
type SlowRequest struct {
	Host     string
	Method   string
	Route    string
	URI      string // with the query string, secrets masked
	Status   int
	At       time.Duration // when the server logged it
	Latency  time.Duration
	Upstream time.Duration
	Bytes    uint64
}

// A Query is one class of statements of the slow log, or of statement digests.
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
	HasAffected  bool   // MySQL's slow log does not have rows affected
	NoneAffected uint64 // calls that affected no row; counts only with HasAffected
	First, Last  time.Duration

	Raw       string              // the slowest statement as it was sent, for EXPLAIN; empty unless the run keeps it
	Schema    string              // default database of that statement
	Squares   float64             // sum of the squared times, in s²
	Seconds   map[int]QuerySecond // by second of the run
	BySecond  *histogram.BySecond // Latency by second of the run; nil when it was not kept
	Distinct  uint64              // different statements of the class, estimated; 0 when not counted
	Repeated  uint64              // calls of the most frequent statement, letter for letter; at least, where many differ
	Streak    uint64              // the longest sequence of calls one after another on one connection
	Streaks   uint64              // calls in sequences of at least 10
	BytesSent uint64              // 0 when the log does not say
	SingleRow uint64              // calls of an INSERT or REPLACE that write a single row
	Numbers   []string            // columns that the sample compares with a number without quotes, as it names them
}

// QuerySecond is one second of a Query.
type QuerySecond struct {
	Calls uint64
	Total time.Duration
	Rows  uint64 // sent; 0 in older run files
}

// A Transaction is one class of transactions of a log: the same statements in
// the same order, where repetitions count as one.
type Transaction struct {
	Host       string
	Shape      []string // ids of the queries, without BEGIN and COMMIT
	Tag        string   // of COMMIT
	Verbs      string   // "SELECT UPDATE INSERT", for people
	Count      uint64
	RolledBack uint64
	ReadOnly   bool
	Statements uint64        // in all of them, without BEGIN and COMMIT
	Total      time.Duration // from BEGIN to the end of COMMIT, of all of them
	Max        time.Duration
}

// A Plan is what the server said of how it runs a statement.
type Plan struct {
	Host    string
	QueryID string
	Schema  string
	Format  string // table, json, analyze
	Text    string // the answer: rows as tab-separated text with a header, or JSON
	Rows    []PlanRow
	Note    string // why there is no plan, or what was left out
}

// A PlanRow is one step of a plan (EXPLAIN's columns).
type PlanRow struct {
	Select       string // select_type
	Table        string
	Access       string // type: const, eq_ref, ref, range, index, ALL …
	PossibleKeys string
	Key          string // empty: none
	KeyLen       string
	Ref          string
	Rows         float64 // estimate
	Filtered     float64 // percent, -1 when not known
	Extra        string
}

// A TableDef is a table that a plan reads.
type TableDef struct {
	Host       string
	Schema     string
	Name       string
	Create     string // SHOW CREATE TABLE
	Engine     string
	Rows       uint64 // estimate of the server
	DataBytes  uint64
	IndexBytes uint64
	Indexes    []IndexDef
	Columns    []ColumnSample // of a bounded sample of the rows; none where there is none
	Checks     []IndexCheck   // of indexes that were thought of; none unless they were asked for
}

// An IndexCheck is what a private server says of an index that is not there, asked with a
// copy of some rows of the tables. Its names in JSON are those of the run file.
type IndexCheck struct {
	DDL     string         `json:"ddl"`     // the statement that makes it
	Server  string         `json:"server"`  // "MariaDB 10.11.19"
	Rows    int            `json:"rows"`    // of the table that were copied
	Whole   bool           `json:"whole"`   // those were all
	Note    string         `json:"note"`    // why it was not checked; empty when it was
	Classes []CheckedClass `json:"classes"` // of statements that it is meant for
}

// Class returns what is known of a class of statements; nil: nothing.
func (c *IndexCheck) Class(id string) *CheckedClass {
	for i := range c.Classes {
		if c.Classes[i].QueryID == id {
			return &c.Classes[i]
		}
	}
	return nil
}

// A CheckedClass is how a class of statements would run without and with an index.
type CheckedClass struct {
	QueryID string `json:"query_id"`
	Before  uint64 `json:"before"` // rows that the plan examines, as the server estimates them
	After   uint64 `json:"after"`
	Used    bool   `json:"used"`  // the plan names the index
	Helps   bool   `json:"helps"` // … and reads at most half of the rows, or need not sort them any more
	Note    string `json:"note"`  // why it was not asked; empty when it was
}

// A ColumnSample is what some rows of a table say of a column. Its names in JSON are those
// of the run file.
type ColumnSample struct {
	Name     string `json:"name"`
	Rows     int    `json:"rows"`     // that were looked at
	Distinct int    `json:"distinct"` // different values among them
	Most     int    `json:"most"`     // rows with the most frequent value
}

// An IndexDef is an index with what the server thinks of it. Its names in JSON are
// those of the run file.
type IndexDef struct {
	Name        string   `json:"name"`
	Unique      bool     `json:"unique"`
	Columns     []string `json:"columns"`     // in order, "x DESC" for descending ones
	Cardinality []int64  `json:"cardinality"` // distinct values of the first n columns; -1 when not known
}

// An Advice is what one check of a server's settings says.
type Advice struct {
	Host       string
	ID         string // of the check: MYS-25
	Area       string // memory, connections, innodb …
	Title      string // subject verb object
	Variable   string // empty when no variable is to change
	Value      string // in force
	Proposed   string // never the value in force
	Formula    string // "Innodb_buffer_pool_reads / Innodb_buffer_pool_read_requests"
	Measured   string // "12.4 %"
	Threshold  string // "> 10 %"
	Window     string // "34 s of load", "since the server started, 3 d"
	Confidence Confidence
	SetGlobal  string // statement, empty when it needs a restart
	ConfLine   string // for my.cnf
	Risk       Risk
	Gain       string // what to expect
	Price      string // what it costs, "up to 1 s of commits is lost in a crash"
	Note       string
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

// What writes messages.
const (
	MessageApp   = ""      // an application
	MessageNginx = "nginx" // its error log

	MessageBenchmark = "benchmark" // the output of what made the load
)

// A Message is one class of lines of a log that a program writes for people.
type Message struct {
	Host        string
	Path        string
	Kind        string // MessageApp, MessageNginx
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
