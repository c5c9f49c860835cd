package diagnose

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// Summarise returns the line of a run in a list of runs: what it carried, what that took, and
// what was used up. The diagnosis is read when there is one.
//
// A load of kasoku's own is described by its best step, that is the one in which most requests
// a second succeeded. For a foreign load the access log is used, over the time in which the
// load phase lasted; answers below 500 count as successes there, without requests that were
// given up ([GivenUp]), and so do answers to bots that were refused on purpose. Of the logs of
// several hosts it is one, see [kasoku.Recording.FrontLog].
func Summarise(rec *kasoku.Recording) *kasoku.Summary {
	s := &kasoku.Summary{}
	times := loadTimes(rec)
	switch {
	case len(rec.Seconds) > 0:
		fillCarried(rec, s)
	case len(rec.Endpoints) > 0:
		fillAnswers(rec, s, times)
	}
	s.CPU, s.LoadTime = loadCPU(rec, times)
	s.Bottleneck = findBottleneck(rec, times)
	return s
}

// fillCarried fills in what the generator counted.
func fillCarried(rec *kasoku.Recording, s *kasoku.Summary) {
	s.Source = "load"
	good := make(map[int]map[int]float64) // successes by step and second
	var succeeded float64
	for i, n := range successesBySecond(rec) {
		sec := &rec.Seconds[i]
		s.Requests += sec.Asked
		succeeded += n
		if good[sec.Step] == nil {
			good[sec.Step] = map[int]float64{}
		}
		good[sec.Step][sec.Second] += n
	}
	s.Succeeded = uint64(math.Round(succeeded))
	best := 0
	for _, step := range rec.Steps {
		perSec := wholeSeconds(good[step.Number], step.Interval, rec.Unjudged(step))
		if long := step.Interval.Len(); long > 0 { // an answer that came much later was not carried in the step
			perSec *= long.Seconds() / rec.Taken(step).Seconds()
		}
		if perSec > s.PerSec || best == 0 && good[step.Number] != nil {
			best, s.PerSec, s.Asked = step.Number, perSec, step.PerSec
		}
	}
	if len(rec.Steps) == 0 {
		all := map[int]float64{}
		for _, seconds := range good {
			for at, n := range seconds {
				all[at] += n
			}
		}
		s.PerSec = wholeSeconds(all, busyInterval(all), nil)
	}
	t := rec.Tally(best)
	if i := slices.IndexFunc(rec.Steps, func(s kasoku.Step) bool { return s.Number == best }); i >= 0 {
		t = rec.JudgedTally(rec.Steps[i])
	}
	s.P50, s.P99 = t.Latency.Quantile(0.50), t.Latency.Quantile(0.99)
}

// successesBySecond returns, for each of a load's seconds, how many of its requests did not
// fail: answers as they ought to be, and bots that were refused on purpose.
func successesBySecond(rec *kasoku.Recording) []float64 {
	out := make([]float64, len(rec.Seconds))
	steps := map[int]*kasoku.Tally{}
	for i := range rec.Seconds {
		sec := &rec.Seconds[i]
		out[i] += float64(sec.Good())
		if sec.Codes[http.StatusServiceUnavailable] > 0 {
			if steps[sec.Step] == nil {
				steps[sec.Step] = rec.Tally(sec.Step)
			}
			out[i] += steps[sec.Step].RefusedOf(sec)
		}
	}
	return out
}

// wholeSeconds returns counts per second over the seconds that lie whole in the interval and
// are not left out; over all of it when none does.
func wholeSeconds(counts map[int]float64, iv kasoku.Interval, leftOut map[int]bool) float64 {
	var in, all float64
	from, to := int((iv.From+time.Second-1)/time.Second), int(iv.To/time.Second)
	for at, n := range counts {
		all += n
		if at >= from && at < to && !leftOut[at] {
			in += n
		}
	}
	seconds := to - from
	for at := range leftOut {
		if at >= from && at < to {
			seconds--
		}
	}
	if seconds > 0 {
		return in / float64(seconds)
	}
	if iv.Empty() {
		return 0
	}
	return all / iv.Len().Seconds()
}

// busyInterval returns the time from the first second that counted something to the last.
// Both are left out when others lie between them: they are not whole.
func busyInterval[N uint64 | float64](counts map[int]N) kasoku.Interval {
	first, last := -1, -1
	for at, n := range counts {
		if n == 0 {
			continue
		}
		if first < 0 || at < first {
			first = at
		}
		last = max(last, at)
	}
	switch {
	case first < 0:
		return kasoku.Interval{}
	case last-first > 1:
		first, last = first+1, last-1
	}
	return kasoku.Interval{From: secondInterval(first).From, To: secondInterval(last).To}
}

// fillAnswers fills in what the access log has.
func fillAnswers(rec *kasoku.Recording, s *kasoku.Summary, times []kasoku.Interval) {
	s.Source = "access log"
	latency := histogram.New()
	_, endpoints := rec.FrontLog()
	refused := rec.RefusedBots()
	for i := range endpoints {
		e := &endpoints[i]
		failed := e.Failed() - refused(e)
		s.Requests += e.Count
		s.Succeeded += e.Count - min(failed, e.Count)
		latency.Merge(e.Latency)
	}
	if allRefused(endpoints) {
		s.Succeeded = 0
	}
	given := min(GivenUp(rec), s.Succeeded)
	kept := 1 - float64(given)/float64(max(s.Succeeded, 1))
	s.Succeeded -= given
	s.P50, s.P99 = latency.Quantile(0.50), latency.Quantile(0.99)
	var good, length float64
	if s.Succeeded == 0 {
		return
	}
	for _, iv := range times {
		// A rate needs the requests of this very time.
		r, _ := loggedBy(rec, func(s int) float64 { return overlapOf(s, iv) })
		good += float64(r.Count - min(r.Failed, r.Count))
		length += iv.Len().Seconds()
	}
	if length > 0 {
		s.PerSec = kept * good / length
	}
}

