package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
)

// writeVerdict writes the sentence that says what happened and why: "At LOAD,
// MEASURE: CAUSE." The cause is put together from the clauses of findings.
func writeVerdict(c *Case, d *kasoku.Diagnosis) string {
	f := c.Focus
	if !f.Broke {
		return unbrokenClause(c, d)
	}
	at := c.At()
	at = strings.ToUpper(at[:1]) + at[1:]
	return fmt.Sprintf("%s %s: %s.", at, measureClause(c), causeClause(c, d))
}

// measureClause describes what broke.
func measureClause(c *Case) string {
	f := c.Focus
	good, slow := c.Good(), p95(f.Tally)
	if f.Pace > 0 && good >= kasoku.FailingBelow {
		return fmt.Sprintf("the service keeps up with %s a second, and requests wait ever longer, p95 %s",
			unit.Sig3(f.Pace), unit.Duration(slow))
	}
	if base := p95(f.BaseLoad); good >= kasoku.FailingBelow && base > 0 {
		return fmt.Sprintf("p95 is %s, %s times the %s %s",
			unit.Duration(slow), unit.Sig3(float64(slow)/float64(base)), unit.Duration(base), stepWords(f.Base))
	}
	return fmt.Sprintf("only %s of requests succeed", unit.Percent(good))
}

// Which clauses make the verdict.
const (
	// mostClauses keeps the verdict one sentence.
	mostClauses = 2
	// clauseShare is the share of the largest impact that another finding must
	// have to be named beside it.
	clauseShare = 0.25
	// sureShare is the least estimated share that explains a slow step: what takes
	// a third of the time makes others wait for as long.
	sureShare = 1.0 / 3
	// usedUp is how much of a resource is in use when it is named where no rule speaks.
	usedUp = 0.95
)

// causeClause joins the clauses of the findings that explain most of what broke. An
// estimate explains no refused request, and no delay unless it is much of it.
func causeClause(c *Case, d *kasoku.Diagnosis) string {
	failing := c.Good() < kasoku.FailingBelow && !sentLate(c.Focus.Tally)
	if failing {
		if clauses := lostClauses(c, d); len(clauses) > 0 {
			return strings.Join(clauses, " and ")
		}
	}
	var clauses []string
	var most float64
	for _, f := range explainedLast(d.Findings) {
		if f.Clause == "" || f.Severity == kasoku.Info {
			continue
		}
		if f.Impact.Estimate && (failing || f.Impact.Share < sureShare) {
			continue
		}
		if most = max(most, f.Impact.Share); f.Impact.Share >= clauseShare*most && len(clauses) < mostClauses {
			clauses = append(clauses, f.Clause)
		}
	}
	if len(clauses) > 0 {
		return strings.Join(clauses, " and ")
	}
	s := "no rule names the cause"
	if l, ok := c.Hosts().NearestLimit(); ok && l.Used >= usedUp {
		s += "; used up is " + l.Text // by whom is in it: a host that others fill is no fault of the service
	}
	if t := c.Focus.Tally; t != nil && len(t.Errors) > 0 {
		message, n := frequentError(t)
		s += fmt.Sprintf("; the most frequent error is %q (%s)", message, unit.Count(n))
	}
	return s
}

// lostClauses are those of the findings that account for most of the requests that failed: by requests, and not
// by the time that others take, as counted, or as the application's log has their errors.
func lostClauses(c *Case, d *kasoku.Diagnosis) (clauses []string) {
	var explained, most float64
	for _, f := range explainedLast(d.Findings) {
		if f.Clause == "" || f.Severity == kasoku.Info || !strings.HasPrefix(f.Impact.Of, "of requests ") ||
			f.Impact.Estimate && !slices.ContainsFunc(f.Evidence, func(e kasoku.Evidence) bool { return e.Source == appLogSource }) {
			continue
		}
		explained += f.Impact.Share
		if most = max(most, f.Impact.Share); f.Impact.Share >= clauseShare*most && len(clauses) < mostClauses {
			clauses = append(clauses, f.Clause)
		}
	}
	if 2*explained < 1-c.Good() {
		return nil
	}
	return clauses
}

