package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
)

// Memory is the rule HW-06.
type Memory struct{}

// Thresholds of HW-06.
const (
	fewAvailable = 0.05
	// swapPages is 1 MiB a second of pages of 4 KiB: a page now and then is the
	// kernel tidying up.
	swapPages = 256
	// stallShare is what people take for pressure in avg10 of
	// /proc/pressure/memory.
	stallShare = 0.10
	// shortKill is the share of a host's memory below which, available at some sample, a kill
	// that the kernel counted may be for want of the host's memory. It counts those for the
	// limit of a control group too, also of a neighbour's.
	shortKill = 0.10
)

// ID returns HW-06.
func (Memory) ID() string { return "HW-06" }

// Doc describes the rule.
func (Memory) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a host, or a service, that has too little memory.`,
		Evidence: `one of these. A log says "cannot allocate memory" or alike, or that the heap of a runtime
			is full. A process was killed for want of memory: of a group of the service, or of a host that
			had less than 10 % available, swapped or made processes free memory themselves. Less than 5 % of
			the host's memory was available. 256 pages or more a second were swapped in and out. Some process
			waited for memory in at least 10 % of the time (pressure stall information). Processes that had
			to free memory themselves bear it out.`,
		Cause: `what runs here needs more memory than there is, or than its own limit allows: of its control
			group, where that has one and ran into it, of its process, or of its runtime's heap. Tools beside
			the service, such as an editor's language server or a build, take from the same.`,
		Fix: `stop what does not belong there; then give the largest less to hold, or move it; or raise the
			limit.`,
		Silent: `when none of these was seen; blind when neither the host's memory nor an application's
			log was recorded.`,
		Host: []diagnose.Pressure{diagnose.OnMemory},
	}
}

// A shortage is what a run says about its memory.
type shortage struct {
	said             []diagnose.Said // memory was refused
	heap             []diagnose.Said // the heap of a runtime is full
	ended            []diagnose.Said // a process was killed
	killed           diagnose.Grown  // of the service, or for want of the host's memory
	available, total float64         // bytes; total 0: unknown
	swapped          float64         // pages a second
	stalled          float64         // share of the time; below 0: unknown
	reclaimed        float64         // times that a process freed memory itself
	group            string          // the control group of the service whose process was killed
	limited          string          // the same, with its limit, where it ran into that
	elsewhere        bool            // what was killed is not the service's, and the host had memory left
}

func shortageOf(c *diagnose.Case) shortage {
	s := shortage{stalled: -1}
	s.said, s.heap, s.ended = memorySaid(c, refusesMemory), memorySaid(c, fillsHeap), memorySaid(c, endsProcess)
	host := func(name string) kasoku.Key { return kasoku.Key{Source: diagnose.Host, Name: name} }
	if total, err := c.Counters().Gauge(host(hostkeys.MemTotal)); err == nil && total.Max > 0 {
		if free, err := c.Counters().Gauge(host(hostkeys.MemAvailable)); err == nil && free.Min >= 0 {
			s.available, s.total = min(free.Min, total.Max), total.Max
		}
	}
	for _, name := range []string{hostkeys.VMSwapIn, hostkeys.VMSwapOut} {
		if g, err := c.Counters().Grown(host(name)); err == nil {
			s.swapped += max(g.By, 0) / g.Interval.Len().Seconds()
		}
	}
	if g, err := c.Counters().Grown(host(hostkeys.PressureMemorySome)); err == nil {
		s.stalled = min(max(g.By, 0)/g.Interval.Len().Seconds(), 1)
	}
	if g, err := c.Counters().Grown(host(hostkeys.VMAllocStalls)); err == nil {
		s.reclaimed = max(g.By, 0)
	}
	s.findKill(c)
	return s
}

