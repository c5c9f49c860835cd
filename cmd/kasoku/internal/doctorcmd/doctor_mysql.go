package doctorcmd

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/topology"
)

const areaMySQL = "database"

// A databaseExam is of the database.
type databaseExam struct{ exam }

// check looks at the database that is configured, else at one that runs here
// and lets us in.
func (x databaseExam) check() {
	m := x.c.MySQL
	if !m.Set() {
		if x.configured() {
			if len(x.found.Of(topology.MySQL)) > 0 {
				x.add(check{Area: areaMySQL, Name: "connection", State: checkWarn, Seen: "a database runs here, and the file names none",
					Lost: "all of the database: queries, locks, " +
						"its counters", Grants: []grant{{config.Name, "[mysql]\ndefaults_file = '~/.my.cnf'"}}})
			}
			return
		}
		r, err := initcmd.ReachDatabase(x.e, x.ctx, x.found, x.narrowed)
		if r.User == "" {
			x.unreached(err)
			return
		}
		m.DSN, m.DefaultsFile = r.DSN, r.DefaultsFile
	}
	x.checkSecrets(m)
	dsn, err := x.e.Noted(record.DSN(m))
	if err == nil {
		err = x.withDatabase(dsn, m)
	}
	if err != nil {
		seen := err.Error()
		if hint := cli.HintOf(err); hint != "" {
			seen += "; " + hint
		}
		x.add(check{Area: areaMySQL, Name: "connection", State: checkMissing, Asked: x.configured(), Seen: seen, Lost: "all of the database"})
	}
}

// unreached reports a database that cannot be reached.
func (x databaseExam) unreached(err error) {
	all := x.found.Of(topology.MySQL)
	if len(all) == 0 {
		x.ok(areaMySQL, "connection", "no database runs here")
		return
	}
	c := check{Area: areaMySQL, Name: "connection", State: checkWarn, Lost: "queries, locks, counters of the database"}
	if len(all) == 1 || x.narrowed {
		c.Seen = initcmd.ServiceText(all[0]) + " runs here, and lets no one in without a password"
		if err != nil { // which has how it was tried
			c.Seen = initcmd.ServiceText(all[0]) + " runs here, and did not let us in: " + err.Error()
		}
	} else if err != nil {
		c.Seen = err.Error()
	}
	c.Grants = []grant{{inShell, "touch ~/.my.cnf && chmod 600 ~/.my.cnf && printf '[client]\\nuser=%s\\npassword=%s\\n' USER PASSWORD >> ~/.my.cnf"}}
	x.add(c)
}

// checkSecrets warns of a password where others can read it.
func (x databaseExam) checkSecrets(m config.MySQL) {
	if m.DSN != "" && x.configured() && mysqlflags.Redact(m.DSN) != m.DSN {
		x.add(check{Area: areaMySQL, Name: "password", State: checkWarn, Seen: "it stands in " + config.Name, Lost: "the file cannot be shared or committed",
			Grants: []grant{
				{inShell, "touch ~/.my.cnf && chmod 600 ~/.my.cnf # then [client], user=, password=, socket= in it"},
				{config.Name, "[mysql]\ndefaults_file = '~/.my.cnf'"},
			}})
	}
	if st, err := os.Stat(m.DefaultsFile); err == nil && st.Mode().Perm()&0o044 != 0 {
		x.add(check{Area: areaMySQL, Name: "password", State: checkWarn, Seen: fmt.Sprintf("%s can be read by others: %s", m.DefaultsFile, st.Mode().Perm()),
			Lost: "the password", Grants: []grant{{inShell, "chmod 600 " + unit.ShellQuote(m.DefaultsFile)}}})
	}
}

// A consultation is one server that is asked.
type consultation struct {
	exam
	m       config.MySQL
	dsn     string
	db      *sql.DB
	reader  *mysql.Reader
	account string // quoted for GRANT: 'app'@'localhost'
	vars    map[string]string
	open    int // sessions of others, before this one asked for more
}

