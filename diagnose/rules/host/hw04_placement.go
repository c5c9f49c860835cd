package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
)

// Placement is the rule HW-04.
type Placement struct{}

// Thresholds of HW-04.
const (
	// apartBy is how much busier one host is than another at least.
	apartBy = 0.40
	// roomy is how busy each host may be after a move: with less room the queue only moves.
	roomy = 0.80
)

// ID returns HW-04.
func (Placement) ID() string { return "HW-04" }

// Doc describes the rule.
func (Placement) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a host of the service that is full while another one is idle.`,
		Evidence: `of a service on several hosts one is at least 90 % busy, half of that at least by the service, and
			another of its hosts is less busy by 40 points; the programs of the two, changed over, or one
			program moved, would leave both at most 80 % busy.`,
		Cause: `roles were put on hosts that do not fit them: what needs most CPU is where the fewest cores are,
			or several programs share a host while another has room.`,
		Fix: `change the roles of the two hosts, or move the program that fits.`,
		Silent: `on one host, when the hosts are as busy as one another, when no move leaves both with room, when
			both run the same program; blind
			where the members of the service, or the CPU of its hosts, are not known.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// A hostLoad is what a host's CPU does.
type hostLoad struct {
	name        string
	busy, cores float64
	own         []diagnose.Program // of the service, most CPU first
	ours        float64            // cores that they use
}

// runs reports whether the host has a program of that name: then it is how requests are shared out that
// does not fit.
func (h *hostLoad) runs(p diagnose.Program) bool {
	return slices.ContainsFunc(h.own, func(o diagnose.Program) bool { return o.Name == p.Name })
}

func (h *hostLoad) ratio() float64 { return h.busy / h.cores }

// A move is what would be changed, and how busy the two hosts are then.
type move struct {
	program     *diagnose.Program // nil: the two change their roles
	full, empty float64
}

func (m move) worst() float64 { return max(m.full, m.empty) }

// Check compares the busiest host of the service with its idlest.
func (r Placement) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	hosts, err := hostLoads(c)
	switch {
	case err != nil:
		return nil, diagnose.Blind(r.ID(), err)
	case len(hosts) < 2:
		return nil, diagnose.Quiet(r.ID(), 0, "programs of the service were recorded on one host")
	}
	full, idle := &hosts[0], &hosts[len(hosts)-1]
	apart := full.ratio() - idle.ratio()
	n := min(full.ratio()/evidence.Saturated, apart/apartBy, full.ours/full.busy/0.5)
	said := fmt.Sprintf("%s is %s busy, %s by the service, and %s %s; the thresholds are %s, half of it, and %s less",
		full.name, unit.Percent(full.ratio()), unit.Percent(full.ours/full.cores), idle.name, unit.Percent(idle.ratio()),
		unit.Percent(evidence.Saturated), unit.Percent(apartBy))
	if n < 1 {
		return nil, diagnose.Quiet(r.ID(), max(n, 0), "%s", said)
	}
	best, ok := bestMove(full, idle)
	if !ok {
		return nil, diagnose.Quiet(r.ID(), min(roomy/best.worst(), 0.99),
			"%s is %s busy, but what is best to move would leave a host %s busy; the threshold is %s",
			full.name, unit.Percent(full.ratio()), unit.Percent(best.worst()), unit.Percent(roomy))
	}
	return []kasoku.Finding{r.finding(c, full, idle, best)}, nil
}

// hostLoads returns the hosts with programs of the service, the busiest first.
func hostLoads(c *diagnose.Case) (out []hostLoad, err error) {
	programs, err := c.Processes().Members()
	if err != nil {
		return nil, err
	}
	for _, p := range programs {
		if p.Member == "" {
			continue
		}
		i := slices.IndexFunc(out, func(h hostLoad) bool { return h.name == p.Host })
		if i < 0 {
			busy, cores, err := c.Hosts().BusyOn(p.Host)
			if err != nil {
				return nil, err
			}
			if cores <= 0 {
				return nil, errors.New("the cores of a host were not recorded")
			}
			i, out = len(out), append(out, hostLoad{name: p.Host, busy: max(busy, 0.001), cores: cores})
		}
		out[i].own, out[i].ours = append(out[i].own, p), out[i].ours+p.Cores
	}
	slices.SortStableFunc(out, func(a, b hostLoad) int { return cmp.Compare(b.ratio(), a.ratio()) })
	return out, nil
}

