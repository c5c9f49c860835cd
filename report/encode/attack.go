package encode

import (
	"io"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/loadreport"
)

// AttackJSON writes what came of an attack.
func AttackJSON(w io.Writer, a *loadreport.Attack, o report.Options) error {
	return JSON(w, newAttack(a, o))
}

// An Attack is a load that was made outside of a run, and what came of it.
type Attack struct {
	Schema    int            `json:"schema"`
	Kind      string         `json:"kind"` // attack
	Name      string         `json:"name,omitempty"`
	Verdict   string         `json:"verdict"`
	Alerts    []string       `json:"alerts"`
	Started   time.Time      `json:"started"`
	Length    float64        `json:"length_s"`
	Schedule  string         `json:"schedule,omitempty"`
	Seed      *uint64        `json:"seed"`
	Total     Counts         `json:"total"`
	Reached   *float64       `json:"reached_per_s"`
	Steps     []Step         `json:"steps"`
	Targets   []AttackTarget `json:"targets"`
	Generator Generator      `json:"generator"`
	Memory    *uint64        `json:"memory_bytes"`
	Warnings  []Warning      `json:"warnings"`
	Hosts     []AttackHost   `json:"generators,omitempty"` // of a load from many machines
	Skew      *float64       `json:"skew_s,omitempty"`     // the most by which the starts of two can differ
}

// An AttackHost is one of the machines that sent a load.
type AttackHost struct {
	Name      string   `json:"generator"`
	Due       uint64   `json:"due"` // 0 in a closed loop
	Reported  uint64   `json:"reported"`
	Offset    float64  `json:"clock_offset_s"`
	Bound     float64  `json:"clock_bound_s"`
	Drift     *float64 `json:"drift_s"`
	P99       float64  `json:"p99_delay_s"`
	MaxDelay  float64  `json:"max_delay_s"`
	Cores     int      `json:"cores"`
	PeakCores float64  `json:"peak_cores"`
	Lost      string   `json:"lost,omitempty"`
}

func newAttackHost(h *loadreport.AttackHost) AttackHost {
	out := AttackHost{Name: h.Name, Due: h.Due, Reported: h.Reported, Offset: h.Offset.Seconds(), Bound: h.Bound.Seconds(),
		P99: h.P99.Seconds(), MaxDelay: h.MaxDelay.Seconds(), Cores: h.Cores, PeakCores: rounded(h.PeakCores), Lost: h.Lost}
	if h.Drift != nil {
		sec := h.Drift.Seconds()
		out.Drift = &sec
	}
	return out
}

// An AttackTarget is what came of the requests to one target.
type AttackTarget struct {
	Target string `json:"target"`
	Counts Counts `json:"counts"`
}

func newTarget(t *loadreport.AttackTarget) AttackTarget {
	return AttackTarget{t.Name, newCounts(t.Tally)}
}

func newAttack(a *loadreport.Attack, o report.Options) *Attack {
	d := loadreport.AttackDocument(a, o)
	out := &Attack{
		Schema: Schema, Kind: "attack", Name: a.Name, Verdict: d.Verdict, Started: a.Started,
		Length: a.Length().Seconds(), Schedule: a.Schedule, Seed: a.Seed,
		Alerts: list(d.Alerts, func(a *report.Alert) string { return a.Text }),
		Total:  newCounts(a.Tally), Generator: newGenerator(&a.Summary),
		Steps:    list(a.Steps, func(s *loadreport.AttackStep) Step { return newStep(&s.Step, s.Tally, s.Interval.Len()) }),
		Targets:  list(a.Targets, newTarget),
		Warnings: list(a.Warnings, newWarning),
	}
	out.Reached = finite(a.Reached())
	for i := range out.Steps {
		out.Steps[i].Reached = finite(a.StepReached(i))
	}
	if len(a.Hosts) > 0 {
		skew := a.Skew.Seconds()
		out.Hosts, out.Skew = list(a.Hosts, newAttackHost), &skew
	}
	if a.Memory > 0 {
		out.Memory = &a.Memory
	}
	return out
}

func newGenerator(l *kasoku.LoadSummary) Generator {
	return Generator{
		Engine: l.Engine, EngineWhy: l.EngineWhy, Model: l.Model, Pacing: l.Pacing, Targets: full(l.Targets),
		MaxInFlight: l.MaxInFlight, PeakInFlight: l.PeakInFlight, Shards: l.Shards,
		Connections: l.Connections, Resent: l.Resent, Redirected: l.Redirected,
		CPU: l.CPU.Seconds(), Wall: l.Wall.Seconds(), Cores: l.Cores, PeakCores: rounded(l.PeakCores),
		Stopped: l.Stopped,
	}
}

// finite returns nil for what is not known: NaN.
func finite(v float64) *float64 { return known(v, !math.IsNaN(v)) }
