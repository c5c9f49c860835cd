package process

import (
	"slices"
	"strconv"
	"strings"
	"time"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/procstat"
)

// A tree is a process with all that it and its descendants start: what a member of the
// service uses, workers that are recycled and programs that end between two ticks
// included. Each process is of the nearest leader above it.
type tree struct {
	leader *process
	cpu    uint64 // ticks, since the first tick of the source
	count  uint64 // of processes at this tick
	since  uint64 // tick at which it was asked for
}

// trees are those that were asked for.
type trees struct {
	all []*tree
}

// generations bounds a walk from a process to its ancestors.
const generations = 32

// grow adds the tree of a process. What its processes used before, from the first tick
// of the source on, is in its counter from the beginning.
func (ts *trees) grow(t *table, pid uint64) {
	leader := t.procs[pid]
	if leader == nil || slices.ContainsFunc(ts.all, func(k *tree) bool { return k.leader == leader }) {
		return
	}
	k := &tree{leader: leader, since: t.tick}
	before := leader.tree
	leader.tree = k
	ts.all = append(ts.all, k)
	for _, p := range t.live {
		if p == leader && before != nil {
			continue // it is in the counter of another
		}
		if p == leader || p.tree == before && ts.above(t, p, before) == k {
			if p.tree = k; before == nil {
				k.cpu += p.cpu.ever
			}
		}
	}
}

// above returns the tree of the nearest ancestor that has another than that.
func (ts *trees) above(t *table, p *process, than *tree) *tree {
	for range generations {
		if p = t.procs[p.stat.Parent]; p == nil {
			return nil
		}
		if p.tree != than {
			return p.tree
		}
	}
	return nil
}

// sumUp adds the processes of this tick to their trees, and forgets those that have none
// any more.
func (ts *trees) sumUp(t *table) {
	if len(ts.all) == 0 {
		return
	}
	for _, k := range ts.all {
		k.count = 0
	}
	for _, p := range t.live {
		if p.tree == nil && p.seen.born == t.tick {
			p.tree = ts.above(t, p, nil)
		}
		if p.tree != nil {
			p.tree.cpu += p.cpu.sum()
			p.tree.count++
		}
	}
	ts.all = slices.DeleteFunc(ts.all, func(k *tree) bool { return k.count == 0 })
}

// emit appends the counters.
func (ts *trees) emit(r *reader, f *kasoku.Frame) {
	for _, k := range ts.all {
		f.Counter(TreeCPU, k.leader.instance(r), "s", float64(k.cpu)/procstat.UserHz)
	}
}

// passing reports whether a process is what a tree has started since it was asked for,
// and no worker of its leader: its CPU is the tree's.
func (p *process) passing() bool {
	return p.tree != nil && p.seen.born > p.tree.since && p.groups[byExe] != p.tree.leader.groups[byExe]
}

// A MemberTree is the CPU time of one leader of a member with all that it started.
type MemberTree struct {
	Member *kasoku.Member
	// Series is a counter, s. It begins with 0 where the source began, or the leader
	// before this one was gone, whenever it was asked for.
	Series kasoku.Series
}

// MemberTrees returns the trees of the members of a run's service; those of a guess have
// none.
func MemberTrees(rec *kasoku.Recording) []MemberTree {
	var out []MemberTree
	for _, s := range rec.FindAll(Name, TreeCPU) {
		if m := treeMember(rec.Service, s.Key); m != nil && len(s.Points) > 0 {
			out = append(out, MemberTree{m, fromZero(rec, m, s)})
		}
	}
	return out
}

// treeMember returns the member that a process leads or led.
func treeMember(s *kasoku.Service, k kasoku.Key) *kasoku.Member {
	number, _, _ := strings.Cut(k.Instance, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || s == nil {
		return nil
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Sure != kasoku.Low && (m.Host == k.Host || m.Host == "" || k.Host == "") && m.Has(pid) {
			return m
		}
	}
	return nil
}

// fromZero returns a tree's counter with the point at which it was 0.
func fromZero(rec *kasoku.Recording, m *kasoku.Member, s *kasoku.Series) kasoku.Series {
	first, zero := s.Points[0].At, time.Duration(0)
	if count := rec.Find(kasoku.Key{Host: s.Key.Host, Source: Name, Name: Count}); count != nil && len(count.Points) > 0 {
		zero = count.Points[0].At
	}
	for _, p := range m.Processes {
		if p.Leader && p.Ended > zero && p.Ended < first {
			zero = p.Ended
		}
	}
	out := *s
	if zero < first {
		out.Points = slices.Concat([]kasoku.Point{{At: zero}}, s.Points)
	}
	return out
}
