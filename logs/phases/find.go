package phases

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Traffic is what one route was asked for.
type Traffic struct {
	Method, Route string
	Seconds       map[int]uint64 // requests by second of the run
	Mean          time.Duration  // request time; 0 when unknown
}

// OfLog returns the traffic that an access log saw.
func OfLog(endpoints []kasoku.Endpoint) []Traffic {
	out := make([]Traffic, 0, len(endpoints))
	for i := range endpoints {
		e := &endpoints[i]
		t := Traffic{Method: e.Method, Route: e.Route, Seconds: map[int]uint64{}}
		if n := e.Latency.Count(); n > 0 {
			t.Mean = e.Total / time.Duration(n)
		}
		for s, n := range e.Seconds {
			t.Seconds[s] += n.Count
		}
		out = append(out, t)
	}
	return out
}

// OpenOf returns the times in which the slowest requests were open; none where they are of so few
// routes that these may wait by design.
func OpenOf(requests []kasoku.SlowRequest) (out []kasoku.Interval) {
	seen := map[string]bool{}
	for _, r := range requests {
		seen[r.Method+" "+r.Route] = true
		out = append(out, kasoku.Interval{From: max(r.At-r.Latency, 0), To: r.At})
	}
	if len(seen) < slowRoutes {
		return nil
	}
	return out
}

// What distinguishes load from little traffic.
const (
	// loadShare is the share of the highest level from which a second is load. A
	// fifth leaves out checks before and after, and of a load that grows the first
	// part.
	loadShare = 0.2
	// held is for how many seconds a level must hold: a page with its pictures is
	// fetched in one or two.
	held = 3
	// dip is how many seconds below it do not end a load, and how many without a
	// request do not end a verify.
	dip = 3
	// fewPerSec is the level, in requests per second, below which what looks like a load
	// is a verify: when there was an initialize, and the requests came one after another.
	fewPerSec = 20
	// sparse is the level, and overMean what it is of the mean, at or below which seconds without a
	// request are chance: people who come at random leave pauses. chance is how long one may be, in
	// requests that were due in it on average: exp(-7) is 0.1 %. Fewer than leastRandom requests
	// say nothing of how often they come.
	sparse      = 4
	overMean    = 3
	chance      = 7
	leastRandom = 20
	// fewRequests are so few that their answers by the second do not show when a load went on, where
	// they are slow: openAtOnce of them open all the time do. Those of fewer routes than slowRoutes may
	// wait by design, as who asks for news does.
	fewRequests = 2000
	openAtOnce  = 2
	slowRoutes  = 3
)

// maxSeconds bounds the length of a run: a month.
const maxSeconds = 31 * 24 * 3600

// Find returns the phases of a run of that length. Initialize says by which request
// it is begun; the zero value stands for [Initialize].
func Find(traffic []Traffic, length time.Duration, initialize Request, open ...kasoku.Interval) []kasoku.Phase {
	if initialize == (Request{}) {
		initialize = Initialize
	}
	n := int(min(max(length+time.Second-1, 0)/time.Second, maxSeconds))
	c := counted{counts: make([]uint64, n), busy: make([]time.Duration, n), length: length, open: make([]int, n)}
	for _, iv := range open {
		for s := max(int(iv.From/time.Second), 0); s < n && time.Duration(s)*time.Second < iv.To; s++ {
			c.open[s]++
		}
	}
	for _, t := range traffic {
		if initialize.Matches(t.Method, t.Route) {
			c.initialize(t, initialize)
			continue
		}
		for s, k := range t.Seconds {
			if s >= 0 && s < n {
				c.counts[s] += k
				c.busy[s] += time.Duration(k) * t.Mean
				c.total += k
			}
		}
	}
	if c.total == 0 && len(c.inits) == 0 {
		return nil
	}
	slices.SortFunc(c.inits, func(a, b kasoku.Phase) int { return cmp.Compare(a.Interval.From, b.Interval.From) })
	return c.phases()
}

// counted is a run's traffic by second.
type counted struct {
	length time.Duration
	counts []uint64        // without the initializes
	busy   []time.Duration // the time that the requests of a second took, by the mean of their routes
	open   []int           // requests that are known to be open, by second
	total  uint64
	inits  []kasoku.Phase // sorted
}

