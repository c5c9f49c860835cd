package web

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/nginxconf"
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
		Evidence: `in nginx's configuration a location with proxy_pass leads to a server without an upstream
			that has keepalive, or HTTP/1.1 or the empty header Connection is missing; requests of the access
			log were passed on by it; and for 90 % of these a connection was opened, by
			$upstream_connect_time or, beside that, the host's counter of connections opened.`,
		Cause: `nginx before 1.29.7 speaks HTTP/1.0 to the upstream server and closes the connection after
			each answer unless configured otherwise; each request pays for opening one.`,
		Fix: `an upstream with keepalive, proxy_http_version 1.1 and an empty Connection, with the Host that
			was sent before.`,
		Silent: `when connections are kept, as nginx from 1.29.7 on does for upstream blocks, when fewer are
			opened, under 100 requests through such locations, and for locations that set Upgrade or another
			Connection (WebSockets); blind without nginx's configuration, where it is not known which server
			block or location passed requests on, or without a count of connections.`,
	}
}

// A proxied is a location that passes requests on over connections that are closed.
type proxied struct {
	location webserver.Location
	pass     webserver.Pass // proxy_pass
	upstream string         // its upstream block; empty when it names a server
	lacks    []string

	requests         uint64 // that it passed on
	connects, logged uint64 // of these, those that opened a connection, and that say whether they did
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
	lacking, passing := lackingKeepalive(w, keepsByDefault(c))
	switch {
	case passing == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "nginx passes no requests on by proxy_pass")
	case len(lacking) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "nginx keeps its connections to the upstream servers, or passes WebSockets on")
	}
	endpoints, requests, _, err := webserver.FrontEndpoints(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	lacking, passed, unknown := usedOf(w, lacking, endpoints)
	switch {
	case passed == 0 && unknown > 0:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("which location of nginx passed on %s requests is not known",
			unit.Count(unknown)))
	case passed < webserver.FewWebRequests:
		return nil, diagnose.Quiet(r.ID(), float64(passed)/webserver.FewWebRequests,
			"%s requests were passed on by locations that close their connections; the threshold is %d",
			unit.Count(passed), webserver.FewWebRequests)
	}
	opened, rate, err := openedConnections(c, w, lacking, webserver.Ratio(float64(passed), float64(requests)))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if rate < opensPerRequest {
		return nil, diagnose.Quiet(r.ID(), rate/opensPerRequest,
			"%s connections were opened for each request that was passed on; the threshold is %s", unit.Sig3(rate),
			unit.Plain(opensPerRequest))
	}
	return []kasoku.Finding{r.finding(c, w, lacking, opened, passed, rate)}, nil
}

// keepsByDefault reports whether the nginx is known to keep connections of upstream blocks, and
// to speak HTTP/1.1 to them, where nothing is configured.
//
// Source: nginx, CHANGES of 1.29.7.
func keepsByDefault(c *diagnose.Case) bool {
	webs := c.Service.Of(kasoku.RoleWeb)
	older := func(m *kasoku.Member) bool {
		var have [3]int
		for i, part := range strings.SplitN(m.Version, ".", 3) {
			have[i], _ = strconv.Atoi(part)
		}
		return m.Program != "nginx" || slices.Compare(have[:], []int{1, 29, 7}) < 0
	}
	return len(webs) > 0 && !slices.ContainsFunc(webs, older)
}

// lackingKeepalive returns the locations that pass requests on over connections that are
// closed after each, and how many pass some on. What is closed, by default or by the words of
// the configuration, is so for each request. byDefault: nginx keeps them where nothing is said.
func lackingKeepalive(w *webserver.Config, byDefault bool) (out []proxied, passing int) {
	for _, l := range w.Locations {
		pass, _ := w.PassOf(l)
		_, host, ok := strings.Cut(pass.To, "://")
		if pass.Directive != "proxy_pass" || !ok || strings.Contains(host, "$") {
			continue // where a variable leads is not known
		}
		passing++
		if changesProtocol(w, l) {
			continue
		}
		if p := (proxied{location: l, pass: pass}); p.look(w, byDefault) {
			out = append(out, p)
		}
	}
	return out, passing
}

// look finds what a location lacks, and reports whether that is anything.
func (p *proxied) look(w *webserver.Config, byDefault bool) bool {
	_, host, _ := strings.Cut(p.pass.To, "://")
	host, _, _ = strings.Cut(host, "/")
	if up := w.Upstream(host); up >= 0 {
		p.upstream = host
		if keep := w.In(up, "keepalive"); len(keep) == 0 && !byDefault || len(keep) > 0 && w.Value(up, "keepalive") == "0" {
			p.lacks = append(p.lacks, "keepalive in upstream "+host)
		}
	} else {
		p.lacks = append(p.lacks, "an upstream with keepalive")
	}
	if v := w.Value(p.location.At, "proxy_http_version"); v == "1.0" || v == "" && !byDefault {
		p.lacks = append(p.lacks, "proxy_http_version 1.1")
	}
	if v, set := headerOf(w, p.location, "Connection"); set && strings.EqualFold(v, "close") || !set && !byDefault {
		p.lacks = append(p.lacks, `proxy_set_header Connection ""`)
	}
	return len(p.lacks) > 0
}

