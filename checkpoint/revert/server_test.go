package revert

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func schemaOf(t *testing.T, db *sql.DB) *capture.Taken {
	t.Helper()
	r, err := mysql.New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	taken := capture.Take(t.Context(), capture.Options{Root: t.TempDir(), Schema: true, Database: r})
	for _, w := range taken.Warnings {
		if !strings.Contains(w.Text, "processes") {
			t.Errorf("warning: %s", w.Text)
		}
	}
	return taken
}

// Indexes that were dropped, added and changed come back; rows and ids stay.
func TestIndexesOfServer(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		functional := ""
		if srv.Kind == sandbox.KindMySQL97 {
			functional = ", KEY low ((lower(mail))), KEY hidden (score) INVISIBLE"
		}
		sandboxtest.Exec(t, db, "CREATE DATABASE shop",
			"CREATE TABLE shop.users (id INT AUTO_INCREMENT PRIMARY KEY, mail VARCHAR(190) NOT NULL, score INT, body TEXT, "+
				"UNIQUE KEY mail (mail), KEY score_mail (score, mail(20)) COMMENT 'two, parts', FULLTEXT KEY body (body)"+functional+") ENGINE=InnoDB",
			"INSERT INTO shop.users (mail, score, body) VALUES ('a', 1, 'x'), ('b', 2, 'y')")
		then := &kasoku.Recording{Configs: schemaOf(t, db).Configs}
		if n := len(then.Configs); n != 1 || strings.Contains(then.Configs[0].Text, "AUTO_INCREMENT=") {
			t.Fatalf("%d tables: %+v", n, then.Configs)
		}
		sandboxtest.Exec(t, db, "INSERT INTO shop.users (mail, score, body) VALUES ('c', 3, 'z')")
		if p := Make(then, schemaOf(t, db), Options{}); !p.Empty() || len(p.Notes) > 0 {
			t.Errorf("a new row makes a difference: %+v", p)
		}
		sandboxtest.Exec(t, db, "ALTER TABLE shop.users DROP INDEX mail, DROP INDEX body, DROP INDEX score_mail, ADD KEY score_mail (score), ADD KEY extra (mail, score)")
		if functional != "" {
			sandboxtest.Exec(t, db, "ALTER TABLE shop.users DROP INDEX low, DROP INDEX hidden")
		}
		p := Make(then, schemaOf(t, db), Options{})
		want := 4
		if functional != "" {
			want = 6
		}
		if len(p.Indexes) != want || p.Refused() > 0 {
			t.Errorf("plan %+v", p.Indexes)
		}
		if f := failed(p.Apply(t.Context(), db)); f != nil {
			t.Errorf("failed: %q", f)
		}
		if p := Make(then, schemaOf(t, db), Options{}); !p.Empty() {
			t.Errorf("still differs: %+v", p.Indexes)
		}
		// What the server refuses is reported, and the rest is done.
		sandboxtest.Exec(t, db, "ALTER TABLE shop.users DROP INDEX mail, DROP INDEX score_mail", "INSERT INTO shop.users (mail) VALUES ('a')")
		got := failed(Make(then, schemaOf(t, db), Options{}).Apply(t.Context(), db))
		if len(got) != 1 || !strings.Contains(got[0], "1062") {
			t.Errorf("failed: %q", got)
		}
	})
}
