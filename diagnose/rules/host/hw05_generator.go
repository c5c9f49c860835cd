package host

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
)

// Generator is the rule HW-05.
type Generator struct{}

// Thresholds of HW-05.
const (
	// ownShare of the latency that passes before the send.
	ownShare = 0.30
	// ownDelay is what passes before the send on average. A timer wakes a
	// process some tenths of a millisecond late, which is much of the latency
	// of a server that answers at once, but no limit: 0.2 to 0.5 ms were
	// measured at 3,000 to 8,000 req/s on cores that had time left.
	ownDelay = time.Millisecond
	// busyShare of its cores, above which it waits for CPU.
	busyShare = 0.90
	// idleShare of the host's cores that others must leave.
	idleShare = 0.30
)

// ID returns HW-05.
func (Generator) ID() string { return "HW-05" }

// Doc describes the rule.
func (Generator) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a load generator that is the limit itself.`,
		Evidence: `at least 30 % of the latency, and at least 1 ms on average, passed before the generator
			sent the request, and it was out of CPU (90 % of its cores) or used more CPU than all else on its
			host. Of a foreign generator only CPU is known: then both must hold and the rest of the host must
			leave 30 % of its cores idle.`,
		Cause: `requests wait in the generator, so latency and rate are its own.`,
		Fix: `cores of its own, another machine, or a lower rate; until then the result is a lower bound
			of what the server can do.`,
		Silent: `when it sends in time, when it has CPU left and waits at its cap of requests in flight
			(then the server is slow), or when others take the CPU; blind when neither its delay nor its CPU
			was recorded.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// generator is what a run says about the program that made its load.
type generator struct {
	name       string
	own        float64       // share of the latency that passed before the send
	mean, p99  time.Duration // of the send delay
	delayKnown bool
	capped     bool
	cores, of  float64 // CPU that it used, of what it might use; of 0: unknown
	cpuErr     error
	others     float64 // CPU that all else on its host used
	host       float64 // cores of the host; 0: unknown
	keys       []kasoku.Key
}

func (g generator) late() bool { return g.delayKnown && g.own >= ownShare && g.mean >= ownDelay }

// nearLate is how near its delay came to being late.
func (g generator) nearLate() float64 {
	return min(g.own/ownShare, g.mean.Seconds()/ownDelay.Seconds())
}

// nearBusy is how near its CPU came to being its limit.
func (g generator) nearBusy() float64 {
	if g.cpuErr != nil {
		return 0
	}
	return min(max(g.cores/max(busyShare*g.of, 0.01), g.cores/max(g.others, 0.01)), 1)
}

func (g generator) outOfCPU() bool { return g.cpuErr == nil && g.of > 0 && g.cores >= busyShare*g.of }

func (g generator) outdoes() bool { return g.cpuErr == nil && g.host > 0 && g.cores > g.others }

func (g generator) idleLeft() bool { return g.host > 0 && g.others <= (1-idleShare)*g.host }

// Check compares the generator's own delay and CPU with the rest.
func (r Generator) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Load == nil && c.Run.Command == nil {
		return nil, diagnose.Blind(r.ID(), errors.New("nothing is known of what made the load"))
	}
	if _, err := c.Requests(c.Focus.Interval); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	g := generatorOf(c)
	switch {
	case !g.delayKnown && g.cpuErr != nil:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the generator's own delay was not counted; %w", g.cpuErr))
	case g.capped && !g.outOfCPU():
		return nil, diagnose.Quiet(r.ID(), 0, "%s requests in flight are the cap: the generator waits for the server",
			unit.Count(c.Load.MaxInFlight))
	case g.late() && (g.outOfCPU() || g.outdoes()):
	case !g.delayKnown && g.outOfCPU() && g.outdoes() && g.idleLeft():
	case g.late():
		return nil, diagnose.Quiet(r.ID(), g.nearBusy(),
			"%s of the latency passed before the send, but the generator was not out of CPU: %s", unit.Percent(g.own),
			g.cpuWords())
	case g.delayKnown:
		return nil, diagnose.Quiet(r.ID(), min(g.nearLate(), g.nearBusy()),
			"%s of the latency passed before the send, %s on average; the thresholds are %s and %s",
			unit.Percent(g.own), unit.Duration(g.mean), unit.Percent(ownShare), unit.Duration(ownDelay))
	default:
		return nil, diagnose.Quiet(r.ID(), g.cores/max(busyShare*g.of, 0.01),
			"the generator was not out of CPU, or others left it none: %s", g.cpuWords())
	}
	return []kasoku.Finding{r.finding(c, g)}, nil
}

