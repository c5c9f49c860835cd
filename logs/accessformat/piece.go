package accessformat

import "time"

// A field is what a value of a line means.
type field uint8

const (
	noField field = iota
	aTime
	aRequest
	aMethod
	aPath
	aQuery // without its question mark
	aProtocol
	aStatus
	aSize // of the response
	aRequestSize
	aLatency
	anUpstream // time
	aConnect   // time that opening a connection to the upstream server took
	aRemoteAddr
	aUser
	aReferer
	anAgent
	aVHost
	aForwardedFor
	numFields
)

// A meaning defines how a value is read.
type meaning struct {
	what field
	// unit of a duration; 0 when the name does not say it, so that it is found
	// from the values.
	unit time.Duration
	// rank says which of several values of a line counts, where all have the
	// same meaning: the highest, and of equal ones the last.
	rank uint8
}

// A slot is where a value of a line goes.
type slot struct {
	meaning
	name  string // for people
	key   string // for ParserOptions.Extra, where it is not the name
	extra int    // index of ParserOptions.Extra, -1 for none
	// object says that a JSON object of that name has values that are wanted.
	object bool
}

// A piece of a format is either text or a value.
type piece struct {
	text string // as it stands in every line; empty for a value
	name string // of the value in the format, for people: $status, %>s
	key  string // of the value for [ParserOptions.Extra]
	meaning
	list   bool // several upstreams may each have a value: "0.001, 0.020 : 0.300"
	maybe  bool // lines may end after it
	blanks bool // any number of blanks may stand before it
	at     int  // where it stands in the format, in bytes, for error messages
	quoted bool // it stands between quotes; set by the compiler
}

func (p *piece) isText() bool { return p.name == "" }
