package host

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// Burst is the rule HW-07.
type Burst struct{}

// Thresholds of HW-07.
const (
	burstFactor   = 3.0
	burstSeconds  = 10   // of load, so that a mean says something
	burstRequests = 50   // in the second; of fewer, chance makes three times as many
	burstCPU      = 0.50 // of the host's cores
	burstPart     = 0.10 // of the seconds; more are another load, not a burst
	ownRise       = 0.50 // of the CPU's rise is that of programs of the service: else it is a neighbour's burst
)

// ID returns HW-07.
func (Burst) ID() string { return "HW-07" }

// Doc describes the rule.
func (Burst) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds seconds in which far more came, or was used, than on average.`,
		Evidence: `in one second of the load at least three times the mean number of requests came, and at
			least 50; or the host's CPU was used three times as much as on average, and at least half of it.
			Not more than one second in ten may be so, and at least half of the rise of the CPU is that of
			the service's programs, where they were recorded. A step of a load that kasoku makes, a load phase or,
			without either, the time from the first request to the last one counts, when it has ten seconds.`,
		Cause: `what comes at once needs its CPU, connections and workers at once; an average of a minute
			shows neither.`,
		Fix: `read such a run by the second, and give the service room for the peak, or spread what comes.`,
		Silent: `when no second stands out, or too many do; blind when nothing counted requests or the CPU
			by the second, or the load was too short. It is a remark.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// A course is one quantity second by second.
type course struct {
	from   int // second of the run's clock of the first value
	values []float64
	least  float64 // what a peak must reach to count
	full   float64 // what there is of it; 0 for no limit
	source string
	name   string
	series []kasoku.Key
	print  func(float64) string
}

// Check looks for a second that stands out in requests, then in CPU.
func (r Burst) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	requests, cpu := requestCourse(c), cpuCourse(c)
	courses := slices.DeleteFunc([]course{requests, cpu}, func(k course) bool { return len(k.values) == 0 })
	if len(courses) == 0 {
		return nil, diagnose.Blind(r.ID(),
			errors.New("neither requests nor the host's CPU were recorded by the second"))
	}
	courses = slices.DeleteFunc(courses, func(k course) bool { return len(k.values) < burstSeconds })
	if len(courses) == 0 {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the load lasted less than %d s", burstSeconds))
	}
	near, why := 0.0, ""
	for _, k := range courses {
		if part, known := memberPart(c, k); k.bursts() && known && part < ownRise {
			near, why = 0.5, fmt.Sprintf("the host used %s for a second, and programs of the service %s of "+
				"the rise; the threshold is %s", k.print(slices.Max(k.values)), unit.Percent(part), unit.Percent(ownRise))
			continue
		}
		if k.bursts() {
			return []kasoku.Finding{r.finding(c, k, requests, cpu)}, nil
		}
		if n := k.near(); why == "" || n > near {
			near, why = n, k.quiet()
		}
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", why)
}

func (k course) mean() float64 {
	var sum float64
	for _, v := range k.values {
		sum += v
	}
	return sum / float64(len(k.values))
}

// peak returns the largest value and the second in which it was.
func (k course) peak() (most float64, second int) {
	at := 0
	for i, v := range k.values {
		if v > k.values[at] {
			at = i
		}
	}
	return k.values[at], k.from + at
}

// high returns how many seconds, and how much of the whole, stand out.
func (k course) high() (seconds int, sum float64) {
	bar := burstFactor * k.mean()
	for _, v := range k.values {
		if v >= bar {
			seconds++
			sum += v
		}
	}
	return seconds, sum
}

func (k course) bursts() bool {
	most, _ := k.peak()
	n, _ := k.high()
	return n > 0 && most >= k.least && float64(n) <= burstPart*float64(len(k.values))
}

func (k course) near() float64 {
	most, _ := k.peak()
	if n, _ := k.high(); n > 0 && most >= k.least || k.mean() <= 0 {
		return 0 // too many seconds
	}
	return min((most/k.mean()-1)/(burstFactor-1), most/k.least, 1)
}

func (k course) quiet() string {
	most, _ := k.peak()
	n, _ := k.high()
	if n > 0 && most >= k.least {
		return fmt.Sprintf("%s of %s seconds have more than %s times the mean of %s: that is no burst",
			unit.Count(n), unit.Count(len(k.values)), unit.Plain(burstFactor), k.name)
	}
	return fmt.Sprintf("the busiest second has %s, the mean is %s; the thresholds are %s times and %s",
		k.print(most), k.print(k.mean()), unit.Plain(burstFactor), k.print(k.least))
}

// minute returns the most that an average over a minute with the peak in it
// shows; over all when the course is no longer.
func (k course) minute() float64 {
	const minute = 60
	if len(k.values) <= minute {
		return k.mean()
	}
	_, second := k.peak()
	at := second - k.from
	var most float64
	for lo := max(at-minute+1, 0); lo <= at && lo+minute <= len(k.values); lo++ {
		most = max(most, course{values: k.values[lo : lo+minute]}.mean())
	}
	return most
}

