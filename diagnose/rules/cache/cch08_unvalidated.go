package cache

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/unit"
)

// Unvalidated is the rule CCH-08.
type Unvalidated struct{}

// Thresholds of CCH-08.
const (
	fewAgain   = 50
	againShare = 0.02
)

// ID returns CCH-08.
func (Unvalidated) ID() string { return "CCH-08" }

// Doc describes the rule.
func (Unvalidated) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers that clients fetch again although they have them.`,
		Evidence: `at least 50 answers 200 to a GET that the upstream server gives had the size that the same
			client (address and user agent) had got for the same URI before, and are 2 % of all bytes sent.
			Only clients count that were answered 304 elsewhere before, no answer of the endpoint was 304,
			and the golden answers, asked at the end of the run, came without ETag, Last-Modified,
			Cache-Control and Expires.`,
		Cause: `a client that has neither an age nor a validator of an answer must fetch all of it again.`,
		Fix: `send an ETag or Last-Modified and answer 304, in the application; where the contract allows an age,
			have nginx send it. It is a remark: what a 304 spares are the bytes, and the size stands for
			the content, which no log has.`,
		Silent: `where no client is seen to ask on condition, as load generators without a cache; where the
			endpoint answers 304 at times, or must be fresh by [contract]; where nginx's configuration sets
			such headers; blind without an access log with addresses, user agents and sizes, and where no
			golden answer of the endpoint was asked ([answers] in kasoku.toml).`,
	}
}

// Check looks for answers that are fetched again.
func (r Unvalidated) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	endpoints, _, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var sent uint64
	for i := range endpoints {
		sent += endpoints[i].Bytes
	}
	var out []kasoku.Finding
	near, least := 0.0, "no client that asks on condition elsewhere fetched an answer again that it had"
	var unasked, left []string
	answers, _ := c.ComparedAnswers()
	for _, again := range c.FetchedAgain(endpoints[0].Host) {
		i := slices.IndexFunc(endpoints, func(e kasoku.Endpoint) bool {
			return e.Method == again.Method && e.Route == again.Route
		})
		if i < 0 || !webserver.IsPassed(&endpoints[i]) {
			continue
		}
		e := &endpoints[i]
		name, part := webserver.EndpointName(e), webserver.Ratio(float64(again.Bytes), float64(sent))
		if n := min(float64(again.Requests)/fewAgain, part/againShare); n < 1 {
			if n > near {
				near, least = n, fmt.Sprintf("clients fetched %s again %s times, %s of all bytes; the thresholds are %d and %s",
					name, unit.Count(again.Requests), unit.Percent(part), fewAgain, unit.Percent(againShare))
			}
			continue
		}
		host, asked := answers.Bare[name]
		terms, _ := c.TermsOf(e.Method, e.Route)
		switch {
		case e.Codes[304] > 0:
			left = append(left, name+" answers 304 at times: it has validators")
		case terms.Stale != nil && *terms.Stale == 0:
			left = append(left, name+" must be fresh by [contract]")
		case !asked:
			unasked = append(unasked, name)
		case host == "":
			left = append(left, name+" was answered with a validator or an age, or not with 200")
		case !isFront(c, host):
			left = append(left, fmt.Sprintf("%s was asked at %s, which is not where the web server listens", name, host))
		case setsHeaders(c, e.Route):
			left = append(left, "nginx's configuration sets Cache-Control, Expires or a validator for "+name)
		default:
			out = append(out, r.finding(c, e, again, part, host, terms.Stale))
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(unasked) > 0:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("clients fetch %s again, and no golden answer says whether it has "+
			"a validator: [answers] file in kasoku.toml", wording.List(unasked, 3)))
	case len(left) > 0:
		return nil, diagnose.Quiet(r.ID(), 0, "%s", strings.Join(left, "; "))
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", least)
}

// isFront reports whether an address is one of the service's web server, as far as that is known.
func isFront(c *diagnose.Case, address string) bool {
	webs := c.Service.Of(kasoku.RoleWeb)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		port = "80"
	}
	return len(webs) == 0 || slices.ContainsFunc(webs, func(m *kasoku.Member) bool {
		return slices.ContainsFunc(m.Listeners, func(l kasoku.Listener) bool { return strconv.Itoa(l.Port()) == port })
	})
}

// setsHeaders reports whether nginx adds to the answers of a route what clients keep them by.
func setsHeaders(c *diagnose.Case, route string) bool {
	w, err := webserver.ConfigOf(c.Recording)
	if err != nil {
		return false
	}
	l, ok := w.Passing(route)
	keeps := []string{"etag", "last-modified", "cache-control", "expires"}
	return ok && (len(w.InForce(l.At, "expires")) > 0 ||
		slices.ContainsFunc(w.InForce(l.At, "add_header"), func(d nginxconf.Directive) bool {
			return len(d.Words) > 1 && slices.Contains(keeps, strings.ToLower(d.Words[1]))
		}))
}

func (r Unvalidated) finding(c *diagnose.Case, e *kasoku.Endpoint, again kasoku.FetchedAgain, part float64, host string,
	stale *time.Duration) kasoku.Finding {
	name, took := webserver.EndpointName(e), c.Statements().ShareOf(again.Time)
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Info, Interval: c.Whole(),
		Title: wording.Cut("Clients fetch "+name+" again although they have it", wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "contents were not compared, only their sizes"}),
		Evidence: []kasoku.Evidence{webserver.RequestCount(c, e),
			{Source: "access", Text: "answers 200 of the size that the same client had", Value: unit.Count(again.Requests),
				Note:   "by clients that were answered 304 elsewhere; at least",
				Number: float64(again.Requests), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: "their part of all bytes sent", Value: unit.Percent(part), Number: part,
				Note: unit.Bytes(again.Bytes), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: "their part of the requests' time", Value: unit.Percent(took), Number: took,
				Interval: c.Whole()},
			{Source: "answers", Text: name + ": ETag, Last-Modified, Cache-Control, Expires", Value: "none",
				Note: "asked at " + host, Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("The answers of %s have neither an age nor a validator, so that clients which keep answers, "+
			"and ask on condition elsewhere, fetched %s of %s again.", name, unit.Count(again.Requests), unit.Count(e.Codes[200])),
		Fixes:  []kasoku.Fix{lettingKeep(c, e, stale)},
		Expect: "304 without a body, or no request at all while the answer is young enough",
		Verify: "repeat the load: this endpoint has answers 304, or fewer requests",
	}
}

// validates is what answers 304 in the application, by library, server and language.
var validates = map[string]string{
	language.Go:      "In Go: set ETag (or a time of change) and answer by http.ServeContent.",
	language.Rails:   "In Rails: stale? or fresh_when in the action.",
	language.Puma:    "Of Rack: Rack::ConditionalGet before Rack::ETag.",
	language.Unicorn: "Of Rack: Rack::ConditionalGet before Rack::ETag.",
	language.Django:  "In Django: django.middleware.http.ConditionalGetMiddleware.",
	language.Flask:   "In Flask: response.add_etag() and response.make_conditional(request).",
	language.PHP:     "In PHP: compare $_SERVER['HTTP_IF_NONE_MATCH'] with the ETag, and send 304.",
	language.Laravel: "In Laravel: setEtag() and isNotModified($request) of the response.",
	language.Symfony: "In Symfony: setEtag() and isNotModified($request) of the response.",
	language.Express: "In Express: app.set('etag', 'weak') and res.send.",
	language.Fastify: "In Fastify: @fastify/etag.",
	language.Spring:  "In Spring: ShallowEtagHeaderFilter, or WebRequest.checkNotModified.",
	language.Unknown: "Compare If-None-Match with the ETag where the request is answered, or in a layer before it.",
}

// lettingKeep returns how clients get an age, where the contract allows one, else a validator.
func lettingKeep(c *diagnose.Case, e *kasoku.Endpoint, stale *time.Duration) kasoku.Fix {
	const spares = " What is computed for an ETag is computed all the same: the bytes are spared. A time or number of " +
		"change that the database has spares both."
	f := kasoku.Fix{Text: "Send an ETag or Last-Modified, and answer 304 to If-None-Match and If-Modified-Since",
		Where: "the handler of " + webserver.EndpointName(e), Risk: kasoku.RiskAppRestart,
		Note: language.Pick(c, validates) + spares}
	if stale == nil {
		f.Note += " May " + webserver.EndpointName(e) + " be some seconds old? stale in [contract] of kasoku.toml says so, " +
			"and nginx can then send that age."
		return f
	}
	seconds := int(*stale / time.Second)
	context, lines, place := passesAlone(c, e.Route)
	if seconds < 1 || len(lines) == 0 {
		return f
	}
	w, _ := webserver.ConfigOf(c.Recording)
	from, _ := w.LocationOf(e.Route)
	if len(w.In(from.At, "add_header")) == 0 { // one of its own takes the place of all around it
		lines = append(lines, webserver.Lines(w.InForce(from.At, "add_header"))...)
	}
	lines = append(lines, fmt.Sprintf("add_header Cache-Control \"private, max-age=%d\";", seconds))
	f = kasoku.Fix{Text: fmt.Sprintf("Let clients keep the answer for the %s that [contract] allows", *stale),
		Risk: kasoku.RiskSemantics, Where: "nginx.conf, then nginx -s reload", Lang: "nginx",
		Code: webserver.Block("server", webserver.Block(context, lines...)),
		Note: "Who logs out, or in as another, still sees the answer that the browser has. After that time: " + f.Text +
			". " + f.Note}
	if place != "" {
		f.Where = "nginx's " + place + ", then nginx -s reload"
	}
	return f
}
