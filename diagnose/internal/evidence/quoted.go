package evidence

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/process"
)

// What rules about statements have in common.
const (
	// SmallShare of the requests' time is a remark: it is not visible in a result,
	// and every service has some of it.
	SmallShare = diagnose.SmallShare
)

// TimeImpact is the impact of time that statements of some classes take: the share of the
// requests' time that the part takes which requests run, at most that where it is not known
// who runs them. Where no request runs them, or requests were not timed, it is that of the
// statements' time. Without classes the time is that of requests.
//
// Where the database takes most of the CPU of a host that the service fills, whoever else is there, requests
// spend most of their time waiting for what it does for others, for CPU or for one of its connections.
// That wait shrinks with the work that causes it, so the share is then that of the
// statements' time, scaled to the database's part of the CPU. Where requests wait in line for
// a worker of the application, that line shrinks with what the workers do, and the share is
// that of the time that they can have worked.
func TimeImpact(c *diagnose.Case, d time.Duration, classes ...*kasoku.Query) kasoku.Impact {
	all := c.Statements().RequestTime()
	if all <= 0 {
		return kasoku.Impact{Share: StatementShare(c, d), Of: ofStatements, Estimate: true}
	}
	part, known := requestPart(c, classes)
	if part <= 0 {
		return kasoku.Impact{Share: StatementShare(c, d), Of: OfNoRequest, Estimate: true}
	}
	d = time.Duration(part * float64(d))
	share := c.Statements().ShareOf(d)
	if s, err := StackOf(c); err == nil && s.DatabaseShare() >= LeastDatabaseShare && s.OwnRatio() >= Saturated {
		if queued := StatementShare(c, d) * s.DatabaseShare(); queued > share {
			return kasoku.Impact{Share: queued, Of: ofRequestTime, Estimate: true}
		}
	}
	i := kasoku.Impact{Share: share, Of: ofRequestTime}
	if worked, ok := WorkedTime(c); ok && worked < all {
		i.Share, i.Estimate = min(d.Seconds()/worked.Seconds(), 1), true
	}
	if !known {
		i.Of, i.Estimate = ofRequestAtMost, true
	}
	return i
}

// WorkedTime is how long the workers of the application can have worked at most: all that are
// there, in each second in which requests were answered. ok is false where the service has
// several applications, or it is not known how many requests one has in work at a time.
func WorkedTime(c *diagnose.Case) (worked time.Duration, ok bool) {
	applications := c.Service.Of(kasoku.RoleApplication)
	if len(applications) != 1 || applications[0].Threads == 0 {
		return 0, false
	}
	answered := c.RequestsBySecond("access log")
	at := time.Duration(WorkersSeen(c, applications[0])*applications[0].Threads) * time.Second
	return time.Duration(len(answered)) * at, len(answered) > 0 && at > 0
}

// WorkersSeen is how many workers an application had: those that it was found with, or more where
// it began more under load, as PHP-FPM does, and had them for half of the run.
func WorkersSeen(c *diagnose.Case, m *kasoku.Member) int {
	n := 0
	for _, s := range c.FindAll(diagnose.Process, process.CPUUser) {
		of, last := c.Processes().MemberOf(s.Key), len(s.Points)-1
		if of != nil && of.ID == m.ID && last > 0 && s.Points[last].At-s.Points[0].At >= c.Whole().Len()/2 {
			n++
		}
	}
	return max(m.Workers, n-1) // one of several leads the others
}

// StatementShare returns how much of all statements' time that is, 0..1.
func StatementShare(c *diagnose.Case, d time.Duration) float64 {
	var all time.Duration
	for i := range c.Queries {
		all += c.Statements().QueryTime(&c.Queries[i])
	}
	if all <= 0 {
		return 0
	}
	return min(float64(d)/float64(all), 1)
}

// SeverityOf distinguishes a share worth fixing from a remark.
func SeverityOf(share float64) kasoku.Severity {
	if share < SmallShare {
		return kasoku.Info
	}
	return kasoku.Problem
}

// StatementSeverity is that of an impact of statements: a remark, too, where no request runs
// them.
func StatementSeverity(i kasoku.Impact) kasoku.Severity {
	if i.Of == OfNoRequest {
		return kasoku.Info
	}
	return SeverityOf(i.Share)
}

// Statement quotes a class of statements.
func Statement(c *diagnose.Case, q *kasoku.Query, value, note string, number float64) kasoku.Evidence {
	return kasoku.Evidence{
		Source: c.StatementSource(q), Text: wording.Cut(q.Fingerprint, wording.MaxQuoted), Note: note, Value: value,
		Number: number, Strong: true, Interval: kasoku.Interval{From: q.First, To: q.Last},
	}
}

// StatementTime quotes how long statements of some classes took.
func StatementTime(c *diagnose.Case, d time.Duration, i kasoku.Impact, classes ...*kasoku.Query) kasoku.Evidence {
	return kasoku.Evidence{
		Source: c.StatementSource(classes...), Text: "time of these statements", Note: unit.Percent(i.Share) + " " + i.Of,
		Value: unit.Duration(d), Number: d.Seconds(), Interval: c.Whole(),
	}
}