// headerOf returns the value of a header that a location sets for the upstream server.
func headerOf(w *webserver.Config, l webserver.Location, name string) (value string, set bool) {
	for _, d := range w.InForce(l.At, "proxy_set_header") {
		if len(d.Words) > 2 && strings.EqualFold(d.Words[1], name) {
			return d.Words[2], true
		}
	}
	return "", false
}

// changesProtocol reports whether a location passes WebSockets on, or another header Connection
// than nginx's own: that header must stay as it is.
func changesProtocol(w *webserver.Config, l webserver.Location) bool {
	v, _ := headerOf(w, l, "Connection")
	_, upgrades := headerOf(w, l, "Upgrade")
	return upgrades || v != "" && !strings.EqualFold(v, "close")
}

// usedOf returns the locations with requests that they passed on, those with the most first,
// the sum of these, and how many others of the log it cannot be said which location passed on.
func usedOf(w *webserver.Config, all []proxied, endpoints []kasoku.Endpoint) (out []proxied, passed, unknown uint64) {
	for i := range endpoints {
		e := &endpoints[i]
		l, ok := w.Passing(e.Route)
		if !ok {
			unknown += e.UpstreamCount
			continue
		}
		if k := slices.IndexFunc(all, func(p proxied) bool { return p.location.At == l.At }); k >= 0 {
			all[k].requests += e.UpstreamCount
			all[k].connects += e.Connects
			all[k].logged += e.ConnectCount
			passed += e.UpstreamCount
		}
	}
	for _, p := range all {
		if p.requests > 0 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b proxied) int { return cmp.Compare(b.requests, a.requests) })
	return out, passed, unknown
}