// initialize notes a phase for each stretch of seconds with such requests. The log
// has a request when it is answered, so the first began its time earlier.
func (c *counted) initialize(t Traffic, r Request) {
	for from := 0; from < len(c.counts); from++ {
		n, to := uint64(0), from
		for ; to < len(c.counts) && t.Seconds[to] > 0; to++ {
			n += t.Seconds[to]
		}
		if n == 0 {
			continue
		}
		why := r.String() + ", " + unit.Counted(n, "request", "requests")
		if t.Mean > 0 {
			why += ", " + unit.Exact(roundToShown(t.Mean))
		}
		iv := c.seconds(from, to)
		iv.From = max(iv.From-t.Mean, 0)
		c.inits = append(c.inits, kasoku.Phase{Kind: kasoku.PhaseInitialize, Interval: iv, Why: why})
		from = to
	}
}

// seconds returns the interval of the seconds [from, to).
func (c *counted) seconds(from, to int) kasoku.Interval {
	return kasoku.Interval{From: time.Duration(from) * time.Second, To: min(time.Duration(to)*time.Second, c.length)}
}

// loaded says of each second whether it belongs to the load.
func (c *counted) loaded() []bool {
	out := make([]bool, len(c.counts))
	level, least := uint64(0), held
	for s := 0; s+held <= len(c.counts); s++ {
		level = max(level, slices.Min(c.counts[s:s+held]))
	}
	if level == 0 { // nothing held: the load was shorter, or there are few requests
		level, least = slices.Max(append(c.counts, 0)), 1
	}
	for s, n := range c.counts {
		out[s] = n > 0 && float64(n) >= loadShare*float64(level)
	}
	most := dip
	if wide := c.pause(level); wide > most {
		most, least = wide, 1
	}
	eachRun(joinGaps(out, most), func(from, to int) { trimStretch(out[from:to], least) })
	out = joinGaps(out, most)
	c.bridge(out)
	c.waited(out)
	var busy time.Duration
	seconds := 0
	eachRun(out, func(from, to int) {
		for _, b := range c.busy[from:to] {
			busy += b
		}
		seconds += to - from
	})
	alone := busy <= time.Duration(seconds)*time.Second
	if len(c.inits) > 0 && level < fewPerSec && alone {
		clear(out)
	}
	return out
}

// bridge makes what lies between two stretches of load the load's too where requests went on all the time, on
// average as many as make a second load: few clients whose pages are slow, and come with their pictures, are
// answered in bursts.
func (c *counted) bridge(load []bool) {
	sum := func(from, to int) (n float64) {
		for _, k := range c.counts[from:to] {
			n += float64(k)
		}
		return n
	}
	var all, seconds float64
	eachRun(load, func(from, to int) { all, seconds = all+sum(from, to), seconds+float64(to-from) })
	last := 0
	eachRun(slices.Clone(load), func(from, to int) {
		gap := c.counts[last:from]
		still, empty := last > 0, 0
		for _, n := range gap {
			if empty++; n > 0 {
				empty = 0
			}
			still = still && empty <= dip
		}
		if still && sum(last, from) >= loadShare*all/seconds*float64(len(gap)) {
			for s := last; s < from; s++ {
				load[s] = true
			}
		}
		last = to
	})
}

// waited makes seconds the load's in which nothing was answered, or little, as requests were open: those
// before it and between two of its stretches. It is for few requests that are slow, as where several
// clients wait in line for one worker.
func (c *counted) waited(load []bool) {
	if c.total > fewRequests {
		return
	}
	last := 0
	eachRun(slices.Clone(load), func(from, to int) {
		at := from
		for at > last && c.open[at-1] >= openAtOnce {
			at--
		}
		if last == 0 || at == last { // before the first stretch, or all of what lies between
			for s := at; s < from; s++ {
				load[s] = true
			}
		}
		last = to
	})
}

// pause returns for how many seconds a load of few requests at random times may have none by
// chance; 0 where requests are many, or where there was an initialize, whose checks are few, too.
func (c *counted) pause(level uint64) int {
	if level > sparse || len(c.inits) > 0 {
		return 0
	}
	first := slices.IndexFunc(c.counts, func(n uint64) bool { return n > 0 })
	last := len(c.counts) - 1
	for last > first && c.counts[last] == 0 {
		last--
	}
	if first < 0 || c.total < leastRandom {
		return 0
	}
	mean := float64(c.total) / float64(last-first+1)
	if float64(level) > overMean*mean {
		return 0
	}
	return int(chance / mean)
}

