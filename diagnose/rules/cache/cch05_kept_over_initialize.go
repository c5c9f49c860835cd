package cache

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// KeptOverInitialize is the rule CCH-05.
type KeptOverInitialize struct{}

// ID returns CCH-05.
func (KeptOverInitialize) ID() string { return "CCH-05" }

// Doc describes the rule.
func (KeptOverInitialize) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that Varnish keeps and that nothing bans at initialize.`,
		Evidence: `the captured VCL keeps answers of an endpoint, by a ttl that it sets, and has neither a ban nor a
			purge; the run has initialize; and the endpoint was asked in the seconds before it and after it, no
			further apart than ttl and grace; or, as by a benchmark that ends at its check of initialize, its first
			request was answered before the last initialize and its last one after it, within that time. It is a
			finding where Varnish sent kept answers, whose endpoint they were is not counted.`,
		Cause: `initialize makes the data anew, and what Varnish keeps is from before: who checks the service right
			after it sees old data.`,
		Fix: `ban all that is kept when initialize was answered.`,
		Silent: `where the VCL has a ban or a purge, keeps nothing, or no request came so near to initialize; without
			initialize. Blind without Varnish's counters and without the captured VCL: an application that takes
			answers back by varnishadm is not seen.`,
	}
}

// Check looks for an endpoint whose kept answers outlive initialize.
func (r KeptOverInitialize) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	_, hits, err := lookedUp(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	vcl := vclOf(c.Recording)
	if vcl == nil || vcl.Text == "" {
		return nil, diagnose.Blind(r.ID(), errNoVCL)
	}
	inits := initializesOf(c)
	switch {
	case len(inits) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "the run has no initialize")
	case webserver.TakesBack(vcl.Text):
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s has a ban or a purge", vcl.Name)
	case hits < 1:
		return nil, diagnose.Quiet(r.ID(), 0, "Varnish sent no answer that it kept")
	}
	_, endpoints := c.FrontLog()
	kept := keptAnswersOf(c, endpoints)
	for i := range endpoints {
		e := &endpoints[i]
		if e.Method != "GET" || kept.to != "" && kept.of(e) == 0 {
			continue
		}
		k, err := webserver.KeepingOf(vcl.Text, examplePath(e.Route))
		if err != nil || !k.SetTTL || k.TTL <= 0 {
			continue
		}
		for n, in := range inits {
			before, after := askedAround(e, in, k.TTL+k.Grace)
			if n == len(inits)-1 && (before == 0 || after == 0) && spansLast(c, e, in, k.TTL+k.Grace) {
				before, after = max(before, 1), max(after, 1)
			}
			if before > 0 && after > 0 {
				return []kasoku.Finding{r.finding(c, e, in, k, vcl, before, after)}, nil
			}
		}
	}
	return nil, diagnose.Quiet(r.ID(), 0.8, "no endpoint whose answers the VCL keeps was asked both before and after initialize "+
		"within the time for which they are kept")
}

// initializesOf returns when initialize ran: the phases, else the second of the requests by the log.
func initializesOf(c *diagnose.Case) (out []kasoku.Phase) {
	for _, p := range c.Phases {
		if p.Kind == kasoku.PhaseInitialize {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	if p, ok := evidence.InitializeOf(c); ok {
		out = append(out, p)
	}
	return out
}

// askedAround counts the requests of an endpoint in whole seconds before an initialize began and after it ended, as
// far as an answer is kept.
func askedAround(e *kasoku.Endpoint, in kasoku.Phase, keeps time.Duration) (before, after uint64) {
	seconds := max(int((keeps+time.Second-1)/time.Second), 1)
	from, to := int(in.Interval.From/time.Second), int(in.Interval.To/time.Second)
	for s := range seconds {
		before += e.Seconds[from-s].Count
		after += e.Seconds[to+s].Count
	}
	if from == to && seconds == 1 && before == 1 {
		return 0, after // the one request of this second came before or after it
	}
	return before, after
}

// spansLast reports whether an endpoint's first request was answered before the last initialize began and its last one
// after that had ended, no further apart than an answer is kept. Of these the log's own times are known.
func spansLast(c *diagnose.Case, e *kasoku.Endpoint, in kasoku.Phase, keeps time.Duration) bool {
	name := initializeName(in)
	host, endpoints := c.FrontLog()
	i := slices.IndexFunc(endpoints, func(o kasoku.Endpoint) bool { return o.Method+" "+o.Route == name })
	if i < 0 || endpoints[i].Latency == nil {
		return false
	}
	ended, took := endpoints[i].Last, endpoints[i].Latency.Max()
	for _, s := range c.Slowest { // it took no longer than the longest
		if s.Host == host && s.Method+" "+s.Route == name && s.At == ended {
			took = s.Latency
		}
	}
	return e.First <= ended-took && e.Last >= ended && e.Last-e.First <= keeps
}

// initializeName is the request of an initialize, "POST /initialize".
func initializeName(in kasoku.Phase) string {
	name, _, _ := strings.Cut(in.Why, ",")
	return name
}

func (r KeptOverInitialize) finding(c *diagnose.Case, e *kasoku.Endpoint, in kasoku.Phase, k webserver.Keeping,
	vcl *kasoku.Config, before, after uint64,
) kasoku.Finding {
	name, path := e.Method+" "+e.Route, "/initialize"
	if _, route, ok := strings.Cut(initializeName(in), " "); ok && strings.HasPrefix(route, "/") {
		path = route
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name},
		Title:    wording.Cut("Nothing bans at initialize what Varnish keeps of "+name, wording.MaxTitle),
		Clause:   "nothing bans at initialize what Varnish keeps of " + name,
		Severity: kasoku.Problem,
		Impact:   kasoku.Impact{Share: partOfAll(c, float64(after)), Of: "of requests", Estimate: true},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Lacks: "which answers after initialize were kept ones is not counted"}),
		Evidence: []kasoku.Evidence{
			{Source: "config", Text: "ban or purge", Note: vcl.Name, Value: "none", Strong: true, Interval: c.Whole()},
			{Source: "config", Text: k.TTLLine, Note: "with its grace", Value: unit.Duration(k.TTL + k.Grace),
				Number: (k.TTL + k.Grace).Seconds(), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: name, Note: "right before " + path,
				Value: unit.Counted(before, "request", "requests"), Number: float64(before), Strong: true, Interval: in.Interval},
			{Source: "access", Text: name, Note: "right after it", Value: unit.Counted(after, "request", "requests"),
				Number: float64(after), Strong: true, Interval: in.Interval},
		},
		Cause: fmt.Sprintf("Varnish keeps %s for %s and nothing takes that back: %s came right after initialize, and may have "+
			"had an answer of before it.", name, unit.Duration(k.TTL+k.Grace),
			unit.Counted(after, "request", "requests")),
		Fixes: []kasoku.Fix{{
			Text:  "Ban all that is kept when initialize was answered",
			Where: "the end of the VCL, " + vcl.Name, Risk: kasoku.RiskSemantics, Lang: "vcl",
			Code: fmt.Sprintf("sub vcl_deliver {\n    if (req.url == \"%s\") {\n        ban(\"req.url ~ .\");\n    }\n}", path),
			Note: "The request for initialize has to come through Varnish. vcl_deliver runs when the application has answered; a " +
				"ban in vcl_recv comes before the data are made anew, and what is asked meanwhile is kept after it.",
		}},
		Expect:   "the first request after initialize has an answer that is made after it",
		Verify:   "repeat the load: the check of the benchmark right after initialize passes",
		Interval: c.Whole(),
	}
}
