package driver

import (
	"errors"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// ORMSave is the rule DRV-04.
type ORMSave struct{}

// Thresholds of DRV-04.
const (
	// fewSaves are what an administration page does now and then.
	fewSaves = 20
	// savesPerInsert is the share of a table's INSERTs that come by a save.
	savesPerInsert = 0.5
	// fewUpdates is the least number of UPDATEs from which counters alone are evidence;
	// kasoku's own reading of the server makes about one SELECT a second.
	fewUpdates = 100
	// slowLogShare is the share of statements from which the slow log is taken
	// for whole. Sessions that were open before it was switched on write nothing
	// to it.
	slowLogShare = 0.5
	// temporaryRows a second are what kasoku's reading of MySQL changes at most.
	temporaryRows = 150
	// otherEngines is the share of the UPDATEs from which rows that are not InnoDB's may be
	// what they changed.
	otherEngines = 0.25
)

// ID returns DRV-04.
func (ORMSave) ID() string { return "DRV-04" }

// Doc describes the rule.
func (ORMSave) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an object-relational mapper that saves new rows with an UPDATE, a SELECT and an
			INSERT.`,
		Evidence: `in the slow log at least 20 times, and for at least half of the table's INSERTs, an
			UPDATE that changes nothing is followed on the same connection by a SELECT and an INSERT of the
			same key. Without a slow log the server's counters may show it: as many UPDATEs as INSERTs, at
			least as many SELECTs, and no row updated, of a server that no program outside of the service
			uses.`,
		Cause: `the mapper's "save" updates first, because the new row already has its key, looks whether
			the row exists and only then inserts it.`,
		Fix: `insert new rows: the mapper's create, or a plain INSERT.`,
		Silent: `when few INSERTs come that way; blind without a slow log when the counters were not
			recorded either.`,
	}
}

// Check looks for saves in the slow log, and where that is not whole, in the
// server's counters.
func (r ORMSave) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	var found []kasoku.Finding
	var most kasoku.SaveShape
	s, err := saveCountersOf(c)
	for _, shape := range c.Saves {
		if shape.Count > most.Count {
			most = shape
		}
		if shape.Count >= fewSaves && float64(shape.Count) >= savesPerInsert*float64(shape.Inserts) {
			found = append(found, r.finding(c, &shape, s, err))
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	whole := err == nil && slowLogIsWhole(c, s)
	switch {
	case !whole && err == nil && s.saves() && evidence.IsShared(c):
		return nil, diagnose.Blind(r.ID(), evidence.CheckOwn(c, "UPDATEs and INSERTs"))
	case !whole && err == nil && s.saves():
		return []kasoku.Finding{r.finding(c, nil, s, nil)}, nil
	case !c.Lines().HasSlowLog() && err != nil:
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("slowlog")))
	case most.Count > 0:
		return nil, diagnose.Quiet(r.ID(), min(float64(most.Count)/fewSaves,
			float64(most.Count)/max(savesPerInsert*float64(most.Inserts), 1)),
			"%s of %s INSERTs into %s came by UPDATE, SELECT and INSERT; the thresholds are %d and %s",
			unit.Count(most.Count), unit.Count(most.Inserts), most.Table, fewSaves, unit.Percent(savesPerInsert))
	case err == nil:
		return nil, diagnose.Quiet(r.ID(), s.near(),
			"%s UPDATEs came with %s SELECTs and %s INSERTs and updated %s rows",
			diagnose.Whole(s.update.By), diagnose.Whole(s.sel.By), diagnose.Whole(s.insert.By),
			diagnose.Whole(s.rows.By))
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no INSERT of the slow log follows an UPDATE and a SELECT of the same key")
}

// saveCounters are the server's counters that a save moves.
type saveCounters struct {
	update, sel, insert diagnose.Grown
	rows                diagnose.Grown // rows that UPDATEs changed
	handled             float64        // the same of all engines, of MySQL with temporary tables
	questions           diagnose.Grown
}

