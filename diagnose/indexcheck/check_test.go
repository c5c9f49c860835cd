package indexcheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexcheck"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// standIn puts the MySQL of the tests where a trusted program is looked for: it lies below
// a home directory. MariaDB's is where the system has it.
func standIn(t *testing.T, srv *sandbox.Server) {
	t.Helper()
	if srv.Kind != sandbox.KindMySQL97 {
		return
	}
	dir := t.TempDir()
	words := srv.Program()
	if os.Geteuid() == 0 { // the private server is another user's, who does not get into /root
		words = copyProgram(t, words, dir)
	}
	for i, w := range words {
		words[i] = "'" + w + "'"
	}
	text := "#!/bin/sh\nshift # --no-defaults, which has to be the first\nexec " + strings.Join(words, " ") + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "mysqld"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	command.StandIns = append(command.StandIns, dir)
	t.Cleanup(func() { command.StandIns = nil })
}

// copyProgram copies the tree of MySQL to a directory that others may read, and returns the
// words that start it there.
func copyProgram(t *testing.T, words []string, dir string) []string {
	t.Helper()
	const mark = "/mysql97/root/"
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, mark) })
	if at < 0 {
		return words // one that is installed
	}
	root := words[at][:strings.Index(words[at], mark)+len(mark)-1]
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"usr/sbin", "usr/lib", "usr/share", "lib64"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(root, part))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], root, dir)
	}
	return words
}

func class(id, text string, sent uint64) kasoku.Query {
	masked := string(sqlshape.AppendMasked(nil, []byte(text), 4096))
	return kasoku.Query{ID: id, Sample: masked, Fingerprint: strings.ToLower(masked), Verb: sqlshape.Verb([]byte(text)),
		Tables: sqlshape.Tables([]byte(text)), Calls: 1000, RowsSent: sent * 1000, RowsExamined: 3000 * 1000,
		Total: 40 * time.Second, Raw: text, Schema: "shop"}
}

// TestCheck asks about an index that is used, and about one that no server would use: the
// column has two values of which the statement asks for the frequent one.
func TestCheck(t *testing.T) {
	// A directory of this test's own: others make private servers beside it. Others may pass.
	temp := t.TempDir()
	if err := os.Chmod(filepath.Dir(temp), 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		standIn(t, srv)
		db := sandboxtest.DB(t, srv, "")
		var rows []string
		for i := range 3000 {
			state := "open"
			if i%50 == 0 {
				state = "x" + fmt.Sprint(i)
			}
			rows = append(rows, fmt.Sprintf("(%d, %d, '%s', 'planted %d', '{\"a\": %d}')", i, i%100, state, i, i))
		}
		sandboxtest.Exec(t, db, "CREATE DATABASE shop",
			"CREATE TABLE shop.town (id INT PRIMARY KEY, name VARCHAR(20))",
			"CREATE TABLE shop.items (id INT PRIMARY KEY, price INT NOT NULL, state VARCHAR(10) NOT NULL, name TEXT, more JSON,"+
				" twice INT AS (price * 2) STORED, town INT, CONSTRAINT lies FOREIGN KEY (town) REFERENCES shop.town (id))",
			"INSERT INTO shop.items (id, price, state, name, more) VALUES "+strings.Join(rows, ", "), "ANALYZE TABLE shop.items")
		r, err := mysql.New(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		sent := []kasoku.Query{
			class("PRICE", "SELECT * FROM items WHERE price = 17", 30),
			class("WRITE", "UPDATE items SET name = 'planted' WHERE price = 18 AND twice = 36", 0),
			class("STATE", "SELECT * FROM items WHERE state = 'open'", 1),
		}
		rec := &kasoku.Recording{Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: r.Version().Text}}}
		for _, q := range sent {
			q.Raw = ""
			rec.Queries = append(rec.Queries, q)
		}
		if rec.Plans, rec.Tables, err = explain.Queries(t.Context(), r, sent, explain.Options{}); err != nil {
			t.Fatal(err)
		}
		for i := range rec.Tables {
			rec.Tables[i].Columns = nil // as the model guesses where it was shown no rows
		}
		before, err := indexes.Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := indexcheck.Check(t.Context(), r, rec, sent); err != nil {
			t.Fatal(err)
		}
		verdicts := map[string]string{}
		for i := range rec.Tables {
			for _, k := range rec.Tables[i].Checks {
				if k.Note != "" || !strings.HasPrefix(k.Server, string(r.Flavor())+" ") || k.Rows != 3000 || !k.Whole {
					t.Errorf("check %+v", k)
				}
				for _, c := range k.Classes {
					verdicts[c.QueryID] = fmt.Sprintf("%v", c.Helps)
					if c.Helps && (c.Before < 2000 || c.After > 60) { // of 3,000, by the server's estimate
						t.Errorf("class %+v", c)
					}
				}
			}
		}
		if verdicts["PRICE"] != "true" || verdicts["WRITE"] != "true" || verdicts["STATE"] != "false" {
			t.Errorf("verdicts %v of %+v; proposed %+v", verdicts, rec.Tables, before.Proposals)
		}
		after, err := indexes.Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range after.Proposals {
			if p.Check == nil || strings.Contains(p.DDL, "(state") {
				t.Errorf("proposed %+v", p)
			}
		}
		if len(after.Proposals) == 0 || len(after.Proposals) >= len(before.Proposals) {
			t.Errorf("%d proposals before, %d after", len(before.Proposals), len(after.Proposals))
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "kasoku-server-scratch-*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestNoProgram: without a program of the server's version the check says so.
func TestNoProgram(t *testing.T) {
	srv := sandboxtest.MySQL97(t, sandbox.Options{})
	db := sandboxtest.DB(t, srv, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, price INT)")
	r, err := mysql.New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sent := []kasoku.Query{class("PRICE", "SELECT * FROM items WHERE price = 17", 30)}
	rec := &kasoku.Recording{Queries: sent, Tables: []kasoku.TableDef{{Schema: "shop", Name: "items", Rows: 3000, Engine: "InnoDB",
		Create: "CREATE TABLE `items` (\n  `id` int NOT NULL,\n  `price` int,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB"}}}
	if err := indexcheck.Check(t.Context(), r, rec, sent); err != nil {
		t.Fatal(err)
	}
	checks := rec.Tables[0].Checks
	if len(checks) != 1 || !strings.HasPrefix(checks[0].Note, "no mysqld of version 9.7.") {
		t.Errorf("checks %+v", checks)
	}
}
