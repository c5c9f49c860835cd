package driver

import (
	"errors"
	"fmt"
	"path"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SQLLog is the rule DRV-05.
type SQLLog struct{}

// Thresholds of DRV-05.
const (
	sqlLinesPerStmt    = 0.5
	sqlBytesPerRequest = 200
)

// ID returns DRV-05.
func (SQLLog) ID() string { return "DRV-05" }

// Doc describes the rule.
func (SQLLog) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an application that logs the text of every statement.`,
		Evidence: `the application's log has at least one line with a statement's text for every second
			statement, at least 100 of them, and more than 200 bytes of it per request that succeeds; lines
			that report an error do not count. It is borne out when a process makes as many write calls.`,
		Cause: `the mapper or driver runs in its debug mode, and each statement is formatted and written
			to the log, one write call each, under one lock.`,
		Fix: `switch statement logging off under load.`,
		Silent: `when few lines hold SQL; blind without the application's log or without a count of
			statements or requests.`,
	}
}

// sqlLines is what an application's log holds of statements over the focus.
type sqlLines struct {
	most       diagnose.Said // the class with most lines
	lines      float64
	bytes      float64
	statements float64 // that the server ran, or requests where that is not known
	of         string  // statement, request
	requests   float64 // that succeeded
	writer     diagnose.Grown
}

func (s sqlLines) perStatement() float64 { return s.lines / max(s.statements, 1) }

func (s sqlLines) perRequest() float64 { return s.bytes / max(s.requests, 1) }

// Check looks for a line of SQL per statement.
func (r SQLLog) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if !c.Lines().HasAppLog() {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("applog")))
	}
	s, err := sqlLinesOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	near := min(s.perStatement()/sqlLinesPerStmt, s.perRequest()/sqlBytesPerRequest, s.lines/evidence.FewSQLLines)
	switch {
	case s.lines < evidence.FewSQLLines:
		return nil, diagnose.Quiet(r.ID(), near, "%s lines of the application's log hold SQL; the threshold is %d",
			diagnose.Whole(s.lines), evidence.FewSQLLines)
	case s.perStatement() < sqlLinesPerStmt:
		return nil, diagnose.Quiet(r.ID(), near, "%s lines of SQL were logged per %s; the threshold is %s",
			unit.Sig3(s.perStatement()), s.of, unit.Plain(sqlLinesPerStmt))
	case s.perRequest() <= sqlBytesPerRequest:
		return nil, diagnose.Quiet(r.ID(), near, "%s bytes of SQL were logged per request; the threshold is %d",
			diagnose.Whole(s.perRequest()), sqlBytesPerRequest)
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "log", Name: path.Base(s.most.Path)},
		Title: "The app logs the text of every statement", Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(s)...),
		Impact:     kasoku.Impact{Of: evidence.Unmeasured, Estimate: true},
		Evidence:   r.evidence(c, s),
		Cause: fmt.Sprintf("%s each statement is formatted and written to the log, as mappers and drivers do in their debug "+
			"mode: %s bytes per request that succeeds. The lines also bury the errors.", wording.Capital(c.At()),
			diagnose.Whole(s.perRequest())),
		Fixes: []kasoku.Fix{{
			Text: "Switch the logging of statements off under load", Where: "where the mapper or the pool is opened",
			Risk: kasoku.RiskAppRestart,
			Note: language.Pick(c, sqlLogSwitch) + " Errors stay logged.",
		}},
		Expect: fmt.Sprintf("%s less log per request, and fewer write calls",
			unit.Bytes(uint64(min(s.perRequest(), 1e15)))),
		Verify: "repeat the load with the same rate and compare CPU and latency", Interval: c.Focus.Interval,
	}}, nil
}

// sqlLogSwitch is where the text of statements is logged.
var sqlLogSwitch = map[string]string{
	language.GORM:         "In GORM: LogMode(false), or the logger's level at Warn.",
	language.Rails:        "In Rails: config.log_level = :info, or ActiveRecord::Base.logger = nil.",
	language.ActiveRecord: "In ActiveRecord: ActiveRecord::Base.logger = nil, or its level at info.",
	language.Django:       "In Django: the logger django.db.backends at WARNING, and DEBUG = False.",
	language.SQLAlchemy:   "In SQLAlchemy: echo=False.",
	language.Laravel:      "In Laravel: no DB::listen and no query log.",
	language.Symfony:      "In Symfony: doctrine.dbal.logging: false.",
	language.Sequelize:    "In Sequelize: logging: false.",
	language.TypeORM:      "In TypeORM: logging: false.",
	language.Knex:         "In knex: debug: false.",
	language.Prisma:       "In Prisma: no \"query\" in log.",
	language.Spring:       "In Spring: spring.jpa.show-sql=false, and the logger org.hibernate.SQL at WARN.",
	language.Hibernate:    "In Hibernate: hibernate.show_sql=false, and the logger org.hibernate.SQL at WARN.",
	language.RustSQLX:     "In sqlx: log_statements(LevelFilter::Off) of the connect options; or RUST_LOG=warn.",
	language.Unknown:      "It is the debug, echo or show_sql switch of the mapper or driver.",
}

func sqlLinesOf(c *diagnose.Case) (sqlLines, error) {
	var s sqlLines
	for _, m := range c.Lines().Said(isStatement) {
		if s.lines == 0 {
			s.most = m
		}
		s.lines += float64(m.Count)
		s.bytes += float64(m.Bytes) * float64(m.Count) / float64(max(m.Message.Count, m.Count))
	}
	n, err := c.Requests(c.Focus.Interval)
	if err != nil {
		return s, err
	}
	s.requests = float64(n.Count - min(n.Failed, n.Count))
	if s.statements = statementCount(c); s.statements > 0 {
		s.of = "statement"
	} else {
		s.statements, s.of = s.requests, "request"
	}
	s.writer = evidence.LogWriter(c)
	return s, nil
}

// isStatement accepts lines that hold SQL and do not report an error.
func isStatement(m *kasoku.Message) bool { return m.SQL && m.Code == "" && m.Level != "error" }

// statementCount returns how many statements with data the server ran.
func statementCount(c *diagnose.Case) float64 {
	var n float64
	for _, v := range [...]string{"insert", "select", "update", "delete", "replace"} {
		if g, err := c.Counters().Status("Com_" + v); err == nil {
			n += g.By
		}
	}
	return n
}

func (SQLLog) signals(s sqlLines) []diagnose.Signal {
	writes := diagnose.Signal{Holds: s.writer.By >= evidence.WritesPerLine*s.lines,
		Lacks: "no process makes as many write calls"}
	if s.writer.Key.Name == "" {
		writes.Blind = "write calls of the app were not recorded"
	}
	counted := diagnose.Signal{Holds: true}
	if s.of != "statement" {
		counted.Blind = "the server's statements were not counted"
	}
	return []diagnose.Signal{counted, {Holds: true}, writes}
}

func (SQLLog) evidence(c *diagnose.Case, s sqlLines) []kasoku.Evidence {
	out := []kasoku.Evidence{
		c.Quote().Quoted(s.most, true),
		{Source: "app.log", Text: "lines of SQL per " + s.of, Note: diagnose.Whole(s.lines) + " lines",
			Value:  unit.Sig3(s.perStatement()),
			Number: s.perStatement(), Strong: true, Interval: c.Focus.Interval},
		{Source: "app.log", Text: "bytes of SQL per request that succeeds", Value: diagnose.Whole(s.perRequest()),
			Number: s.perRequest(),
			Strong: true, Interval: c.Focus.Interval},
	}
	if s.writer.Key.Name != "" {
		e := c.Quote().Counted(s.writer, false)
		e.Text = "write calls of " + s.writer.Key.Instance
		out = append(out, e)
	}
	return out
}
