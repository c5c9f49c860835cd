package host

import (
	"fmt"
	"math"
	"path"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
)

// SerialClient is the rule HW-11.
type SerialClient struct{}

// Thresholds of HW-11.
const (
	fewSerial   = 50   // statements a second
	leastSerial = 0.50 // of the samples with a session in a statement
	leastAlone  = 0.25 // of the time in statements of the only connection that sends some
	// fillSerial statements a second of one connection fill the time, with their ways there and back of a
	// tenth of a millisecond, however short each is in the server.
	fillSerial   = 10_000
	mostlyLogged = 0.90 // of the statements that the server counted
	chanceSerial = 0.10 // that sessions which do not wait for one another are never seen two at once
	idleSerial   = 0.30 // of the host's cores
	someIdle     = 0.15 // likewise, for a remark
)

// ID returns HW-11.
func (SerialClient) ID() string { return "HW-11" }

// Doc describes the rule.
func (SerialClient) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a program that sends the database one statement after another.`,
		Evidence: `at least 50 statements a second came, in half of the samples a session ran one, and in none of
			them two did, in so many samples that chance is below 10 %; or the slow log has them all, of one
			connection, which was in statements for a quarter of the time, or sent 10,000 a second. The
			service, its load and kasoku used at most 70 % of the host's CPU; up to 85 % it is a remark.`,
		Cause: `client and server take turns: each waits while the other works, and no more than one
			core's worth of work is ever done.`,
		Fix: `several at once, or many in one go.`,
		Silent: `when two sessions ran statements at once, when the samples are too few to rule chance out, when CPU
			was short, for a load that kasoku makes by a schedule, and where a log has requests: of those
			only their sum is kept, which does not show whether two overlap; blind when nothing counted statements.
			Where programs outside of the service use the server too, statements and their time are those that
			the slow log has of the service.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// turns is how statements were seen to follow one another.
type turns struct {
	perSec  float64
	busy    float64 // share of the samples in which a session ran a statement
	most    float64 // sessions in a statement at once
	samples int
	key     kasoku.Key
	alone   bool // one connection sent all of them, which runs one at a time
}

// chance returns how likely it is that sessions which begin statements independently of one
// another, as many on average as were seen, are in none of the samples two at once: their
// number in a sample is Poisson's.
func (t turns) chance() float64 {
	return math.Pow(math.Exp(-t.busy)*(1+t.busy), float64(t.samples))
}

// near is how near statements came to following one another.
func (t turns) near() float64 {
	if t.alone {
		return min(t.perSec/fewSerial, max(t.busy/leastAlone, t.perSec/fillSerial))
	}
	return max(min(t.perSec/fewSerial, t.busy/leastSerial, 1/max(t.most, 1), chanceSerial/max(t.chance(), 0.001)), 0)
}

// Check looks for one statement after another.
func (r SerialClient) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Load != nil {
		return nil, diagnose.Quiet(r.ID(), 0, "the load has a schedule: requests do not wait for those before")
	}
	if counts, _ := c.BySecond(); len(counts) > 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "requests were logged, and whether two of them overlap is not kept")
	}
	t, err := r.turns(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	busy, cores, err := evidence.UsedCPU(c, evidence.DatabaseHost(c))
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	idle := 1 - busy/max(cores, 0.01)
	switch near := min(t.near(), idle/someIdle); {
	case near < 1 && t.alone:
		return nil, diagnose.Quiet(r.ID(), max(near, 0), "one connection sent all of %s statements a second, which took %s "+
			"of the time, and %s of the CPU was not used by the service; the thresholds are %d, %s and %s",
			unit.Sig3(t.perSec), unit.Percent(t.busy), unit.Percent(max(idle, 0)), fewSerial, unit.Percent(leastAlone),
			unit.Percent(someIdle))
	case near < 1:
		return nil, diagnose.Quiet(r.ID(), max(near, 0),
			"%s statements a second, in %s of %d samples, %s at once at most, and %s of the CPU not used by the service; "+
				"serial is never two at once, in %s of the samples, with %s not used", unit.Sig3(t.perSec),
			unit.Percent(t.busy), t.samples, unit.Plain(t.most), unit.Percent(max(idle, 0)),
			unit.Percent(leastSerial), unit.Percent(someIdle))
	}
	severity := kasoku.Problem
	if idle < idleSerial {
		severity = kasoku.Info
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: r.client(c)},
		Title:  "The client sends one statement after another",
		Clause: "the client sends one statement after another", Severity: severity,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: idle >= 0.5, Lacks: "the service used half of the CPU"}),
		Impact: kasoku.Impact{Share: min(max(idle, 0), 1), Of: "of the host's CPU, which the service did not use " + c.At(),
			Estimate: true},
		Evidence: []kasoku.Evidence{t.evidence(c), {
			Source: "process", Text: "CPU of the service and its load", Note: "of " + unit.Plain(cores),
			Value:  unit.Sig3(busy) + " cores",
			Number: busy, Strong: true,
			Series:   []kasoku.Key{{Source: diagnose.Host, Name: hostkeys.CPUIdle}},
			Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("%s statements a second came, never two at once: client and server take turns, and do not "+
			"use %s of the host's CPU.", unit.Sig3(t.perSec), unit.Percent(max(idle, 0))),
		Fixes: []kasoku.Fix{{
			Text: "Send several at once, or many in one go", Where: "the client", Risk: kasoku.RiskNone,
			Note: "A statement that writes many rows, or as many workers as the host has cores, each with a connection " +
				"of its own.",
		}},
		Expect: "more done in the same time, until CPU or disk is used up",
		Verify: "repeat it: the service must use more CPU, or its disk", Interval: c.Focus.Interval,
	}}, nil
}

// evidence is that no two statements ran at once.
func (t turns) evidence(c *diagnose.Case) kasoku.Evidence {
	if t.alone {
		return kasoku.Evidence{Source: "slow.log", Text: "connections that sent statements",
			Note:  "in statements for " + unit.Percent(t.busy) + " of the time",
			Value: "1", Number: 1, Strong: true, Interval: c.Whole()}
	}
	return kasoku.Evidence{
		Source: "status", Text: "sessions that run a statement",
		Note:  fmt.Sprintf("most in any of %d samples; one in %s of them", t.samples, unit.Percent(t.busy)),
		Value: unit.Plain(t.most), Number: t.most, Strong: true, Series: []kasoku.Key{t.key},
		Interval: c.Focus.Interval,
	}
}

// turns looks at the sessions of the database.
func (SerialClient) turns(c *diagnose.Case) (turns, error) {
	q, err := c.Counters().Status(mysql.Questions)
	if err != nil {
		return turns{}, err
	}
	g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ConnQuery})
	if err != nil {
		return turns{}, err
	}
	t := turns{perSec: q.By / max(q.Interval.Len().Seconds(), 0.001), most: g.Max, key: g.Key}
	for _, p := range c.Find(g.Key).Within(c.Focus.Interval) {
		t.samples++
		t.busy += min(p.Value, 1)
	}
	t.busy /= float64(max(t.samples, 1))
	if evidence.IsShared(c) {
		return t, t.takeOwn(c)
	}
	t.lookAlone(c)
	return t, nil
}

// lookAlone sees whether the log has what the server counted, and all of it of one connection.
func (t *turns) lookAlone(c *diagnose.Case) {
	connections, ok := kasoku.SentOverOf(c.Recording)
	all, err := evidence.WholeRun(c).Counters().Status(mysql.Questions)
	if !ok || connections != 1 || err != nil {
		return
	}
	calls, seconds := logged(c)
	if calls < mostlyLogged*all.By {
		return
	}
	t.alone, t.busy = true, seconds/max(c.Run.Length.Seconds(), 0.001)
}

// logged returns the statements that the slow log has of the run, and the seconds that they took.
func logged(c *diagnose.Case) (calls, seconds float64) {
	for i := range c.Queries {
		calls += float64(c.Queries[i].Calls)
		seconds += c.Queries[i].Total.Seconds()
	}
	return calls, seconds
}

// takeOwn leaves of what the server counted what its log has of the service: that no two sessions
// ran statements at once holds of all.
func (t *turns) takeOwn(c *diagnose.Case) error {
	if err := evidence.CheckStatements(c); err != nil {
		return evidence.CheckOwn(c, "statements")
	}
	calls, seconds := logged(c)
	length := max(c.Run.Length.Seconds(), 0.001)
	t.perSec, t.busy = min(t.perSec, calls/length), min(t.busy, seconds/length)
	return nil
}

// client names the command that the recording ran. Without one the sender is not known.
func (SerialClient) client(c *diagnose.Case) string {
	if cmd := c.Run.Command; cmd != nil && len(cmd.Args) > 0 {
		return path.Base(cmd.Args[0])
	}
	return "the client"
}
