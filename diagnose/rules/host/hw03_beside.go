package host

import (
	"cmp"
	"fmt"
	"slices"
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
	// heldUp is the same with what its busiest threads waited for a core, and heldUpComputes what it computes
	// of that at least.
	heldUp         = 0.60
	heldUpComputes = 0.10
	// unhurriedComputes is the part where the host has CPU left: no core is waited for.
	unhurriedComputes = 0.50
	// slowCPU is what a slow request takes of the program. Of quick ones most is computed, as it should be.
	slowCPU = 20 * time.Millisecond
	// mostBeside is what it may compute beside its requests, as a garbage collector and what it does after
	// an answer do.
	mostBeside = 1.5
	// aboveStatements is how many times the statements' part that must be. What is computed beside neighbours
	// need not be more than that part, which has what the database waits for a core in it.
	aboveStatements = 1.5
)

// A part is the requests' time, divided: by cores in use, for each request in flight.
type part struct {
	inFlight   float64 // requests at once, on average
	cores      float64 // of the application
	statements float64 // 0..1 of the requests' time
	logged     string  // "", or that the statements are at least that
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
	if p.statements = c.Statements().ShareOf(all); diagnose.Unlogged(c) != "" {
		p.logged = "at least "
	}
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
	share, held := p.cores/p.inFlight, (p.cores+p.waited)/p.inFlight
	each := time.Duration(share * float64(meanLatency(c)))
	switch {
	case share >= 1:
		return nil, r.worksBeside(s, p)
	case each < slowCPU:
		return nil, diagnose.Quiet(r.ID(), min(float64(each)/float64(slowCPU), 0.99), "%s; %s computed %s for each request; "+
			"the threshold is %s", crowded[0].Reason, s.App.Name, unit.Duration(each), unit.Duration(slowCPU))
	case share >= heldUpComputes && held >= heldUp && held < 1 && held >= aboveStatements*p.statements:
	case share < computed || share < p.statements:
		return nil, diagnose.Quiet(r.ID(), min(share/computed, share/max(p.statements, 0.01), 0.99),
			"%s; %s computed in %s of the requests' time, and statements took %s; the thresholds are %s and as much",
			crowded[0].Reason, s.App.Name, unit.Percent(share), unit.Percent(p.statements), unit.Percent(computed))
	}
	waits := ""
	if p.waited >= 0.01 {
		waits = fmt.Sprintf(" Its busiest threads waited for a core for %s more of each second.", unit.Duration(
			time.Duration(p.waited*float64(time.Second))))
	}
	return []kasoku.Finding{r.computes(c, s, p, waits+" What a request costs is decided in the program first; what neighbours take "+
		"makes it later still.")}, nil
}

// worksBeside is the silence about a program that does more than its requests could.
func (r AppCPU) worksBeside(s evidence.Stack, p part) []kasoku.Silence {
	return diagnose.Quiet(r.ID(), 0, "%s used %s cores, more than the %s requests that were in flight could: "+
		"it works beside them", s.App.Name, unit.Sig3(p.cores), unit.Sig3(p.inFlight))
}

// unhurried speaks of the application's CPU where the host has some left: requests that the program
// computes for long are slow all the same.
func (r AppCPU) unhurried(c *diagnose.Case, s evidence.Stack, quiet []kasoku.Silence) ([]kasoku.Finding, []kasoku.Silence) {
	p, ok := partOf(c, s)
	if !ok || s.Held() {
		return nil, quiet
	}
	share := min(p.cores/p.inFlight, 1)
	each := time.Duration(share * float64(meanLatency(c)))
	switch {
	case p.cores >= mostBeside*p.inFlight:
		return nil, r.worksBeside(s, p)
	case share < unhurriedComputes || share < aboveStatements*p.statements || each < slowCPU:
		return nil, quiet
	}
	return []kasoku.Finding{r.computes(c, s, p, fmt.Sprintf(" That is %s of CPU for each request. The host has CPU left: what a request "+
		"costs is decided in the program.", unit.Duration(each)))}, nil
}

// computes is the finding by the requests' time; ending follows its cause.
func (r AppCPU) computes(c *diagnose.Case, s evidence.Stack, p part, ending string) kasoku.Finding {
	share, name := min(p.cores/p.inFlight, 1), wording.Cut(s.App.Name, 20)
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
			Value: unit.Percent(p.statements), Number: p.statements, Interval: c.Focus.Interval}},
			append(p.evidence(c), costlyEndpoints(c)...)...),
		Cause: fmt.Sprintf("%s requests were in flight on average, and %s used %s cores for them: %s of their time. "+
			"Statements took %s%s.%s", wording.Capital(unit.Sig3(p.inFlight)), s.App.Name, unit.Sig3(p.cores), unit.Percent(share),
			p.logged, unit.Percent(p.statements), ending),
		Fixes:    []kasoku.Fix{profileFix(c, s.App.Name)},
		Expect:   "less of the program's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.App.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	addParsed(c, &f)
	return f
}

// Endpoints that are named: so many, each with so much of the requests' time, of which its statements
// take so little.
const (
	mostCostly      = 2
	leastCostly     = 0.10
	costlyStatement = 0.30
)

// costlyEndpoints quotes the endpoints that have most of the requests' time, where little of it is known to be
// their statements'.
func costlyEndpoints(c *diagnose.Case) (out []kasoku.Evidence) {
	_, endpoints := c.FrontLog()
	endpoints = slices.SortedStableFunc(slices.Values(endpoints),
		func(a, b kasoku.Endpoint) int { return cmp.Compare(b.Total, a.Total) })
	for i := range endpoints {
		e := &endpoints[i]
		share := c.Statements().ShareOf(e.Total)
		if share < leastCostly || len(out) == mostCostly {
			return out
		}
		if took := statementsOf(c, e); float64(took) <= costlyStatement*float64(e.Total) {
			each := e.Total / time.Duration(max(e.Count, 1))
			note := unit.Percent(share) + " of request time"
			if len(c.Callers) > 0 {
				note += fmt.Sprintf("; %s of it in statements", unit.Duration(took))
			}
			out = append(out, kasoku.Evidence{Source: "access", Text: e.Method + " " + e.Route,
				Note:  note,
				Value: unit.Duration(each), Number: each.Seconds(), Interval: c.Focus.Interval})
		}
	}
	return out
}

// statementsOf returns how long the statements took that are known to be an endpoint's.
func statementsOf(c *diagnose.Case, e *kasoku.Endpoint) (took time.Duration) {
	for i := range c.Callers {
		x := &c.Callers[i]
		if q := c.Statements().QueryByID(x.QueryID); q != nil && x.Method == e.Method && x.Route == e.Route {
			took += time.Duration(x.Calls * float64(q.Total) / float64(max(q.Calls, 1)))
		}
	}
	return took
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
