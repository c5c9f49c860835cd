package host

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// OneCore is the rule HW-12.
type OneCore struct{}

// Thresholds of HW-12.
const (
	// fullCore is what each process uses in at least half of the seconds. At 90 % of what it
	// can do a queue of random arrivals is ten times as long as what is in work.
	fullCore = 0.90
	// pastCore is what no process that is held to one core uses: more is native code or
	// threads that run beside the interpreter's lock, and such a process has room.
	pastCore = 1.15
	// idleCore is what of another core must be idle, and within the service's quota.
	idleCore = 0.50
	// nearlyAlways is the part of the seconds from which no core need be idle whole.
	nearlyAlways = 0.80
)

// ID returns HW-12.
func (OneCore) ID() string { return "HW-12" }

// Doc describes the rule.
func (OneCore) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an application whose processes use a core each, and can use no more, while others are idle.`,
		Evidence: `the application runs in Ruby (MRI), Python (CPython), Node.js, PHP or Perl, in fewer processes
			than it may use cores: those of the host, of taskset or a cpuset, or of the quota of its control
			group. In at least half of the seconds with requests, five or more, each of its processes used 90 % of a core and none more than 115 %; of
			Node.js the main thread counts where threads were recorded. In these seconds at least half a core
			was idle and left of the quota. Or its workers have one request in work at a time (PHP-FPM, Unicorn,
			gunicorn's sync), computed or waited for statements 90 % of the time, at least two requests were
			open for each, and as much of the CPU was idle.`,
		Cause: `these runtimes run the program's code on one core for each process: requests wait in the queue
			of the process, and the other cores are of no use to it. Where a process has one request in work it
			does nothing for the others while it waits for the database.`,
		Fix: `more processes, as many as there are cores and as the memory allows, by the setting of the
			server that runs the application.`,
		Silent: `for other languages and those that are not known, when a process has CPU left, uses more than
			a core, or as many run as there are cores; when neighbours, the load's generator or the database
			use the other cores; where it waits for statements, when several applications run them, locks of
			rows take half of their time, or it began more processes than were counted; blind when neither the
			members of the service nor requests nor the CPU were recorded.`,
		Host: []diagnose.Pressure{diagnose.OnCPU, diagnose.OnMemory},
	}
}

// Check looks at each application of the service.
func (r OneCore) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	applications := c.Service.Of(kasoku.RoleApplication)
	if len(applications) == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no application of the service is known"))
	}
	requests, err := c.Requests(c.Focus.Interval)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var found []kasoku.Finding
	var silent []kasoku.Silence
	for _, m := range applications {
		if !onOneCore(m) {
			silent = append(silent, diagnose.Quiet(r.ID(), 0,
				"%s (%s) is not known to be held to one core for each process", m.Program,
				cmp.Or(m.Language, "language not known"))...)
			continue
		}
		w, err := workersOf(c, m, c.RequestsBySecond(requests.Source))
		if err != nil {
			silent = append(silent, diagnose.Blind(r.ID(), err)...)
			continue
		}
		if near, why := w.quiet(); why != "" {
			silent = append(silent, diagnose.Quiet(r.ID(), near, "%s", why)...)
			continue
		}
		found = append(found, r.finding(c, w))
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, silent
}

// quiet returns why nothing is said of the processes, and how near they came to it; no reason
// when something is.
func (w workers) quiet() (near float64, why string) {
	switch {
	case float64(w.n)+idleCore > w.cores && !w.lined():
		return 0, fmt.Sprintf("%s runs in %s, and %s cores are all it may use", w.m.Program, w.processes(),
			unit.Plain(w.cores))
	case w.most > pastCore:
		return 0, fmt.Sprintf("a process of %s uses %s cores: it is not held to one", w.m.Program, unit.Sig3(w.most))
	case w.each < fullCore && !w.lined():
		return w.each / fullCore, fmt.Sprintf("%s used %s of a core; the threshold is %s", w.who(), unit.Sig3(w.each),
			unit.Plain(fullCore))
	case w.room < idleCore:
		return max(w.room/idleCore, 0), fmt.Sprintf("%s used %s of a core, and of the other cores only %s was left "+
			"to it; the threshold is %s", w.who(), unit.Sig3(w.each), unit.Sig3(max(w.room, 0)), unit.Plain(idleCore))
	}
	return 1, ""
}

// processes is how many there are: "one process", "2 processes".
func (w workers) processes() string {
	if w.n == 1 {
		return "one process"
	}
	return fmt.Sprintf("%d processes", w.n)
}

// coresOf is "one core", "2 cores".
func coresOf(n int) string {
	if n == 1 {
		return "one core"
	}
	return fmt.Sprintf("%d cores", n)
}

// who names them: "puma's one process", "each of puma's 2 processes".
func (w workers) who() string {
	if w.n == 1 {
		return w.m.Program + "'s one process"
	}
	return fmt.Sprintf("each of %s's %d processes", w.m.Program, w.n)
}

func (r OneCore) finding(c *diagnose.Case, w workers) kasoku.Finding {
	name := wording.Cut(w.m.Program, 12)
	title := fmt.Sprintf("%s's one process fills its core; %s of %s cores are idle", name, unit.Sig3(w.room),
		unit.Plain(w.cores))
	if w.n > 1 {
		title = fmt.Sprintf("%s's %d processes fill a core each; %s of %s are idle", name, w.n, unit.Sig3(w.room),
			unit.Plain(w.cores))
	}
	late, latency := slowdownOf(c)
	full := diagnose.Signal{Holds: w.room >= 2*idleCore || float64(w.fullSeconds) >= nearlyAlways*float64(w.seconds),
		Lacks: "neither a whole core is idle nor are the processes full nearly all the time"}
	clause := fmt.Sprintf("%s can use %s of %s cores", w.m.Program, unit.Plain(float64(w.n)), unit.Plain(w.cores))
	cause := fmt.Sprintf("%s used %s of a core (median; at least %s in %d of %d seconds with requests), while %s of %s "+
		"cores %s. %s runs the program's code on one core for each process, so requests wait for it and the other cores "+
		"do not help.", wording.Capital(w.who()), unit.Sig3(w.each), unit.Plain(fullCore), w.fullSeconds, w.seconds,
		unit.Sig3(w.room), unit.Plain(w.cores), w.stood(), runtimes[w.m.Language])
	verify := fmt.Sprintf("repeat the load: %s must use more than %s of CPU, and the p99 must fall", w.m.Program,
		coresOf(w.n))
	if w.lined() {
		title, cause = w.line.title(&w, name), wording.Capital(w.who())+" "+w.line.cause(&w)
		clause = fmt.Sprintf("requests wait in line for %s of %s", w.processes(), w.m.Program)
		full = diagnose.Signal{Holds: w.line.open >= 2*leastLine, Lacks: "few requests wait for each process"}
		verify = "repeat the load: fewer requests are open at a time, and the p99 must fall"
	}
	elsewhere := diagnose.Signal{Holds: true}
	if w.m.Limits.CPUs == "" {
		elsewhere = diagnose.Signal{Blind: unknownCores}
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: w.m.Program}, Title: title,
		Clause:   clause,
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, full, late, elsewhere),
		Impact:   kasoku.Impact{Share: w.waiting(c), Of: "of request time", Estimate: true},
		Evidence: append(w.evidence(c), latencyEvidence(c)...),
		Cause:    cause + latency,
		Fixes:    w.fixes(c),
		Expect:   "requests wait less: the processes use the cores that are idle now",
		Verify:   verify,
		Interval: c.Focus.Interval,
	}
}

// unknownCores is why the confidence is not high for runs of before schema 14.
const unknownCores = "whether the process may run on the other cores (taskset, cpuset) is not recorded"

// stood words the cores that are idle.
func (w workers) stood() string {
	if w.quota > 0 {
		return "of its control group's quota stood idle"
	}
	return "stood idle"
}

// slowdownOf returns whether requests took longer than under less load, as a signal, and what
// they took, as a sentence after a space; empty where they were not timed.
func slowdownOf(c *diagnose.Case) (diagnose.Signal, string) {
	now, base := c.Focus.Tally, c.Focus.BaseLoad
	late := diagnose.Signal{Lacks: "requests took no longer than under less load"}
	switch {
	case now == nil || now.Latency.Count() == 0:
		late.Blind = "there is no step of less load to compare with"
		return late, ""
	case base == nil || base.Latency.Count() == 0:
		late.Blind = "there is no step of less load to compare with"
		return late, fmt.Sprintf(" %s requests took %s (p50) and %s (p99).", wording.Capital(c.At()),
			unit.Duration(now.Latency.Quantile(0.5)), unit.Duration(now.Latency.Quantile(0.99)))
	}
	late.Holds = now.Latency.Quantile(0.95) > base.Latency.Quantile(0.95)*3/2
	return late, fmt.Sprintf(" %s requests took %s (p50) and %s (p99), under less load %s and %s.",
		wording.Capital(c.At()), unit.Duration(now.Latency.Quantile(0.5)), unit.Duration(now.Latency.Quantile(0.99)),
		unit.Duration(base.Latency.Quantile(0.5)), unit.Duration(base.Latency.Quantile(0.99)))
}

// latencyEvidence quotes how long the web server waited for the application, where its log
// says so.
func latencyEvidence(c *diagnose.Case) []kasoku.Evidence {
	_, endpoints := c.FrontLog()
	var waited time.Duration
	var passed uint64
	for i := range endpoints {
		waited += endpoints[i].Upstream
		passed += endpoints[i].UpstreamCount
	}
	if passed == 0 {
		return nil
	}
	mean := waited / time.Duration(passed)
	return []kasoku.Evidence{{Source: "access", Text: "time that the web server waits for the application",
		Note: "mean of " + unit.Count(passed) + " requests", Value: unit.Duration(mean), Number: mean.Seconds(),
		Interval: c.Whole()}}
}

// waiting estimates the share of requests' time that is no work: neither the processes' CPU
// for a request nor the statements that it runs, which go on beside it.
func (w workers) waiting(c *diagnose.Case) float64 {
	rate, mean := pace(c), meanLatency(c)
	if rate <= 0 || mean <= 0 {
		return 0
	}
	work := float64(w.n) * w.each / rate / mean.Seconds()
	var statements time.Duration
	for i := range c.Queries {
		statements += c.Statements().QueryTime(&c.Queries[i])
	}
	share := max(1-work-c.Statements().ShareOf(statements), 0)
	if w.lined() { // more processes take turns at what they all wait for
		share *= 1 - float64(w.n)/float64(w.want())
	}
	return share
}

// pace is how many requests a second the focus answers, else the whole run.
func pace(c *diagnose.Case) float64 { return cmp.Or(c.Focus.Pace, c.PerSec()) }

// meanLatency is how long a request takes in the focus, else in the whole run.
func meanLatency(c *diagnose.Case) time.Duration {
	if t := c.Focus.Tally; t != nil && t.Latency.Count() > 0 {
		return t.Latency.Mean()
	}
	_, endpoints := c.FrontLog()
	var n uint64
	for i := range endpoints {
		n += endpoints[i].Count
	}
	return c.Statements().RequestTime() / time.Duration(max(n, 1))
}

// evidence quotes the processes' CPU, what is idle, and the memory of one.
func (w workers) evidence(c *diagnose.Case) []kasoku.Evidence {
	out := []kasoku.Evidence{{
		Source: "process", Text: "CPU of " + w.m.Program + ", " + w.processes(), Value: unit.Sig3(w.each) + " cores",
		Note:   fmt.Sprintf("at least %s in %d of %d seconds", unit.Plain(fullCore), w.fullSeconds, w.seconds),
		Number: w.each, Strong: true, Series: w.keys, Interval: c.Focus.Interval,
	}, {
		Source: "host", Text: "CPU idle", Note: "of " + unit.Plain(w.hostCores) + ", in these seconds",
		Value: unit.Sig3(w.idle) + " cores", Number: w.idle, Strong: true, Series: []kasoku.Key{w.idleKey},
		Interval: c.Focus.Interval,
	}}
	if w.lined() {
		out = append(out, w.line.evidence(c)...)
	}
	if w.quota > 0 {
		out = append(out, kasoku.Evidence{Source: diagnose.Cgroup, Text: "CPU quota of its control group",
			Note: w.quotaKey.Instance, Value: unit.Sig3(w.quota) + " cores", Number: w.quota, Strong: true,
			Series: []kasoku.Key{w.quotaKey}, Interval: c.Focus.Interval})
	}
	if w.rss > 0 {
		out = append(out, kasoku.Evidence{Source: "process", Text: "memory of one process",
			Value: unit.BytesIEC(uint64(w.rss)), Number: w.rss, Interval: c.Focus.Interval})
	}
	if w.m.Threads > 1 {
		out = append(out, kasoku.Evidence{Source: "process", Text: "threads of each that serve requests",
			Value: unit.Count(w.m.Threads), Number: float64(w.m.Threads)})
	}
	return out
}
