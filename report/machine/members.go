package machine

import (
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/report/timeline"
)

// The kinds of a [Usage] where the members of the service are known: no program of
// neighbours is named then.
const (
	kindMember     = "member"
	kindLoad       = "load" // kasoku, and the command that makes the load
	kindNeighbours = "neighbours"
)

// A share is the CPU of some processes.
type share struct {
	Usage
	parts []*kasoku.Series
}

// serviceUsages returns what the members, the load with kasoku, and all neighbours together
// used; false where the members are not known, or nothing was recorded of them.
func (r hostUse) serviceUsages() (out []Usage, ok bool) {
	if !r.Service.Known() {
		return nil, false
	}
	var shares []share
	for _, p := range compare.Processes(r.Recording) {
		if p.Neighbour(r.Recording) {
			continue
		}
		name, kind := p.Name, kindLoad
		if m := timeline.MemberOf(r.Service, p); m != nil {
			name, kind, ok = m.ID, kindMember, true
		}
		i := slices.IndexFunc(shares, func(s share) bool { return s.Name == name && s.Kind == kind })
		if i < 0 {
			i, shares = len(shares), append(shares, share{Usage: Usage{Name: name, Kind: kind, Waited: math.NaN()}})
		}
		shares[i].parts = append(shares[i].parts, p.Counters()...)
	}
	if !ok {
		return nil, false
	}
	var known float64
	for _, s := range shares {
		for _, x := range s.parts {
			grown, _ := x.Delta(r.All())
			s.CPU += grown
			s.Peak += peak(x, steady)
		}
		if known += s.CPU; s.CPU > 0 {
			out = append(out, s.Usage)
		}
	}
	slices.SortStableFunc(out, byCPU)
	busy := 0.0
	for _, mode := range timeline.BusyModes {
		if s := r.Find(kasoku.Key{Source: host.Name, Name: mode}); s != nil {
			grown, _ := s.Delta(r.All())
			busy += grown
		}
	}
	if rest := busy - known; rest > 0 {
		out = append(out, Usage{Name: "all programs outside of the service, and the kernel", Kind: kindNeighbours,
			CPU: rest, Peak: math.NaN(), Waited: math.NaN()})
	}
	return out, true
}

// ofNeighbour reports whether a series of a process or of a thread is of a neighbour, as
// far as the members are known.
func (r hostUse) ofNeighbour(instance string) bool {
	if !r.Service.Known() {
		return false
	}
	number, _, _ := strings.Cut(instance, " ")
	pid, _, _ := strings.Cut(number, "/")
	for _, p := range compare.Processes(r.Recording) {
		if p.PID == pid {
			return p.Neighbour(r.Recording)
		}
	}
	return true // it was not watched: members' leaders are
}
