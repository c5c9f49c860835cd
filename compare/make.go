package compare

import (
	"slices"
	"sort"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// A maker fills a Comparison.
type maker struct {
	c             *Comparison
	before, after []*kasoku.Recording
	counters      []counter
	resamples     int
	onStep        float64 // the rate of the step to judge by; 0 chooses
}

// groups makes all rows.
func (m *maker) groups(pairs []pair) {
	m.c.part("result", m.result)
	m.c.part("steps", func() { m.steps(pairs) })
	m.c.part("command", m.command)
	if len(pairs) == 0 {
		m.c.part("endpoints", m.endpoints)
	}
}

func (m *maker) judge(p pair) judge {
	return judge{
		before: stepsOf(m.before, p.before, m.counters), after: stepsOf(m.after, p.after, m.counters),
		seed: m.c.Drawn.Seed, resamples: m.resamples,
	}
}

// steps makes the groups of the load: the focus step in full, the others by a
// few figures each.
func (m *maker) steps(pairs []pair) {
	if len(pairs) == 0 {
		return
	}
	at, broke := m.focus(pairs)
	f := pairs[at]
	at0 := f.before[0]
	m.c.Before.Step, m.c.After.Step, m.c.PerSec, m.c.Broke = at0, f.after[0], at0.PerSec, broke
	j := m.judge(f)
	if j.single() {
		m.c.Drawn.Block = blockFor(min(len(j.before[0].seconds), len(j.after[0].seconds)))
	}
	m.c.part("curve", func() { m.c.Curve = curve(latencies(j.before), latencies(j.after)) })

	p := perMetric{m.counters}
	m.make("focus", atRate(at0), at0.PerSec, func() []Row { return j.rows(stepMetrics(p)) })
	below, above := "Other steps", "Other steps"
	if broke {
		below, above = "Below the limit", "Beyond it"
	}
	for _, other := range byRate(pairs, at) {
		title, id := below, "below"
		if other.before[0].PerSec > at0.PerSec {
			title, id = above, "above"
		}
		m.make(id, title, other.before[0].PerSec, func() []Row { return m.other(other) })
	}
	m.make("database", databaseName(slices.Concat(m.before, m.after)), at0.PerSec, func() []Row {
		rows := j.rows(databaseMetrics(p))
		used := Row{ID: "connections_used", Name: "connections used, max", Unit: Count, Goal: Less}
		if r, ok := j.gaugeRow(used, mysql.Name, mysql.ThreadsConnected); ok {
			rows = append(rows, r)
		}
		return rows
	})
	m.make("cpu", "CPU by process, cores", at0.PerSec, func() []Row { return m.cpuRows(j, p) })
	m.make("controls", "Controls, must not move", at0.PerSec, func() []Row { return j.rows(controlMetrics(p)) })
}

// make makes the rows of a group by themselves: a panic costs these alone.
func (m *maker) make(id, title string, perSec float64, rows func() []Row) {
	m.c.part(id, func() { m.add(id, title, perSec, rows()) })
}

// leastCores is the CPU, in cores, that a process must have used on one side to be compared;
// those with less are threads of the kernel mostly.
const leastCores = 0.05

func (m *maker) cpuRows(j judge, p perMetric) []Row {
	var out []Row
	for _, r := range j.rows(cpuMetrics(p)) {
		if r.Before.Value >= leastCores || r.After.Value >= leastCores {
			out = append(out, r)
		}
	}
	return out
}

// other gives the few figures by which a step beside the focus is described.
func (m *maker) other(p pair) []Row {
	j := m.judge(p)
	var metrics []metric
	failed := func(d *stepData) bool { return d.tally.SuccessRatio() < 1 }
	if slices.ContainsFunc(j.before, failed) || slices.ContainsFunc(j.after, failed) {
		metrics = append(metrics, successMetric())
	}
	metrics = append(metrics, percentileMetric("latency.p50", "p50", 0.50), percentileMetric("latency.p99", "p99", 0.99))
	return j.rows(metrics)
}

// add appends rows to the group of that id, making it when there is none yet.
func (m *maker) add(id, title string, perSec float64, rows []Row) {
	if len(rows) == 0 {
		return
	}
	for i := range rows {
		rows[i].PerSec = perSec
	}
	for i := range m.c.Groups {
		if m.c.Groups[i].ID == id {
			m.c.Groups[i].Rows = append(m.c.Groups[i].Rows, rows...)
			return
		}
	}
	m.c.Groups = append(m.c.Groups, Group{ID: id, Title: title, Rows: rows})
}

// focus chooses the step that the runs are judged by: the first at which before
// broke, else the first at which after did, else the one with the highest rate. Of
// several runs the one in the middle says whether a step broke.
func (m *maker) focus(pairs []pair) (at int, broke bool) {
	if m.onStep > 0 {
		at = slices.IndexFunc(pairs, func(p pair) bool { return sameRate(p.before[0].PerSec, m.onStep) })
		return max(at, 0), false
	}
	before, after := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		before[i], after[i] = successOf(m.before, p.before), successOf(m.after, p.after)
	}
	if i := kasoku.FirstBroken(before); i >= 0 {
		return i, true
	}
	if i := kasoku.FirstBroken(after); i >= 0 {
		return i, true
	}
	for i, p := range pairs {
		if p.before[0].PerSec >= pairs[at].before[0].PerSec {
			at = i
		}
	}
	return at, false
}