// EndpointCount quotes an endpoint of the access log.
func EndpointCount(c *diagnose.Case, endpoint string) []kasoku.Evidence {
	e := c.Statements().EndpointOf(endpoint)
	if e == nil || e.Count == 0 {
		return nil
	}
	return []kasoku.Evidence{{
		Source: "access", Text: endpoint, Note: "mean " + unit.Duration(e.Total/time.Duration(e.Count)),
		Value: unit.Counted(e.Count, "request", "requests"), Number: float64(e.Count),
		Interval: kasoku.Interval{From: e.First, To: e.Last},
	}}
}

// CallerWords describes how it is known that an endpoint runs statements.
func CallerWords(x *kasoku.Caller) string {
	switch x.Class {
	case kasoku.CallerConfirmed:
		by := "by their comments"
		switch x.Source {
		case kasoku.FromProbe:
			by = "by a probe"
		case kasoku.FromTrace:
			by = "by a trace of system calls"
		}
		return fmt.Sprintf("confirmed: counted %s, %s, %s to %s in one", by,
			unit.Counted(x.Requests, "request", "requests"), wording.Average(x.Least), wording.Average(x.Most))
	case kasoku.CallerHigh:
		return "high: about so many, from overlap in time"
	case kasoku.CallerGroup:
		return "group: of endpoints that are always called together: " + wording.List(append([]string{x.Endpoint()},
			x.With...), 3)
	}
	return "possible: from overlap in time, not confirmed"
}

// CallerSignal is the signal that the endpoint is the right one.
func CallerSignal(x *kasoku.Caller) diagnose.Signal {
	switch {
	case x == nil:
		return diagnose.Signal{Blind: "which endpoint runs them is not known"}
	case x.Class == kasoku.CallerConfirmed, x.Class == kasoku.CallerHigh:
		return diagnose.Signal{Holds: true}
	}
	return diagnose.Signal{Lacks: "the endpoint is only possible"}
}

// EndpointTitle puts an endpoint before the rest of a title, cut so that it fits: in the middle, as routes differ at
// their ends.
func EndpointTitle(endpoint, rest string) string {
	return wording.CutMiddle(endpoint, max(wording.MaxTitle-len([]rune(rest)), 8)) + rest
}

// HandlerOf describes where the code of an endpoint is.
func HandlerOf(endpoint string) string {
	if endpoint == "" {
		return "where the statement is run"
	}
	return "the handler of " + endpoint
}

// Surest returns the surest caller of a class with at least a sure class; nil when
// none is known.
func Surest(c *diagnose.Case, id string) *kasoku.Caller {
	list := c.Statements().CallersOf(id)
	if len(list) == 0 || list[0].Class == kasoku.CallerPossible {
		return nil
	}
	return &list[0]
}

// nearlyAll is the share of a class's statements from which on they are one endpoint's: the rest is
// what its estimate may be wrong by.
const nearlyAll = 0.8

// Only returns the caller that runs nearly all statements of a class; nil where several do, or it is not
// known who does. A group of endpoints that are always called together is several.
func Only(c *diagnose.Case, id string) *kasoku.Caller {
	x := Surest(c, id)
	if x == nil || x.Class == kasoku.CallerGroup || x.Share > 0 && x.Share < nearlyAll {
		return nil
	}
	return x
}

// SharesWords describes who runs the statements of a class where no one endpoint runs nearly all: "GET /feed
// 38 %, GET /list 35 %, the rest not known". It says so where none is known to run any.
func SharesWords(c *diagnose.Case, id string) string {
	const most = 3
	var said []string
	left := 1.0
	for _, x := range c.Statements().CallersOf(id) {
		if x.Class != kasoku.CallerConfirmed && x.Class != kasoku.CallerHigh || x.Share <= 0 {
			continue
		}
		if left -= x.Share; len(said) < most {
			said = append(said, x.Endpoint()+" "+unit.Percent(min(x.Share, 1)))
		}
	}
	switch {
	case len(said) == 0:
		return "which endpoints run them is not known"
	case left > 1-nearlyAll:
		said = append(said, "of the rest it is not known")
	}
	return "run by " + strings.Join(said, ", ")
}

// ByWords names who runs a class of statements, to stand after a note on it: ", by GET /feed", ", 38 % of them by
// GET /feed"; empty where it is not known.
func ByWords(c *diagnose.Case, id string) string {
	x := Surest(c, id)
	switch {
	case x == nil:
		return ""
	case x.Class == kasoku.CallerGroup:
		return ", by " + wording.List(append([]string{x.Endpoint()}, x.With...), 3) + ", which are called together"
	case x.Share > 0 && x.Share < nearlyAll:
		return ", " + unit.Percent(x.Share) + " of them by " + x.Endpoint()
	}
	return ", by " + x.Endpoint()
}

// CheckStatements reports why there are no statements to look at; nil when there are.
func CheckStatements(c *diagnose.Case) error {
	if len(c.Queries) > 0 {
		return nil
	}
	return errors.New(c.Lines().NoLog("slowlog"))
}
