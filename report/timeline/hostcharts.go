package timeline

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// BusyModes are the modes of a CPU that do work. Stolen time is another machine's.
var BusyModes = []string{host.CPUUser, host.CPUNice, host.CPUSystem, host.CPUIRQ, host.CPUSoftIRQ}

// busy returns the cores that the first host was busy with, by second; nil when it
// was not recorded.
func (r cpuCharts) busy() []float64 {
	var parts [][]float64
	for _, name := range BusyModes {
		if s := r.Find(kasoku.Key{Source: host.Name, Name: name}); s != nil {
			parts = append(parts, r.grid.rates(s))
		}
	}
	return AddUp(parts...)
}

// BusiestCores returns the most cores that were busy in one second on the first host.
func BusiestCores(r recorded.View) (float64, bool) {
	m := report.Largest(cpuCharts{newDrawing(r)}.busy())
	return m, !math.IsNaN(m)
}

// A worker is all processes of one name; of one member, where the service is known.
type worker struct {
	name         string
	count        int
	member       *kasoku.Member
	own          bool
	user, system []float64
	tree         []float64 // all that the member used, of which user and system are parts; nil when unknown
	total        float64
}

// workers returns the processes by name, those of the most CPU time first.
func (r cpuCharts) workers() []worker {
	var out []worker
	for _, p := range compare.Processes(r.Recording) {
		m := MemberOf(r.Service, p)
		i := slices.IndexFunc(out, func(w worker) bool {
			return w.own == p.Own && w.member == m && (m != nil || w.name == p.Name)
		})
		if i < 0 {
			i = len(out)
			w := worker{name: p.Name, own: p.Own, member: m, user: nan(r.grid.Seconds), system: nan(r.grid.Seconds)}
			if m != nil {
				w.name = m.Program
			}
			out = append(out, w)
		}
		w := &out[i]
		if p.Tree != nil && w.tree == nil {
			w.tree = r.grid.rates(p.Tree)
		} else if p.Tree != nil {
			w.tree = AddUp(w.tree, r.grid.rates(p.Tree))
		}
		if p.User == nil && p.System == nil {
			continue // a leader that is hardly ever busy itself
		}
		w.count++
		w.user, w.system = AddUp(w.user, r.grid.rates(p.User)), AddUp(w.system, r.grid.rates(p.System))
	}
	for i := range out {
		for _, v := range AddUp(out[i].user, out[i].system) {
			if !math.IsNaN(v) {
				out[i].total += v
			}
		}
	}
	slices.SortStableFunc(out, func(a, b worker) int {
		switch {
		case a.total > b.total:
			return -1
		case a.total < b.total:
			return 1
		}
		return 0
	})
	return out
}

// leastStarted is the most that what a member starts must use in a second to be drawn, in
// cores: less is how the kernel rounds.
const leastStarted = 0.05

// started is what a member's short-lived children used, and how that is called; nil when that is
// next to nothing. Before a process itself was watched only its member's sum is known.
func (w *worker) started() (rest []float64, name string) {
	if w.tree == nil {
		return nil, ""
	}
	rest = minus(w.tree, [][]float64{w.user, w.system})
	if !(report.Largest(rest) >= leastStarted) {
		return nil, ""
	}
	if w.count == 0 { // its processes are hardly ever busy themselves
		return rest, w.name + ", what it starts"
	}
	for i, v := range rest {
		if v >= leastStarted && i > 0 && !math.IsNaN(w.user[i]) && !math.IsNaN(w.user[i-1]) {
			return rest, w.name + ", what it starts"
		}
	}
	return rest, w.name + ", user and system"
}

// databases are the names of processes that are drawn in the database's colour.
var databases = []string{"mariadbd", "mysqld", "postgres", "redis-server", "valkey-server", "memcached", "mongod"}