// frequentError returns the error that came most often, and how often. Errors that differ only
// in the URL, which Go puts before them (`Get "http://…": EOF`), are one.
func frequentError(t *kasoku.Tally) (message string, n uint64) {
	type kind struct {
		first string
		n     uint64
	}
	var all []*kind
	at := map[string]*kind{}
	for _, e := range t.TopErrors() {
		_, text, found := strings.Cut(e.Message, "\": ")
		if !found {
			text = e.Message
		}
		k := at[text]
		if k == nil {
			k = &kind{first: e.Message}
			at[text], all = k, append(all, k)
		}
		if k.n += e.Count; k.first != e.Message {
			k.first = text
		}
	}
	most := all[0]
	for _, k := range all {
		if k.n > most.n {
			most = k
		}
	}
	return most.first, most.n
}

// explainedLast returns findings in their order, those that go when another one is fixed after
// the others: they are effects.
func explainedLast(found []kasoku.Finding) []kasoku.Finding {
	var causes, effects []kasoku.Finding
	for i, by := range findExplainers(found) {
		if len(by) == 0 {
			causes = append(causes, found[i])
		} else {
			effects = append(effects, found[i])
		}
	}
	return append(causes, effects...)
}

// sentLate reports whether most requests that failed did so because they took too long,
// or waited too long to be sent.
func sentLate(t *kasoku.Tally) bool {
	if t == nil {
		return false
	}
	var n, all uint64
	for _, e := range t.TopErrors() {
		all += e.Count
		if strings.Contains(e.Message, "timeout") || strings.Contains(e.Message, "deadline exceeded") {
			n += e.Count
		}
	}
	return 2*n > all
}

// What the verdict of an unbroken run has to name.
const (
	// slowEndpoint is a p95 at which people leave a page: a run with such an endpoint
	// bore its load, but not well.
	slowEndpoint = time.Second
	// fewForHeadline is how many requests an endpoint must have had for its p95 to be named.
	fewForHeadline = 5
)

// unbrokenClause is the verdict of a run in which nothing broke: what it bore, the endpoint
// that is slow all the same, the cause that costs most, and which limit it came nearest
// to.
func unbrokenClause(c *Case, d *kasoku.Diagnosis) string {
	slow := slowestEndpoint(c)
	failed := failedClause(c)
	s := "No step broke"
	switch {
	case slow != "" && failed != "":
		s = slow + ", and " + failed
	case slow != "":
		s = slow
	case failed != "":
		s = strings.ToUpper(failed[:1]) + failed[1:]
	case c.Focus.Step == nil && nothingSucceeded(c):
		s = "Nothing succeeded"
	case c.Focus.Step == nil:
		s = "Nothing broke"
	}
	t, at := c.Focus.Tally, c.At()
	if top := c.highest(); top != nil {
		t, at = c.Tally(top.Number), stepWords(top)
	}
	if t == nil || t.Asked == 0 {
		if r, err := c.Requests(c.Focus.Interval); err == nil {
			refused := c.clientErrors()
			of := fmt.Sprintf(": %s of %s requests ", unit.Percent(r.SuccessRatio()), unit.Count(r.Count))
			switch {
			case refused == 1:
				s += ": all of " + unit.Counted(r.Count, "request", "requests") + " were answered 4xx"
			case refused > 0: // no success, though some are right: a benchmark also asks for what is not there
				s += of + fmt.Sprintf("got no 5xx, but %s of the answers were 4xx", unit.Percent(refused))
			case failed != "":
				s += of + "got no 5xx"
			default:
				s += of + "succeed"
			}
		} else if failed == "" {
			s = "No requests were counted"
		}
	} else {
		s += fmt.Sprintf(": %s, %s of requests succeed with p95 %s", at, unit.Percent(t.SuccessRatio()),
			unit.Duration(p95(t)))
	}
	s += loggedClause(c, t)
	if n := refusedBots(c, t); n > 0 {
		s += "; " + unit.Counted(n, "answer 503 refused a bot", "answers 503 refused bots") + ", as is configured"
	}
	if lost := Unlogged(c); lost != "" {
		s += "; what costs most is not known: " + lost + remedy(c)
	} else if top := costliest(d); top != "" {
		s += "; what costs most: " + top
	}
	if l, ok := c.Hosts().NearestLimit(); ok {
		s += fmt.Sprintf("; the nearest limit is %s", l.Text)
	}
	return s + "."
}

