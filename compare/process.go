package compare

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
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
	Member       bool           // of the service that was measured
	User, System *kasoku.Series // counters, s; one of them may be nil
	// Tree is, for the leader of a member, the counter, s, of all that it and what it
	// started used: User and System of all of the member's processes are in it. Nil else.
	Tree   *kasoku.Series
	inTree bool // its member has such a counter
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
			p = &Process{Host: s.Key.Host, PID: pid, Name: name, Member: ofService(run.Service, s.Key.Host, pid)}
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
	out = addTrees(run, out)
	markOwn(run, out)
	slices.SortStableFunc(out, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(len(a.PID), len(b.PID)), cmp.Compare(a.PID, b.PID))
	})
	return out
}

// addTrees gives the leaders of members their trees; one that is in no list of the busy has
// nothing else.
func addTrees(run *kasoku.Recording, ps []Process) []Process {
	for _, t := range process.MemberTrees(run) {
		k, tree := t.Series.Key, t.Series
		pid, name, _ := strings.Cut(k.Instance, " ")
		at := -1
		for i := range ps {
			if n, err := strconv.Atoi(ps[i].PID); err == nil && ps[i].Host == k.Host && t.Member.Has(n) {
				ps[i].inTree = true
				if ps[i].PID == pid {
					at = i
				}
			}
		}
		if at < 0 {
			at, ps = len(ps), append(ps, Process{Host: k.Host, PID: pid, Name: name, Member: true, inTree: true})
		}
		ps[at].Tree = &tree
	}
	return ps
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

// Counters returns the counters of the process that were recorded; for all processes of a
// member with a tree that alone.
func (p Process) Counters() []*kasoku.Series {
	if p.Tree != nil {
		return []*kasoku.Series{p.Tree}
	}
	if p.inTree {
		return nil
	}
	var out []*kasoku.Series
	for _, s := range []*kasoku.Series{p.User, p.System} {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

// parts returns what the counters of the process grew.
func (p Process) parts() []growth {
	var out []growth
	for _, s := range p.Counters() {
		out = append(out, growthOf(s))
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

// ofService reports whether a process is of a member of the service; members that are a
// guess have none.
func ofService(s *kasoku.Service, host, pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && s != nil && slices.ContainsFunc(s.Members, func(m kasoku.Member) bool {
		return m.Sure != kasoku.Low && (m.Host == host || m.Host == "" || host == "") && m.Has(n)
	})
}

// membersKnown reports whether of all these runs it is known which processes are the
// service's: what is none of them is a neighbour then, and no figure of the service.
func membersKnown(runs []*kasoku.Recording) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r *kasoku.Recording) bool {
		return !slices.ContainsFunc(Processes(r), func(p Process) bool { return p.Member })
	})
}

// commLength is how much of a program's name the kernel keeps.
//
// Source: include/linux/sched.h, TASK_COMM_LEN.
const commLength = 15

// makesLoad reports whether a process bears the name of the command that the run made.
func (p Process) makesLoad(run *kasoku.Recording) bool {
	if run.Run.Command == nil {
		return false
	}
	return slices.ContainsFunc(run.Run.Command.Args, func(word string) bool {
		name := filepath.Base(word)
		return name[:min(commLength, len(name))] == p.Name
	})
}

// Neighbour reports whether a process is neither the service's, nor kasoku, nor the load.
func (p Process) Neighbour(run *kasoku.Recording) bool {
	return !p.Member && !p.Own && !p.makesLoad(run)
}
