package compare

import (
	"sort"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/unit"
)

// A maker fills a Comparison.
type maker struct {
	c             *Comparison
	before, after *kasoku.Recording
	counters      []counter
}

func (m *maker) judge(p pair) judge {
	return judge{
		before: newStepData(m.before, p.before, m.counters), after: newStepData(m.after, p.after, m.counters),
		seed: m.c.Seed, resamples: m.c.Resamples,
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
	m.c.Before.Step, m.c.After.Step, m.c.PerSec, m.c.Broke = f.before, f.after, f.before.PerSec, broke
	j := m.judge(f)
	m.c.Block = blockFor(min(len(j.before.seconds), len(j.after.seconds)))
	m.c.Curve = curve(j.before.tally, j.after.tally)

	p := perMetric{m.counters}
	m.add("focus", atRate(f.before), f.before.PerSec, j.rows(stepMetrics(p)))
	below, above := "Other steps", "Other steps"
	if broke {
		below, above = "Below the limit", "Beyond it"
	}
	for _, other := range byRate(pairs, at) {
		title, id := below, "below"
		if other.before.PerSec > f.before.PerSec {
			title, id = above, "above"
		}
		m.add(id, title, other.before.PerSec, m.other(other))
	}
	rows := j.rows(databaseMetrics(p))
	used := Row{ID: "connections_used", Name: "connections used, max", Unit: Count, Goal: Less}
	if r, ok := j.gaugeRow(used, "mysql", "Threads_connected"); ok {
		rows = append(rows, r)
	}
	m.add("database", databaseName(m.before, m.after), f.before.PerSec, rows)
	m.add("cpu", "CPU by process, cores", f.before.PerSec, m.cpuRows(j, p))
	m.add("controls", "Controls, must not move", f.before.PerSec, j.rows(controlMetrics(p)))
}

// leastCores leaves out processes that neither side can feel, threads of the kernel
// mostly.
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

// other gives the few figures by which a step beside the focus is told.
func (m *maker) other(p pair) []Row {
	j := m.judge(p)
	var metrics []metric
	if j.before.tally.SuccessRatio() < 1 || j.after.tally.SuccessRatio() < 1 {
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
// broke, else the first at which after did, else the one with the highest rate.
func (m *maker) focus(pairs []pair) (at int, broke bool) {
	before, after := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		before[i] = m.before.Tally(p.before.Number).SuccessRatio()
		after[i] = m.after.Tally(p.after.Number).SuccessRatio()
	}
	if i := kasoku.FirstBroken(before); i >= 0 {
		return i, true
	}
	if i := kasoku.FirstBroken(after); i >= 0 {
		return i, true
	}
	for i, p := range pairs {
		if p.before.PerSec >= pairs[at].before.PerSec {
			at = i
		}
	}
	return at, false
}

// byRate returns the pairs but the one at focus, the highest rate first.
func byRate(pairs []pair, focus int) []pair {
	var out []pair
	for i, p := range pairs {
		if i != focus {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].before.PerSec > out[j].before.PerSec })
	return out
}

func atRate(s kasoku.Step) string {
	if s.PerSec <= 0 {
		return "Under load"
	}
	return "At " + unit.PerSec(s.PerSec)
}

func curve(b, a *kasoku.Tally) []Quantile {
	if b.Latency.Count() == 0 || a.Latency.Count() == 0 {
		return nil
	}
	points := []Quantile{
		{Name: "min", Q: 0}, {Name: "p50", Q: 0.50}, {Name: "p75", Q: 0.75}, {Name: "p90", Q: 0.90},
		{Name: "p95", Q: 0.95}, {Name: "p99", Q: 0.99}, {Name: "p99.9", Q: 0.999}, {Name: "max", Q: 1},
	}
	for i := range points {
		points[i].Before = b.Latency.Quantile(points[i].Q).Seconds()
		points[i].After = a.Latency.Quantile(points[i].Q).Seconds()
	}
	return points
}

// command compares the child processes that both recordings ran.
func (m *maker) command() {
	b, a := m.before.Run.Command, m.after.Run.Command
	if b == nil || a == nil {
		return
	}
	row := func(id, name string, u Unit, x, y float64) Row {
		r := Row{ID: id, Name: name, Unit: u, Goal: Less, Before: Value{x, true}, After: Value{y, true}}
		r.Change = changeOf(false, r.Before, r.After)
		r.Change.WhyNot = "it is one number a run"
		return r
	}
	m.add("command", "Command", 0, []Row{
		row("command.wall", "wall time", Seconds, b.Wall.Seconds(), a.Wall.Seconds()),
		row("command.user", "CPU, user", Seconds, b.User.Seconds(), a.User.Seconds()),
		row("command.system", "CPU, system", Seconds, b.System.Seconds(), a.System.Seconds()),
		row("command.rss", "memory, max", Bytes, float64(b.MaxRSSBytes), float64(a.MaxRSSBytes)),
	})
}

// endpoints compares routes of access logs, for runs without a load of kasoku's.
func (m *maker) endpoints() {
	const why = "the log gives one histogram a run"
	for i := range m.before.Endpoints {
		b := &m.before.Endpoints[i]
		for k := range m.after.Endpoints {
			a := &m.after.Endpoints[k]
			if a.Method != b.Method || a.Route != b.Route {
				continue
			}
			route := b.Method + " " + b.Route
			for _, q := range []struct {
				name string
				q    float64
			}{{"p50", 0.5}, {"p99", 0.99}} {
				r := Row{ID: "endpoint." + q.name + " " + route, Name: route + " " + q.name, Unit: Seconds, Goal: Less,
					Before: Value{b.Latency.Quantile(q.q).Seconds(), b.Latency.Count() > 0},
					After:  Value{a.Latency.Quantile(q.q).Seconds(), a.Latency.Count() > 0}}
				r.Change = changeOf(false, r.Before, r.After)
				r.Change.WhyNot = why
				m.add("endpoints", "Endpoints", 0, []Row{r})
			}
		}
	}
}
