package scenario

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Options configure how a benchmark is run. The zero value prepares for at most a
// minute, loads for a minute and validates for at most a minute, at level 0.
type Options struct {
	PrepareTimeout  time.Duration // 0: a minute
	LoadTime        time.Duration // 0: a minute; negative: no load
	ValidateTimeout time.Duration // 0: a minute
	// Grace is how long a phase that is over waits for its workers, which should
	// return as soon as their context is done; 0: ten seconds.
	Grace time.Duration

	Levels  []int64 // the points at which level 1, 2, … begin; they rise
	Scoring Scoring
	Reasons Reasons

	Seed     uint64 // of all that is random; 0: one is drawn, the result has it
	CPUs     []int  // the cores that the whole process is put on while Run runs; empty: as it is
	Language string // of the service, until [Step.SetLanguage] says it

	MaxMessages int // different texts in the result; what is beyond is "(others)"; 0: 100

	OnProgress func(Progress) // called once a second, and at the end of each phase; may be nil
	Sink       Sink           // called likewise; may be nil
}

// Defaults of [Options].
const (
	defaultPhase    = time.Minute
	defaultGrace    = 10 * time.Second
	defaultMessages = 100
)

// Scoring is what successes and errors are worth.
type Scoring struct {
	Points map[Tag]int64  // for each [Step.Score] of the tag; a tag that is not listed: 1
	Deduct map[Code]int64 // for each error of the code; one that is not listed: 0
	// Every is of how many errors of a code each costs its points once, such as ten
	// timeouts a point; a code that is not listed: each.
	Every map[Code]uint64
	// Limit is the number of errors of a code with which the run has failed and stops
	// at once; a code that is not listed has none. Nil: critical 1, application 10.
	Limit map[Code]int
}

// Reasons are the texts of [Result.Reason]. An empty one stands for the text in its comment.
type Reasons struct {
	OK          string // "OK"
	BelowZero   string // "below zero"
	Prepare     string // "prepare failed"
	Validate    string // "validation failed"
	Interrupted string // "interrupted"
	// Limit is for the code whose limit was reached; one that is not listed:
	// "critical error" for a limit of 1, "10 or more application errors" for more.
	Limit map[Code]string
}

// Validate reports levels that do not rise, and limits and times that make no sense.
func (o *Options) Validate() error {
	for i, at := range o.Levels {
		if at <= 0 || i > 0 && at <= o.Levels[i-1] {
			return fmt.Errorf("level %d begins at %d points: want more than where the one before does", i+1, at)
		}
	}
	for code, n := range o.Scoring.Limit {
		if n < 1 {
			return fmt.Errorf("bad limit %d of %q errors: want at least 1", n, code)
		}
	}
	for _, d := range []time.Duration{o.PrepareTimeout, o.ValidateTimeout, o.Grace} {
		if d < 0 {
			return fmt.Errorf("bad time %s", d)
		}
	}
	if err := checkCPUs(o.CPUs); err != nil {
		return err
	}
	if o.MaxMessages < 0 {
		return fmt.Errorf("bad number of messages %d", o.MaxMessages)
	}
	return nil
}

// filled returns the options with defaults in place, sharing no memory with o.
func (o Options) filled() Options {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	def(&o.PrepareTimeout, defaultPhase)
	def(&o.LoadTime, defaultPhase)
	def(&o.ValidateTimeout, defaultPhase)
	def(&o.Grace, defaultGrace)
	if o.MaxMessages == 0 {
		o.MaxMessages = defaultMessages
	}
	if o.Seed == 0 {
		o.Seed = 1 + rand.Uint64N(1<<31) // short, for who types it again
	}
	o.Levels, o.CPUs = slices.Clone(o.Levels), slices.Clone(o.CPUs)
	s := &o.Scoring
	s.Points, s.Deduct, s.Limit = maps.Clone(s.Points), maps.Clone(s.Deduct), maps.Clone(s.Limit)
	s.Every = maps.Clone(s.Every)
	if s.Limit == nil {
		s.Limit = map[Code]int{Critical: 1, Application: 10}
	}
	text := func(s *string, to string) {
		if *s == "" {
			*s = to
		}
	}
	r := &o.Reasons
	text(&r.OK, "OK")
	text(&r.BelowZero, "below zero")
	text(&r.Prepare, "prepare failed")
	text(&r.Validate, "validation failed")
	text(&r.Interrupted, "interrupted")
	r.Limit = maps.Clone(r.Limit)
	return o
}

// limitReason is the text for a code whose limit was reached.
func (o *Options) limitReason(code Code) string {
	if text := o.Reasons.Limit[code]; text != "" {
		return text
	}
	if n := o.Scoring.Limit[code]; n > 1 {
		return fmt.Sprintf("%d or more %s errors", n, code)
	}
	return string(code) + " error"
}
