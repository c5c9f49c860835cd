package carbon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// BusyCache is the rule TS-03.
type BusyCache struct{}

// Thresholds of TS-03.
const (
	fullCore   = 0.95 // of a core, from which on a process of Python has no more
	leastShort = 0.05 // of what was due, that was not received
	leastWaits = 0.10 // of the time of the sender's connections, that their writes waited
	fewFiles   = 0.01 // of the points received; more new files are what it computes for
)

// ID returns TS-03.
func (BusyCache) ID() string { return "TS-03" }

// Doc describes the rule.
func (BusyCache) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a carbon-cache that has no more of its one core, while who sends waits for it.`,
		Evidence: `in its last three reports of the load the server used 0.95 of a core or more; in that time writes of
			its sender waited for a tenth of the time of its connections or more, or it received at least 5 % fewer
			points than were due, both as the sender publishes them over expvar (Blocked, Connections, Due).`,
		Cause: `carbon-cache is one process of Python: whatever the host has, it uses one core, for what it receives
			and what it writes.`,
		Fix: `two caches or more after a relay that hashes where cores are left, or go-carbon, which uses all of them.`,
		Silent: `when it used less in one of them, when it still made files, when it received what was due and no write
			waited, when several servers share what is sent; of go-carbon;
			blind when no carbon reports of itself, or no sender publishes what it has to send.`,
	}
}

// Check looks at each server.
func (r BusyCache) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return check(c, r.ID(), fewReports, r.look)
}

func (r BusyCache) look(s *server) (*kasoku.Finding, kasoku.Silence) {
	x, noSender := senderOf(s.c)
	if noSender == nil {
		s = s.until(x.ends()) // what waits in buffers is received later
	}
	used := s.values(cpu)
	if s.ofGo {
		return nil, quiet(r.ID(), 0, "%s is go-carbon, which uses all cores", s.name)
	}
	if len(used) < fewReports {
		return nil, quiet(r.ID(), 0, "%s reported its CPU fewer than %d times", s.name, fewReports)
	}
	at := kasoku.Interval{From: s.loaded.To - fewReports*s.interval, To: s.loaded.To}
	least := slices.Min(used[len(used)-fewReports:])
	got, made := 0.0, 0.0
	if in := s.values(received); len(in) >= fewReports {
		for _, v := range in[len(in)-fewReports:] {
			got += v
		}
	}
	if v := s.values(created); len(v) >= fewReports {
		for _, v := range v[len(v)-fewReports:] {
			made += v
		}
	}
	switch {
	case least < fullCore:
		return nil, quiet(r.ID(), least/fullCore, "%s used %s of a core in one of its last %d reports; the threshold is %s",
			s.name, unit.Percent(least), fewReports, unit.Percent(fullCore))
	case made > fewFiles*got:
		return nil, quiet(r.ID(), 0.5, "%s still made files for new series", s.name)
	}
	if noSender != nil {
		return nil, diagnose.Blind(r.ID(), noSender)[0]
	}
	due, secs := within(x.due, at)
	if secs <= 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("the sender published nothing while the server was busy"))[0]
	}
	if servers, err := serversOf(s.c, 1); err != nil || len(servers) != 1 {
		return nil, quiet(r.ID(), 0.5, "several servers received what was sent: which of it was due to %s is not known",
			s.name)
	}
	b := burst{in: at, least: least, due: due / secs, got: got / (fewReports * s.interval).Seconds(), waits: x.waits(at)}
	if short := b.short(); short < leastShort && b.waits < leastWaits {
		return nil, quiet(r.ID(), max(short/leastShort, b.waits/leastWaits), "%s received %s of the points that were "+
			"due, and writes waited for %s of the time; the thresholds are %s and %s", s.name, unit.Percent(1-short),
			unit.Percent(b.waits), unit.Percent(1-leastShort), unit.Percent(leastWaits))
	}
	f := r.finding(s, x, b)
	return &f, kasoku.Silence{}
}

// A burst is what was sent and received while a server's core was full.
type burst struct {
	in              kasoku.Interval
	least           float64 // CPU in one of the reports
	due, got, waits float64 // points a second, of the time of the sender's connections
}

// short is the share of what was due that was not received, at least nothing: what had waited comes later.
func (b *burst) short() float64 { return max(1-b.got/max(b.due, 1), 0) }

func (r BusyCache) finding(s *server, x sender, b burst) kasoku.Finding {
	impact := kasoku.Impact{Share: b.short(), Of: "of the points due, which the server does not receive"}
	if w := min(b.waits, 1); w > impact.Share {
		impact = kasoku.Impact{Share: w, Of: "of the sender's time, in which its writes wait"}
	}
	return kasoku.Finding{
		ID: r.ID(), Object: s.object(),
		Title: fmt.Sprintf("%s is at the limit of one core, at %s points a second", s.name,
			unit.Sig3(b.got)),
		Clause:   fmt.Sprintf("carbon is at the limit of one core at %s points a second", unit.Sig3(b.got)),
		Severity: kasoku.Problem, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}), Impact: impact,
		Evidence: []kasoku.Evidence{
			s.quote(cpu, "CPU, the least of the last three reports", unit.Percent(b.least)+" of a core", b.least),
			s.quote(received, "points received", unit.Sig3(b.got)+"/s", b.got),
			{Source: x.due.Key.Source, Text: "points that the sender had to send", Value: unit.Sig3(b.due) + "/s",
				Number: b.due, Strong: true, Interval: b.in, Series: []kasoku.Key{x.due.Key}},
			{Source: x.due.Key.Source, Text: "time in which the sender's writes waited", Value: unit.Percent(b.waits),
				Number: b.waits, Strong: true, Interval: b.in},
		},
		Cause: fmt.Sprintf("carbon-cache is one process of Python. It used %s of a core or more in its last three "+
			"reports, and received %s points a second while %s were due; writes of the sender waited for %s of the time.",
			unit.Percent(b.least), unit.Sig3(b.got), unit.Sig3(b.due), unit.Percent(b.waits)),
		Fixes: []kasoku.Fix{{
			Text: "Several caches after a relay that hashes, or go-carbon in its place", Where: s.file(),
			Code: "RELAY_METHOD = consistent-hashing\nDESTINATIONS = 127.0.0.1:2004:a, 127.0.0.1:2104:b", Lang: "ini",
			Risk: kasoku.RiskRestart,
			Note: "In section [relay]; each cache has a section [cache:b] with ports of its own, and each further one needs " +
				"a core, the relay another. go-carbon is one process that uses all cores.",
		}},
		Expect: "no write of the sender waits, as far as cores are left", Interval: b.in,
		Verify: "repeat it: cpuUsage of each cache must stay below 95 %",
	}
}
