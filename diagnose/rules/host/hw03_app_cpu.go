package host

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// AppCPU is the rule HW-03.
type AppCPU struct{}

// Thresholds of HW-03.
const (
	appShare  = 0.60
	restShare = 0.40
)

// ID returns HW-03.
func (AppCPU) ID() string { return "HW-03" }

// Doc describes the rule.
func (AppCPU) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that the application is what uses the CPU.`,
		Evidence: `at least 60 % of the CPU that the service's host used, the load's generator and kasoku
			left out, was used by one program that is no database server, the database used less than 40 %,
			and the host was at least 70 % busy without what programs outside of the service used. Of a
			program that taskset, a cpuset or a quota holds to fewer cores, these alone count. Where programs
			outside of the service use most of the CPU, the requests' time counts: at least 30 % of it is the
			program's CPU, and half as much again as its statements take; or 60 % with what its busiest threads
			waited for a core. Where the host has CPU left, too: at least 50 % of it. Both only where a request
			takes 20 ms of the program's CPU.`,
		Cause: `the time of a request is time in the program; the database hardly matters, where it was
			recorded on the same host or on one that is less than 70 % busy. Elsewhere that is not said,
			and the confidence is medium at most.`,
		Fix: `profile the program and take away what costs most, as templates, configuration and regular
			expressions that it parses for each request, where a CPU profile of the run has 5 % of it; then
			more workers or a second host, with what the command split predicts where the run holds what that
			takes.`,
		Silent: `when the program used less; where neighbours use most of the CPU, or some is left, when
			requests or statements were not timed, or the program used more CPU than its requests took; blind when
			no process was recorded. It is a remark, unless requests became slow for want of CPU, also
			without what programs outside of the service used.`,
		Host:   []diagnose.Pressure{diagnose.OnCPU},
		Points: true,
	}
}

// Check compares the application's CPU with all that was used.
func (r AppCPU) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s, err := evidence.AppStack(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if quiet, crowded := s.Crowded(r.ID()); crowded {
		return r.beside(c, s, quiet)
	}
	service := max(s.Service(), s.App.Cores, 0.01)
	app, db := min(s.App.Cores/service, 1), min(s.Database.Cores/service, 1)
	if app < appShare || db >= restShare || s.OwnRatio() < dbBusy {
		quiet := diagnose.Quiet(r.ID(), min(app/appShare, (1-db)/(1-restShare), s.OwnRatio()/dbBusy, 0.99),
			"%s used %s of the service's CPU, and %s; the thresholds are %s and %s",
			s.App.Name, unit.Percent(app), s.OwnBusy(), unit.Percent(appShare), unit.Percent(dbBusy))
		switch {
		case s.BusyRatio() < dbBusy:
			return r.unhurried(c, s, quiet)
		case s.OwnRatio() < dbBusy: // neighbours fill the host
			return r.beside(c, s, quiet)
		}
		return nil, quiet
	}
	words := fmt.Sprintf("%s uses %s of %s", s.App.Name, unit.Sig3(s.App.Cores), s.Of())
	if s.Database.Name != "" {
		words += fmt.Sprintf(", %s %s", s.Database.Name, unit.Sig3(s.Database.Cores))
	}
	rest := evidence.RestOf(c, s.App.Host, "the database", evidence.IsDatabase)
	decided := fmt.Sprintf("What a request costs%s is decided in the program", cmp.Or(s.Where, rest.Here()))
	if rest.Idle {
		decided += "; a faster database would change little"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: s.App.Name},
		Title: fmt.Sprintf("The application, %s, uses %s of the service's CPU%s", wording.Cut(s.App.Name, 20),
			unit.Percent(app), s.Where),
		Clause: fmt.Sprintf("%s uses %s of %s%s", s.App.Name, unit.Sig3(s.App.Cores), s.Of(),
			s.Where),
		Severity:   s.Severity(c, dbBusy),
		Confidence: diagnose.Confidence(append(s.Signals(c), rest.Signal...)...),
		Impact: kasoku.Impact{Share: app, Of: "of the service's CPU" + s.Where + " " + c.At(),
			Estimate: true},
		Evidence: r.evidence(c, s),
		Cause: fmt.Sprintf("The host is %s busy %s: %s%s. %s.%s", unit.Percent(s.BusyRatio()), c.At(), words, s.Where,
			decided, rest.Words),
		Fixes: append([]kasoku.Fix{
			profileFix(c, s.App.Name),
			{Text: "Or share the requests out over a second host", Where: "the web server in front",
				Risk: kasoku.RiskRestart, Note: strings.TrimSpace(splitWords(c, s.App.Member, true))},
		}, s.Apart()...),
		Expect:   "less of the program's CPU for each request",
		Verify:   "repeat the load: the CPU of " + s.App.Name + " must fall at the same rate",
		Interval: c.Focus.Interval,
	}
	s.SayHeld(c, &f, s.App)
	if rate := c.PerSec(); rate > 0 {
		f.Expect = fmt.Sprintf("less than the present %s ms of the program's CPU for each request",
			unit.Sig3(s.App.Cores/rate*1000))
	}
	addParsed(c, &f)
	return []kasoku.Finding{f}, nil
}

func (AppCPU) evidence(c *diagnose.Case, s evidence.Stack) []kasoku.Evidence {
	out := []kasoku.Evidence{s.InUse(c, s.App.Host)}
	for _, p := range []diagnose.Program{s.App, s.Database} {
		if p.Name != "" {
			out = append(out, evidence.CPUOf(c, p))
		}
	}
	return out
}

// profilers show where a program spends its CPU, by language.
var profilers = map[string]string{
	language.Go: "With net/http/pprof in the program: go tool pprof " +
		"http://127.0.0.1:6060/debug/pprof/profile?seconds=20 (its own address).",
	language.Ruby:       "rbspy record --pid PID, or stackprof in the program.",
	language.Python:     "py-spy record --pid PID.",
	language.PHP:        "phpspy --pid PID, or Excimer in the program.",
	language.JavaScript: "node --cpu-prof, or 0x.",
	language.Java:       "jcmd PID JFR.start duration=20s filename=/tmp/app.jfr, or async-profiler.",
	language.Rust:       "perf record -g -p PID, or samply; with debug = \"line-tables-only\" in the profile release.",
	language.Unknown:    "With the profiler of its language.",
}

// profileFix has a look at what the program computes.
func profileFix(c *diagnose.Case, name string) kasoku.Fix {
	return kasoku.Fix{Text: "Profile " + name + " under this load and begin with what " +
		"takes most CPU", Where: "the program",
		Risk: kasoku.RiskNone, Note: "As root, while the load runs: `kasoku profile application --for 10s` names its functions, " +
			"without a change to it. " + language.Pick(c, profilers)}
}
