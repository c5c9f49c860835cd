package cache

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/varnish"
)

// Passes is the rule CCH-02.
type Passes struct{}

// Thresholds of CCH-02.
const (
	passedShare = 0.9
	hitShare    = 0.05
	// passedByMethod is the part of the requests from which it is their method why they are
	// passed on.
	passedByMethod = 0.5
	// aboutAsMany is by how much what nginx passed on may differ from what came: the log and the
	// counters begin and end at moments of their own.
	aboutAsMany = 0.05
)

// ID returns CCH-02.
func (Passes) ID() string { return "CCH-02" }

// Doc describes the rule.
func (Passes) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a Varnish that asks the application each time.`,
		Evidence: `at least 90 % of the requests that Varnish took were passed on (s_pass), and less than
			5 % found their answer in it (cache_hit).`,
		Cause: `a request with a cookie, and an answer that sets one, is passed on and never kept unless
			the VCL says otherwise; each request then only takes a detour.`,
		Fix: `unset the cookie for what is the same for everyone, and say how long to keep.`,
		Silent: `when [contract] says of all routes that they must be fresh, when it hits, when less is
			passed on, when half of the requests are neither GET nor HEAD, and under 100 requests; blind
			without Varnish's counters.`,
	}
}

// Check sets what was passed against what came.
func (r Passes) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	var grown [3]diagnose.Grown
	for i, name := range []string{varnish.ClientRequests, varnish.Passes, varnish.CacheHits} {
		var err error
		if grown[i], err = whole.Counters().Grown(kasoku.Key{Source: varnish.Name, Name: name}); err != nil {
			return nil, diagnose.Blind(r.ID(), err)
		}
	}
	requests, passes, hits := grown[0], grown[1], grown[2]
	passed, hit := webserver.Ratio(passes.By, requests.By), webserver.Ratio(hits.By, requests.By)
	switch {
	case requests.By < webserver.FewWebRequests:
		return nil, diagnose.Quiet(r.ID(), requests.By/webserver.FewWebRequests,
			"%s requests came to Varnish; the threshold is %d", diagnose.Whole(requests.By), webserver.FewWebRequests)
	case passed < passedShare:
		return nil, diagnose.Quiet(r.ID(), passed/passedShare,
			"%s of the requests were passed on past the cache; the threshold is %s", unit.Percent(passed),
			unit.Percent(passedShare))
	case hit >= hitShare:
		return nil, diagnose.Quiet(r.ID(), hitShare/hit, "%s of the requests hit; the threshold is %s",
			unit.Percent(hit), unit.Percent(hitShare))
	}
	writes := countWrites(c, requests.By)
	if writes >= passedByMethod*requests.By {
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s requests that may have come to it are neither GET nor HEAD, "+
			"which Varnish passes on in any case, of %s", diagnose.Whole(writes), diagnose.Whole(requests.By))
	}
	may, fresh := keptRoutes(c)
	if len(fresh) > 0 && len(may) == 0 && len(fresh) == len(c.Contract()) {
		return nil, diagnose.Quiet(r.ID(), 0, "all routes of [contract] must be fresh: what goes through Varnish is "+
			"passed on rightly")
	}
	readsPassed := min(passed, 1-webserver.Ratio(writes, requests.By))
	vcl, text := "", ""
	if f := vclOf(c.Recording); f != nil {
		vcl, text = ", "+f.Name, strings.ToLower(f.Text)
	}
	cookie := diagnose.Signal{Holds: !strings.Contains(text, "unset req.http.cookie"),
		Lacks: "the VCL unsets a cookie somewhere"}
	if text == "" {
		cookie.Blind = "Varnish's VCL was not captured; kasoku.toml names it: capture.vcl"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "cache", Name: "varnish"},
		Title: "Varnish passes every request on and keeps nothing", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, cookie),
		Impact:     kasoku.Impact{Share: readsPassed * partOfAll(c, requests.By), Of: "of requests", Estimate: true},
		Cause: fmt.Sprintf("Varnish took %s requests, passed %s of them on and answered %s itself. By default it "+
			"passes on what has a cookie, or Authorization, and what is neither GET nor HEAD.",
			diagnose.Whole(requests.By), unit.Percent(passed), diagnose.Whole(hits.By)),
		Fixes: []kasoku.Fix{{
			Text: "Unset the cookie of requests whose answer is the same for everyone", Where: "the VCL" + vcl,
			Risk: kasoku.RiskSemantics,
			Note: "Only for paths that show no client anything of its own: unset the cookie of the request in vcl_recv " +
				"and that of the answer in vcl_backend_response, and set beresp.ttl there. Send no other paths through " +
				"Varnish. " + contractNote(may, fresh),
		}},
		Expect: "most requests hit, and the application is asked once in each ttl",
		Verify: "repeat the load: MAIN.cache_hit grows like MAIN.client_req", Interval: c.Whole(),
	}
	if code := sharedVCL(c); code != "" {
		f.Fixes[0].Lang, f.Fixes[0].Code = "vcl", code
	}
	for _, g := range []diagnose.Grown{requests, passes, hits} {
		f.Evidence = append(f.Evidence, whole.Quote().Counted(g, true))
	}
	return []kasoku.Finding{f}, nil
}