// MemberOf returns the member that a process is of, nil without one.
func MemberOf(s *kasoku.Service, p compare.Process) *kasoku.Member {
	pid, err := strconv.Atoi(p.PID)
	if err != nil || !s.Known() || p.Own {
		return nil
	}
	for i := range s.Members {
		m := &s.Members[i]
		if m.Sure != kasoku.Low && m.Has(pid) && (m.Host == "" || p.Host == "" || m.Host == p.Host) {
			return m
		}
	}
	return nil
}

// roleColours are those of members, always the same; kasoku has s3, and neighbours s5.
var roleColours = map[kasoku.MemberRole]string{
	kasoku.RoleApplication: "s1", kasoku.RoleDatabase: "s2", kasoku.RoleWeb: "s4",
	kasoku.RoleCache: "p95", kasoku.RoleStore: "p95", kasoku.RoleQueue: "p95", kasoku.RolePooler: "p95", kasoku.RoleForwarder: "p95",
}

// ColourOf is the colour of a member by its role.
func ColourOf(role kasoku.MemberRole) string { return cmp.Or(roleColours[role], "s5") }

// byMember gives the members their colours by role, in the order of a request's way; what
// is not shown are neighbours. It is nil when no process of a member was recorded.
func byMember(ws []worker, s *kasoku.Service) (shown []worker, colour []string) {
	if !s.Known() {
		return nil, nil
	}
	for i := range s.Members {
		m := &s.Members[i]
		if k := slices.IndexFunc(ws, func(w worker) bool { return w.member == m }); k >= 0 && roleColours[m.Role] != "" {
			shown, colour = append(shown, ws[k]), append(colour, roleColours[m.Role])
		}
	}
	if len(shown) == 0 {
		return nil, nil
	}
	if k := slices.IndexFunc(ws, func(w worker) bool { return w.own }); k >= 0 {
		shown, colour = append(shown, ws[k]), append(colour, "s3")
	}
	return shown, colour
}

// colours gives each worker its colour and leaves out those beyond the palette: the
// app, the database, kasoku and one more. What is left out is part of other.
func colours(ws []worker) (shown []worker, colour []string) {
	var app, second, db, own *worker
	var sum float64
	for i := range ws {
		sum += ws[i].total
	}
	for i := range ws {
		w := &ws[i]
		switch {
		case w.own:
			own = w
		case w.total < sum/100:
		case slices.Contains(databases, w.name) && db == nil:
			db = w
		case app == nil:
			app = w
		case second == nil:
			second = w
		}
	}
	for _, x := range []struct {
		w *worker
		c string
	}{{app, "s1"}, {db, "s2"}, {second, "s4"}, {own, "s3"}} {
		if x.w != nil {
			shown, colour = append(shown, *x.w), append(colour, x.c)
		}
	}
	return shown, colour
}

