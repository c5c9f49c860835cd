package slowlog

import (
	"bytes"
	"time"
)

// An Event is one entry of a log. Its slices, and what [Event.Attributes]
// yields, are valid until Options.Where or Options.Each returns.
type Event struct {
	Place

	Start      time.Time     // when the statement started; the last time that the log gave when the entry has none
	Resolution time.Duration // how exact Start is: a second, or a microsecond
	Logged     time.Time     // the digits of "# Time:", without regard to a zone; those of the entry before when it has none
	stamps

	Client
	Cost

	Admin     bool   // an administrator command, whose text starts with "administrator command: "
	Truncated bool   // the statement was longer than the bound; an open quote was closed
	Statement []byte // without the final semicolon

	headLines
	values []value // its attributes, when they are wanted
	fate
	naming
}

// A Place is where an entry begins.
type Place struct {
	Input  int   // number of the input, from 0
	Line   int64 // number of its first line in the input, from 1
	Offset int64 // of that line in the input, bytes
}

// A Client is who had a statement executed.
type Client struct {
	ThreadID   uint64 // connection id
	User, Host []byte
	Schema     []byte // default database, or that of the entry before; empty when the entry says that there is none

	hasSchema bool   // the entry names its schema, or says that there is none
	database  []byte // Schema, or where that is empty the one of the entry before, as pt-query-digest has it
}

// HasOwnSchema reports whether Schema is the entry's own, and not that of the entry
// before.
func (c *Client) HasOwnSchema() bool { return c.hasSchema }

// A Cost is what a statement took and gave.
type Cost struct {
	QueryTime, LockTime time.Duration
	RowsSent            uint64
	RowsExamined        uint64
	RowsAffected        uint64
	BytesSent           uint64
	HasAffected         bool // the log has rows affected

	hasQueryTime bool
}

// stamps are the times that the lines of an entry give.
type stamps struct {
	hasTime   bool      // Start is the entry's own
	started   time.Time // of an attribute Start
	logged    time.Time // of # Time with a zone
	timestamp int64     // of SET timestamp, seconds; 0 without one
}

// headLines are the lines before the statement.
type headLines struct {
	head     []byte // the lines that start with #, with newlines
	explain  []byte // of them, those with EXPLAIN rows
	use      []byte // database of the use line
	command  string // of the general log
	hasErrno bool   // as Percona's servers write
}

// A fate is what becomes of the lines of an entry.
type fate struct {
	bad   string // why it cannot be used
	junk  bool   // it is a line outside of an entry
	lines uint64
}

// A naming is what a namer found out about a statement.
type naming struct {
	shape    int32  // number in the registry; unnamed when it is not there yet
	own      bool   // a statement of kasoku itself
	single   bool   // an INSERT of one row
	name     []byte // of a shape that is not there yet: fingerprint, NUL, tag
	print    int    // length of the fingerprint in name
	identity uint64 // the same for the same text
	tags     []byte // a comment that says where the statement comes from
}

// Attributes yields every "Name: value" of the entry's head, in order, such as
// Rows_sent, Full_scan or Pages_accessed. A value may be empty.
func (e *Event) Attributes(yield func(name, value []byte) bool) {
	for rest := e.head; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		rest = after
		if line = bytes.TrimRight(line, "\r"); !isPlain(line) {
			continue
		}
		if !eachAttribute(line, func(name, value []byte) bool { return yield(name, value) }) {
			return
		}
	}
}

// Tags returns what comments of the statement say of where it comes from, as
// [sqlshape.AppendTag] does; empty when there are none.
func (e *Event) Tags() []byte { return e.tags }

// Head returns the lines of the entry that start with #, as they are.
func (e *Event) Head() []byte { return e.head }

// isPlain reports whether a head line holds attributes. The EXPLAIN rows of
// MariaDB hold none, and some lines have a form of their own.
func isPlain(line []byte) bool {
	return len(line) >= 3 && line[0] == '#' && !hasPrefix(line, "# explain:") && !hasPrefix(line, "# User@Host:") &&
		!hasPrefix(line, "# Time:") && !hasPrefix(line, "# administrator command:")
}

// eachAttribute yields the "Name: value" pairs of a line. MariaDB writes an empty
// schema as "Schema:   QC_hit: No": what ends with a colon is no value.
func eachAttribute(line []byte, yield func(name, value []byte) bool) bool {
	i := 1 // after #
	for {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if start == i {
			return true
		}
		if line[i-1] != ':' {
			continue
		}
		name := line[start : i-1]
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		v := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if i > v && line[i-1] == ':' && isAttributeName(line[v:i-1]) {
			i = v
		}
		if !yield(name, line[v:i]) {
			return false
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isAttributeName(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(b) > 0 && b[0] >= 'A' && b[0] <= 'Z'
}

// place sets when the statement started, where the entry itself gives it.
func (e *Event) place() {
	e.Resolution = time.Second
	switch {
	case !e.started.IsZero():
		e.Start, e.Resolution, e.hasTime = e.started, time.Microsecond, true
	case !e.logged.IsZero():
		e.Start, e.Resolution, e.hasTime = e.logged.Add(-e.QueryTime), time.Microsecond, true
	case e.timestamp != 0:
		e.Start, e.hasTime = time.Unix(e.timestamp, 0), true
	}
}

// inherited is what entries that do not say it have from the entry before.
type inherited struct {
	start   time.Time
	logged  time.Time
	schema  []byte
	schemas [8][]byte // some that were named; entries of several schemas take turns
	next    int       // which of them is replaced next
}

// pass gives the event what it lacks, and keeps what it gives for the next one.
func (in *inherited) pass(e *Event) {
	if e.hasTime || !e.Start.IsZero() { // of a parser, or set by the caller of Add
		in.start = e.Start
	} else {
		e.Start = in.start
	}
	if e.Logged.IsZero() {
		e.Logged = in.logged
	} else {
		in.logged = e.Logged
	}
	if len(e.Schema) > 0 && string(e.Schema) != string(in.schema) {
		in.schema = in.copyOf(e.Schema)
	}
	e.database = in.schema
	if !e.hasSchema {
		e.Schema = in.schema
	}
}

// copyOf returns a copy of a schema that never changes: events may point to it.
func (in *inherited) copyOf(schema []byte) []byte {
	for _, s := range in.schemas {
		if string(s) == string(schema) {
			return s
		}
	}
	c := bytes.Clone(schema)
	in.schemas[in.next] = c
	in.next = (in.next + 1) % len(in.schemas)
	return c
}
