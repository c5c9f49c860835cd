package evidence

import (
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// hold replaces the host's figures by those of the cores that a program is held to, where taskset,
// a cpuset or a quota leaves it fewer: a program that has one of eight cores is at its limit when
// that one is busy. What may run elsewhere too is apart; what is known to run there is the service's.
func (s *Stack) hold(c *diagnose.Case, p diagnose.Program, programs []diagnose.Program) {
	m := c.Service.Member(p.Member)
	if m == nil {
		return
	}
	a, err := c.Hosts().Allowed(m)
	if err != nil || !a.Held() {
		return
	}
	s.Busy, s.Cores, s.held, s.heldName = a.Busy, a.Cores, &a, p.Name
	rest := a.Busy
	var wider float64
	for _, o := range programs {
		of := c.Service.Member(o.Member)
		if of == nil || o.Host != p.Host {
			continue
		}
		there := placed(of, m, a)
		switch there {
		case inside:
			rest -= o.Cores
		case across:
			wider += o.Cores
		case apart:
		}
		for _, beside := range []*diagnose.Program{&s.App, &s.Database} {
			if beside.Name == o.Name && beside.Member == o.Member && there != inside {
				*beside = diagnose.Program{}
			}
		}
	}
	rest = max(rest, 0)
	rest -= min(rest, wider)
	s.Own = min(s.Own, rest)
	s.Neighbours = rest - s.Own
}

// Where a member may run beside one that is held to some cores.
type place int

const (
	apart  place = iota // on none of them
	across              // on some of them, and on others
	inside              // on them alone
)

// placed returns where a member may run beside another one that is held.
func placed(m, held *kasoku.Member, a diagnose.Allowed) place {
	if m.ID == held.ID {
		return inside
	}
	if a.Quota > 0 { // a quota is shared by those of its group alone
		if m.Cgroup != "" && m.Cgroup == held.Cgroup && m.Host == held.Host {
			return inside
		}
		return apart
	}
	cpus := unit.ParseCores(m.Limits.CPUs)
	if len(cpus) == 0 {
		return across
	}
	n := 0
	for _, cpu := range cpus {
		if slices.Contains(a.CPUs, cpu) {
			n++
		}
	}
	switch n {
	case 0:
		return apart
	case len(cpus):
		return inside
	}
	return across
}

// what is busy or has CPU left: the host, or the cores that the program is held to.
func (s Stack) what() string {
	if s.held == nil {
		return "the host"
	}
	return "what " + s.heldName + " is held to"
}

// Held reports whether the figures are of what the program is held to, not of the host.
func (s Stack) Held() bool { return s.held != nil }

// HostBusy says how busy the host was, or what the program is held to, in the middle of a
// sentence.
func (s Stack) HostBusy() string { return s.what() + " was " + unit.Percent(s.BusyRatio()) + " busy" }

// Of is how many cores there are: "2 cores", "1 core", "0.50 cores".
func (s Stack) Of() string { return diagnose.CoresText(s.Cores) }

// SayHeld makes a finding about the CPU of a program one about the cores that it is held to, if
// it is: what else the host has is of no use to it.
func (s Stack) SayHeld(c *diagnose.Case, f *kasoku.Finding, p diagnose.Program) {
	if s.held == nil {
		return
	}
	f.Title = fmt.Sprintf("%s is %s busy on what it is held to: %s", wording.Cut(p.Name, 20), unit.Percent(s.BusyRatio()), s.held.By())
	f.Clause = fmt.Sprintf("%s is held to %s, of which %s is used", p.Name, s.held.By(), unit.Percent(s.BusyRatio()))
	f.Impact.Of = "of the CPU that " + p.Name + " may use, " + c.At()
	f.Cause = fmt.Sprintf("%s is held to %s, of which %s is used %s: %s. Requests wait for that; what else is idle on the "+
		"host is of no use to it.", p.Name, s.held.By(), unit.Percent(s.BusyRatio()), c.At(), s.Words(p))
	f.Fixes = append([]kasoku.Fix{{
		Text: "Let " + p.Name + " use more of the host", Where: s.held.Where(), Risk: kasoku.RiskRestart,
		Note: "Unless it is held so on purpose, for what else runs here.",
	}}, f.Fixes...)
}
