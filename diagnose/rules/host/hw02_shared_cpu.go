package host

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
)

// SharedCPU is the rule HW-02.
type SharedCPU struct{}

// fightingShare is the part of the host's cores that each of the two must use.
// Where people moved the database away, both stood at the top of top(1).
const fightingShare = 0.25

// ID returns HW-02.
func (SharedCPU) ID() string { return "HW-02" }

// Doc describes the rule.
func (SharedCPU) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an app and a database that fight for one host's CPU.`,
		Evidence: `the host is at least 90 % busy, and the database and one other program, neither the
			load's generator nor kasoku, each use at least 25 % of its cores. Where taskset,
			a cpuset or a quota holds both to the same cores, these alone count.`,
		Cause: `both run on one host, and each waits while the other runs.`,
		Fix: `a host of its own for the database. The gain is bounded by what stays: the larger of the two
			still needs its own CPU. Where the run holds what that takes, with what the command split predicts.`,
		Silent: `when the host has CPU left, or one of the two uses little; blind when no process of a
			database server was recorded. It is a remark, unless requests became slow for want of CPU, also
			without what programs outside of the service used.`,
		Host:   []diagnose.Pressure{diagnose.OnCPU},
		Points: true,
	}
}

// Check compares the CPU of the database with that of the app beside it.
func (r SharedCPU) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := evidence.StackOf(c)
	switch {
	case err != nil:
		return nil, diagnose.Blind(r.ID(), err)
	case s.App.Name == "":
		return nil, diagnose.Blind(r.ID(), errors.New("no other process of the service was recorded beside "+s.Database.Name))
	}
	if quiet, crowded := s.Crowded(r.ID()); crowded {
		return nil, quiet
	}
	db, app := s.Database.Cores/max(s.Cores, 0.01), s.App.Cores/max(s.Cores, 0.01)
	if s.BusyRatio() < evidence.Saturated || min(db, app) < fightingShare {
		return nil, diagnose.Quiet(r.ID(), min(s.BusyRatio()/evidence.Saturated, db/fightingShare, app/fightingShare, 1),
			"%s, %s used %s of its cores and %s %s; the thresholds are %s and %s each",
			s.HostBusy(),
			s.Database.Name, unit.Percent(db), s.App.Name, unit.Percent(app), unit.Percent(evidence.Saturated),
			unit.Percent(fightingShare))
	}
	// As many times as much as now, should everything scale with its CPU: what
	// stays has the whole host, and so has the database on its own.
	most := max(min(s.Busy/max(s.Busy-s.Database.Cores, 0.01), s.Busy/s.Database.Cores), 1)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "host", Name: "CPU"},
		Title:      "The app and its database fight for one host's CPU",
		Clause:     fmt.Sprintf("%s and %s fight for %s", s.App.Name, s.Database.Name, s.Of()),
		Severity:   s.Severity(c, evidence.Saturated),
		Confidence: diagnose.Confidence(s.Signals(c)...),
		Impact:     kasoku.Impact{Share: min(db, app), Of: "of the host's CPU " + c.At(), Estimate: true},
		Evidence:   s.Evidence(c),
		Cause: fmt.Sprintf("The host is %s busy %s: %s. Each waits while the other runs.",
			unit.Percent(s.BusyRatio()), c.At(), s.Words(s.Database)),
		Fixes: append(s.Apart(), kasoku.Fix{
			Text: "Move the database to a host of its own", Risk: kasoku.RiskRestart,
			Note: fmt.Sprintf("The gain is at most %s times the present rate: what stays here still needs %s of %s cores, "+
				"and %s %s on a host of the same size.%s",
				unit.Sig3(most), unit.Sig3(s.Busy-s.Database.Cores), unit.Plain(s.Cores), s.Database.Name,
				unit.Sig3(s.Database.Cores), splitWords(c, s.Database.Member, false)),
		}),
		Expect: fmt.Sprintf("at most %s times the rate, with a host of the same size for the database",
			unit.Sig3(most)),
		Verify: "repeat the load with two hosts: neither may be " + unit.Percent(evidence.Saturated) +
			" busy at the present rate", Interval: c.Focus.Interval,
	}
	s.SayHeld(c, &f, s.Database)
	return []kasoku.Finding{f}, nil
}
