package cache

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
)

// SharedAnswer is the rule CCH-01.
type SharedAnswer struct{}

// Thresholds of CCH-01.
const (
	answersAlike = 5
	slowAnswer   = 5 * time.Millisecond
)

// ID returns CCH-01.
func (SharedAnswer) ID() string { return "CCH-01" }

// Doc describes the rule.
func (SharedAnswer) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that are the same for everyone and computed for each.`,
		Evidence: `of a GET that the upstream server answers, at least five answers in each second to one
			URI have one size on average, and they take at least 5 ms each. The size stands for the content,
			which no log has.`,
		Cause: `the answer is made anew for each request, though it changes at most once a second.`,
		Fix: `keep it for as long as the contract allows, in nginx or in a cache in front; where MariaDB
			is asked for the same again and again, in its query cache.`,
		Silent: `when answers differ or come one at a time, when they are quick, and for files; blind
			without an access log that says what was passed on.`,
	}
}

// Check looks for answers that could be kept for a second.
func (r SharedAnswer) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	endpoints, _, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	near, name, counted := 0.0, "", false
	for i := range endpoints {
		e := &endpoints[i]
		counted = counted || e.Variants > 0
		if e.Method != "GET" || e.Variants == 0 || e.Codes[200] < webserver.FewWebRequests || !webserver.IsPassed(e) || webserver.IsStatic(e) {
			continue
		}
		alike := float64(e.Codes[200]) / float64(e.Variants)
		mean := e.Upstream / time.Duration(e.UpstreamCount)
		if n := min(alike/answersAlike, mean.Seconds()/slowAnswer.Seconds()); n < 1 {
			if n > near {
				near, name = n, fmt.Sprintf("%s has %s answers of one size to a URI in a second, %s each",
					webserver.EndpointName(e), unit.Sig3(alike), unit.Duration(mean))
			}
			continue
		}
		out = append(out, r.finding(c, e, alike, mean))
	}
	switch {
	case len(out) > 0:
		return out, nil
	case !counted:
		return nil, diagnose.Blind(r.ID(), webserver.ErrNoSizes)
	case name != "":
		return nil, diagnose.Quiet(r.ID(), near, "%s; the thresholds are %d and %s", name, answersAlike,
			unit.Duration(slowAnswer))
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no GET that is passed on has many answers of one size in a second")
}

func (r SharedAnswer) finding(c *diagnose.Case, e *kasoku.Endpoint, alike float64, mean time.Duration) kasoku.Finding {
	saved := time.Duration(float64(e.Upstream) * (1 - 1/alike))
	impact := webserver.SavedTime(c, saved, true)
	rarely := webserver.Ratio(float64(e.Varied), float64(e.Codes[200]))
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(e)},
		Title:    "The same answer is computed for each request",
		Severity: evidence.SeverityOf(impact.Share), Impact: impact,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: rarely < 0.5, Lacks: "sizes alternate between requests"},
			diagnose.Signal{Blind: "contents were not compared, only their sizes"}),
		Evidence: []kasoku.Evidence{webserver.RequestCount(c, e),
			{Source: "access", Text: "answers of one size to one URI within a second", Note: "mean",
				Value: unit.Sig3(alike), Number: alike, Strong: true, Interval: c.Whole()},
			{Source: "access", Text: "time of the server behind", Note: unit.Duration(mean) + " each",
				Value: unit.Duration(e.Upstream), Number: e.Upstream.Seconds(), Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("%s answered %s requests for %s URIs; within a second %s of them for one URI had the same size. Each took the application %s.",
			webserver.EndpointName(e), unit.Count(e.Codes[200]), unit.Count(e.Paths), unit.Sig3(alike), unit.Duration(mean)),
		Fixes: []kasoku.Fix{{
			Text:  "Keep the answer for as long as it may be old, at most a second less its latency",
			Where: "nginx.conf, Varnish, or the handler", Risk: kasoku.RiskSemantics, Lang: "nginx",
			Code: "proxy_cache_path /var/cache/nginx/short keys_zone=short:1m;\nproxy_cache short;\nproxy_cache_valid 200 1s;\nproxy_cache_lock on;\nproxy_cache_use_stale updating;",
			Note: "First compare the answers that two clients get. Where the contract allows T seconds, keep it for less than T minus what an answer takes; drop it on initialize.",
		}},
		Expect: fmt.Sprintf("one of %s such requests reaches the application", unit.Sig3(alike)),
		Verify: "repeat the load: this endpoint's mean falls to that of a hit", Interval: c.Whole(),
	}
	if fix, ok := advice.QueryCacheFix(c); ok {
		f.Fixes = append(f.Fixes, fix)
	}
	return f
}