// findKill looks for processes that were killed for want of memory. A group counts them
// whoever was short of memory: it ran full where it has a limit and counted that too.
//
// Kernel: Documentation/admin-guide/cgroup-v2.rst, memory.events: oom, oom_kill;
// cgroup-v1/memory.rst, memory.failcnt.
func (s *shortage) findKill(c *diagnose.Case) {
	for _, k := range c.FindAll(diagnose.Cgroup, cgroup.MemoryEventsOOMKill) {
		g, err := c.Counters().Grown(k.Key)
		if err != nil || g.By <= 0 || !c.Processes().OwnsGroup(k.Key) || s.limited != "" {
			continue
		}
		s.killed, s.group = g, k.Key.Instance
		named := func(name string) kasoku.Key {
			key := k.Key
			key.Name = name
			return key
		}
		most, err := c.Counters().Gauge(named(cgroup.MemoryMax))
		full, err2 := c.Counters().Grown(named(cgroup.MemoryEventsOOM))
		if err2 != nil { // version 1 has no such count
			full, err2 = c.Counters().Grown(named(cgroup.MemoryEventsMax))
		}
		if err == nil && err2 == nil && most.Max > 0 && full.By > 0 {
			s.limited = k.Key.Instance + " with memory.max " + unit.BytesIEC(uint64(min(most.Max, 1e18)))
		}
	}
	killed, err := c.Counters().Grown(kasoku.Key{Source: diagnose.Host, Name: hostkeys.VMOOMKill})
	switch {
	case s.group != "" || err != nil || killed.By <= 0:
	case s.short():
		s.killed = killed
	default:
		s.elsewhere = true
	}
}

// short reports whether the host itself ran short of memory at some time, as it does before it
// kills. Pressure is no sign of that: a group at its limit makes it too.
func (s *shortage) short() bool {
	return s.total > 0 && s.available < shortKill*s.total || s.swapped >= swapPages || s.reclaimed > 0
}

// near is how near the nearest of the signs that have a scale came.
func (s shortage) near() float64 {
	near := max(s.stalled/stallShare, s.swapped/swapPages)
	if s.total > 0 {
		near = max(near, fewAvailable/max(s.available/s.total, 1e-6))
	}
	return near
}

// roomy reports whether nothing shows that the host was short of memory, or killed a process.
func (s shortage) roomy() bool { return s.near() <= 1 && s.killed.By <= 0 }

// refused reports whether memory was refused while the host had some left: by a
// limit of the process or of its group.
func (s shortage) refused() bool { return s.roomy() && s.total > 0 && len(s.said) > 0 }

// heapFull reports whether the heap of a runtime was full, and nothing else was.
func (s shortage) heapFull() bool { return s.roomy() && len(s.said) == 0 && len(s.heap) > 0 }

func (s shortage) fires() bool {
	return len(s.said)+len(s.heap)+len(s.ended) > 0 || s.killed.By > 0 || s.near() > 1
}

// Check looks for the signs of too little memory.
func (r Memory) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s := shortageOf(c)
	switch {
	case s.fires():
	case s.total == 0 && s.stalled < 0 && !c.Lines().HasAppLog():
		return nil, diagnose.Blind(r.ID(),
			errors.New("neither the host's memory nor an application's log was recorded"))
	case s.total == 0:
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"no log says that memory ran out; the host's memory was not recorded")
	case s.elsewhere:
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"the kernel killed a process for a limit of its own: %s of %s was available at least, and no group of the "+
				"service ran full",
			unit.BytesIEC(uint64(s.available)), unit.BytesIEC(uint64(min(s.total, 1e18))))
	default:
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"%s of %s was available at least, %s pages a second were swapped, and no log says that memory ran out; the "+
				"thresholds are %s and %d",
			unit.BytesIEC(uint64(s.available)), unit.BytesIEC(uint64(min(s.total, 1e18))), diagnose.Whole(s.swapped),
			unit.Percent(fewAvailable), swapPages)
	}
	largest := largestPrograms(c)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "host", Name: "memory"}, Title: r.title(s), Clause: "memory runs out",
		Severity:   kasoku.Problem,
		Confidence: diagnose.Confidence(s.signals(c)...), Impact: s.impact(c), Evidence: s.evidence(c),
		Cause: s.cause(c, largest), Fixes: s.fixes(c, largest),
		Expect:   "no refused allocation, and nothing swapped",
		Verify:   "repeat the load: more than " + unit.Percent(fewAvailable) + " of the memory must stay available",
		Explains: []string{"MES-07"}, Interval: c.Focus.Interval,
	}
	switch {
	case s.limited != "":
		f.Object = kasoku.Object{Kind: "control group", Name: s.killed.Key.Instance}
	case s.refused():
		f.Object, f.Clause = kasoku.Object{Kind: "limit", Name: "memory"}, "memory is refused"
		f.Expect, f.Verify = "no refused allocation", "repeat the load: no log may say that memory ran out"
	case s.heapFull():
		f.Object, f.Clause = kasoku.Object{Kind: "limit", Name: "heap"}, "the heap is full"
		f.Expect, f.Verify = "no such line", "repeat the load: no log may say that the heap is full"
	}
	for i, p := range largest {
		if i < 3 {
			f.Evidence = append(f.Evidence, kasoku.Evidence{
				Source: "process", Text: "memory of " + p.Name, Value: unit.BytesIEC(uint64(min(p.RSS, 1e18))),
				Number: p.RSS, Series: p.Keys, Interval: c.Focus.Interval,
			})
		}
	}
	return []kasoku.Finding{f}, nil
}