// openedConnections returns the connections that were opened, as evidence and per request that
// these locations passed on: those of the log where it says that most of them took some time,
// else those of the whole host between two of its samples. The host's alone are no evidence:
// they stand beside requests that are known to have gone where nginx closes each connection.
func openedConnections(c *diagnose.Case, w *webserver.Config, through []proxied,
	share float64) (kasoku.Evidence, float64, error) {
	var opened, logged, passed, sockets uint64
	for _, p := range through {
		opened, logged, passed = opened+p.connects, logged+p.logged, passed+p.requests
		if p.isSocket(w) {
			sockets += p.requests
		}
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
	if err == nil && sockets > 0 {
		err = errors.New("those to Unix sockets are in no counter")
	}
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

// isSocket reports whether a location passes requests on to a Unix socket.
func (p *proxied) isSocket(w *webserver.Config) bool {
	if p.upstream == "" {
		return strings.Contains(p.pass.To, "://unix:")
	}
	return slices.ContainsFunc(w.In(w.Upstream(p.upstream), "server"), func(d nginxconf.Directive) bool {
		return len(d.Words) > 1 && strings.HasPrefix(d.Words[1], "unix:")
	})
}

func (r UpstreamKeepalive) finding(c *diagnose.Case, w *webserver.Config, lacking []proxied, opened kasoku.Evidence,
	passed uint64, rate float64) kasoku.Finding {
	p := lacking[0]
	object := kasoku.Object{Kind: "upstream", Name: p.upstream}
	if p.upstream == "" {
		object.Name = strings.TrimSuffix(p.pass.To[strings.Index(p.pass.To, "://")+3:], "/")
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
			webserver.Directive(p.location.Context+": proxy_pass "+p.pass.To, "lacks "+wording.List(p.lacks, 3)),
			opened,
			{Source: "access", Text: "requests passed on", Value: unit.Count(passed), Number: float64(passed),
				Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("nginx closes the connection to %s after each answer: %s. The configuration lacks %s.",
			object.Name, openedWords(opened, rate), wording.List(p.lacks, 3)),
		Expect: "a part of a millisecond less for each request, and less CPU on both sides",
		Verify: "repeat the load: the host opens few connections, and none stays in TIME_WAIT", Interval: c.Whole(),
	}
	f.Fixes = []kasoku.Fix{keepaliveFix(c, w, lacking)}
	return f
}

// keepaliveFix is code for the locations whose connections can be kept without changing what
// the application gets, and words for the others.
func keepaliveFix(c *diagnose.Case, w *webserver.Config, lacking []proxied) kasoku.Fix {
	const text = "Keep connections to the application open"
	edits, left := keepaliveEdits(w, lacking)
	note := keepaliveNote(c)
	if len(left) > 0 {
		note = wording.List(left, 4) + ": there it wants an upstream with keepalive that proxy_pass names, " +
			`proxy_http_version 1.1, proxy_set_header Connection "", and the Host, redirects and names that ` +
			"proxy_pass gave before. " + note
	}
	if len(edits) == 0 {
		return kasoku.Fix{Text: text, Where: "nginx.conf, then nginx -s reload", Note: note, Risk: kasoku.RiskNone}
	}
	return w.Fix(text, note, kasoku.RiskNone, edits...)
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

// keepaliveEdits returns what keeps the connections of these locations, and the locations that
// are left.
func keepaliveEdits(w *webserver.Config, lacking []proxied) (out []kasoku.Edit, left []string) {
	done := map[string]bool{}
	for _, p := range lacking {
		if done[p.location.Context] {
			continue
		}
		done[p.location.Context] = true
		name, lines := p.upstream, []string(nil)
		if name == "" {
			var server string
			if name, server, lines = p.named(w); name == "" {
				left = append(left, p.location.Context)
				continue
			}
			if !done[name] {
				out = append(out, webserver.Edit("http", fmt.Sprintf("upstream %s {\n    server %s;\n    keepalive %d;\n}",
					name, server, keptConnections)))
			}
		} else if keep := w.In(w.Upstream(name), "keepalive"); !done[name] && (len(keep) == 0 ||
			w.Value(w.Upstream(name), "keepalive") == "0") {
			out = append(out, webserver.Edit("upstream "+name, fmt.Sprintf("keepalive %d;", keptConnections)))
		}
		done[name] = true
		lines = append(lines, "proxy_http_version 1.1;")
		for _, d := range w.InForce(p.location.At, "proxy_set_header") { // a block with one of its own inherits none
			if len(d.Words) == 3 && !strings.EqualFold(d.Words[1], "Connection") {
				lines = append(lines, fmt.Sprintf("proxy_set_header %s %q;", d.Words[1], d.Words[2]))
			}
		}
		out = append(out, webserver.Edit(p.location.Context, append(lines, `proxy_set_header Connection "";`)...))
	}
	return out, left
}

// named returns an upstream for a server that a location names itself, the server in it, and
// the lines by which the location passes on to it all that was passed on before: the Host, the
// name in TLS, and the redirects that nginx takes back are made from what proxy_pass names.
// The name is empty where that cannot be written down.
//
// Source: nginx, ngx_http_proxy_module: proxy_set_header ($proxy_host), proxy_redirect,
// proxy_ssl_name.
func (p *proxied) named(w *webserver.Config) (name, server string, lines []string) {
	scheme, rest, _ := strings.Cut(p.pass.To, "://")
	host, path, server, ok := splitPass(scheme, rest)
	redirects := w.InForce(p.location.At, "proxy_redirect")
	if !ok || !p.pass.Own || len(redirects) > 1 ||
		path != "" && !kasoku.IsPlainPath(cmp.Or(strings.TrimRight(p.location.Path, "/"), "/")) {
		return "", "", nil
	}
	name = "kept_" + notName().ReplaceAllString(strings.TrimPrefix(server, "unix:/"), "_")
	if w.Upstream(name) >= 0 {
		return "", "", nil
	}
	lines = []string{fmt.Sprintf("proxy_pass %s://%s%s;", scheme, name, path)}
	if _, set := headerOf(w, p.location, "Host"); !set {
		lines = append(lines, fmt.Sprintf("proxy_set_header Host %q;", host))
	}
	byDefault := len(redirects) == 0 || len(redirects[0].Words) == 2 && redirects[0].Words[1] == "default"
	if byDefault && host != socketHost {
		from, to := p.pass.To, p.location.Path
		if path == "" {
			from, to = from+"/", "/"
		}
		lines = append(lines, fmt.Sprintf("proxy_redirect %s %s;", from, to))
	}
	if scheme == "https" && w.Value(p.location.At, "proxy_ssl_name") == "" {
		lines = append(lines, fmt.Sprintf("proxy_ssl_name %s;", server[:strings.LastIndexByte(server, ':')]))
	}
	return name, server, lines
}

// notName is what is no part of an upstream's name.
var notName = lazyregexp.New(`[^A-Za-z0-9]+`)

// socketHost is the Host that nginx sends to a Unix socket.
const socketHost = "localhost"

// splitPass takes what follows the scheme of a proxy_pass apart: the Host that nginx sends, the
// path, and the server as an upstream names it, where its port is 80 unless it is said.
func splitPass(scheme, rest string) (host, path, server string, ok bool) {
	if socket, isSocket := strings.CutPrefix(rest, "unix:"); isSocket {
		socket, path, _ = strings.Cut(socket, ":")
		return socketHost, path, "unix:" + socket, socket != "" && scheme == "http"
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, path = rest[:i], rest[i:]
	}
	own := map[string]string{"http": "80", "https": "443"}[scheme]
	name, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		name, port = rest[:i], rest[i+1:]
	}
	host = name
	if port != "" && port != own {
		host += ":" + port
	}
	return host, path, name + ":" + cmp.Or(port, own), own != "" && name != "" && !strings.ContainsAny(rest, "?#;{}\"'\\")
}
