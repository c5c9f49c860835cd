package durability

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// NeedlessTransaction is the rule DBC-09.
type NeedlessTransaction struct{}

// Thresholds of DBC-09.
const (
	needlessShare       = 0.30 // of the transactions: a few are an oversight, not a habit
	fewTransactions     = 50   // say nothing of a habit
	needlessRoundsShare = 0.10 // of all statements are BEGIN and COMMIT of needless ones: worth a fix even where they take little time,
	leastRoundsTime     = 0.01 // but not next to none
)

// ID returns DBC-09.
func (NeedlessTransaction) ID() string { return "DBC-09" }

// Doc describes the rule.
func (NeedlessTransaction) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds transactions that protect nothing.`,
		Evidence: `at least 30 % of the transactions, and at least 50, only read, or have one statement,
			which is a transaction by itself. In Ruby those of one write are left out: ActiveRecord begins one
			for each save. One whose only statement locks rows (SELECT … FOR UPDATE) protects them.`,
		Cause: `BEGIN and COMMIT or ROLLBACK around them are two round trips that change nothing, and the
			connection stays taken for longer. With autocommit off there is no BEGIN, and one round trip.`,
		Fix: `run the statement on the pool itself.`,
		Silent: `when most transactions change several things, when there are few, and blind without a
			slow log with connections. A transaction that reads several tables may want them of one moment:
			the fix says so.`,
	}
}

// needless are the transactions of a run that protect nothing.
type needless struct {
	kinds    []kasoku.Transaction // the most frequent first
	count    uint64
	all      uint64
	readOnly uint64
	begins   uint64 // statements BEGIN of the run; of autocommit = 0 none are sent
	ends     uint64 // COMMIT and ROLLBACK
}

// begun reports whether most have a BEGIN of their own: with autocommit off the first statement
// begins one.
func (n needless) begun() bool { return 2*n.begins >= n.count }

// bounds are the words around a transaction.
func (n needless) bounds() string {
	if n.begun() {
		return "BEGIN and COMMIT"
	}
	return "COMMIT or ROLLBACK"
}

// around writes a transaction for people.
func (n needless) around(verbs string) string {
	if n.begun() {
		return "BEGIN, " + verbs + ", COMMIT"
	}
	return verbs + ", COMMIT"
}

// rounds is how many statements would not be sent.
func (n needless) rounds() float64 { return float64(min(n.begins, n.count) + min(n.ends, n.count)) }

func needlessOf(c *diagnose.Case) needless {
	var n needless
	saves := language.Of(c) == language.Ruby // ActiveRecord's save has a transaction, and no switch for it
	for _, t := range c.Transactions {
		n.all += t.Count
		// A SELECT that is not read-only locks what it reads (FOR UPDATE) until the end: a queue that
		// finds no job has no other statement, and would hand a job out twice without the transaction.
		locks := !t.ReadOnly && strings.HasPrefix(t.Verbs, "SELECT")
		single := t.Statements == t.Count && !saves && !locks
		if t.Count == 0 || t.Statements == 0 || !t.ReadOnly && !single {
			continue
		}
		n.kinds = append(n.kinds, t)
		n.count += t.Count
		if t.ReadOnly {
			n.readOnly += t.Count
		}
	}
	for _, q := range bounds(c) {
		if q.Verb == "COMMIT" || q.Verb == "ROLLBACK" {
			n.ends += q.Calls
		} else {
			n.begins += q.Calls
		}
	}
	slices.SortStableFunc(n.kinds, func(a, b kasoku.Transaction) int { return cmp.Compare(b.Count, a.Count) })
	return n
}

// Check counts the needless transactions.
func (r NeedlessTransaction) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	n := needlessOf(c)
	if n.all == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "the slow log has no transaction")
	}
	share := float64(n.count) / float64(n.all)
	if share < needlessShare || n.count < fewTransactions {
		return nil, diagnose.Quiet(r.ID(), min(share/needlessShare, float64(n.count)/fewTransactions, 0.99),
			"%s of %s transactions only read or have one statement, %s; the thresholds are %s and %d",
			unit.Count(n.count), unit.Count(n.all), unit.Percent(share), unit.Percent(needlessShare), fewTransactions)
	}
	return []kasoku.Finding{r.finding(c, n, share)}, nil
}

func (r NeedlessTransaction) finding(c *diagnose.Case, n needless, share float64) kasoku.Finding {
	rounds, each := roundTrips(c)
	i := evidence.TimeImpact(c, time.Duration(float64(each)*float64(n.count)), bounds(c)...)
	i.Estimate = true
	does, severity := "protect nothing", evidence.StatementSeverity(i)
	around, fewer := "BEGIN and COMMIT around them are two round trips each.", "two statements fewer"
	if !n.begun() {
		around = "No BEGIN is sent, as where autocommit is off; the COMMIT or ROLLBACK after each is a round trip."
		fewer = "one statement fewer"
	}
	several := severalReads(n)
	switch { // what reads several things may want them of one moment
	case 2*several > n.count:
		does, severity = "only read", kasoku.Info
	case 10*several > n.count:
		does = "only read or have one statement"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: r.object(c, n), Severity: severity, Impact: i, Interval: c.Focus.Interval,
		Title:  fmt.Sprintf("%s of transactions %s", unit.Percent(share), does),
		Clause: fmt.Sprintf("%s of transactions only read or have one statement", unit.Percent(share)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: n.count >= 2*fewTransactions, Lacks: "they are few"},
			diagnose.Signal{Holds: several == 0,
				Lacks: "some read several things, which may have to be of one moment"}),
		Cause: fmt.Sprintf("%s of %s transactions %s: %s only read, %s of them several things, and %s have one "+
			"statement that changes something. %s",
			unit.Count(n.count), unit.Count(n.all), does, unit.Count(n.readOnly), unit.Count(several),
			unit.Count(n.count-n.readOnly), around),
		Fixes:  []kasoku.Fix{transactionFix(c, n)},
		Expect: fewer + " in each of these requests", Verify: "the next run: " + n.bounds() + " a request",
	}
	needlessRounds := n.rounds() / max(rounds, 1)
	if 2*several <= n.count && f.Severity == kasoku.Info && i.Of != evidence.OfNoRequest &&
		needlessRounds >= needlessRoundsShare && i.Share >= leastRoundsTime {
		f.Severity = kasoku.Problem
	}
	f.Evidence = []kasoku.Evidence{
		{Source: "slow.log", Text: "transactions that only read or have one statement",
			Note: "of " + unit.Count(n.all), Value: "× " + unit.Count(n.count), Number: float64(n.count), Strong: true,
			Interval: c.Whole()},
		{Source: "slow.log", Text: "their " + n.bounds() + ", of all statements",
			Value: unit.Percent(min(needlessRounds, 1)), Number: needlessRounds, Strong: true, Interval: c.Whole()},
	}
	for _, t := range n.kinds[:min(len(n.kinds), 5)] {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "slow.log",
			Text: n.around(wording.Cut(t.Verbs, 60)), Note: tablesOf(c, t), Value: "× " + unit.Count(t.Count),
			Number: float64(t.Count), Interval: c.Whole()})
	}
	return f
}

// transactionFix is how a statement runs without a transaction, by language.
func transactionFix(c *diagnose.Case, n needless) kasoku.Fix {
	f := kasoku.Fix{Text: "Run the statement on the connection itself, without BEGIN and COMMIT",
		Where: "where the transaction is begun", Risk: kasoku.RiskSemantics,
		Note: withoutTransaction(c, n) + "Keep it where several reads must be of one moment. A score may " +
			"even fall when COMMITs of others become visible as what they cost."}
	if !n.begun() {
		f.Text = "Run what only reads with autocommit, without COMMIT"
		f.Where = "where the connection is opened"
		return f
	}
	if language.Of(c) == language.Go {
		f.Text, f.Lang, f.Risk = "Run the statement on the pool itself, without BEGIN and COMMIT", "go", kasoku.RiskAppRestart
		f.Code = "- tx, err := db.BeginTx(ctx, nil)\n- err = tx.QueryRowContext(ctx, query, id).Scan(&v)\n- tx.Commit()\n" +
			"+ err := db.QueryRowContext(ctx, query, id).Scan(&v)"
		if 2*n.readOnly < n.count {
			f.Code = "- tx, err := db.BeginTx(ctx, nil)\n- _, err = tx.ExecContext(ctx, query, id, v)\n- err = tx.Commit()\n" +
				"+ _, err := db.ExecContext(ctx, query, id, v)"
		}
	}
	return f
}

// withoutTransaction says how what only reads is taken out of transactions that no one wrote,
// by the application's mapper and language. What changes something keeps its own: no switch for all.
//
// Sources: Django, "Database transactions", Tying transactions to HTTP requests; SQLAlchemy,
// "Setting Transaction Isolation Levels including DBAPI Autocommit"; Spring, "Declarative
// transaction management".
func withoutTransaction(c *diagnose.Case, n needless) string {
	views := "views that only read"
	if names := readViews(c, n); len(names) > 0 {
		views = "the views of " + wording.List(names, 3) + " alone, which only read"
	}
	return language.Pick(c, map[string]string{
		language.Django: "In Django: @transaction.non_atomic_requests on " + views + ". What changes something keeps " +
			"its transaction. ",
		language.SQLAlchemy: "In SQLAlchemy: a second engine, create_engine(url, isolation_level=\"AUTOCOMMIT\"), for " +
			"sessions that only read. What changes something keeps its transaction. ",
		language.Python: "What only reads on a connection whose autocommit is on; what changes something keeps its " +
			"transaction. ",
		language.Ruby: "No transaction block around reads. ",
		language.PHP:  "No beginTransaction around reads. ",
		language.Java: "What only reads on a connection whose autocommit is on (setAutoCommit(true)); what changes " +
			"something keeps its transaction. ",
		language.Spring: "No @Transactional on what only reads one thing. ",
	})
}

// readViews returns the endpoints that run transactions which only read, and no statement that
// changes something, as far as callers are known.
func readViews(c *diagnose.Case, n needless) (names []string) {
	changes := map[string]bool{}
	for i := range c.Queries {
		if !statements.ChangesRows(&c.Queries[i]) {
			continue
		}
		for _, x := range c.Statements().CallersOf(c.Queries[i].ID) {
			for _, name := range slices.Concat(x.With, []string{x.Endpoint()}) {
				changes[name] = true
			}
		}
	}
	for _, t := range n.kinds {
		for _, id := range t.Shape {
			x := evidence.Surest(c, id)
			if x != nil && x.Class != kasoku.CallerGroup && t.ReadOnly && !changes[x.Endpoint()] &&
				!slices.Contains(names, x.Endpoint()) {
				names = append(names, x.Endpoint())
			}
		}
	}
	return names
}

// severalReads counts transactions that read more than one thing.
func severalReads(n needless) (several uint64) {
	for _, t := range n.kinds {
		if len(t.Shape) > 1 {
			several += t.Count
		}
	}
	return several
}

// object is the endpoint that runs most of them, else the tables' first.
func (NeedlessTransaction) object(c *diagnose.Case, n needless) kasoku.Object {
	for _, id := range n.kinds[0].Shape {
		if x := evidence.Surest(c, id); x != nil {
			return kasoku.Object{Kind: "endpoint", Name: x.Endpoint()}
		}
	}
	for _, id := range n.kinds[0].Shape {
		if q := c.Statements().QueryByID(id); q != nil && len(q.Tables) > 0 {
			return kasoku.Object{Kind: "table", Name: q.Tables[0]}
		}
	}
	return kasoku.Object{Kind: "statement", Name: "BEGIN"}
}

// bounds are the classes of statements that begin and end transactions.
func bounds(c *diagnose.Case) (out []*kasoku.Query) {
	for i := range c.Queries {
		if slices.Contains([]string{"BEGIN", "START", "COMMIT", "ROLLBACK"}, c.Queries[i].Verb) {
			out = append(out, &c.Queries[i])
		}
	}
	return out
}

// roundTrips counts all statements, and says how long the shortest BEGIN and its
// end take: that of a transaction that wrote nothing is like the shorter of COMMIT
// and ROLLBACK.
func roundTrips(c *diagnose.Case) (all float64, each time.Duration) {
	var begin, end time.Duration
	for i := range c.Queries {
		q := &c.Queries[i]
		all += float64(q.Calls)
		if q.Calls == 0 {
			continue
		}
		mean := q.Total / time.Duration(q.Calls)
		switch q.Verb {
		case "BEGIN", "START":
			begin = max(begin, mean)
		case "COMMIT", "ROLLBACK":
			if end == 0 || mean < end {
				end = mean
			}
		}
	}
	return all, begin + end
}
