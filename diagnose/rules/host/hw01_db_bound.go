package host

import (
	"fmt"

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
	dbBusy = 0.70
)

// ID returns HW-01.
func (DBBound) ID() string { return "HW-01" }

// Doc describes the rule.
func (DBBound) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that the database is what uses the CPU.`,
		Evidence: `at least 60 % of the CPU that the service's host used, the load's generator and kasoku
			left out, was used by a database server, and the host was at least 70 % busy.`,
		Cause: `the time of a request is time in queries; the app hardly matters.`,
		Fix: `queries and indexes first, beginning with the statement that takes most time in the slow
			log; a faster app changes little.`,
		Silent: `when the database used less, or the host had CPU left, so that CPU is not what requests
			wait for; blind when no process of a database server was recorded. It is a remark, unless requests
			became slow for want of CPU. Silent too when programs outside of the service use most of the CPU.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
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
	if s.DatabaseShare() < evidence.LeastDatabaseShare || s.BusyRatio() < dbBusy {
		return nil, diagnose.Quiet(r.ID(), min(s.DatabaseShare()/evidence.LeastDatabaseShare, s.BusyRatio()/dbBusy, 1),
			"%s used %s of the service's CPU, and the host was %s busy; the thresholds are %s and %s", s.Database.Name,
			unit.Percent(s.DatabaseShare()), unit.Percent(s.BusyRatio()), unit.Percent(evidence.LeastDatabaseShare), unit.Percent(dbBusy))
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: s.Database.Name},
		Title: fmt.Sprintf("The database, %s, uses %s of the service's CPU", wording.Cut(s.Database.Name, 20),
			unit.Percent(s.DatabaseShare())),
		Clause:     fmt.Sprintf("%s uses %s of %s cores", s.Database.Name, unit.Sig3(s.Database.Cores), unit.Plain(s.Cores)),
		Severity:   s.Severity(c),
		Confidence: diagnose.Confidence(s.Signals(c)...),
		Impact:     kasoku.Impact{Share: s.DatabaseShare(), Of: "of the service's CPU " + c.At(), Estimate: true},
		Evidence:   s.Evidence(c),
		Cause: fmt.Sprintf("The host is %s busy %s: %s. What a request costs is decided in the database, so queries "+
			"and indexes come first; a faster app would change little.",
			unit.Percent(s.BusyRatio()), c.At(), s.Words()),
		Fixes:    append(r.fixes(c), s.Apart()...),
		Expect:   "less of the database's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.Database.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	if q := costliestQuery(c); q != nil {
		f.Evidence = append(f.Evidence, kasoku.Evidence{
			Source: "slow.log", Text: wording.Cut(q.Fingerprint, 120), Note: unit.Count(q.Calls) + " calls",
			Value: unit.Duration(q.Total), Number: q.Total.Seconds(), Interval: c.Focus.Interval,
		})
	}
	if rate := c.PerSec(); rate > 0 {
		each := s.Database.Cores / rate * 1000
		f.Expect = fmt.Sprintf("less than the present %s ms of the database's CPU for each request", unit.Sig3(each))
	}
	return []kasoku.Finding{f}, nil
}

func (DBBound) fixes(c *diagnose.Case) []kasoku.Fix {
	q := costliestQuery(c)
	if q == nil {
		return []kasoku.Fix{{Text: "Record a run with the slow log on, and begin with the statement that takes " +
			"most time", Risk: kasoku.RiskNone}}
	}
	var all float64
	for i := range c.Queries {
		all += c.Queries[i].Total.Seconds()
	}
	note := fmt.Sprintf("It takes %s of the query time in %s calls", unit.Percent(q.Total.Seconds()/all),
		unit.Count(q.Calls))
	if q.RowsExamined > 0 {
		note += fmt.Sprintf(" and examines %s rows to send %s", unit.Count(q.RowsExamined), unit.Count(q.RowsSent))
	}
	return []kasoku.Fix{{Text: "Begin with the statement that takes most time: " + wording.Cut(q.Fingerprint, 120),
		Where: "the queries of this run", Note: note + ".", Risk: kasoku.RiskNone}}
}

// costliestQuery returns the class of statements that took most time, nil without a
// slow log.
func costliestQuery(c *diagnose.Case) *kasoku.Query {
	var most *kasoku.Query
	for i := range c.Queries {
		if q := &c.Queries[i]; q.Total > 0 && (most == nil || q.Total > most.Total) {
			most = q
		}
	}
	return most
}
