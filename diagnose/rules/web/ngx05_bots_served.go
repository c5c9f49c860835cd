package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
)

// BotsServed is the rule NGX-05.
type BotsServed struct{}

// Thresholds of NGX-05.
const (
	botShare = 0.01
	fewBots  = 50
)

// ID returns NGX-05.
func (BotsServed) ID() string { return "NGX-05" }

// Doc describes the rule.
func (BotsServed) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds bots that the application answers.`,
		Evidence: `at least 1 % of the requests, at least 50, have a user agent that calls itself a bot, a
			crawler or a spider, and were answered by the server that nginx passes to.`,
		Cause: `bots look at pages that no one reads, each of which costs the application and the database
			as much as one that is read.`,
		Fix: `answer those with 503 in nginx whose products the log names, where what is served allows it: a
			contest's manual may. Search engines and previews of links, which bring visitors, are a fix of
			their own; what watches, pays or reads feeds is let pass.`,
		Silent: `when few requests come from bots or none of them is passed on; blind without an access
			log that says which requests were passed on.`,
	}
}

// Check looks for requests of bots that were passed on.
func (r BotsServed) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	endpoints, requests, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var sum kasoku.Endpoint
	for i := range endpoints {
		sum.Bots += endpoints[i].Bots
		sum.BotsPassed += endpoints[i].BotsPassed
		sum.BotsUpstream += endpoints[i].BotsUpstream
	}
	known := sortBots(c.NamedBots(endpoints[0].Host))
	sum.BotsPassed -= min(known.passed(botWelcome), sum.BotsPassed)
	part := webserver.Ratio(float64(sum.BotsPassed), float64(requests))
	near := min(part/botShare, float64(sum.BotsPassed)/fewBots)
	switch {
	case sum.Bots == 0:
		return nil, diagnose.Quiet(r.ID(), 0,
			"no request has a user agent that calls itself a bot, or the access log does not report it")
	case sum.BotsPassed < fewBots || part < botShare:
		return nil, diagnose.Quiet(r.ID(), near,
			"%s of %s requests of bots were passed on%s, %s of all; the threshold is %s and %d requests%s",
			unit.Count(sum.BotsPassed), unit.Count(sum.Bots), known.without(), unit.Percent(part), unit.Percent(botShare), fewBots,
			refusedText(endpoints))
	}
	return []kasoku.Finding{r.finding(c, endpoints, sum, requests, known)}, nil
}

func (r BotsServed) finding(c *diagnose.Case, endpoints []kasoku.Endpoint, sum kasoku.Endpoint,
	requests uint64, known botLists) kasoku.Finding {
	impact := webserver.SavedTime(c, sum.BotsUpstream, false)
	if blocked, of := known.passed(botOther), sum.BotsPassed+known.passed(botWelcome); blocked > 0 && blocked < of {
		saved := time.Duration(float64(sum.BotsUpstream) * webserver.Ratio(float64(blocked), float64(of)))
		impact = webserver.SavedTime(c, saved, true)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "user agents", Name: "bots"},
		Title:    "Bots are answered by the application",
		Severity: evidence.SeverityOf(max(impact.Share, webserver.Ratio(float64(sum.BotsPassed), float64(requests)))), Impact: impact,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: "requests of bots that were passed on", Note: "of " + unit.Count(requests),
				Value:  unit.Count(sum.BotsPassed),
				Number: float64(sum.BotsPassed), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: "time of the upstream server for all bots", Value: unit.Duration(sum.BotsUpstream),
				Number: sum.BotsUpstream.Seconds(), Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("%s of %s requests, %s, came from bots and were answered by the application, which took %s "+
			"for all bots that it answered.",
			unit.Count(sum.BotsPassed), unit.Count(requests),
			unit.Percent(webserver.Ratio(float64(sum.BotsPassed), float64(requests))), unit.Duration(sum.BotsUpstream)),
		Expect: "the application is not asked by the bots that the fix names",
		Verify: "repeat the load: their requests have no upstream time and 503, and NGX-05 counts them", Interval: c.Whole(),
	}
	byBots := slices.Clone(endpoints)
	slices.SortStableFunc(byBots, func(a, b kasoku.Endpoint) int { return int(b.BotsPassed) - int(a.BotsPassed) })
	for i := range byBots[:min(len(byBots), 3)] {
		if e := &byBots[i]; e.BotsPassed > 0 {
			f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "access", Text: "bots at " + webserver.EndpointName(e),
				Value: unit.Count(e.BotsPassed), Number: float64(e.BotsPassed), Interval: c.Whole()})
		}
	}
	risk, note := kasoku.RiskSemantics, "This changes answers. Do it only where it is allowed: a contest's manual "+
		"may say that bots get 503; a public page wants to be found by some of them."
	if v, ok := c.Setting("app", "contract.bots"); ok && v == "503" {
		risk, note = kasoku.RiskNone, "The setting contract.bots says that bots may get 503."
	} else if dear := dearToBots(c, endpoints); len(dear) > 0 {
		note += " [contract] says what a failure costs at " + strings.Join(dear, ", ") + ": does that hold for bots?"
	} else {
		note += " May bots get 503 here? bots = '503' in [contract] of kasoku.toml says so."
	}
	f.Evidence = append(f.Evidence, known.evidence(c, sum, requests)...)
	if text := refusedText(endpoints); text != "" {
		f.Cause = strings.TrimSuffix(f.Cause, ".") + text + "."
	}
	f.Fixes = known.fixes(note, risk)
	return f
}

// dearToBots returns the endpoints that bots ask and whose failure costs something by the
// contract, with what.
func dearToBots(c *diagnose.Case, endpoints []kasoku.Endpoint) (out []string) {
	for i := range endpoints {
		e := &endpoints[i]
		if terms, _ := c.TermsOf(e.Method, e.Route); e.BotsPassed > 0 && terms.Failure != "" {
			out = append(out, fmt.Sprintf("%s (%s)", webserver.EndpointName(e), terms.Failure))
		}
	}
	return out
}
