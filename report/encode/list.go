package encode

import (
	"io"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/store"
)

// A List is the runs of a tuning, in the order of its steps.
type List struct {
	Schema int      `json:"schema"`
	Kind   string   `json:"kind"`
	Runs   []Listed `json:"runs"`
}

// A Listed is one run of it.
type Listed struct {
	Path          string    `json:"path"`
	ID            string    `json:"id"`
	Project       string    `json:"project"`
	Label         string    `json:"label"`
	Note          string    `json:"note"`
	State         string    `json:"state"`
	StopReason    string    `json:"stop_reason,omitempty"`
	Started       time.Time `json:"started"`
	LengthSeconds float64   `json:"length_s"`
	Load          string    `json:"load"`
	Verdict       string    `json:"verdict"`
	SizeBytes     int64     `json:"size_bytes"`
	Error         string    `json:"error,omitempty"`
	Revision      string    `json:"revision"`
	Dirty         bool      `json:"dirty"`
	Group         string    `json:"group,omitempty"`
	Repeat        int       `json:"repeat,omitempty"`
	Base          string    `json:"base,omitempty"`
	Observers     string    `json:"observers"`
	PricePerHour  float64   `json:"price_per_hour,omitempty"`
	Currency      string    `json:"currency,omitempty"`
	Score         *Score    `json:"score,omitempty"`
	Summary       *Summary  `json:"summary,omitempty"`

	Step        int    `json:"step"`
	StepVerdict string `json:"step_verdict"`
	AgainstBest string `json:"against_best,omitempty"`
}

// A Summary is what came of it in a few figures.
type Summary struct {
	Source      string   `json:"source"`
	Requests    uint64   `json:"requests"`
	Succeeded   uint64   `json:"succeeded"`
	PerSec      *float64 `json:"per_s"`
	AskedPerSec *float64 `json:"asked_per_s"`
	P50         *float64 `json:"p50_s"`
	P99         *float64 `json:"p99_s"`
	CPU         *float64 `json:"cpu_s"`
	LoadTime    *float64 `json:"load_s"`
	Bottleneck  string   `json:"bottleneck"`
}

// ListJSON writes the steps of a list of runs, a run a row.
func ListJSON(w io.Writer, steps []runlist.ListStep) error {
	out := List{Schema: Schema, Kind: "list", Runs: []Listed{}}
	for _, s := range steps {
		for _, i := range s.Runs {
			out.Runs = append(out.Runs, listedOf(i, s))
		}
	}
	return JSON(w, out)
}

func listedOf(i store.Info, s runlist.ListStep) Listed {
	l := Listed{
		Path: i.Path, ID: i.ID, Project: i.Project, Label: i.Label, Note: i.Note, State: string(i.State),
		StopReason: i.StopReason,
		Started:    i.Started, LengthSeconds: i.Length.Seconds(), Load: i.Load, Verdict: i.Verdict, SizeBytes: i.SizeBytes,
		Revision: i.Revision, Dirty: i.Dirty, Group: i.Group, Repeat: i.Repeat, Base: i.Base, Observers: i.Observers,
		PricePerHour: i.Price.PerHour, Currency: i.Price.Currency, Summary: summaryOf(i.Summary),
		Step: s.Number, StepVerdict: s.Verdict, AgainstBest: s.AgainstBest,
	}
	if i.Err != nil {
		l.Error = i.Err.Error()
	}
	if i.Score != nil && numberOrNil(i.Score.Value) != nil {
		l.Score = newScore(i.Score)
	}
	return l
}

// numberOrNil is nil, and so null, for what JSON has no number for.
func numberOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// measuredOrNil is nil for what was not measured, which a summary keeps as 0.
func measuredOrNil(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return numberOrNil(v)
}

func summaryOf(s *kasoku.Summary) *Summary {
	if s == nil {
		return nil
	}
	l := &Summary{
		Source: s.Source, Requests: s.Requests, Succeeded: s.Succeeded, AskedPerSec: measuredOrNil(s.Asked),
		P50: measuredOrNil(s.P50.Seconds()), P99: measuredOrNil(s.P99.Seconds()), CPU: measuredOrNil(s.CPU.Seconds()),
		LoadTime:   measuredOrNil(s.LoadTime.Seconds()),
		Bottleneck: s.Bottleneck,
	}
	if s.Source != "" {
		l.PerSec = numberOrNil(s.PerSec)
	}
	return l
}
