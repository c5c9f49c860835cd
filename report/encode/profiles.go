package encode

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/observe/profile"
)

// A Profile is where in its code a program spent something. `kasoku show --profile`
// has its stacks.
type Profile struct {
	Host      string            `json:"host"`
	Program   string            `json:"program"`
	Address   string            `json:"address"`
	Profile   string            `json:"profile"` // cpu, allocs, heap, mutex, block, goroutine
	Unit      string            `json:"unit"`    // nanoseconds, bytes, count
	From      float64           `json:"from_s"`
	To        float64           `json:"to_s"`
	Total     int64             `json:"total"`
	Stacks    int               `json:"stacks"`
	Note      string            `json:"note,omitempty"`
	Functions []ProfileFunction `json:"functions"`
}

// A ProfileFunction is one function of a profile, in its unit.
type ProfileFunction struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Flat int64  `json:"flat"`
	Cum  int64  `json:"cum"`
}

func newProfile(p *kasoku.Profile) Profile {
	return Profile{
		p.Host, p.Program, p.Address, string(p.Kind), p.Unit, p.Interval.From.Seconds(), p.Interval.To.Seconds(),
		p.Total, p.Stacks, p.Note,
		list(p.Functions, func(f *kasoku.ProfileFunction) ProfileFunction {
			return ProfileFunction{f.Name, f.File, f.Line, f.Flat, f.Cum}
		}),
	}
}

// A ProfileChange is what became of a program's profiles of one kind.
type ProfileChange struct {
	Program    string          `json:"program"`
	Profile    string          `json:"profile"`
	Unit       string          `json:"unit"`
	BeforeRuns int             `json:"before_runs"`
	AfterRuns  int             `json:"after_runs"`
	Before     int64           `json:"before"` // of all its runs together
	After      int64           `json:"after"`
	BeforeTime float64         `json:"before_s"` // over which they count
	AfterTime  float64         `json:"after_s"`
	Functions  []FunctionMoved `json:"functions"`
}

// A FunctionMoved is a function's share of both sides.
type FunctionMoved struct {
	Name      string  `json:"name"`
	Before    float64 `json:"before_ratio"`
	After     float64 `json:"after_ratio"`
	BeforeCum float64 `json:"before_cum_ratio"`
	AfterCum  float64 `json:"after_cum_ratio"`
	Shown     bool    `json:"beyond_sampling"` // it moved by more than sampling and a hundredth explain
}

func newProfileChange(c *compare.ProfileChange) ProfileChange {
	return ProfileChange{
		c.Program, string(c.Kind), c.Unit, c.BeforeRuns, c.AfterRuns, c.Before, c.After, c.BeforeTime.Seconds(),
		c.AfterTime.Seconds(),
		list(c.Functions, func(m *profile.Moved) FunctionMoved {
			return FunctionMoved{m.Name, rounded(m.BeforeFlat), rounded(m.AfterFlat), rounded(m.BeforeCum),
				rounded(m.AfterCum), c.Shown(*m)}
		}),
	}
}
