package kasoku

import (
	"strconv"
	"strings"
	"time"
)

// RunState defines how far a run got.
type RunState string

// The states of a run. A file that was left in Running by a killed recorder is
// opened as Incomplete.
const (
	Running    RunState = "running"
	Finished   RunState = "finished"
	Incomplete RunState = "incomplete" // stopped before its end; StopReason says why
)

// A Run names one measured stretch of time and says what it was made with.
type Run struct {
	ID         string        // 20261120-140211-before: UTC start and label
	Project    string        // what was measured, such as userapi
	Label      string        // short, such as before
	Note       string        // free text
	Started    time.Time     // wall clock at offset 0
	Length     time.Duration // offset of the end; 0 while running
	State      RunState
	StopReason string // why it is Incomplete, such as "interrupt"
	Version    string // of kasoku
	Revision   string // git revision of the measured code, with branch, such as main@4f2c91e; empty when unknown
	Dirty      bool   // the work tree had changes
	Load       string // one phrase: POST /users, open loop
	Hosts      []Host
	Command    *Command // the command that record ran, nil without one

	Group     string // runs that repeat one another share it: the id of the first; empty for a run alone
	Repeat    int    // place in the group, from 1; 0 for a run alone
	Base      string // id of the run that this one is a try upon, and is compared with; empty: the one before it
	Observers string // ObserversOn, ObserversOff or what was left out, such as "no slow log"; empty in files before version 2
	Price     Price  // of the machines that were measured; zero when it was not given
	Score     *Score // what the benchmark said, nil without one
}

// What watched a run.
const (
	ObserversOn  = "on"  // all that was configured
	ObserversOff = "off" // nothing but the load's own figures and the logs that are written anyway
)

// An Outcome is whether a benchmark let a run pass.
type Outcome string

// The outcomes.
const (
	Unjudged Outcome = "" // the benchmark did not say
	Passed   Outcome = "pass"
	Failed   Outcome = "fail"
)

// A Score is what a benchmark, or a person, said that a run was worth. More is
// better.
type Score struct {
	Value   float64
	Outcome Outcome
	Source  string // where it was found: "output, JSON score", "output, /score: (\\d+)/", "typed"

	Requests uint64 // that the benchmark counted, transactions of sysbench; 0 when it printed no count
	Failures uint64 // of them, those that it counted as failed
}

// AllFailed reports whether the benchmark counted requests, and none that succeeded.
func (s *Score) AllFailed() bool { return s.Failures > 0 && s.Failures >= s.Requests }

// WhyFailed returns in a few words why the figures of a run are worth nothing: the benchmark did
// not let it pass, no request succeeded, or its command ended with an exit code other than 0 and
// no score above 0 nor load of kasoku's own that got through. Empty where they are worth
// something. exit is 0 without a command, s and sum may be nil.
func WhyFailed(exit int, s *Score, sum *Summary) string {
	carried := sum != nil && sum.Source == "load" && sum.Succeeded > 0 // kasoku attack's exit code is of its first step
	switch {
	case s != nil && s.AllFailed():
		return "no request succeeded by the benchmark's count"
	case s != nil && s.Outcome == Failed && exit == 0:
		return "the benchmark says: failed"
	case exit < 0:
		return "a signal ended the command"
	case exit > 0 && (s == nil || s.Outcome == Failed || s.Value <= 0) && !carried:
		return "exit code " + strconv.Itoa(exit)
	case sum != nil && sum.Requests > 0 && sum.Succeeded == 0:
		return "no request succeeded"
	}
	return ""
}

// A Price is what the measured machines cost.
type Price struct {
	PerHour  float64 // 0 when unknown
	Currency string  // USD, JPY … as it was typed; may be empty
}

// A Host is one machine that was observed. The first host of a run is the one
// whose clock is the run's clock.
type Host struct {
	Name        string
	Cores       int
	MemoryBytes uint64
	OS          string // Debian GNU/Linux 12 (bookworm)
	Kernel      string
	Arch        string
	BootID      string
	ClockOffset time.Duration // its wall clock minus the first host's
	ClockError  time.Duration // half width of the uncertainty of ClockOffset; of a host recorded alone, of its clock against UTC; 0 unknown
	ClockNote   string        // how that was found
}

// A Phase is a stretch of a run in which the traffic was of one kind.
type Phase struct {
	Kind     PhaseKind
	Interval Interval
	Why      string // "POST /initialize, 1 request, 2.31 s", "no request for 5 s"
}

// PhaseKind is what a stretch of a run was for.
type PhaseKind string

// The kinds of phases, in the order of a contest's benchmark.
const (
	PhaseInitialize PhaseKind = "initialize"
	PhaseVerify     PhaseKind = "verify" // few requests, one after another
	PhaseLoad       PhaseKind = "load"
	PhaseIdle       PhaseKind = "idle"
)

// A Command is the child process that a recording ran, and what it used.
//
// Source: getrusage(2), RUSAGE_CHILDREN semantics for the waited-for child.
type Command struct {
	Args            []string
	ExitCode        int // -1 when killed by a signal
	Signal          string
	Wall            time.Duration
	User, System    time.Duration
	MaxRSSBytes     uint64
	VoluntarySwitch uint64 // context switches
	ForcedSwitch    uint64
	Output          string // the last bytes of stdout and stderr together, bounded
	OutputTruncated bool
}

