package evidence

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/host"
)

// A Stack is what shares the CPU of the host on which the database runs. All
// figures are cores, while the focus's load ran.
type Stack struct {
	Busy, Cores   float64 // all that ran, of what there is
	Own           float64 // the load's generator and kasoku
	Neighbours    float64 // processes outside of the service
	known         bool    // whether it is known what is outside
	Database, App diagnose.Program
	// Where is "" where the run has one host, else " on db1", to say of which host a figure is.
	Where string
	// held is what the program that the finding is about is held to, where that is less than its
	// host has: Busy and Cores are of that then.
	held     *diagnose.Allowed
	heldName string
}

// StackOf finds the database that used most CPU, and the other program that did
// on its host. The app has no name when there was none.
func StackOf(c *diagnose.Case) (Stack, error) {
	programs, err := c.Processes().Members()
	if err != nil {
		return Stack{}, err
	}
	var s Stack
	for _, p := range programs {
		if p.Role == diagnose.Database && p.Cores > s.Database.Cores {
			s.Database = p
		}
	}
	if s.Database.Name == "" {
		return Stack{}, errors.New("no process of a database server was recorded")
	}
	if s.Busy, s.Cores, err = c.Hosts().BusyOn(s.Database.Host); err != nil {
		return Stack{}, err
	}
	s.Where = on(c, s.Database.Host)
	s.Neighbours, s.known = c.NeighbourCores(s.Database.Host)
	for _, p := range programs {
		switch {
		case p.Host != s.Database.Host:
		case p.Role == diagnose.Generator || p.Role == diagnose.Recorder:
			s.Own += p.Cores
		case isApp(c, p) && p.Cores > s.App.Cores:
			s.App = p
		}
	}
	s.hold(c, s.Database, programs)
	return s, nil
}

// isApp reports whether a program is the application of the service.
func isApp(c *diagnose.Case, p diagnose.Program) bool {
	m := c.Service.Member(p.Member)
	return m != nil && m.Role == kasoku.RoleApplication
}

// on names a host where there are several.
func on(c *diagnose.Case, host string) string {
	if len(c.Run.Hosts) < 2 || host == "" {
		return ""
	}
	return " on " + host
}

// A Rest is what is known of the part of the service that is not what uses a host's CPU: of
// its application where that is the database, of its database where that is the application.
type Rest struct {
	Idle   bool // all of it was recorded, each on the same host or on one with CPU left
	Signal []diagnose.Signal
	Words  string // what is not idle elsewhere: " shop uses 1.90 of 2 cores on web1."; empty without
}

// RestOf looks on all hosts for the other part, whose programs of counts; what is on host is in the
// stack's figures. Where the other part was recorded nowhere, as a database that others run for
// one, a faster one may be all that is needed.
func RestOf(c *diagnose.Case, host, what string, of func(diagnose.Program) bool) Rest {
	programs, err := c.Processes().Members()
	r := Rest{Idle: err == nil}
	found := false
	for _, p := range programs {
		if !of(p) {
			continue
		}
		found = true
		busy, cores, err := c.Hosts().BusyOn(p.Host)
		if p.Host == host || err == nil && busy < BusyHost*cores {
			continue
		}
		r.Idle = false
		if err == nil {
			r.Words += fmt.Sprintf(" %s uses %s of %s cores%s.", p.Name, unit.Sig3(p.Cores), unit.Plain(cores),
				on(c, p.Host))
		}
	}
	switch {
	case !found:
		return Rest{Signal: []diagnose.Signal{{Blind: "no process of " + what + " was recorded"}}}
	case !r.Idle:
		r.Signal = []diagnose.Signal{{Lacks: "the host of " + what + " is busy too"}}
	}
	return r
}

// Here is " on this host" where the rest is elsewhere and not known to be idle, empty otherwise.
func (r Rest) Here() string {
	if r.Idle {
		return ""
	}
	return " on this host"
}

// IsDatabase reports whether a program is a database server of the service.
func IsDatabase(p diagnose.Program) bool { return p.Role == diagnose.Database }

// IsApp returns what reports whether a program is the application of the service.
func IsApp(c *diagnose.Case) func(diagnose.Program) bool {
	return func(p diagnose.Program) bool { return isApp(c, p) }
}