// withDatabase asks one server. Its error is that it cannot be asked.
func (x databaseExam) withDatabase(dsn string, m config.MySQL) error {
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	s := &consultation{exam: x.exam, m: m, dsn: dsn, db: db}
	if s.reader, err = mysql.New(x.ctx, db); err != nil {
		return err
	}
	defer func() { _ = s.reader.Close() }() // nothing is lost with it
	if sessions, err := s.reader.Sessions(x.ctx); err == nil {
		s.open = sessions.Total()
	}
	user, err := initcmd.CurrentUser(x.ctx, db)
	if err != nil {
		return err
	}
	s.account = accountName(user)
	rights, err := s.reader.Rights(x.ctx)
	if err != nil {
		return err
	}
	if s.vars, err = s.reader.Variables(x.ctx); err != nil {
		return err
	}
	x.ok(areaMySQL, "connection", "%s %s, as %s", s.reader.Flavor(), s.reader.Version().Text, user)
	s.checkProcess(rights)
	s.checkSlowLog(rights)
	s.checkSchema()
	s.checkRows()
	return nil
}

// accountName quotes app@localhost for GRANT. The host has no @.
func accountName(user string) string {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'" }
	if i := strings.LastIndexByte(user, '@'); i >= 0 {
		return quote(user[:i]) + "@" + quote(user[i+1:])
	}
	return quote(user)
}

func (s *consultation) grant(right, on string) []grant {
	return []grant{{inDatabase, "GRANT " + right + " ON " + on + " TO " + s.account + ";"}}
}

func (s *consultation) checkProcess(r mysql.Rights) {
	if r.Process {
		s.ok(areaMySQL, "sessions", "sees those of all users (PROCESS)")
		return
	}
	s.add(check{Area: areaMySQL, Name: "sessions", State: checkWarn, Seen: "sees only its own user's: PROCESS is missing",
		Lost: "sessions of others, transactions, who waits for " +
			"which lock", Cost: "the user may read the statements that others run",
		Grants: s.grant("PROCESS", "*.*")})
}

// checkSlowLog asks whether the slow log can be switched on and read.
func (s *consultation) checkSlowLog(r mysql.Rights) {
	if s.m.SlowLog != nil && !*s.m.SlowLog {
		s.ok(areaMySQL, "slow log", "left as it is: slow_log = false")
		return
	}
	on := strings.EqualFold(s.vars["slow_query_log"], "ON")
	asked := s.m.SlowLog != nil && *s.m.SlowLog && s.configured()
	lost := "the queries of a run: which, how many, how long, how many rows they read"
	switch {
	case r.SlowLog:
		s.ok(areaMySQL, "slow log", "can be switched on for a run, and put back; it is %s, long_query_time %s s, "+
			"log_output %s",
			strings.ToLower(s.vars["slow_query_log"]), s.vars["long_query_time"], s.vars["log_output"])
	case on && hasFile(s.vars["log_output"]):
		s.add(check{Area: areaMySQL, Name: "slow log", State: checkWarn, Asked: asked,
			Seen: fmt.Sprintf("is on with long_query_time %s s and cannot be changed", s.vars["long_query_time"]),
			Lost: "queries that are faster than that", Cost: "the user may change global settings; a run writes every " +
				"statement to the log",
			Grants: s.grant(s.logRight(), "*.*")})
	default:
		state := checkWarn
		if asked {
			state = checkMissing
		}
		seen := "cannot be switched on: " + s.logRight() + " is missing"
		if on {
			seen = fmt.Sprintf("goes to log_output %s, which kasoku does not read, and cannot be changed", s.vars["log_output"])
		}
		s.add(check{Area: areaMySQL, Name: "slow log", State: state, Asked: asked, Seen: seen, Lost: lost,
			Cost: "the user may change global settings; a run writes every statement " +
				"to the log", Grants: s.grant(s.logRight(), "*.*")})
		return
	}
	s.checkSlowFile(asked)
	s.checkPools()
}

// logRight is the privilege that SET GLOBAL takes.
func (s *consultation) logRight() string {
	if s.reader.Flavor() == mysql.MySQL && s.reader.Version().AtLeast(8, 0, 0) {
		return "SYSTEM_VARIABLES_ADMIN"
	}
	return "SUPER"
}

// hasFile reports whether a log_output writes a file.
func hasFile(output string) bool { return strings.Contains(strings.ToUpper(output), "FILE") }

