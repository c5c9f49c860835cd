package watch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// recent is over how many seconds statements and requests are added up: what counts
// statements is asked every few seconds only.
const recent = 10

// A pane makes one table of a moment.
type pane struct {
	id   string
	make func(look) table
}

// A look is the data at a second, which tables show.
type look struct {
	*Data
	at int
}

// panes are all tables, in the order of the tab key.
var panes = []pane{
	{"processes", look.processes}, {"statements", look.statements}, {"routes", look.routes},
	{"database", look.kinds},
	{"nginx", look.nginx}, {"varnish", look.varnish}, {"redis", look.redis}, {"commands", look.commands},
	{"go", look.programs}, {"pools", look.pools}, {"services", look.services},
	{"cores", look.cpus}, {"units", look.units}, {"disks", look.disks},
	{"network", look.networks}, {"findings", look.findings}, {"events", look.events},
	{"series", look.everything},
}

// findings are those of the rules, numbered as the keys are.
func (l look) findings() table {
	t := table{id: "findings", title: "findings", columns: []column{{}, {text: true}, {text: true},
		{text: true, wide: true}}}
	for i := range l.Findings {
		f := &l.Findings[i]
		if !l.found(f) {
			continue
		}
		r := t.newRow()
		r.values[0], r.words[1], r.words[3], r.tone = float64(i+1), clean(f.ID), clean(f.Title), warning
		if f.Impact.Share > 0 {
			r.words[2] = unit.Percent(f.Impact.Share)
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// found reports whether a finding is shown at a second: in a replay from its own on.
func (l look) found(f *kasoku.Finding) bool {
	return l.Live || f.Interval.Empty() || secondOf(f.Interval.From) <= l.at
}

func (l look) processes() table {
	t := table{id: "processes", title: "processes", columns: []column{
		{name: "process", text: true, wide: true}, {name: "pid", plain: true},
		{name: "user", unit: "cores", decimal: 2}, {name: "system", unit: "cores", decimal: 2},
		{name: "RSS", unit: "MB", decimal: 1}, {name: "files", drop: 3}, {name: "threads", drop: 2},
		{name: "I/O", unit: "kB/s", drop: 4}, {name: "CPU", unit: "cores", decimal: 2, drop: 1},
	}, sorts: []int{8, 4, 7, 0}}
	for _, s := range l.all(process.Name, process.RSS) {
		rss := l.valueAt(s, l.at)
		if math.IsNaN(rss) {
			continue // it has ended, or is not among the busiest
		}
		r := t.newRow()
		name := s.Key.Instance
		get := l.of(process.Name, name)
		pid, comm, _ := strings.Cut(name, " ")
		r.words[0] = clean(comm)
		if n, err := strconv.Atoi(pid); err == nil {
			r.values[1] = float64(n)
		}
		r.values[2], r.values[3], r.values[4] = get(process.CPUUser), get(process.CPUSystem), rss/1e6
		r.values[5], r.values[6] = get(process.FDs), get(process.Threads)
		r.values[7] = (get(process.IOReadBytes) + get(process.IOWriteBytes)) / 1e3
		r.values[8] = r.values[2] + r.values[3]
		t.rows = append(t.rows, r)
	}
	return t
}

func (l look) units() table {
	t := table{id: "units", title: "units and containers", columns: []column{
		{name: "unit", text: true, wide: true}, {name: "CPU", unit: "cores", decimal: 2},
		{name: "memory", unit: "MB", decimal: 1},
		{name: "limit", unit: "cores", drop: 2, decimal: 2}, {name: "throttled", unit: "% of time", drop: 1},
	}, sorts: []int{1, 2, 0}}
	for _, s := range l.all(cgroup.Name, cgroup.CPUUsage) {
		cpu := l.valueAt(s, l.at)
		if math.IsNaN(cpu) {
			continue
		}
		r := t.newRow()
		name := s.Key.Instance
		get := l.of(cgroup.Name, name)
		r.words[0], r.values[1] = clean(cmp.Or(name, "/")), cpu
		r.values[2], r.values[3], r.values[4] = get(cgroup.MemoryCurrent)/1e6, get(cgroup.CPUMax),
			100*get(cgroup.CPUThrottled)
		t.rows = append(t.rows, r)
	}
	return t
}

func (l look) cpus() table {
	t := table{id: "cores", title: "cores", columns: []column{{name: "core", text: true, wide: true},
		{name: "busy", decimal: 2}}, sorts: []int{1, 0}}
	for _, m := range modes {
		t.columns = append(t.columns, column{name: m.name, decimal: 2})
	}
	for _, core := range l.coreNames() {
		r := t.newRow()
		r.words[0] = clean(core)
		r.values[1] = last(l.cpu(core, span{l.at - 1, l.at}))
		for i, m := range modes {
			for _, name := range m.series {
				for _, s := range l.named(host.Name, name, func(x string) bool { return x == core }) {
					if v := l.valueAt(s, l.at); !math.IsNaN(v) {
						r.values[2+i] = zero(r.values[2+i]) + v
					}
				}
			}
		}
		t.rows = append(t.rows, r)
	}
	t.sorts = []int{0, 1}
	return t
}

// statements are the classes of the last seconds.
func (l look) statements() table {
	from, long := l.looked()
	to := l.at
	t := table{id: "statements", title: fmt.Sprintf("statements, last %.0f s", long), columns: []column{
		{name: "statement", text: true, wide: true}, {name: "calls", unit: "/s"}, {name: "at once", decimal: 2},
		{name: "each", unit: "ms", decimal: 2}, {name: "sent", unit: "rows/call", drop: 1},
	}, sorts: []int{2, 1, 3}}
	queries := l.Rec.Queries
	if len(l.looks) > 0 {
		queries = sum(l.looks, from-1, to)
		from, to = 1, to-from+1 // as sum numbers them
	}
	for i := range queries {
		q := &queries[i]
		var calls, rows uint64
		var total time.Duration
		for s := from; s <= to; s++ {
			one := q.Seconds[s]
			calls, rows, total = calls+one.Calls, rows+one.Rows, total+one.Total
		}
		if calls == 0 {
			continue
		}
		r := t.newRow()
		r.words[0] = clean(cmp.Or(q.Fingerprint, q.Sample))
		n := float64(calls)
		r.values[1], r.values[2], r.values[3], r.values[4] = n/long, total.Seconds()/long, total.Seconds()*1e3/n,
			float64(rows)/n
		t.rows = append(t.rows, r)
	}
	return t
}

// looked returns the first of the seconds up to at whose statements are shown, and how
// many seconds they were counted in. Live they are looked at only so often: as many
// looks count as cover no more than the recent seconds, at least one.
func (l look) looked() (from int, long float64) {
	from = l.at - recent + 1
	for i := len(l.looks) - 1; i >= 0; i-- {
		one := &l.looks[i]
		if one.second > l.at {
			continue
		}
		took := one.long.Seconds()
		if long == 0 && float64(l.at-one.second) > max(recent, 2*took) || long > 0 && long+took > recent+1 {
			break
		}
		from, long = one.second, long+took
	}
	if long == 0 {
		return from, recent
	}
	return from, long
}

// kinds are the counters of the database that people ask for.
func (l look) kinds() table {
	t := table{id: "database", title: "database", columns: []column{{name: "counted", text: true, wide: true},
		{name: "now", unit: "/s"}, {name: "max", unit: "5 min"}}, sorts: []int{1, 2, 0}}
	take := func(name, label string) {
		s := l.one(mysql.Name, name)
		if s == nil {
			return
		}
		m := meter{v: l.values(s, l.at-lookBack+1, l.at)}
		if m.top() > 0 {
			r := t.newRow()
			r.words[0], r.values[1], r.values[2] = clean(label), m.now(), m.top()
			t.rows = append(t.rows, r)
		}
	}
	for _, s := range l.prefixed(mysql.Name, "Com_") {
		take(s.Key.Name, strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(s.Key.Name, "Com_"), "_", " ")))
	}
	for _, c := range statusCounters {
		take(c.name, c.label)
	}
	return t
}

// statusCounters are counters beside those of commands.
var statusCounters = []struct{ name, label string }{
	{mysql.Connections, "connections opened"}, {mysql.AbortedConnects, "connections refused"},
	{mysql.SlowQueries, "slow statements"},
	{mysql.InnodbRowsRead, "rows read"}, {mysql.InnodbRowsInserted, "rows inserted"},
	{mysql.InnodbRowsUpdated, "rows updated"}, {mysql.InnodbRowsDeleted, "rows deleted"},
	{mysql.HandlerReadRndNext, "rows read in scans"}, {mysql.SelectScan, "SELECTs that scan"},
	{mysql.SelectFullJoin, "joins without index"},
	{mysql.CreatedTmpTables, "temporary tables"}, {mysql.CreatedTmpDiskTables, "temporary tables on disk"},
	{mysql.SortMergePasses, "sort passes on disk"},
	{mysql.InnodbBufferPoolReads, "pages read from disk"}, {mysql.InnodbDataFsyncs, "fsync"},
	{mysql.InnodbOSLogFsyncs, "fsync of the redo log"},
	{mysql.InnodbRowLockWaits, "row lock waits"}, {mysql.InnodbDeadlocks, "deadlocks"},
	{mysql.ThreadsCreated, "threads created"},
}

func (l look) disks() table {
	t := table{id: "disks", title: "disks", columns: []column{
		{name: "disk", text: true, wide: true}, {name: "busy", unit: "% of time"}, {name: "reads", unit: "/s"},
		{name: "writes", unit: "/s"},
		{name: "read", unit: "MB/s", decimal: 2, drop: 2}, {name: "written", unit: "MB/s", decimal: 2, drop: 2},
		{name: "await", unit: "ms", decimal: 2, drop: 1},
	}, sorts: []int{1, 2, 3, 0}}
	for _, s := range l.named(host.Name, host.DiskBusy, each) {
		get := l.of(host.Name, s.Key.Instance)
		r := t.newRow()
		r.words[0], r.values[1] = clean(s.Key.Instance), 100*get(host.DiskBusy)
		r.values[2], r.values[3] = get(host.DiskReads), get(host.DiskWrites)
		r.values[4], r.values[5] = get(host.DiskReadBytes)/1e6, get(host.DiskWriteBytes)/1e6
		if n := r.values[2] + r.values[3]; n > 0 {
			r.values[6] = 1e3 * (get(host.DiskReadTime) + get(host.DiskWriteTime)) / n
		}
		if !math.IsNaN(r.values[1]) {
			t.rows = append(t.rows, r)
		}
	}
	return t
}

// of returns what the series of an instance are at a second.
func (l look) of(source, instance string) func(name string) float64 {
	return func(name string) float64 {
		for _, s := range l.all(source, name) {
			if s.Key.Instance == instance {
				return l.valueAt(s, l.at)
			}
		}
		return math.NaN()
	}
}

func (l look) networks() table {
	t := table{id: "network", title: "network", columns: []column{
		{name: "device", text: true, wide: true}, {name: "in", unit: "MB/s", decimal: 2},
		{name: "out", unit: "MB/s", decimal: 2},
		{name: "in", unit: "packets/s"}, {name: "out", unit: "packets/s"}, {name: "drops", unit: "/s", drop: 1},
		{name: "errors", unit: "/s", drop: 1},
	}, sorts: []int{1, 2, 0}}
	for _, s := range l.named(host.Name, host.NetRxBytes, each) {
		get := l.of(host.Name, s.Key.Instance)
		r := t.newRow()
		r.words[0] = clean(s.Key.Instance)
		r.values[1], r.values[2] = get(host.NetRxBytes)/1e6, get(host.NetTxBytes)/1e6
		r.values[3], r.values[4] = get(host.NetRxPackets), get(host.NetTxPackets)
		r.values[5], r.values[6] = get(host.NetDrops), get(host.NetErrors)
		if !math.IsNaN(r.values[1]) {
			t.rows = append(t.rows, r)
		}
	}
	return t
}

// events are marks, restarts and gaps up to a second, the latest first.
func (l look) events() table {
	t := table{id: "events", title: "events and gaps", columns: []column{{text: true}, {text: true},
		{text: true, wide: true}}}
	type moment struct {
		at         time.Duration
		kind, text string
	}
	var all []moment
	for _, e := range l.Rec.Events {
		all = append(all, moment{e.At, e.Kind, e.Text})
	}
	for _, g := range l.Rec.Gaps {
		all = append(all, moment{g.Interval.From, "gap", fmt.Sprintf("%s, %s: %s", g.Source,
			unit.Elapsed(g.Interval.Len()), g.Reason)})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(b.at, a.at) })
	for _, m := range all {
		if secondOf(m.at) <= l.at {
			r := t.newRow()
			r.words[0], r.words[1], r.words[2] = l.clock(int(m.at/time.Second)), clean(m.kind), clean(m.text)
			t.rows = append(t.rows, r)
		}
	}
	for _, n := range l.Notes {
		r := t.newRow()
		r.words[1], r.words[2] = "not seen", clean(n)
		t.rows = append(t.rows, r)
	}
	return t
}

// clock prints a second as the time of day, or as seconds since the start.
func (d *Data) clock(second int) string {
	if d.Rec.Run.Started.IsZero() {
		return fmt.Sprintf("%d s", second)
	}
	return d.Rec.Wall(time.Duration(second) * time.Second).Format("15:04:05")
}