// saveCountersOf reads the counters. The rows of all engines that changed are in
// Handler_update, where MySQL 9.7 also counts its temporary tables: kasoku's own
// reading of the process list moved it by 117 a second. There those of InnoDB are in
// Innodb_rows_updated, which MariaDB 10.11 no longer has; UPDATEs of MyISAM are not.
func saveCountersOf(c *diagnose.Case) (s saveCounters, err error) {
	s.rows, err = c.Counters().Status(mysql.HandlerUpdate)
	s.handled = s.rows.By
	if innodb, none := c.Counters().Status(mysql.InnodbRowsUpdated); none == nil && c.Server() != "MariaDB" {
		s.rows, err = innodb, nil
	}
	if err != nil {
		return s, err
	}
	for _, x := range []struct {
		name string
		into *diagnose.Grown
	}{
		{mysql.ComUpdate, &s.update}, {mysql.ComSelect, &s.sel}, {mysql.ComInsert, &s.insert},
		{mysql.Questions, &s.questions},
	} {
		if *x.into, err = c.Counters().Status(x.name); err != nil {
			return s, err
		}
	}
	return s, nil
}

// saves reports whether the counters look like a save for most INSERTs. A save
// that fails midway has its UPDATE but no INSERT.
func (s saveCounters) saves() bool {
	return s.update.By >= fewUpdates && s.changesNothing() && s.alike()
}

// changesNothing leaves room in the rows of all engines for those of temporary tables.
func (s saveCounters) changesNothing() bool {
	own := temporaryRows * s.update.Interval.Len().Seconds()
	return s.rows.By <= 0.05*s.update.By && s.handled-own < otherEngines*s.update.By
}

func (s saveCounters) alike() bool {
	return s.insert.By >= 0.7*s.update.By && s.insert.By <= 1.1*s.update.By && s.sel.By >= 0.9*s.insert.By
}

func (s saveCounters) near() float64 {
	if !s.changesNothing() {
		return 0
	}
	return min(s.update.By/fewUpdates, s.insert.By/max(0.7*s.update.By, 1), s.sel.By/max(0.9*s.insert.By, 1))
}

// slowLogIsWhole reports whether the slow log holds most of the statements, so
// that what it does not have did not happen.
func slowLogIsWhole(c *diagnose.Case, s saveCounters) bool {
	var calls float64
	for i := range c.Queries {
		calls += float64(c.Queries[i].Calls)
	}
	return calls > 0 && calls >= slowLogShare*s.questions.By
}

func (r ORMSave) finding(c *diagnose.Case, shape *kasoku.SaveShape, s saveCounters, err error) kasoku.Finding {
	object := application(c)
	title := "An ORM save sends UPDATE, SELECT and INSERT for each new row"
	if shape != nil {
		object = kasoku.Object{Kind: "table", Name: shape.Table}
	}
	fix := kasoku.Fix{
		Text: "Insert new rows instead of saving them", Where: "where the row is saved", Risk: kasoku.RiskAppRestart,
		Note: "In a mapper: its create or insert instead of its save" + language.Pick(c, plainInsert) + ". " +
			"Where the key may exist already, INSERT … ON DUPLICATE KEY UPDATE is still one statement.",
	}
	if shape != nil && len(shape.Sample) > 0 {
		fix.Code, fix.Lang = shape.Sample[len(shape.Sample)-1], "sql"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Title: title, Clause: "an ORM sends UPDATE, SELECT and INSERT for each new row",
		Severity:   kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(c, shape, s, err)...), Impact: r.impact(c, s, err),
		Evidence: r.evidence(c, shape, s, err),
		Cause: "The mapper saves a row that already has its key: it updates first, which changes nothing, looks " +
			"whether the row exists, " +
			"and inserts it last. Of three statements one does the work, and each transaction around them adds two.",
		Fixes: []kasoku.Fix{fix}, Expect: "one INSERT per new row, and Com_update +0",
		Verify: "repeat the load: Questions per request falls to those of one INSERT", Interval: c.Focus.Interval,
	}
	if shape != nil && r.transacts(c, shape) {
		f.Explains = []string{"DBC-08", "DBC-09"}
	}
	return f
}

// transacts reports whether every transaction of the run that is seen in the slow log
// is around a statement of the saved table: they go with the saves.
func (ORMSave) transacts(c *diagnose.Case, shape *kasoku.SaveShape) bool {
	for i := range c.Transactions {
		for _, id := range c.Transactions[i].Shape {
			if q := c.Statements().QueryByID(id); q != nil && !strings.EqualFold(statements.Of(q).Table, shape.Table) {
				return false
			}
		}
	}
	return len(c.Transactions) > 0
}

