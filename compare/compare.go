package compare

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
)

// Resamples is how often the seconds of a step are drawn: enough for the ends of
// a 95 % interval to be stable to about 5 % of its width.
const Resamples = 2000

// Options configure what is compared.
type Options struct {
	Step      float64 // asked rate, req/s, of the one step to compare; 0 for all
	Seed      uint64  // of the draws; 0 is 1
	Resamples int     // 0 is Resamples

	// Unchanged are repeated runs of one thing, loaded like the runs that are
	// compared: how far they differ is the noise floor. Sides of several runs have
	// their own.
	Unchanged []*kasoku.Recording
}

// A Unit is what the values of a row are, so that outputs can print them.
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
	Score      Unit = "score"     // of a benchmark
	OfRuns     Unit = "runs"      // how many runs, of those that were judged
	PerPrice   Unit = "per_price" // for one unit of a currency, or of it an hour
	PerCPU     Unit = "per_cpu_s" // for a second of CPU
)

// A Goal defines which way is better.
type Goal string

// The goals.
const (
	Less    Goal = "less"
	More    Goal = "more"
	Neither Goal = "neither"
)

// Moved defines which way a row went. With one run a side it claims no significance.
type Moved string

// The directions.
const (
	Better    Moved = "better"
	Worse     Moved = "worse"
	Differs   Moved = "different" // of several runs; neither way is better
	Noise     Moved = "noise"     // of several runs: no difference shown, which is not the same as none
	Unsure    Moved = "unsure"    // of one run: the interval holds no change, or unchanged runs differ as much
	NotJudged Moved = ""          // no interval, too few runs, or neither way is better
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
	Before Value // the median of several runs
	After  Value
	Change Change
	Moved  Moved

	BeforeRuns []Value       // one a run, as the runs of the side stand
	AfterRuns  []Value       //
	Samples    *Significance // what several runs show; nil with one run a side
	Spread     *Spread       // how far two unchanged runs differ; nil when it is not known
}

// A Group is rows that are read together.
type Group struct {
	ID    string // focus, above, below, database, cpu, controls, command, endpoints
	Title string
	Rows  []Row
}

// A Side is one of the two.
type Side struct {
	Runs []kasoku.Run
	Step kasoku.Step // that the focus compares, of the first run; zero when the runs have no steps

	Failed string // why its runs failed, of the first; empty where one of them did not
}

// Run returns the side's first run.
func (s Side) Run() kasoku.Run { return s.Runs[0] }

// Name is what people call the side: the label of its runs, else their group, else
// the first one's name and how many more there are.
func (s Side) Name() string {
	first := s.Run()
	same := func(field func(kasoku.Run) string) bool {
		return field(first) != "" && !slices.ContainsFunc(s.Runs, func(r kasoku.Run) bool { return field(r) != field(first) })
	}
	switch {
	case same(func(r kasoku.Run) string { return r.Label }):
		return first.Label
	case len(s.Runs) > 1 && same(func(r kasoku.Run) string { return r.Group }):
		return first.Group
	}
	name := cmp.Or(first.Label, first.ID)
	if n := len(s.Runs) - 1; n > 0 {
		name += " and " + unit.Count(n) + " more"
	}
	return name
}

// A Comparison is what Compare found.
type Comparison struct {
	Before, After Side
	PerSec        float64 // asked rate of the focus step; 0 without steps
	Broke         bool    // at the focus step fewer than FailsBelow of one side's requests succeeded
	Verdict       string  // the sentence at the top
	Outcome       Moved   // which way the primary row went
	Label         string  // how sure that is: OneRun, or "5 runs against 5 …"
	Floor         *Floor  // how far unchanged runs differ; nil when it is not known
	Groups        []Group
	Curve         []Quantile // latency at the focus step, of all runs of a side together
	Changes       []Changed  // what was changed between the sides, as far as the files show
	Settings      []SettingChange
	SettingsEqual int          // how many are the same
	Configs       []ConfigDiff // texts of the configuration
	Findings      []FindingChange
	Warnings      []kasoku.Warning
	Drawn         Drawn
	Matched       Matched
}

// Drawn is how the seconds of one run a side were drawn again.
type Drawn struct {
	Seed      uint64
	Resamples int // 0 with several runs a side: nothing is drawn
	Block     int // seconds, at the focus step; 0 with several runs a side
}

