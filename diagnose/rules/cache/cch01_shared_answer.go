package cache

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SharedAnswer is the rule CCH-01.
type SharedAnswer struct{}

// Thresholds of CCH-01.
const (
	answersAlike = 5
	slowAnswer   = 5 * time.Millisecond
	// quickAnswer is worth keeping for others where keeping it would save dearShare.
	quickAnswer = 4 * time.Millisecond
	// An answer is dear where its endpoint takes so much of the requests' time: then it is
	// worth keeping from fewer at once on.
	dearAnswer = 50 * time.Millisecond
	dearShare  = 0.05
	dearAlike  = 1.5
	// turns is how many answers may differ in size from the one before, for each that is new
	// in its second: more alternate within seconds, as where answers differ by who asks.
	turns = 1.2
	// overtaking is how long answers take that are logged in another order than they were made in: some tenths of
	// a second, in which what they show changes.
	overtaking = 200 * time.Millisecond
	// fewWho are different statements of a class, for each that a request runs, from which on they are by
	// who asks.
	fewWho = 5
	// mostlyKept is the part that a cache before the application has to have for the answers
	// that go by it: a longer time would keep few more.
	mostlyKept = 0.5
)

// ID returns CCH-01.
func (SharedAnswer) ID() string { return "CCH-01" }

