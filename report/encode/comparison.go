package encode

import (
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
)

// A Comparison is two sides.
type Comparison struct {
	Schema        int                 `json:"schema"`
	Kind          string              `json:"kind"`  // compare
	Label         string              `json:"label"` // one run a side …
	Verdict       string              `json:"verdict"`
	Outcome       string              `json:"outcome"` // of the primary row: better, worse, noise, unsure, or empty
	Primary       string              `json:"primary"` // id of the row that the outcome rests on
	Tested        int                 `json:"tested"`  // rows that were tested; one in twenty moves by chance
	Floor         *Floor              `json:"floor"`   // where the noise of unchanged runs comes from; null when it is not known
	Before        Side                `json:"before"`
	After         Side                `json:"after"`
	PerSec        *float64            `json:"asked_per_s"` // of the step that the verdict is about; null without steps
	Broke         bool                `json:"broke"`
	Seed          uint64              `json:"seed"`
	Resamples     int                 `json:"resamples"`
	Block         int                 `json:"block_s"`
	Groups        []Group             `json:"groups"`
	Latency       []Quantile          `json:"latency"`
	Changes       []Changed           `json:"changes"`
	Settings      []SettingChange     `json:"settings"`
	SettingsEqual int                 `json:"settings_equal"`
	Configs       []ConfigDiff        `json:"configs"`
	Findings      []FindingChange     `json:"findings"`
	Endpoints     []EndpointChange    `json:"endpoints"` // of the run in the middle of each side, as are the next
	Queries       []QueryChange       `json:"queries"`
	Transactions  []TransactionChange `json:"transactions"`
	Plans         []PlanChange        `json:"plans"` // those that differ
	PlansEqual    int                 `json:"plans_equal"`
	Advice        []AdviceChange      `json:"advice"`
	Profiles      []ProfileChange     `json:"profiles"` // of all runs of each side together
	Warnings      []Warning           `json:"warnings"`
}

// A Side is one of the two.
type Side struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Revision string `json:"revision,omitempty"`
	Dirty    bool   `json:"dirty"`
	State    string `json:"state"`
	Runs     int    `json:"runs"`

	IDs []string `json:"ids"` // of all its runs
}

// A Floor defines where the noise of unchanged runs comes from.
type Floor struct {
	Runs   int    `json:"runs"`
	Source string `json:"source"`
}

// A Changed is one thing that was changed between the sides.
type Changed struct {
	Kind   string `json:"kind"` // code, setting, configuration, schema, observation, machine
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// A Group is rows that are read together.
type Group struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// A Row is one figure of both sides.
type Row struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	PerSec   *float64 `json:"asked_per_s"` // of its step; null for the whole run
	Unit     string   `json:"unit"`        // ratio, s, per_s, ratio_n, count, cores, core_ratio, bytes
	Goal     string   `json:"goal"`        // less, more, neither
	Before   *float64 `json:"before"`
	After    *float64 `json:"after"`
	Change   string   `json:"change"` // quotient: after / before; difference: after − before
	Value    *float64 `json:"value"`
	Low      *float64 `json:"low"`  // of the 95 % interval of value
	High     *float64 `json:"high"` // of the 95 % interval of value
	WhyNot   string   `json:"why_no_interval,omitempty"`
	Moved    string   `json:"direction"` // better, worse, different, noise, unsure, or empty
	Decisive bool     `json:"interval_excludes_no_change"`
	Spread   *float64 `json:"noise"`          // half of what two unchanged runs differ by, in what value is; null when it is not known
	Inside   bool     `json:"inside_noise"`   // the change is no more than that
	Test     *Test    `json:"test,omitempty"` // with several runs

	BeforeRuns []*float64 `json:"before_runs,omitempty"` // with several runs: one each, null where it was not measured
	AfterRuns  []*float64 `json:"after_runs,omitempty"`
}

// A Test is what several runs show.
type Test struct {
	P       float64 `json:"p"`
	Effect  float64 `json:"effect"` // Cliff's delta
	Verdict string  `json:"verdict"`
	Need    int     `json:"need_runs"` // a side; 0 when it is settled or unknown
	Why     string  `json:"why"`
}

// A Quantile is a point of both latency curves.
type Quantile struct {
	Name   string  `json:"name"`
	Q      float64 `json:"q_ratio"`
	Before float64 `json:"before_s"`
	After  float64 `json:"after_s"`
}

// A SettingChange is a setting in which the sides differ.
type SettingChange struct {
	Scope  string  `json:"scope"`
	Name   string  `json:"name"`
	Before *string `json:"before"` // null where the side does not have it
	After  *string `json:"after"`
}

// A FindingChange is what became of a finding.
type FindingChange struct {
	ID     string `json:"id"`
	Object Object `json:"object"`
	Title  string `json:"title"`
	State  string `json:"state"` // gone, left, new, not looked at
	Why    string `json:"why,omitempty"`
}