func (r Generator) finding(c *diagnose.Case, g generator) kasoku.Finding {
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: g.name},
		Title:  "The load generator is the limit; the result is a lower bound",
		Clause: "the load generator is the limit", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(g)...),
		Impact:     kasoku.Impact{Share: g.own, Of: "of latency " + c.At()},
		Evidence:   r.evidence(c, g),
		Cause: "Requests wait in the generator before they are sent, so what is measured is the generator. " +
			wording.Capital(g.cpuWords()) + ".",
		Fixes: []kasoku.Fix{{
			Text: "Run the load from another machine, give the generator cores of its own, or lower the rate",
			Risk: kasoku.RiskNone,
			Note: "Until then, latencies are too high and the rate that the server bears is at least the one reached here.",
		}},
		Expect: "less than a tenth of the latency before the send",
		Verify: "repeat the load: the send delay's p99 must be below 1 ms", Interval: c.Focus.Interval,
	}
	if !g.delayKnown {
		f.Impact = kasoku.Impact{Of: evidence.Unmeasured, Estimate: true}
	}
	return f
}

func (g generator) cpuWords() string {
	if g.cpuErr != nil {
		return "its CPU was not recorded"
	}
	s := fmt.Sprintf("it used %s cores", unit.Sig3(g.cores))
	if g.of > 0 {
		s = fmt.Sprintf("it used %s of %s cores", unit.Sig3(g.cores), unit.Plain(g.of))
	}
	if g.host > 0 {
		s += fmt.Sprintf(", all else on its host %s of %s", unit.Sig3(g.others), unit.Plain(g.host))
	}
	return s
}

func (Generator) signals(g generator) []diagnose.Signal {
	late := diagnose.Signal{Holds: g.late(), Lacks: "requests were sent in time"}
	if !g.delayKnown {
		late.Blind = "the delay before the send was not counted"
	}
	busy := diagnose.Signal{Holds: g.outOfCPU(), Lacks: "it had CPU left"}
	more := diagnose.Signal{Holds: g.outdoes(), Lacks: "others used more CPU"}
	idle := diagnose.Signal{Holds: g.idleLeft(), Lacks: "others left little of the host idle"}
	if g.cpuErr != nil || g.of == 0 {
		busy.Blind = "its CPU was not recorded"
	}
	if g.cpuErr != nil || g.host == 0 {
		more.Blind, idle.Blind = "the host's CPU was not recorded", "the host's CPU was not recorded"
	}
	return []diagnose.Signal{late, busy, more, idle}
}

func (Generator) evidence(c *diagnose.Case, g generator) []kasoku.Evidence {
	var out []kasoku.Evidence
	if g.delayKnown {
		out = append(out, kasoku.Evidence{
			Source: "load", Text: "latency before the send", Note: "send delay p99 " + unit.Duration(g.p99),
			Value: unit.Percent(g.own), Number: g.own,
			Strong: true, Interval: c.Focus.Interval,
		})
	}
	if g.cpuErr == nil {
		e := kasoku.Evidence{
			Source: "process", Text: "CPU of the generator", Value: unit.Sig3(g.cores) + " cores", Number: g.cores,
			Strong: true, Series: g.keys, Interval: c.Focus.Interval,
		}
		if g.of > 0 {
			e.Note = "of " + unit.Plain(g.of)
		}
		out = append(out, e)
	}
	if g.host > 0 {
		out = append(out, kasoku.Evidence{
			Source: "host", Text: "CPU of all else", Note: "of " + unit.Plain(g.host),
			Value: unit.Sig3(g.others) + " cores", Number: g.others,
			Series:   []kasoku.Key{{Source: diagnose.Host, Name: hostkeys.CPUIdle}},
			Interval: c.Focus.Interval,
		})
	}
	return out
}

