package rules

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// AppCPU says that the application is what uses the CPU.
//
// Evidence: at least 60 % of the CPU that the service's host used, the load's
// generator and kasoku left out, was used by one program that is no database
// server, the database used less than 40 %, and the host was at least 70 % busy.
// Cause: the time of a request is time in the program; the database hardly matters.
// Fix: profile the program and take away what costs most; then more workers or a
// second host.
// Silent: when the program used less, or the host had CPU left; blind when no
// process was recorded. It is a remark, unless requests became slow for want of CPU.
type AppCPU struct{}

// Thresholds of HW-03.
const (
	appShare  = 0.60
	restShare = 0.40
)

// ID returns HW-03.
func (AppCPU) ID() string { return "HW-03" }

// Check compares the application's CPU with all that was used.
func (r AppCPU) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := appStack(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	service := max(s.busy-s.own, s.app.Cores, 0.01)
	app, db := min(s.app.Cores/service, 1), min(s.db.Cores/service, 1)
	if app < appShare || db >= restShare || s.busyRatio() < dbBusy {
		return nil, diagnose.Quiet(r.ID(), min(app/appShare, (1-db)/(1-restShare), s.busyRatio()/dbBusy, 0.99),
			"%s used %s of the service's CPU, and the host was %s busy; the thresholds are %s and %s",
			s.app.Name, unit.Percent(app), unit.Percent(s.busyRatio()), unit.Percent(appShare), unit.Percent(dbBusy))
	}
	words := fmt.Sprintf("%s uses %s of %s cores", s.app.Name, unit.Sig3(s.app.Cores), unit.Plain(s.cores))
	if s.db.Name != "" {
		words += fmt.Sprintf(", %s %s", s.db.Name, unit.Sig3(s.db.Cores))
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: s.app.Name},
		Title: fmt.Sprintf("The application, %s, uses %s of the service's CPU", cut(s.app.Name, 20),
			unit.Percent(app)),
		Clause:   fmt.Sprintf("%s uses %s of %s cores", s.app.Name, unit.Sig3(s.app.Cores), unit.Plain(s.cores)),
		Severity: s.severity(c), Confidence: diagnose.Confidence(s.signals(c)...),
		Impact:   kasoku.Impact{Share: app, Of: "of the service's CPU " + c.At(), Estimate: true},
		Evidence: r.evidence(c, s),
		Cause: fmt.Sprintf("The host is %s busy %s: %s. What a request costs is decided in the program; a faster database would change little.",
			unit.Percent(s.busyRatio()), c.At(), words),
		Fixes: append([]kasoku.Fix{
			{Text: "Profile " + s.app.Name + " under this load and begin with what takes most CPU",
				Where: "the program", Lang: "sh", Risk: kasoku.RiskNone,
				Code: "go tool pprof http://127.0.0.1:6060/debug/pprof/profile?seconds=20",
				Note: "In Go with net/http/pprof; other languages have profilers of their own."},
			{Text: "Or share the requests out over a second host", Where: "the web server in front",
				Risk: kasoku.RiskRestart},
		}, s.apart()...),
		Expect:   "less of the program's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.app.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	if rate := c.PerSec(); rate > 0 {
		f.Expect = fmt.Sprintf("less than the present %s ms of the program's CPU for each request",
			unit.Sig3(s.app.Cores/rate*1000))
	}
	return []kasoku.Finding{f}, nil
}

func (AppCPU) evidence(c *diagnose.Case, s stack) []kasoku.Evidence {
	out := []kasoku.Evidence{{
		Source: "host", Text: "CPU in use", Note: "of " + unit.Plain(s.cores), Value: unit.Sig3(s.busy) + " cores",
		Number: s.busy, Strong: true,
		Series: []kasoku.Key{{Host: s.app.Host, Source: diagnose.Host, Name: "cpu.idle"}}, Interval: c.Focus.Interval,
	}}
	for _, p := range []diagnose.Program{s.app, s.db} {
		if p.Name != "" {
			out = append(out, usedBy(c, p))
		}
	}
	return out
}