func (ORMSave) signals(c *diagnose.Case, shape *kasoku.SaveShape, s saveCounters, err error) []diagnose.Signal {
	trail := diagnose.Signal{Holds: shape != nil, Lacks: "no trail in the slow log"}
	if shape == nil {
		trail.Blind = "the slow log does not hold the statements"
	}
	nothing := diagnose.Signal{Holds: s.changesNothing(), Lacks: "UPDATEs change rows"}
	if nothing.Holds && s.handled >= otherEngines*s.update.By {
		nothing.Blind = "MySQL counts rows of temporary tables and of MyISAM in one: UPDATEs may change the latter"
	}
	alike := diagnose.Signal{Holds: s.alike(), Lacks: "UPDATEs, SELECTs and INSERTs are not equally many"}
	per := diagnose.Signal{Lacks: "fewer than three statements a request"}
	if err != nil {
		nothing.Blind, alike.Blind, per.Blind = err.Error(), err.Error(), err.Error()
	} else if n, err := c.Requests(s.questions.Interval); err != nil {
		per.Blind = err.Error()
	} else {
		per.Holds = s.questions.By >= 3*float64(n.Count-min(n.Failed, n.Count))
	}
	return []diagnose.Signal{trail, nothing, alike, per}
}

func (ORMSave) evidence(c *diagnose.Case, shape *kasoku.SaveShape, s saveCounters, err error) []kasoku.Evidence {
	var out []kasoku.Evidence
	if shape != nil {
		for i, q := range shape.Sample {
			if i == 6 { // as long as a save of one statement each in its own transaction
				break
			}
			out = append(out, kasoku.Evidence{Source: "slow.log", Text: q, Strong: true})
		}
		out = append(out, kasoku.Evidence{
			Source: "slow.log", Text: "saves of " + shape.Table, Note: "of " + unit.Count(shape.Inserts) + " INSERTs",
			Value: "× " + unit.Count(shape.Count), Number: float64(shape.Count), Strong: true,
		})
	}
	if err != nil {
		return out
	}
	for _, g := range []diagnose.Grown{s.update, s.sel, s.insert} {
		out = append(out, c.Quote().Counted(g, shape == nil))
	}
	rows := c.Quote().Counted(s.rows, shape == nil)
	rows.Note = "rows that the UPDATEs changed"
	out = append(out, rows)
	if n, err := c.Requests(s.questions.Interval); err == nil && n.Count > n.Failed {
		per := s.questions.By / float64(n.Count-n.Failed)
		out = append(out, kasoku.Evidence{
			Source: "status", Text: "Questions per request that succeeds", Value: unit.Sig3(per), Number: per,
			Series: []kasoku.Key{s.questions.Key}, Interval: c.Focus.Interval,
		})
	}
	return out
}

// impact is the share of statements that need not be sent: an UPDATE and a
// SELECT for each INSERT, and one of the two transactions where there are two.
func (ORMSave) impact(c *diagnose.Case, s saveCounters, err error) kasoku.Impact {
	i := kasoku.Impact{Share: 2.0 / 3, Of: "of its statements", Estimate: true}
	if err != nil || s.questions.By <= 0 {
		return i
	}
	saved := s.update.By + min(s.sel.By, s.insert.By)
	if begin, err := c.Counters().Status(mysql.ComBegin); err == nil && begin.By >= 1.5*s.insert.By {
		saved += 2 * s.insert.By
	}
	return kasoku.Impact{Share: saved / s.questions.By, Of: "of statements " + c.At(), Estimate: true}
}

// plainInsert is what mappers call an INSERT without a look first.
var plainInsert = map[string]string{
	language.GORM:      " (in GORM db.Create instead of db.Save)",
	language.Django:    " (in Django save(force_insert=True) or objects.create)",
	language.Hibernate: " (in Hibernate persist instead of merge)",
	language.Laravel:   " (in Laravel create instead of updateOrCreate)",
	language.Sequelize: " (in Sequelize create instead of upsert)",
	language.TypeORM:   " (in TypeORM insert instead of save)",
}
