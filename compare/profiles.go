package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
)

// A ProfileChange is what became of the profiles of one kind of one program. The
// profiles of all runs of a side are added up.
type ProfileChange struct {
	Program                 string
	Kind                    kasoku.ProfileKind
	Unit                    string
	BeforeRuns, AfterRuns   int           // that have such a profile
	Before, After           int64         // totals
	BeforeTime, AfterTime   time.Duration // over which they count
	Functions               []profile.Moved
	beforeCount, afterCount float64 // samples, of CPU
	before, after           []*kasoku.Profile
}

// Stacks returns the stacks of both sides as one tree, nil when those of a run were not kept.
func (c *ProfileChange) Stacks() (*profile.MovedNode, error) {
	return profile.MovedTree(c.before, c.after)
}

// cpuSample is what one sample of Go's CPU profiler stands for: it takes 100 a second
// of CPU time.
//
// Source: runtime/pprof, StartCPUProfile.
const cpuSample = 10 * time.Millisecond

// LeastMoved is the least change of a share that is reported: one point.
const LeastMoved = 0.01

// Sampling returns by how much the shares of a function differ by the chance of
// sampling alone in 19 of 20 cases, 0 where that is not known. What two runs differ
// by comes on top.
func (c *ProfileChange) Sampling(m profile.Moved) float64 {
	if c.Kind != kasoku.ProfileCPU || c.beforeCount <= 0 || c.afterCount <= 0 {
		return 0
	}
	// Two standard errors of the difference of two shares; a share of 0 or 1 is
	// moved off its edge by one sample.
	variance := func(share, n float64) float64 {
		p := (share*n + 1) / (n + 2)
		return p * (1 - p) / n
	}
	return 1.96 * math.Sqrt(variance(m.BeforeFlat, c.beforeCount)+variance(m.AfterFlat, c.afterCount))
}

// Shown reports whether a function's own share moved by more than sampling explains.
func (c *ProfileChange) Shown(m profile.Moved) bool {
	return math.Abs(m.Points()) >= max(LeastMoved, c.Sampling(m))
}

// diffProfiles compares what both sides have profiles of.
func diffProfiles(before, after []*kasoku.Recording) []ProfileChange {
	b, a := addedUp(before), addedUp(after)
	var out []ProfileChange
	for _, x := range b {
		i := slices.IndexFunc(a, func(y summed) bool { return y.program == x.program && y.Kind == x.Kind })
		if i < 0 || x.Total+a[i].Total == 0 {
			continue
		}
		y := a[i]
		out = append(out, ProfileChange{
			Program: x.program, Kind: x.Kind, Unit: cmp.Or(y.Unit, x.Unit), BeforeRuns: x.runs, AfterRuns: y.runs,
			Before: x.Total, After: y.Total,
			BeforeTime: x.time, AfterTime: y.time, Functions: profile.Diff(&x.Profile, &y.Profile),
			beforeCount: float64(x.Total) / float64(cpuSample), afterCount: float64(y.Total) / float64(cpuSample),
			before: x.of, after: y.of,
		})
	}
	kinds := kasoku.ProfileKinds()
	slices.SortStableFunc(out, func(p, q ProfileChange) int {
		return cmp.Or(strings.Compare(p.Program, q.Program), cmp.Compare(slices.Index(kinds, p.Kind),
			slices.Index(kinds, q.Kind)))
	})
	return out
}

// A summed is the profiles of one kind of one program, of all runs of a side.
type summed struct {
	kasoku.Profile
	program string
	runs    int
	time    time.Duration
	of      []*kasoku.Profile
}

func addedUp(runs []*kasoku.Recording) []summed {
	var out []summed
	for _, r := range runs {
		for i := range r.Profiles {
			p := &r.Profiles[i]
			name := cmp.Or(p.Program, p.Address)
			k := slices.IndexFunc(out, func(s summed) bool { return s.program == name && s.Kind == p.Kind })
			if k < 0 {
				k = len(out)
				out = append(out, summed{Profile: kasoku.Profile{Kind: p.Kind, Unit: p.Unit}, program: name})
			}
			out[k].add(p)
		}
	}
	return out
}

func (s *summed) add(p *kasoku.Profile) {
	s.runs++
	s.of = append(s.of, p)
	s.time += p.Interval.Len()
	s.Total += p.Total
	at := make(map[string]int, len(s.Functions))
	for i := range s.Functions {
		at[s.Functions[i].Name] = i
	}
	for _, f := range p.Functions {
		i, ok := at[f.Name]
		if !ok {
			s.Functions = append(s.Functions, f)
			continue
		}
		s.Functions[i].Flat += f.Flat
		s.Functions[i].Cum += f.Cum
	}
}