func successOf(runs []*kasoku.Recording, steps []kasoku.Step) float64 {
	ratios := make([]float64, len(runs))
	for i, r := range runs {
		ratios[i] = r.JudgedTally(steps[i]).SuccessRatio()
	}
	return median.Of(ratios)
}

// latencies merges those of all runs of a side.
func latencies(side []*stepData) *histogram.Histogram {
	h := histogram.New()
	for _, d := range side {
		h.Merge(d.tally.Latency)
	}
	return h
}

// byRate returns the pairs but the one at focus, the highest rate first.
func byRate(pairs []pair, focus int) []pair {
	var out []pair
	for i, p := range pairs {
		if i != focus {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].before[0].PerSec > out[j].before[0].PerSec })
	return out
}

func atRate(s kasoku.Step) string {
	if s.PerSec <= 0 {
		return "Under load"
	}
	return "At " + unit.PerSec(s.PerSec)
}

func curve(b, a *histogram.Histogram) []Quantile {
	if b.Count() == 0 || a.Count() == 0 {
		return nil
	}
	points := []Quantile{
		{Name: "min", Q: 0}, {Name: "p50", Q: 0.50}, {Name: "p75", Q: 0.75}, {Name: "p90", Q: 0.90},
		{Name: "p95", Q: 0.95}, {Name: "p99", Q: 0.99}, {Name: "p99.9", Q: 0.999}, {Name: "max", Q: 1},
	}
	for i := range points {
		points[i].Before = b.Quantile(points[i].Q).Seconds()
		points[i].After = a.Quantile(points[i].Q).Seconds()
	}
	return points
}

// row returns a row of figures of whole runs; ok is false when no run has one.
func (m *maker) row(r Row, read func(*kasoku.Recording) Value) (Row, bool) {
	ok := r.put(each(m.before, read), each(m.after, read), false)
	return r, ok
}

// command compares the child processes that all recordings ran. A process that
// made load is neither better nor worse for what it used itself: that goes with the
// requests that it made.
func (m *maker) command() {
	goal := Less
	for _, r := range slices.Concat(m.before, m.after) {
		if r.Run.Command == nil {
			return
		}
		if r.Run.Score != nil || len(r.Endpoints) > 0 {
			goal = Neither
		}
	}
	var rows []Row
	for _, x := range []struct {
		id, name string
		unit     Unit
		read     func(*kasoku.Command) float64
	}{
		{"command.wall", "wall time", Seconds, func(c *kasoku.Command) float64 { return c.Wall.Seconds() }},
		{"command.user", "CPU, user", Seconds, func(c *kasoku.Command) float64 { return c.User.Seconds() }},
		{"command.system", "CPU, system", Seconds, func(c *kasoku.Command) float64 { return c.System.Seconds() }},
		{"command.rss", "memory, max", Bytes, func(c *kasoku.Command) float64 { return float64(c.MaxRSSBytes) }},
	} {
		row, _ := m.row(Row{ID: x.id, Name: x.name, Unit: x.unit, Goal: goal}, func(r *kasoku.Recording) Value {
			return Value{x.read(r.Run.Command), true}
		})
		rows = append(rows, row)
	}
	m.add("command", "Command", 0, rows)
}

// endpoints compares routes of access logs, for runs without a load of kasoku's.
func (m *maker) endpoints() {
	for i := range m.before[0].Endpoints {
		e := &m.before[0].Endpoints[i]
		route := e.Method + " " + e.Route
		if endpoint(m.after[0], e) == nil {
			continue
		}
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.5}, {"p99", 0.99}} {
			r, ok := m.row(Row{ID: "endpoint." + q.name + " " + route, Name: route + " " + q.name, Unit: Seconds, Goal: Less}, func(run *kasoku.Recording) Value {
				x := endpoint(run, e)
				if x == nil || x.Latency.Count() == 0 {
					return Value{}
				}
				return Value{x.Latency.Quantile(q.q).Seconds(), true}
			})
			if r.Samples == nil {
				r.Change.WhyNot = "the log gives one histogram a run"
			}
			if ok {
				m.add("endpoints", "Endpoints", 0, []Row{r})
			}
		}
	}
}

// endpoint finds the same route in another run.
func endpoint(run *kasoku.Recording, like *kasoku.Endpoint) *kasoku.Endpoint {
	i := slices.IndexFunc(run.Endpoints, func(e kasoku.Endpoint) bool { return e.Method == like.Method && e.Route == like.Route })
	if i < 0 {
		return nil
	}
	return &run.Endpoints[i]
}