// quantile returns the value below which that share of the seconds is.
func (k course) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(k.values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (r Burst) finding(c *diagnose.Case, k, requests, cpu course) kasoku.Finding {
	most, second := k.peak()
	mean := k.mean()
	seconds, sum := k.high()
	at := kasoku.Interval{From: time.Duration(second) * time.Second, To: time.Duration(second+1) * time.Second}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "second", Name: c.Quote().Clock(at.From)},
		Title:    fmt.Sprintf("A burst: %s in one second, %s times the mean", k.print(most), unit.Sig3(most/mean)),
		Severity: kasoku.Info, Confidence: diagnose.Confidence(r.signals(c, k, second, requests, cpu)...),
		Impact: kasoku.Impact{Share: sum / (mean * float64(len(k.values))), Of: "of all " + k.name},
		Evidence: []kasoku.Evidence{
			{Source: k.source, Text: "most " + k.name + " in one second", Note: c.Quote().Clock(at.From), Value: k.print(most),
				Number: most, Strong: true, Series: k.series, Interval: at},
			{Source: k.source, Text: "mean", Note: fmt.Sprintf("half of the seconds up to %s, 95 %% up to %s",
				k.print(k.quantile(0.5)), k.print(k.quantile(0.95))),
				Value: k.print(mean), Number: mean, Strong: true, Series: k.series},
			{Source: k.source, Text: "the most that a one-minute average shows", Value: k.print(k.minute()),
				Number: k.minute()},
		},
		Cause: fmt.Sprintf("At %s %s came in one second, %s times the mean of %s. A one-minute average shows %s and "+
			"hides it.",
			c.Quote().Clock(at.From), k.print(most), unit.Sig3(most/mean), k.print(mean), k.print(k.minute())),
		Fixes: []kasoku.Fix{
			{Text: "Read this run by the second, as maximum and percentiles, not as averages of a minute",
				Risk: kasoku.RiskNone},
			{Text: "Size CPU, connections and workers for the peak, or spread it: a jitter in clients, a " +
				"queue in front", Risk: kasoku.RiskNone},
		},
		Expect:   "no second above " + k.print(burstFactor*mean),
		Verify:   "repeat the run: the busiest second must be below three times the mean",
		Interval: at,
	}
	if _, known := memberPart(c, k); k.source == hostCourse && !known {
		f.Fixes[1] = kasoku.Fix{Text: "Record which processes are the service's, to see whether it was one of them",
			Risk: kasoku.RiskNone}
	}
	if seconds > 1 {
		f.Evidence[0].Note += ", one of " + unit.Count(seconds)
	}
	if k.name == requests.name {
		if v, ok := cpu.at(second); ok {
			f.Evidence = append(f.Evidence, kasoku.Evidence{
				Source: "host", Text: "CPU in that second", Note: fmt.Sprintf("of %s, %s on average",
					unit.Plain(cpu.full), unit.Sig3(cpu.mean())),
				Value: cpu.print(v), Number: v, Series: cpu.series, Interval: at,
			})
			if v >= evidence.Saturated*cpu.full && cpu.above(evidence.Saturated*cpu.full) == 1 {
				f.Cause += " Only then the host's CPU was used up."
			}
		}
	} else {
		f.Cause = fmt.Sprintf("At %s the host used %s for a second, %s times the mean of %s. A one-minute average "+
			"shows %s and hides it.",
			c.Quote().Clock(at.From), k.print(most), unit.Sig3(most/mean), k.print(mean), k.print(k.minute()))
	}
	return f
}

// signals: that the second stands alone, and that the other course has it too.
func (Burst) signals(c *diagnose.Case, k course, second int, requests, cpu course) []diagnose.Signal {
	other := cpu
	if k.name == cpu.name {
		other = requests
	}
	both := diagnose.Signal{Lacks: other.name + " did not rise with it"}
	if v, ok := other.at(second); !ok {
		both.Blind = "no " + other.name + " by the second"
	} else {
		both.Holds = v > 1.5*other.mean()
	}
	s := []diagnose.Signal{{Holds: true}, both}
	if _, known := memberPart(c, k); k.source == hostCourse && !known {
		s = append(s, diagnose.Signal{Blind: "whose CPU it was is not known"})
	}
	return s
}

// above counts the seconds with so much or more.
func (k course) above(v float64) (seconds int) {
	for _, x := range k.values {
		if x >= v {
			seconds++
		}
	}
	return seconds
}

// memberPart returns which part of the rise of the host's CPU in the busiest second is that of
// programs of the service. It is not known of other courses, and where none of them was recorded
// in that second.
func memberPart(c *diagnose.Case, k course) (part float64, known bool) {
	programs, err := c.Processes().Members()
	if k.source != hostCourse || err != nil || !c.Knows(k.series[0].Host) {
		return 0, false
	}
	most, second := k.peak()
	rise := 0.0
	for _, p := range programs {
		if p.Member == "" || p.Host != k.series[0].Host {
			continue
		}
		if used, ok := usedIn(c, p, second); ok {
			rise, known = rise+used-p.Cores, true
		}
	}
	return min(max(rise/max(most-k.mean(), 0.01), 0), 1), known
}

