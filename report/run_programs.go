package report

import (
	"cmp"
	"github.com/kasoku/kasoku"
	"net"
	"slices"
	"strings"
)

// programSeries are the series of one program: by name, and those of pools by place.
type programSeries struct {
	name  string
	found map[string]*kasoku.Series
	pools []poolSeries
}

type poolSeries struct {
	place string
	found map[string]*kasoku.Series
}

// The names under which programs publish the same thing, the best first.
var (
	goHeap       = []string{"HeapAlloc", "/memory/classes/heap/objects:bytes"}
	goGoal       = []string{"NextGC", "/gc/heap/goal:bytes"}
	goGoroutines = []string{"goroutines", "/sched/goroutines:goroutines"}
	goCycles     = []string{"NumGC", "/gc/cycles/total:gc-cycles"}
	goPause      = []string{"PauseMax", "/sched/pauses/total/gc:seconds.max", "/gc/pauses:seconds.max"}
	goSched      = []string{"/sched/latencies:seconds.p99"}
	goGCCPU      = []string{"/cpu/classes/gc/total:cpu-seconds"}
)

// first returns the first series of the names that has points, nil without one.
func (p *programSeries) first(names []string) *kasoku.Series {
	for _, n := range names {
		if s := p.found[n]; s != nil && len(s.Points) > 0 {
			return s
		}
	}
	return nil
}

// programOf separates the program from the place in its answer. Where several
// programs are read, an instance begins with the program's host:port.
func programOf(instance string) (program, place string) {
	word, rest, _ := strings.Cut(instance, " ")
	if host, port, err := net.SplitHostPort(word); err == nil && host != "" && port != "" &&
		strings.Trim(port, "0123456789") == "" {
		return word, rest
	}
	return "", instance
}

// goSeries returns the series of programs in Go, those with the largest heap first.
func (r rec) goSeries() []programSeries {
	var out []programSeries
	// Of several programs all series are named after theirs; of one, a place may look
	// like a program: a pool that is called 10.0.0.1:3306.
	one := slices.ContainsFunc(r.Series, func(s kasoku.Series) bool {
		name, _ := programOf(s.Key.Instance)
		return s.Key.Source == "expvar" && name == ""
	})
	for i := range r.Series {
		s := &r.Series[i]
		if s.Key.Source != "expvar" {
			continue
		}
		name, place := programOf(s.Key.Instance)
		if one {
			name, place = "", s.Key.Instance
		}
		at := slices.IndexFunc(out, func(p programSeries) bool { return p.name == name })
		if at < 0 {
			at = len(out)
			out = append(out, programSeries{name: name, found: map[string]*kasoku.Series{}})
		}
		out[at].add(place, s)
	}
	heap := func(p *programSeries) float64 { return above(r.highest(p.first(goHeap))) }
	slices.SortStableFunc(out, func(a, b programSeries) int {
		return cmp.Or(cmp.Compare(heap(&b), heap(&a)), strings.Compare(a.name, b.name))
	})
	return out
}

func (p *programSeries) add(place string, s *kasoku.Series) {
	switch s.Key.Name {
	case "InUse", "OpenConnections", "MaxOpenConnections", "WaitCount", "WaitDuration":
	default:
		if p.found[s.Key.Name] == nil {
			p.found[s.Key.Name] = s
		}
		return
	}
	at := slices.IndexFunc(p.pools, func(x poolSeries) bool { return x.place == place })
	if at < 0 {
		at = len(p.pools)
		p.pools = append(p.pools, poolSeries{place, map[string]*kasoku.Series{}})
	}
	p.pools[at].found[s.Key.Name] = s
}
