package load

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Codes of the warnings about the generator.
const (
	LateGenerator    = "late-generator"
	EconomicalPacing = "economical-pacing"
	BusyGenerator    = "busy-generator"
	InFlightCap      = "in-flight-cap"
	NoDescriptors    = "no-descriptors"
	NoLocalPorts     = "no-local-ports"
	SlowResults      = "slow-results"
	StoppedEarly     = "stopped-early"
)

// When the generator is late: its figures are then those of the generator.
const (
	// Of the latency at the same quantile; from here on the figure describes the
	// generator rather than the server.
	lateShare = 0.10
	// A wake-up, a hand-over to a worker and one preemption together stay below
	// a millisecond on a machine that has a core to spare, in 99 of 100 cases.
	lateP99 = 2 * time.Millisecond
	// A median below this is the scheduler's noise, whatever the latency.
	lateP50 = 250 * time.Microsecond
	// How late requests are by design when pacing is economical.
	economicalTick = time.Millisecond
	// Of the generator's cores; above it requests wait for CPU.
	busyShare = 0.90
	// In a shorter load the CPU is that of its beginning.
	busyAfter = 100 * time.Millisecond
)

// Warnings describes what about the generator spoils the figures of a load: it was
// late, out of CPU, at its cap of requests in flight, out of descriptors or
// ports, or it was stopped early. Each says by how much.
func Warnings(s kasoku.LoadSummary, t *kasoku.Tally) []kasoku.Warning {
	var out []kasoku.Warning
	add := func(code, hint, format string, args ...any) {
		out = append(out, kasoku.Warning{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	if s.MaxInFlight > 0 && s.PeakInFlight >= s.MaxInFlight && s.Model != ModelClosed && t.SendDelay.Max() > lateP99 {
		code, cap, hint := capText(s.MaxInFlight)
		add(code, hint, "%s; later ones waited, which their latency includes: send delay p99 %s, max %s",
			cap, unit.Duration(t.SendDelay.Quantile(0.99)), unit.Duration(t.SendDelay.Max()))
	} else {
		warnLate(&s, t, add)
	}
	if text := busyNote(&s, t); text != "" {
		hint := "lower the rate, or run the generator on a machine with more cores"
		if s.Model == ModelClosed {
			hint = "the server may be faster than this: run the generator on a machine with more cores"
		}
		add(BusyGenerator, hint, "the generator was out of CPU: it used %s", text)
	}
	if n := countErrors(t, "too many open files"); n > 0 {
		add(NoDescriptors, "raise the limit with ulimit -n, or lower the cap on requests in flight",
			"the generator ran out of file descriptors: %s failed with \"too many open files\"",
			unit.Counted(n, "request", "requests"))
	}
	if n := countErrors(t, "cannot assign requested address"); n > 0 {
		add(NoLocalPorts, "keep connections alive, or widen net.ipv4.ip_local_port_range",
			"the generator ran out of local ports: %s failed with \"cannot assign requested address\"",
			unit.Counted(n, "request", "requests"))
	}
	if s.Stopped != "" {
		add(StoppedEarly, "", "the load was stopped early, by %s, after %s", s.Stopped, unit.Elapsed(s.StoppedAt))
	}
	return out
}

// ResultsWarning reports that a load waited for its results to be written; nothing
// when it did not. What waits holds up the threads that send, so requests were
// late, which their latency includes.
func ResultsWarning(held time.Duration) []kasoku.Warning {
	if held <= 0 {
		return nil
	}
	return []kasoku.Warning{{
		Code: SlowResults, Text: fmt.Sprintf("results were written more slowly than they came: the load was held up for %s, which latency includes", unit.Duration(held)),
		Hint: "write them to a faster disk, or to memory such as /dev/shm, or leave them out",
	}}
}

// capText reports that a cap on requests in flight was reached, and what to do about
// it. One that is all that the generator has descriptors for is the generator's fault.
func capText(most int) (code, text, hint string) {
	if most == MaxInFlight() && most < DefaultMaxInFlight {
		return NoDescriptors, fmt.Sprintf("the generator was short of file descriptors: requests in flight reached %s, which is what the limit of open files allows", unit.Count(most)),
			"raise the limit with ulimit -n if the server should see more requests at once; else it answers more slowly than they come"
	}
	return InFlightCap, fmt.Sprintf("requests in flight reached their cap of %s", unit.Count(most)),
		"the server answers more slowly than requests come; raise the cap on requests in flight only if the server should see more at once"
}

// warnLate warns of requests that went out so late that their latency describes the
// generator.
func warnLate(s *kasoku.LoadSummary, t *kasoku.Tally, add func(code, hint, format string, args ...any)) {
	if t.Asked > 0 && t.Answered == 0 { // nothing was measured that it could describe
		return
	}
	delay, latency := t.SendDelay.Quantile, t.Latency.Quantile
	floor99, floor50 := lateP99, lateP50
	if s.Pacing == string(Economical) {
		floor99, floor50 = floor99+economicalTick, floor50+economicalTick
	}
	switch {
	case isLate(t, 0.99, floor99):
		add(LateGenerator, "lower the rate, give the generator a core of its own, or run it on another machine",
			"the generator was late: send delay p99 %s, max %s, of a latency p99 of %s",
			unit.Duration(delay(0.99)), unit.Duration(t.SendDelay.Max()), unit.Duration(latency(0.99)))
	case isLate(t, 0.50, floor50):
		add(LateGenerator, "latencies this short hold a visible part of the generator's own delay; compare only with runs made by the same generator",
			"the generator was late for latencies so short: send delay p50 %s, of a latency p50 of %s",
			unit.Duration(delay(0.50)), unit.Duration(latency(0.50)))
	case s.Pacing == string(Economical) && isLate(t, 0.50, lateP50):
		add(EconomicalPacing, "precise pacing sends requests when they are due; the service time leaves the delay out",
			"economical pacing sends up to 1 ms late, which shows in latencies so short: send delay p50 %s, of a latency p50 of %s",
			unit.Duration(delay(0.50)), unit.Duration(latency(0.50)))
	}
}

// isLate reports whether the send delay at a quantile is beyond the floor and a
// visible share of the latency there.
func isLate(t *kasoku.Tally, q float64, floor time.Duration) bool {
	delay := t.SendDelay.Quantile(q)
	return delay > floor && float64(delay) > lateShare*float64(t.Latency.Quantile(q))
}

// busyNote describes how much CPU the generator used when it was near all that it could
// have; else it is empty. An engine with threads of its own sends with no more
// cores than it has threads; the rest of the process may fill another, so
// that counts only where requests could have gone out sooner.
func busyNote(s *kasoku.LoadSummary, t *kasoku.Tally) string {
	if s.Cores <= 0 || s.Wall < busyAfter {
		return ""
	}
	used, which := usedCores(s)
	switch waited := s.Model == ModelClosed || t.SendDelay.Quantile(0.99) > lateP50; {
	case used >= busyShare*float64(s.Cores):
		return fmt.Sprintf("%s of %d cores%s", unit.Sig3(used), s.Cores, which)
	case s.Shards > 0 && s.Shards < s.Cores && waited && used >= busyShare*float64(s.Shards):
		return fmt.Sprintf("%s cores%s, and sends with %s", unit.Sig3(used), which,
			unit.Counted(s.Shards, "thread", "threads"))
	}
	return ""
}

// usedCores returns the CPU that the generator used, in cores: the mean of the load
// or that of its busiest second, whichever is more.
func usedCores(s *kasoku.LoadSummary) (used float64, which string) {
	var mean float64
	if s.Wall > 0 {
		mean = s.CPU.Seconds() / s.Wall.Seconds()
	}
	if s.PeakCores > mean {
		return s.PeakCores, " in its busiest second"
	}
	return mean, ""
}

func countErrors(t *kasoku.Tally, part string) uint64 {
	var n uint64
	for msg, k := range t.Errors {
		if strings.Contains(msg, part) {
			n += k
		}
	}
	return n
}
