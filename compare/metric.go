package compare

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/mysql"
)

// A counter is what a run counted that is not in its load: one series of the
// database, or the CPU time of some processes.
type counter struct {
	id    string
	parts func(*kasoku.Recording) []growth
}

// A reading is a counter of one run, ready to be asked for intervals.
type reading []growth

func (c counter) growth(run *kasoku.Recording) reading { return c.parts(run) }

// in adds up the parts that were measured in the whole interval; ok is false
// when none was.
func (r reading) in(iv kasoku.Interval) (grown float64, ok bool) {
	for _, g := range r {
		if v, known := g.in(iv); known {
			grown += v
			ok = true
		}
	}
	return grown, ok
}

// cpuPrefix begins the id of a counter of the CPU time of all processes of a name.
const cpuPrefix = "cpu "

// The ids of counters that metrics name.
const (
	cpuAll      = "cpu"
	cpuBeside   = "neighbours"
	opened      = mysql.Connections
	refused     = mysql.ConnectionErrorsMaxConnections
	questions   = mysql.Questions
	prepares    = mysql.ComStmtPrepare
	commits     = mysql.ComCommit
	sent        = mysql.BytesSent
	logFsyncs   = mysql.InnodbOSLogFsyncs
	observerCPU = "self"
	spooled     = "spooled"
)

// statusCounters are read from the status of the database.
var statusCounters = []string{opened, refused, questions, prepares, commits, sent, logFsyncs}

// countersOf returns the counters that the runs have, CPU by process name
// included.
func countersOf(runs []*kasoku.Recording) []counter {
	members := membersKnown(runs)
	out := []counter{{cpuAll, func(run *kasoku.Recording) []growth { return workCPU(run, members) }}, {observerCPU, selfCPU},
		{spooled, spooledBodies}}
	for _, name := range statusCounters {
		out = append(out, counter{name, func(run *kasoku.Recording) []growth {
			return seriesParts(run, mysql.Name, name)
		}})
	}
	if members {
		out = append(out, counter{cpuBeside, neighbourCPU})
	}
	for _, name := range processNames(runs, members) {
		out = append(out, counter{cpuPrefix + name, func(run *kasoku.Recording) []growth {
			var parts []growth
			for _, p := range Processes(run) {
				if p.label() == name && !(members && p.Neighbour(run)) {
					parts = append(parts, p.parts()...)
				}
			}
			return parts
		}})
	}
	return out
}

func seriesParts(run *kasoku.Recording, source, name string) []growth {
	if s := run.Find(kasoku.Key{Source: source, Name: name}); s != nil {
		return []growth{growthOf(s)}
	}
	return nil
}

// selfCPU is what the observation took: the sum of what each source cost, or, when
// that was not recorded, all of kasoku's process.
func selfCPU(run *kasoku.Recording) []growth {
	var parts []growth
	for i := range run.Series {
		if k := run.Series[i].Key; k.Source == observe.SelfName && strings.HasPrefix(k.Name, observe.SelfCostPrefix) {
			parts = append(parts, growthOf(&run.Series[i]))
		}
	}
	if len(parts) > 0 {
		return parts
	}
	return append(seriesParts(run, observe.SelfName, observe.SelfCPUUser), seriesParts(run, observe.SelfName,
		observe.SelfCPUSystem)...)
}

// workCPU is the CPU time of the members of the service; where they are not known, of
// everything that was recorded but kasoku itself.
func workCPU(run *kasoku.Recording, members bool) []growth {
	var parts []growth
	for _, p := range Processes(run) {
		if members && p.Member || !members && !p.Own {
			parts = append(parts, p.parts()...)
		}
	}
	return parts
}

// neighbourCPU is the CPU time of programs outside of the service, other than kasoku and the
// load.
func neighbourCPU(run *kasoku.Recording) []growth {
	var parts []growth
	for _, p := range Processes(run) {
		if p.Neighbour(run) {
			parts = append(parts, p.parts()...)
		}
	}
	return parts
}

func processNames(runs []*kasoku.Recording, members bool) []string {
	var names []string
	for _, run := range runs {
		for _, p := range Processes(run) {
			if !slices.Contains(names, p.label()) && !(members && p.Neighbour(run)) {
				names = append(names, p.label())
			}
		}
	}
	slices.Sort(names)
	return names
}

