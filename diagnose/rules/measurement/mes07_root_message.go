package measurement

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"path"
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
	// mostPerFail: a line that comes more often is logged of requests that succeed too.
	mostPerFail = 1.5
	// apartShare is the share of the failures by which the counts of the lines, second by
	// second, may differ from theirs and still be called the same.
	apartShare = 0.25
)

// ID returns MES-07.
func (RootMessage) ID() string { return "MES-07" }

// Doc describes the rule.
func (RootMessage) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds failures whose cause stands only in the application's log.`,
		Evidence: `at least 1 % of the requests, and at least 10, are answered with 5xx by the application,
			and a message of its log comes 0.3 to 1.5 times as often in the same time, a MySQL error before
			others; what the load got to see does not contain it. That the line comes as often second by
			second bears it out. 502 and 504, and 503 where a web server or a cache is in front, are answers
			of what is in front, and do not count.`,
		Cause: `the handler answers errors without their cause, so that from outside a full pool, a lock
			and a bug look alike.`,
		Fix: `read the quoted line; let the answer carry an id that leads to it.`,
		Silent: `when few requests fail, when no message comes as often, or when the answers say why;
			blind without the application's log or a count of requests.`,
	}
}

// failures are the answers of the focus with 5xx that the application gives.
type failures struct {
	count, of uint64
	code      int // the most frequent
	second    map[int]float64
	front     uint64 // answers with 5xx of what is in front of the application
}

// givenInFront reports whether a code is an answer of what is in front of the application: a
// proxy says 502 and 504 itself, and 503 where it limits requests or no server is left.
func givenInFront(c *diagnose.Case, code int) bool {
	switch code {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusServiceUnavailable:
		return c.Member(kasoku.RoleWeb) != nil || c.Member(kasoku.RoleCache) != nil
	}
	return false
}

// Check looks for the message that explains the 5xx.
func (r RootMessage) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	f := failuresOf(c)
	if f.of == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no requests were counted"))
	}
	ratio := float64(f.count) / float64(f.of)
	if few := f.count < fewFailures || ratio < failedRatio; few && f.front > f.count {
		return nil, diagnose.Quiet(r.ID(), 0, "%s of %s answers with 5xx are given in front of the application, not by it",
			unit.Count(f.front), unit.Count(f.front+f.count))
	} else if few {
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
		if float64(said[0].Count) > mostPerFail*float64(f.count) {
			return nil, diagnose.Quiet(r.ID(), 0, "the most frequent error of the application's log came %s times for %s "+
				"answers with 5xx: it is logged of requests that succeed too", unit.Count(said[0].Count), unit.Count(f.count))
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
	object := kasoku.Object{Kind: "log", Name: path.Base(root.Path)}
	if name, _ := diagnose.MostFailed(c, c.Focus.Interval); name != "" {
		object = kasoku.Object{Kind: "endpoint", Name: name}
	}
	return kasoku.Finding{
		ID: r.ID(), Object: object, Severity: kasoku.Info,
		Title:      fmt.Sprintf("Answers say only %d; the cause stands in the application's log", f.code),
		Confidence: diagnose.Confidence(r.signals(f, root)...),
		Impact: kasoku.Impact{Share: float64(min(root.Count, f.count)) / float64(f.of), Of: evidence.OfRequests(c),
			Shared: []string{"POOL-01", "POOL-02"}},
		Evidence: quotes,
		Cause: fmt.Sprintf("The answers do not say why. %s %s requests were answered with 5xx; "+
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
	same := diagnose.Signal{Holds: sameTimes(f, root), Lacks: "second by second the line does not come as often"}
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

// sameTimes reports whether the line came as often as the failures, second by second. Under a
// steady load both are in every second, so that only their counts distinguish. A log without
// times is placed to about a second.
func sameTimes(f failures, root diagnose.Said) bool {
	var all float64
	for _, n := range f.second {
		all += n
	}
	if all <= 0 {
		return false
	}
	least := math.Inf(1)
	for shift := -1; shift <= 1; shift++ {
		apart := 0.0
		for s, n := range f.second {
			apart += math.Abs(n - float64(root.Seconds[s+shift]))
		}
		least = min(least, apart)
	}
	return least <= apartShare*all
}

// failuresOf counts the 5xx answers, as the load saw them, else as the access
// log did. Their seconds are those of the answers where there is an access log:
// the load counts a request in the second in which it was due, and a late answer
// and its line in the log come seconds after it.
func failuresOf(c *diagnose.Case) failures {
	f := failures{second: map[int]float64{}}
	codes := map[int]uint64{}
	due := map[int]float64{}
	for i := range c.Seconds {
		s := &c.Seconds[i]
		if c.Focus.Tally == nil || c.Focus.Step != nil && s.Step != c.Focus.Step.Number {
			continue
		}
		for code, n := range s.Codes {
			switch {
			case code < 500:
			case givenInFront(c, code):
				f.front += n
			default:
				due[s.Second] += float64(n)
				codes[code] += n
				f.count += n
			}
		}
	}
	logged, front := loggedFailures(c, &f)
	if t := c.Focus.Tally; t != nil {
		f.of = t.Asked
	} else {
		f.count, f.of = c.Failed()
		codes = logged
		f.front = uint64(front * float64(f.count))
		f.count -= f.front
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

// loggedFailures counts the access log's answers with 5xx of the application, by code and, in
// f, by the seconds of the focus; front is the share of all 5xx that is given in front of it.
// Of an endpoint that has both, the log's seconds do not say which they were.
func loggedFailures(c *diagnose.Case, f *failures) (codes map[int]uint64, front float64) {
	codes = map[int]uint64{}
	var all, given uint64
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		e := &endpoints[i]
		var own, failed uint64
		for code, n := range e.Codes {
			if code < 500 {
				continue
			}
			failed += n
			if !givenInFront(c, code) {
				codes[code] += n
				own += n
			}
		}
		all, given = all+failed, given+failed-own
		for s, n := range e.Seconds {
			if at := time.Duration(s) * time.Second; n.Failed > 0 && own > 0 && at+time.Second > c.Focus.Interval.From &&
				at < c.Focus.Interval.To {
				f.second[s] += float64(n.Failed) * float64(own) / float64(failed)
			}
		}
	}
	return codes, float64(given) / float64(max(all, 1))
}

// rootOf picks the message that explains the failures: of those that come about as often the
// most frequent with an error number of the server, else the most frequent.
func rootOf(said []diagnose.Said, failed uint64) (root diagnose.Said, ok bool) {
	for _, s := range said {
		switch times := float64(s.Count) / float64(failed); {
		case times < messagesPerFail || times > mostPerFail:
		case s.Code != "":
			return s, true
		case !ok:
			root, ok = s, true
		}
	}
	return root, ok
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
