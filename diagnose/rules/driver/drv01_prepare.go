package driver

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Prepare is the rule DRV-01.
type Prepare struct{}

// Thresholds of DRV-01. MariaDB 10.11 and MySQL 9.7 gave exactly 1.00 prepares
// an execution with go-sql-driver/mysql and 0 with interpolateParams.
const (
	preparesPerExecute  = 0.5
	preparesPerQuestion = 0.2
	fewExecutes         = 100
)

// ID returns DRV-01.
func (Prepare) ID() string { return "DRV-01" }

// Doc describes the rule.
func (Prepare) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds statements that are prepared, run once and closed.`,
		Evidence: `Com_stmt_prepare is more than half of Com_stmt_execute and at least 20 % of Questions,
			with at least 100 executions. It is borne out when as many statements are closed as prepared, and
			few stay prepared.`,
		Cause: `the driver prepares each parametrised statement on the server, runs it once and closes it:
			two round trips where one would do, and the server parses it each time all the same.`,
		Fix: `let the driver put the parameters in (in Go interpolateParams=true in the DSN), or prepare
			once and keep the statement.`,
		Silent: `when statements are run many times each, when few are prepared, and blind without the
			server's Com_stmt counters. Where programs outside of the service use the server too, all that the
			slow log does not have of the service's own connections counts as theirs: it is blind where that
			may be what the counters show, and of MariaDB, which logs no prepares, its confidence is medium. It
			says "each" where nine in ten are.`,
	}
}

// prepared is what the counters say about prepared statements. Questions leaves
// out prepare and close in both servers. Of a server that others use too, own and least are what
// is left of prepares and executions when all that may be theirs is left out.
type prepared struct {
	prepare, execute, close, questions diagnose.Grown
	own, least                         float64
	strangers                          evidence.Strangers
	strangersErr                       error // nothing bounds what is theirs
}

func preparedOf(c *diagnose.Case) (p prepared, err error) {
	for _, x := range []struct {
		name string
		into *diagnose.Grown
	}{
		{mysql.ComStmtPrepare, &p.prepare}, {mysql.ComStmtExecute, &p.execute}, {mysql.ComStmtClose, &p.close},
		{mysql.Questions, &p.questions},
	} {
		if *x.into, err = c.Counters().Status(x.name); err != nil {
			return p, err
		}
	}
	p.strangers, p.strangersErr = evidence.StrangersOf(c)
	p.own = max(p.prepare.By-p.strangers.Prepares, 0)
	p.least = max(p.execute.By-p.strangers.Statements, 0)
	return p, nil
}

// perExecute and perQuestion are the least that is the service's.
func (p prepared) perExecute() float64 { return p.own / max(p.execute.By, 1) }

func (p prepared) perQuestion() float64 { return p.own / max(p.questions.By, 1) }

// whose describes why counters that would speak say nothing of the service, nil where they do.
func (p prepared) whose(c *diagnose.Case) error {
	fires := p.prepare.By > preparesPerExecute*p.execute.By && p.execute.By >= fewExecutes
	if fires && (p.strangersErr != nil || p.perExecute() <= preparesPerExecute || p.least < fewExecutes) {
		return evidence.CheckOwn(c, "prepares")
	}
	return nil
}

// Check looks for as many prepares as executions.
func (r Prepare) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, err := preparedOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	near := min(p.perExecute()/preparesPerExecute, p.perQuestion()/preparesPerQuestion, p.execute.By/fewExecutes)
	if p.prepare.By >= preparesPerQuestion*p.questions.By {
		if err := p.whose(c); err != nil {
			return nil, diagnose.Blind(r.ID(), err)
		}
	}
	switch {
	case p.execute.By < fewExecutes:
		return nil, diagnose.Quiet(r.ID(), near, "prepared statements were executed %s times; the threshold is %d",
			diagnose.Whole(p.execute.By), fewExecutes)
	case p.perExecute() <= preparesPerExecute:
		return nil, diagnose.Quiet(r.ID(), near,
			"statements were prepared %s times per execution; the threshold is %s", unit.Sig3(p.perExecute()),
			unit.Plain(preparesPerExecute))
	case p.perQuestion() < preparesPerQuestion:
		return nil, diagnose.Quiet(r.ID(), near, "prepares were %s of the statements; the threshold is %s",
			unit.Percent(p.perQuestion()), unit.Percent(preparesPerQuestion))
	}
	title, cause := r.words(c, p)
	impact := evidence.TripImpact(c, p.own, p.questions.By)
	return []kasoku.Finding{{
		ID: r.ID(), Object: application(c),
		Title: wording.Capital(title), Clause: title,
		Severity:   kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(c, p)...),
		Impact:     impact,
		Evidence: append([]kasoku.Evidence{
			c.Quote().Counted(p.prepare, true), c.Quote().Counted(p.execute, true), c.Quote().Counted(p.close, false),
			c.Quote().Counted(p.questions, false),
			{Source: "status", Text: "prepares per execution", Value: unit.Sig3(p.perExecute()),
				Number: p.perExecute(), Strong: true, Interval: c.Focus.Interval},
		}, p.strangers.Bound(c)...),
		Cause: fmt.Sprintf("%s: 2 round trips where 1 would do. %s %s of %s round trips were prepares.", cause,
			wording.Capital(c.At()), diagnose.Whole(p.own), diagnose.Whole(p.prepare.By+p.questions.By)),
		Fixes:  language.Pick(c, prepareFixes),
		Expect: "Com_stmt_prepare +0, or far fewer prepares than executions",
		Verify: "repeat the load: Com_stmt_prepare per execution below 0.05", Interval: c.Focus.Interval,
	}}, nil
}

// application is the object of what is about all endpoints: the program, where that is known.
func application(c *diagnose.Case) kasoku.Object {
	if app := c.Member(kasoku.RoleApplication); app != nil && app.Program != "" {
		return kasoku.Object{Kind: "process", Name: app.Program}
	}
	return kasoku.Object{Kind: "process", Name: "the app"}
}

func (Prepare) signals(c *diagnose.Case, p prepared) []diagnose.Signal {
	kept := diagnose.Signal{Lacks: "many statements stay prepared"}
	if g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.PreparedStmtCount}); err != nil {
		kept.Blind = err.Error()
	} else {
		kept.Holds = g.Max <= 0.1*p.prepare.By
	}
	return append([]diagnose.Signal{
		{Holds: true}, {Holds: true},
		{Holds: p.close.By >= 0.9*p.prepare.By, Lacks: "not all prepared statements are closed again"},
		kept,
	}, p.strangers.Signals(c)...)
}

// prepareFixes are how drivers do without the prepares, by library and language. That statements are
// prepared on the server shows the driver where one of a language's does so: go-sql-driver/mysql, mysql2 of
// Ruby, MySQL Connector/Python.
//
// Sources: go-sql-driver/mysql, README, interpolateParams; PHP manual, PDO_MYSQL and
// mysqli; mysql2 for Node.js, documentation, "Prepared Statements"; Rails guide,
// "Configuring a MySQL Database"; MySQL Connector/Python, MySQLCursorPrepared; MySQL
// Connector/J, useServerPrepStmts and cachePrepStmts; sqlx, statement_cache_capacity and persistent.
var prepareFixes = map[string][]kasoku.Fix{
	language.Go: {{
		Text: "Let the driver put the parameters in", Where: "the DSN", Code: "interpolateParams=true",
		Risk: kasoku.RiskAppRestart,
		Note: "For Go's MySQL driver: append it to the DSN's parameters with ? or &. Safe with utf8mb4; not with big5, " +
			"cp932, gb2312, gbk or sjis.",
	}, {
		Text: "Or prepare once and keep the statement", Where: "where the pool is opened", Lang: "go",
		Code: "stmt, err := db.PrepareContext(ctx, query)",
		Note: "Then stmt.ExecContext for each request; one prepare a connection remains.",
		Risk: kasoku.RiskAppRestart,
	}},
	language.PHP: {{
		Text: "Let the driver put the parameters in", Where: "where the connection is opened", Lang: "php",
		Code: "$pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, true);", Risk: kasoku.RiskAppRestart,
		Note: "It is PDO's default for MySQL; many programs switch it off. Numbers then come back as strings unless mysqlnd " +
			"is in use. mysqli has no such switch: there, keep the statement for the loop that runs it.",
	}},
	language.Ruby: {{
		Text: "Put the parameters into the text", Where: "where the statement is run", Lang: "ruby",
		Code: "- rows = client.prepare(sql).execute(*values)\n" +
			"+ quoted = values.map { |v| v.nil? ? \"NULL\" : v.is_a?(Numeric) ? v : \"'#{client.escape(v.to_s)}'\" }\n" +
			"+ rows = client.query(sql.gsub(\"?\") { quoted.shift })",
		Risk: kasoku.RiskAppRestart,
		Note: "For mysql2, where no ? stands in a text of sql; a time goes in by strftime(\"%F %T\"). The gem " +
			"mysql2-cs-bind has it as client.xquery(sql, *values). Or keep what prepare returned, with its connection.",
	}},
	language.ActiveRecord: {{
		Text: "Let the adapter put the parameters in", Where: "config/database.yml", Lang: "yaml",
		Code: "prepared_statements: false", Risk: kasoku.RiskAppRestart, Note: "For mysql2.",
	}},
	language.JavaScript: {{
		Text: "Let the driver put the parameters in", Where: "where the statement is run", Lang: "javascript",
		Code: "- const [rows] = await pool.execute(sql, values)\n+ const [rows] = await pool.query(sql, values)",
		Risk: kasoku.RiskAppRestart,
		Note: "What execute prepared is kept for each connection: a pool that closes its connections, or SQL " +
			"whose text differs each time, prepares it anew.",
	}},
	language.Python: {{
		Text: "Use cursors that put the parameters in", Where: "where the cursor is opened", Lang: "python",
		Code: "- cursor = connection.cursor(prepared=True)\n+ cursor = connection.cursor()", Risk: kasoku.RiskAppRestart,
		Note: "Of Python's drivers MySQL Connector/Python prepares on the server, where it is asked to.",
	}},
	language.Java: {{
		Text: "Keep what is prepared, or let the driver put the parameters in", Where: "the JDBC URL",
		Code: "useServerPrepStmts=true&cachePrepStmts=true", Risk: kasoku.RiskAppRestart,
		Note: "MySQL's driver puts the parameters in with useServerPrepStmts=false, its default. Not checked: no driver " +
			"has read this.",
	}},
	language.Rust: {{
		Text: "Keep what is prepared", Where: "where the statement is run, and the pool's options",
		Risk: kasoku.RiskAppRestart,
		Note: "Drivers keep some for each connection: statements whose text differs each time, and those of new " +
			"connections, are prepared anew. Bind the values, keep connections, or let the driver keep more.",
	}},
	language.RustSQLX: {{
		Text: "Keep what is prepared", Where: "where the statement is run, and the pool's options",
		Risk: kasoku.RiskAppRestart,
		Note: "In sqlx 100 are kept for each connection: statements whose text differs each time, persistent(false) and new " +
			"connections are prepared anew; bind the values, or raise statement_cache_capacity.",
	}},
	language.Unknown: {{
		Text: "Let the driver put the parameters in, or prepare once and keep the statement", Risk: kasoku.RiskAppRestart,
		Where: "where the connection is opened", Note: "Drivers call it client-side or emulated prepares.",
	}},
}

// mostOf are as many as people call each.
const mostOf = 0.9

// words returns the title of a finding and the beginning of its cause.
func (Prepare) words(c *diagnose.Case, p prepared) (title, cause string) {
	verb, data := mainVerb(c)
	switch {
	case p.perExecute() < mostOf || p.least < mostOf*min(data, p.questions.By):
		return fmt.Sprintf("%s of statements are prepared, run once and closed", unit.Percent(p.perQuestion())),
			"The driver prepares these statements on the server, runs them once and closes them"
	}
	return fmt.Sprintf("each %s is sent as prepare, execute, close", verb),
		"The driver prepares each parametrised statement on the server, runs it once and closes it"
}

// mainVerb names the kind of statement that at least nine in ten are, "statement"
// when there is none, and returns how many there were of those that are prepared: BEGIN and
// COMMIT are sent as text in any case. Of a server that does not count kinds that is all.
func mainVerb(c *diagnose.Case) (verb string, of float64) {
	var sum, most float64
	name := "statement"
	for _, v := range [...]string{"insert", "select", "update", "delete", "replace"} {
		g, err := c.Counters().Status("Com_" + v)
		if err != nil {
			continue
		}
		if sum += g.By; g.By > most {
			most, name = g.By, v
		}
	}
	if sum == 0 {
		g, _ := c.Counters().Status(mysql.Questions)
		return "statement", g.By
	}
	// Com_select leaves out what MariaDB's query cache answers.
	hits, _ := c.Counters().Status(mysql.QcacheHits)
	of = sum + max(hits.By, 0)
	if most < mostOf*sum {
		return "statement", of
	}
	return strings.ToUpper(name), of
}