// checkSlowFile asks whether the log can be read here once it is written.
func (s *consultation) checkSlowFile(asked bool) {
	path := s.vars["slow_query_log_file"]
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.vars["datadir"], path)
	}
	if !isLocal(s.dsn) {
		s.add(check{Area: areaMySQL, Name: "slow log file", State: checkWarn, Seen: "it is on another host: " + path,
			Lost: "the queries of a run", Grants: []grant{{"on the host of the database, then merge the two runs here",
				s.e.Name + " record --until-idle 10s && " + s.e.Name + " merge"}}})
		return
	}
	r := topology.CheckFile(path, s.who)
	if r.Missing {
		dir := topology.CheckFile(filepath.Dir(path), s.who)
		r.Read, r.Why, r.Grant, r.Cost = dir.Read, dir.Why, dir.Grant, dir.Cost
	}
	if r.Read {
		s.ok(areaMySQL, "slow log file", "%s", path)
		return
	}
	state := checkWarn
	if asked {
		state = checkMissing
	}
	s.add(check{Area: areaMySQL, Name: "slow log file", State: state, Asked: asked, Seen: path + " cannot be read: " + r.Why,
		Lost: "the queries of a run", Cost: r.Cost, Grants: rootGrants(r.Grant)})
}

// isLocal reports whether a DSN leads to this host.
func isLocal(dsn string) bool {
	at := mysqlflags.Redact(dsn)
	for _, here := range []string{"unix(", "tcp(127.", "tcp(localhost:", "tcp([::1]", "tcp(:"} {
		if strings.Contains(at, here) {
			return true
		}
	}
	return false
}

// checkPools warns of sessions that were open before: they keep the values of the
// slow log that were in force when they began.
func (s *consultation) checkPools() {
	if s.open == 0 || s.vars["long_query_time"] == "0.000000" && strings.EqualFold(s.vars["slow_query_log"], "ON") {
		return
	}
	s.add(check{Area: areaMySQL, Name: "open sessions", State: checkWarn,
		Seen: fmt.Sprintf("%d open now; a session keeps the long_query_time that it began with", s.open),
		Lost: "the statements of connection pools that outlive the start of a run",
		Cost: "a restart of the application when the run has begun", Grants: poolGrants(s.application)})
}

// poolGrants are what has an application open its connections anew: in Go a line of its own, else
// a restart of its unit, where it is one.
func poolGrants(application *kasoku.Member) []grant {
	switch {
	case application == nil:
		return nil
	case application.Language == "go":
		return []grant{{"in the application, or restart it when the run has begun", "db.SetConnMaxLifetime(30 * time.Second)"}}
	case application.Unit != "":
		return []grant{{inShell, "systemctl restart " + unit.ShellQuote(application.Unit)}}
	}
	return nil
}

// checkSchema asks for performance_schema.
func (s *consultation) checkSchema() {
	asked := s.m.Digests && s.configured()
	if v := s.vars["performance_schema"]; v != "ON" && v != "1" {
		c := check{Area: areaMySQL, Name: "performance_schema", State: checkWarn, Asked: asked, Seen: "off",
			Lost: "statement digests, which need no slow log and count " +
				"all sessions", Cost: "a restart of the server, about 100 MB of memory, a few percent of CPU",
			Grants: []grant{{"in the server's option file, below [mysqld]; then restart it", "performance_schema = ON"}}}
		if asked {
			c.State = checkMissing
		}
		s.add(c)
		return
	}
	_, err := mysql.NewConsumers(s.reader).Plan(s.ctx)
	if err == nil {
		s.ok(areaMySQL, "performance_schema", "on, and its statement digests can be read")
		return
	}
	c := check{Area: areaMySQL, Name: "performance_schema", State: checkWarn, Asked: asked, Seen: "on, and closed to this user: " + err.Error(),
		Lost: "statement digests", Cost: "the user may read statements of others and change what " +
			"is counted", Grants: s.grant("SELECT, UPDATE", "performance_schema.*")}
	if asked {
		c.State = checkMissing
	}
	s.add(c)
}

// checkRows looks for the tables that are counted.
func (s *consultation) checkRows() {
	for _, table := range s.m.CountRows {
		var one int
		err := s.db.QueryRowContext(s.ctx, "SELECT /* kasoku */ 1 FROM "+mysql.QuoteName(table)+" LIMIT 1").Scan(&one)
		if err == nil || errors.Is(err, sql.ErrNoRows) {
			s.ok(areaMySQL, "count_rows", "%s can be counted", table)
			continue
		}
		s.add(check{Area: areaMySQL, Name: "count_rows", State: checkMissing, Asked: true, Seen: mysqlflags.Explain(err).Error(),
			Lost: "whether each success left a row", Grants: s.grant("SELECT", tableName(table))})
	}
}

// tableName quotes a table where it has to be.
func tableName(table string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return -1
		}
		return r
	}, table)
	if plain == "" {
		return table
	}
	return mysql.QuoteName(table)
}
