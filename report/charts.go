package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// The heights of plots, in px. Latency has four lines over three decades.
const (
	plainHeight   = 104
	latencyHeight = 132
	lowHeight     = 72
)

// requestsChart counts requests by the second in which they were due; without a
// load of kasoku's, by the access log.
func (r rec) requestsChart(g grid, t *Timeline) *Chart {
	asked, ok, failed := make([]float64, g.seconds), make([]float64, g.seconds), make([]float64, g.seconds)
	answered, rate := "answered 2xx", "2xx/s"
	switch {
	case len(r.Seconds) > 0:
		for i := range r.Seconds {
			s := &r.Seconds[i]
			if s.Second >= g.seconds {
				continue
			}
			var good uint64
			for code, n := range s.Codes {
				if code >= 200 && code < 400 {
					good += n
				}
			}
			ok[s.Second] += float64(good)
			if s.Step == 0 && r.scored() {
				asked[s.Second] += float64(good) // whether what is not good was to be so, the benchmark alone knows
				continue
			}
			asked[s.Second] += float64(s.Asked)
			failed[s.Second] += float64(s.Asked - min(good, s.Asked))
		}
	case r.endpointSeconds(ok, failed):
		asked, answered, rate = nil, "answered", "answered/s"
	default:
		return nil
	}
	c := &Chart{ID: "requests", Title: "Requests", Unit: "per second", Height: plainHeight,
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	js := g.joinWorst(failed, ok, failed)
	c.Series = []ChartSeries{
		{Name: answered, Colour: "s1", Form: Bars, Spans: g.blocks(js[0]), Values: js[0]},
		{Name: "errors", Colour: "bad", Form: Bars, Spans: g.blocks(js[1]), Values: js[1]},
	}
	if asked != nil {
		a := g.values(asked)
		c.Series = append([]ChartSeries{{Name: "asked", Colour: "fg", Form: Stairs, Spans: g.blocks(a), Values: a}},
			c.Series...)
	}
	top := most(plus(js...))
	if asked != nil {
		top = max(top, most(asked))
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	t.Sparks = append(t.Sparks,
		Spark{Name: rate, Values: js[0], Peak: "max " + c.Print(most(js[0]))},
		Spark{Name: "errors/s", Values: js[1], Tone: Bad, Peak: "max " + c.Print(most(js[1]))})
	return c
}

// endpointSeconds adds up the access log by seconds; false when it has none.
func (r rec) endpointSeconds(ok, failed []float64) bool {
	any := false
	_, endpoints := diagnose.FrontLog(r.Recording)
	for i := range endpoints {
		for sec, e := range endpoints[i].Seconds {
			if sec >= 0 && sec < len(ok) {
				ok[sec] += float64(e.Count - min(e.Failed, e.Count))
				failed[sec] += float64(e.Failed)
				any = true
			}
		}
	}
	return any
}

// latencyChart shows percentiles of each column, from merged histograms.
func (r rec) latencyChart(g grid, t *Timeline) *Chart {
	hs := make([]*histogram.Histogram, g.columns())
	any := false
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if c := s.Second / g.column; c < len(hs) && s.Latency.Count() > 0 {
			if hs[c] == nil {
				hs[c] = histogram.New()
			}
			hs[c].Merge(s.Latency)
			any = true
		}
	}
	if !any {
		return nil
	}
	c := &Chart{ID: "latency", Title: "Latency", Unit: "from due time", Suffix: " ms", Places: -1,
		Height: latencyHeight,
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	for _, q := range []struct {
		name, colour string
		q            float64
	}{{"p50", "p50", 0.50}, {"p95", "p95", 0.95}, {"p99", "p99", 0.99}, {"max", "s5", 1}} {
		vs := nan(len(hs))
		for i, h := range hs {
			if h != nil {
				vs[i] = h.Quantile(q.q).Seconds() * 1e3
			}
		}
		c.Series = append(c.Series, ChartSeries{Name: q.name, Colour: q.colour, Dotted: q.name == "max", Form: Lines,
			Spans: g.middles(vs), Values: vs, End: true})
	}
	lo, hi := least(c.Series[0].Values), most(c.Series[3].Values)
	c.Axis = logAxis(lo, hi, axisLatency)
	linear := linearAxis(hi, nil, axisLatency)
	c.Linear = &linear
	c.peaks()
	t.Sparks = append(t.Sparks, Spark{Name: "p99", Values: c.Series[2].Values, Log: true,
		Peak: "max " + c.Series[2].Peak + " log"})
	return c
}

// busyModes are the modes of a CPU that do work. Stolen time is another machine's.
var busyModes = []string{host.CPUUser, host.CPUNice, host.CPUSystem, host.CPUIRQ, host.CPUSoftIRQ}

// busy returns the cores that the first host was busy with, by second; nil when it
// was not recorded.
func (r rec) busy(g grid) []float64 {
	var parts [][]float64
	for _, name := range busyModes {
		if s := r.Find(kasoku.Key{Source: host.Name, Name: name}); s != nil {
			parts = append(parts, g.rates(s))
		}
	}
	return plus(parts...)
}

// busiest returns the most cores that were busy in one second.
func (r rec) busiest() (float64, bool) {
	m := most(r.busy(newGrid(r.length())))
	return m, !math.IsNaN(m)
}

// A worker is all processes of one name.
type worker struct {
	name         string
	count        int
	own          bool
	user, system []float64
	total        float64
}

// workers returns the processes by name, those of the most CPU time first.
func (r rec) workers(g grid) []worker {
	var out []worker
	for _, p := range compare.Processes(r.Recording) {
		i := slices.IndexFunc(out, func(w worker) bool { return w.name == p.Name && w.own == p.Own })
		if i < 0 {
			i = len(out)
			out = append(out, worker{name: p.Name, own: p.Own, user: nan(g.seconds), system: nan(g.seconds)})
		}
		w := &out[i]
		w.count++
		w.user, w.system = plus(w.user, g.rates(p.User)), plus(w.system, g.rates(p.System))
	}
	for i := range out {
		for _, v := range plus(out[i].user, out[i].system) {
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

// databases are the names of processes that are drawn in the database's colour.
var databases = []string{"mariadbd", "mysqld", "postgres", "redis-server", "valkey-server", "memcached", "mongod"}

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
func (r rec) cpuChart(g grid, t *Timeline) *Chart {
	busy := r.busy(g)
	shown, colour := colours(r.workers(g))
	if busy == nil && len(shown) == 0 {
		return nil
	}
	c := &Chart{ID: "cpu", Title: "CPU", Unit: "cores", Places: 2, Height: plainHeight, quotes: []quote{
		{host.Name, host.CPUUser}, {host.Name, host.CPUSystem}, {process.Name, process.CPUUser}, {process.Name,
			host.CPUSystem}}}
	var parts [][]float64
	put := func(name, colour string, half bool, vs []float64) {
		if math.IsNaN(most(vs)) {
			return
		}
		parts = append(parts, vs)
		c.Series = append(c.Series, ChartSeries{Name: name, Colour: colour, Half: half, Form: Areas})
	}
	for i, w := range shown {
		name := w.name
		if w.count > 1 {
			name += " × " + strconv.Itoa(w.count)
		}
		if w.own {
			put("kasoku itself", colour[i], false, plus(w.user, w.system))
			continue
		}
		put(name+" user", colour[i], false, w.user)
		put(name+" system", colour[i], true, w.system)
	}
	if busy != nil {
		name := "other"
		if len(parts) == 0 {
			name = "all processes"
		}
		put(name, "s5", false, minus(busy, parts))
	}
	if len(parts) == 0 {
		return nil
	}
	parts = g.join(parts...)
	total := plus(parts...)
	for i := range c.Series {
		c.Series[i].Values = parts[i]
		c.Series[i].Spans = g.middles(where(parts[i], total))
	}
	peak := most(total)
	if n := r.host().Cores; n > 0 {
		c.Limits = []Limit{{Name: unit.Counted(n, "core", "cores"), Value: float64(n), Tone: Dim}}
	}
	c.Axis = linearAxis(c.possible(peak, total, g), c.Limits, unit.Plain)
	c.peaks()
	r.gaps(c, host.Name)
	t.Sparks = append(t.Sparks, Spark{Name: "CPU", Values: total, Peak: "max " + unit.Sig3(peak) + " cores"})
	return c
}

// possible returns the peak that the axis of the CPU must hold. More cores than there
// are get counted after the host stood still, as a virtual machine can: then its
// cores are the peak, and a note says what was counted.
func (c *Chart) possible(peak float64, total []float64, g grid) float64 {
	const rounding = 1.1
	if len(c.Limits) == 0 || peak <= rounding*c.Limits[0].Value {
		return peak
	}
	from, _ := g.span(slices.Index(total, peak))
	c.Gaps = append(c.Gaps, GapNote{from, unit.Sig3(peak) + " cores counted at " + seconds(from) +
		", more than there are"})
	return c.Limits[0].Value
}

// minus is what of the whole is in none of the parts. Samples of two sources do
// not fall on the same instant, so it can come out slightly below 0; that is 0.
func minus(whole []float64, parts [][]float64) []float64 {
	sum := plus(parts...)
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

// connectionsChart shows the connections that the database has, under its limit.
func (r rec) connectionsChart(g grid, t *Timeline) *Chart {
	c := &Chart{ID: "connections", Title: Sentence(r.databaseOr()) + " connections", Height: plainHeight,
		quotes: []quote{{mysql.Name, mysql.ThreadsConnected}, {mysql.Name, mysql.ThreadsRunning},
			{mysql.Name, mysql.MaxUsedConnections}, {mysql.Name, mysql.ConnectionErrorsMaxConnections}}}
	for _, s := range []struct{ name, colour string }{{mysql.ThreadsConnected, "s2"}, {mysql.ThreadsRunning, "s4"}} {
		if x := r.Find(kasoku.Key{Source: mysql.Name, Name: s.name}); x != nil && len(x.Points) > 0 {
			c.Series = append(c.Series, ChartSeries{Name: s.name, Colour: s.colour, Form: Lines, Spans: g.samples(x),
				Values: g.values(g.gauge(x))})
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	of := ""
	if v, ok := r.Setting("mysql", "max_connections"); ok {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 {
			c.Limits = []Limit{{Name: "max_connections " + unit.Plain(n), Value: n, Tone: Bad}}
			of = " of " + unit.Plain(n)
		}
	}
	peak := most(c.Series[0].Values)
	// A limit far beyond what was used would flatten the line; it is then named only.
	if len(c.Limits) > 0 && c.Limits[0].Value > 20*max(peak, 1) {
		c.Unit = "limit " + unit.Plain(c.Limits[0].Value) + ", beyond the axis"
		c.Limits = nil
	}
	c.Axis = linearAxis(peak, c.Limits, unit.Plain)
	c.peaks()
	r.gaps(c, mysql.Name)
	t.Sparks = append(t.Sparks, Spark{Name: "connections", Values: c.Series[0].Values,
		Peak: "max " + c.Series[0].Peak + of})
	return c
}

// newConnectionsChart shows how many connections the database let in and how many
// it refused each second. Its counter Connections leaves out the refused ones.
func (r rec) newConnectionsChart(g grid, _ *Timeline) *Chart {
	opened := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.Connections})
	refused := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.ConnectionErrorsMaxConnections})
	if opened == nil || len(opened.Points) < 2 {
		return nil
	}
	c := &Chart{ID: "new-connections", Title: "New connections", Unit: "per second", Height: plainHeight,
		quotes: []quote{{mysql.Name, mysql.Connections}, {mysql.Name, mysql.ConnectionErrorsMaxConnections},
			{mysql.Name, mysql.AbortedConnects}}}
	series := []struct {
		name, colour string
		s            *kasoku.Series
	}{{"accepted", "s2", opened}, {"refused (1040)", "bad", refused}}
	parts := [][]float64{g.rates(opened), g.rates(refused)}
	joined := g.joinWorst(parts[1], parts...)
	for i, x := range series {
		cs := ChartSeries{Name: x.name, Colour: x.colour, Form: Bars, Values: joined[i], Spans: g.blocks(joined[i])}
		if g.column == 1 && x.s != nil {
			cs.Spans = rateSpans(x.s)
		}
		c.Series = append(c.Series, cs)
	}
	c.Axis = linearAxis(most(plus(joined...)), nil, unit.Plain)
	c.peaks()
	return c
}

// rateSpans draws a rate over the whole time between its two samples. Ticks lie
// some milliseconds beside the second; bars are drawn on it.
func rateSpans(s *kasoku.Series) []Span {
	var out []Span
	for _, r := range s.Rates() {
		out = append(out, Span{From: onSecond(r.Interval.From.Seconds()), To: onSecond(r.Interval.To.Seconds()),
			Value: r.PerSec, Low: r.PerSec})
	}
	return out
}

func onSecond(v float64) float64 {
	if w := math.Round(v); math.Abs(w-v) < 0.25 {
		return w
	}
	return v
}

// leastShare is the share of time from which a disk or a pressure has a chart: what
// waits less than that explains nothing.
const leastShare = 0.05

// diskChart shows how much of the time each disk was busy.
func (r rec) diskChart(g grid, _ *Timeline) *Chart {
	c := &Chart{ID: "disk", Title: "Disk", Unit: "% of time busy", Places: 0, Height: lowHeight,
		quotes: []quote{{host.Name, host.DiskBusy}, {host.Name, host.DiskFlushTime}}}
	for _, s := range r.FindAll(host.Name, host.DiskBusy) {
		c.share(g, s.Key.Instance, s)
	}
	return c.shares()
}

// pressureChart shows how much of the time something waited for CPU, disk or
// memory, as the kernel's pressure stall information counts it.
func (r rec) pressureChart(g grid, _ *Timeline) *Chart {
	c := &Chart{ID: "pressure", Title: "Pressure", Unit: "% of time some task waited", Places: 0, Height: lowHeight}
	for _, kind := range []string{"cpu", "io", "memory"} {
		name := "psi." + kind + ".some"
		c.quotes = append(c.quotes, quote{host.Name, name})
		if s := r.Find(kasoku.Key{Source: host.Name, Name: name}); s != nil {
			c.share(g, strings.Replace(kind, "io", "disk", 1), s)
		}
	}
	return c.shares()
}

// share adds a counter of busy time when it reached leastShare.
func (c *Chart) share(g grid, name string, s *kasoku.Series) {
	palette := []string{"s2", "s4", "s1", "s3", "s5"}
	vs := g.rates(s)
	if m := most(vs); math.IsNaN(m) || m < leastShare || len(c.Series) == len(palette) {
		return
	}
	for i := range vs {
		vs[i] = min(100*vs[i], 100)
	}
	vs = g.values(vs)
	c.Series = append(c.Series, ChartSeries{Name: name, Colour: palette[len(c.Series)], Form: Stairs,
		Spans: g.blocks(vs), Values: vs})
}

// shares finishes a chart of shares of time; nil when nothing reached leastShare.
func (c *Chart) shares() *Chart {
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = linearAxis(100, nil, unit.Plain)
	c.peaks()
	return c
}
