package rules

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// A stack is what shares the CPU of the host on which the database runs. All
// figures are cores, while the focus's load ran.
type stack struct {
	busy, cores float64 // all that ran, of what there is
	own         float64 // the load's generator and kasoku
	db, app     diagnose.Program
}

// stackOf finds the database that used most CPU, and the other program that did
// on its host. The app has no name when there was none.
func stackOf(c *diagnose.Case) (stack, error) {
	programs, err := c.Programs()
	if err != nil {
		return stack{}, err
	}
	var s stack
	for _, p := range programs {
		if p.Role == diagnose.Database && p.Cores > s.db.Cores {
			s.db = p
		}
	}
	if s.db.Name == "" {
		return stack{}, errors.New("no process of a database server was recorded")
	}
	if s.busy, s.cores, err = c.BusyOn(s.db.Host); err != nil {
		return stack{}, err
	}
	for _, p := range programs {
		switch {
		case p.Host != s.db.Host:
		case p.Role == diagnose.Generator || p.Role == diagnose.Recorder:
			s.own += p.Cores
		case p.Role == diagnose.Other && p.Cores > s.app.Cores:
			s.app = p
		}
	}
	return s, nil
}

// busyRatio is the busy part of the host's cores.
func (s stack) busyRatio() float64 { return s.busy / max(s.cores, 0.01) }

// dbShare is the database's share of the CPU that the service used: the
// generator, where it runs beside it, is no part of the service.
func (s stack) dbShare() float64 {
	return min(s.db.Cores/max(s.busy-s.own, s.db.Cores, 0.01), 1)
}

// slowed reports whether CPU is what the run lacked: requests succeed and take
// too long, and the generator is not among those that take it.
func (s stack) slowed(c *diagnose.Case) bool {
	return c.Focus.Broke && c.Good() >= kasoku.FailingBelow && s.own < generatorShare*s.cores
}

// generatorShare of the host's cores makes the generator a part of what is
// measured.
const generatorShare = 0.10

// severity of a finding about who uses the CPU: it is a remark, unless the run
// broke for want of CPU.
func (s stack) severity(c *diagnose.Case) kasoku.Severity {
	if s.slowed(c) {
		return kasoku.Problem
	}
	return kasoku.Info
}

// words says who uses the CPU: "mariadbd uses 1.52 of 2 cores, shop 0.20, the
// load's generator and kasoku 0.15".
func (s stack) words() string {
	text := fmt.Sprintf("%s uses %s of %s cores", s.db.Name, unit.Sig3(s.db.Cores), unit.Plain(s.cores))
	if s.app.Name != "" {
		text += fmt.Sprintf(", %s %s", s.app.Name, unit.Sig3(s.app.Cores))
	}
	if s.own > 0 {
		text += fmt.Sprintf(", the load's generator and kasoku %s", unit.Sig3(s.own))
	}
	return text
}

func (s stack) evidence(c *diagnose.Case) []kasoku.Evidence {
	out := []kasoku.Evidence{{
		Source: "host", Text: "CPU in use", Note: "of " + unit.Plain(s.cores), Value: unit.Sig3(s.busy) + " cores",
		Number: s.busy, Strong: true,
		Series: []kasoku.Key{{Host: s.db.Host, Source: diagnose.Host, Name: "cpu.idle"}}, Interval: c.Focus.Interval,
	}}
	for _, p := range []diagnose.Program{s.db, s.app} {
		if p.Name != "" {
			out = append(out, usedBy(c, p))
		}
	}
	if s.own > 0 {
		out = append(out, kasoku.Evidence{
			Source: "process", Text: "CPU of the load's generator and kasoku", Value: unit.Sig3(s.own) + " cores",
			Number: s.own, Interval: c.Focus.Interval,
		})
	}
	return out
}

// usedBy is the evidence of a program's CPU.
func usedBy(c *diagnose.Case, p diagnose.Program) kasoku.Evidence {
	e := kasoku.Evidence{
		Source: "process", Text: "CPU of " + p.Name, Value: unit.Sig3(p.Cores) + " cores", Number: p.Cores,
		Strong: true, Series: p.Keys, Interval: c.Focus.Interval,
	}
	if p.Processes > 1 {
		e.Note = unit.Count(p.Processes) + " processes"
	}
	return e
}

// signals of a CPU that is fought for.
func (s stack) signals(c *diagnose.Case) []diagnose.Signal {
	slower := diagnose.Signal{Lacks: "requests took no longer than under less load"}
	if base, t := c.Focus.BaseLoad, c.Focus.Tally; base == nil || t == nil {
		slower.Blind = "there is no step of less load to compare with"
	} else {
		slower.Holds = t.Latency.Quantile(0.95) > base.Latency.Quantile(0.95)*3/2
	}
	return []diagnose.Signal{
		{Holds: s.busyRatio() >= saturated, Lacks: "the host had CPU left"},
		slower,
		{Holds: s.own < generatorShare*s.cores, Lacks: "the load's generator runs on the same host"},
	}
}

// saturated is the busy part of a host above which processes wait for CPU.
const saturated = 0.90

// apart is the first thing to do when the generator takes part of the host.
func (s stack) apart() []kasoku.Fix {
	if s.own < generatorShare*s.cores {
		return nil
	}
	return []kasoku.Fix{{
		Text: "Run the load from another machine, so that the figures are those of the service", Risk: kasoku.RiskNone,
		Note: fmt.Sprintf("The generator and kasoku take %s of the host's %s cores; with them gone the service has as much more.", unit.Sig3(s.own), unit.Plain(s.cores)),
	}}
}

// dbShare was exceeded wherever people then found the gain in queries: 77
// to 90 % of the busy CPU, while the app used 5 to 10 %.
const dbShare = 0.60

// appStack is the stack of the program that used most CPU, with the database of its
// host, if there is one.
func appStack(c *diagnose.Case) (stack, error) {
	programs, err := c.Programs()
	if err != nil {
		return stack{}, err
	}
	var s stack
	for _, p := range programs {
		if p.Role == diagnose.Other && p.Cores > s.app.Cores {
			s.app = p
		}
	}
	if s.app.Name == "" {
		return stack{}, errors.New("no process of an application was recorded")
	}
	if s.busy, s.cores, err = c.BusyOn(s.app.Host); err != nil {
		return stack{}, err
	}
	for _, p := range programs {
		switch {
		case p.Host != s.app.Host:
		case p.Role == diagnose.Generator || p.Role == diagnose.Recorder:
			s.own += p.Cores
		case p.Role == diagnose.Database && p.Cores > s.db.Cores:
			s.db = p
		}
	}
	return s, nil
}
