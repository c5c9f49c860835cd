package recorded

import (
	"cmp"
	"net"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/report"
)

// ProgramSeries are the series of one program: by name, and those of pools by place.
type ProgramSeries struct {
	Name  string
	Found map[string]*kasoku.Series
	Pools []PoolSeries
}

// PoolSeries are the series of one pool of connections, by name.
type PoolSeries struct {
	Place string
	Found map[string]*kasoku.Series
}

// The names under which programs publish the same thing, the best first.
var (
	GoHeap       = []string{expvar.HeapAlloc, expvar.RuntimeHeapObjects}
	GoGoal       = []string{expvar.NextGC, expvar.RuntimeHeapGoal}
	GoGoroutines = []string{expvar.Goroutines, expvar.RuntimeGoroutines}
	GoCycles     = []string{expvar.NumGC, expvar.RuntimeGCCycles}
	GoPause      = []string{expvar.PauseMax, expvar.RuntimePauseMax, expvar.RuntimeOldPauseMax}
	GoSched      = []string{expvar.RuntimeLatencyP99}
	GoGCCPU      = []string{expvar.RuntimeGCCPU}
)

// First returns the first series of the names that has points, nil without one.
func (p *ProgramSeries) First(names []string) *kasoku.Series {
	for _, n := range names {
		if s := p.Found[n]; s != nil && len(s.Points) > 0 {
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

// GoSeries returns the series of programs in Go, those with the largest heap first.
func (r View) GoSeries() []ProgramSeries {
	var out []ProgramSeries
	// Of several programs all series are named after theirs; of one, a place may look
	// like a program: a pool that is called 10.0.0.1:3306.
	one := slices.ContainsFunc(r.Series, func(s kasoku.Series) bool {
		name, _ := programOf(s.Key.Instance)
		return s.Key.Source == expvar.Name && name == ""
	})
	for i := range r.Series {
		s := &r.Series[i]
		if s.Key.Source != expvar.Name {
			continue
		}
		name, place := programOf(s.Key.Instance)
		if one {
			name, place = "", s.Key.Instance
		}
		at := slices.IndexFunc(out, func(p ProgramSeries) bool { return p.Name == name })
		if at < 0 {
			at = len(out)
			out = append(out, ProgramSeries{Name: name, Found: map[string]*kasoku.Series{}})
		}
		out[at].add(place, s)
	}
	heap := func(p *ProgramSeries) float64 { return report.UnknownLast(r.Highest(p.First(GoHeap))) }
	slices.SortStableFunc(out, func(a, b ProgramSeries) int {
		return cmp.Or(cmp.Compare(heap(&b), heap(&a)), strings.Compare(a.Name, b.Name))
	})
	return out
}

func (p *ProgramSeries) add(place string, s *kasoku.Series) {
	switch s.Key.Name {
	case expvar.InUse, expvar.OpenConnections, expvar.MaxOpenConnections, expvar.WaitCount, expvar.WaitDuration:
	default:
		if p.Found[s.Key.Name] == nil {
			p.Found[s.Key.Name] = s
		}
		return
	}
	at := slices.IndexFunc(p.Pools, func(x PoolSeries) bool { return x.Place == place })
	if at < 0 {
		at = len(p.Pools)
		p.Pools = append(p.Pools, PoolSeries{place, map[string]*kasoku.Series{}})
	}
	p.Pools[at].Found[s.Key.Name] = s
}
