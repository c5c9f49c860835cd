package load

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/unit"
)

// Codes of the warnings about the generator.
const (
	LateGenerator = "late-generator"
	BusyGenerator = "busy-generator"
	InFlightCap   = "in-flight-cap"
	NoDescriptors = "no-descriptors"
	NoLocalPorts  = "no-local-ports"
	StoppedEarly  = "stopped-early"
)

// When the generator is late: its figures are then those of the generator.
const (
	// Of the latency at the same quantile; from here on the figure tells of the
	// generator rather than of the server.
	lateShare = 0.10
	// A wake-up, a hand-over to a worker and one preemption together stay below
	// a millisecond on a machine that has a core to spare, in 99 of 100 cases.
	lateP99 = time.Millisecond
	// A median below this is the scheduler's noise, whatever the latency.
	lateP50 = 250 * time.Microsecond
	// Of the generator's cores; above it requests wait for CPU.
	busyShare = 0.90
)

// Warnings says what about the generator spoils the figures of a load: it was
// late, out of CPU, at its cap of requests in flight, out of descriptors or
// ports, or it was stopped early.
func Warnings(s kasoku.LoadSummary, t *kasoku.Tally) []kasoku.Warning {
	var out []kasoku.Warning
	add := func(code, hint, format string, args ...any) {
		out = append(out, kasoku.Warning{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	capped := s.MaxInFlight > 0 && s.PeakInFlight >= s.MaxInFlight && s.Model != ModelClosed && t.SendDelay.Max() > lateP99
	delay := t.SendDelay.Quantile(0.99)
	switch {
	case capped:
		add(InFlightCap, "the server answers more slowly than requests come; raise the cap on requests in flight only if the server should see more at once",
			"requests in flight reached their cap of %s; later ones waited, which their latency includes: send delay p99 %s, max %s",
			unit.Count(s.MaxInFlight), unit.Duration(delay), unit.Duration(t.SendDelay.Max()))
	case late(t, 0.99, lateP99):
		add(LateGenerator, "lower the rate, give the generator a core of its own, or run it on another machine",
			"the generator was late: send delay p99 %s, max %s, of a latency p99 of %s",
			unit.Duration(delay), unit.Duration(t.SendDelay.Max()), unit.Duration(t.Latency.Quantile(0.99)))
	case late(t, 0.50, lateP50):
		add(LateGenerator, "latencies this short hold a visible part of the generator's own delay; compare only with runs made by the same generator",
			"the generator was late for latencies so short: send delay p50 %s, of a latency p50 of %s",
			unit.Duration(t.SendDelay.Quantile(0.50)), unit.Duration(t.Latency.Quantile(0.50)))
	}
	if used, which := cores(s); s.Cores > 0 && used >= busyShare*float64(s.Cores) {
		add(BusyGenerator, "lower the rate, or run the generator on a machine with more cores",
			"the generator was out of CPU: it used %s of %d cores%s", unit.Sig3(used), s.Cores, which)
	}
	if n := countErrors(t, "too many open files"); n > 0 {
		add(NoDescriptors, "raise the limit with ulimit -n, or lower the cap on requests in flight",
			"the generator ran out of file descriptors: %s failed with \"too many open files\"", unit.Counted(n, "request", "requests"))
	}
	if n := countErrors(t, "cannot assign requested address"); n > 0 {
		add(NoLocalPorts, "keep connections alive, or widen net.ipv4.ip_local_port_range",
			"the generator ran out of local ports: %s failed with \"cannot assign requested address\"", unit.Counted(n, "request", "requests"))
	}
	if s.Stopped != "" {
		add(StoppedEarly, "", "the load was stopped early, by %s, after %s", s.Stopped, unit.Elapsed(s.Wall))
	}
	return out
}

// late reports whether the send delay at a quantile is beyond the floor and a
// visible share of the latency there.
func late(t *kasoku.Tally, q float64, floor time.Duration) bool {
	delay := t.SendDelay.Quantile(q)
	return delay > floor && float64(delay) > lateShare*float64(t.Latency.Quantile(q))
}

// cores returns the CPU that the generator used, in cores: the mean of the load
// or that of its busiest second, whichever is more.
func cores(s kasoku.LoadSummary) (used float64, which string) {
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