func (Memory) title(s shortage) string {
	switch {
	case s.limited != "":
		return "A control group runs out of memory and is killed"
	case s.group != "":
		return "The kernel kills a process of the service for want of memory"
	case s.killed.By > 0:
		return "The host runs out of memory and kills a process"
	case s.refused():
		return "Memory is refused while the host has some left"
	case s.heapFull():
		return "The heap of a runtime is full"
	case s.roomy() && len(s.said) == 0:
		return "A process is killed for want of memory, by a log"
	case s.total == 0:
		return "Memory runs out"
	case s.swapped >= swapPages:
		return "The host swaps: its memory is too small for what runs"
	}
	return "The host's memory is too small for what runs"
}

// impact is the share of the requests that failed where logs report it, else the
// share of the time in which somebody waited for memory.
func (s shortage) impact(c *diagnose.Case) kasoku.Impact {
	var lines uint64
	for _, m := range slices.Concat(s.said, s.heap, s.ended) {
		lines += m.Count
	}
	switch {
	case lines > 0:
		return kasoku.Impact{Share: evidence.FailedShare(c, float64(lines)), Of: evidence.OfRequests(c)}
	case s.stalled > 0:
		return kasoku.Impact{Share: s.stalled, Of: "of the time " + c.At(), Estimate: true}
	}
	return kasoku.Impact{Of: evidence.Unmeasured, Estimate: true}
}

func (s shortage) signals(c *diagnose.Case) []diagnose.Signal {
	said := diagnose.Signal{Holds: len(s.said)+len(s.ended) > 0, Lacks: "no log says that memory ran out"}
	if !c.Lines().HasAppLog() {
		said.Blind = c.Lines().NoLog("applog")
	}
	few := diagnose.Signal{Holds: s.total > 0 && s.available < fewAvailable*s.total, Lacks: "the host had memory left"}
	if s.total == 0 {
		few.Blind = "the host's memory was not recorded"
	}
	moved := diagnose.Signal{Holds: s.swapped >= swapPages || s.stalled >= stallShare || s.reclaimed > 0,
		Lacks: "nothing was swapped and no one waited"}
	// A process's own limit refuses at once: then the log alone is the sign.
	if s.refused() || s.heapFull() {
		return []diagnose.Signal{{Holds: true}, {Holds: true}}
	}
	return []diagnose.Signal{said, few, moved}
}

func (s shortage) evidence(c *diagnose.Case) []kasoku.Evidence {
	var out []kasoku.Evidence
	add := func(text, value string, number float64, strong bool, name string) {
		out = append(out, kasoku.Evidence{
			Source: "host", Text: text, Note: c.Quote().Span(), Value: value, Number: number, Strong: strong,
			Series: []kasoku.Key{{Source: diagnose.Host, Name: name}}, Interval: c.Focus.Interval,
		})
	}
	for i, m := range slices.Concat(s.said, s.ended, s.heap) {
		if i < 2 {
			out = append(out, c.Quote().Quoted(m, true))
		}
	}
	if s.killed.By > 0 {
		out = append(out, c.Quote().Counted(s.killed, true))
	}
	if s.total > 0 {
		few := s.available < fewAvailable*s.total
		add("memory available at least, of "+unit.BytesIEC(uint64(min(s.total, 1e18))),
			unit.BytesIEC(uint64(s.available)), s.available, few, hostkeys.MemAvailable)
	}
	if s.swapped > 0 {
		add("pages swapped in and out a second", diagnose.Whole(s.swapped), s.swapped, s.swapped >= swapPages,
			hostkeys.VMSwapOut)
	}
	if s.stalled > 0 {
		add("time in which somebody waited for memory", unit.Percent(s.stalled), s.stalled, s.stalled >= stallShare,
			hostkeys.PressureMemorySome)
	}
	if s.reclaimed > 0 {
		add("times that a process had to free memory itself", diagnose.More(s.reclaimed), s.reclaimed, false,
			hostkeys.VMAllocStalls)
	}
	return out
}