// allRefused reports whether requests were logged and every answer says that nothing was done: 4xx
// or 5xx. Some 4xx are right, as a benchmark also asks for what is not there; a load of nothing
// else is none.
func allRefused(endpoints []kasoku.Endpoint) bool {
	var all, known uint64
	for i := range endpoints {
		all += endpoints[i].Count
		for code, n := range endpoints[i].Codes {
			if code < http.StatusBadRequest {
				return false
			}
			known += n
		}
	}
	return all > 0 && known >= all
}

// nothingSucceeded reports that all that is known of the requests is a log in which each was refused.
func nothingSucceeded(c *Case) bool {
	_, endpoints := c.FrontLog()
	return len(c.Seconds) == 0 && allRefused(endpoints)
}

// loadTimes returns when there was load: the steps, else the phases of load, else the time in
// which the load, or without one the access log, has requests, else the whole run.
func loadTimes(rec *kasoku.Recording) []kasoku.Interval {
	var out []kasoku.Interval
	for _, s := range rec.Steps {
		if !s.Interval.Empty() {
			out = append(out, s.Interval)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range rec.Phases {
		if p.Kind == kasoku.PhaseLoad && !p.Interval.Empty() {
			out = append(out, p.Interval)
		}
	}
	if len(out) > 0 {
		return out
	}
	counts := map[int]uint64{}
	for i := range rec.Seconds {
		counts[rec.Seconds[i].Second] += rec.Seconds[i].Asked
	}
	if len(counts) == 0 {
		_, endpoints := rec.FrontLog()
		for i := range endpoints {
			for at, n := range endpoints[i].Seconds {
				counts[at] += n.Count
			}
		}
	}
	if iv := busyInterval(counts); !iv.Empty() {
		return []kasoku.Interval{iv}
	}
	if iv := (kasoku.Interval{To: endOf(rec)}); !iv.Empty() {
		return []kasoku.Interval{iv}
	}
	return nil
}

// busyModes are the states of a CPU in which it works for this machine; time that
// was stolen from it is not its own.
var busyModes = [...]string{host.CPUUser, host.CPUNice, host.CPUSystem, host.CPUIRQ, host.CPUSoftIRQ}

// loadCPU returns the CPU that the members of the service used in the given times; where
// they are not known, all that the hosts used, without what made the load and kasoku
// itself took. It is 0 and 0 when no host was recorded.
func loadCPU(rec *kasoku.Recording, times []kasoku.Interval) (used, over time.Duration) {
	var sum, length float64
	known := false
	c := &Case{Recording: rec}
	for _, iv := range times {
		length += iv.Len().Seconds()
		for _, mode := range busyModes {
			for _, s := range rec.FindAll(Host, mode) {
				if s.Key.Instance == "" && len(s.Points) > 1 {
					known = true
					sum += grownIn(s, iv)
				}
			}
		}
		for _, name := range [...]string{process.CPUUser, process.CPUSystem} {
			for _, s := range rec.FindAll(Self, name) {
				sum -= grownIn(s, iv)
			}
		}
	}
	if !known {
		return 0, 0
	}
	if own, ok := c.memberCPU(times); ok {
		return toDuration(min(own, max(sum, 0))), toDuration(length)
	}
	if cmd := rec.Run.Command; cmd != nil && cmd.Wall > 0 {
		// It is known of the command's whole life alone.
		sum -= (cmd.User + cmd.System).Seconds() * min(1, length/cmd.Wall.Seconds())
	}
	return toDuration(max(sum, 0)), toDuration(length)
}

// memberCPU returns the CPU time that the members of the service and their children used
// in the given times; false when they are not known of a host, or nothing was sampled of
// them.
func (c *Case) memberCPU(times []kasoku.Interval) (sum float64, ok bool) {
	for _, h := range c.Run.Hosts {
		if !c.Knows(h.Name) {
			return 0, false
		}
	}
	whole := map[*kasoku.Member]bool{}
	for _, t := range process.MemberTrees(c.Recording) {
		for _, iv := range times {
			sum += grownIn(&t.Series, iv)
		}
		whole[t.Member], ok = true, true
	}
	for _, name := range [...]string{process.CPUUser, process.CPUSystem, process.CPUChildren} {
		for _, s := range c.FindAll(Process, name) {
			pid, _, _ := strings.Cut(s.Key.Instance, " ")
			m := c.memberOf(s.Key.Host, pid)
			if m == nil || whole[m] || len(s.Points) < 2 {
				continue
			}
			ok = true
			for _, iv := range times {
				sum += grownIn(s, iv)
			}
		}
	}
	return sum, ok
}

func toDuration(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// grownIn returns how much a counter grew in the interval; what it grew between two
// samples is spread evenly over the time between them.
func grownIn(s *kasoku.Series, iv kasoku.Interval) float64 {
	var sum float64
	for _, r := range s.Rates() {
		if part := min(r.Interval.To, iv.To) - max(r.Interval.From, iv.From); part > 0 {
			sum += r.PerSec * part.Seconds()
		}
	}
	return sum
}