// bestMove returns what leaves the two hosts most room; ok is false where that is too little.
func bestMove(full, idle *hostLoad) (best move, ok bool) {
	best = move{full: full.ratio(), empty: full.ratio()} // nothing
	if !slices.ContainsFunc(full.own, idle.runs) {
		best = move{full: (full.busy - full.ours + idle.ours) / full.cores,
			empty: (idle.busy - idle.ours + full.ours) / idle.cores}
	}
	for i := range full.own {
		p := &full.own[i]
		if len(full.own) == 1 || idle.runs(*p) { // it would leave a host with nothing to do, or is there already
			continue
		}
		m := move{program: p, full: (full.busy - p.Cores) / full.cores, empty: (idle.busy + p.Cores) / idle.cores}
		if m.worst() < best.worst() {
			best = m
		}
	}
	return best, best.worst() <= roomy
}

func (r Placement) finding(c *diagnose.Case, full, idle *hostLoad, m move) kasoku.Finding {
	change := fmt.Sprintf("change the roles of %s and %s", full.name, idle.name)
	said := fmt.Sprintf("%s on %s, %s on %s", namesOf(full), idle.name, namesOf(idle), full.name)
	if m.program != nil {
		change = fmt.Sprintf("move %s from %s to %s", m.program.Name, full.name, idle.name)
		said = fmt.Sprintf("%s beside %s on %s", m.program.Name, namesOf(idle), idle.name)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "host", Name: full.name}, Severity: kasoku.Problem,
		Title: wording.Cut(fmt.Sprintf("%s is %s busy while %s has room", wording.Cut(full.name, 24),
			unit.Percent(full.ratio()), wording.Cut(idle.name, 24)), wording.MaxTitle),
		Clause: fmt.Sprintf("%s is full while %s has room", full.name, idle.name),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what the network between the hosts would cost was not measured"}),
		Impact: kasoku.Impact{Share: min(full.ratio()-m.worst(), 1), Of: "of the CPU of " + full.name + " " + c.At(),
			Estimate: true},
		Cause: fmt.Sprintf("%s has %s cores, of which %s %s; %s has %s, and %s there %s.", wording.Capital(full.name),
			unit.Plain(full.cores), namesOf(full), usesWords(full), idle.name, unit.Plain(idle.cores), namesOf(idle),
			usesWords(idle)),
		Fixes: []kasoku.Fix{{Text: wording.Capital(change), Where: "the hosts", Risk: kasoku.RiskRestart,
			Note: fmt.Sprintf("With %s, %s would be %s and %s %s busy at this rate, if a core of the one does what a core of "+
				"the other does. Memory, disks and the addresses that programs use are not in that.",
				said, full.name, unit.Percent(m.full), idle.name, unit.Percent(m.empty))}},
		Expect:   fmt.Sprintf("neither host above %s at this rate", unit.Percent(m.worst())),
		Verify:   "repeat the load: how busy both hosts are, and how long requests take",
		Interval: c.Focus.Interval,
	}
	for _, h := range []*hostLoad{full, idle} {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "host", Text: "CPU of " + h.name,
			Note:  fmt.Sprintf("%s of %s cores, %s by the service", unit.Sig3(h.busy), unit.Plain(h.cores), unit.Sig3(h.ours)),
			Value: unit.Percent(h.ratio()), Number: h.ratio(), Strong: true, Interval: c.Focus.Interval,
			Series: []kasoku.Key{{Host: h.name, Source: diagnose.Host, Name: hostkeys.CPUIdle}}})
		for _, p := range h.own[:min(len(h.own), 2)] {
			f.Evidence = append(f.Evidence, evidence.CPUOf(c, p))
		}
	}
	return f
}

// namesOf lists the programs of a host.
func namesOf(h *hostLoad) string {
	var names []string
	for _, p := range h.own {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return wording.List(names, 3)
}

// usesWords is "uses 1.90" or "use 1.90".
func usesWords(h *hostLoad) string {
	if len(h.own) == 1 {
		return "uses " + unit.Sig3(h.ours)
	}
	return "use " + unit.Sig3(h.ours)
}
