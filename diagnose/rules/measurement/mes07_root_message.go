package measurement

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// RootMessage is the rule MES-07.
type RootMessage struct{}

// Thresholds of MES-07.
const (
	fewFailures     = 10
	failedRatio     = 0.01
	messagesPerFail = 0.3
	// sameSeconds is the share of failures that must fall into seconds in which
	// the message came too.
	sameSeconds = 0.8
)

// ID returns MES-07.
func (RootMessage) ID() string { return "MES-07" }

// Doc describes the rule.
func (RootMessage) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds failures whose cause stands only in the application's log.`,
		Evidence: `at least 1 % of the requests, and at least 10, are answered with 5xx, and a message of
			the application's log comes at least 0.3 times as often in the same time, a MySQL error before
			others; what the load got to see does not contain it.`,
		Cause: `the handler turns every error into the same answer, so that from outside a full pool, a
			lock and a bug look alike.`,
		Fix: `read the quoted line; let the answer carry an id that leads to it.`,
		Silent: `when few requests fail, when no message comes as often, or when the answers say why;
			blind without the application's log or a count of requests.`,
	}
}

// failures are the 5xx answers of the focus.
type failures struct {
	count, of uint64
	code      int // the most frequent
	second    map[int]uint64
}

// Check looks for the message that explains the 5xx.
func (r RootMessage) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	f := failuresOf(c)
	if f.of == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no requests were counted"))
	}
	ratio := float64(f.count) / float64(f.of)
	if f.count < fewFailures || ratio < failedRatio {
		return nil, diagnose.Quiet(r.ID(), min(ratio/failedRatio, float64(f.count)/fewFailures),
			"%s of %s requests were answered with 5xx; the thresholds are %d and %s", unit.Count(f.count),
			unit.Count(f.of), fewFailures, unit.Percent(failedRatio))
	}
	if !c.Lines().HasAppLog() {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("applog")))
	}
	said := c.Lines().Said(func(m *kasoku.Message) bool { return diagnose.IsError(m) && !onlyStatus(c, m) })
	root, ok := rootOf(said, f.count)
	if !ok {
		if len(said) == 0 {
			return nil, diagnose.Quiet(r.ID(), 0, "the application's log reports no error for %s answers with 5xx",
				unit.Count(f.count))
		}
		return nil, diagnose.Quiet(r.ID(), float64(said[0].Count)/float64(f.count)/messagesPerFail,
			"the most frequent error of the application's log came %s times for %s answers with 5xx; the threshold is %s "+
				"a failure",
			unit.Count(said[0].Count), unit.Count(f.count), unit.Plain(messagesPerFail))
	}
	if seenByLoad(c, root) {
		return nil, diagnose.Quiet(r.ID(), 0, "the answers themselves say why: %q", wording.Cut(root.Text(), 80))
	}
	return []kasoku.Finding{r.finding(c, f, root, said)}, nil
}

func (r RootMessage) finding(c *diagnose.Case, f failures, root diagnose.Said, said []diagnose.Said) kasoku.Finding {
	quotes := []kasoku.Evidence{c.Quote().Quoted(root, true)}
	for _, s := range said {
		if s.Message != root.Message && len(quotes) < 3 {
			quotes = append(quotes, c.Quote().Quoted(s, false))
		}
	}
	quotes = append(quotes, kasoku.Evidence{
		Source: "load", Text: fmt.Sprintf("answers with %d", f.code), Note: "of " + unit.Count(f.of),
		Value: unit.Count(f.count), Number: float64(f.count), Strong: true, Interval: c.Focus.Interval,
	})
	if c.Focus.Tally == nil {
		quotes[len(quotes)-1].Source = "access"
	} else if top := c.Focus.Tally.TopErrors(); len(top) > 0 {
		quotes = append(quotes, kasoku.Evidence{
			Source: "load", Text: top[0].Message, Note: "all that the client sees",
			Value: "× " + unit.Count(top[0].Count), Number: float64(top[0].Count), Interval: c.Focus.Interval,
		})
	}
	object := kasoku.Object{Kind: "endpoint", Name: c.Busiest(c.Focus.Interval)}
	return kasoku.Finding{
		ID: r.ID(), Object: object, Severity: kasoku.Info,
		Title:      fmt.Sprintf("Answers say only %d; the cause stands in the application's log", f.code),
		Confidence: diagnose.Confidence(r.signals(f, root)...),
		Impact: kasoku.Impact{Share: float64(min(root.Count, f.count)) / float64(f.of), Of: evidence.OfRequests(c),
			Shared: []string{"POOL-01", "POOL-02"}},
		Evidence: quotes,
		Cause: fmt.Sprintf("The handler turns every error into the same answer. %s %s requests were answered with 5xx; "+
			"the application's log says %q %s times in the same time.",
			wording.Capital(c.At()), unit.Count(f.count), wording.Cut(root.Text(), 120), unit.Count(root.Count)),
		Fixes: []kasoku.Fix{{
			Text: "Start from the quoted line, not from the status", Where: "the handler that answers 5xx",
			Risk: kasoku.RiskAppRestart,
			Note: "Let the answer carry a request id that the log line carries too, and answer 503 with Retry-After where " +
				"a limit is met.",
		}},
		Expect: "no such line in the application's log",
		Verify: "repeat the load: the line must be gone together with the 5xx", Interval: c.Focus.Interval,
	}
}

