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
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
)

// UpstreamKeepalive is the rule NGX-01.
type UpstreamKeepalive struct{}

// Thresholds of NGX-01.
const (
	// opensPerRequest is near one: each request of a proxy without keepalive opens one.
	opensPerRequest = 0.9
	// openingCost is an estimate of what opening, accepting and closing a connection of
	// the loopback takes on both sides: some ten system calls and two wake-ups.
	openingCost = 150 * time.Microsecond
	// keptConnections is how many idle ones a worker keeps: as many as there are
	// requests at once in all but the largest services.
	keptConnections = 64
)

// ID returns NGX-01.
func (UpstreamKeepalive) ID() string { return "NGX-01" }

// Doc describes the rule.
func (UpstreamKeepalive) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an nginx that opens a connection to the application for each request.`,
		Evidence: `in nginx's configuration a proxy_pass leads to a server without an upstream that has
			keepalive, or HTTP/1.1 or the empty header Connection is missing; and 90 % of the requests that
			were passed on opened a connection, by the host's counter of connections opened or by
			$upstream_connect_time.`,
		Cause: `nginx speaks HTTP/1.0 to the upstream server and closes the connection after each answer
			unless configured otherwise; each request pays for opening one.`,
		Fix: `an upstream with keepalive, proxy_http_version 1.1 and an empty Connection.`,
		Silent: `when connections are kept, when fewer are opened, and under 100 requests; blind without
			nginx's configuration or without a count of connections.`,
	}
}

// A proxied is a location that passes requests on over connections that are closed.
type proxied struct {
	location webserver.Location
	pass     string // proxy_pass
	upstream string // its upstream block; empty when it names a server
	lacks    []string
}

// Check looks for connections that nginx does not keep.
func (r UpstreamKeepalive) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	w, err := webserver.ConfigOf(c.Recording)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if err := w.Undecided(); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	lacking, passing := lackingKeepalive(w)
	if passing == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "nginx passes no requests on")
	}
	endpoints, requests, passed, err := webserver.FrontEndpoints(c)
	if passed == 0 {
		passed = requests
	}
	if n := passedBy(w, lacking, endpoints); n > 0 {
		passed = n
	}
	if passed == 0 {
		return nil, diagnose.Blind(r.ID(), err)
	}
	opened, rate, err := openedConnections(c, webserver.Ratio(float64(passed), float64(requests)), passed)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	near := min(rate/opensPerRequest, float64(passed)/webserver.FewWebRequests)
	switch {
	case len(lacking) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "nginx keeps its connections to the upstream servers")
	case passed < webserver.FewWebRequests:
		return nil, diagnose.Quiet(r.ID(), near, "%s requests were passed on; the threshold is %d", unit.Count(passed),
			webserver.FewWebRequests)
	case rate < opensPerRequest:
		return nil, diagnose.Quiet(r.ID(), near,
			"%s connections were opened for each request that was passed on; the threshold is %s", unit.Sig3(rate),
			unit.Plain(opensPerRequest))
	}
	return []kasoku.Finding{r.finding(c, w, lacking, opened, passed, rate)}, nil
}

// lackingKeepalive returns the locations that pass requests on over connections that
// are closed after each, and how many pass some on.
func lackingKeepalive(w *webserver.Config) (out []proxied, passing int) {
	for _, l := range w.Locations {
		pass := w.Passes(l)
		_, host, ok := strings.Cut(pass, "://")
		if !ok || strings.Contains(host, "$") {
			continue // where a variable leads is not known
		}
		passing++
		host, _, _ = strings.Cut(host, "/")
		p := proxied{location: l, pass: pass}
		if up := w.Upstream(host); up >= 0 {
			p.upstream = host
			if len(w.In(up, "keepalive")) == 0 {
				p.lacks = append(p.lacks, "keepalive in upstream "+host)
			}
		} else {
			p.lacks = append(p.lacks, "an upstream with keepalive")
		}
		if v := w.Value(l.At, "proxy_http_version"); v != "1.1" && v != "2" {
			p.lacks = append(p.lacks, "proxy_http_version 1.1")
		}
		if !clearsConnection(w, l) {
			p.lacks = append(p.lacks, `proxy_set_header Connection ""`)
		}
		if len(p.lacks) > 0 {
			out = append(out, p)
		}
	}
	return out, passing
}