// cpuChart stacks the cores that each process took, user and system apart, under
// the number of cores.
func (r cpuCharts) cpuChart() *plot {
	busy := r.busy()
	workers := r.workers()
	shown, colour := byMember(workers, r.Service)
	known := len(shown) > 0
	if !known {
		shown, colour = colours(workers)
	}
	if busy == nil && len(shown) == 0 {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "cpu", Title: "CPU", Unit: "cores", Places: 2, Height: PlainHeight},
		quotes: []quote{
			{host.Name, host.CPUUser}, {host.Name, host.CPUSystem}, {process.Name, process.CPUUser},
			{process.Name, process.CPUSystem}}}
	var parts [][]float64
	put := func(name, colour string, half bool, vs []float64) {
		if math.IsNaN(report.Largest(vs)) {
			return
		}
		parts = append(parts, vs)
		c.Series = append(c.Series, report.ChartSeries{Name: name, Colour: colour, Half: half, Form: report.Areas})
	}
	for i, w := range shown {
		name := w.name
		if w.count > 1 {
			name += " × " + strconv.Itoa(w.count)
		}
		if w.own {
			put("kasoku itself", colour[i], false, AddUp(w.user, w.system))
			continue
		}
		put(name+" user", colour[i], false, w.user)
		put(name+" system", colour[i], true, w.system)
		if rest, name := w.started(); rest != nil {
			put(name, colour[i], true, rest)
		}
	}
	if busy != nil {
		name := "other"
		switch {
		case len(parts) == 0:
			name = "all processes"
		case known && r.Run.Command != nil:
			name = "neighbours, kernel, command"
		case known:
			name = "neighbours, kernel"
		}
		put(name, "s5", false, minus(busy, parts))
	}
	if len(parts) == 0 {
		return nil
	}
	parts = r.grid.join(parts...)
	total := AddUp(parts...)
	for i := range c.Series {
		c.Series[i].Values = parts[i]
		c.Series[i].Spans = r.grid.middles(where(parts[i], total))
	}
	peak := report.Largest(total)
	if n := r.Host().Cores; n > 0 {
		c.Limits = []report.Limit{{Name: unit.Counted(n, "core", "cores"), Value: float64(n), Tone: report.Dim}}
	}
	c.Axis = report.LinearAxis(c.possible(peak, total, r.grid), c.Limits, unit.Plain)
	c.Peaks()
	r.gaps(c, host.Name)
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "CPU", Values: total,
		Peak: "max " + unit.Sig3(peak) + " cores"})
	return c
}

// possible returns the peak that the axis of the CPU must hold. More cores than there
// are get counted after the host stood still, as a virtual machine can: then its
// cores are the peak, and a note says what was counted.
func (c *plot) possible(peak float64, total []float64, g grid) float64 {
	const rounding = 1.1
	if len(c.Limits) == 0 || peak <= rounding*c.Limits[0].Value {
		return peak
	}
	from, _ := g.span(slices.Index(total, peak))
	c.Gaps = append(c.Gaps, report.GapNote{At: from, Text: unit.Sig3(peak) + " cores counted at " +
		report.SecondsText(from) +
		", more than there are"})
	return c.Limits[0].Value
}

// minus is what of the whole is in none of the parts. Samples of two sources do
// not fall on the same instant, so it can come out slightly below 0; that is 0.
func minus(whole []float64, parts [][]float64) []float64 {
	sum := AddUp(parts...)
	out := slices.Clone(whole)
	for i := range out {
		if sum != nil && !math.IsNaN(sum[i]) {
			out[i] = max(0, out[i]-sum[i])
		}
	}
	return out
}

// where makes 0 of what is unknown in a second in which the stack is known, so that
// the areas above it still have a base.
func where(vs, total []float64) []float64 {
	out := slices.Clone(vs)
	for i := range out {
		if math.IsNaN(out[i]) && !math.IsNaN(total[i]) {
			out[i] = 0
		}
	}
	return out
}

// LeastShare is the share of time from which a disk or a pressure has a chart: what
// waits less than that explains nothing.
const LeastShare = 0.05

// diskChart shows how much of the time each disk was busy.
func (r cpuCharts) diskChart() *plot {
	c := &plot{Chart: report.Chart{ID: "disk", Title: "Disk", Unit: "% of time busy", Places: 0, Height: lowHeight},
		quotes: []quote{{"host", host.DiskBusy}, {host.Name, host.DiskFlushTime}}}
	for _, s := range r.FindAll(host.Name, host.DiskBusy) {
		c.share(r.grid, s.Key.Instance, s)
	}
	return c.shares()
}

const gib = 1 << 30

