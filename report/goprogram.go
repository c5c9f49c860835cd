package report

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku/internal/unit"
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

// goPrograms sums the series up.
func (r hostUse) goPrograms() []GoProgram {
	var out []GoProgram
	for _, p := range r.goSeries() {
		x := GoProgram{
			Name: p.name, Heap: r.highest(p.first(goHeap)), Goroutines: r.highest(p.first(goGoroutines)),
			Collections: r.gained(p.first(goCycles)),
			Pauses:      r.gained(p.found["PauseTotal"]), Pause: r.highest(p.first(goPause)),
			GCCPU: r.gained(p.first(goGCCPU)), SchedP99: r.highest(p.first(goSched)),
		}
		for _, q := range p.pools {
			limit := r.highest(q.found["MaxOpenConnections"])
			x.Pools = append(x.Pools, GoPool{q.place, r.highest(q.found["InUse"]), limit,
				r.gained(q.found["WaitCount"]), r.gained(q.found["WaitDuration"])})
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
