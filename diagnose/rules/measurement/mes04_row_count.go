package measurement

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// RowCount is the rule MES-04.
type RowCount struct{}

// ID returns MES-04.
func (RowCount) ID() string { return "MES-04" }

// Doc describes the rule.
func (RowCount) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a table that gained more or fewer rows than requests succeeded.`,
		Evidence: `the rows of the table before and after the run, against the answers that said "written"
			in the same time; any difference counts.`,
		Cause: `fewer rows mean that an answer was given before the row was safe, or that something
			removed it; more rows mean that a row was written though its request failed, which a client that
			tries again doubles.`,
		Fix: `answer only after the commit succeeded, and give each request a key that makes it safe to
			try again.`,
		Silent: `when each success left exactly one row; blind when rows were not counted. As many rows
			too many as a foreign benchmark cut off at its end are a remark.`,
	}
}

// Check compares rows with successes.
func (r RowCount) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if len(c.RowChecks) == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("the rows of no table were counted before and after"))
	}
	var found []kasoku.Finding
	var good []string
	for _, k := range c.RowChecks {
		if k.Matches() {
			good = append(good, fmt.Sprintf("%s %s = %s", k.Table, unit.Count(k.Added()), unit.Count(k.Successes)))
			continue
		}
		found = append(found, r.finding(c, k))
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, diagnose.Quiet(r.ID(), 0, "each success left one row: %s", wording.List(good, 3))
}

func (r RowCount) finding(c *diagnose.Case, k kasoku.RowCheck) kasoku.Finding {
	added, successes := float64(k.Added()), float64(k.Successes)
	diff := added - successes
	failed := failedWrites(c)
	lost := diff < 0
	title := fmt.Sprintf("Table %s has %s rows more than requests "+
		"succeeded", wording.Cut(k.Table, 24), diagnose.Whole(diff))
	cause := "Rows were written though their requests did not succeed: the answer was lost, late or an error after " +
		"the commit. A client that tries again writes them twice."
	fix := kasoku.Fix{Text: "Give each request a key of its own and let the table refuse it the second time",
		Where: "the handler that writes", Risk: kasoku.RiskSemantics,
		Note: "A unique key over the request's id; the second INSERT then fails instead of doubling the row."}
	if lost {
		title = fmt.Sprintf("Table %s lacks %s rows of requests that succeeded", wording.Cut(k.Table, 20),
			diagnose.Whole(-diff))
		cause = "Requests were answered as written whose rows are not there: the answer came before the commit, a " +
			"commit's error was dropped, rows were removed, or one key was used twice."
		fix = kasoku.Fix{Text: "Answer only after the commit has succeeded, and check its error",
			Where: "the handler that writes", Risk: kasoku.RiskSemantics}
	}
	severity := kasoku.Problem
	if cutOff := cutOff(c); !lost && diff <= float64(cutOff) {
		severity = kasoku.Info
		title = fmt.Sprintf("Table %s has %s rows of requests that the client cut off", wording.Cut(k.Table, 20),
			diagnose.Whole(diff))
		cause = fmt.Sprintf("Requests were under way when the load ended: %s. The client did not wait for the answers; "+
			"the service wrote rows all the same. Every other success left exactly one row.",
			unit.Count(cutOff))
		fix = kasoku.Fix{Text: "Let the benchmark wait for its last answers, if the rows must be counted to " +
			"the last one", Where: "the load", Risk: kasoku.RiskNone}
	}
	explained := diagnose.Signal{Holds: lost || diff <= float64(failed),
		Lacks: "more rows than failed requests explain"}
	if len(c.Seconds) == 0 && len(c.Endpoints) == 0 {
		explained.Blind = "failed requests were not counted"
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: k.Table}, Title: title, Severity: severity,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, explained),
		Impact: kasoku.Impact{Share: max(diff, -diff) / max(added, successes, 1),
			Of: "of rows and successes over the run"},
		Evidence: []kasoku.Evidence{
			{Source: "status", Text: "rows of " + k.Table, Note: unit.Count(k.Before) + " → " + unit.Count(k.After),
				Value: diagnose.More(added), Number: added, Strong: true, Interval: c.Whole()},
			{Source: "load", Text: "requests that succeeded", Value: unit.Count(k.Successes), Number: successes,
				Strong: true, Interval: c.Whole()},
			{Source: "load", Text: "requests that failed", Value: unit.Count(failed), Number: float64(failed),
				Interval: c.Whole()},
		},
		Cause: cause, Fixes: []kasoku.Fix{fix},
		Expect: "as many rows as successes", Verify: "repeat the load: rows added = requests that succeeded",
		Interval: c.Whole(),
	}
}

// failedWrites counts the requests that may write and did not succeed, as the load
// saw it, else as the access log did.
func failedWrites(c *diagnose.Case) uint64 {
	if len(c.Seconds) > 0 {
		return c.Tally(0).Failed()
	}
	var n uint64
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		if e := &endpoints[i]; isWriteMethod(e.Method) {
			for code, k := range e.Codes {
				if code < 200 || code >= 400 {
					n += k
				}
			}
		}
	}
	return n
}

// closedRequest is nginx's code for a request whose client has gone.
const closedRequest = 499

// cutOff counts the writes that a foreign benchmark left unanswered when it
// stopped: those that failed in the last second of the traffic, and the one before.
func cutOff(c *diagnose.Case) uint64 {
	if len(c.Seconds) > 0 {
		return 0 // kasoku's own load waits for its answers
	}
	var n uint64
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		if !isWriteMethod(e.Method) {
			continue
		}
		n += e.Codes[closedRequest]
		last := int(e.Last.Seconds())
		n += e.Seconds[last].Failed + e.Seconds[last-1].Failed
	}
	return n
}

func isWriteMethod(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return false
	}
	return true
}
