package watch

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/observe/sources"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/report/terminal"
)

// A meter is one line of the screen: a name, a value and the last minutes of it.
type meter struct {
	name  string
	unit  string
	most  string   // beside the greatest value: "of 2"
	parts []string // small print at the present: "user 0.62", "system 0.38"
	v     []float64
	log   bool
	limit float64 // a value above it is bad; 0: none is
	bad   bool    // any value above 0 is bad
	chart int     // rows of a drawing where there is room; 0: a line
	exact bool    // what is counted by the second
	late  int     // for so many seconds the value before stands for one that is not known yet
	floor float64 // the drawing's top is at least this, so that little does not look like much
	rank  int     // which go first where there is no room for all, 1 before 9
}

// now is the latest value.
func (m *meter) now() float64 {
	for i := len(m.v) - 1; i > 0 && i >= len(m.v)-m.late; i-- {
		if !math.IsNaN(m.v[i]) {
			return m.v[i]
		}
	}
	return last(m.v)
}

// wrong reports whether a value is to stand out.
func (m *meter) wrong(v float64) bool { return m.bad && v > 0 || m.limit > 0 && v > m.limit }

// top is the greatest value, not a number without one.
func (m *meter) top() float64 {
	top := math.NaN()
	for _, v := range m.v {
		if !math.IsNaN(v) && !(v <= top) {
			top = v
		}
	}
	return top
}

// known reports whether there is any value.
func (m *meter) known() bool { return !math.IsNaN(m.top()) }

// A span is the seconds that a screen shows, both included.
type span struct{ from, to int }

// meters returns the lines that there is something for, the most significant first.
func (d *Data) meters(s span) []meter {
	if d.made.meters == nil || d.made.span != s { // a screen asks more than once
		d.made.span, d.made.meters = s, d.makeMeters(s)
	}
	return slices.Clone(d.made.meters)
}

func (d *Data) makeMeters(s span) []meter {
	out := []meter{}
	for _, group := range [][]meter{d.loadMeters(s), d.logMeters(s), d.hostMeters(s), d.databaseMeters(s),
		d.serviceMeters(s), d.moreMeters(s)} {
		for _, m := range group {
			if m.known() {
				out = append(out, m)
			}
		}
	}
	return out
}

func (d *Data) loadMeters(s span) []meter {
	if !d.Load.Any(s.from-1, s.to-1) {
		return nil
	}
	ms := func(t time.Duration) float64 {
		if t == 0 {
			return math.NaN()
		}
		return t.Seconds() * 1e3
	}
	late := 0
	if d.Live {
		late = mostLate
	}
	asked := meter{late: late, v: d.loadValues(s, func(p LoadPoint) float64 { return float64(p.Asked) })}
	of := ""
	if top := asked.top(); top > 0 {
		of = "of " + unit.Count(uint64(top))
	}
	return []meter{
		{name: "succeeded", rank: 1, exact: true, late: late, unit: "/s", chart: 4, most: of,
			v: d.loadValues(s, func(p LoadPoint) float64 { return float64(p.Good) })},
		{name: "failed", rank: 2, exact: true, late: late, unit: "/s", bad: true,
			v: d.loadValues(s, func(p LoadPoint) float64 { return float64(p.Failed) })},
		{name: "p50", rank: 6, late: late, unit: "ms", log: true, most: "log",
			v: d.loadValues(s, func(p LoadPoint) float64 { return ms(p.P50) })},
		{name: "p99", rank: 3, late: late, unit: "ms", log: true, most: "log", chart: 3,
			v: d.loadValues(s, func(p LoadPoint) float64 { return ms(p.P99) })},
	}
}

// modes are the ways in which a core is busy, as people call them.
var modes = []struct {
	name   string
	series []string
}{
	{"user", []string{hostkeys.CPUUser, hostkeys.CPUNice}}, {"system", []string{hostkeys.CPUSystem}}, {"iowait",
		[]string{hostkeys.CPUIowait}},
	{"irq", []string{hostkeys.CPUIRQ, hostkeys.CPUSoftIRQ}}, {"steal", []string{hostkeys.CPUSteal}},
}

