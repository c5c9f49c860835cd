package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/unit"
)

// SectionMachine is the id of what used the machine: groups of processes, threads,
// disks, queues.
const SectionMachine = "machine"

// The tables of the machine are short: what used it most.
const (
	mostGroups    = 8
	mostListeners = 8
)

// machineSection tells who used the machine, and what queued on it. A table that
// would tell nothing is left out.
func (r rec) machineSection() Section {
	s := Section{ID: SectionMachine, Title: "Machine", Sub: "Sums over the run; the largest value is that of one interval between two samples."}
	r.each(func(one rec, _ int, before string) {
		for _, t := range []*Table{one.groupsTable(), one.threadsTable(), one.disksTable(), one.listenersTable()} {
			if t != nil && len(t.Rows) > 0 {
				t.Title = before + t.Title
				s.Blocks = append(s.Blocks, t)
			}
		}
	})
	return s
}

// A usage is how much of a counter of CPU time something used.
type usage struct {
	name, kind string
	seconds    float64
	peak       float64 // cores
}

// usages returns what the series of a name used, the most first.
func (r rec) usages(source, series, kind string) []usage {
	var out []usage
	for _, x := range r.FindAll(source, series) {
		u := usage{name: x.Key.Instance, kind: kind}
		u.seconds, _ = x.Delta(r.all())
		for _, rate := range x.Rates() {
			u.peak = max(u.peak, rate.PerSec)
		}
		if u.seconds > 0 {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b usage) int { return cmp.Compare(b.seconds, a.seconds) })
	return out
}

// groupsTable tells which units, containers and programs used the CPU.
func (r rec) groupsTable() *Table {
	t := &Table{ID: "groups", Title: "CPU by unit, container and program", Narrow: true, Columns: []Column{
		{Key: "group", Head: "group"},
		{Key: "kind", Head: "kind"},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: Decimal},
		{Key: "peak_cores", Head: "CPU", Unit: "cores, max", Align: Decimal},
	}}
	for _, kind := range []struct{ series, name string }{{"unit.cpu", "unit"}, {"container.cpu", "container"}, {"exe.cpu", "program"}} {
		us := r.usages("process", kind.series, kind.name)
		for _, u := range us[:min(len(us), mostGroups)] {
			t.Rows = append(t.Rows, Row{Cells: []Cell{text(u.name), text(u.kind), number(u.seconds), number(u.peak)}})
		}
	}
	if s := r.Find(kasoku.Key{Source: "process", Name: "cpu.unattributed"}); s != nil {
		if lost, ok := s.Delta(r.all()); ok && lost >= leastShare*r.length().Seconds() {
			t.Note = Prose(unit.Sig3(lost) + " s more were of processes that began and ended between two samples, or of none.")
		}
	}
	return t
}

// threadsTable tells of threads that filled a core: their process can use no more,
// however many cores there are.
func (r rec) threadsTable() *Table {
	t := &Table{ID: "threads", Title: "Threads that filled a core", Narrow: true, Columns: []Column{
		{Key: "thread", Head: "thread"},
		{Key: "cpu_s", Head: "CPU time", Unit: "s", Align: Decimal},
		{Key: "peak_cores", Head: "CPU", Unit: "cores, max", Align: Decimal},
		{Key: "wait_s", Head: "waited for a core", Unit: "s", Align: Decimal},
	}}
	const full = 0.8
	for _, u := range r.usages("process", "thread.cpu", "thread") {
		if u.peak < full || len(t.Rows) == mostGroups {
			continue
		}
		waited := none()
		if x := r.Find(kasoku.Key{Source: "process", Name: "thread.wait", Instance: u.name}); x != nil {
			if d, ok := x.Delta(r.all()); ok {
				waited = number(d)
			}
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(u.name), number(u.seconds), number(min(u.peak, 1)), waited}})
	}
	return t
}