func generatorOf(c *diagnose.Case) generator {
	var g generator
	if t := c.Focus.Tally; t != nil && t.SendDelay.Count() > 0 && t.Latency.Mean() > 0 {
		g.delayKnown = true
		g.own = min(t.SendDelay.Mean().Seconds()/t.Latency.Mean().Seconds(), 1)
		g.mean, g.p99 = t.SendDelay.Mean(), t.SendDelay.Quantile(0.99)
	}
	busy, host, err := c.Hosts().HostBusy()
	if err == nil {
		g.host = host
	}
	if c.Load != nil {
		g.ofLoad(c)
	} else {
		g.ofCommand(c)
	}
	if g.of == 0 {
		g.of = g.host
	}
	g.others = max(busy-g.cores, 0)
	return g
}

// ofLoad takes the CPU of kasoku's own generator, which shares its process with
// the recorder: over the focus from what kasoku recorded of itself, else over
// the whole load.
func (g *generator) ofLoad(c *diagnose.Case) {
	l := c.Load
	g.name, g.of = strings.TrimSpace("kasoku "+l.Engine), float64(l.Cores)
	g.capped = l.MaxInFlight > 0 && l.PeakInFlight >= l.MaxInFlight
	var err error
	if g.cores, err = c.Counters().Cores(diagnose.Self, ""); err == nil {
		g.keys = []kasoku.Key{{Source: diagnose.Self, Name: observe.SelfCPUUser},
			{Source: diagnose.Self, Name: observe.SelfCPUSystem}}
		return
	}
	if l.CPU <= 0 || l.Wall <= 0 {
		g.cpuErr = err
		return
	}
	g.cores = max(l.CPU.Seconds()/l.Wall.Seconds(), l.PeakCores)
}

// ofCommand takes the CPU of the command that the recording ran, by its name
// among the recorded processes, else over its whole life: of those processes are
// some of others when they used more than the command did with all that it started.
func (g *generator) ofCommand(c *diagnose.Case) {
	cmd := c.Run.Command
	if len(cmd.Args) > 0 {
		g.name = path.Base(cmd.Args[0])
	}
	used := 0.0
	for _, s := range c.FindAll(diagnose.Process, process.CPUUser) {
		if _, name, _ := strings.Cut(s.Key.Instance, " "); name == g.name && name != "" && c.Processes().MemberOf(s.Key) == nil {
			for _, k := range [...]string{process.CPUUser, process.CPUSystem} {
				key := s.Key
				key.Name = k
				if grown, err := evidence.WholeRun(c).Counters().Grown(key); err == nil {
					used += grown.By
				}
			}
			if cores, err := c.Counters().Cores(diagnose.Process, s.Key.Instance); err == nil {
				g.cores += cores
				g.keys = append(g.keys, s.Key)
			}
		}
	}
	const slack = 1.1 // samples and the kernel's own account differ by ticks
	own := (cmd.User + cmd.System).Seconds()
	if len(g.keys) > 0 && (cmd.Wall <= 0 || own <= 0 || used <= slack*own+0.1) {
		return
	}
	g.cores, g.keys = 0, nil
	if cmd.Wall <= 0 {
		g.cpuErr = errors.New("its CPU was not recorded")
		return
	}
	g.cores = own / cmd.Wall.Seconds()
}