// busy are the modes in which a core does something.
var busy = []string{hostkeys.CPUUser, hostkeys.CPUNice, hostkeys.CPUSystem, hostkeys.CPUIRQ, hostkeys.CPUSoftIRQ,
	hostkeys.CPUSteal}

// cpu returns how busy a core is, the whole host for an empty one. What the kernel
// counted of all modes together is the time that it is set against: that of a read
// which was late on a busy host is not quite the time of its figures.
func (d *Data) cpu(core string, s span) []float64 {
	mode := func(names ...string) []float64 {
		var all []*kasoku.Series
		for _, name := range names {
			all = append(all, d.named(hostkeys.Name, name, func(i string) bool { return i == core })...)
		}
		return d.sum(all, s.from, s.to)
	}
	out, rest := mode(busy...), mode(hostkeys.CPUIdle, hostkeys.CPUIowait)
	cores := 1.0
	if core == "" {
		cores = float64(len(d.coreNames()))
	}
	for i := range out {
		if all := out[i] + rest[i]; all > 0 && cores > 0 && len(d.all(hostkeys.Name, hostkeys.CPUIdle)) > 0 {
			out[i] *= cores / all
		}
	}
	return out
}

// coreNames lists the cores.
func (d *Data) coreNames() (names []string) {
	for _, c := range d.named(hostkeys.Name, hostkeys.CPUUser, each) {
		if strings.HasPrefix(c.Key.Instance, "cpu") {
			names = append(names, c.Key.Instance)
		}
	}
	return names
}

// cores is how many cores the first host has.
func (d *Data) cores() int {
	if len(d.Rec.Run.Hosts) == 0 {
		return 0
	}
	return d.Rec.Run.Hosts[0].Cores
}

func (d *Data) hostMeters(s span) []meter {
	cpu := meter{name: "CPU", rank: 1, unit: "cores", chart: 4, v: d.cpu("", s), parts: d.modesNow(s.to)}
	if n := d.cores(); n > 0 {
		cpu.most, cpu.limit, cpu.floor = "of "+unit.Count(n), 0.95*float64(n), float64(n)
	}
	hottest := meter{name: "busiest core", rank: 4, floor: 1, unit: "cores", limit: 0.95,
		v: d.values(nil, s.from, s.to)}
	for _, name := range d.coreNames() {
		for i, v := range d.cpu(name, s) {
			if !math.IsNaN(v) && !(v <= hottest.v[i]) {
				hottest.v[i] = v
			}
		}
	}
	used := meter{name: "memory", rank: 5, unit: "GiB", v: d.memory(s)}
	if total := d.valueAt(d.one(hostkeys.Name, hostkeys.MemTotal), s.to); total > 0 {
		used.most, used.limit, used.floor = "of "+unit.Sig3(total/(1<<30)), 0.95*total/(1<<30), total/(1<<30)
	}
	disk, name := d.busiestDisk(s)
	out := []meter{cpu, hottest}
	for _, p := range []struct{ name, series string }{{"wait for CPU", hostkeys.PressureCPUSome},
		{"wait for I/O", hostkeys.PressureIOSome}, {"wait for memory", hostkeys.PressureMemorySome}} {
		m := meter{name: p.name, rank: 6, floor: 25, unit: "% of time",
			v: scale(d.values(d.one(hostkeys.Name, p.series), s.from, s.to), 100)}
		if p.name != "wait for memory" || m.top() > 0 {
			out = append(out, m)
		}
	}
	out = append(out, used,
		meter{name: "disk busy", rank: 4, floor: 100, unit: "% of time", most: name, limit: 90, v: scale(disk, 100)},
		meter{name: "net in", rank: 7, unit: "MB/s", v: scale(d.sum(d.named(hostkeys.Name, hostkeys.NetRxBytes,
			outside), s.from,
			s.to), 1e-6)},
		meter{name: "net out", rank: 8, unit: "MB/s", v: scale(d.sum(d.named(hostkeys.Name, hostkeys.NetTxBytes,
			outside), s.from,
			s.to), 1e-6)})
	return out
}

