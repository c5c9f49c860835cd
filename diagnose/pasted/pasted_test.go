package pasted

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A row is one statement that a rule rewrites, or refuses to.
type row struct {
	rule, shows string
	check       func(s *server) (said string, err error)
}

// rows returns the table of all.
func rows() []row {
	return slices.Concat(lookupRows(), changeRows(), indexRows(), scanRows(), conversionRows(), distinctRows())
}

// A server is a real one with the rows that all statements read.
type server struct {
	t       *testing.T
	db      *sql.DB
	version string
}

const schema = "reading_room"

// tables are small, with what goes wrong in small: reserved and quoted names, NULLs, text
// that differs in case, backslashes, rows that a join doubles or drops.
var tables = []string{
	"CREATE TABLE readers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, town INT NULL, card VARCHAR(20) NOT NULL, UNIQUE KEY by_card (card))",
	"CREATE TABLE loans (id INT PRIMARY KEY AUTO_INCREMENT, reader INT NOT NULL, book INT NOT NULL, lent DATE NOT NULL, back DATE NULL, fine DECIMAL(6,2) NULL, note VARCHAR(80) NULL, KEY by_reader (reader, lent))",
	"CREATE TABLE books (id INT PRIMARY KEY, title VARCHAR(80) NOT NULL, shelf INT NULL, kind VARCHAR(10) NOT NULL)",
	"CREATE TABLE shelves (id INT PRIMARY KEY, label VARCHAR(20) NOT NULL)",
	"CREATE TABLE `order` (`key` INT NOT NULL, `group` VARCHAR(10) NOT NULL, `a``b` INT NULL, `select` INT NOT NULL, PRIMARY KEY (`key`, `group`))",
	"CREATE TABLE copies (branch INT NOT NULL, book INT NOT NULL, n INT NOT NULL, PRIMARY KEY (branch, book))",
	"CREATE TABLE seats (id INT PRIMARY KEY, hall INT NOT NULL, seat INT NOT NULL, Row_No INT NOT NULL, row_no_2 INT NULL)",
	"INSERT INTO seats VALUES (1,1,4,7,NULL), (2,1,3,8,1), (3,1,2,9,2), (4,2,1,1,NULL)",
	"CREATE DATABASE IF NOT EXISTS reading_archive",
	"DROP TABLE IF EXISTS reading_archive.loans",
	"CREATE TABLE reading_archive.loans (id INT PRIMARY KEY, reader INT NOT NULL, pages INT NULL)",
	"INSERT INTO readers VALUES (1,'Ada',1,'A-1'), (2,'bob',NULL,'b-2'), (3,'Cy\\\\d',1,'C-3'), (4,'Dora',2,'D-4')",
	"INSERT INTO shelves VALUES (1,'A'), (2,'B')",
	"INSERT INTO books VALUES (1,'One',1,'novel'), (2,'Two',NULL,'novel'), (3,'Three',2,'map'), (4,'Four',7,'map')",
	"INSERT INTO loans (reader, book, lent, back, fine, note) VALUES (1,1,'2026-01-05',NULL,NULL,'a\\\\b'), (1,2,'2026-01-04','2026-02-01',1.50,NULL), (1,3,'2026-01-03',NULL,0.50,'it''s'), (1,4,'2026-01-02',NULL,NULL,'x'), (2,1,'2026-03-01','2026-03-02',2,NULL), (2,3,'2026-03-02',NULL,NULL,'y'), (4,4,'2026-04-01',NULL,NULL,NULL)",
	"INSERT INTO `order` VALUES (1,'a',NULL,5), (1,'b',2,6), (2,'a',3,7)",
	"INSERT INTO copies VALUES (1,1,3), (1,2,4), (2,1,5), (2,3,0)",
	"INSERT INTO reading_archive.loans VALUES (1,1,10), (2,1,NULL), (3,2,30)",
}

// TestPastedSQL runs each row on both servers.
func TestPastedSQL(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s := newServer(t, srv)
		sandboxtest.Exec(t, s.db, tables...)
		var table strings.Builder
		w := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
		for _, r := range rows() {
			said, err := r.check(s)
			if err != nil {
				t.Errorf("%s, %s: %v", r.rule, r.shows, err)
				said = "WRONG"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.rule, r.shows, said)
		}
		w.Flush()
		t.Logf("%s:\n%s", s.version, table.String())
	})
}

