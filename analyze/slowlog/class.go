package slowlog

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/analyze/buckets"
)

// A Class is all that a table knows of one class of statements.
type Class struct {
	kasoku.Query
	Key     string // what the class has in common, where that is not the fingerprint
	Worst   Sample // the entry with the longest Query_time, the first of equal ones
	Users   []Count
	Hosts   []Count
	Schemas []Count
	Tags    []Count  // what comments say of where the statements come from
	Explain []string // the EXPLAIN rows that the log holds, with their header, of the slowest entry that has some

	SingleRow uint64 // calls that insert a single row

	// FirstLogged and LastLogged are the least and the greatest time that a
	// "# Time:" line tells, inherited by the entries behind it. The digits are as
	// logged, without regard to a zone. Zero when there is none.
	FirstLogged, LastLogged time.Time

	Attributes []Attribute // by name; empty without Options.Attributes
}

// A Count is a value and how many entries have it.
type Count struct {
	Value string
	N     uint64
}

// An Attribute is one "Name: value" of the heads of a class. What its first
// value looks like decides what it is: Yes or No, a number, or text.
type Attribute struct {
	Name    string
	Yes, No uint64
	Stats   *buckets.Stats // of numbers, else nil
	Values  []Count        // of text, the most frequent first
}

// A Sample is one entry of a log, as it was.
type Sample struct {
	Input        int   // number of the input, from 0
	Line, Offset int64 // in the input; lines from 1, bytes
	Start        time.Time
	Logged       time.Time // as [Class.FirstLogged]
	ThreadID     uint64
	User, Host   string
	Schema       string
	QueryTime    time.Duration
	Statement    string // cut at 16 KiB
	Truncated    bool   // it was cut
}