func (RootMessage) signals(f failures, root diagnose.Said) []diagnose.Signal {
	var in, all uint64
	for s, n := range f.second {
		all += n
		// A log without times is placed to about a second.
		if root.Seconds[s-1]+root.Seconds[s]+root.Seconds[s+1] > 0 {
			in += n
		}
	}
	same := diagnose.Signal{Holds: all > 0 && float64(in) >= sameSeconds*float64(all), Lacks: "not in the same seconds"}
	if len(root.Seconds) == 0 {
		same.Blind = "the line's times are not known"
	}
	return []diagnose.Signal{
		{Holds: true},
		{Holds: float64(root.Count) >= 0.5*float64(f.count), Lacks: "the line comes less than half as often"},
		{Holds: root.Code != "", Lacks: "the line has no error number"},
		same,
	}
}

// failuresOf counts the 5xx answers, as the load saw them, else as the access
// log did. Their seconds are those of the answers where there is an access log:
// the load counts a request in the second in which it was due, and a late answer
// and its line in the log come seconds after it.
func failuresOf(c *diagnose.Case) failures {
	f := failures{second: map[int]uint64{}}
	codes := map[int]uint64{}
	due := map[int]uint64{}
	for i := range c.Seconds {
		s := &c.Seconds[i]
		if c.Focus.Tally == nil || c.Focus.Step != nil && s.Step != c.Focus.Step.Number {
			continue
		}
		for code, n := range s.Codes {
			if code >= 500 {
				due[s.Second] += n
				codes[code] += n
				f.count += n
			}
		}
	}
	_, endpoints := diagnose.FrontLog(c.Recording)
	for i := range endpoints {
		for s, n := range endpoints[i].Seconds {
			if at := time.Duration(s) * time.Second; n.Failed > 0 && at+time.Second > c.Focus.Interval.From &&
				at < c.Focus.Interval.To {
				f.second[s] += n.Failed
			}
		}
	}
	if t := c.Focus.Tally; t != nil {
		f.of = t.Asked
	} else {
		f.count, f.of = c.Failed()
		for i := range endpoints {
			for code, n := range endpoints[i].Codes {
				if code >= 500 {
					codes[code] += n
				}
			}
		}
	}
	if len(f.second) == 0 {
		f.second = due
	}
	for code, n := range codes {
		if best := codes[f.code]; n > best || n == best && (f.code == 0 || code < f.code) {
			f.code = code
		}
	}
	return f
}

// rootOf picks the message that explains the failures: the most frequent with an error
// number of the server, else the most frequent of all.
func rootOf(said []diagnose.Said, failed uint64) (diagnose.Said, bool) {
	enough := func(s diagnose.Said) bool { return float64(s.Count) >= messagesPerFail*float64(failed) }
	for _, s := range said {
		if s.Code != "" && enough(s) {
			return s, true
		}
	}
	if len(said) > 0 && enough(said[0]) {
		return said[0], true
	}
	return diagnose.Said{}, false
}

// seenByLoad reports whether what the load got to see holds the message: its error
// number, or what it says after the last colon.
func seenByLoad(c *diagnose.Case, root diagnose.Said) bool {
	if c.Focus.Tally == nil {
		return false
	}
	tail := strings.ToLower(root.Sample)
	if i := strings.LastIndex(tail, ": "); i >= 0 {
		tail = tail[i+2:]
	}
	for msg := range c.Focus.Tally.Errors {
		if root.Code != "" && wording.ContainsWord(msg, root.Code) || len(tail) >= 8 && wording.ContainsFold(msg, tail) {
			return true
		}
	}
	return false
}

// onlyStatus reports whether a message repeats no more than what the answers
// say themselves, such as "POST /orders 500 Internal Server Error".
func onlyStatus(c *diagnose.Case, m *kasoku.Message) bool {
	if c.Focus.Tally == nil || m.Code != "" {
		return false
	}
	for msg := range c.Focus.Tally.Errors {
		if text := strings.ToLower(strings.TrimLeft(msg, "0123456789 ")); len(text) >= 8 &&
			wording.ContainsFold(m.Sample, text) {
			return true
		}
	}
	return false
}