func newServer(t *testing.T, srv *sandbox.Server) *server {
	sandboxtest.Exec(t, sandboxtest.DB(t, srv, ""), "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema)
	db, err := mysqlflags.OpenDSN(srv.DSN("", schema) + "?multiStatements=true&interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &server{t: t, db: db}
	if err := db.QueryRow("SELECT VERSION()").Scan(&s.version); err != nil {
		t.Fatal(err)
	}
	return s
}

// An answer is what a SELECT sends.
type answer struct {
	columns []string
	rows    [][]string
}

const null = "NULL"

func (s *server) ask(text string, args ...any) (answer, error) {
	rows, err := s.db.Query(text, args...)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", text, err)
	}
	return readAnswer(rows)
}

func readAnswer(rows *sql.Rows) (a answer, err error) {
	defer rows.Close()
	if a.columns, err = rows.Columns(); err != nil {
		return a, err
	}
	for rows.Next() {
		cells := make([]sql.NullString, len(a.columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return a, err
		}
		var row []string
		for _, c := range cells {
			if !c.Valid {
				c.String = null
			}
			row = append(row, c.String)
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// prepare asks the server whether it can read a statement.
func (s *server) prepare(text string) error {
	p, err := s.db.Prepare(text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return p.Close()
}

// run is a run of 1,000 requests of an endpoint with these classes, whose tables are read
// from the server.
func (s *server) run(queries ...kasoku.Query) *diagnose.Case {
	s.t.Helper()
	r, err := mysql.New(s.t.Context(), s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}, Queries: queries,
		Endpoints: []kasoku.Endpoint{{Method: "GET", Route: "/page", Count: 1000,
			Codes: map[int]uint64{200: 1000}, Bytes: 50_000, Total: 100 * time.Second, Seconds: map[int]kasoku.EndpointSecond{1: {Count: 1000}}, Last: 9 * time.Second}}}
	for _, q := range queries {
		per := float64(q.Calls) / 1000
		rec.Callers = append(rec.Callers, kasoku.Caller{QueryID: q.ID, Method: "GET", Route: "/page", Requests: 1000,
			PerRequest: per, Least: per, Most: per, Calls: float64(q.Calls), Share: 1, Class: kasoku.CallerConfirmed, Source: kasoku.FromProbe})
	}
	o := explain.Options{Schema: schema}
	if rec.Plans, rec.Tables, err = explain.Queries(s.t.Context(), r, queries, o); err != nil {
		s.t.Fatal(err)
	}
	var mode string
	if err := s.db.QueryRow("SELECT @@GLOBAL.sql_mode").Scan(&mode); err != nil {
		s.t.Fatal(err)
	}
	rec.Settings = []kasoku.Setting{{Scope: "mysql", Name: "version", Value: s.version},
		{Scope: "mysql", Name: "sql_mode", Value: mode}}
	return diagnose.NewCase(rec, nil)
}

// class is a class of statements as a slow log gives it: the text with its values masked.
func class(id, text string, calls, sent uint64, total time.Duration) kasoku.Query {
	masked := string(sqlshape.AppendMasked(nil, []byte(text), 4096))
	return kasoku.Query{ID: id, Sample: masked, Fingerprint: strings.ToLower(masked), Verb: sqlshape.Verb([]byte(text)),
		Tables: sqlshape.Tables([]byte(text)), Calls: calls, RowsSent: sent * calls,
		RowsExamined: sent * calls, Total: total,
		Raw: text, Schema: schema, Last: 9 * time.Second}
}

// fixes returns what a rule says to do.
func (s *server) fixes(rule string, c *diagnose.Case) ([]kasoku.Fix, error) {
	for _, r := range rules.All() {
		if r.ID() != rule {
			continue
		}
		found, silent := r.Check(c)
		if len(found) != 1 {
			return nil, fmt.Errorf("%d findings, %+v", len(found), silent)
		}
		return found[0].Fixes, nil
	}
	return nil, fmt.Errorf("no such rule")
}

// sqlOf returns the SQL of the first fix that has some; else the words of all.
func sqlOf(fixes []kasoku.Fix) (code, words string) {
	for _, f := range fixes {
		words += f.Text + " " + f.Note + " "
		if f.Lang == "sql" && code == "" {
			code = f.Code
		}
	}
	return code, words
}