// passedBy returns how many requests went to upstream servers through these locations;
// others may keep their connections. 0 when the log does not say.
func passedBy(w *webserver.Config, locations []proxied, endpoints []kasoku.Endpoint) (n uint64) {
	for _, p := range locations { // a route does not say which requests these get
		if strings.HasPrefix(p.location.Path, "@") || strings.HasPrefix(p.location.Modifier, "~") {
			return 0
		}
	}
	for i := range endpoints {
		l, ok := w.LocationOf(endpoints[i].Route)
		if ok && slices.ContainsFunc(locations, func(p proxied) bool { return p.location.At == l.At }) {
			n += endpoints[i].UpstreamCount
		}
	}
	return n
}

// clearsConnection reports whether the header Connection, which nginx sets to close,
// is set to something else.
func clearsConnection(w *webserver.Config, l webserver.Location) bool {
	for _, d := range w.InForce(l.At, "proxy_set_header") {
		if len(d.Words) > 2 && strings.EqualFold(d.Words[1], "Connection") && !strings.EqualFold(d.Words[2], "close") {
			return true
		}
	}
	return false
}

// openedConnections returns the connections that were opened, as evidence and per request that
// was passed on: those to the upstream servers where the log says that most of them took some
// time, else those of the whole host between two of its samples.
func openedConnections(c *diagnose.Case, share float64, passed uint64) (kasoku.Evidence, float64, error) {
	var opened, logged uint64
	_, endpoints := diagnose.FrontLog(c.Recording)
	for i := range endpoints {
		opened += endpoints[i].Connects
		logged += endpoints[i].ConnectCount
	}
	e := kasoku.Evidence{
		Source: "access", Text: "$upstream_connect_time above 0", Note: "of " + unit.Count(logged),
		Value: unit.Count(opened), Number: float64(opened),
		Strong: true, Interval: c.Whole(),
	}
	rate := webserver.Ratio(float64(opened), float64(logged))
	if logged >= passed/2 && rate >= opensPerRequest {
		return e, rate, nil
	}
	// Over the loopback it takes less than the log's millisecond.
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	g, err := whole.Counters().Grown(kasoku.Key{Source: diagnose.Host, Name: hostkeys.TCPActiveOpens})
	if err != nil {
		if logged >= passed/2 {
			return e, rate, nil
		}
		return e, 0, fmt.Errorf("connections that the host opened were not counted: %w", err)
	}
	n, err := whole.Requests(g.Interval)
	if err != nil {
		return e, 0, err
	}
	e = whole.Quote().Counted(g, true)
	e.Text = "connections that the host opened"
	e.Note = "by all programs, while " + unit.Count(uint64(share*float64(n.Count)+0.5)) + " requests were passed on"
	return e, webserver.Ratio(g.By, share*float64(n.Count)), nil
}

