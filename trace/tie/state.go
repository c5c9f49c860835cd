package tie

import (
	"time"

	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
)

// Bounds of what is kept, so that no program of the service can make it large.
const (
	mostUnits     = 150_000     // goroutines and threads, of all processes
	forgetEvery   = time.Second // is how often units are looked for that can be forgotten
	mostConns     = 20_000
	mostQueued    = 64  // requests of a connection that wait for their answer
	mostOrphans   = 256 // of a unit; with many units fewer, so that there are mostWaiting or so of them
	fewOrphans    = 4
	mostPrepared  = 20_000 // statements of a connection
	mostPaths     = 20_000
	mostChoices   = 512 // paths with what their queries choose
	mostClasses   = 5_000
	mostOfRequest = 200 // classes of one request
	mostExternals = 50  // of one endpoint
	earlyFor      = 2 * time.Second
	mostLevels    = 3 // from a goroutine up to the one that has the request
	// older is by how much the number of a goroutine is less than that of the newest one for it to
	// have been started before it for sure: each processor takes 16 numbers at a time.
	older = 16 * 256
)

// A process is one of the service.
type process struct {
	pid    int
	golang bool
	newest uint64 // goroutine that was seen
	conns  map[int]*conn
	units  map[uint64]*unit
	// serving are the functions that goroutines which read requests began with.
	serving map[uint32]bool
	working map[*request]bool // that are in work and not answered
	tied    uint64            // statements
	// adopted is what threads did for requests that others had read; it counts when no
	// thread of the process turns out to be an event loop.
	adopted []*request
	loop    bool
	hands   bool // its threads answer what others have read
	// lone are the statements of no request, by class. They count as such where requests are known
	// otherwise: where some ran statements, and no client spoke what is not read.
	lone    map[int]uint64
	tags    []string // of tests, of these
	foreign bool
	// apart are the classes that threads ran after their request was answered: of an event loop they may be
	// anyone's, a timer's say, and so may those of their class be that it ran while a request was alone.
	apart map[int]bool
	said  []saying // of tests
	// early are the requests of threads that began soon after all did: requests that had begun before may
	// have run statements meanwhile, where threads are event loops.
	early []*request
	spanned
	settled bool // early are counted
}

// spanned is over which time a process was seen.
type spanned struct {
	began, last time.Duration // that something was seen
	longest     time.Duration // a request took
}

// A unit is what makes calls: a goroutine, else a thread.
type unit struct {
	id      uint64
	parent  uint64
	start   uint32
	seen    time.Duration // first
	request *request
	open    int // requests that it has read and that are not answered
	last    time.Duration
	freed   time.Duration // when it answered its last request
	before  time.Duration // when it answered a request whose reading was not seen, and had no other
	unseen  time.Duration // when it answered such a one last
	waiting []statement   // statements of no request so far
	started []*started    // processes of no request so far
	asks    bool          // it runs statements
	asking  int           // statements of it that are not answered
	owed    int           // of them, that may be of a request
	serves  bool          // it has read requests
}

// A conn is a connection of a process.
type conn struct {
	requests protocol.Requests // nil before one came
	queue    []*request        // not answered yet, the first is in work
	current  *request          // the last one that was in work

	database  bool  // it was asked a statement
	asker     *unit // who asked last
	prepared  map[uint32]prepared
	preparing []prepared // not answered
	doubted   bool       // which answer is of which prepare is not known any more
	reply     []byte     // of a prepare, what came so far
	asked     *statement // that is not answered
	call      *call
	last      prepared // that was prepared last
	fresh     bool
	transacting
	user    *request      // that used it last
	held    int           // bytes of a request that is not whole
	refused bool          // a request was not followed: which answer is of which is not known
	freed   time.Duration // when its last answer came
	text    []byte        // of asked, whole; empty where it is not kept
}

// transacting is what of transactions a connection is in.
type transacting struct {
	manual bool     // autocommit is off
	begun  *request // whose transaction is open
	locked bool     // by a statement of it
}

// answersInParts reports whether more of an answer looks as its beginning does.
func (c *conn) answersInParts() bool {
	_, fast := c.requests.(*protocol.FastCGI)
	return fast
}

// A request is one of a client.
type request struct {
	trace.Request
	process  *process
	unit     *unit // that read it, then that works for it
	reader   *unit
	conn     *conn
	began    time.Duration
	newest   uint64 // goroutine of the process when it began
	took     time.Duration
	answered bool
	mixed    bool // with another one on an event loop
	doubted  bool // it is mixed as events of its connection were not seen
	adopted  bool
	done     bool
	holding
	classes []used
	spent
	calls   []*call
	started []*started
	tags    []statement // of tests
	cost    int         // of the budget
}

// holding is what a request has open.
type holding struct {
	open   int // transactions
	locked int // of them, in which a statement has locked rows
	locks  int // class of the last such statement
	asking int // statements that are not answered
}

// spent is what a request's statements add up to.
type spent struct {
	count    uint64
	after    uint64 // of them, when the answer had begun
	database time.Duration
	waited   time.Duration // for connections that others used
	waits    uint64
	idle     time.Duration // with an open transaction
}

// prepared is a statement of a connection that can be executed by its number.
type prepared struct {
	class      int
	tag        string
	text       text // with its parameters
	parameters int
}

// unprepared is what was prepared last where nothing is known to have been.
var unprepared = prepared{class: -1}

// used is a class of statements in one request.
type used struct {
	class int
	count uint64
	time  time.Duration
	known uint64 // of count, that texts are known of
	texts []text // each once
}

// A statement is one command of a client that runs SQL.
type statement struct {
	class   int
	text    text
	at      time.Duration
	request *request // nil when it is of none
	unit    *unit    // that asked
	// overlapped is set when that did something else before it was answered.
	overlapped bool
	owed       bool          // to a request that it may be of
	counted    time.Duration // of its time: until an answer to its preparation came, perhaps with its own
	tag        string        // of tests
}

// A call is a request to another service.
type call struct {
	trace.Request
	at, took time.Duration
	held     bool
	locked   bool
	locks    int // class of the statement that locked
}

// tally is what an endpoint's requests did.
type tally struct {
	trace.Endpoint
	calls map[int]*trace.Calls
	index map[string]int // of External
}
