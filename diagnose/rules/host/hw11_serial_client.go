package host

import (
	"errors"
	"fmt"

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
	fewSerial   = 50   // a second
	leastSerial = 0.70 // under way on average
	mostSerial  = 1.10
	idleSerial  = 0.30 // of the host's cores
)

// ID returns HW-11.
func (SerialClient) ID() string { return "HW-11" }

// Doc describes the rule.
func (SerialClient) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a client that does one thing after another.`,
		Evidence: `at least 50 requests a second came and the time of all of them together is 70 to 110 %
			of the time on the clock, so that one was always under way and never two; or, of a database
			without requests in front, as many statements came while one session at most ran one. The host had
			at least 30 % of its CPU left.`,
		Cause: `client and server take turns: each waits while the other works, and no more than one
			core's worth of work is ever done.`,
		Fix: `several at once, or many in one go.`,
		Silent: `when more than one was under way, when CPU was short, and for a load that kasoku makes by
			a schedule; blind when nothing counted requests or statements.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// A turn is what is done one by one.
type turn struct {
	what   string
	perSec float64
	busy   float64 // under way on average; the most at once of statements
	near   float64
	ev     kasoku.Evidence
}

// Check looks for one thing after another.
func (r SerialClient) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Load != nil {
		return nil, diagnose.Quiet(r.ID(), 0, "the load has a schedule: requests do not wait for those before")
	}
	t, err := r.requests(c)
	if err != nil {
		t, err = r.statements(c)
	}
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	busy, cores, err := evidence.UsedCPU(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	idle := 1 - busy/max(cores, 0.01)
	if near := min(t.near, idle/idleSerial); near < 1 {
		return nil, diagnose.Quiet(r.ID(), max(near, 0),
			"%s %s a second, %s at once, and the host %s idle; serial is %s to %s at once with %s idle",
			unit.Sig3(t.perSec), t.what, unit.Sig3(t.busy), unit.Percent(max(idle, 0)), unit.Plain(leastSerial),
			unit.Plain(mostSerial), unit.Percent(idleSerial))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "process", Name: r.client(c)},
		Title:  "The client sends one " + t.what[:len(t.what)-1] + " after another",
		Clause: "the client sends one " + t.what[:len(t.what)-1] + " after another", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: idle >= 0.5, Lacks: "half of the CPU was in use"}),
		Impact: kasoku.Impact{Share: min(max(idle, 0), 1), Of: "of the host's CPU, idle " + c.At(), Estimate: true},
		Evidence: []kasoku.Evidence{t.ev, {
			Source: "host", Text: "CPU in use", Note: "of " + unit.Plain(cores), Value: unit.Sig3(busy) + " cores",
			Number: busy, Strong: true,
			Series:   []kasoku.Key{{Source: diagnose.Host, Name: hostkeys.CPUIdle}},
			Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("%s %s a second came, never two at once: client and server take turns, and %s of the host's "+
			"CPU is idle meanwhile.",
			unit.Sig3(t.perSec), t.what, unit.Percent(max(idle, 0))),
		Fixes: []kasoku.Fix{{
			Text: "Send several at once, or many in one go", Where: "the client", Risk: kasoku.RiskNone,
			Note: "A statement that writes many rows, or as many workers as the host has cores, each with a connection " +
				"of its own.",
		}},
		Expect: "more done in the same time, until CPU or disk is used up",
		Verify: "repeat it: the idle CPU must fall", Interval: c.Focus.Interval,
	}}, nil
}

// requests looks at the requests of an access log. What a whole run takes together is
// set against the seconds in which any came.
func (SerialClient) requests(c *diagnose.Case) (turn, error) {
	counts, source := c.BySecond()
	all := c.Statements().RequestTime()
	if len(counts) == 0 || all <= 0 {
		return turn{}, errors.New("no access log has the times of requests")
	}
	n := 0
	for _, k := range counts {
		n += int(k)
	}
	over := float64(len(counts))
	t := turn{what: "requests", perSec: float64(n) / over, busy: all.Seconds() / over}
	t.near = min(t.perSec/fewSerial, t.busy/leastSerial, mostSerial/max(t.busy, 0.01))
	t.ev = kasoku.Evidence{Source: "access", Text: "requests under way on average", Note: source,
		Value: unit.Sig3(t.busy), Number: t.busy, Strong: true, Interval: c.Focus.Interval}
	return t, nil
}

// statements looks at the sessions of the database.
func (SerialClient) statements(c *diagnose.Case) (turn, error) {
	q, err := c.Counters().Status(mysql.Questions)
	if err != nil {
		return turn{}, err
	}
	g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ConnQuery})
	if err != nil {
		return turn{}, err
	}
	t := turn{what: "statements", perSec: q.By / max(q.Interval.Len().Seconds(), 0.001), busy: g.Max}
	// Sampled, so that one that waits in the client is seen as none.
	t.near = min(t.perSec/fewSerial, mostSerial/max(g.Max, mostSerial))
	t.ev = kasoku.Evidence{Source: "status", Text: "sessions that run a statement", Note: "most in any sample",
		Value: unit.Plain(g.Max), Number: g.Max, Strong: true,
		Series: []kasoku.Key{g.Key}, Interval: c.Focus.Interval}
	return t, nil
}

// client names the program that sends, as far as the run shows it.
func (SerialClient) client(c *diagnose.Case) string {
	if c.Run.Command != nil {
		if g := generatorOf(c); g.name != "" {
			return g.name
		}
	}
	if s, err := evidence.AppStack(c); err == nil {
		return s.App.Name
	}
	return "the client"
}
