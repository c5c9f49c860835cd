package web

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/internal/unit"
)

// What the rules about bodies that nginx writes to disk have in common.
const (
	// spooledShare of the requests must have been written to disk, at least
	// fewSpooled of them: one large upload in a run is none to tune for.
	spooledShare = 0.01
	fewSpooled   = 20
	// usualShare of the requests of the endpoints that are named, at least someSpooled of them, is
	// what they always do, few as they are among all.
	usualShare  = 0.5
	someSpooled = 10
	// spoolCost is an estimate of making, writing, reading and removing a small file.
	spoolCost = 100 * time.Microsecond
)

// A spool is what nginx's error log says of bodies of one kind on disk.
type spool struct {
	lines    uint64
	requests uint64
	alike    uint64        // requests of the endpoints that lines name
	most     diagnose.Said // of the path with most of them
	uri      string        // its pattern of a path; empty when the line names none
	endpoint *kasoku.Endpoint
	location webserver.Location // of nginx that passes them on; without a path when it is not known
	config   *webserver.Config  // nil when it is not there
	prefix   string             // of the directives of that location: proxy_, fastcgi_
}

// spoolOf reads the lines about temporary files that begin so.
func spoolOf(c *diagnose.Case, begins string) (spool, error) {
	var s spool
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	said := whole.Lines().SaidBy(kasoku.MessageNginx,
		func(m *kasoku.Message) bool { return strings.HasPrefix(m.Sample, begins) })
	for _, m := range said {
		if s.lines == 0 {
			s.most = m
		}
		s.lines += m.Count
	}
	if s.lines == 0 {
		if err := webserver.CheckLogLevel(c, "warn"); err != nil {
			return s, err
		}
	}
	n, err := whole.Requests(c.Whole())
	if err != nil {
		return s, err
	}
	s.requests = n.Count
	if s.lines == 0 {
		return s, nil
	}
	method, uri := requestIn(s.most.Sample)
	s.uri = uri
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		if slices.ContainsFunc(said, func(m diagnose.Said) bool {
			method, uri := requestIn(m.Sample)
			return e.Method == method && sameRoute(e.Route, uri)
		}) {
			s.alike += e.Count
		}
		if e.Method == method && sameRoute(e.Route, uri) && (s.endpoint == nil || e.Count > s.endpoint.Count) {
			s.endpoint = e
		}
	}
	if w, err := webserver.ConfigOf(c.Recording); err == nil {
		s.config = w
		if l, ok := w.Passing(uri); ok {
			if p, _ := w.PassOf(l); p.Prefix() != "grpc_" { // which has no such directives
				s.location, s.prefix = l, p.Prefix()
			}
		}
	}
	return s, nil
}

// requestIn returns the request that a line of nginx's error log is about.
func requestIn(sample string) (method, uri string) {
	_, request, _ := strings.Cut(sample, ", request: ")
	method, uri, _ = strings.Cut(request, " ")
	return method, uri
}

// sameRoute reports whether a path may be one of the route, in which :names stand
// for a part.
func sameRoute(route, uri string) bool {
	a, b := strings.Split(route, "/"), strings.Split(uri, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if ok, _ := path.Match(a[i], b[i]); a[i] != b[i] && !strings.HasPrefix(a[i], ":") && !ok {
			return false
		}
	}
	return true
}

func (s spool) share() float64 { return webserver.Ratio(float64(s.lines), float64(s.requests)) }

func (s spool) near() float64 {
	return min(s.share()/spooledShare, float64(s.lines)/fewSpooled)
}

func (s spool) few() bool { return s.lines < fewSpooled || s.share() < spooledShare }

// mostOfEndpoints reports whether it is what the requests of these endpoints usually do.
func (s spool) mostOfEndpoints() bool {
	return s.lines >= someSpooled && s.alike > 0 && webserver.Ratio(float64(s.lines), float64(s.alike)) >= usualShare
}

// object is the location that the bodies belong to, else their endpoint.
func (s spool) object() kasoku.Object {
	switch {
	case s.location.Path != "":
		kind, name, _ := strings.Cut(s.location.Context, " ")
		return kasoku.Object{Kind: kind, Name: name}
	case s.endpoint != nil:
		return kasoku.Object{Kind: "endpoint", Name: webserver.EndpointName(s.endpoint)}
	}
	return kasoku.Object{Kind: "server", Name: "nginx"}
}

// severity goes by the requests that are concerned: what a file costs depends on the
// disk, which is busy with the database when it matters.
func (s spool) severity() kasoku.Severity {
	if s.few() {
		return kasoku.Info
	}
	return evidence.SeverityOf(s.share())
}

func (s spool) evidence(c *diagnose.Case) []kasoku.Evidence {
	quoted := c.Quote().Quoted(s.most, true)
	quoted.Source = "error.log"
	out := []kasoku.Evidence{quoted, {
		Source: "error.log", Text: "requests whose body went to disk", Note: "of " + unit.Count(s.requests),
		Value: unit.Percent(s.share()), Number: s.share(),
		Strong: true, Interval: c.Whole(),
	}}
	if s.endpoint != nil {
		out = append(out, webserver.RequestCount(c, s.endpoint))
	}
	return out
}

func (s spool) confidence() kasoku.Confidence {
	known := diagnose.Signal{Holds: s.endpoint != nil, Lacks: "which endpoint it is, the access log does not report"}
	place := diagnose.Signal{Holds: s.location.Path != ""}
	switch {
	case s.config == nil:
		place.Blind = webserver.ErrNoNginx.Error()
	case s.location.Path == "":
		place.Blind = "which location of nginx passes these requests on is not known"
	}
	return diagnose.Confidence(diagnose.Signal{Holds: true}, known, place)
}

// fix is code for the location that passes the requests on, and words where that is not known.
func (s spool) fix(text, note, words string, lines ...string) kasoku.Fix {
	if s.location.Path == "" {
		return kasoku.Fix{Text: text, Where: "nginx.conf, in the location that passes these requests on",
			Note: words + " " + note, Risk: kasoku.RiskNone}
	}
	return s.config.Fix(text, note, kasoku.RiskNone, webserver.Edit(s.location.Context, lines...))
}

// kilobyteWords rounds a size up to the next power of two, at least 16 kB, as nginx
// writes it.
func kilobyteWords(n uint64) string {
	k := uint64(16)
	for k<<10 < n {
		k *= 2
	}
	if k >= 1<<10 {
		return fmt.Sprintf("%dm", k>>10)
	}
	return fmt.Sprintf("%dk", k)
}