func (s shortage) cause(c *diagnose.Case, largest []diagnose.Program) string {
	var text string
	switch {
	case s.limited != "":
		text = "The control group " + s.limited + " ran full, and the kernel killed a process of it."
	case s.group != "" && !s.short():
		return "The kernel killed a process of the control group " + s.group + " for want of memory. It was not seen to " +
			"run into a limit of its own: the host, or a group above it, had no more."
	case s.refused():
		return fmt.Sprintf("Memory was refused, though the host had %s available: a limit refuses it, such as ulimit "+
			"-v (RLIMIT_AS), a control group's memory.max, or vm.overcommit_memory.",
			unit.BytesIEC(uint64(s.available)))
	case s.heapFull():
		return "The runtime gives the program no more memory than its own limit of the heap allows, whatever the host has."
	case s.roomy() && len(s.said) == 0:
		return "A log says that a process was killed for want of memory, and nothing shows that the host was short of it: " +
			"a control group's limit is the likely cause, as the unit's MemoryMax or the container's."
	case s.total == 0 && s.roomy():
		return "A log says that memory was refused. Whether the host had some left was not recorded."
	default:
		text = "What runs on this host needs more memory than it has."
	}
	var names []string
	for i, p := range largest {
		if i < 3 {
			names = append(names, p.Name+" "+unit.BytesIEC(uint64(min(p.RSS, 1e18))))
		}
	}
	if len(names) > 0 {
		text += " Of the service most is held by " + strings.Join(names, ", ") + "."
	}
	return text
}

func (s shortage) fixes(c *diagnose.Case, largest []diagnose.Program) []kasoku.Fix {
	switch {
	case s.heapFull():
		return []kasoku.Fix{heapFix(s.heap[0].Sample)}
	case s.roomy() || s.limited != "" || s.group != "" && !s.short():
		return []kasoku.Fix{{
			Text: "Compare ulimit -v, the unit's MemoryMax and sysctl vm.overcommit_memory with what the process needs, " +
				"and raise the one that refuses",
			Note: "The resident memory of a process says less than what it reserves: ulimit -v counts address space.",
			Risk: kasoku.RiskAppRestart,
		}}
	}
	if len(largest) == 0 {
		return []kasoku.Fix{{Text: "See which processes hold most memory, and move or shrink the largest",
			Risk: kasoku.RiskAppRestart}}
	}
	p := largest[0]
	pool, ok := c.Number("innodb_buffer_pool_size")
	if ok && p.Role == diagnose.Database && pool > 0 && pool < 1e18 {
		return []kasoku.Fix{{
			Text: "Give the buffer pool less, or move the database to a host with more memory", Where: "my.cnf",
			Risk: kasoku.RiskRestart,
			Note: "innodb_buffer_pool_size is " + unit.BytesIEC(uint64(pool)) + ".",
		}}
	}
	return []kasoku.Fix{{Text: "Let " + p.Name + " hold less, or move it to a host with more memory",
		Risk: kasoku.RiskAppRestart,
		Note: "A tool such as an editor's language server or a build does not belong on a host that is measured: stop it."}}
}

// largestPrograms returns the programs of the service, most memory first.
func largestPrograms(c *diagnose.Case) []diagnose.Program {
	all, err := c.Processes().Members()
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(p diagnose.Program) bool { return p.RSS <= 0 || p.Member == "" })
	slices.SortStableFunc(all, func(a, b diagnose.Program) int { return cmp.Compare(b.RSS, a.RSS) })
	return all
}