// An Interval is the half-open stretch [From, To) of a run's clock.
type Interval struct {
	From, To time.Duration
}

// Len returns the length of the interval.
func (i Interval) Len() time.Duration { return i.To - i.From }

// Contains reports whether t lies in the interval.
func (i Interval) Contains(t time.Duration) bool { return i.From <= t && t < i.To }

// Empty reports whether the interval holds no time.
func (i Interval) Empty() bool { return i.To <= i.From }

// A Step is one stretch of a load at one asked rate. Steps are numbered from 1.
type Step struct {
	Number   int
	PerSec   float64 // asked rate, requests per second; 0 for a closed loop or a foreign load
	PerSecTo float64 // the rate at its end, when it is a ramp; 0: PerSec throughout
	Interval Interval
	Planned  time.Duration // how long it should have been; longer than the interval when stopped early
}

// Partial reports whether the step was cut short.
func (s Step) Partial() bool { return s.Planned > 0 && s.Interval.Len() < s.Planned }

// An Event marks a moment: a phase, a restart, a step of the wall clock, a
// rotation of a log, an interrupt.
type Event struct {
	At   time.Duration
	Host string
	// Kind is clock, restart, replication, rotate, interrupt, phase, mark, trigger, EventLevel, EventInitialize or
	// EventBenchmark.
	Kind string
	Text string
}

// EventLevel is the kind of the event with which a level of a benchmark begins. Its
// text begins with the level: "level 3 at 800 points".
const EventLevel = "level"

// EventInitialize is the kind of the event with which a benchmark says what numbers the
// service answered when it was brought to its initial state:
// "POST /initialize: available_days 10", or "POST /initialize: no number".
const EventInitialize = "initialize"

// EventBenchmark is the kind of the event with which a benchmark says that something went
// wrong: "POST /api/estate/nazotte: timeout (34 in all)".
const EventBenchmark = "benchmark"

// A Gap is a stretch in which a source gave nothing, and why. It is never
// drawn as zero.
type Gap struct {
	Host     string
	Source   string
	Interval Interval
	Reason   string
}

// A Warning belongs to the result: it says what was seen, and Hint what to do.
type Warning struct {
	Host string // that it is about; empty: the one that recorded
	Code string // short and stable: late-generator, slow-log-trap, one-run …
	Text string
	Hint string
}

// A Change is one setting that a recording altered on a server.
type Change struct {
	Host     string
	Object   string // mariadb, mysql
	Name     string // slow_query_log
	Before   string
	During   string
	Restored bool
	Note     string // why it was not put back, when it was not
}

// A Setting is one value of a configuration in force.
type Setting struct {
	Host  string
	Scope string // mysql, mysql.connection, sysctl …
	Name  string
	Value string
}

// The scope and name of the setting by which a run says that its slow log holds a part of
// the statements: its value N means 1 of N.
const (
	SampleScope = "kasoku"
	SampleName  = "slow_log_sample"
)

// A Config is one text of the configuration in force: a file, what a program
// printed, a table's definition. Secrets in it are replaced by [MaskedSecret].
type Config struct {
	Host   string
	Kind   string // nginx, mysql, vcl, unit, sysctl, limits, schema, git, file
	Name   string // the file's path; of a table shop.users; of git HEAD or diff
	Text   string
	Mode   uint32 // permission bits of a file, 0 for what is no file
	UID    int    // owner of a file
	GID    int
	Masked int    // how many secrets were replaced
	Note   string // why Text is cut or missing, empty otherwise
}

// MaskedSecret stands where a secret was.
const MaskedSecret = "‹masked›"

// ScrubbedNote is the note of a text that was dropped before the run was mailed: what
// it was is not known.
const ScrubbedNote = "scrubbed"

// Known reports whether the text is what was in force: it was not dropped since.
func (c *Config) Known() bool { return c.Note != ScrubbedNote }

// A Summary is what a list of runs says about the load of one.
type Summary struct {
	Source     string        // what counted the requests: load, access log; empty when nothing did
	Requests   uint64        // in all
	Succeeded  uint64        // of them
	PerSec     float64       // successful requests a second: of the best step, else over the load phase
	Asked      float64       // asked rate of that step; 0 without steps
	P50, P99   time.Duration // of that step, else of all requests; 0 when unknown
	CPU        time.Duration // that the measured hosts used during the load, generator and kasoku left out
	LoadTime   time.Duration // over which CPU was counted
	Bottleneck string        // in a few words: "mysqld 1.84 of 2 cores"; empty when none stood out
}

// A RowCheck compares the rows that a table gained with the answers that said
// "written" (MES-04).
type RowCheck struct {
	Host      string
	Table     string
	Before    int64
	After     int64
	Successes uint64 // successful write requests in the same time
}

// Added returns how many rows the table gained.
func (c RowCheck) Added() int64 { return c.After - c.Before }

// Matches reports whether each success left exactly one row.
func (c RowCheck) Matches() bool { return c.Added() == int64(c.Successes) }

// NewRunID returns the id of a run: the start in UTC and the label, such as
// 20261120-140211-before. What a file name or a shell would stumble over in the
// label becomes a hyphen.
func NewRunID(started time.Time, label string) string {
	id := started.UTC().Format("20060102-150405")
	label = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, label)
	if label = strings.Trim(label, "-."); label != "" {
		id += "-" + label
	}
	return id
}
