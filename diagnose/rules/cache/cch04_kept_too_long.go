package cache

import (
	"cmp"
	"errors"
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
	"github.com/kasoku/kasoku/observe/varnish"
)

// KeptTooLong is the rule CCH-04.
type KeptTooLong struct{}

const (
	// slowestMade is the part of the answers that are made which take longer than what the fix leaves room for.
	slowestMade = 0.01
	// defaultGrace is Varnish's: varnishd(1), default_grace.
	defaultGrace = 10 * time.Second
	// fewKept answers that were kept say too little. Workers of Varnish add to its counters late, so there are more.
	fewKept = 50
	// leastLeft of what an answer may be old is worth keeping it for.
	leastLeft = 50 * time.Millisecond
)

var errNoVCL = errors.New("the VCL of Varnish was not captured; kasoku.toml names it: capture.vcl")

// ID returns CCH-04.
func (KeptTooLong) ID() string { return "CCH-04" }

// Doc describes the rule.
func (KeptTooLong) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that Varnish keeps for longer than they may be old.`,
		Evidence: `[contract] says how old an answer of a route may be, and ttl and grace that the VCL sets for it use up all
			of that: nothing is left for what an answer takes. Varnish sent 50 kept answers meanwhile.`,
		Cause: `an answer is as old as the time for which it is kept, and the time that it took to be made; in grace
			Varnish sends it on while it asks for a new one.`,
		Fix: `a ttl that leaves room for the answer that is made, and no grace.`,
		Silent: `without a route of [contract] that may be old for a while, where the VCL sets no ttl for it or where
			conditions of the VCL decide that are no comparisons of the URL, and below the threshold; blind without
			Varnish's counters, and without the captured VCL.`,
	}
}

// A keptRoute is an endpoint whose answers Varnish keeps.
type keptRoute struct {
	e       *kasoku.Endpoint
	terms   kasoku.Terms
	keeping webserver.Keeping
	made    time.Duration // what the slowest hundredth of the answers takes that are made
}

// sum is how old an answer gets that took no time.
func (k *keptRoute) sum() time.Duration { return k.keeping.TTL + k.keeping.Grace }

func (k *keptRoute) name() string { return k.e.Method + " " + k.e.Route }

// Check sets what is kept against what may be old.
func (r KeptTooLong) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	came, hits, err := lookedUp(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if may, _ := keptRoutes(c); len(may) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "no route of [contract] may be old for a while: stale says how long")
	}
	vcl := vclOf(c.Recording)
	if vcl == nil || vcl.Text == "" {
		return nil, diagnose.Blind(r.ID(), errNoVCL)
	}
	if hits < fewKept {
		return nil, diagnose.Quiet(r.ID(), 0.7*hits/fewKept,
			"Varnish sent %s answers that it kept; the threshold is %d", diagnose.Whole(hits), fewKept)
	}
	all, undecided := findKept(c, vcl, webserver.Ratio(hits, came))
	var out []kasoku.Finding
	var most *keptRoute
	for i := range all {
		k := &all[i]
		if k.sum() >= *k.terms.Stale {
			out = append(out, r.finding(c, k, vcl, hits, came))
		}
		if most == nil || k.near() > most.near() {
			most = k
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case most != nil:
		return nil, diagnose.Quiet(r.ID(), min(most.near(), 0.99), "%s: ttl and grace are %s, "+
			"[contract] allows %s", most.name(), unit.Duration(most.sum()), *most.terms.Stale)
	case undecided != "":
		return nil, diagnose.Quiet(r.ID(), 0, "%s", undecided)
	}
	return nil, diagnose.Quiet(r.ID(), 0, "the VCL sets no ttl for a route of [contract] that may be old for a while")
}

// near is how much of what is allowed is used.
func (k *keptRoute) near() float64 { return k.sum().Seconds() / k.terms.Stale.Seconds() }

// findKept returns the endpoints of the log that may be old for a while and whose answers the VCL has kept;
// undecided says of which that is not known. hit is the part of Varnish's requests that found their answer.
func findKept(c *diagnose.Case, vcl *kasoku.Config, hit float64) (out []keptRoute, undecided string) {
	_, endpoints := c.FrontLog()
	kept := keptAnswersOf(c, endpoints)
	for i := range endpoints {
		e := &endpoints[i]
		terms, ok := c.TermsOf(e.Method, e.Route)
		if !ok || terms.Stale == nil || *terms.Stale <= 0 || e.Method != "GET" || e.Latency == nil || e.Count == 0 {
			continue
		}
		if kept.to != "" && kept.of(e) == 0 {
			continue // nginx passes it elsewhere
		}
		k, err := webserver.KeepingOf(vcl.Text, examplePath(e.Route))
		if err != nil {
			undecided = e.Method + " " + e.Route + ": " + err.Error()
			continue
		}
		if !k.SetTTL || k.TTL <= 0 {
			continue
		}
		if !k.SetGrace && hitsInGrace(c) > 0 {
			k.Grace = defaultGrace
		}
		made := max(1-hit, slowestMade) // of all answers
		out = append(out, keptRoute{e: e, terms: terms, keeping: k,
			made: e.Latency.Quantile(1 - slowestMade*made)})
	}
	slices.SortStableFunc(out, func(a, b keptRoute) int { return cmp.Compare(b.e.Count, a.e.Count) })
	return out, undecided
}

