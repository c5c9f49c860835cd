package pool

import (
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Thresholds of POOL-06 for the only connection of a program.
const (
	mostLogged  = 0.90 // of the statements that the server counted
	leastAsked  = 0.70 // of the time in which requests came that the connection is in statements: a queue twice as long
	leastFilled = 0.90 // … and with what the program computes: it is in the one or the other
	leastOpen   = 2    // requests on average: one of them has the connection
	leastIdle   = 0.50 // cores
)

// An only is the one connection that a program has.
type only struct {
	asked, computed, open, idle, cores float64
}

// onlyOf finds a program with one connection, for which its requests wait. What it computes while
// a statement runs counts twice, so that the sum alone would say too little.
func onlyOf(c *diagnose.Case) (only, bool) {
	connections, ok := kasoku.SentOverOf(c.Recording)
	applications := c.Service.Of(kasoku.RoleApplication)
	if !ok || connections != 1 || len(applications) != 1 || applications[0].Workers > 1 ||
		applications[0].Threads == 1 || evidence.IsShared(c) {
		return only{}, false
	}
	all, err := evidence.WholeRun(c).Counters().Status(mysql.Questions)
	stack, err2 := evidence.StackOf(c)
	seconds := float64(len(c.RequestsBySecond("access log")))
	if err != nil || err2 != nil || seconds == 0 || stack.App.Name == "" {
		return only{}, false
	}
	var calls, asked float64
	for i := range c.Queries {
		calls += float64(c.Queries[i].Calls)
		asked += c.Queries[i].Total.Seconds()
	}
	o := only{asked: asked / seconds, computed: min(stack.App.Cores, 1), cores: stack.Cores, idle: stack.Cores - stack.Busy,
		open: c.Statements().RequestTime().Seconds() / seconds}
	return o, calls >= mostLogged*all.By && o.asked >= leastAsked && o.asked+o.computed >= leastFilled &&
		o.open >= leastOpen && o.idle >= leastIdle && evidence.LockTime(c).Seconds() <= poolByLocks*asked
}

// moreConnections are how a program gets them, by language.
//
// Sources: mysql2 for Node.js, documentation, createPool; database/sql, SetMaxOpenConns.
var moreConnections = map[string]kasoku.Fix{
	language.JavaScript: {
		Text: "Let a pool open more connections", Where: "once, where the program starts", Lang: "javascript",
		Code: "const pool = mysql.createPool({ ...options, connectionLimit: 10 })", Risk: kasoku.RiskAppRestart,
		Note: "Here mysql is the driver as it is imported; pool.query in place of connection.query. A transaction takes a " +
			"connection of its own (pool.getConnection) and gives it back. connectionLimit × processes must stay below max_connections.",
	},
	language.Go: {
		Text: "Let the pool open more connections", Where: "where the pool is opened", Lang: "go",
		Code: "db.SetMaxOpenConns(10)\ndb.SetMaxIdleConns(10)", Risk: kasoku.RiskAppRestart,
		Note: "Of all processes together they must stay below max_connections.",
	},
	language.Unknown: {
		Text: "Let the program open more connections, in a pool", Where: "where the connection is opened",
		Risk: kasoku.RiskAppRestart,
		Note: "Of all processes together they must stay below max_connections. A transaction has one of its own.",
	},
}

// onlyFinding is about the one connection.
func (r SmallPool) onlyFinding(c *diagnose.Case, o only) kasoku.Finding {
	// As many requests as there are cores, or are open, have a statement in work then, not one.
	waiting := max(1-(o.asked+o.computed)/o.open, 0)
	goes := waiting * (1 - 1/math.Max(math.Min(o.open, o.cores), 1))
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: "connections"}, Severity: evidence.SeverityOf(goes),
		Title:  "Requests wait for the only connection to the database",
		Clause: "requests wait for the only connection to the database",
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: o.asked >= leastFilled, Lacks: "the program computes for a part of the time"},
			diagnose.Signal{Holds: o.open >= 2*leastOpen, Lacks: "few requests are open at a time"}),
		Impact: kasoku.Impact{Share: goes, Of: "of request time", Estimate: true},
		Evidence: []kasoku.Evidence{{
			Source: "slow.log", Text: "connections that sent statements", Value: "1", Number: 1, Strong: true,
			Note:     "in statements for " + unit.Percent(o.asked) + " of the time in which requests came",
			Interval: c.Whole(),
		}, {
			Source: "access", Text: "requests that are open", Note: "on average", Value: unit.Sig3(o.open), Number: o.open,
			Strong: true, Interval: c.Whole(),
		}, {
			Source: "host", Text: "CPU that no program uses", Note: "of " + unit.Plain(o.cores),
			Value: unit.Sig3(o.idle) + " cores", Number: o.idle, Strong: true, Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("All statements came over one connection, which runs one at a time: it was in statements for %s "+
			"of the time, and the program used %s of a core. %s requests were open on average, and %s of %s cores were "+
			"idle.", unit.Percent(o.asked), unit.Sig3(o.computed), unit.Sig3(o.open), unit.Sig3(o.idle), unit.Plain(o.cores)),
		Fixes:  []kasoku.Fix{language.Pick(c, moreConnections)},
		Expect: "statements of several requests run at once",
		Verify: "the next run: requests take less, with more than one connection", Interval: c.Whole(),
	}
}
