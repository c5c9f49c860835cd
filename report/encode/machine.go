package encode

import (
	"github.com/kasoku/kasoku/report/machine"
)

// A Machine is what used one host, and what queued on it.
type Machine struct {
	Host         string      `json:"host,omitempty"`
	Groups       []Usage     `json:"groups"`
	Unattributed *float64    `json:"unattributed_cpu_s"`
	Threads      []Thread    `json:"threads"`
	Disks        []Disk      `json:"disks"`
	Listeners    []Listener  `json:"listeners"`
	Programs     []GoProgram `json:"go_programs"`
}

// A Usage is how much CPU time a unit, a container or a program used.
type Usage struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"` // unit, container, program
	CPU  float64  `json:"cpu_s"`
	Peak *float64 `json:"peak_cores"` // nil when it is not known
}

// A Thread is one that filled a core.
type Thread struct {
	Name   string   `json:"name"`
	CPU    float64  `json:"cpu_s"`
	Peak   float64  `json:"peak_cores"`
	Waited *float64 `json:"wait_s"`
}

// A Disk is how busy a disk was.
type Disk struct {
	Name       string   `json:"name"`
	Busy       float64  `json:"busy_ratio"`
	BusyPeak   float64  `json:"busy_peak_ratio"`
	Reads      uint64   `json:"reads"`
	Writes     uint64   `json:"writes"`
	ReadAwait  *float64 `json:"read_await_s"`
	WriteAwait *float64 `json:"write_await_s"`
	FlushAwait *float64 `json:"flush_await_s"`
	Read       *float64 `json:"read_bytes"`
	Written    *float64 `json:"written_bytes"`
}

// A Listener is one at which connections waited to be accepted, or were refused.
type Listener struct {
	Name     string   `json:"name"`
	QueueMax float64  `json:"queue_max"`
	Limit    *float64 `json:"limit"`
	Drops    *float64 `json:"drops"`
}

// A GoProgram is what a program in Go published of itself.
type GoProgram struct {
	Name        string   `json:"name,omitempty"`
	Heap        *float64 `json:"heap_max_bytes"`
	Goroutines  *float64 `json:"goroutines_max"`
	Collections *float64 `json:"collections"`
	Pauses      *float64 `json:"pauses_s"`
	Pause       *float64 `json:"pause_max_s"`
	GCCPU       *float64 `json:"gc_cpu_s"`
	SchedP99    *float64 `json:"thread_wait_p99_s"`
	Pools       []GoPool `json:"pools"`
}

// A GoPool is a pool of connections of a program in Go.
type GoPool struct {
	Name    string   `json:"name"`
	InUse   *float64 `json:"in_use_max"`
	Limit   *float64 `json:"limit"`
	Waits   *float64 `json:"waits"`
	Waiting *float64 `json:"waiting_s"`
}

func newMachine(m *machine.Machine) Machine {
	return Machine{
		Host: m.Host, Unattributed: finite(m.Unattributed),
		Groups: list(m.Groups, func(u *machine.Usage) Usage {
			return Usage{u.Name, u.Kind, rounded(u.CPU),
				finite(u.Peak)}
		}),
		Threads: list(m.Threads, func(u *machine.Usage) Thread {
			return Thread{u.Name, rounded(u.CPU), rounded(u.Peak), finite(u.Waited)}
		}),
		Disks: list(m.Disks, func(d *machine.Disk) Disk {
			return Disk{
				d.Name, rounded(d.Busy), rounded(d.BusyPeak), uint64(d.Reads), uint64(d.Writes),
				finite(d.ReadAwait), finite(d.WriteAwait), finite(d.FlushAwait), finite(d.Read), finite(d.Written),
			}
		}),
		Listeners: list(m.Listeners, func(l *machine.Listener) Listener {
			return Listener{l.Name, l.QueueMax, finite(l.Limit), finite(l.Drops)}
		}),
		Programs: list(m.Programs, newGoProgram),
	}
}

func newGoProgram(p *machine.GoProgram) GoProgram {
	return GoProgram{
		Name: p.Name, Heap: finite(p.Heap), Goroutines: finite(p.Goroutines), Collections: finite(p.Collections),
		Pauses: finite(p.Pauses), Pause: finite(p.Pause), GCCPU: finite(p.GCCPU), SchedP99: finite(p.SchedP99),
		Pools: list(p.Pools, func(q *machine.GoPool) GoPool {
			return GoPool{q.Name, finite(q.InUse), finite(q.Limit), finite(q.Waits), finite(q.Waiting)}
		}),
	}
}
