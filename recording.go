package kasoku

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Recording is everything that one run file holds. It is read whole; it is
// not safe for concurrent change.
type Recording struct {
	Run       Run
	Summary   *Summary // nil before the run was looked at
	Steps     []Step
	Phases    []Phase
	Load      *LoadSummary // nil when the load was not kasoku's
	Seconds   []LoadSecond
	Series    []Series // sorted by key
	Gaps      []Gap
	Events    []Event
	Changes   []Change
	Settings  []Setting
	Configs   []Config // in the order in which they were taken
	Logs      []LogWindow
	Endpoints []Endpoint
	Queries   []Query
	Saves     []SaveShape
	Messages  []Message

	Slowest      []SlowRequest // of all access logs, slowest first
	Transactions []Transaction
	Plans        []Plan
	Tables       []TableDef
	Advice       []Advice

	Joins     []Join   // how well the callers are known
	Callers   []Caller // which endpoint runs which statements
	LockWaits []LockWait
	Deadlocks []Deadlock
	Profiles  []Profile // of programs under load, by kind
	Traces    []Trace   // of the system calls of the service's processes

	Service *Service // what was measured; nil when it was not looked for

	RowChecks []RowCheck
	Warnings  []Warning
	Diagnosis *Diagnosis // as stored when the run was made; nil before
	Damage    []string   // what could not be read of a damaged file
}

// WhyFailed is [WhyFailed] of the run.
func (r *Recording) WhyFailed() string {
	exit := 0
	if r.Run.Command != nil {
		exit = r.Run.Command.ExitCode
	}
	return WhyFailed(exit, r.Run.Score, r.Summary)
}

// CodeDigests is the code of the warning that a run's queries are what the server counted.
const CodeDigests = "digests"

// CodeTraced is the code of the warning that a run's queries are what a trace of system calls saw.
const CodeTraced = "traced"

// Where statements are known from, as evidence names it.
const (
	slowLogSource = "slow.log"
	digestsSource = CodeDigests
	tracedSource  = "trace"
)

// FromDigests reports whether the queries of a host are statement digests: no slow log was read
// there, or it lacked most of the statements.
func (r *Recording) FromDigests(host string) bool { return r.sourceOf(host) == digestsSource }

// FromTrace reports whether the queries of a host are what a trace of system calls saw, scaled to all.
func (r *Recording) FromTrace(host string) bool { return r.sourceOf(host) == tracedSource }

// sourceOf names where the statements of a host are known from.
func (r *Recording) sourceOf(host string) string {
	for _, w := range r.Warnings {
		if w.Host != "" && w.Host != host {
			continue
		}
		switch w.Code {
		case CodeDigests:
			return digestsSource
		case CodeTraced:
			return tracedSource
		}
	}
	return slowLogSource
}

// StatementSource names where classes of statements are known from, all of the run where none is
// given: "slow.log", "digests", "trace", or several, as hosts of a merged run differ.
func (r *Recording) StatementSource(of ...*Query) string {
	has := map[string]bool{}
	for _, q := range of {
		has[r.sourceOf(q.Host)] = true
	}
	if len(of) == 0 {
		for i := range r.Queries {
			has[r.sourceOf(r.Queries[i].Host)] = true
		}
	}
	names := slices.DeleteFunc([]string{slowLogSource, digestsSource, tracedSource}, func(s string) bool { return !has[s] })
	if len(names) == 0 {
		return slowLogSource
	}
	return strings.Join(names, ", ")
}

// IsStatementSource reports whether evidence of a source quotes statements.
func IsStatementSource(source string) bool {
	switch first, _, _ := strings.Cut(source, ", "); first {
	case slowLogSource, digestsSource, tracedSource:
		return true
	}
	return false
}

// Find returns the series with the key, nil when it was not recorded. An empty
// host finds the series of the first host that has one.
func (r *Recording) Find(k Key) *Series {
	for i := range r.Series {
		s := &r.Series[i]
		if s.Key.Source == k.Source && s.Key.Name == k.Name && s.Key.Instance == k.Instance &&
			(k.Host == "" || s.Key.Host == k.Host) {
			return s
		}
	}
	return nil
}

// FindAll returns every series of that source and name, whatever its instance.
func (r *Recording) FindAll(source, name string) []*Series {
	var out []*Series
	for i := range r.Series {
		if s := &r.Series[i]; s.Key.Source == source && s.Key.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// Setting returns the value of a setting of a scope, such as mysql.
func (r *Recording) Setting(scope, name string) (string, bool) {
	for _, s := range r.Settings {
		if s.Scope == scope && s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// Tally adds up the load of one step; step 0 means all steps.
func (r *Recording) Tally(step int) *Tally {
	t := NewTally()
	for i := range r.Seconds {
		if step == 0 || r.Seconds[i].Step == step {
			t.Add(&r.Seconds[i])
		}
	}
	if n := t.Codes[http.StatusServiceUnavailable]; n > 0 {
		t.Refused = r.refusedIn(step, n)
	}
	return t
}

// The success ratios below which a step broke. One request in twenty is an outage
// by any measure; one in a hundred is more than a healthy service loses.
const (
	BrokenBelow  = 0.95
	FailingBelow = 0.99
)

// FirstBroken returns the index of the first step that clearly broke, else of the
// first that failed, by their success ratios; -1 when none did. A step just past
// the limit says less of its cause than the next one that is well past it.
func FirstBroken(successRatios []float64) int {
	for _, below := range []float64{BrokenBelow, FailingBelow} {
		for i, ratio := range successRatios {
			if ratio < below {
				return i
			}
		}
	}
	return -1
}

// Whole returns the interval of the whole run.
func (r *Recording) Whole() Interval { return Interval{0, r.Run.Length} }

// Wall returns the wall time of an offset.
func (r *Recording) Wall(at time.Duration) time.Time { return r.Run.Started.Add(at) }
