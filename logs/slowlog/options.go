package slowlog

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
)

// A Kind is a kind of log.
type Kind uint8

// The kinds of logs.
const (
	Auto    Kind = iota // found by the first lines
	Slow                // slow query log, with the times
	General             // general query log: all statements, without times
	Raw                 // statements, one per line, or each with a semicolon at its end
)

// Split defines which statements are classes of their own by the tag in a comment.
type Split uint8

// The ways to split. A class is named by its id and its tag.
const (
	SplitEnds Split = iota // COMMIT and ROLLBACK, by [sqlshape.Tag]
	SplitNone              // no statements, as pt-query-digest
	SplitAll               // all statements, by [sqlshape.AppendTag]
)

// By is what a class of statements has in common.
type By uint8

// What statements can be grouped by. Transactions, streaks and saves are followed
// only by fingerprint.
const (
	ByFingerprint By = iota
	ByTables         // the tables that they name
	ByUser
	BySchema
	ByHost
	ByGroup // what Options.Group says
)

// Options configure how a log becomes a table. The zero value keeps everything.
type Options struct {
	Clock      logs.Clock      // nil: times are counted from 1970
	Seconds    bool            // keep the times of each class by the second, unless there are too many; takes a Clock
	Interval   kasoku.Interval // of the run; what lies outside is counted and left out. Empty: nothing is outside
	MaxQueries int             // classes; 0 means 10,000
	MaxPending int             // UPDATEs whose INSERT is waited for; 0 means 65,536

	Kind         Kind
	Location     *time.Location    // of times that a log gives without a zone; nil: UTC
	Since, Until time.Time         // entries that started in [Since, Until); zero: no bound
	Where        func(*Event) bool // false leaves an entry out; called for one entry at a time, in the order of the log

	By         By
	Group      func(sql []byte) string // for ByGroup; asked once per fingerprint
	Split      Split
	Attributes bool // keep statistics of every attribute, per class and of all
	KeepRaw    bool // keep the text of the slowest statement of a class in Query.Raw
	Workers    int  // that read a log; 0: as many as there are cores

	// Each is called with every entry that counts, in the order of the log, with the
	// number of its class: [Class.Number].
	Each func(e *Event, class int)
	Own  bool // statements of kasoku itself count

	// Trailers leaves a comment at the end of a statement, with the blanks before it,
	// out of its class when it holds keys and values, as those of sqlcommenter do.
	// pt-query-digest leaves out the comment, not the blanks.
	Trailers bool
}
