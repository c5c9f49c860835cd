package accessformat

import (
	"regexp"
	"time"

	"github.com/kasoku/kasoku"
)

// A kind is a way of reading lines.
type kind uint8

const (
	byProgram kind = iota // text between values
	byLTSV
	byJSON
	byRegexp
)

// A Format defines how the lines of a log are read. It does not change once it is
// made, and is safe for concurrent use.
type Format struct {
	name    string
	kind    kind
	program *program       // byProgram
	keys    keyTable       // byLTSV, byJSON
	needs   int            // known keys that a line must have to be one of an access log
	regexp  *regexp.Regexp // byRegexp
	groups  []slot         // of its groups, from 1

	unit       time.Duration // of durations whose name does not say it
	resolution time.Duration // of request times; 0 when there are none
	assumed    []string
	others     []*Format // that single lines may have; empty for a format that was asked for
	detected   bool      // from lines; not asked for
	lacks      []kasoku.LogLack
}

// Name returns what people call the format, such as ltsv, json, or combined with
// how the request time is written.
func (f *Format) Name() string { return f.name }

// Resolution returns in which steps the request times are written: a
// millisecond for nginx, a microsecond for Apache's %D; 0 when none were seen.
// Single times may be finer.
func (f *Format) Resolution() time.Duration { return f.resolution }

// Assumed returns what was taken for granted where the lines alone do not show it,
// one sentence each.
func (f *Format) Assumed() []string { return f.assumed }
