package web

import (
	"fmt"
	"slices"

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

// botPattern are the words by which the access log knows bots; phones named Cubot
// are none.
const botPattern = `((?<!cu)bots?([^a-z]|$)|crawl|spider|slurp|archiver|facebookexternalhit|mediapartners-|bingpreview|feedfetcher|scanner|httrack)`

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
		Fix: `answer them with 503 in nginx, where what is served allows it: a contest's manual may, a
			public page wants to be found.`,
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
	part := webserver.Ratio(float64(sum.BotsPassed), float64(requests))
	near := min(part/botShare, float64(sum.BotsPassed)/fewBots)
	switch {
	case sum.Bots == 0:
		return nil, diagnose.Quiet(r.ID(), 0,
			"no request has a user agent that calls itself a bot, or the access log does not tell it")
	case sum.BotsPassed < fewBots || part < botShare:
		return nil, diagnose.Quiet(r.ID(), near,
			"%s of %s requests of bots were passed on, %s of all; the threshold is %s and %d requests",
			unit.Count(sum.BotsPassed), unit.Count(sum.Bots), unit.Percent(part), unit.Percent(botShare), fewBots)
	}
	return []kasoku.Finding{r.finding(c, endpoints, sum, requests)}, nil
}

func (r BotsServed) finding(c *diagnose.Case, endpoints []kasoku.Endpoint, sum kasoku.Endpoint,
	requests uint64) kasoku.Finding {
	impact := webserver.SavedTime(c, sum.BotsUpstream, false)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "user agents", Name: "bots"},
		Title:    "Bots are answered by the application",
		Severity: evidence.SeverityOf(max(impact.Share, webserver.Ratio(float64(sum.BotsPassed), float64(requests)))), Impact: impact,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: "requests of bots that were passed on", Note: "of " + unit.Count(requests),
				Value:  unit.Count(sum.BotsPassed),
				Number: float64(sum.BotsPassed), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: "time of the server behind for them", Value: unit.Duration(sum.BotsUpstream),
				Number: sum.BotsUpstream.Seconds(), Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("%s of %s requests, %s, came from bots and were answered by the application, which took %s for them.",
			unit.Count(sum.BotsPassed), unit.Count(requests),
			unit.Percent(webserver.Ratio(float64(sum.BotsPassed), float64(requests))), unit.Duration(sum.BotsUpstream)),
		Expect: "the application is not asked by bots",
		Verify: "repeat the load: requests of bots have no upstream time and 503", Interval: c.Whole(),
	}
	byBots := slices.Clone(endpoints)
	slices.SortStableFunc(byBots, func(a, b kasoku.Endpoint) int { return int(b.BotsPassed) - int(a.BotsPassed) })
	for i := range byBots[:min(len(byBots), 3)] {
		if e := &byBots[i]; e.BotsPassed > 0 {
			f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "access", Text: "bots at " + webserver.EndpointName(e),
				Value: unit.Count(e.BotsPassed), Number: float64(e.BotsPassed), Interval: c.Whole()})
		}
	}
	risk, note := kasoku.RiskSemantics, "This changes answers. Do it only where it is allowed: a contest's manual may say that bots get 503; a public page wants to be found by some of them."
	if v, ok := c.Setting("app", "contract.bots"); ok && v == "503" {
		risk, note = kasoku.RiskNone, "The setting contract.bots says that bots may get 503."
	}
	f.Fixes = []kasoku.Fix{webserver.Fix("Answer bots with 503 in nginx", note, risk,
		webserver.Edit("http", "map $http_user_agent $from_bot {\n    default 0;\n    \"~*"+botPattern+"\" 1;\n}"),
		webserver.Edit("server", "if ($from_bot) {\n    return 503;\n}"))}
	return f
}