// What an application logs is in the verdict: an answer may say 200 all the same.
const (
	loggedOften = 0.05 // lines with one error for each request
	fewLogged   = 20   // of them say too little
	mostLogged  = 90   // characters
)

// loggedClause names the error that the application logs most, where it does so for many of the requests.
func loggedClause(c *Case, t *kasoku.Tally) string {
	said := c.Lines().Said(IsError)
	if len(said) == 0 {
		return ""
	}
	requests := uint64(0)
	if t != nil && t.Asked > 0 {
		requests = t.Asked
	} else if r, err := c.Requests(c.Focus.Interval); err == nil {
		requests = r.Count
	}
	if float64(said[0].Count) < max(loggedOften*float64(requests), fewLogged) {
		return ""
	}
	text := []rune(said[0].Text())
	if len(text) > mostLogged {
		text = append(text[:mostLogged-1], '…')
	}
	return fmt.Sprintf(", but the application logged %s: %q", unit.Counted(said[0].Count, "time", "times"), string(text))
}

// refusedBots returns how many of the requests that the verdict counts were of bots, and refused
// on purpose: those of a load, without one those in the log.
func refusedBots(c *Case, t *kasoku.Tally) (n uint64) {
	if t != nil && t.Asked > 0 {
		return t.Refused
	}
	_, endpoints := c.FrontLog()
	refused := c.RefusedBots()
	for i := range endpoints {
		n += refused(&endpoints[i])
	}
	return n
}

// failedClause describes what failed without a 5xx: what the benchmark counted as failed, and
// what its clients gave up; empty when neither is known of.
func failedClause(c *Case) string {
	var parts []string
	if sc := c.Run.Score; sc != nil && sc.Failures > 0 {
		part := "the benchmark counted " + unit.Counted(int(sc.Failures), "failure", "failures")
		if sc.Requests >= sc.Failures {
			part += " of " + unit.Count(sc.Requests)
		}
		parts = append(parts, part)
	}
	if said := c.Lines().complaints(); len(said) > 0 {
		parts = append(parts, fmt.Sprintf("the benchmark complained most of %s (%s)", said[0].endpoint,
			unit.Counted(said[0].Count, "time", "times")))
	}
	if n := GivenUp(c.Recording); n > 0 {
		parts = append(parts, unit.Counted(int(n), "request was", "requests were")+" given up by the client (499)")
	}
	return strings.Join(parts, ", and ")
}

// UnloggedCode is the code of the warning that sessions which were open before a run have no
// statements in the slow log.
const UnloggedCode = "slow-log-partial"

// Unlogged names the statements that the slow log lacks, where those are more than half.
func Unlogged(c *Case) string {
	at := slices.IndexFunc(c.Warnings, func(w kasoku.Warning) bool { return w.Code == UnloggedCode })
	asked, err := c.Counters().Status("Questions")
	if at < 0 || err != nil || c.StatementSource() == kasoku.FromTrace {
		return ""
	}
	var calls float64
	for i := range c.Queries {
		calls += float64(c.Queries[i].Calls)
	}
	if calls >= asked.By/2 {
		return ""
	}
	text, _, _ := strings.Cut(c.Warnings[at].Text, " (Questions)")
	return text
}