// memoryChart shows how much of a host's memory programs could not have any more, beside all that there is.
func (r cpuCharts) memoryChart() *plot {
	total := r.Find(kasoku.Key{Source: host.Name, Name: host.MemTotal})
	available := r.Find(kasoku.Key{Source: host.Name, Name: host.MemAvailable})
	if total == nil || available == nil || len(total.Points) == 0 {
		return nil
	}
	whole := report.Largest(r.grid.gauge(total)) / gib
	used := r.grid.gauge(available)
	for i := range used {
		used[i] = whole - used[i]/gib
	}
	used = r.grid.values(used)
	c := &plot{Chart: report.Chart{ID: "memory", Title: "Memory", Unit: "GiB in use, without what can be given up",
		Places: -1, Height: lowHeight, Limits: []report.Limit{{Name: unit.Sig3(whole) + " GiB", Value: whole}}},
		quotes: []quote{{host.Name, host.MemAvailable}, {host.Name, host.MemAnon}}}
	c.Series = []report.ChartSeries{{Name: "in use", Colour: "s4", Form: report.Stairs, Spans: r.grid.Blocks(used),
		Values: used}}
	c.Axis = report.LinearAxis(whole, c.Limits, unit.Plain)
	c.Peaks()
	return c
}

// leastTraffic is how much a network has to carry to be drawn, in MB/s.
const leastTraffic = 0.1

// networkChart shows what came and went by the host's networks, its loopback left out; nil where that is next to
// nothing.
func (r cpuCharts) networkChart() *plot {
	c := &plot{Chart: report.Chart{ID: "network", Title: "Network", Unit: "MB/s, without loopback", Places: -1,
		Height: lowHeight}, quotes: []quote{{host.Name, host.NetRxBytes}, {host.Name, host.NetTxBytes}}}
	top := 0.0
	for _, way := range []struct{ key, name, colour string }{
		{host.NetRxBytes, "received", "s1"}, {host.NetTxBytes, "sent", "s2"}} {
		var parts [][]float64
		for _, s := range r.FindAll(host.Name, way.key) {
			if s.Key.Instance != "lo" {
				parts = append(parts, r.grid.rates(s))
			}
		}
		if len(parts) == 0 {
			continue
		}
		sum := r.grid.values(AddUp(parts...))
		for i := range sum {
			if sum[i] /= 1e6; sum[i] > top {
				top = sum[i]
			}
		}
		c.Series = append(c.Series, report.ChartSeries{Name: way.name, Colour: way.colour, Form: report.Stairs,
			Spans: r.grid.Blocks(sum), Values: sum})
	}
	if top < leastTraffic {
		return nil
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	return c
}

// pressureChart shows how much of the time something waited for CPU, disk or
// memory, as the kernel's pressure stall information counts it.
func (r cpuCharts) pressureChart() *plot {
	c := &plot{Chart: report.Chart{ID: "pressure", Title: "Pressure", Unit: "% of time some task waited", Places: 0,
		Height: lowHeight}}
	for _, kind := range []string{"cpu", "io", "memory"} {
		name := "psi." + kind + ".some"
		c.quotes = append(c.quotes, quote{host.Name, name})
		if s := r.Find(kasoku.Key{Source: host.Name, Name: name}); s != nil {
			c.share(r.grid, strings.Replace(kind, "io", "disk", 1), s)
		}
	}
	return c.shares()
}

// share adds a counter of busy time when it reached [LeastShare].
func (c *plot) share(g grid, name string, s *kasoku.Series) {
	palette := []string{"s2", "s4", "s1", "s3", "s5"}
	vs := g.rates(s)
	if m := report.Largest(vs); math.IsNaN(m) || m < LeastShare || len(c.Series) == len(palette) {
		return
	}
	for i := range vs {
		vs[i] = min(100*vs[i], 100)
	}
	vs = g.values(vs)
	c.Series = append(c.Series, report.ChartSeries{Name: name, Colour: palette[len(c.Series)], Form: report.Stairs,
		Spans: g.Blocks(vs), Values: vs})
}

// shares finishes a chart of shares of time; nil when nothing reached [LeastShare].
func (c *plot) shares() *plot {
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = report.LinearAxis(100, nil, unit.Plain)
	c.Peaks()
	return c
}