// BusyRatio is the busy part of the host's cores.
func (s Stack) BusyRatio() float64 { return s.Busy / max(s.Cores, 0.01) }

// OwnRatio is the part of the host's cores that is busy without what programs outside of the service use: so
// much of it the service needs, whoever else is there.
func (s Stack) OwnRatio() float64 { return max(s.Busy-s.Neighbours, 0) / max(s.Cores, 0.01) }

// Pressed is how near the host is to wanting CPU for the service, from 1 on it does: the service uses so much of
// its cores, or nothing is left.
func (s Stack) Pressed(busy float64) float64 {
	return max(s.OwnRatio()/busy, s.BusyRatio()/Saturated)
}

// OwnBusy says how busy the host was, in the middle of a sentence, and how busy without neighbours.
func (s Stack) OwnBusy() string {
	if s.OwnRatio() > s.BusyRatio()-0.01 {
		return s.HostBusy()
	}
	return s.HostBusy() + ", " + unit.Percent(s.OwnRatio()) + " without what programs outside of the service used"
}

// DatabaseShare is the database's share of the CPU that the service used: the
// generator, where it runs beside it, is no part of the service.
func (s Stack) DatabaseShare() float64 {
	return min(s.Database.Cores/max(s.Service(), s.Database.Cores, 0.01), 1)
}

// Service is the CPU that the service used.
func (s Stack) Service() float64 { return max(s.Busy-s.Own-s.Neighbours, 0) }

// Crowded reports whether programs outside of the service use most of the CPU in use: who
// of the service uses the rest is no cause then. The silences say so.
func (s Stack) Crowded(rule string) ([]kasoku.Silence, bool) {
	if !s.known || s.Neighbours <= s.Busy/2 {
		return nil, false
	}
	return diagnose.Quiet(rule, 0, "programs outside of the service use %s of the %s cores that are in use",
		unit.Sig3(s.Neighbours), unit.Sig3(s.Busy)), true
}

// slowed reports whether CPU is what the run lacked: requests succeed and take
// too long, and the generator is not among those that take it.
func (s Stack) slowed(c *diagnose.Case) bool {
	return c.Focus.Broke && c.Good() >= kasoku.FailingBelow && s.Own < generatorShare*s.Cores
}

// generatorShare of the host's cores makes the generator a part of what is
// measured.
const generatorShare = 0.10

// Severity of a finding about who uses the CPU, of a rule that speaks where so much of the host is busy: it
// is a remark, unless the run broke for want of CPU, and not because of what programs outside of the service
// used.
func (s Stack) Severity(c *diagnose.Case, busy float64) kasoku.Severity {
	if s.slowed(c) && s.Busy-s.Neighbours >= busy*s.Cores {
		return kasoku.Problem
	}
	return kasoku.Info
}

// Words describes who uses the CPU, a program first: "mariadbd uses 1.52 of 2 cores, shop 0.20,
// the load's generator and kasoku 0.15".
func (s Stack) Words(first diagnose.Program) string {
	text := fmt.Sprintf("%s uses %s of %s", first.Name, unit.Sig3(first.Cores), s.Of())
	for _, p := range []diagnose.Program{s.App, s.Database} {
		if p.Name != "" && p.Name != first.Name {
			text += fmt.Sprintf(", %s %s", p.Name, unit.Sig3(p.Cores))
		}
	}
	if s.Own > 0 {
		text += fmt.Sprintf(", the load's generator and kasoku %s", unit.Sig3(s.Own))
	}
	return text
}

// Evidence quotes the CPU in use on the database's host, and what the database, the app,
// and the load's generator with kasoku have of it.
func (s Stack) Evidence(c *diagnose.Case) []kasoku.Evidence {
	out := []kasoku.Evidence{s.InUse(c, s.Database.Host)}
	for _, p := range []diagnose.Program{s.Database, s.App} {
		if p.Name != "" {
			out = append(out, CPUOf(c, p))
		}
	}
	if s.Own > 0 {
		out = append(out, kasoku.Evidence{
			Source: "process", Text: "CPU of the load's generator and kasoku", Value: unit.Sig3(s.Own) + " cores",
			Number: s.Own, Interval: c.Focus.Interval,
		})
	}
	return out
}