// disksTable tells how busy disks were and how long requests took, which is derived
// from what the kernel counts: time over requests.
func (r rec) disksTable() *Table {
	t := &Table{ID: "disks", Title: "Disks", Narrow: true, Columns: []Column{
		{Key: "disk", Head: "disk"},
		{Key: "busy_ratio", Head: "busy", Unit: "%", Align: Decimal},
		{Key: "busy_peak_ratio", Head: "busy", Unit: "%, max", Align: Decimal},
		{Key: "requests", Head: "requests", Align: Right},
		{Key: "read_await_ms", Head: "a read", Unit: "ms", Align: Decimal},
		{Key: "write_await_ms", Head: "a write", Unit: "ms", Align: Decimal},
		{Key: "flush_await_ms", Head: "a flush", Unit: "ms", Align: Decimal},
		{Key: "moved_bytes", Head: "moved", Align: Right},
	}}
	for _, busy := range r.FindAll("host", "disk.busy") {
		grown := func(name string) (float64, bool) {
			x := r.Find(kasoku.Key{Host: busy.Key.Host, Source: "host", Name: name, Instance: busy.Key.Instance})
			if x == nil {
				return 0, false
			}
			return x.Delta(r.all())
		}
		share, ok := busy.PerSecond(r.all())
		reads, ok1 := grown("disk.reads")
		writes, ok2 := grown("disk.writes")
		if !ok || !ok1 || !ok2 || reads+writes == 0 {
			continue
		}
		peak := 0.0
		for _, rate := range busy.Rates() {
			peak = max(peak, rate.PerSec)
		}
		await := func(of string, n float64) Cell {
			d, ok := grown(of)
			if !ok || n == 0 {
				return none()
			}
			return number(1e3 * d / n)
		}
		flushes, _ := grown("disk.flushes")
		in, _ := grown("disk.read_bytes")
		out, _ := grown("disk.write_bytes")
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(busy.Key.Instance), percent(min(share, 1)), percent(min(peak, 1)), count(uint64(reads + writes)),
			await("disk.read_time", reads), await("disk.write_time", writes), await("disk.flush_time", flushes),
			{Text: unit.Bytes(uint64(in + out)), Raw: raw(in + out)}}})
	}
	return t
}

// listenersTable tells of listeners whose connections had to wait to be accepted.
func (r rec) listenersTable() *Table {
	t := &Table{ID: "listeners", Title: "Connections that waited to be accepted", Narrow: true, Columns: []Column{
		{Key: "listener", Head: "listener"},
		{Key: "queue_max", Head: "waited", Unit: "max", Align: Right},
		{Key: "limit", Head: "limit", Align: Right},
		{Key: "drops", Head: "refused", Align: Right},
	}}
	type row struct {
		cells       []Cell
		queue, lost float64
	}
	var rows []row
	for _, x := range r.FindAll("sockets", "accept.queue") {
		queue, ok := x.Max(r.all())
		limit, lost := none(), 0.0
		if most := r.lastOf(x.Key, "accept.limit"); !math.IsNaN(most) {
			limit = count(uint64(most))
		}
		drops := none()
		if d := r.Find(kasoku.Key{Host: x.Key.Host, Source: "sockets", Name: "accept.drops", Instance: x.Key.Instance}); d != nil {
			lost, _ = d.Delta(r.all())
			drops = count(uint64(lost))
			if lost > 0 {
				drops.Tone = Bad
			}
		}
		if !ok || queue == 0 && lost == 0 {
			continue
		}
		rows = append(rows, row{[]Cell{text(x.Key.Instance), count(uint64(queue)), limit, drops}, queue, lost})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(b.queue, a.queue))
	})
	for _, one := range rows[:min(len(rows), mostListeners)] {
		t.Rows = append(t.Rows, Row{Cells: one.cells})
	}
	return t
}

// lastOf returns the last value of another series of the same thing, NaN without one.
func (r rec) lastOf(k kasoku.Key, name string) float64 {
	k.Name = name
	x := r.Find(k)
	if x == nil || len(x.Points) == 0 {
		return math.NaN()
	}
	return x.Points[len(x.Points)-1].Value
}

// counted are gauges with a limit that is recorded beside them. The memory of groups
// is not among them: it holds the page cache, which fills any limit.
var counted = []struct{ source, used, most, name, from string }{
	{"process", "fds", "fds_limit", "open files", "/proc/PID/limits"},
	{"process", "tasks_user", "tasks_limit", "threads of the user", "/proc/PID/limits"},
	{"cgroup", "pids.current", "pids.max", "tasks of the group", "cgroup"},
	{"sockets", "accept.queue", "accept.limit", "connections to accept", "listen(2)"},
	{"host", "files.open", "files.max", "open files of the host", "/proc/sys/fs/file-max"},
	{"host", "tasks", "tasks.max", "threads of the host", "/proc/sys/kernel/threads-max"},
	{"host", "conntrack.count", "conntrack.max", "tracked connections", "/proc/sys/net/netfilter"},
}

// recordedLimits returns the limits that were recorded, and how near they came.
func (r rec) recordedLimits() []limit {
	var out []limit
	for _, c := range counted {
		for _, x := range r.FindAll(c.source, c.used) {
			used, ok := x.Max(r.all())
			most := r.lastOf(x.Key, c.most)
			if !ok || math.IsNaN(most) || most <= 0 {
				continue
			}
			l := limit{name: c.name, from: c.from, used: unit.Plain(used), limit: unit.Plain(most), share: used / most}
			if name := spoken(c.source, x.Key.Instance); name != "" {
				l.name += ", " + name
			}
			out = append(out, l)
		}
	}
	return out
}

// spoken is what people call an instance: a process without its number.
func spoken(source, instance string) string {
	if source == "process" {
		_, name, _ := strings.Cut(instance, " ")
		return name
	}
	return instance
}