// countWrites returns how many requests with another method than GET and HEAD may have come to
// Varnish, of so many that came: those that nginx passes on to where it listens, or where about as many
// requests went. Where that is not known, those of the whole log.
func countWrites(c *diagnose.Case, came float64) (n float64) {
	var to passedOn
	if w, err := webserver.ConfigOf(c.Recording); err == nil && w.Undecided() == nil {
		to.web, to.all, to.writes = w, map[string]float64{}, map[string]float64{}
	}
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		write := e.Method != "GET" && e.Method != "HEAD"
		if write {
			n += float64(e.Count)
		}
		to.add(e, write)
	}
	if name := to.varnish(c, came); name != "" {
		return to.writes[name]
	}
	return n
}

// A passedOn counts the requests that nginx passes on, by where to.
type passedOn struct {
	web         *webserver.Config // nil where it is not known, also of one that is passed on
	all, writes map[string]float64
}

func (p *passedOn) add(e *kasoku.Endpoint, write bool) {
	if p.web == nil || !webserver.IsPassed(e) {
		return
	}
	l, ok := p.web.Passing(e.Route)
	if !ok {
		p.web = nil
		return
	}
	name := p.web.Passes(l)
	p.all[name] += float64(e.Count)
	if write {
		p.writes[name] += float64(e.Count)
	}
}

// varnish returns the one of several places to which nginx passes requests that is Varnish: it listens there, on
// nginx's host, or
// about so many requests were passed on to it. Varnish adds up its counters late, and requests that a client gave
// up are missing, so that the place itself counts more. Empty where neither is known.
func (p *passedOn) varnish(c *diagnose.Case, came float64) string {
	if p.web == nil || len(p.all) < 2 || c.Service == nil {
		return p.only(came)
	}
	var at []string
	for to := range p.all {
		ports := p.web.PortsOf(to)
		if len(ports) > 0 && slices.ContainsFunc(c.Service.Members, func(m kasoku.Member) bool {
			return m.Role == kasoku.RoleCache && (m.Host == p.web.Host || len(c.Run.Hosts) < 2) &&
				!slices.ContainsFunc(ports, func(port int) bool { return !listensAt(&m, port) })
		}) {
			at = append(at, to)
		}
	}
	if len(at) != 1 {
		return p.only(came)
	}
	return at[0]
}

// listensAt reports whether a member listens at a port of its host.
func listensAt(m *kasoku.Member, port int) bool {
	return slices.ContainsFunc(m.Listeners, func(l kasoku.Listener) bool { return l.Port() == port && !l.Private })
}

// only returns the one of several places to which about so many requests were passed on; empty
// where it is not known.
func (p *passedOn) only(came float64) (name string) {
	if p.web == nil || len(p.all) < 2 {
		return ""
	}
	for to, n := range p.all {
		if math.Abs(n-came) > aboutAsMany*came {
			continue
		}
		if name != "" {
			return ""
		}
		name = to
	}
	return name
}

// keptAnswers are those of one place to which nginx passes requests, and which keeps answers.
type keptAnswers struct {
	web  *webserver.Config
	to   string  // where nginx passes them; empty where none is known to keep answers
	part float64 // of the requests that came there, which found their answer
}

// keptAnswersOf returns what a Varnish between nginx and the application keeps: it listens where nginx passes
// requests to, or about as many requests came to it as nginx passes to one place.
func keptAnswersOf(c *diagnose.Case, endpoints []kasoku.Endpoint) keptAnswers {
	came, hits, err := lookedUp(c)
	web, conf := webserver.ConfigOf(c.Recording)
	if err != nil || conf != nil || web.Undecided() != nil || came < 1 {
		return keptAnswers{}
	}
	to := passedOn{web: web, all: map[string]float64{}, writes: map[string]float64{}}
	for i := range endpoints {
		to.add(&endpoints[i], false)
	}
	return keptAnswers{web: web, to: to.varnish(c, came), part: min(webserver.Ratio(hits, came), 1)}
}