// Doc describes the rule.
func (SharedAnswer) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that are the same for everyone and computed for each.`,
		Evidence: `of a GET that the upstream server answers, at least five answers in each second to one
			URI have one size on average, and they cost at least 5 ms each, or 4 ms where keeping them would
			save 5 % of the requests' time; or half as many again as there are different ones, where they cost
			at least 50 ms each and keeping them would save as much. What an answer costs is the time of the
			upstream server without what must have been a wait for CPU. The size stands for the content, which
			no log has.`,
		Cause: `the answer is made anew for each request, though it changes at most once a second.`,
		Fix: `keep it for as long as the contract allows, in nginx or in a cache in front; where MariaDB
			is asked for the same again and again, in its query cache. nginx's code keeps an answer for each
			Host, for the time that it says whatever age the application gives, and none that is private or
			sets a cookie.`,
		Silent: `when answers differ or come one at a time, when they are quick, or slow as they waited for
			CPU alone, for files, for what waits
			by design (MES-14) or is named as if it did, for what nginx passes to a Varnish that has half of
			these answers, where a statement of the endpoint writes or locks rows, where sizes alternate
			within a second (but those of answers of 200 ms and more that the contract allows to be old, which
			overtake one another, where what its requests look up is known, and is not who asks), where requests
			to one URI have statements with values that differ, as of who asks, and for what must be fresh by
			[contract]; blind without an access log that says what was passed on.`,
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
	kept := keptAnswersOf(c, endpoints)
	queued := evidence.QueuedOf(c, upstreamTime(endpoints))
	var left []string // what must not be kept, and why
	for i := range endpoints {
		e := &endpoints[i]
		counted = counted || e.Variants > 0
		if e.Method != "GET" || e.Variants == 0 || e.Codes[200] < webserver.FewWebRequests || !webserver.IsPassed(e) || webserver.IsStatic(e) {
			continue
		}
		alike := float64(e.Codes[200]) / float64(e.Variants)
		mean := e.Upstream / time.Duration(e.UpstreamCount)
		cost := time.Duration(queued.Part * float64(mean))
		n := worthKeeping(c, e, alike, cost)
		if n < 1 {
			if worthKeeping(c, e, alike, mean) >= 1 {
				left = append(left, fmt.Sprintf("%s took %s, of which %s need not be a wait for CPU: it was %s busy",
					webserver.EndpointName(e), unit.Duration(mean), unit.Duration(cost), unit.Percent(queued.Busy)))
			} else if n > near {
				near, name = n, fmt.Sprintf("%s has %s answers of one size to a URI in a second, %s each",
					webserver.EndpointName(e), unit.Sig3(alike), unit.Duration(mean))
			}
			continue
		}
		terms, _ := c.TermsOf(e.Method, e.Route)
		asks, judged := asksWho(c, e)
		switch {
		case terms.Stale != nil && *terms.Stale <= cost: // what waits for CPU is quick again when most are kept
			left = append(left, fmt.Sprintf("%s must be fresh: [contract] has stale = %s and an answer takes %s",
				webserver.EndpointName(e), *terms.Stale, unit.Duration(cost)))
		case terms.Stale == nil && (evidence.WaitsByDesign(c, endpoints, e) || evidence.NamedToWait(e.Route)):
			left = append(left, webserver.EndpointName(e)+" waits by design")
		case kept.of(e) >= mostlyKept:
			left = append(left, fmt.Sprintf("Varnish had %s of what came to it, %s too", unit.Percent(kept.part),
				webserver.EndpointName(e)))
		case changesRows(c, e):
			left = append(left, webserver.EndpointName(e)+" writes or locks rows for its answers")
		case asks != nil:
			left = append(left, webserver.EndpointName(e)+" has one URI and looks rows up by values that differ from "+
				"request to request, as where the answer depends on who asks: "+asks.Fingerprint)
		case float64(e.Varied) > turns*float64(e.Variants) && !(judged && overtakes(terms.Stale, mean)):
			left = append(left, alternates(e, judged))
		default:
			out = append(out, r.finding(c, e, alike, cost, terms.Stale))
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case !counted:
		return nil, diagnose.Blind(r.ID(), webserver.ErrNoSizes)
	case len(left) > 0:
		return nil, diagnose.Quiet(r.ID(), 0, "%s", strings.Join(left, "; "))
	case name != "":
		return nil, diagnose.Quiet(r.ID(), near, "%s; the thresholds are %d and %s", name, answersAlike,
			unit.Duration(slowAnswer))
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no GET that is passed on has many answers of one size in a second")
}

// worthKeeping returns 1 where an endpoint's answers, so many alike, are worth keeping when each costs so
// much; more above the thresholds, less below them.
func worthKeeping(c *diagnose.Case, e *kasoku.Endpoint, alike float64, cost time.Duration) float64 {
	saved := webserver.SavedTime(c, savedOf(e, alike), true).Share
	return max(min(alike/answersAlike, max(cost.Seconds()/slowAnswer.Seconds(),
		min(cost.Seconds()/quickAnswer.Seconds(), saved/dearShare))),
		min(alike/dearAlike, cost.Seconds()/dearAnswer.Seconds(), saved/dearShare))
}

// upstreamTime is how long the upstream server took for all that it answered.
func upstreamTime(endpoints []kasoku.Endpoint) (sum time.Duration) {
	for i := range endpoints {
		sum += endpoints[i].Upstream
	}
	return sum
}

func (r SharedAnswer) finding(c *diagnose.Case, e *kasoku.Endpoint, alike float64, cost time.Duration,
	stale *time.Duration) kasoku.Finding {
	mean := e.Upstream / time.Duration(e.UpstreamCount)
	impact := webserver.SavedTime(c, savedOf(e, alike), true)
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
			{Source: "access", Text: "time of the upstream server", Note: unit.Duration(mean) + " each",
				Value: unit.Duration(e.Upstream), Number: e.Upstream.Seconds(), Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("%s answered %s requests for %s; within a second %s of them for one URI had the same size. "+
			"Each took the application %s.",
			webserver.EndpointName(e), unit.Count(e.Codes[200]), unit.Counted(e.Paths, "URI", "URIs"),
			unit.Sig3(alike), unit.Duration(mean)),
		Fixes:  []kasoku.Fix{keepAnswer(c, e, stale, min(cost, mean))},
		Expect: fmt.Sprintf("one of %s such requests reaches the application", unit.Sig3(alike)),
		Verify: "repeat the load: this endpoint's mean falls to that of a hit", Interval: c.Whole(),
	}
	if fix, ok := advice.QueryCacheFix(c); ok {
		f.Fixes = append(f.Fixes, fix)
	}
	return f
}

// savedOf returns the time that the upstream server would not take.
func savedOf(e *kasoku.Endpoint, alike float64) time.Duration {
	return time.Duration(float64(e.Upstream) * (1 - 1/alike))
}

// changesRows reports whether a statement of an endpoint's writes or locks rows for most of
// its answers: these are not the same for the next one who asks.
func changesRows(c *diagnose.Case, e *kasoku.Endpoint) bool {
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb == "SELECT" && !wording.ContainsFold(q.Fingerprint, " for update") ||
			!slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE"}, q.Verb) {
			continue
		}
		for _, x := range c.Statements().CallersOf(q.ID) {
			if x.Method == e.Method && x.Route == e.Route && (x.PerRequest >= 0.5 || x.PerRequest == 0) {
				return true
			}
		}
	}
	return false
}

// asksWho returns a class of statements of an endpoint with one URI that each request runs, with many
// different values: what they are is not in the URI, and so in a cookie or a header. Without one, judged reports
// whether there is none: some statements are surely the endpoint's, and no other that may be has many values.
func asksWho(c *diagnose.Case, e *kasoku.Endpoint) (who *kasoku.Query, judged bool) {
	if e.Paths != 1 {
		return nil, false
	}
	surely, perhaps := false, false
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "SELECT" {
			continue
		}
		ranges := statements.OnlyRanges(q)
		for _, x := range c.Statements().CallersOf(q.ID) {
			if x.Method != e.Method || x.Route != e.Route {
				continue
			}
			sure := x.Class == kasoku.CallerConfirmed || x.Class == kasoku.CallerHigh
			if !ranges && sure && x.PerRequest >= 0.9 && float64(q.Distinct) >= fewWho*x.PerRequest {
				return q, true
			}
			surely = surely || sure
			perhaps = perhaps || !ranges && (q.Distinct == 0 || float64(q.Distinct) >= fewWho*max(x.PerRequest, 1))
		}
	}
	return nil, surely && !perhaps
}

// alternates says that an endpoint's answers differ in size from one to the next, and what is not known of why.
func alternates(e *kasoku.Endpoint, judged bool) string {
	text := webserver.EndpointName(e) + " has sizes that alternate within a second, as where answers differ by who asks"
	if !judged {
		text += "; whether its requests look that up is not known"
	}
	return text
}

// overtakes reports whether answers that the contract allows to be old take so long that the log has them in
// another order than that in which they were made: sizes alternate then, whoever asks.
func overtakes(stale *time.Duration, mean time.Duration) bool {
	return stale != nil && *stale > 0 && mean >= overtaking
}

// keepAnswer returns how to keep an answer for less than stale, the age that the contract
// allows, less what an answer takes; where stale is nil the fix asks for one.
func keepAnswer(c *diagnose.Case, e *kasoku.Endpoint, stale *time.Duration, takes time.Duration) kasoku.Fix {
	f := kasoku.Fix{Where: "nginx.conf, Varnish, or the handler", Risk: kasoku.RiskSemantics}
	place := ""
	const compare = "First compare the answers that two clients get; drop what is kept on initialize. " +
		"What comes with a cookie, Authorization or a body goes to the application as before: where each client has " +
		"a cookie, " +
		"name the one by which answers differ ($cookie_session instead of $http_cookie)."
	if stale == nil {
		f.Text = "May " + webserver.EndpointName(e) + " be 1 s old? If so, keep the answer for less than that"
		f.Code, place = nginxKeeps(c, e.Route, 1, "proxy_cache_use_stale updating;")
		f.Note = compare + " Where T seconds are allowed, keep it for less than T minus what an answer takes. " +
			"[contract] in kasoku.toml answers the question for the next run: stale = '1s', or '0s' where it must be fresh."
	} else {
		f.Text = fmt.Sprintf("Keep the answer for less than the %s that [contract] allows", *stale)
		f.Note = compare
		left := *stale - takes
		if seconds := int(left / time.Second); seconds >= 1 {
			f.Code, place = nginxKeeps(c, e.Route, seconds, "")
		} else {
			f.Where, f.Lang = "Varnish, or the handler: nginx knows whole seconds alone", "vcl"
			f.Code = varnishKeeps(e.Route, left)
		}
	}
	switch {
	case f.Code == "":
		f.Lang, f.Note = "", cacheWords(c, e.Route)+f.Note
	case f.Lang == "":
		f.Lang, f.Note = "nginx", f.Note+" "+headersNote
		if place != "" {
			f.Where = "nginx's " + place + ", Varnish, or the handler"
		}
	}
	return f
}

// patternOf returns a regular expression for the paths of a route; false where the route does
// not say which those are.
func patternOf(route string) (pattern string, literal, ok bool) {
	literal = true
	var parts []string
	for s := range strings.SplitSeq(route, "/") {
		switch {
		case strings.HasPrefix(s, ":") && !strings.ContainsAny(s[1:], ".:*{"):
			s, literal = "[^/]+", false
		case s != "" && !kasoku.IsPlainPath("/"+s):
			return "", false, false
		default:
			s = regexp.QuoteMeta(s)
		}
		parts = append(parts, s)
	}
	return "^" + strings.Join(parts, "/") + "$", literal, strings.HasPrefix(route, "/")
}

// passesAlone returns a location for the paths of a route alone, and what passes these on as the
// location does that answers now; nothing where that is not known. place names the server block
// that it belongs to, where there are others.
func passesAlone(c *diagnose.Case, route string) (context string, pass []string, place string) {
	w, err := webserver.ConfigOf(c.Recording)
	pattern, literal, known := patternOf(route)
	if err != nil || !known {
		return "", nil, ""
	}
	from, ok := w.LocationOf(route)
	pass = w.PassesAs(from)
	if !ok || from.Modifier == "=" || !literal && from.Modifier != "" {
		return "", nil, ""
	}
	context = "location = " + route
	if !literal {
		context = `location ~ "` + pattern + `"`
	}
	return context, pass, w.Place()
}

// nginxKeeps returns directives by which nginx keeps answers for so many seconds, in a
// location that passes on as the one does that answers now; empty where that is not known. place
// names the server block that they belong to, where there are others.
func nginxKeeps(c *diagnose.Case, route string, seconds int, more string) (code, place string) {
	context, pass, place := passesAlone(c, route)
	if len(pass) == 0 {
		return "", ""
	}
	pass = slices.DeleteFunc(pass, func(line string) bool { return strings.HasPrefix(line, "proxy_ignore_headers ") })
	lines := append(pass, "proxy_cache short;", "proxy_cache_key $scheme$host$request_uri;",
		fmt.Sprintf("proxy_cache_valid 200 %ds;", seconds),
		"proxy_ignore_headers Cache-Control Expires X-Accel-Expires;", "proxy_cache_lock on;",
		"proxy_cache_bypass $http_cookie $http_authorization $http_content_length;",
		"proxy_no_cache $http_cookie $http_authorization $http_content_length $short_refused;")
	if more != "" {
		lines = append(lines, more)
	}
	return webserver.Block("http", "proxy_cache_path "+CachePath+" keys_zone=short:1m max_size=64m;",
		webserver.Block("map $upstream_http_cache_control $short_refused", `default "";`,
			`"~*(private|no-store|no-cache)" 1;`)) + "\n" +
		webserver.Block("server", webserver.Block(context, lines...)), place
}

// headersNote is what the headers of an answer decide.
//
// Source: nginx, ngx_http_proxy_module, proxy_cache_valid: "Parameters of caching can also be
// set directly in the response header. This has higher priority".
const headersNote = "The time holds whatever max-age or Expires the application sends; what it calls private, " +
	"no-store or no-cache, and what sets a cookie, is not kept."

// cacheWords says what nginx's code would have, by what passes the requests of a route on.
func cacheWords(c *diagnose.Case, route string) string {
	prefix, others := "proxy_", " (fastcgi_ or uwsgi_ in place of proxy_ where that passes them on)"
	if w, err := webserver.ConfigOf(c.Recording); err == nil {
		if l, ok := w.Passing(route); ok {
			p, _ := w.PassOf(l)
			if prefix, others = p.Prefix(), ""; prefix == "grpc_" {
				return "nginx keeps no answers of gRPC. "
			}
		}
	}
	return fmt.Sprintf("nginx: %[1]scache_path, and in a location for this path alone %[1]scache, %[1]scache_key with "+
		"$scheme$host$request_uri, %[1]scache_valid, %[1]scache_lock on%[2]s. The answer's headers X-Accel-Expires, "+
		"Expires and Cache-Control go before %[1]scache_valid. ", prefix, others)
}

// CachePath is where nginx keeps answers for a short time: a directory in memory, that nginx
// makes as root, and its parent is there on each host with systemd.
const CachePath = "/run/nginx_short"

// varnishKeeps returns the VCL that keeps answers of a route; empty where the route does not
// say which paths those are.
func varnishKeeps(route string, left time.Duration) string {
	pattern, _, known := patternOf(route)
	if !known {
		return ""
	}
	pattern = strings.TrimSuffix(pattern, "$") + `(\?|$)`
	return fmt.Sprintf("sub vcl_backend_response {\n    if (bereq.url ~ \"%s\" && !bereq.http.Cookie && !bereq.http.Authorization && !beresp.http.Set-Cookie) {\n"+
		"        set beresp.ttl = %dms;\n        set beresp.grace = 0s;\n    }\n}", pattern, max(left.Milliseconds(), 1))
}
