package machine

import (
	"cmp"
	"slices"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
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
	for _, p := range r.GoSeries() {
		x := GoProgram{
			Name: p.Name, Heap: r.Highest(p.First(recorded.GoHeap)), Goroutines: r.Highest(p.First(recorded.GoGoroutines)),
			Collections: r.Gained(p.First(recorded.GoCycles)),
			Pauses:      r.Gained(p.Found[expvar.PauseTotal]), Pause: r.Highest(p.First(recorded.GoPause)),
			GCCPU: r.Gained(p.First(recorded.GoGCCPU)), SchedP99: r.Highest(p.First(recorded.GoSched)),
		}
		for _, q := range p.Pools {
			limit := r.Highest(q.Found[expvar.MaxOpenConnections])
			x.Pools = append(x.Pools, GoPool{q.Place, r.Highest(q.Found[expvar.InUse]), limit,
				r.Gained(q.Found[expvar.WaitCount]), r.Gained(q.Found[expvar.WaitDuration])})
		}
		out = append(out, x)
	}
	return out
}

// programTable shows the memory and the collections of programs in Go.
func programTable(programs []GoProgram) *report.Table {
	t := &report.Table{ID: "go", Title: "Programs in Go", Narrow: true, Columns: []report.Column{
		{Key: "program", Head: "program"},
		{Key: "heap_bytes", Head: "heap", Unit: "max", Align: report.Right},
		{Key: "goroutines", Head: "goroutines", Unit: "max", Align: report.Right},
		{Key: "collections", Head: "GCs", Align: report.Right},
		{Key: "pauses_ms", Head: "paused", Unit: "ms", Align: report.Decimal},
		{Key: "pause_ms", Head: "longest", Unit: "ms", Align: report.Decimal},
		{Key: "gc_cpu_s", Head: "GC CPU", Unit: "s", Align: report.Decimal},
		{Key: "sched_p99_ms", Head: "thread wait", Unit: "ms, p99", Align: report.Decimal},
	}}
	for _, p := range programs {
		row := []report.Cell{cell.Text(cmp.Or(p.Name, "the program")), cell.Size(p.Heap), cell.KnownCount(p.Goroutines),
			cell.KnownCount(p.Collections),
			cell.KnownNumber(1e3 * p.Pauses), cell.KnownNumber(1e3 * p.Pause), cell.KnownNumber(p.GCCPU), cell.KnownNumber(1e3 * p.SchedP99)}
		if slices.ContainsFunc(row[1:], func(c report.Cell) bool { return c.Text != unit.Missing }) {
			t.Rows = append(t.Rows, report.Row{Cells: row})
		}
	}
	return t.WithoutEmpty()
}

// poolTable shows the pools of connections.
func poolTable(programs []GoProgram) *report.Table {
	t := &report.Table{ID: "pools", Title: "Connection pools of programs in Go", Narrow: true, Columns: []report.Column{
		{Key: "program", Head: "program"},
		{Key: "pool", Head: "pool"},
		{Key: "in_use", Head: "in use", Unit: "max", Align: report.Right},
		{Key: "limit", Head: "limit", Align: report.Right},
		{Key: "waits", Head: "waits", Align: report.Right},
		{Key: "waiting_s", Head: "waited", Unit: "s", Align: report.Decimal},
	}}
	for _, p := range programs {
		for _, q := range p.Pools {
			limit := cell.KnownCount(q.Limit)
			if q.Limit == 0 {
				limit = report.Cell{Text: "none", Raw: "0"}
			}
			program := cell.None()
			if p.Name != "" {
				program = cell.Text(p.Name)
			}
			t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{program, cell.Text(q.Name),
				cell.KnownCount(q.InUse), limit, cell.KnownCount(q.Waits),
				cell.KnownNumber(q.Waiting)}})
		}
	}
	return t.WithoutEmpty()
}