// lookedUp returns how many requests came to Varnish, and how many of them found their answer.
// Varnish counts a request that waits for another one's answer when it comes and when it goes on
// (client_req), but once among hits, misses and passes.
func lookedUp(c *diagnose.Case) (came, hits float64, err error) {
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	var grown [4]float64
	for i, name := range []string{varnish.ClientRequests, varnish.CacheHits, varnish.Passes, varnish.CacheMisses} {
		g, err := whole.Counters().Grown(kasoku.Key{Source: varnish.Name, Name: name})
		if err != nil {
			return 0, 0, err
		}
		grown[i] = g.By
	}
	return min(grown[0], grown[1]+grown[2]+grown[3]), grown[1], nil
}

// of returns the part of an endpoint's answers that is kept.
func (k keptAnswers) of(e *kasoku.Endpoint) float64 {
	if !k.comesBy(e) {
		return 0
	}
	return k.part
}

// comesBy reports whether an endpoint is known to be passed to the place that keeps answers.
func (k keptAnswers) comesBy(e *kasoku.Endpoint) bool {
	if k.to == "" {
		return false
	}
	l, ok := k.web.Passing(e.Route)
	return ok && k.web.Passes(l) == k.to
}

// partOfAll returns the part of all requests that so many are; 1 when nothing else
// counted them.
func partOfAll(c *diagnose.Case, requests float64) float64 {
	all, err := c.Requests(c.Whole())
	if err != nil || float64(all.Count) <= requests {
		return 1
	}
	return requests / float64(all.Count)
}

// vclOf returns the captured VCL of Varnish; nil without one.
func vclOf(rec *kasoku.Recording) *kasoku.Config {
	i := slices.IndexFunc(rec.Configs, func(f kasoku.Config) bool { return f.Kind == capture.KindVCL })
	if i < 0 {
		return nil
	}
	return &rec.Configs[i]
}

// keptRoutes returns the routes of the contract whose answers may be kept, and those
// whose answers must be fresh.
func keptRoutes(c *diagnose.Case) (may, fresh []string) {
	for _, t := range c.Contract() {
		switch {
		case t.Stale == nil:
		case *t.Stale > 0:
			may = append(may, fmt.Sprintf("%s (%s)", t.Route, *t.Stale))
		default:
			fresh = append(fresh, t.Route)
		}
	}
	return may, fresh
}

// contractNote names what may be kept, or asks.
func contractNote(may, fresh []string) string {
	var parts []string
	if len(may) > 0 {
		parts = append(parts, "By [contract] these may be so old, ttl and grace together: "+strings.Join(may, ", ")+".")
	} else {
		parts = append(parts, "Which of them may be 1 s old? [contract] in kasoku.toml can say so.")
	}
	if len(fresh) > 0 {
		parts = append(parts, "These must be fresh: "+strings.Join(fresh, ", ")+".")
	}
	return strings.Join(parts, " ")
}

// sharedVCL keeps what [contract] allows to be old, each route for its age less a fifth for
// the answer that is on its way; empty without such a route.
func sharedVCL(c *diagnose.Case) string {
	var recv, response []string
	for _, t := range c.Contract() {
		method, route, ok := strings.Cut(t.Route, " ")
		if !ok {
			method, route = "GET", t.Route
		}
		pattern, _, known := patternOf(anySegment(route))
		if t.Stale == nil || *t.Stale <= 0 || !known || method != "GET" {
			continue
		}
		pattern = strings.TrimSuffix(pattern, "$") + `(\?|$)`
		recv = append(recv, fmt.Sprintf("    if (req.method == \"GET\" && req.url ~ \"%s\" && !req.http.Authorization) {\n        unset req.http.Cookie;\n    }\n", pattern))
		response = append(response, fmt.Sprintf("    if (bereq.url ~ \"%s\" && !bereq.http.Authorization) {\n        unset beresp.http.Set-Cookie;\n"+
			"        set beresp.ttl = %dms;\n        set beresp.grace = 0s;\n    }\n", pattern, max((*t.Stale*4/5).Milliseconds(), 1)))
	}
	if len(recv) == 0 {
		return ""
	}
	return "sub vcl_recv {\n" + strings.Join(recv, "") + "}\nsub vcl_backend_response {\n" + strings.Join(response, "") + "}"
}

// anySegment writes the segments of a contract's route that stand for any one as routes have
// them.
func anySegment(route string) string {
	parts := strings.Split(route, "/")
	for i, p := range parts {
		if p == "*" || strings.HasPrefix(p, "{") && strings.HasSuffix(p, "}") {
			parts[i] = ":id"
		}
	}
	return strings.Join(parts, "/")
}