// modesNow describes what the CPU does at a second.
func (d *Data) modesNow(second int) (parts []string) {
	for _, m := range modes {
		v := math.NaN()
		for _, name := range m.series {
			if x := d.valueAt(d.one(hostkeys.Name, name), second); !math.IsNaN(x) {
				v = x + zero(v)
			}
		}
		if !math.IsNaN(v) && (v >= 0.005 || m.name == "user" || m.name == "system") {
			parts = append(parts, m.name+" "+unit.Fixed(v, 2))
		}
	}
	return parts
}

// zero is v, or 0 when it is not known.
func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// memory is what is in use and cannot be had without swapping, in GiB.
func (d *Data) memory(s span) []float64 {
	total, free := d.values(d.one(hostkeys.Name, hostkeys.MemTotal), s.from, s.to), d.values(d.one(hostkeys.Name,
		hostkeys.MemAvailable), s.from,
		s.to)
	for i := range total {
		total[i] = (total[i] - free[i]) / (1 << 30)
	}
	return total
}

// busiestDisk returns how busy the disk was that was busiest at the end, and its name.
func (d *Data) busiestDisk(s span) (v []float64, name string) {
	v = d.values(nil, s.from, s.to)
	best := -1.0
	for _, one := range d.named(hostkeys.Name, hostkeys.DiskBusy, each) {
		x := d.values(one, s.from, s.to)
		m := meter{v: x}
		if top := zero(m.top()); top > best {
			best, v, name = top, x, one.Key.Instance
		}
	}
	return v, clean(name)
}

func (d *Data) databaseMeters(s span) []meter {
	if !d.has(mysql.Name) {
		return nil
	}
	status := func(name string) []float64 { return d.values(d.one(mysql.Name, name), s.from, s.to) }
	connections := meter{name: "connections", rank: 7, v: status(mysql.ThreadsConnected)}
	if v, ok := d.Rec.Setting("mysql", "max_connections"); ok {
		connections.most = "of " + clean(v)
	}
	return []meter{
		{name: "statements", rank: 2, unit: "/s", chart: 3, v: status(mysql.Questions)},
		{name: "threads running", rank: 3, v: status(mysql.ThreadsRunning)},
		{name: "rows read", rank: 5, unit: "/s", v: status(mysql.InnodbRowsRead)},
		{name: "row lock waits", rank: 4, unit: "/s", bad: true, v: status(mysql.InnodbRowLockWaits)},
		connections,
		{name: "pool misses", rank: 8, unit: "/s", v: status(mysql.InnodbBufferPoolReads)},
	}
}

// serviceMeters are those of the servers beside the database.
func (d *Data) serviceMeters(s span) (out []meter) {
	rate := func(source, name string) []float64 { return d.values(d.one(source, name), s.from, s.to) }
	if d.has(nginx.Name) {
		rank := 4
		if d.has(accessName) || len(d.Rec.Endpoints) > 0 {
			rank = 8 // the log says the same
		}
		out = append(out, meter{name: "nginx requests", rank: rank, unit: "/s", v: rate(nginx.Name, nginx.Requests)},
			meter{name: "nginx active", rank: 7, v: rate(nginx.Name, nginx.Active)})
	}
	if d.has(varnish.Name) {
		hits, misses := rate(varnish.Name, varnish.CacheHits), rate(varnish.Name, varnish.CacheMisses)
		for i := range hits {
			if all := hits[i] + misses[i]; all > 0 {
				hits[i] = 100 * hits[i] / all
			} else {
				hits[i] = math.NaN()
			}
		}
		out = append(out, meter{name: "varnish hits", rank: 6, floor: 100, unit: "%", v: hits})
	}
	for _, source := range sources.All() {
		for _, x := range source.Signals {
			if x.Meter == 0 || !d.has(source.Name) {
				continue
			}
			m := meter{name: source.Name + " " + x.Label, rank: x.Meter, v: d.sum(d.all(source.Name, x.Key), s.from, s.to)}
			if x.Kind == kasoku.Counter {
				m.unit = "/s"
			}
			out = append(out, m)
		}
	}
	return append(out, d.goMeters(s)...)
}