func (r UpstreamKeepalive) finding(c *diagnose.Case, w *webserver.Config, lacking []proxied, opened kasoku.Evidence,
	passed uint64, rate float64) kasoku.Finding {
	p := lacking[0]
	object := kasoku.Object{Kind: "upstream", Name: p.upstream}
	if p.upstream == "" {
		object.Name = strings.TrimSuffix(p.pass[strings.Index(p.pass, "://")+3:], "/")
	}
	impact := webserver.SavedTime(c, time.Duration(passed)*openingCost, true)
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Title: "nginx opens a connection for each request to the application",
		Severity: evidence.SeverityOf(impact.Share),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: opened.Source == "access" || rate <= mostOpened,
				Lacks: "other programs of the host open connections as well"}),
		Impact: impact,
		Evidence: []kasoku.Evidence{
			webserver.Directive(p.location.Context+": proxy_pass "+p.pass, "lacks "+wording.List(p.lacks, 3)),
			opened,
			{Source: "access", Text: "requests passed on", Value: unit.Count(passed), Number: float64(passed),
				Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("nginx closes the connection to %s after each answer: %s. The configuration lacks %s.",
			object.Name, openedWords(opened, rate), wording.List(p.lacks, 3)),
		Expect: "a part of a millisecond less for each request, and less CPU on both sides",
		Verify: "repeat the load: the host opens few connections, and none stays in TIME_WAIT", Interval: c.Whole(),
	}
	f.Fixes = []kasoku.Fix{w.Fix("Keep connections to the application open",
		keepaliveNote(c), kasoku.RiskNone, keepaliveEdits(w, lacking)...)}
	return f
}

// keepaliveNote is what the upstream servers must do for their part.
//
// Source: gunicorn, "Settings", keepalive: sync workers do not keep connections.
func keepaliveNote(c *diagnose.Case) string {
	if app := c.Member(kasoku.RoleApplication); app != nil && app.Framework == "gunicorn" {
		return "gunicorn's workers of the class sync, its default, close each connection all the same: it also takes " +
			"--worker-class gthread, and threads, as each kept connection of a worker is one that it waits for."
	}
	return "The upstream servers must allow HTTP/1.1, as most do."
}

// mostOpened is the rate up to which connections of a whole host may all be nginx's: with
// HTTP/1.0 each request opens one, and some are tried again.
const mostOpened = 1.1

// openedWords says how many connections were opened for a request. Those of a host with
// other programs are more than nginx's own, of which the configuration says how many.
func openedWords(opened kasoku.Evidence, rate float64) string {
	if opened.Source != "access" && rate > mostOpened {
		return "each request that is passed on opens one, and other programs of the host open some too"
	}
	return unit.Sig3(rate) + " connections were opened for each request that was passed on"
}

// keepaliveEdits returns what keeps the connections of all these locations.
func keepaliveEdits(w *webserver.Config, lacking []proxied) (out []kasoku.Edit) {
	done := map[string]bool{}
	for _, p := range lacking {
		lines := []string{"proxy_http_version 1.1;"}
		for _, d := range w.InForce(p.location.At, "proxy_set_header") { // a block with one of its own inherits none
			if len(d.Words) == 3 && !strings.EqualFold(d.Words[1], "Connection") {
				lines = append(lines, fmt.Sprintf("proxy_set_header %s %q;", d.Words[1], d.Words[2]))
			}
		}
		lines = append(lines, `proxy_set_header Connection "";`)
		scheme, rest, _ := strings.Cut(p.pass, "://")
		host, path, slash := strings.Cut(rest, "/")
		name := p.upstream
		if name == "" {
			name = "kept_" + strings.NewReplacer(":", "_", ".", "_", "-", "_").Replace(host)
			if slash {
				path = "/" + path
			}
			lines = append([]string{fmt.Sprintf("proxy_pass %s://%s%s;", scheme, name, path)}, lines...)
			if !done[name] {
				out = append(out, webserver.Edit("http", fmt.Sprintf("upstream %s {\n    server %s;\n    keepalive %d;\n}",
					name, host, keptConnections)))
			}
		} else if !done[name] && len(w.In(w.Upstream(name), "keepalive")) == 0 {
			out = append(out, webserver.Edit("upstream "+name, fmt.Sprintf("keepalive %d;", keptConnections)))
		}
		done[name] = true
		if !done[p.location.Context] {
			out = append(out, webserver.Edit(p.location.Context, lines...))
			done[p.location.Context] = true
		}
	}
	return out
}
