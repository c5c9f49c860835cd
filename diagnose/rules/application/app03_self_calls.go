package application

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/routes"
)

// SelfCalls is the rule APP-03.
type SelfCalls struct{}

// Thresholds of APP-03.
const (
	selfShare = 0.02 // of the time of the requests that were traced
	// fewSelfCalls in a trace say too little, and sureSelfCalls are enough.
	fewSelfCalls  = 20
	sureSelfCalls = 100
	mostSelfCalls = 3 // findings
)

// ID returns APP-03.
func (SelfCalls) ID() string { return "APP-03" }

// Doc describes the rule.
func (SelfCalls) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests that the application sends to itself.`,
		Evidence: `a trace of system calls has at least 20 requests that an endpoint sent by HTTP to where the
			service itself listens, the application or a web server in front of it, for an endpoint that the
			same application answered, and they took at least 2 % of the time of all requests that were traced.`,
		Cause: `the handler waits for its own program through the network: a second worker, a second
			connection and the text of an answer for what a function returns. Where all workers wait so, none
			is left to answer.`,
		Fix: `let both handlers call one function.`,
		Silent: `below the thresholds, where a name is not known to lead to this service, and where several
			applications were traced, which may call one another; blind without a trace.`,
	}
}

// A selfCall is what requests of an endpoint asked of their own application.
type selfCall struct {
	trace  *kasoku.Trace
	asked  *kasoku.TracedExternal
	callee *kasoku.TracedEndpoint
	by     *kasoku.Member // that listens there
	named  bool           // the address is a name, which the connections that were seen explain
	share  float64        // of the time of all requests that were traced
}

// Check looks through the traces.
func (r SelfCalls) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	var calls []selfCall
	several, traced := false, false
	for i := range c.Traces {
		t := &c.Traces[i]
		if t.Refused != "" || t.Counts.Requests == 0 {
			continue
		}
		traced = true
		app, alone := applicationOf(c, t)
		if !alone {
			several = true
			continue
		}
		calls = append(calls, selfCalls(c, t, app)...)
	}
	switch {
	case !traced:
		return nil, diagnose.Blind(r.ID(), noTrace(c))
	case several && len(calls) == 0:
		return nil, diagnose.Quiet(r.ID(), 0,
			"several applications were traced, or none that is known: they may call one another")
	case len(calls) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "no request that was traced asked its own application")
	}
	slices.SortStableFunc(calls, func(a, b selfCall) int { return cmp.Compare(b.share, a.share) })
	var out []kasoku.Finding
	for i := range calls {
		if k := &calls[i]; k.share >= selfShare && k.asked.Calls >= fewSelfCalls && len(out) < mostSelfCalls {
			out = append(out, r.finding(c, k))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	most := &calls[0]
	return nil, diagnose.Quiet(r.ID(), min(most.share/selfShare, float64(most.asked.Calls)/fewSelfCalls, 0.99),
		"requests of %s asked %s of their own application %s, %s of the time of what was traced; the thresholds are %d and %s",
		most.caller(), most.called(), unit.Counted(most.asked.Calls, "time", "times"), unit.Percent(most.share),
		fewSelfCalls, unit.Percent(selfShare))
}

// noTrace says why nothing is known, and whether there is something to look for.
func noTrace(c *diagnose.Case) error {
	const show = "no trace shows what requests ask of other services"
	if c.Service == nil {
		return errors.New(show)
	}
	for _, e := range c.Service.Edges {
		from, to := c.Service.Member(e.From), c.Service.Member(e.To)
		if from == nil || to == nil || e.Weak || from.Role != kasoku.RoleApplication {
			continue
		}
		if to.Role == kasoku.RoleWeb || to.ID == from.ID {
			return fmt.Errorf("%s calls %s, which may pass its requests back; %s ([trace] on = true)", from.Program,
				to.Program, show)
		}
	}
	return errors.New(show)
}

// applicationOf returns the one application that was traced, and whether there is one alone.
func applicationOf(c *diagnose.Case, t *kasoku.Trace) (app *kasoku.Member, alone bool) {
	n := 0
	for _, id := range t.Members {
		if m := c.Service.Member(id); m != nil && m.Role == kasoku.RoleApplication {
			app = m
			n++
		}
	}
	return app, n == 1
}

func selfCalls(c *diagnose.Case, t *kasoku.Trace, app *kasoku.Member) (out []selfCall) {
	var all time.Duration
	for i := range t.Endpoints {
		all += t.Endpoints[i].Time
	}
	for i := range t.Externals {
		x := &t.Externals[i]
		method, rest, _ := strings.Cut(x.To, " ")
		slash := strings.IndexByte(rest, '/')
		if slash < 0 || all <= 0 {
			continue
		}
		by, named := listenerOf(c, t, app, rest[:slash])
		callee := endpointOf(t, method, rest[slash:])
		if by == nil || callee == nil || 10*callee.Requests < 9*x.Calls { // all that it asked must have come back
			continue
		}
		out = append(out, selfCall{trace: t, asked: x, callee: callee, by: by, named: named,
			share: float64(x.Time) / float64(all)})
	}
	return out
}

// endpointOf returns the endpoint that the traced application answered, of a path that it asked for.
func endpointOf(t *kasoku.Trace, method, path string) *kasoku.TracedEndpoint {
	path, _, _ = strings.Cut(path, "?")
	route, _ := routes.Automatic().Mapper().Append(nil, []byte(method), []byte(path))
	var found *kasoku.TracedEndpoint
	for i := range t.Endpoints {
		e := &t.Endpoints[i]
		of, _, _ := strings.Cut(e.Route, "?")
		if e.Method != method || of != path && of != string(route) && !routes.Covers(of, string(route)) {
			continue
		}
		if found != nil { // which of them the query chose is not known
			return nil
		}
		found = e
	}
	return found
}

// listenerOf returns who of the service listens at an address that the application asked: itself, or a
// web server or cache in front of it. A name that is none of the host's own counts where the
// application is connected to that port there.
func listenerOf(c *diagnose.Case, t *kasoku.Trace, app *kasoku.Member, address string) (by *kasoku.Member, named bool) {
	host, port := address, 80
	if h, p, err := net.SplitHostPort(address); err == nil {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, false
		}
		host, port = h, n
	}
	local := isLocal(c, t, strings.Trim(host, "[]"))
	for i := range c.Service.Members {
		m := &c.Service.Members[i]
		front := m.Role == kasoku.RoleWeb || m.Role == kasoku.RoleCache
		if m.Host != t.Host || m.ID != app.ID && !front {
			continue
		}
		listens := slices.ContainsFunc(m.Listeners, func(l kasoku.Listener) bool {
			return l.Port() == port && !l.Private
		})
		called := slices.ContainsFunc(c.Service.Edges, func(e kasoku.Edge) bool {
			return e.From == app.ID && e.To == m.ID && e.At.Port() == port && !e.Weak
		})
		if listens && (local || called) {
			return m, !local
		}
	}
	return nil, false
}

// isLocal reports whether a host's name or address leads to the host of the trace.
func isLocal(c *diagnose.Case, t *kasoku.Trace, host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return strings.EqualFold(host, "localhost") || t.Host != "" && strings.EqualFold(host, t.Host)
}

// times is how often that is for each request: "once", "1.52 times".
func times(each float64) string {
	if n := unit.Sig3(each); n != "1.00" && n != "1" {
		return n + " times"
	}
	return "once"
}

func (k *selfCall) caller() string { return k.asked.Method + " " + k.asked.Route }
func (k *selfCall) called() string { return k.callee.Method + " " + k.callee.Route }

// ownFunction is how handlers share what one of them asked of the other, by language.
var ownFunction = map[string]string{
	language.Go:         "A function that both handlers call and that returns the value; no http.Get of the own address.",
	language.PHP:        "A class or function that both scripts use; no curl or file_get_contents of the own address.",
	language.Ruby:       "A method or object that both actions use; no Net::HTTP to the own address.",
	language.Python:     "A function that both views call; no urllib to the own address.",
	language.JavaScript: "An exported function that both handlers await; no fetch of the own address.",
	language.Java:       "A service class that both controllers call; no HttpClient to the own address.",
	language.Rust:       "An async fn that both handlers await; no request to the own address.",
	language.Unknown:    "A function that both handlers call; no request to the own address.",
}

func (r SelfCalls) finding(c *diagnose.Case, k *selfCall) kasoku.Finding {
	each := float64(k.asked.Calls) / float64(max(k.asked.Requests, 1))
	way := ""
	if k.by.Role != kasoku.RoleApplication {
		way = ", through " + k.by.Program
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: k.caller()},
		Title:    "A handler sends requests to its own application",
		Severity: kasoku.Problem,
		Impact:   kasoku.Impact{Share: k.share, Of: "of request time at most", Estimate: true},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: k.asked.Calls >= sureSelfCalls, Lacks: "few calls were traced"},
			diagnose.Signal{Holds: !k.named, Lacks: "that the name is the service's own is taken from its connections"}),
		Evidence: []kasoku.Evidence{{
			Source: "trace", Text: "requests to its own application by " + k.caller(), Note: k.asked.To,
			Value: unit.Count(k.asked.Calls), Number: float64(k.asked.Calls), Strong: true, Interval: k.trace.Interval,
		}, {
			Source: "trace", Text: "that it waited for each",
			Value:    unit.Duration(k.asked.Time / time.Duration(max(k.asked.Calls, 1))),
			Number:   k.asked.Time.Seconds() / float64(max(k.asked.Calls, 1)),
			Note:     unit.Sig3(each) + " for each request",
			Interval: k.trace.Interval,
		}},
		Cause: fmt.Sprintf("%s asks %s of its own application%s, %s for each request: a second worker and connection "+
			"are held, and the answer is written and read as text, for what a function returns. Where all workers wait so, "+
			"none is left to answer.", k.caller(), k.called(), way, times(each)),
		Fixes: []kasoku.Fix{{
			Text:  "Call the function that answers " + k.called() + ", and take its result",
			Where: evidence.HandlerOf(k.caller()),
			Note:  language.Pick(c, ownFunction) + " What the way through HTTP adds, as checks of who asks, must stay.",
			Risk:  kasoku.RiskAppRestart,
		}},
		Expect:   "the time of " + k.called() + " stays, and what HTTP adds to it goes",
		Verify:   "repeat the load with [trace] on = true: the trace has no request to " + k.asked.To,
		Interval: c.Focus.Interval,
	}
}