// remedy says what has the statements that the slow log lacks, where it was not tried.
func remedy(c *Case) string {
	const flag = "`--recycle-connections`"
	if !slices.ContainsFunc(c.Warnings, func(w kasoku.Warning) bool {
		return w.Code == UnloggedCode && strings.HasPrefix(w.Hint, flag)
	}) {
		return ""
	}
	return ": add " + flag + " to the command"
}

// costliest is the clause of the finding with the largest impact, else its title; empty
// when none takes enough to be named.
func costliest(d *kasoku.Diagnosis) string {
	var top *kasoku.Finding
	most := clauseShare
	for i := range d.Findings {
		f := &d.Findings[i]
		if strings.HasPrefix(f.Impact.Of, "of round trips") {
			continue // a part of them is no part of the time
		}
		if f.Severity != kasoku.Info && f.Impact.Share > most {
			top, most = f, f.Impact.Share
		}
	}
	switch {
	case top == nil:
		return ""
	case top.Clause != "":
		return top.Clause
	}
	return uncapital(top.Title)
}

// uncapital begins a title as the middle of a sentence does: The app → the app. Names and
// abbreviations stay.
func uncapital(title string) string {
	word, _, _ := strings.Cut(title, " ")
	if slices.Contains(plainFirst, word) {
		return strings.ToLower(title[:1]) + title[1:]
	}
	return title
}

// plainFirst are the first words of titles that are no names.
var plainFirst = []string{"A", "All", "An", "Answers", "Bots", "Connections", "Each", "Every", "Few", "Files", "Many",
	"Most", "No", "One", "Requests", "Rows", "Some", "Statements", "Threads", "The", "Two"}

// slowestEndpoint names the endpoint of the access log with the highest p95, where it has no
// times the target of the load, empty when none reaches slowEndpoint: "GET /report takes 5,700
// ms (p95)".
func slowestEndpoint(c *Case) string {
	var name string
	slowest, timed := slowEndpoint-1, false
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		if e.Latency == nil || e.Latency.Count() < fewForHeadline {
			continue
		}
		if q := e.Latency.Quantile(0.95); q > slowest {
			name, slowest = strings.TrimSpace(e.Method+" "+e.Route), q
		}
		timed = true
	}
	if !timed {
		for target, h := range targetLatencies(c) {
			if q := h.Quantile(0.95); h.Count() >= fewForHeadline && (q > slowest || q == slowest && target < name) {
				name, slowest = target, q
			}
		}
	}
	if name == "" {
		return ""
	}
	return name + " takes " + unit.Duration(slowest) + " (p95)"
}

// targetLatencies is how long the answers of each target of the load took, in the step with
// the highest rate.
func targetLatencies(c *Case) map[string]*histogram.Histogram {
	out := map[string]*histogram.Histogram{}
	top := c.highest()
	for i := range c.Seconds {
		s := &c.Seconds[i]
		if s.Latency == nil || s.Target == "" || top != nil && s.Step != top.Number {
			continue
		}
		if out[s.Target] == nil {
			out[s.Target] = histogram.New()
		}
		out[s.Target].Merge(s.Latency)
	}
	return out
}

// clientErrors returns the share of 4xx among the answers in the access log.
func (c *Case) clientErrors() float64 {
	var refused, all uint64
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		for code, n := range endpoints[i].Codes {
			if code == statusGivenUp {
				continue // no answer
			}
			all += n
			if code >= 400 && code < 500 {
				refused += n
			}
		}
	}
	return float64(refused) / float64(max(all, 1))
}

// highest returns the step with the highest rate, nil when no step has one.
func (c *Case) highest() *kasoku.Step {
	var top *kasoku.Step
	for i := range c.Steps {
		if s := &c.Steps[i]; s.PerSec > 0 && !s.Interval.Empty() && (top == nil || s.PerSec > top.PerSec) {
			top = s
		}
	}
	return top
}
