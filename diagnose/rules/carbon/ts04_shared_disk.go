package carbon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/host"
)

// SharedDisk is the rule TS-04.
type SharedDisk struct{}

// Thresholds of TS-04.
const (
	waitsWriting = 0.8  // of the time, that the writes of each cache take
	idleCache    = 0.5  // of a core, that each uses at most: its writes wait, they do not compute
	leastLag     = 0.9  // of what they receive, that caches write at most
	leastGain    = 0.1  // of what fewer caches wrote, from which on more caches are a gain
	sameLoad     = 0.1  // of what fewer caches received, by which it may differ
	diskWaits    = 0.5  // of the time, in which something on the host waits for a disk
	fullHost     = 0.95 // of the host's CPU, from which on writes may wait for that
)

// errNoWrites is said where it is not known how long writes take.
var errNoWrites = errors.New("no two carbon-caches of a host report how long their writes take")

// ID returns TS-04.
func (SharedDisk) ID() string { return "TS-04" }

// Doc describes the rule.
func (SharedDisk) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds several carbon-caches of a host that wait for its disk, where more of them gain nothing.`,
		Evidence: `each of two caches or more took at least 0.8 of the time for its writes, by their number and their
			mean time, while it used less than half of a core; together they wrote at most 0.9 of what they received,
			and the points in their caches grew; something on the host waited for a disk for half of the time, where
			the kernel counts that. Against a baseline of fewer caches that received as much: they wrote no more than a
			tenth more.`,
		Cause: `the disk is the limit: more caches share the writes that it makes, and where it makes more of them for
			several writers, each write has fewer points of a series.`,
		Fix: `no more caches than the processor needs, fewer writes (CACHE_WRITE_STRATEGY = max, WHISPER_AUTOFLUSH =
			False), or a faster disk.`,
		Silent: `when a cache has time left, computes, or still makes files, when hardly anything waits for a disk, when
			they write what they receive, when more caches gained more than a tenth, when the host's CPU was full; of
			go-carbon; blind when fewer than two caches of a host report of themselves.`,
		Host: []diagnose.Pressure{diagnose.OnDisk},
	}
}

// A sharing is the caches of one host.
type sharing struct {
	servers                      []server
	received, committed, updates float64 // a second
	held                         float64 // by how many points their caches grew
	writing                      float64 // the least share of time in writes
	cpu                          float64 // the most that one used
	made                         float64 // files a second
}

// sharingOf adds up the caches of a host; false when one does not report what is asked for.
func sharingOf(all []server) (x sharing, ok bool) {
	x = sharing{servers: all, writing: 1}
	for i := range all {
		s := &all[i]
		share, ok := s.writing()
		held := s.values(cached)
		if !ok || len(s.values(committed)) < fewReports || len(held) < fewReports || len(s.values(cpu)) < fewReports {
			return x, false
		}
		x.received += s.perSec(received)
		x.committed += s.perSec(committed)
		x.updates += s.perSec(updates)
		x.made += s.perSec(created)
		x.held += held[len(held)-1] - held[0]
		x.writing, x.cpu = min(x.writing, share), max(x.cpu, s.mean(cpu))
	}
	return x, len(all) > 0
}

// cachesByHost are the carbon-caches of each host that received points.
func cachesByHost(c *diagnose.Case) (hosts []string, of map[string][]server, err error) {
	all, err := serversOf(c, fewReports)
	if err != nil {
		return nil, nil, err
	}
	of = map[string][]server{}
	for _, s := range all {
		if !s.ofGo {
			of[s.host] = append(of[s.host], s)
		}
	}
	for h := range of {
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	return hosts, of, nil
}

// perUpdate is how many points a write has.
func (x *sharing) perUpdate() float64 { return x.committed / max(x.updates, 1e-9) }

// Check looks at the caches of each host.
func (r SharedDisk) Check(c *diagnose.Case) (found []kasoku.Finding, silent []kasoku.Silence) {
	hosts, of, err := cachesByHost(c)
	if err != nil {
		return nil, silentFor(r.ID(), err)
	}
	silent = diagnose.Blind(r.ID(), errNoWrites)
	for _, h := range hosts {
		x, ok := sharingOf(of[h])
		if !ok || len(x.servers) < 2 {
			continue
		}
		f, quiet := r.look(c, h, &x)
		switch {
		case f != nil:
			found = append(found, *f)
		case silent[0].Blind || quiet.Near > silent[0].Near:
			silent = []kasoku.Silence{quiet}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, silent
}

func (r SharedDisk) look(c *diagnose.Case, h string, x *sharing) (*kasoku.Finding, kasoku.Silence) {
	n := unit.Count(len(x.servers))
	switch {
	case x.writing < waitsWriting:
		return nil, quiet(r.ID(), x.writing/waitsWriting, "one of %s caches took %s of the time for its writes; the "+
			"threshold is %s", n, unit.Percent(x.writing), unit.Percent(waitsWriting))
	case x.cpu >= idleCache:
		return nil, quiet(r.ID(), idleCache/x.cpu, "one of %s caches used %s of a core: its writes may compute", n,
			unit.Percent(x.cpu))
	case x.made > fewFiles*x.received:
		return nil, quiet(r.ID(), 0.5, "the caches still made files for new series")
	case x.committed > leastLag*x.received:
		return nil, quiet(r.ID(), leastLag*x.received/x.committed, "%s caches wrote %s of what they received; the "+
			"threshold is %s", n, unit.Percent(x.committed/max(x.received, 1)), unit.Percent(leastLag))
	case x.held <= 0:
		return nil, quiet(r.ID(), 0, "the caches did not grow: what is not written does not wait there")
	}
	var before *sharing
	if c.Baseline != nil {
		if _, of, err := cachesByHost(diagnose.NewCase(c.Baseline, nil)); err == nil {
			if b, ok := sharingOf(of[h]); ok && len(b.servers) < len(x.servers) &&
				b.received >= (1-sameLoad)*x.received && b.received <= (1+sameLoad)*x.received {
				before = &b
			}
		}
	}
	if before != nil && x.committed > (1+leastGain)*before.committed {
		return nil, quiet(r.ID(), (1+leastGain)*before.committed/x.committed, "%s caches wrote %s more than %s; the "+
			"threshold is %s", n, unit.Percent(x.committed/max(before.committed, 1e-9)-1),
			unit.Count(len(before.servers)), unit.Percent(leastGain))
	}
	waits, known := diskPressure(c, h, x.servers[0].loaded)
	if known && waits < diskWaits {
		return nil, quiet(r.ID(), waits/diskWaits, "something waited for a disk for %s of the time; the threshold "+
			"is %s", unit.Percent(waits), unit.Percent(diskWaits))
	}
	if busy, cores, err := c.Hosts().BusyOn(h); err == nil && busy >= fullHost*cores {
		return nil, quiet(r.ID(), 0.5, "the host's CPU was full: what writes wait for may be that")
	}
	f := r.finding(x, before)
	if !known {
		f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "the kernel does not count how long something waits for a disk"})
	} else {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: diagnose.Host,
			Text:  "time in which something waited for a disk",
			Value: unit.Percent(waits), Number: waits, Strong: true, Interval: x.servers[0].loaded,
			Series: []kasoku.Key{{Host: h, Source: diagnose.Host, Name: host.PressureIOSome}}})
	}
	return &f, kasoku.Silence{}
}

// diskPressure is the share of an interval in which something on the host waited for a disk; false where its kernel
// does not count that.
func diskPressure(c *diagnose.Case, h string, in kasoku.Interval) (share float64, known bool) {
	s := c.Find(kasoku.Key{Host: h, Source: diagnose.Host, Name: host.PressureIOSome})
	if s == nil {
		return 0, false
	}
	rose, secs := within(s, in)
	return rose / max(secs, 1e-9), secs > 0
}

func (r SharedDisk) finding(x, before *sharing) kasoku.Finding {
	n, share := unit.Count(len(x.servers)), x.committed/max(x.received, 1)
	in := x.servers[0].loaded
	quote := func(of count, text, value string, number float64) kasoku.Evidence {
		e := kasoku.Evidence{Source: graphite.Name, Text: text, Value: value, Number: number, Strong: true,
			Interval: in}
		for i := range x.servers {
			e.Series = append(e.Series, x.servers[i].quote(of, "", "", 0).Series...)
		}
		return e
	}
	evidence := []kasoku.Evidence{
		quote(writeTime, "time in writes, the least of "+n+" caches", unit.Percent(x.writing)+" of the time",
			x.writing),
		quote(cpu, "CPU, the most that one of them used", unit.Percent(x.cpu)+" of a core", x.cpu),
		quote(received, "points received", unit.Sig3(x.received)+"/s", x.received),
		quote(committed, "points written", unit.Sig3(x.committed)+"/s", x.committed),
		quote(updates, "writes", unit.Sig3(x.updates)+"/s", x.updates),
	}
	fewer, against := "No more caches than the processor needs", ""
	if before != nil {
		few := len(before.servers)
		fewer = "Back to " + cachesWords(few)
		against = fmt.Sprintf(" %s wrote %s points a second with %s writes a second, %s points a write; these "+
			"write %s with %s, %s a write.", wording.Capital(cachesWords(few)), unit.Sig3(before.committed),
			unit.Sig3(before.updates), unit.Sig3(before.perUpdate()), unit.Sig3(x.committed),
			unit.Sig3(x.updates), unit.Sig3(x.perUpdate()))
		evidence = append(evidence, kasoku.Evidence{Source: "baseline", Text: "points written by " + cachesWords(few),
			Value: unit.Sig3(before.committed) + "/s", Number: before.committed, Strong: true})
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "disk", Name: "of " + n + " caches"},
		Title: fmt.Sprintf("%s caches wait for their disk and write %s of what they receive: more of them gain "+
			"nothing", n, unit.Percent(share)),
		Clause:   fmt.Sprintf("%s caches of carbon wait for their disk", n),
		Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: before != nil, Lacks: "no run with fewer caches to compare with"}),
		Impact:   kasoku.Impact{Share: min(max(1-share, 0), 1), Of: "of the points received, which wait in memory"},
		Evidence: evidence,
		Cause: fmt.Sprintf("%s caches received %s points a second and wrote %s. Each took %s of the time or more for "+
			"its writes and used %s of a core or less: the disk is the limit, not a process, and more caches share "+
			"the writes that it makes.%s", n, unit.Sig3(x.received), unit.Sig3(x.committed), unit.Percent(x.writing),
			unit.Percent(x.cpu), against),
		Fixes: []kasoku.Fix{{
			Text: fewer + ", and fewer writes; else a faster disk", Code: "CACHE_WRITE_STRATEGY = max\n" +
				"WHISPER_AUTOFLUSH = False", Lang: "ini", Where: "carbon.conf", Risk: kasoku.RiskRestart,
			Note: "In section [cache], and a restart. max writes the series first that has most points, so that a " +
				"write has as many as can be; without autoflush the kernel writes later, and a power cut loses " +
				"seconds.",
		}},
		Expect: "as many points written as received, with fewer writes",
		Verify: "repeat it: the points in the caches must not grow", Interval: in,
	}
}

// cachesWords are so many caches.
func cachesWords(n int) string {
	if n == 1 {
		return "one cache"
	}
	return unit.Count(n) + " caches"
}
