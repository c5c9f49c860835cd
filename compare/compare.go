package compare

import (
	"github.com/kasoku/kasoku"
)

// Resamples is how often the seconds of a step are drawn: enough for the ends of
// a 95 % interval to be stable to about 5 % of its width.
const Resamples = 2000

// Options says what is compared.
type Options struct {
	Step      float64 // asked rate, req/s, of the one step to compare; 0 for all
	Seed      uint64  // of the draws; 0 is 1
	Resamples int     // 0 is Resamples
}

// A Unit says what the values of a row are, so that outputs can print them.
type Unit string

// The units of rows.
const (
	Ratio      Unit = "ratio"   // 0..1
	Seconds    Unit = "s"       // of latency or of CPU
	PerSecond  Unit = "per_s"   // requests per second
	PerRequest Unit = "ratio_n" // a count for each request, any size
	Count      Unit = "count"
	Cores      Unit = "cores"
	CoreShare  Unit = "core_ratio" // CPU time over time, of one core
	Bytes      Unit = "bytes"
)

// A Goal says which way is better.
type Goal string

// The goals.
const (
	Less    Goal = "less"
	More    Goal = "more"
	Neither Goal = "neither"
)

// Moved says which way a row went, in words that claim no significance.
type Moved string

// The directions.
const (
	Better    Moved = "better"
	Worse     Moved = "worse"
	Unsure    Moved = "unsure" // the interval holds no change; not the same as none
	NotJudged Moved = ""       // no interval, or neither way is better
)

// A Value is one side's figure, in the unit of its row.
type Value struct {
	Value float64
	OK    bool // it was measured
}

// A Change is how far after is from before.
type Change struct {
	OK     bool
	Points bool    // Value is after − before, ratios; else it is after / before
	Value  float64 // 0 when a quotient fell to 0

	Interval  bool    // Low and High are known
	Low, High float64 // 95 % interval of Value
	WhyNot    string  // why there is none

	Judged            bool    // DiffLow and DiffHigh are known
	DiffLow, DiffHigh float64 // 95 % interval of after − before, in the row's unit
}

// A Row is one figure of both sides.
type Row struct {
	ID     string // latency.p99
	Name   string // p99
	Step   int    // Step.Number of before; 0 for the whole run
	PerSec float64
	Unit   Unit
	Goal   Goal
	Before Value
	After  Value
	Change Change
	Moved  Moved
}

// A Group is rows that are read together.
type Group struct {
	ID    string // focus, above, below, database, cpu, controls, command, endpoints
	Title string
	Rows  []Row
}

// A Side is one of the two.
type Side struct {
	Runs []kasoku.Run // one today
	Step kasoku.Step  // that the focus compares; zero when the runs have no steps
}

// Run returns the side's first run.
func (s Side) Run() kasoku.Run { return s.Runs[0] }

// A Comparison is what Compare found.
type Comparison struct {
	Before, After Side
	PerSec        float64 // asked rate of the focus step; 0 without steps
	Broke         bool    // at the focus step fewer than FailsBelow of one side's requests succeeded
	Verdict       string  // the sentence at the top
	Groups        []Group
	Curve         []Quantile // latency at the focus step
	Settings      []SettingChange
	SettingsEqual int // how many are the same
	Findings      []FindingChange
	Queries       []QueryChange
	Warnings      []kasoku.Warning
	Seed          uint64
	Resamples     int
	Block         int // seconds, at the focus step
}

// OneRun is how every output labels a comparison of one run a side.
const OneRun = "one run a side: seconds within a run, not repeated runs"

// LeastChange is the least change, up or down, that is called better or worse;
// LeastPoints is that of ratios. Two runs of the same thing on an idle host
// commonly differ by some percent, which the seconds of one run cannot tell.
const LeastChange = 0.05

// LeastPoints is the least difference of success that is called a change: below
// one request in a hundred, two runs of the same thing differ.
const LeastPoints = 0.01

// FailsBelow is the success ratio under which a step counts as broken.
const FailsBelow = kasoku.FailingBelow

// A Quantile is one point of the two latency curves.
type Quantile struct {
	Name          string // p99
	Q             float64
	Before, After float64 // s
}

// Compare puts before and after side by side. It takes one run a side; several
// are refused. It fails with a [*MismatchError], which carries a hint, when the
// runs were not loaded alike.
func Compare(before, after []*kasoku.Recording, o Options) (*Comparison, error) {
	if len(before) != 1 || len(after) != 1 {
		return nil, &MismatchError{
			What: "compare takes one run a side",
			Help: "name one run for before and one for after",
		}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Resamples <= 0 {
		o.Resamples = Resamples
	}
	b, a := before[0], after[0]
	pairs, err := matchSteps(b, a, o.Step)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Before: Side{Runs: []kasoku.Run{b.Run}}, After: Side{Runs: []kasoku.Run{a.Run}},
		Seed: o.Seed, Resamples: o.Resamples,
	}
	m := &maker{c: c, before: b, after: a, counters: countersOf(b, a)}
	m.steps(pairs)
	m.command()
	if len(pairs) == 0 {
		m.endpoints()
	}
	c.Settings, c.SettingsEqual = diffSettings(b, a)
	c.Findings = diffFindings(b.Diagnosis, a.Diagnosis)
	c.Queries = diffQueries(b.Queries, a.Queries)
	c.Warnings = warnings(b, a, pairs, c)
	c.Verdict = c.verdict()
	return c, nil
}

// Row returns the row with the id at the focus step, or of the whole run; nil
// when there is none.
func (c *Comparison) Row(id string) *Row {
	for g := range c.Groups {
		for r := range c.Groups[g].Rows {
			row := &c.Groups[g].Rows[r]
			if row.ID == id && (row.Step == 0 || row.Step == c.Before.Step.Number) {
				return row
			}
		}
	}
	return nil
}

// Moved returns the rows that went that way.
func (c *Comparison) Moved(m Moved) []Row {
	var out []Row
	for _, g := range c.Groups {
		for _, r := range g.Rows {
			if r.Moved == m {
				out = append(out, r)
			}
		}
	}
	return out
}
