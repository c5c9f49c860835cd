package host

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
)

// Thresholds of HW-03 where neighbours use most of the CPU: then not the host's CPU is divided,
// but the time that requests take.
const (
	// computed is the part of the requests' time that the program computes. On a crowded host
	// it waits for a core for as long again, so this is most of what is not the database's.
	computed = 0.30
	// aboveStatements is how many times the statements' part that must be.
	aboveStatements = 1.5
)

// A part is the requests' time, divided: by cores in use, for each request in flight.
type part struct {
	inFlight   float64 // requests at once, on average
	cores      float64 // of the application
	statements float64 // 0..1 of the requests' time
	waited     float64 // cores that its busiest threads waited for; 0 where that was not recorded
	waitedKeys []kasoku.Key
}

// partOf divides the time of the focus's requests; false where it is not known.
func partOf(c *diagnose.Case, s evidence.Stack) (p part, ok bool) {
	p = part{inFlight: cmp.Or(c.Focus.Pace, c.PerSec()) * meanLatency(c).Seconds(), cores: s.App.Cores}
	if p.inFlight <= 0 || evidence.CheckStatements(c) != nil {
		return p, false
	}
	var all time.Duration
	for i := range c.Queries {
		all += c.Statements().QueryTime(&c.Queries[i])
	}
	p.statements = c.Statements().ShareOf(all)
	for _, k := range s.App.Keys {
		if k.Name != process.CPUUser {
			continue
		}
		pid, _, _ := strings.Cut(k.Instance, " ")
		for _, t := range c.FindAll(diagnose.Process, process.ThreadWait) {
			g, err := c.Counters().Grown(t.Key)
			if err == nil && t.Key.Host == k.Host && strings.HasPrefix(t.Key.Instance, pid+"/") {
				p.waited += g.By / max(g.Interval.Len().Seconds(), 1)
				p.waitedKeys = append(p.waitedKeys, t.Key)
			}
		}
	}
	return p, true
}

// beside speaks of the application's CPU where neighbours use most of the host's: what a
// request costs is decided in the program all the same, if that is most of its time.
func (r AppCPU) beside(c *diagnose.Case, s evidence.Stack,
	crowded []kasoku.Silence) ([]kasoku.Finding, []kasoku.Silence) {
	p, ok := partOf(c, s)
	if !ok || s.Held() {
		return nil, crowded
	}
	share := p.cores / p.inFlight
	switch {
	case share >= 1:
		return nil, diagnose.Quiet(r.ID(), 0, "%s used %s cores, more than the %s requests that were in flight could: "+
			"it works beside them", s.App.Name, unit.Sig3(p.cores), unit.Sig3(p.inFlight))
	case share < computed || share < aboveStatements*p.statements:
		return nil, diagnose.Quiet(r.ID(), min(share/computed, share/max(aboveStatements*p.statements, 0.01), 0.99),
			"%s; %s computed in %s of the requests' time, and statements took %s; the thresholds are %s and %s times "+
				"as much",
			crowded[0].Reason, s.App.Name, unit.Percent(share), unit.Percent(p.statements), unit.Percent(computed),
			unit.Plain(aboveStatements))
	}
	name := wording.Cut(s.App.Name, 20)
	waits := ""
	if p.waited >= 0.01 {
		waits = fmt.Sprintf(" Its busiest threads waited for a core for %s more of each second.", unit.Duration(
			time.Duration(p.waited*float64(time.Second))))
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: s.App.Name},
		Title:    fmt.Sprintf("The application, %s, computes in %s of its requests' time", name, unit.Percent(share)),
		Clause:   fmt.Sprintf("%s computes in %s of its requests' time", s.App.Name, unit.Percent(share)),
		Severity: kasoku.Info,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what the program does beside its requests was not recorded"}),
		Impact: kasoku.Impact{Share: share, Of: "of request time", Estimate: true},
		Evidence: append([]kasoku.Evidence{evidence.CPUOf(c, s.App), {Source: "access", Text: "requests in flight",
			Note: "their rate × their mean", Value: unit.Sig3(p.inFlight), Number: p.inFlight, Strong: true,
			Interval: c.Focus.Interval}, {Source: c.StatementSource(), Text: "statements", Note: "of request time",
			Value: unit.Percent(p.statements), Number: p.statements, Interval: c.Focus.Interval}}, p.evidence(c)...),
		Cause: fmt.Sprintf("%s requests were in flight on average, and %s used %s cores for them: %s of their time. "+
			"Statements took %s.%s What a request costs is decided in the program first; what neighbours take "+
			"makes it later still.", wording.Capital(unit.Sig3(p.inFlight)), s.App.Name, unit.Sig3(p.cores), unit.Percent(share),
			unit.Percent(p.statements), waits),
		Fixes:    []kasoku.Fix{profileFix(c, s.App.Name)},
		Expect:   "less of the program's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.App.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	addParsed(c, &f)
	return []kasoku.Finding{f}, nil
}

// evidence quotes how long threads waited for a core.
func (p part) evidence(c *diagnose.Case) []kasoku.Evidence {
	if p.waited <= 0 {
		return nil
	}
	return []kasoku.Evidence{{Source: "process", Text: "its busiest threads waited for a core", Note: "a second",
		Value:  unit.Duration(time.Duration(p.waited * float64(time.Second))),
		Number: p.waited, Series: p.waitedKeys, Interval: c.Focus.Interval}}
}