// InUse is the evidence of how busy a host was, or the cores of it that the program is held to.
func (s Stack) InUse(c *diagnose.Case, of string) kasoku.Evidence {
	e := kasoku.Evidence{
		Source: "host", Text: "CPU in use", Note: "of " + unit.Plain(s.Cores), Value: unit.Sig3(s.Busy) + " cores",
		Number: s.Busy, Strong: true,
		Series:   []kasoku.Key{{Host: of, Source: diagnose.Host, Name: host.CPUIdle}},
		Interval: c.Focus.Interval,
	}
	if s.held != nil {
		e.Note = "of what " + s.heldName + " is held to: " + s.held.By()
		e.Series = s.held.Series(of)
	}
	return e
}

// CPUOf is the evidence of a program's CPU.
func CPUOf(c *diagnose.Case, p diagnose.Program) kasoku.Evidence {
	e := kasoku.Evidence{
		Source: "process", Text: "CPU of " + p.Name, Value: unit.Sig3(p.Cores) + " cores", Number: p.Cores,
		Strong: true, Series: p.Keys, Interval: c.Focus.Interval,
	}
	if p.Processes > 1 {
		e.Note = unit.Count(p.Processes) + " processes"
	}
	return e
}

// Signals of a CPU that is fought for.
func (s Stack) Signals(c *diagnose.Case) []diagnose.Signal {
	slower := diagnose.Signal{Lacks: "requests took no longer than under less load"}
	if base, t := c.Focus.BaseLoad, c.Focus.Tally; base == nil || t == nil {
		slower.Blind = "there is no step of less load to compare with"
	} else {
		slower.Holds = t.Latency.Quantile(0.95) > base.Latency.Quantile(0.95)*3/2
	}
	return []diagnose.Signal{
		{Holds: s.BusyRatio() >= Saturated, Lacks: s.what() + " had CPU left"},
		slower,
		{Holds: s.Own < generatorShare*s.Cores, Lacks: "the load's generator runs on the same host"},
	}
}

// Saturated is the busy part of a host above which processes wait for CPU.
const Saturated = 0.90

// Apart is the first thing to do when the generator takes part of the host.
func (s Stack) Apart() []kasoku.Fix {
	if s.Own < generatorShare*s.Cores {
		return nil
	}
	if s.held != nil {
		return nil
	}
	return []kasoku.Fix{{
		Text: "Run the load from another machine, so that the figures are those of the service", Risk: kasoku.RiskNone,
		Note: fmt.Sprintf("The generator and kasoku take %s of the host's %s cores; with them gone the service has as much more.", unit.Sig3(s.Own), unit.Plain(s.Cores)),
	}}
}

// LeastDatabaseShare was exceeded wherever people then found the gain in queries: 77
// to 90 % of the busy CPU, while the app used 5 to 10 %.
const LeastDatabaseShare = 0.60

// AppStack is the stack of the program that used most CPU, with the database of its
// host, if there is one.
func AppStack(c *diagnose.Case) (Stack, error) {
	programs, err := c.Processes().Members()
	if err != nil {
		return Stack{}, err
	}
	var s Stack
	for _, p := range programs {
		if isApp(c, p) && p.Cores > s.App.Cores {
			s.App = p
		}
	}
	if s.App.Name == "" {
		return Stack{}, errors.New("no process of an application was recorded")
	}
	if s.Busy, s.Cores, err = c.Hosts().BusyOn(s.App.Host); err != nil {
		return Stack{}, err
	}
	s.Where = on(c, s.App.Host)
	s.Neighbours, s.known = c.NeighbourCores(s.App.Host)
	for _, p := range programs {
		switch {
		case p.Host != s.App.Host:
		case p.Role == diagnose.Generator || p.Role == diagnose.Recorder:
			s.Own += p.Cores
		case p.Role == diagnose.Database && p.Cores > s.Database.Cores:
			s.Database = p
		}
	}
	s.hold(c, s.App, programs)
	return s, nil
}
