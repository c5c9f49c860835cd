package application

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
)

// DroppedWork is the rule APP-04.
type DroppedWork struct{}

// Thresholds of APP-04.
const (
	fewDrops     = 50   // lines say too little
	leastDropped = 0.05 // of the endpoint's requests
	dropsSlack   = 0.01 // of the requests that are worked on: what a log cuts off at its ends
	dropsWhole   = 0.98 // of a statement's calls that must be the endpoint's
	otherStatus  = 0.01 // of the answers: errors
	// dropParts is into how many stretches of time the load is cut. The share of each may differ from
	// that of all by what chance makes of it, dropSigmas, or by dropDrift of it.
	dropParts  = 8
	dropSigmas = 4
	dropDrift  = 0.15
	muchFaster = 3 // times as fast: what is dropped, beside the rest
	// longestDropLine is how many words a line has that gives no reason.
	longestDropLine = 8
)

// ID returns APP-04.
func (DroppedWork) ID() string { return "APP-04" }

// Doc describes the rule.
func (DroppedWork) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds requests that the application confirms and drops.`,
		Evidence: `the application's log says at least 50 times, without a reason, that it drops something, and
			one endpoint that writes (POST, PUT, PATCH, DELETE) explains each of these lines: its answers have
			one status of success and one size, and a statement that it alone runs ran once for each of its
			other requests, within 1 %. The share of such requests is 5 % or more, and the same over the whole
			time.`,
		Cause: `a number in the program decides how much of the work is done. Clients take what was dropped
			for done, and latency and rate of the endpoint are mostly those of requests without work.`,
		Fix: `a decision: all of it, or the share with which runs that are repeated score best. More work that is
			taken in can lower a score.`,
		Silent: `below the thresholds, where lines give a reason (duplicates, what is invalid, a full queue), where
			answers differ by status or size as those of validation do, for GET, whose answers caches give, and
			for what nginx answers itself; where the share follows the load; blind without the application's log,
			an access log and statements.`,
	}
}

// A drop is an endpoint whose requests are dropped as a line of the log says.
type drop struct {
	said        *kasoku.Message
	endpoint    *kasoku.Endpoint
	status      int
	statement   *kasoku.Query // that ran for the rest
	caller      kasoku.Caller
	least, most float64 // share, over the stretches of time
}

// share is the part of the endpoint's requests that was dropped.
func (d *drop) share() float64 { return float64(d.said.Count) / float64(d.endpoint.Count) }

func (d *drop) worked() uint64 { return d.endpoint.Count - d.said.Count }

// Check looks for lines of the log that requests of one endpoint explain.
func (r DroppedWork) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if !c.Lines().HasAppLog() {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("applog")))
	}
	said := c.Lines().Said(saysDropped)
	if len(said) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0,
			"no line of the application's log says without a reason that something is dropped")
	}
	if said[0].Message.Count < fewDrops {
		return nil, diagnose.Quiet(r.ID(), float64(said[0].Message.Count)/fewDrops,
			"the application's log says %q %s; the threshold is %d", said[0].Text(),
			unit.Counted(said[0].Message.Count, "time", "times"), fewDrops)
	}
	endpoints, _, _, err := webserver.FrontEndpoints(c)
	if err == nil {
		err = evidence.CheckStatements(c)
	}
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var near []kasoku.Silence
	for _, s := range said {
		if s.Message.Count < fewDrops {
			continue
		}
		d, why := dropOf(c, s, endpoints)
		switch {
		case d == nil:
			near = append(near, diagnose.Quiet(r.ID(), 0, "the application's log says %q %s; %s", s.Text(),
				unit.Counted(s.Message.Count, "time", "times"), why)...)
		case d.share() < leastDropped:
			near = append(near, diagnose.Quiet(r.ID(), d.share()/leastDropped,
				"%s of the requests of %s are dropped; the threshold is %s",
				unit.Percent(d.share()), webserver.EndpointName(d.endpoint), unit.Percent(leastDropped))...)
		default:
			out = append(out, r.finding(c, d))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, near
}

// dropWords are the words by which programs say that they drop something.
var dropWords = []string{"drop", "drops", "dropped", "dropping", "discard", "discards", "discarded", "discarding",
	"shed", "sheds", "shedding"}

// reasonWords are those by which lines say why: what they are in is no share of all that comes. A word
// of the log that begins with one of them counts.
var reasonWords = []string{"duplic", "already", "exist", "known", "unknown", "invalid", "valid", "bad", "malform",
	"unsupport", "expir", "stale", "old", "late", "outdat", "full", "queue", "buffer", "overflow", "overload", "busy",
	"limit", "quota", "rate", "capac", "pressure", "timeout", "timed", "deadline", "cancel", "clos", "connect", "conn",
	"client", "session", "table", "index", "column", "database", "cache", "packet", "frame", "err", "fail", "becaus",
	"since", "reason", "due", "not", "no", "non", "spam", "bot", "bots", "crawl", "block", "deny", "denied", "unauth",
	"forbid", "empty", "miss", "test", "disab", "consent", "filter", "type", "kind", "privil", "small", "large",
	"long", "big", "schema", "schedul", "zero", "null", "nil", "same", "unchang", "again", "repeat", "retr", "seen", "past", "future"}

// saysDropped accepts lines of a program that say, without a reason, that something is dropped.
func saysDropped(m *kasoku.Message) bool {
	if m.SQL || m.Code != "" || m.Level == "error" {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(m.Pattern), func(r rune) bool { return !unicode.IsLetter(r) })
	isDrop := func(w string) bool { return slices.Contains(dropWords, w) }
	return len(words) <= longestDropLine && slices.ContainsFunc(words, isDrop) && !slices.ContainsFunc(words, isReason)
}

// isReason reports whether a word gives a reason: short ones count whole, longer ones as they begin.
func isReason(word string) bool {
	return slices.ContainsFunc(reasonWords, func(r string) bool {
		return word == r || len(r) > 3 && strings.HasPrefix(word, r)
	})
}

// dropOf returns the one endpoint whose requests explain the lines; else why there is none.
func dropOf(c *diagnose.Case, s diagnose.Said, endpoints []kasoku.Endpoint) (found *drop, why string) {
	why = "no endpoint that writes has as many requests without its statement"
	for i := range endpoints {
		e := &endpoints[i]
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, e.Method) || !webserver.IsPassed(e) ||
			e.Count <= s.Message.Count {
			continue
		}
		d := &drop{said: s.Message, endpoint: e}
		if !d.findStatement(c) {
			continue
		}
		name, ok := webserver.EndpointName(e), false
		if found != nil {
			return nil, fmt.Sprintf("requests of %s and of %s would explain them",
				webserver.EndpointName(found.endpoint), name)
		}
		if d.status, ok = oneAnswer(e); !ok {
			return nil, "the answers of " + name + " differ by status or size"
		}
		if !d.isSteady() {
			return nil, fmt.Sprintf("of %s it is between %s and %s of the requests, as the time goes by", name,
				unit.Percent(d.least), unit.Percent(d.most))
		}
		found = d
	}
	return found, why
}

// findStatement looks for a statement of the endpoint alone that ran once for each request that was not
// dropped, one that changes rows if there is.
func (d *drop) findStatement(c *diagnose.Case) bool {
	slack := max(2, dropsSlack*float64(d.worked()))
	for i := range c.Queries {
		q := &c.Queries[i]
		if math.Abs(float64(q.Calls)-float64(d.worked())) > min(slack, float64(d.said.Count)/4) {
			continue
		}
		x := evidence.Surest(c, q.ID)
		if x == nil || x.Class == kasoku.CallerGroup || x.Endpoint() != webserver.EndpointName(d.endpoint) ||
			x.Share < dropsWhole || !d.agrees(x) {
			continue
		}
		if d.statement == nil || statements.ChangesRows(q) && !statements.ChangesRows(d.statement) {
			d.statement, d.caller = q, *x
		}
	}
	return d.statement != nil
}

// agrees reports whether what a trace counted of the requests is what the lines say of all.
func (d *drop) agrees(x *kasoku.Caller) bool {
	if x.Source != kasoku.FromTrace || x.Requests == 0 {
		return true
	}
	s := d.share()
	return math.Abs(x.PerRequest-(1-s)) <= dropSigmas*math.Sqrt(s*(1-s)/float64(x.Requests))+dropsSlack
}

// oneAnswer reports whether answers have one status of success and one size, but for a few errors.
func oneAnswer(e *kasoku.Endpoint) (status int, ok bool) {
	var most uint64
	for code, n := range e.Codes {
		if n > most {
			status, most = code, n
		}
	}
	others := e.Count - min(most, e.Count)
	if status < 200 || status > 299 || float64(others) > otherStatus*float64(e.Count) {
		return status, false
	}
	room := others * (e.MaxBytes - e.MinBytes) // that the others can differ by
	least, most := e.MinBytes*e.Count, e.MaxBytes*e.Count
	return status, e.Bytes-min(least, e.Bytes) <= room || most-min(e.Bytes, most) <= room
}

// isSteady reports whether the share is the same in all stretches of time, and keeps the least and the
// greatest one.
func (d *drop) isSteady() bool {
	first, last := math.MaxInt, 0
	for s, n := range d.endpoint.Seconds {
		if n.Count > 0 {
			first, last = min(first, s), max(last, s)
		}
	}
	if first > last || len(d.said.Seconds) == 0 {
		return false
	}
	var asked, dropped [dropParts]float64
	part := func(s int) int { return min(max((s-first)*dropParts/(last-first+1), 0), dropParts-1) }
	for s, n := range d.endpoint.Seconds {
		asked[part(s)] += float64(n.Count)
	}
	for s, n := range d.said.Seconds {
		dropped[part(s)] += float64(n)
	}
	d.least, d.most = 1, 0
	all, steady := d.share(), true
	for i := range asked {
		if asked[i] < fewRequests {
			continue
		}
		s := dropped[i] / asked[i]
		d.least, d.most = min(d.least, s), max(d.most, s)
		steady = steady && math.Abs(s-all) <= max(dropSigmas*math.Sqrt(all*(1-all)/asked[i]), dropDrift*all)
	}
	return steady && d.most > 0
}

// dropsBy is how programs in a language draw lots: what to look for.
var dropsBy = map[string]string{
	language.Go:         "In Go look for rand.Float64() < p or rand.IntN(100).",
	language.PHP:        "In PHP look for mt_rand() or random_int() held against a number.",
	language.Ruby:       "In Ruby look for rand < p.",
	language.Python:     "In Python look for random.random() < p.",
	language.JavaScript: "In JavaScript look for Math.random() < p.",
	language.Java:       "In Java look for ThreadLocalRandom.current().nextDouble() < p.",
	language.Rust:       "In Rust look for rand::random::<f64>() < p or gen_bool(p).",
	language.Unknown:    "Look for a random number that is held against a constant.",
}

func (r DroppedWork) finding(c *diagnose.Case, d *drop) kasoku.Finding {
	name, line := webserver.EndpointName(d.endpoint), diagnose.Said{Message: d.said, Count: d.said.Count}
	share, n := unit.Percent(d.share()), unit.Count(d.said.Count)
	_, endpoints := c.FrontLog()
	var all uint64
	for i := range endpoints {
		all += endpoints[i].Count
	}
	fast, slow := halves(d.endpoint.Latency, d.share())
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Problem,
		Title:  evidence.EndpointTitle(name, fmt.Sprintf(" confirms and drops %s of its requests", share)),
		Impact: kasoku.Impact{Share: float64(d.said.Count) / float64(max(all, 1)), Of: "of requests"},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: d.caller.Class == kasoku.CallerConfirmed,
				Lacks: "which requests run the statement is known from overlap in time alone"},
			diagnose.Signal{Holds: slow >= muchFaster*max(fast, time.Millisecond),
				Lacks: "what is dropped is not answered much faster than the rest"}),
		Evidence: r.evidence(c, d, line, fast, slow),
		Cause: fmt.Sprintf("The application answers the requests of %s with %d and one size, and drops what %s of %s bring: "+
			"its log says so each time, and the statement that the handler runs ran for the other %s. It was %s to %s at any "+
			"time. Clients take all of it for done, and the endpoint's latency is mostly that of requests without work.",
			name, d.status, n, unit.Count(d.endpoint.Count), unit.Count(d.worked()), unit.Percent(d.least),
			unit.Percent(d.most)),
		Fixes: []kasoku.Fix{{
			Text: "Decide how much of " + name + " is taken in", Risk: kasoku.RiskSemantics,
			Where: fmt.Sprintf("where %q is logged, in %s", wording.Cut(line.Text(), 60), evidence.HandlerOf(name)),
			Note: language.Pick(c, dropsBy) + " What is dropped is lost to who sent it: take all of it in where that must not " +
				"be. Where it may, as in a contest, more that is taken in is more work, and a score can fall: hold repeated " +
				"runs of a larger and of a smaller share against this one.",
		}},
		Expect: fmt.Sprintf("with all of it taken in, %s times the statements of %s",
			unit.Sig3(float64(d.endpoint.Count)/float64(d.worked())), name),
		Verify:   "the next run: lines of the log, and the calls of that statement for each request",
		Interval: c.Focus.Interval,
	}
}

func (DroppedWork) evidence(c *diagnose.Case, d *drop, line diagnose.Said, fast, slow time.Duration) []kasoku.Evidence {
	name := webserver.EndpointName(d.endpoint)
	sum := unit.Count(d.endpoint.Count) + " − " + unit.Count(d.said.Count) + " = " + unit.Count(d.worked())
	calls := d.statement.Calls
	ran := evidence.Statement(c, d.statement, "× "+unit.Count(calls), sum, float64(calls))
	out := []kasoku.Evidence{c.Quote().Quoted(line, true), {
		Source: "access", Text: fmt.Sprintf("requests of %s, answered %d", name, d.status),
		Value: unit.Count(d.endpoint.Count), Number: float64(d.endpoint.Count), Strong: true,
		Interval: kasoku.Interval{From: d.endpoint.First, To: d.endpoint.Last},
	}, ran}
	if d.caller.Source == kasoku.FromTrace {
		out = append(out, kasoku.Evidence{Source: "trace", Text: "that statement, for each request that was traced",
			Note: unit.Counted(d.caller.Requests, "request", "requests"), Value: unit.Sig3(d.caller.PerRequest),
			Number: d.caller.PerRequest, Interval: c.Whole()})
	}
	if slow > 0 {
		out = append(out, kasoku.Evidence{Source: "access",
			Text: "median of the fastest " + unit.Percent(d.share()) + ", and of the rest",
			Note: "of the rest " + unit.Duration(slow), Value: unit.Duration(fast), Number: fast.Seconds(),
			Interval: c.Whole()})
	}
	return out
}

// halves returns the median latency of the fastest share of requests, and of the rest.
func halves(h *histogram.Histogram, share float64) (fast, slow time.Duration) {
	if h.Count() == 0 {
		return 0, 0
	}
	return h.Quantile(share / 2), h.Quantile((1 + share) / 2)
}
