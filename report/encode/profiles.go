package encode

import (
	"io"
	"time"

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
	Profile   string            `json:"profile"` // cpu, waiting, allocs, heap, mutex, block, goroutine
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

// A ProfilesTaken is what kasoku profile has taken.
type ProfilesTaken struct {
	Schema   int        `json:"schema"`
	Kind     string     `json:"kind"` // profile
	Began    time.Time  `json:"began"`
	Length   float64    `json:"seconds"`
	Profiles []Profile  `json:"profiles"`
	Queues   []RunQueue `json:"run_queues"`
	Notes    []string   `json:"notes"`
}

// A RunQueue is how long the threads of a process were ready and had no CPU.
type RunQueue struct {
	PID      int     `json:"pid"`
	Name     string  `json:"name"`
	Queued   float64 `json:"queued_s"` // of all threads together
	Times    int64   `json:"times"`
	Forced   int64   `json:"preempted"`           // of those, times that a thread was interrupted for another
	Routines float64 `json:"goroutines_queued_s"` // goroutines that could have run and had no thread
}

// TakenProfiles are profiles that belong to no run.
type TakenProfiles struct {
	Began    time.Time
	Length   time.Duration
	Profiles []kasoku.Profile
	Queues   []RunQueue
	Warnings []kasoku.Warning
}

// ProfilesJSON writes profiles that belong to no run.
func ProfilesJSON(w io.Writer, t TakenProfiles) error {
	out := ProfilesTaken{Schema: 1, Kind: "profile", Began: t.Began.UTC(), Length: t.Length.Seconds(),
		Profiles: list(t.Profiles, newProfile), Queues: append([]RunQueue{}, t.Queues...), Notes: []string{}}
	for _, n := range t.Warnings {
		out.Notes = append(out.Notes, n.Text)
	}
	return JSON(w, out)
}
