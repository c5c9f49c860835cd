package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Aggregate is the rule QRY-07.
type Aggregate struct{}

// Thresholds of QRY-07.
const (
	// aggregatedRows examined a call are work that shows: about a millisecond.
	aggregatedRows = 2000
	// aggregatedPerRow of them go into one row of the result: a table that keeps it reads one of 25 rows.
	aggregatedPerRow = 25
	// writesPerCall of what it reads above which a kept result is no gain for sure: to
	// bring it up to date is a row or two for each write, where a call examines
	// thousands. Writes to columns that it does not name leave the result as it is.
	writesPerCall = 2
	// hostPart of all that the cores of the database's host can do makes a sum worth a remark, however little it
	// is beside requests that wait for something else: for a job, for a connection.
	hostPart = 0.05
	// fewAggregates says too little of a run, but fewLongAggregates of which each takes
	// longAggregate, and of which it is known who waits for them.
	fewAggregates     = 20
	fewLongAggregates = 3
	longAggregate     = time.Second / 4
)

// ID returns QRY-07.
func (Aggregate) ID() string { return "QRY-07" }

// Doc describes the rule.
func (Aggregate) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a sum over many rows that is worked out again for each request.`,
		Evidence: `a SELECT that adds up (SUM, AVG, MAX …, COUNT with GROUP BY) examines at least 2,000
			rows a call and 25 for each row that it sends, takes at least 2 % of the requests' time, or a twentieth of
			what the cores of the database's host can do, and what it
			reads changes at most twice for each of its calls: an UPDATE of columns that it does not name
			changes nothing of it. Triggers are not read: one that sets such a column at another's UPDATE is not
			seen. 20 calls, or 3 of an endpoint that is known which take 250 ms each.`,
		Cause: `the result is worked out over all rows at each call, although it is the same until the
			next write; or groups of all rows are made in a derived table, of which the statement keeps a few.`,
		Fix: `group only the rows that are asked for, where the plan reads all of them for a derived table; keep the
			result: a table that writes bring up to date, or a cache until the next write.`,
		Silent: `when few rows are added up, also when an index that is proposed would leave few, or a
			function hides the column by which they are looked for (IDX-10); when what it reads changes as often
			as it is asked for, when it takes little time, and blind without a slow log.`,
	}
}

// Check looks for aggregates over many rows of tables that hardly change.
func (r Aggregate) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var near float64
	said := "no SELECT adds up or groups rows"
	for i := range c.Queries {
		q := &c.Queries[i]
		s := statements.Of(q)
		if q.Verb != "SELECT" || !s.Sums && (!s.Grouped || !s.Counts) || !isRepeated(c, q) {
			continue
		}
		examined := max(float64(q.RowsExamined)/float64(q.Calls), derivedRows(c, q))
		each := examined * float64(q.Calls) / float64(max(q.RowsSent, 1))
		changed := float64(countTouching(c, q)) / float64(q.Calls)
		impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		if examined >= aggregatedRows && each >= aggregatedPerRow && changed <= writesPerCall &&
			(impact.Share >= evidence.SmallShare || partOfHost(c, q) >= hostPart) {
			if left, by := leftToAdd(c, q, examined); left < aggregatedRows {
				near, said = 0.99, fmt.Sprintf("%s leaves few of the %s rows of %s that a sum examines", by,
					wording.Average(examined), s.Table)
				continue
			}
			out = append(out, r.finding(c, q, s, examined, changed, impact))
			continue
		}
		n := min(examined/aggregatedRows, each/aggregatedPerRow, writesPerCall/max(changed, writesPerCall),
			max(impact.Share/evidence.SmallShare, partOfHost(c, q)/hostPart), 0.99)
		if n >= near {
			near = n
			said = fmt.Sprintf("a sum over %s examines %s rows a call, %s for each that it sends, with %s writes a call "+
				"and %s %s",
				s.Table, wording.Average(examined), wording.Average(each), unit.Sig3(changed), unit.Percent(impact.Share), impact.Of)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// derivedRows returns how many rows a call reads into derived tables by the plan of a class. MySQL counts none of
// them as examined; MariaDB does, and its plans are not asked.
//
// Source: MySQL 9.7 against its own plans: a statement with three derived tables that read 1,106 rows each had 407
// rows examined a call, MariaDB's 3,182.
func derivedRows(c *diagnose.Case, q *kasoku.Query) (rows float64) {
	if c.Server() != "MySQL" {
		return 0
	}
	for i := range c.Plans {
		if p := &c.Plans[i]; p.QueryID == q.ID && p.Host == q.Host {
			for _, row := range p.Rows {
				if row.Select == "DERIVED" && (row.Access == "ALL" || row.Access == "index") {
					rows += row.Rows
				}
			}
			return rows
		}
	}
	return 0
}

// groupsOfAll returns the tables that a plan reads whole for derived tables which the statement joins with others,
// the largest first: the groups are made before the other conditions keep some of them. A derived table that is
// all of a statement has nothing else to keep by, and LATERAL DERIVED reads the groups that are asked for.
func groupsOfAll(c *diagnose.Case, q *kasoku.Query) []string {
	at := slices.IndexFunc(c.Plans, func(p kasoku.Plan) bool { return p.QueryID == q.ID && p.Host == q.Host })
	if at < 0 || !statements.Of(q).Grouped {
		return nil
	}
	var read []kasoku.PlanRow
	joined := false
	for _, row := range c.Plans[at].Rows {
		whole := row.Access == "ALL" || row.Access == "index"
		switch {
		case row.Select == "PRIMARY" && row.Table != "" && row.Table[0] != '<':
			joined = true
		case row.Select == "DERIVED" && whole && row.Rows >= aggregatedRows && slices.Contains(q.Tables, row.Table):
			read = append(read, row)
		}
	}
	if !joined {
		return nil
	}
	slices.SortStableFunc(read, func(a, b kasoku.PlanRow) int { return cmp.Compare(b.Rows, a.Rows) })
	var tables []string
	for _, row := range read {
		if !slices.Contains(tables, row.Table) {
			tables = append(tables, row.Table)
		}
	}
	return tables
}

// partOfHost returns how long the statements of a class took, as a part of what the cores of the database's host
// could do under the load; 0 where these are not known, or the statements of no request.
func partOfHost(c *diagnose.Case, q *kasoku.Query) float64 {
	_, cores, err := c.Hosts().BusyOn(evidence.DatabaseHost(c))
	part, known := evidence.RequestPart(c, q)
	if err != nil || cores <= 0 || known && part <= 0 {
		return 0
	}
	return c.Statements().QueryTime(q).Seconds() / max(cores*evidence.BusyTime(c), 1)
}

// isRepeated reports whether a statement was called often enough to say something of it.
func isRepeated(c *diagnose.Case, q *kasoku.Query) bool {
	return q.Calls >= fewAggregates || q.Calls >= fewLongAggregates &&
		c.Statements().QueryTime(q) >= time.Duration(q.Calls)*longAggregate && evidence.Surest(c, q.ID) != nil
}

// leftToAdd returns how many of the rows that a call examines are left with the indexes that are proposed
// for it, and what leaves them: the rest is looked for, not added up. Where a function hides a column of
// a table that is read whole, what is left is not known, and 0: the column comes first.
func leftToAdd(c *diagnose.Case, q *kasoku.Query, examined float64) (left float64, by string) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return examined, ""
	}
	left = examined
	for i := range advised.Proposals {
		for _, s := range advised.Proposals[i].Serves {
			if rest := examined - (s.Before - s.After); s.QueryID == q.ID && rest < left {
				left, by = max(rest, 0), advised.Proposals[i].DDL
			}
		}
	}
	for _, read := range advised.Reads() {
		if read.QueryID != q.ID || !read.Alone || 2*examined < float64(read.Table.Rows) {
			continue
		}
		for _, h := range read.Hidden {
			if h.Function != indexes.LikeFunction && h.Function != indexes.RegexpFunction &&
				h.Function != indexes.ConversionFunction {
				return 0, h.Column + " without " + h.Function
			}
		}
	}
	return left, by
}

// countTouching counts the writes that may change the result of a query.
func countTouching(c *diagnose.Case, q *kasoku.Query) uint64 {
	return countWrites(c, q, func(w *kasoku.Query) bool { return !statements.LeavesResult(c, q, w) })
}

// countChanges counts the statements that change one of a query's tables, those of
// initialize left out as far as their seconds are known.
func countChanges(c *diagnose.Case, q *kasoku.Query) uint64 {
	return countWrites(c, q, func(*kasoku.Query) bool { return true })
}

func countWrites(c *diagnose.Case, q *kasoku.Query, counts func(*kasoku.Query) bool) (n uint64) {
	for i := range c.Queries {
		w := &c.Queries[i]
		if statements.ChangesRows(w) && len(w.Tables) > 0 && slices.Contains(q.Tables, w.Tables[0]) &&
			!evidence.OnlyInitialize(c, w) && counts(w) {
			n += w.Calls
		}
	}
	return n
}

func (r Aggregate) finding(c *diagnose.Case, q *kasoku.Query, s statements.Statement, examined, changed float64,
	i kasoku.Impact) kasoku.Finding {
	x := evidence.Only(c, q.ID)
	all := groupsOfAll(c, q)
	if len(all) > 0 {
		s.Table = all[0]
	}
	object, who := kasoku.Object{Kind: "table", Name: s.Table}, "A sum over "+s.Table
	if x != nil {
		object, who = kasoku.Object{Kind: "endpoint", Name: x.Endpoint()}, x.Endpoint()
	}
	same := diagnose.Signal{Holds: q.Distinct > 0 && q.Distinct*2 <= q.Calls,
		Lacks: "most calls ask for something else"}
	if q.Distinct == 0 {
		same.Blind = "how many different statements there are was not counted"
	}
	note := "rows examined a call " + diagnose.Whole(examined)
	if x != nil {
		note += "; " + evidence.CallerWords(x)
	} else {
		note += "; " + evidence.SharesWords(c, q.ID)
	}
	writes := ""
	if countTouching(c, q) < countChanges(c, q) {
		writes = "UPDATEs of columns that it does not name left out; a trigger that sets others at these is not seen"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(i), Impact: i, Interval: c.Focus.Interval,
		Title: evidence.EndpointTitle(who, " adds up "+diagnose.Whole(examined)+" rows at each call"),
		Clause: fmt.Sprintf("a sum over %s rows of %s is worked out anew at each call", diagnose.Whole(examined),
			s.Table),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, same,
			evidence.CallerSignal(evidence.Surest(c, q.ID))),
		Evidence: []kasoku.Evidence{
			evidence.Statement(c, q, "× "+unit.Count(q.Calls), note, float64(q.Calls)),
			{Source: c.StatementSource(q), Text: "writes for each call that change what it reads", Value: unit.Sig3(changed),
				Note: writes, Number: changed, Strong: true, Interval: c.Whole()},
			evidence.StatementTime(c, c.Statements().QueryTime(q), i, q),
		},
		Cause: fmt.Sprintf("The statement examines %s rows of %s for %s that it sends, at each of its %s calls, and "+
			"what it reads changes %s times a call: the result is mostly the same as before.",
			diagnose.Whole(examined), wording.List(q.Tables, 4), wording.Average(statements.RowsPerCall(q)), unit.Count(q.Calls),
			unit.Sig3(changed)),
		Fixes:  keepSum(q, all, x),
		Expect: "the statement runs once for each write instead of each read",
		Verify: "the next run: calls and rows examined of the statement",
	}
	if len(all) > 0 {
		f.Expect = "the statement examines the rows of the groups that are asked for, or runs once for each write"
	}
	return f
}

// keepSum are the fixes of a sum: fewer groups, and then a result that is kept.
func keepSum(q *kasoku.Query, all []string, x *kasoku.Caller) []kasoku.Fix {
	var out []kasoku.Fix
	keep := "Keep the result in a table that each write brings up to date"
	if len(all) > 0 {
		where := evidence.HandlerOf("")
		if x != nil {
			where = evidence.HandlerOf(x.Endpoint())
		}
		keep = "Or keep" + strings.TrimPrefix(keep, "Keep")
		out = append(out, kasoku.Fix{Text: "Group only the rows that are asked for", Where: where,
			Risk: kasoku.RiskAppRestart, Note: fmt.Sprintf("By its plan the server reads all of %s into derived tables for their groups, and keeps few of "+
				"these after that: a call sends %s. Say in a derived table's own WHERE which groups are wanted, or "+
				"write each figure as a subquery in the list of columns that compares with the outer row. Such a COUNT is 0 "+
				"where a LEFT JOIN has NULL. Not checked.", wording.List(all, 3), wording.Average(statements.RowsPerCall(q)))})
	}
	return append(out, kasoku.Fix{Text: keep,
		Where: "where " + wording.List(q.Tables, 3) + " change", Risk: kasoku.RiskAppRestart,
		Note: "A row for each group, added to in the transaction of the write (INSERT … ON DUPLICATE KEY UPDATE). " +
			"Updates and deletes of rows must take away what they added. Fill it in initialize too."},
		kasoku.Fix{Text: "Or keep it in memory until the next write", Where: evidence.HandlerOf(""),
			Risk: kasoku.RiskAppRestart, Note: "With one program only; else it must learn of writes."})
}
