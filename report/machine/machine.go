package machine

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// A Machine is what used one host, and what queued on it: sums over the run. What is
// not known is NaN.
type Machine struct {
	Host         string     // empty where the run has one host
	Groups       []Usage    // units, containers and programs; members and neighbours of a known service
	Unattributed float64    // s of CPU that no process accounts for
	Threads      []Usage    // that filled a core
	Disks        []Disk     // that had requests
	Listeners    []Listener // at which connections waited, or were refused
	Programs     []GoProgram
}

// A Usage is how much CPU time something used.
type Usage struct {
	Name   string
	Kind   string  // unit, container, program, thread; of a known service member, load, neighbours
	CPU    float64 // s
	Peak   float64 // cores; of a thread in one interval between two samples, else over some 3 s
	Waited float64 // s that a thread waited for a core
}

// A Disk is how busy a disk was.
type Disk struct {
	Name           string
	Busy, BusyPeak float64 // shares of time
	Reads, Writes  float64
	ReadAwait      float64 // s that a read took
	WriteAwait     float64
	FlushAwait     float64
	Read, Written  float64 // bytes
}

// A Listener is a socket with a queue of connections to accept.
type Listener struct {
	Name     string
	QueueMax float64
	Limit    float64
	Drops    float64
}

// Machines describes who used each host of a run, and what queued on it. Hosts of which
// there is nothing to say are left out.
func Machines(run *kasoku.Recording) []Machine {
	var out []Machine
	recorded.View{Recording: run}.Each(func(one recorded.View, _ int, before string) {
		m := hostUse{one}.machine()
		if before != "" {
			m.Host = one.Run.Hosts[0].Name
		}
		if len(m.Groups)+len(m.Threads)+len(m.Disks)+len(m.Listeners)+len(m.Programs) > 0 {
			out = append(out, m)
		}
	})
	return out
}

// hostUse finds what used one host, and what queued on it.
type hostUse struct{ recorded.View }

func (r hostUse) machine() Machine {
	m := Machine{Unattributed: r.Gained(r.Find(kasoku.Key{Source: process.Name, Name: process.CPUUnattributed}))}
	if groups, ok := r.serviceUsages(); ok {
		m.Groups, m.Unattributed = groups, 0 // what no process accounts for is among the neighbours
	} else {
		m.Groups = r.groups()
	}
	m.Threads, m.Disks, m.Listeners, m.Programs = r.threads(), r.disks(), r.listeners(), r.goPrograms()
	return m
}

// groups returns the sums of all processes of the host by unit, container and program.
func (r hostUse) groups() (out []Usage) {
	for _, kind := range []struct{ series, name string }{{process.UnitCPU, "unit"}, {process.ContainerCPU, "container"},
		{process.ExeCPU, "program"}} {
		out = append(out, r.usages(kind.series, kind.name, steady)...)
	}
	return out
}

// steady is over how long the peak of a group is taken, but for the jitter of three
// intervals: a process that rested is read at one tick of three, and what it did since
// is in one step of its groups.
const steady = 2500 * time.Millisecond

// usages returns what the series of a name used, the most first. Peaks hold for at
// least so long.
func (r hostUse) usages(series, kind string, least time.Duration) []Usage {
	var out []Usage
	for _, x := range r.FindAll(process.Name, series) {
		u := Usage{Name: x.Key.Instance, Kind: kind, Waited: math.NaN()}
		u.CPU, _ = x.Delta(r.All())
		u.Peak = peak(x, least)
		if u.CPU > 0 {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, byCPU)
	return out
}

// byCPU puts those that used most first.
func byCPU(a, b Usage) int { return cmp.Compare(b.CPU, a.CPU) }

// peak is the fastest growth of a counter over at least so long, or over all of it.
func peak(x *kasoku.Series, least time.Duration) (most float64) {
	for i, j := 0, 0; j < len(x.Points); j++ {
		for i+1 < j && x.Points[j].At-x.Points[i+1].At >= least {
			i++
		}
		d := x.Points[j].At - x.Points[i].At
		if d < least && j < len(x.Points)-1 || d <= 0 {
			continue
		}
		grown, _ := x.Delta(kasoku.Interval{From: x.Points[i].At, To: x.Points[j].At})
		most = max(most, grown/d.Seconds())
	}
	return most
}

// threads are those that filled a core: their process can use no more, however many
// cores there are.
func (r hostUse) threads() []Usage {
	const full = 0.8
	out := slices.DeleteFunc(r.usages(process.ThreadCPU, "thread", 0), func(u Usage) bool { return u.Peak < full || r.ofNeighbour(u.Name) })
	for i := range out {
		out[i].Peak = min(out[i].Peak, 1)
		out[i].Waited = r.Gained(r.Find(kasoku.Key{Source: process.Name, Name: process.ThreadWait,
			Instance: out[i].Name}))
	}
	return out
}

// disks describes how busy disks were and how long requests took, which is derived from
// what the kernel counts: time over requests.
func (r hostUse) disks() []Disk {
	var out []Disk
	for _, busy := range r.FindAll(host.Name, host.DiskBusy) {
		grown := func(name string) float64 {
			return r.Gained(r.Find(kasoku.Key{Host: busy.Key.Host, Source: host.Name, Name: name,
				Instance: busy.Key.Instance}))
		}
		share, ok := busy.PerSecond(r.All())
		d := Disk{Name: busy.Key.Instance, Busy: min(share, 1), Reads: grown(host.DiskReads),
			Writes: grown(host.DiskWrites)}
		if !ok || !(d.Reads+d.Writes > 0) {
			continue
		}
		for _, rate := range busy.Rates() {
			d.BusyPeak = min(max(d.BusyPeak, rate.PerSec), 1)
		}
		await := func(of string, n float64) float64 {
			if !(n > 0) {
				return math.NaN()
			}
			return grown(of) / n
		}
		d.ReadAwait, d.WriteAwait = await(host.DiskReadTime, d.Reads), await(host.DiskWriteTime, d.Writes)
		d.FlushAwait = await(host.DiskFlushTime, grown(host.DiskFlushes))
		d.Read, d.Written = grown(host.DiskReadBytes), grown(host.DiskWriteBytes)
		out = append(out, d)
	}
	return out
}

// listeners are those whose connections had to wait to be accepted, those that lost
// most first.
func (r hostUse) listeners() []Listener {
	var out []Listener
	for _, x := range r.FindAll(sockets.Name, sockets.AcceptQueue) {
		l := Listener{Name: x.Key.Instance, QueueMax: r.Highest(x), Limit: r.LastOf(x.Key, sockets.AcceptLimit)}
		l.Drops = r.Gained(r.Find(kasoku.Key{Host: x.Key.Host, Source: sockets.Name, Name: sockets.AcceptDrops,
			Instance: x.Key.Instance}))
		if l.QueueMax > 0 || !math.IsNaN(l.QueueMax) && l.Drops > 0 {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Listener) int {
		return cmp.Or(cmp.Compare(report.UnknownLast(b.Drops), report.UnknownLast(a.Drops)),
			cmp.Compare(b.QueueMax, a.QueueMax))
	})
	return out
}