// phases lays the phases out.
func (c *counted) phases() []kasoku.Phase {
	load, low := c.loaded(), make([]bool, len(c.counts))
	for s, n := range c.counts {
		low[s] = n > 0 && !load[s]
	}
	low = joinGaps(low, dip)
	kind := func(s int) kasoku.PhaseKind {
		switch {
		case load[s]:
			return kasoku.PhaseLoad
		case low[s] && len(c.inits) > 0 && c.inits[0].Interval.From <= time.Duration(s)*time.Second:
			return kasoku.PhaseVerify
		}
		return kasoku.PhaseIdle
	}
	var out []kasoku.Phase
	for from := 0; from < len(c.counts); {
		to := from + 1
		for to < len(c.counts) && kind(to) == kind(from) {
			to++
		}
		out = append(out, kasoku.Phase{Kind: kind(from), Interval: c.seconds(from, to)})
		from = to
	}
	out = c.explain(absorbShort(overlayInits(out, c.inits)))
	return out
}

// overlayInits cuts the initializes out of the other phases and puts them there.
func overlayInits(phases, inits []kasoku.Phase) []kasoku.Phase {
	for _, init := range inits {
		var out []kasoku.Phase
		put := func(p kasoku.Phase, from, to time.Duration) {
			if p.Interval = (kasoku.Interval{From: from, To: to}); !p.Interval.Empty() {
				out = append(out, p)
			}
		}
		placed := false
		for _, p := range phases {
			put(p, p.Interval.From, min(p.Interval.To, init.Interval.From))
			if !placed && p.Interval.To > init.Interval.From {
				out, placed = append(out, init), true
			}
			put(p, max(p.Interval.From, init.Interval.To), p.Interval.To)
		}
		phases = out
	}
	return phases
}

// absorbShort gives a short idle stretch to the phase before it; after an initialize it gives
// it to the phase after.
func absorbShort(phases []kasoku.Phase) []kasoku.Phase {
	var out []kasoku.Phase
	for i, p := range phases {
		last := len(out) - 1
		short := p.Kind == kasoku.PhaseIdle && p.Interval.Len() <= dip*time.Second
		switch {
		case short && i > 0 && i < len(phases)-1 && out[last].Kind == kasoku.PhaseInitialize:
			phases[i+1].Interval.From = p.Interval.From
		case short && i > 0 && i < len(phases)-1:
			out[last].Interval.To = p.Interval.To
		case i > 0 && out[last].Kind == p.Kind && p.Kind != kasoku.PhaseInitialize:
			out[last].Interval.To = p.Interval.To
		default:
			out = append(out, p)
		}
	}
	return out
}

// explain says of each phase what was seen in it.
func (c *counted) explain(phases []kasoku.Phase) []kasoku.Phase {
	for i := range phases {
		p := &phases[i]
		if p.Kind == kasoku.PhaseInitialize {
			continue
		}
		var n uint64
		from := int((p.Interval.From + time.Second - 1) / time.Second)
		to := int((p.Interval.To + time.Second - 1) / time.Second)
		for _, k := range c.counts[min(from, to):to] {
			n += k
		}
		span := unit.Exact(p.Interval.Len().Round(time.Second))
		if p.Kind == kasoku.PhaseIdle && n == 0 {
			p.Why = "no request for " + span
			continue
		}
		p.Why = fmt.Sprintf("%s in %s", unit.Counted(n, "request", "requests"), span)
	}
	return phases
}

// roundToShown keeps of a request time what one reads.
func roundToShown(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond)
	}
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// joinGaps fills gaps of at most so many between those that are set.
func joinGaps(set []bool, most int) []bool {
	out := slices.Clone(set)
	last := -1
	for i, is := range set {
		if !is {
			continue
		}
		for j := last + 1; last >= 0 && i-last-1 <= most && j < i; j++ {
			out[j] = true
		}
		last = i
	}
	return out
}

// trimStretch clears the bursts with which a stretch begins and ends: those shorter than
// least.
func trimStretch(stretch []bool, least int) {
	var kept []int // bounds of what is long enough
	eachRun(stretch, func(from, to int) {
		if to-from >= least {
			kept = append(kept, from, to)
		}
	})
	if len(kept) == 0 {
		clear(stretch)
		return
	}
	clear(stretch[:kept[0]])
	clear(stretch[kept[len(kept)-1]:])
}

// eachRun calls do for each stretch [from, to) that is set.
func eachRun(set []bool, do func(from, to int)) {
	for from := 0; from < len(set); from++ {
		to := from
		for to < len(set) && set[to] {
			to++
		}
		if to > from {
			do(from, to)
			from = to
		}
	}
}