// examplePath is a path of a route.
func examplePath(route string) string {
	path, _, _ := strings.Cut(route, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") || p == "*" {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/")
}

// hitsInGrace returns how many answers Varnish sent after their ttl; 0 where it does not say.
func hitsInGrace(c *diagnose.Case) float64 {
	g, err := evidence.WholeRun(c).Counters().Grown(kasoku.Key{Source: varnish.Name, Name: varnish.CacheHitGrace})
	if err != nil {
		return 0
	}
	return g.By
}

func (r KeptTooLong) finding(c *diagnose.Case, k *keptRoute, vcl *kasoku.Config, hits, came float64) kasoku.Finding {
	stale := *k.terms.Stale
	kept := k.keeping.TTL + k.keeping.Grace
	grace := "grace " + unit.Duration(k.keeping.Grace)
	if !k.keeping.SetGrace && k.keeping.Grace > 0 {
		grace += ", Varnish's own"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: k.name()},
		Title:    wording.Cut("Varnish keeps "+k.name()+" longer than it may be old", wording.MaxTitle),
		Clause:   fmt.Sprintf("Varnish keeps %s longer than the %s that [contract] allows", k.name(), stale),
		Severity: kasoku.Problem,
		Impact: kasoku.Impact{Share: webserver.Ratio(hits, came) * partOfAll(c, float64(k.e.Count)), Of: "of requests",
			Estimate: true},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: kept+k.made > stale, Lacks: "answers take no time"}),
		Evidence: []kasoku.Evidence{
			{Source: "contract", Text: k.terms.Route + " may be so old", Value: stale.String(), Number: stale.Seconds(),
				Strong: true, Interval: c.Whole()},
			{Source: "config", Text: k.keeping.TTLLine, Note: vcl.Name + ", " + grace,
				Value: unit.Duration(kept), Number: kept.Seconds(), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: k.name(), Note: "what the slowest answers take that are made",
				Value: unit.Duration(k.made), Number: k.made.Seconds(),
				Interval: kasoku.Interval{From: k.e.First, To: k.e.Last}},
		},
		Cause: fmt.Sprintf("An answer of %s is kept for %s, %s, and takes up to %s to be made: it gets %s old, and may be %s.",
			k.name(), unit.Duration(k.keeping.TTL), grace, unit.Duration(k.made), unit.Duration(kept+k.made), stale),
		Expect:   "no answer is older than " + stale.String() + "; the application makes a little more of them",
		Verify:   "repeat the load: the benchmark has no word on answers that are too old",
		Interval: c.Whole(),
	}
	f.Fixes = []kasoku.Fix{k.fix(vcl)}
	return f
}

// fix is a ttl that leaves room for the answer, a fifth of the time at least.
func (k *keptRoute) fix(vcl *kasoku.Config) kasoku.Fix {
	left := min(*k.terms.Stale*4/5, *k.terms.Stale-k.made).Truncate(10 * time.Millisecond)
	if left < leastLeft {
		return kasoku.Fix{Text: "Make the answer faster first, or do not keep it", Where: "the handler of " + k.name(),
			Note: fmt.Sprintf("It takes %s to be made, of %s that it may be old.", unit.Duration(k.made),
				*k.terms.Stale),
			Risk: kasoku.RiskAppRestart}
	}
	f := kasoku.Fix{
		Text:  "Keep it for " + unit.Duration(left) + " and without grace",
		Where: "the end of the VCL, " + vcl.Name, Risk: kasoku.RiskSemantics,
		Note: "Varnish joins subroutines of one name in the order in which they stand, and the last assignment counts; after a " +
			"return in an earlier one it is not reached, and belongs in there. Without grace requests wait for the answer when " +
			"its time is over, one of them asks for it.",
	}
	if pattern, _, known := patternOf(k.e.Route); known {
		f.Lang = "vcl"
		f.Code = fmt.Sprintf("sub vcl_backend_response {\n    if (bereq.url ~ \"%s\") {\n        set beresp.ttl = %dms;\n"+
			"        set beresp.grace = 0s;\n    }\n}", strings.TrimSuffix(pattern, "$")+`(\?|$)`, left.Milliseconds())
	}
	return f
}