// Matched is what the logs and the server of the run in the middle of each side
// reported, side by side; nothing of what a side has none of.
type Matched struct {
	Endpoints    []Both[kasoku.Endpoint]    // by route, those of the most total time first
	Queries      []Both[kasoku.Query]       // by id, likewise
	Transactions []Both[kasoku.Transaction] // by shape and tag, likewise
	Plans        []PlanChange               // that differ, of the run in the middle or else the newest that has plans
	PlansEqual   int
	Advice       []AdviceChange
	Profiles     []ProfileChange // of all runs of each side together
}

// Single reports whether there is one run a side.
func (c *Comparison) Single() bool { return len(c.Before.Runs) == 1 && len(c.After.Runs) == 1 }

// OneRun is how every output labels a comparison of one run a side.
const OneRun = "one run a side: seconds within a run, not repeated runs"

// LeastChange is the least change, up or down, that is called better or worse;
// LeastPoints is that of ratios. Two runs of the same thing on an idle host
// commonly differ by some percent, which the seconds of one run cannot show.
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

// Compare puts before and after side by side, one or several runs each. Of one run
// a side, the seconds of the runs are what is judged; of several, each row has one
// figure a run and is judged by [Samples]. It fails with a [*MismatchError], which
// carries a hint, when the runs were not loaded alike.
func Compare(before, after []*kasoku.Recording, o Options) (*Comparison, error) {
	if len(before) == 0 || len(after) == 0 {
		return nil, &MismatchError{What: "a side has no run", Help: "name at least one run for before and one for after"}
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Resamples <= 0 {
		o.Resamples = Resamples
	}
	before, after = alike(before, after)
	pairs, err := matchSteps(before, after, o.Step)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: sideOf(before), After: sideOf(after), Drawn: Drawn{Seed: o.Seed}}
	if c.Single() {
		c.Drawn.Resamples = o.Resamples
	}
	m := &maker{c: c, before: before, after: after, counters: countersOf(slices.Concat(before, after)), resamples: o.Resamples}
	m.groups(pairs)
	b, a := before[0], after[0]
	for _, part := range []struct {
		name string
		make func()
	}{
		{"spread", func() { c.spread(before, after, o.Unchanged) }},
		{"label", func() { c.Label = c.label() }},
		{"middle", func() { b, a = c.middle(before, (*Row).before), c.middle(after, (*Row).after) }},
		{"settings", func() { c.Settings, c.SettingsEqual = diffSettings(b, a) }},
		{"changes", func() { c.Changes = Changes(b, a) }},
		{"configuration", func() { c.Configs = DiffConfigs(b, a) }},
		{"findings", func() { c.Findings = Findings(diagnosisOf(before), diagnosisOf(after)) }},
		{"logs", func() { c.Matched.addLogs(b, a) }},
		{"plans", func() { c.Matched.Plans, c.Matched.PlansEqual = diffPlans(planned(before, b), planned(after, a)) }},
		{"advice", func() { c.Matched.Advice = diffAdvice(b, a) }},
		{"profiles", func() { c.Matched.Profiles = diffProfiles(before, after) }},
		{"warnings", func() { c.Warnings = append(c.Warnings, warnings(before, after, pairs, c)...) }},
		{"note", func() { c.warnUnmentioned(after) }},
		{"outcome", func() { c.settle() }},
		{"verdict", func() { c.Verdict = notAlike(before[0], after[0]) + c.verdict() }},
	} {
		c.part(part.name, part.make)
	}
	return c, nil
}

// part makes one part of the comparison. One that panics is a warning; the others are
// made.
func (c *Comparison) part(name string, make func()) {
	kasoku.Contained(contain.Part{Kind: contain.Table, Name: "comparison: " + name}, &c.Warnings, make)
}

func sideOf(runs []*kasoku.Recording) Side {
	s := Side{}
	for _, r := range runs {
		s.Runs = append(s.Runs, r.Run)
	}
	for i, r := range runs {
		why := r.WhyFailed()
		if why == "" {
			s.Failed = ""
			break
		}
		if i == 0 {
			s.Failed = why
		}
	}
	return s
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