// usedIn returns the CPU of a program around a second: of all that its leaders start where that
// was recorded, else of its processes.
func usedIn(c *diagnose.Case, p diagnose.Program, second int) (cores float64, ok bool) {
	tree := slices.ContainsFunc(p.Keys, func(k kasoku.Key) bool { return k.Name == process.TreeCPU })
	for _, k := range p.Keys {
		names := []string{process.CPUUser, process.CPUSystem}
		if tree {
			names = []string{process.TreeCPU}
		}
		if tree != (k.Name == process.TreeCPU) {
			continue
		}
		for _, name := range names {
			k.Name = name
			if s := c.Find(k); s != nil {
				if v, within := grownIn(s, second); within {
					cores, ok = cores+v, true
				}
			}
		}
	}
	return cores, ok
}

// hostCourse is the source of the course of the host's CPU.
const hostCourse = "host"

func (k course) at(second int) (float64, bool) {
	if i := second - k.from; i >= 0 && i < len(k.values) {
		return k.values[i], true
	}
	return 0, false
}

// mostSeconds bounds a course, against offsets that make no sense: a week.
const mostSeconds = 7 * 24 * 3600

// stretchOf returns the whole seconds of the load: the focus's step, the longest
// load phase, or from the first request to the last one.
func stretchOf(c *diagnose.Case, counts map[int]uint64) (from, to int, ok bool) {
	iv := kasoku.Interval{}
	if c.Focus.Step != nil {
		iv = c.Focus.Step.Interval
	}
	for _, p := range c.Phases {
		if c.Focus.Step == nil && p.Kind == kasoku.PhaseLoad && p.Interval.Len() > iv.Len() {
			iv = p.Interval
		}
	}
	from, to = int((iv.From+time.Second-1)/time.Second), int(iv.To/time.Second)
	if iv.Empty() {
		from, to = math.MaxInt, 0
		for s, n := range counts {
			if n > 0 {
				from, to = min(from, s), max(to, s+1)
			}
		}
	}
	if len(counts) == 0 && iv.Empty() {
		from, to = 1, int(c.Run.Length/time.Second)
	}
	return from, to, from >= 0 && from < to && to-from <= mostSeconds
}

// rateWords prints requests in a second: whole ones, but for a mean.
func rateWords(v float64) string {
	if v == math.Trunc(v) {
		return diagnose.Whole(v) + " req/s"
	}
	return unit.Sig3(v) + " req/s"
}

func requestCourse(c *diagnose.Case) course {
	counts, source := c.BySecond()
	k := course{least: burstRequests, source: source, name: "requests", print: rateWords}
	from, to, ok := stretchOf(c, counts)
	if !ok || len(counts) == 0 {
		return k
	}
	k.from, k.values = from, make([]float64, to-from)
	var sum float64
	for i := range k.values {
		k.values[i] = float64(counts[from+i])
		sum += k.values[i]
	}
	if sum == 0 {
		k.values = nil
	}
	return k
}

// cpuCourse takes the first host's CPU from how long it was idle. Where a tick is
// missing the mean of the gap stands for its seconds.
func cpuCourse(c *diagnose.Case) course {
	idle := c.Find(kasoku.Key{Source: diagnose.Host, Name: hostkeys.CPUIdle})
	k := course{source: hostCourse, name: "CPU", print: func(v float64) string { return unit.Sig3(v) + " cores" }}
	counts, _ := c.BySecond()
	from, to, ok := stretchOf(c, counts)
	if idle == nil || !ok || len(c.Run.Hosts) == 0 || c.Run.Hosts[0].Cores == 0 || c.Processes().Tick() > 2*time.Second {
		return k
	}
	k.full = float64(c.Run.Hosts[0].Cores)
	k.least, k.from = burstCPU*k.full, from
	k.series = []kasoku.Key{idle.Key}
	wait := idle.Key
	wait.Name = hostkeys.CPUIowait
	at := []*kasoku.Series{idle}
	if s := c.Find(wait); s != nil {
		at = append(at, s)
	}
	for second := from; second < to; second++ {
		unused, known := 0.0, true
		for _, s := range at {
			v, ok := grownIn(s, second)
			unused, known = unused+v, known && ok
		}
		if !known {
			if len(k.values) == 0 {
				k.from++
				continue
			}
			break
		}
		k.values = append(k.values, min(max(k.full-unused, 0), k.full))
	}
	return k
}

// grownIn returns by how much a counter grew a second around the middle of a
// second.
func grownIn(s *kasoku.Series, second int) (perSec float64, ok bool) {
	middle := time.Duration(second)*time.Second + time.Second/2
	i, _ := slices.BinarySearchFunc(s.Points, middle, func(p kasoku.Point,
		at time.Duration) int {
		return cmp.Compare(p.At, at)
	})
	if i == 0 || i == len(s.Points) {
		return 0, false
	}
	a, b := s.Points[i-1], s.Points[i]
	v := kasoku.Growth(a.Value, b.Value) / (b.At - a.At).Seconds()
	return v, b.At > a.At && !math.IsNaN(v) && !math.IsInf(v, 0)
}