// moreMeters are those that come last.
func (d *Data) moreMeters(s span) []meter {
	host := func(name string) []float64 { return d.values(d.one(hostkeys.Name, name), s.from, s.to) }
	out := []meter{
		{name: "to run", rank: 9, unit: "threads", v: host(hostkeys.ProcsRunning)},
		{name: "disk reads", rank: 9, unit: "/s", v: d.sum(d.named(hostkeys.Name, hostkeys.DiskReads, each), s.from,
			s.to)},
		{name: "disk writes", rank: 9, unit: "/s", v: d.sum(d.named(hostkeys.Name, hostkeys.DiskWrites, each),
			s.from, s.to)},
		{name: "swap used", rank: 9, unit: "MiB", v: scale(host(hostkeys.MemSwapUsed), 1.0/(1<<20))},
		{name: "major faults", rank: 9, unit: "/s", v: host(hostkeys.VMMajorPageFaults)},
		{name: "switches", rank: 9, unit: "k/s", v: scale(host(hostkeys.ContextSwitches), 1e-3)},
		{name: "retransmits", rank: 9, unit: "/s", v: host(hostkeys.TCPRetrans)},
		{name: "accept queue", rank: 7, bad: true, v: d.most(d.all(sockets.Name, sockets.AcceptQueue), s.from, s.to)},
		{name: "listen drops", rank: 9, unit: "/s", bad: true, v: host(hostkeys.TCPListenDrops)},
		{name: "net drops", rank: 9, unit: "/s", bad: true, v: d.sum(d.named(hostkeys.Name, hostkeys.NetDrops,
			each), s.from, s.to)},
	}
	kept := out[:0]
	for _, m := range out {
		if m.name != "swap used" && !m.bad || m.top() > 0 {
			kept = append(kept, m)
		}
	}
	return kept
}

// columns squeezes the seconds of a meter into columns of per seconds, each the greatest of
// its seconds. A column begins at a whole multiple of its length, so that it does not change
// when time goes on.
func (m *meter) columns(s span, per int) []float64 {
	first := floorDiv(s.from, per)
	out := make([]float64, floorDiv(s.to, per)-first+1)
	for i := range out {
		out[i] = math.NaN()
	}
	for i, v := range m.v {
		at := floorDiv(s.from+i, per) - first
		if !math.IsNaN(v) && !(v <= out[at]) {
			out[at] = v
		}
	}
	return out
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// number prints a value with three digits, – when it is not known.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return unit.Missing
	case v == 0:
		return "0"
	case v < 0.01:
		return "< 0.01"
	}
	return unit.Sig3(v)
}

// print prints a value of the meter: what is counted exactly.
func (m *meter) print(v float64) string {
	text := number(v)
	if m.exact || m.unit == "" || m.unit == "threads" {
		text = count(v)
	}
	if len(text) > valueCells && v >= 1e6 {
		text = unit.Sig3(v/1e6) + "M"
	}
	return text
}

// count prints what is counted, which is exact.
func count(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return unit.Count(int64(v))
	}
	return number(v)
}

// peak words the greatest value, and its limit where there is room for it.
func (m *meter) peak() string {
	text := "max " + m.print(m.top())
	if more := " " + m.most; m.most != "" && terminal.Width(text+more) <= peakCells-2 {
		text += more
	}
	return text
}