// A metric is one figure of a step.
type metric struct {
	id     string
	name   string
	unit   Unit
	goal   Goal
	points bool // the change is a difference of ratios
	value  func(*sums) (float64, bool)
	exact  func(*stepData) (float64, bool) // the figure as shown elsewhere; value of the whole step when nil
	single string                          // why it has no interval
	few    func(*stepData) bool            // there is too little to draw it from
}

// leastBeyond is how many requests must lie beyond a percentile for it to have an
// interval: with fewer, drawing seconds mostly draws the same few requests.
const leastBeyond = 10

func over(num, den float64) (float64, bool) {
	if den <= 0 {
		return 0, false
	}
	return num / den, true
}

// oneRequest is why the maximum has no interval.
const oneRequest = "it is a single request"

func successMetric() metric {
	return metric{id: "success", name: "success", unit: Ratio, goal: More, points: true,
		value: func(s *sums) (float64, bool) { return over(s.success, s.asked) }}
}

func reachedMetric() metric {
	return metric{id: "reached", name: "reached", unit: PerSecond, goal: More,
		value: func(s *sums) (float64, bool) { return over(s.success, s.seconds) }}
}

func meanMetric() metric {
	return metric{id: "latency.mean", name: "mean", unit: Seconds, goal: Less,
		value: func(s *sums) (float64, bool) { return over(s.latency, s.answered) }}
}

func percentileMetric(id, name string, q float64) metric {
	return metric{id: id, name: name, unit: Seconds, goal: Less,
		value: func(s *sums) (float64, bool) { return quantile(s.bins, s.from.values, q) },
		exact: func(d *stepData) (float64, bool) {
			return d.tally.Latency.Quantile(q).Seconds(), d.tally.Latency.Count() > 0
		},
		few: func(d *stepData) bool { return (1-q)*float64(d.tally.Latency.Count()) < leastBeyond-0.5 }}
}

func maxMetric() metric {
	return metric{id: "latency.max", name: "max", unit: Seconds, goal: Less, single: oneRequest,
		exact: func(d *stepData) (float64, bool) {
			return d.tally.Latency.Max().Seconds(), d.tally.Latency.Count() > 0
		}}
}

func sendDelayMetric() metric {
	return metric{id: "send_delay.p99", name: "send delay p99", unit: Seconds, goal: Less,
		value: func(s *sums) (float64, bool) { return quantile(s.sends, s.from.delays, 0.99) },
		exact: func(d *stepData) (float64, bool) {
			return d.tally.SendDelay.Quantile(0.99).Seconds(), d.tally.SendDelay.Count() > 0
		}}
}

// A perMetric builds metrics of counters, whose place in sums it knows.
type perMetric struct{ counters []counter }

func (p perMetric) at(id string) int {
	return slices.IndexFunc(p.counters, func(c counter) bool { return c.id == id })
}

// read returns the sum of a counter; false when the step did not measure it.
func (p perMetric) read(s *sums, id string) (float64, bool) {
	i := p.at(id)
	if i < 0 || !s.from.known[i] {
		return 0, false
	}
	return s.counters[i], true
}

// rate is a counter per second of time.
func (p perMetric) rate(m metric, id string) metric {
	return p.per(m, id, func(s *sums) float64 { return s.seconds })
}

func (p perMetric) per(m metric, id string, den func(*sums) float64) metric {
	m.value = func(s *sums) (float64, bool) {
		v, ok := p.read(s, id)
		if !ok {
			return 0, false
		}
		return over(v, den(s))
	}
	return m
}

// perRequest is a counter for each of the step's requests, or of those that succeeded. It is not
// known where many of them were answered after the step.
func (p perMetric) perRequest(m metric, id string, den func(*sums) float64) metric {
	m = p.per(m, id, den)
	value := m.value
	m.value = func(s *sums) (float64, bool) {
		if s.from.spilled {
			return 0, false
		}
		return value(s)
	}
	return m
}

// count is how much a counter grew in the step.
func (p perMetric) count(m metric, id string) metric {
	m.value = func(s *sums) (float64, bool) { return p.read(s, id) }
	return m
}

// connections counts attempts per request. The server's Connections leaves out
// those that it refused for max_connections, which never get a thread; they are
// added.
func (p perMetric) connections() metric {
	m := metric{id: "connections_per_request", name: "connections per request", unit: PerRequest, goal: Less}
	m.value = func(s *sums) (float64, bool) {
		made, ok := p.read(s, opened)
		if !ok || s.from.spilled {
			return 0, false
		}
		no, _ := p.read(s, refused)
		return over(made+no, s.asked)
	}
	return m
}
