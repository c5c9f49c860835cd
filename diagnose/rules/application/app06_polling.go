package application

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Polling is the rule APP-06.
type Polling struct{}

// Thresholds of APP-06.
const (
	fewPolled = 100 // requests say too little
	// nothingNew is the part of the calls of a statement that sent no row at least. As some calls send several rows,
	// it is more.
	nothingNew = 0.6
	// steady is the part of the seconds, from an endpoint's first request to its last, in which it was asked.
	steady = 0.8
	// alikeSize is how many times its least size an answer has at most on average: an answer with something new is
	// longer.
	alikeSize = 1.5
	// onceEach is how often a request runs the statement at least.
	onceEach = 0.9
)

// ID returns APP-06.
func (Polling) ID() string { return "APP-06" }

// Doc describes the rule.
func (Polling) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that is polled for what is new, asks the database each time, and mostly has
			nothing.`,
		Evidence: `a GET, at least 100 times and in 80 % of the seconds, runs a SELECT in each request, which is its
			alone, for rows beyond a value that the client has (one column compared with > or >=, none with <,
			and first in ORDER BY); of
			its calls at least 60 % sent no row, as they sent fewer rows in all; and nearly all answers are as short
			as the shortest: 1.5 times that on average.`,
		Cause: `clients ask again and again, and each time the database looks whether there is something; most of
			that is for nothing.`,
		Fix: `push what is new, or answer from memory while there is nothing newer.`,
		Silent: `below the thresholds, where no call sent a row (it may be a check of another kind), where the
			endpoint waits by design (MES-14), and where it is not known which endpoint runs the SELECT. How often
			one client asks is in no access log, so the confidence is never high. Blind without a slow log or
			digests, and without an access log.`,
	}
}

// A polled endpoint is asked for what is new.
type polled struct {
	e      *kasoku.Endpoint
	ask    *kasoku.Query
	column string
	caller *kasoku.Caller
	none   float64 // part of the calls that sent no row, at least
	own    []*kasoku.Query
	saved  time.Duration // what its statements take where there is nothing new
	each   float64       // statements a request
	write  *kasoku.Query // that changes no row as a rule; nil: none
}

// Check looks for such an endpoint.
func (r Polling) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	_, endpoints := c.FrontLog()
	if len(endpoints) == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("accesslog")))
	}
	var out []kasoku.Finding
	near, why := 0.0, "no endpoint runs a SELECT of its own for rows beyond a value in each request"
	for i := range c.Queries {
		q := &c.Queries[i]
		column, ok := statements.NewerThan(q)
		x := evidence.Only(c, q.ID)
		if !ok || x == nil || x.Method != "GET" || x.PerRequest < onceEach || q.Calls < fewPolled {
			continue
		}
		at := slices.IndexFunc(endpoints, func(e kasoku.Endpoint) bool { return x.Endpoint() == e.Method+" "+e.Route })
		if at < 0 || slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == x.Endpoint() }) {
			continue
		}
		p := &polled{e: &endpoints[at], ask: q, column: column, caller: x,
			none: 1 - min(statements.RowsPerCall(q), 1)}
		if n, reason := p.silent(c, endpoints); reason == "" {
			p.addOwn(c)
			out = append(out, r.finding(c, p))
		} else if n >= near {
			near, why = n, x.Endpoint()+" "+reason
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", why)
}

// silent returns why an endpoint is no such one, and how near it came.
func (p *polled) silent(c *diagnose.Case, all []kasoku.Endpoint) (near float64, why string) {
	e := p.e
	seconds, asked := int(e.Last/time.Second)-int(e.First/time.Second)+1, 0
	for _, s := range e.Seconds {
		if s.Count > 0 {
			asked++
		}
	}
	often := float64(asked) / float64(max(seconds, 1))
	mean := float64(e.Bytes) / float64(max(e.Count, 1))
	switch {
	case e.Count < fewPolled:
		return float64(e.Count) / fewPolled, fmt.Sprintf("was asked %s; the threshold is %d",
			unit.Counted(e.Count, "time", "times"), fewPolled)
	case p.none < nothingNew:
		return p.none / nothingNew,
			fmt.Sprintf("asks for rows with a greater %s, and %s of these calls may have sent none; "+
				"the threshold is %s", p.column, unit.Percent(p.none), unit.Percent(nothingNew))
	case p.ask.RowsSent == 0:
		return 0.5, "asks for rows with a greater " + p.column +
			", of which none ever came: what it asks for is not known"
	case often < steady:
		return often / steady, fmt.Sprintf("was asked in %s of its seconds; the threshold is %s", unit.Percent(often),
			unit.Percent(steady))
	case e.MinBytes == 0 || e.MaxBytes == e.MinBytes:
		return 0.5, "has answers of one size, or without any, whatever it finds"
	case mean > alikeSize*float64(e.MinBytes):
		return alikeSize * float64(e.MinBytes) / mean, fmt.Sprintf("has answers of %s on average, and of %s at least",
			unit.Bytes(uint64(mean)), unit.Bytes(e.MinBytes))
	case evidence.WaitsByDesign(c, all, e):
		return 0, "waits by design"
	}
	return 1, ""
}

// addOwn adds up the statements that the endpoint's requests run, and the time of those that nothing new spares.
func (p *polled) addOwn(c *diagnose.Case) {
	for i := range c.Queries {
		q := &c.Queries[i]
		for _, x := range c.Statements().CallersOf(q.ID) {
			sure := x.Class == kasoku.CallerConfirmed || x.Class == kasoku.CallerHigh
			if x.Endpoint() != p.caller.Endpoint() || !sure || q.Calls == 0 {
				continue
			}
			p.own = append(p.own, q)
			p.each += x.PerRequest
			if q == p.ask || statements.ChangesRows(q) { // who asks is looked up all the same
				part := min(x.PerRequest*float64(p.e.Count)/float64(q.Calls), 1)
				p.saved += time.Duration(p.none * part * float64(c.Statements().QueryTime(q)))
			}
			if statements.ChangesRows(q) && q.HasAffected && float64(q.NoneAffected) >= nothingNew*float64(q.Calls) {
				p.write = q
			}
			break
		}
	}
}

func (r Polling) finding(c *diagnose.Case, p *polled) kasoku.Finding {
	name := p.caller.Endpoint()
	impact := evidence.TimeImpact(c, p.saved, p.own...)
	impact.Estimate = true
	mean := float64(p.e.Bytes) / float64(p.e.Count)
	perSec := float64(p.e.Count) / max((p.e.Last-p.e.First).Seconds(), 1)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Impact: impact,
		Title:    evidence.EndpointTitle(name, " is polled, mostly for nothing"),
		Clause:   name + " is polled for what is new, and mostly has nothing",
		Severity: evidence.StatementSeverity(impact),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, evidence.CallerSignal(p.caller),
			diagnose.Signal{Blind: "how often one client asks is not in the access log"}),
		Evidence: []kasoku.Evidence{
			{Source: "access", Text: name, Note: unit.Sig3(perSec) + " a second",
				Value: unit.Counted(p.e.Count, "request", "requests"), Number: float64(p.e.Count), Strong: true,
				Interval: kasoku.Interval{From: p.e.First, To: p.e.Last}},
			{Source: "access", Text: "size of its answers, mean",
				Note:  "the shortest " + unit.Bytes(p.e.MinBytes) + ", the longest " + unit.Bytes(p.e.MaxBytes),
				Value: unit.Bytes(uint64(mean)), Number: mean, Strong: true, Interval: c.Whole()},
			evidence.Statement(c, p.ask, "at least "+unit.Percent(p.none)+" sent no row",
				unit.Counted(p.ask.RowsSent, "row", "rows")+" in "+unit.Counted(p.ask.Calls, "call", "calls"), p.none),
			evidence.StatementTime(c, p.saved, impact, p.own...),
		},
		Cause: fmt.Sprintf("%s was asked %s times a second, and each request runs %s. It looks for rows with a greater %s "+
			"than the client has, and in at least %s of the requests there is none: the answer is the same short one.",
			name, unit.Sig3(perSec), statementsWords(p.each), p.column, unit.Percent(p.none)),
		Fixes: p.fixes(name),
		Expect: fmt.Sprintf("up to %s %s, and as many requests fewer where they are pushed",
			unit.Percent(impact.Share), impact.Of),
		Verify:   "repeat the load: the calls of the statement fall to those that send rows",
		Interval: c.Focus.Interval,
	}
	if p.write != nil {
		f.Evidence = append(f.Evidence, evidence.Statement(c, p.write,
			unit.Percent(float64(p.write.NoneAffected)/float64(p.write.Calls))+" changed no row",
			unit.Counted(p.write.Calls, "call", "calls"), float64(p.write.NoneAffected)))
	}
	return f
}

func statementsWords(each float64) string {
	if each < 1.5 {
		return "a statement"
	}
	return wording.Average(each) + " statements"
}

// fixes are: not to ask the database while there is nothing newer, and not to be asked.
func (p *polled) fixes(name string) []kasoku.Fix {
	note := "Keep in memory, for each of whom the rows are, the greatest " + p.column +
		" that was written, set it where a row is " +
		"inserted, after the commit, and answer at once where the client's is not less. With several processes it belongs " +
		"where all see it, such as Redis; at the start it is read from the table."
	if p.write != nil {
		note += " The " + p.write.Verb + " then comes only where there is a row."
	}
	return []kasoku.Fix{
		{Text: "Answer without the database while there is nothing newer than what the client has",
			Where: evidence.HandlerOf(name), Risk: kasoku.RiskAppRestart, Note: note},
		{Text: "Push what is new, and let clients ask no more", Where: evidence.HandlerOf(name) + ", and its clients",
			Risk: kasoku.RiskAppRestart,
			Note: "Server-sent events or a WebSocket to pages that are open, Web Push to those that are not; a client that goes " +
				"on polling then gets an empty answer without a statement. Where its clients cannot be changed, as in a contest, " +
				"see what they take: a push API that they know, or a header that makes them ask less often."},
	}
}
