package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/process"
)

// A Process is one process whose CPU time a run recorded.
type Process struct {
	Host         string
	PID          string
	Name         string
	Own          bool           // kasoku itself: generator and recorder
	User, System *kasoku.Series // counters, s; one of them may be nil
}

// Processes returns the processes that a run recorded, sorted by name and id.
//
// Own is found without an id of its own in the file: among the processes called
// kasoku it is the one whose CPU time is nearest to what the recorder counted of
// itself. A lab that kasoku starts may bear the same name.
func Processes(run *kasoku.Recording) []Process {
	byKey := map[[2]string]*Process{}
	var order [][2]string
	for i := range run.Series {
		s := &run.Series[i]
		if s.Key.Source != process.Name || s.Key.Name != process.CPUUser && s.Key.Name != process.CPUSystem {
			continue
		}
		key := [2]string{s.Key.Host, s.Key.Instance}
		p := byKey[key]
		if p == nil {
			pid, name, _ := strings.Cut(s.Key.Instance, " ")
			p = &Process{Host: s.Key.Host, PID: pid, Name: name}
			byKey[key] = p
			order = append(order, key)
		}
		if s.Key.Name == process.CPUUser {
			p.User = s
		} else {
			p.System = s
		}
	}
	out := make([]Process, 0, len(order))
	for _, key := range order {
		out = append(out, *byKey[key])
	}
	markOwn(run, out)
	slices.SortStableFunc(out, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.PID), len(b.PID)), cmp.Compare(a.PID, b.PID))
	})
	return out
}

func markOwn(run *kasoku.Recording, ps []Process) {
	var self float64
	for _, name := range []string{observe.SelfCPUUser, observe.SelfCPUSystem} {
		self += total(growthOf(run.Find(kasoku.Key{Source: observe.SelfName, Name: name})))
	}
	best, distance := -1, math.Inf(1)
	for i, p := range ps {
		if !strings.HasPrefix(p.Name, "kasoku") {
			continue
		}
		used := total(growthOf(p.User)) + total(growthOf(p.System))
		if d := math.Abs(used - self); d < distance {
			best, distance = i, d
		}
	}
	if best >= 0 {
		ps[best].Own = true
	}
}

func total(g growth) float64 {
	if len(g.grown) == 0 {
		return 0
	}
	return g.grown[len(g.grown)-1]
}

// parts returns the counters of the process that were recorded.
func (p Process) parts() []growth {
	var out []growth
	for _, s := range []*kasoku.Series{p.User, p.System} {
		if s != nil {
			out = append(out, growthOf(s))
		}
	}
	return out
}

// label is the name under which a process is matched: kasoku itself apart from a
// lab of the same name.
func (p Process) label() string {
	if p.Own {
		return "kasoku itself"
	}
	return p.Name
}
