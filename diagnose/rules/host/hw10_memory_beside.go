package host

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// MemoryBeside is the rule HW-10.
type MemoryBeside struct{}

// Thresholds of HW-10.
const (
	// takenShare of a host's memory in one run is more than programs that come and go take.
	takenShare = 0.05
	// lastsFor is how soon the rest is gone at that pace: what takes longer is of no concern to a load.
	lastsFor = time.Hour
	// settled is how long after the start of a run a process may be seen first, and not be new.
	settled = 3 * time.Second
)

// ID returns HW-10.
func (MemoryBeside) ID() string { return "HW-10" }

// Doc describes the rule.
func (MemoryBeside) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `reports memory that programs outside of the service take while it is measured.`,
		Evidence: `from the start of the run to its end the memory of all processes of the host (AnonPages) grew
			by 5 % of the host's more than the resident memory of the service, kasoku and the load did, the
			memory available fell by half of that at least, and at this pace the rest is gone within an hour.`,
		Cause: `what else runs on the host takes memory and does not give it back: an editor's language server,
			a build, a program that keeps the log of another. It is no cause in the service, until there is
			no more: then HW-06 speaks.`,
		Fix: `see what it is, and stop it, move it, or give it a limit.`,
		Silent: `below the thresholds, where memory was given back by the end, and blind where the members of the
			service are not known or the memory of one of their processes was not recorded. It is always a
			remark, and names no program: those of others are none of the service's.`,
		Host: []diagnose.Pressure{diagnose.OnMemory},
	}
}

// A taking is the memory that programs outside of the service took on a host.
type taking struct {
	by         float64 // bytes, a lower bound: what processes share is the service's once for each
	anon, free diagnose.Gauge
	total      float64 // bytes
	stalled    float64 // share of the time in which somebody waited for memory, below 0: unknown
	over       time.Duration
}

// lasts is how long the rest lasts at that pace.
func (x *taking) lasts() time.Duration {
	pace := x.by / x.over.Seconds() // bytes a second
	if pace <= 0 || x.free.Last/pace > lastsFor.Seconds()*10 {
		return 10 * lastsFor
	}
	return time.Duration(x.free.Last / pace * float64(time.Second))
}

func (x *taking) fires() bool {
	return x.by >= takenShare*x.total && x.free.First-x.free.Last >= x.by/2 && x.lasts() <= lastsFor
}

// Check looks at each host of which members are known.
func (r MemoryBeside) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	var out []kasoku.Finding
	var most *taking
	var blind error
	for _, s := range whole.FindAll(diagnose.Host, hostkeys.MemAnon) {
		x, err := takingOf(&whole, s.Key)
		switch {
		case err != nil:
			blind = err
		case x.fires():
			out = append(out, r.finding(&whole, x))
		case most == nil || x.by/x.total > most.by/most.total:
			most = x
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case most != nil:
		return nil, diagnose.Quiet(r.ID(), min(max(most.by, 0)/(takenShare*most.total), 0.99),
			"programs outside of the service took %s of the host's %s; the threshold is %s",
			unit.BytesIEC(uint64(max(most.by, 0))), unit.BytesIEC(uint64(most.total)), unit.Percent(takenShare))
	case blind == nil:
		blind = errors.New("the memory of the host's processes was not recorded")
	}
	return nil, diagnose.Blind(r.ID(), blind)
}

// takingOf compares what the host's processes hold with what those of the service, kasoku and the load do.
//
// Kernel: Documentation/filesystems/proc.rst, meminfo: AnonPages, MemAvailable.
func takingOf(c *diagnose.Case, key kasoku.Key) (*taking, error) {
	if !c.Knows(key.Host) {
		return nil, diagnose.ErrNoService
	}
	if !allMembersWeighed(c, key.Host) {
		return nil, errors.New("the memory of a process of the service was not recorded")
	}
	x := &taking{stalled: -1, over: c.Focus.Interval.Len()}
	var err error
	if x.anon, err = c.Counters().Gauge(key); err != nil {
		return nil, err
	}
	named := func(name string) kasoku.Key { return kasoku.Key{Host: key.Host, Source: diagnose.Host, Name: name} }
	total, err := c.Counters().Gauge(named(hostkeys.MemTotal))
	if err == nil {
		x.free, err = c.Counters().Gauge(named(hostkeys.MemAvailable))
	}
	if err == nil && !(total.Max > 0 && total.Max < 1e18 && x.over > 0) {
		err = errors.New("the memory of the host was not recorded")
	}
	if err != nil {
		return nil, err
	}
	x.total = total.Max
	if g, err := c.Counters().Grown(named(hostkeys.PressureMemorySome)); err == nil {
		x.stalled = min(max(g.By, 0)/g.Interval.Len().Seconds(), 1)
	}
	programs, err := c.Processes().Programs()
	if err != nil {
		return nil, err
	}
	x.by = x.anon.Last - x.anon.First
	seen := map[string]bool{} // a member's leader has two keys of CPU time
	for _, p := range programs {
		if p.Host != key.Host || p.Role == diagnose.Neighbour || p.Role == diagnose.Kernel {
			continue
		}
		for _, k := range p.Keys {
			if !seen[k.Instance] {
				x.by -= residentGrowth(c, k)
			}
			seen[k.Instance] = true
		}
	}
	return x, nil
}

