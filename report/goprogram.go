package report

import (
	"cmp"
	"math"
	"net"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// A GoProgram is what a program in Go published of itself: the most of each figure,
// NaN where it is not known.
type GoProgram struct {
	Name        string  // host:port; empty where one program was read
	Heap        float64 // bytes in use
	Goroutines  float64
	Collections float64 // of garbage
	Pauses      float64 // s, of all collections
	Pause       float64 // s, the longest
	GCCPU       float64 // s that collections took
	SchedP99    float64 // s until a thread took a goroutine that could run: p99 of the worst second
	Pools       []GoPool
}

// A GoPool is a pool of connections to a database.
type GoPool struct {
	Name    string // where the program publishes it
	InUse   float64
	Limit   float64 // 0: none
	Waits   float64
	Waiting float64 // s
}

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
	goHeap       = []string{expvar.HeapAlloc, expvar.RuntimeHeapObjects}
	goGoal       = []string{expvar.NextGC, expvar.RuntimeHeapGoal}
	goGoroutines = []string{expvar.Goroutines, expvar.RuntimeGoroutines}
	goCycles     = []string{expvar.NumGC, expvar.RuntimeGCCycles}
	goPause      = []string{expvar.PauseMax, expvar.RuntimePauseMax, expvar.RuntimeOldPauseMax}
	goSched      = []string{expvar.RuntimeLatencyP99}
	goGCCPU      = []string{expvar.RuntimeGCCPU}
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
	case expvar.InUse, expvar.OpenConnections, expvar.MaxOpenConnections, expvar.WaitCount, expvar.WaitDuration:
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

// highest returns the largest value of a gauge, the last one at the run's end
// included, NaN without one.
func (r rec) highest(s *kasoku.Series) float64 {
	if s == nil {
		return math.NaN()
	}
	if v, ok := s.Max(kasoku.Interval{To: math.MaxInt64}); ok {
		return v
	}
	return math.NaN()
}

// gained returns how much a counter grew, NaN where that is not known.
func (r rec) gained(s *kasoku.Series) float64 {
	if s == nil {
		return math.NaN()
	}
	if v, ok := s.Delta(r.all()); ok {
		return v
	}
	return math.NaN()
}

// goPrograms sums the series up.
func (r rec) goPrograms() []GoProgram {
	var out []GoProgram
	for _, p := range r.goSeries() {
		x := GoProgram{
			Name: p.name, Heap: r.highest(p.first(goHeap)), Goroutines: r.highest(p.first(goGoroutines)),
			Collections: r.gained(p.first(goCycles)),
			Pauses:      r.gained(p.found[expvar.PauseTotal]), Pause: r.highest(p.first(goPause)),
			GCCPU: r.gained(p.first(goGCCPU)), SchedP99: r.highest(p.first(goSched)),
		}
		for _, q := range p.pools {
			limit := r.highest(q.found[expvar.MaxOpenConnections])
			x.Pools = append(x.Pools, GoPool{q.place, r.highest(q.found[expvar.InUse]), limit,
				r.gained(q.found[expvar.WaitCount]), r.gained(q.found[expvar.WaitDuration])})
		}
		out = append(out, x)
	}
	return out
}

// programTable shows the memory and the collections of programs in Go.
func programTable(programs []GoProgram) *Table {
	t := &Table{ID: "go", Title: "Programs in Go", Narrow: true, Columns: []Column{
		{Key: "program", Head: "program"},
		{Key: "heap_bytes", Head: "heap", Unit: "max", Align: Right},
		{Key: "goroutines", Head: "goroutines", Unit: "max", Align: Right},
		{Key: "collections", Head: "GCs", Align: Right},
		{Key: "pauses_ms", Head: "paused", Unit: "ms", Align: Decimal},
		{Key: "pause_ms", Head: "longest", Unit: "ms", Align: Decimal},
		{Key: "gc_cpu_s", Head: "GC CPU", Unit: "s", Align: Decimal},
		{Key: "sched_p99_ms", Head: "thread wait", Unit: "ms, p99", Align: Decimal},
	}}
	for _, p := range programs {
		row := []Cell{text(cmp.Or(p.Name, "the program")), sizeOf(p.Heap), countOf(p.Goroutines),
			countOf(p.Collections),
			numberOf(1e3 * p.Pauses), numberOf(1e3 * p.Pause), numberOf(p.GCCPU), numberOf(1e3 * p.SchedP99)}
		if slices.ContainsFunc(row[1:], func(c Cell) bool { return c.Text != unit.Missing }) {
			t.Rows = append(t.Rows, Row{Cells: row})
		}
	}
	return t.withoutEmpty()
}

// poolTable shows the pools of connections.
func poolTable(programs []GoProgram) *Table {
	t := &Table{ID: "pools", Title: "Connection pools of programs in Go", Narrow: true, Columns: []Column{
		{Key: "program", Head: "program"},
		{Key: "pool", Head: "pool"},
		{Key: "in_use", Head: "in use", Unit: "max", Align: Right},
		{Key: "limit", Head: "limit", Align: Right},
		{Key: "waits", Head: "waits", Align: Right},
		{Key: "waiting_s", Head: "waited", Unit: "s", Align: Decimal},
	}}
	for _, p := range programs {
		for _, q := range p.Pools {
			limit := countOf(q.Limit)
			if q.Limit == 0 {
				limit = Cell{Text: "none", Raw: "0"}
			}
			program := none()
			if p.Name != "" {
				program = text(p.Name)
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{program, text(q.Name), countOf(q.InUse), limit, countOf(q.Waits),
				numberOf(q.Waiting)}})
		}
	}
	return t.withoutEmpty()
}

// withoutEmpty leaves out the columns in which nothing was measured.
func (t *Table) withoutEmpty() *Table {
	for k := len(t.Columns) - 1; k >= 0; k-- {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[k].Text != unit.Missing }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, k, k+1)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, k, k+1)
		}
	}
	return t
}
