package application

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/unit"
)

// Room is the rule APP-05.
type Room struct{}

// Thresholds of APP-05.
const (
	fewTurnedAway = 5 // transactions that count rows and give up are too few
	// turnedAway is how many of these transactions an endpoint's answers 4xx account for at least.
	// They are no more than mostAway times as many: else the endpoint refuses requests for another reason.
	turnedAway, mostAway = 0.8, 1.25
)

// wholeCount is a SELECT that counts the rows of a table, without a condition.
var wholeCount = lazyregexp.New("^select count\\((?:\\*|\\?)\\)(?: (?:as )?[\\w`]+)? from ([\\w$.`\"]+)" +
	"(?: for update| for share| lock in share mode)?$")

// ID returns APP-05.
func (Room) ID() string { return "APP-05" }

// Doc describes the rule.
func (Room) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a limit of the program's own on the rows of a table that turns requests away while nothing
			is busy.`,
		Evidence: `transactions count all rows of a table and insert one, and at least 5 that begin alike count them and
			roll back; the endpoint that inserts answered 4xx as often; the busiest host used less than half of its
			CPU, no program 0.8 of a core, no disk was busy for half of the time, and less than 5 % of the
			requests' time went to locks of rows, to commits, or to the pool of connections. It is a remark.`,
		Cause: `the program compares the count with a number of its own: who comes after that many is turned away,
			and brings no load.`,
		Fix: `a greater number, where the service may have more, a step at a time.`,
		Silent: `where something is busy or requests wait, where the count has a condition, as that of a stock has,
			and where count and INSERT are no transaction. Answers 401, 404, 405, 408 and 429 do not count:
			the last is a limit on purpose. Blind without the transactions of a slow log, and without an
			access log.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// A roomLimit is a table whose rows are counted before one more is inserted.
type roomLimit struct {
	table           string
	count, insert   *kasoku.Query
	until           []string // classes of statements of its transaction up to the count
	added, refused  uint64   // transactions
	endpoint        *kasoku.Endpoint
	answers, status uint64 // answers 4xx, and the most frequent of their codes
}

// Check looks through the transactions.
func (r Room) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if len(c.Transactions) == 0 && len(c.Queries) > 0 && c.StatementSource() != "slow.log" {
		return nil, diagnose.Blind(r.ID(), errors.New("transactions are not known without a slow log"))
	}
	all := roomLimits(c)
	if len(all) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "no transaction counts all rows of a table and inserts one right after")
	}
	most := slices.MaxFunc(all, func(a, b roomLimit) int { return int(a.refused) - int(b.refused) })
	if most.refused < fewTurnedAway {
		return nil, diagnose.Quiet(r.ID(), float64(most.refused)/fewTurnedAway, "%s counted the rows of %s and rolled "+
			"back; the threshold is %d",
			unit.Counted(most.refused, "transaction", "transactions"), most.table, fewTurnedAway)
	}
	most.findEndpoint(c)
	if share := float64(most.answers) / float64(most.refused); share < turnedAway || share > mostAway {
		return nil, diagnose.Quiet(r.ID(), min(share/turnedAway, mostAway/max(share, mostAway), 0.99), "%s counted the rows of %s and rolled back, "+
			"and the endpoint that inserts answered 4xx %s",
			unit.Counted(most.refused, "transaction", "transactions"), most.table,
			unit.Counted(most.answers, "time", "times"))
	}
	idle, why, near, err := evidence.IdleOf(c)
	switch {
	case err != nil:
		return nil, diagnose.Blind(r.ID(), err)
	case why != "":
		return nil, diagnose.Quiet(r.ID(), near, "%s", why)
	}
	return []kasoku.Finding{r.finding(c, &most, idle)}, nil
}

// roomLimits returns the tables whose rows are counted right before one is inserted.
func roomLimits(c *diagnose.Case) (out []roomLimit) {
	for i := range c.Transactions {
		t := &c.Transactions[i]
		for k := range max(len(t.Shape)-1, 0) {
			count, insert := c.Statements().QueryByID(t.Shape[k]), c.Statements().QueryByID(t.Shape[k+1])
			table := countedTable(count)
			if table == "" || insert == nil || insert.Verb != "INSERT" || len(insert.Tables) == 0 ||
				!strings.EqualFold(bareTable(insert.Tables[0]), table) {
				continue
			}
			at := slices.IndexFunc(out, func(x roomLimit) bool { return x.count == count })
			if at < 0 {
				at = len(out)
				out = append(out, roomLimit{table: bareTable(insert.Tables[0]), count: count, insert: insert,
					until: t.Shape[:k+1]})
			}
			out[at].added += t.Count - min(t.RolledBack, t.Count)
			break
		}
	}
	for i := range out {
		for k := range c.Transactions {
			// Drivers without autocommit roll back whatever only reads: it is the same transaction, cut off.
			if t := &c.Transactions[k]; slices.Equal(t.Shape, out[i].until) {
				out[i].refused += t.RolledBack
			}
		}
	}
	return out
}

// countedTable returns the table whose rows a statement counts, all of them; empty of another statement.
func countedTable(q *kasoku.Query) string {
	if q == nil || q.Verb != "SELECT" {
		return ""
	}
	if m := wholeCount().FindStringSubmatch(strings.ToLower(q.Fingerprint)); m != nil {
		return bareTable(m[1])
	}
	return ""
}

// bareTable is a table's name without that of its schema.
func bareTable(name string) string {
	return strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "`\"")
}

