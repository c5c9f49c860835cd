package host

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// DBBound is the rule HW-01.
type DBBound struct{}

// Thresholds of HW-01.
const (
	// dbBusy is how busy the host must be: below it requests wait for something
	// else than CPU, such as locks or a disk.
	dbBusy = evidence.BusyHost
)

// ID returns HW-01.
func (DBBound) ID() string { return "HW-01" }

// Doc describes the rule.
func (DBBound) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that the database is what uses the CPU.`,
		Evidence: `at least 60 % of the CPU that the service's host used, the load's generator and kasoku
			left out, was used by a database server, and the host was at least 70 % busy without what programs outside
			of the service used, or 90 % with it. Of a
			database that taskset, a cpuset or a quota holds to fewer cores, these alone count.`,
		Cause: `the time of a request is time in queries; the app hardly matters, where it was recorded
			on the same host or on one that is less than 70 % busy. Elsewhere that is not said, and the
			confidence is medium at most.`,
		Fix: `queries and indexes first, beginning with the statement of requests that takes most time in
			the slow log.`,
		Silent: `when the database used less, or the host had CPU left, so that CPU is not what requests
			wait for; blind when no process of a database server was recorded. It is a remark, unless requests
			became slow for want of CPU, also without what programs outside of the service used, and no other
			finding is about its statement. Silent too when such programs use most of the CPU.`,
		Host:   []diagnose.Pressure{diagnose.OnCPU},
		Points: true,
	}
}

// Check compares the database's CPU with all that was used.
func (r DBBound) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := evidence.StackOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if quiet, crowded := s.Crowded(r.ID()); crowded {
		return nil, quiet
	}
	if s.DatabaseShare() < evidence.LeastDatabaseShare || s.Pressed(dbBusy) < 1 {
		return nil, diagnose.Quiet(r.ID(), min(s.DatabaseShare()/evidence.LeastDatabaseShare, s.Pressed(dbBusy), 1),
			"%s used %s of the service's CPU, and %s; the thresholds are %s and %s", s.Database.Name,
			unit.Percent(s.DatabaseShare()), s.OwnBusy(), unit.Percent(evidence.LeastDatabaseShare), unit.Percent(dbBusy))
	}
	rest := evidence.RestOf(c, s.Database.Host, "the application", evidence.IsApp(c))
	decided := fmt.Sprintf("What a request costs%s is decided in the database, so queries and indexes come first",
		cmp.Or(s.Where, rest.Here()))
	if rest.Idle {
		decided += "; a faster app would change little"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: s.Database.Name},
		Title: fmt.Sprintf("The database, %s, uses %s of the service's CPU%s", wording.Cut(s.Database.Name, 20),
			unit.Percent(s.DatabaseShare()), s.Where),
		Clause: fmt.Sprintf("%s uses %s of %s%s", s.Database.Name, unit.Sig3(s.Database.Cores),
			s.Of(), s.Where),
		Severity:   s.Severity(c, dbBusy),
		Confidence: diagnose.Confidence(append(s.Signals(c), rest.Signal...)...),
		Impact: kasoku.Impact{Share: s.DatabaseShare(), Of: "of the service's CPU" + s.Where + " " + c.At(),
			Estimate: true},
		Evidence: s.Evidence(c),
		Cause: fmt.Sprintf("The host is %s busy %s: %s%s. %s.%s", unit.Percent(s.BusyRatio()), c.At(), s.Words(s.Database),
			s.Where, decided, rest.Words),
		Fixes:    append(r.fixes(c), s.Apart()...),
		Expect:   "less of the database's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.Database.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	s.SayHeld(c, &f, s.Database)
	if q, _ := costliestQuery(c); q != nil {
		took := c.Statements().QueryTime(q)
		f.Evidence = append(f.Evidence, kasoku.Evidence{
			Source: c.StatementSource(q), Text: wording.Cut(q.Fingerprint, 120),
			Note:  unit.Count(c.Statements().QueryCalls(q)) + " calls",
			Value: unit.Duration(took), Number: took.Seconds(), Interval: c.Whole(),
		})
	}
	if rate := c.PerSec(); rate > 0 {
		each := s.Database.Cores / rate * 1000
		f.Expect = fmt.Sprintf("less than the present %s ms of the database's CPU for each request", unit.Sig3(each))
	}
	return []kasoku.Finding{f}, nil
}

func (DBBound) fixes(c *diagnose.Case) []kasoku.Fix {
	q, all := costliestQuery(c)
	if q == nil && len(c.Queries) > 0 {
		return []kasoku.Fix{{Text: "The statements of the slow log are initialize's or of no request: look for what " +
			"else the database does", Risk: kasoku.RiskNone}}
	}
	if q == nil {
		return []kasoku.Fix{{Text: "Record a run with the slow log on, and begin with the statement that takes " +
			"most time", Risk: kasoku.RiskNone}}
	}
	took := c.Statements().QueryTime(q)
	note := fmt.Sprintf("It takes %s of the query time in %s calls", unit.Percent(took.Seconds()/all.Seconds()),
		unit.Count(c.Statements().QueryCalls(q)))
	if q.RowsExamined > 0 && took == q.Total {
		note += fmt.Sprintf(" and examines %s rows to send %s", unit.Count(q.RowsExamined), unit.Count(q.RowsSent))
	}
	return []kasoku.Fix{{Text: "Begin with the statement that takes most time: " + wording.Cut(q.Fingerprint, 120),
		Where: "the queries of this run", Note: note + ".", Risk: kasoku.RiskNone}}
}

// costliestQuery returns the class of statements that took most time, and how long all took:
// those of initialize, and classes that are known to be of no request, left out. nil without
// one.
func costliestQuery(c *diagnose.Case) (most *kasoku.Query, all time.Duration) {
	var longest time.Duration
	for i := range c.Queries {
		q := &c.Queries[i]
		took := c.Statements().QueryTime(q)
		if part, known := evidence.RequestPart(c, q); known && part == 0 || evidence.OnlyInitialize(c, q) || took <= 0 {
			continue
		}
		all += took
		if took > longest {
			most, longest = q, took
		}
	}
	return most, all
}