// residentGrowth is by how much a process grew at most; one that began later grew by all that it had.
func residentGrowth(c *diagnose.Case, k kasoku.Key) float64 {
	k.Name = process.RSS
	g, err := c.Counters().Gauge(k)
	if err != nil {
		return 0
	}
	if s := c.Find(k); s.Points[0].At > c.Focus.Interval.From+settled {
		return g.Max
	}
	return g.Max - g.First
}

// allMembersWeighed reports whether the resident memory of each process of the service on a host was recorded.
func allMembersWeighed(c *diagnose.Case, host string) bool {
	weighed := map[string]bool{}
	for _, s := range c.FindAll(diagnose.Process, process.RSS) {
		if pid, _, _ := strings.Cut(s.Key.Instance, " "); s.Key.Host == host {
			weighed[pid] = true
		}
	}
	return !slices.ContainsFunc(c.Service.Members, func(m kasoku.Member) bool {
		return m.Sure != kasoku.Low && (m.Host == host || m.Host == "") &&
			slices.ContainsFunc(m.Processes, func(p kasoku.MemberProcess) bool {
				return p.Ended == 0 && !weighed[strconv.Itoa(p.PID)]
			})
	})
}

func (r MemoryBeside) finding(c *diagnose.Case, x *taking) kasoku.Finding {
	bytes := func(v float64) string { return unit.BytesIEC(uint64(max(v, 0))) }
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "host", Name: "memory beside the service"}, Severity: kasoku.Info,
		Title:      "Programs outside of the service took " + bytes(x.by) + " of memory",
		Clause:     "programs outside of the service take memory",
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Interval:   c.Focus.Interval,
		Cause: "While the service was measured, what else runs on its host took " + bytes(x.by) +
			" and kept it to the end. At this pace the rest, " + bytes(x.free.Last) + ", is gone in " +
			unit.Duration(x.lasts().Round(time.Second)) + ". It is neither the service's nor kasoku's nor the " +
			"load's: an editor's language server, a build, or what keeps the log of another program takes memory so.",
		Fixes: []kasoku.Fix{{
			Text: "See what takes it, and stop it, move it to another host, or give it a limit", Where: "the host",
			Note: "ps ax -o rss,etime,args --sort=-rss lists processes by their memory; a unit of systemd has " +
				"MemoryMax. Which program it is was not kept: those of others are none of the service's.",
			Risk: kasoku.RiskNone,
		}},
		Expect: "the memory available stays as it is",
		Verify: "repeat the load: the memory of all processes grows by what the service does",
	}
	quote := func(text, value, note string, number float64, key kasoku.Key) {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "host", Text: text, Value: value, Note: note,
			Number: number, Strong: true, Series: []kasoku.Key{key}, Interval: c.Focus.Interval})
	}
	grown := x.anon.Last - x.anon.First
	quote("memory of all processes grew", bytes(grown), "from "+bytes(x.anon.First)+" to "+bytes(x.anon.Last), grown,
		x.anon.Key)
	quote("of that by programs outside of the service", bytes(x.by),
		unit.Percent(x.by/x.total)+" of "+bytes(x.total), x.by, x.anon.Key)
	quote("memory available at the end", bytes(x.free.Last), bytes(x.free.First)+" at the start", x.free.Last, x.free.Key)
	if x.stalled > 0 {
		quote("time in which somebody waited for memory", unit.Percent(x.stalled), "", x.stalled,
			kasoku.Key{Host: x.anon.Key.Host, Source: diagnose.Host, Name: hostkeys.PressureMemorySome})
	}
	return f
}