// findEndpoint finds who inserts, and how often it turned requests away.
func (x *roomLimit) findEndpoint(c *diagnose.Case) {
	callers := append(c.Statements().CallersOf(x.insert.ID), c.Statements().CallersOf(x.count.ID)...)
	_, endpoints := c.FrontLog()
	for i := range callers {
		at := slices.IndexFunc(endpoints, func(e kasoku.Endpoint) bool {
			return e.Method == callers[i].Method && e.Route == callers[i].Route && e.Method != "GET"
		})
		if at < 0 {
			continue
		}
		x.endpoint = &endpoints[at]
		var most uint64
		for code, n := range x.endpoint.Codes {
			if code < 400 || code > 499 || slices.Contains([]int{401, 404, 405, 408, 429, 499}, code) {
				continue
			}
			x.answers += n
			if n > most || n == most && uint64(code) < x.status {
				most, x.status = n, uint64(code)
			}
		}
		return
	}
}

func (r Room) finding(c *diagnose.Case, x *roomLimit, idle evidence.Idle) kasoku.Finding {
	name := x.endpoint.Method + " " + x.endpoint.Route
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: kasoku.Info,
		Title:  wording.Cut("The CPU has room, and "+name+" turns requests away", wording.MaxTitle),
		Clause: name + " turns requests away by the number of rows of " + x.table,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: evidence.Surest(c, x.insert.ID) != nil, Lacks: "which endpoint inserts is not sure"},
			diagnose.Signal{Blind: "whether more may come is in the service's rules"}, idle.Signal()),
		Evidence: []kasoku.Evidence{
			{Source: c.StatementSource(x.count),
				Text:  "transactions that counted all rows of " + x.table + " and rolled back",
				Note:  unit.Counted(x.added, "other", "others") + " inserted a row",
				Value: unit.Count(x.refused), Number: float64(x.refused), Strong: true, Interval: c.Whole()},
			{Source: "access", Text: name, Note: fmt.Sprintf("most of them %d", x.status),
				Value: unit.Counted(x.answers, "answer", "answers") + " 4xx", Number: float64(x.answers), Strong: true,
				Interval: kasoku.Interval{From: x.endpoint.First, To: x.endpoint.Last}},
			idle.Quote(c),
			evidence.Statement(c, x.count, unit.Counted(x.count.Calls, "call", "calls"), "", float64(x.count.Calls)),
		},
		Cause: fmt.Sprintf("%s counts the rows of %s before it inserts one. %s did so and inserted, %s rolled back right "+
			"after the count: the program has a limit of its own, and who comes later is turned away. Of what was "+
			"recorded nothing is at its own limit: %s.", name, x.table,
			wording.Capital(unit.Counted(x.added, "transaction", "transactions")),
			unit.Counted(x.refused, "other", "others"), idle.Words()),
		Fixes: []kasoku.Fix{{
			Text: "Find the number that the count of " + x.table + " is compared with, and raise it if the service " +
				"may have more",
			Where: evidence.HandlerOf(name), Risk: kasoku.RiskAppRestart,
			Note: "A step at a time, with several runs each: who is let in brings load, and beyond what the service can take " +
				"requests time out or fail. A limit that the service's rules ask for stays.",
		}},
		Expect:   "fewer answers 4xx, and more requests of those who are let in, until something is busy",
		Verify:   "repeat the load: " + name + " answers 4xx less often, and all runs pass",
		Interval: c.Whole(),
	}
}