func newComparison(c *compare.Comparison) *Comparison {
	out := &Comparison{
		Schema: Schema, Kind: "compare", Label: c.Label, Verdict: c.Verdict, Outcome: string(c.Outcome),
		Tested: c.Tested(), Before: newSide(c.Before), After: newSide(c.After),
		Broke: c.Broke, Seed: c.Drawn.Seed, Resamples: c.Drawn.Resamples, Block: c.Drawn.Block, PerSec: known(c.PerSec, c.PerSec > 0),
		Groups: list(c.Groups, newGroup),
		Latency: list(c.Curve, func(q *compare.Quantile) Quantile {
			return Quantile{q.Name, q.Q, rounded(q.Before),
				rounded(q.After)}
		}),
		Settings: list(c.Settings, func(s *compare.SettingChange) SettingChange {
			x := SettingChange{Scope: s.Scope, Name: s.Name}
			if !s.OnlyAfter {
				x.Before = &s.Before
			}
			if !s.OnlyBefore {
				x.After = &s.After
			}
			return x
		}),
		SettingsEqual: c.SettingsEqual,
		Configs:       list(c.Configs, newConfigDiff),
		Changes: list(c.Changes, func(x *compare.Changed) Changed {
			return Changed{string(x.Kind), x.Name,
				x.Before, x.After}
		}),
		Findings: list(c.Findings, func(f *compare.FindingChange) FindingChange {
			return FindingChange{f.ID, Object{f.Object.Kind, f.Object.Name}, f.Title, string(f.State), f.Why}
		}),
		Endpoints: list(c.Matched.Endpoints, func(b *compare.Both[kasoku.Endpoint]) EndpointChange {
			return EndpointChange{side(b.Before, newEndpoint), side(b.After, newEndpoint)}
		}),
		Queries: list(c.Matched.Queries, func(b *compare.Both[kasoku.Query]) QueryChange {
			return QueryChange{side(b.Before, newQuery), side(b.After, newQuery)}
		}),
		Transactions: list(c.Matched.Transactions, func(b *compare.Both[kasoku.Transaction]) TransactionChange {
			return TransactionChange{side(b.Before, newTransaction), side(b.After, newTransaction)}
		}),
		Plans: list(c.Matched.Plans, newPlanChange), PlansEqual: c.Matched.PlansEqual,
		Profiles: list(c.Matched.Profiles, newProfileChange),
		Advice: list(c.Matched.Advice, func(a *compare.AdviceChange) AdviceChange {
			return AdviceChange{string(a.State), a.InForce, side(a.Before, NewAdvice), side(a.After, NewAdvice)}
		}),
		Warnings: list(c.Warnings, func(w *kasoku.Warning) Warning { return newWarning(w) }),
	}
	if p := c.Primary(); p != nil {
		out.Primary = p.ID
	}
	if f := c.Floor; f != nil {
		out.Floor = &Floor{f.Runs, f.Source}
	}
	return out
}

func newSide(s compare.Side) Side {
	r := s.Run()
	return Side{r.ID, r.Label, r.Revision, r.Dirty, string(r.State), len(s.Runs),
		list(s.Runs, func(r *kasoku.Run) string { return r.ID })}
}

// known is a number, or null.
func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	v = rounded(v)
	return &v
}

// rounded keeps nine digits of a computed number: more than anything measured has,
// and few enough to be the same on every machine.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func newGroup(g *compare.Group) Group {
	return Group{g.ID, g.Title, list(g.Rows, newRow)}
}

func newRow(r *compare.Row) Row {
	c := r.Change
	out := Row{
		ID: r.ID, Name: r.Name, PerSec: known(r.PerSec, r.PerSec > 0), Unit: string(r.Unit), Goal: string(r.Goal),
		Before: known(r.Before.Value, r.Before.OK), After: known(r.After.Value, r.After.OK), Change: "quotient",
		Value: known(c.Value, c.OK), Low: known(c.Low, c.Interval), High: known(c.High, c.Interval), WhyNot: c.WhyNot,
		Moved: string(r.Moved), Decisive: c.Judged && (c.DiffLow > 0 || c.DiffHigh < 0),
	}
	if c.Points {
		out.Change = "difference"
	}
	if s := r.Spread; s != nil {
		out.Spread, out.Inside = known(s.Half, true), r.Inside()
	}
	if s := r.Samples; s != nil {
		out.Test = &Test{rounded(s.P), rounded(s.Effect), string(s.Verdict), s.Need, s.Why}
	}
	if len(r.BeforeRuns) > 1 || len(r.AfterRuns) > 1 {
		single := func(v *compare.Value) *float64 { return known(v.Value, v.OK) }
		out.BeforeRuns, out.AfterRuns = list(r.BeforeRuns, single), list(r.AfterRuns, single)
	}
	return out
}
