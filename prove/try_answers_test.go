package prove_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTryAnswers: an index by which a list without ORDER BY comes in another order makes it
// faster, and is taken back although it was to be kept; one that alters no answer stays.
func TestTryAnswers(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.notes (id INT PRIMARY KEY AUTO_INCREMENT, user_id INT, price INT, text VARCHAR(200))",
		"INSERT INTO shop.notes (user_id, price, text) SELECT seq % 300, (seq * 7919) % 10007, REPEAT('x', 150) FROM shop.seq_1_to_30000",
		"ANALYZE TABLE shop.notes")
	const statement = "SELECT id, price FROM notes WHERE user_id = 7"
	app := sandboxtest.DB(t, s, "shop")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := statement
		if r.URL.Path == "/sorted" {
			query += " ORDER BY id"
		}
		list, err := notes(app, query)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	}))
	t.Cleanup(web.Close)
	try := func(path string) *prove.Trial {
		t.Helper()
		request, err := answers.ParseRequest(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		held := &answers.Held{Requests: []answers.Request{request}}
		defer held.Asker.Close()
		res, err := prove.Try(t.Context(), prove.Options{
			DSN: s.DSN("", "shop"), Guard: guard.Options{Dir: filepath.Join(t.TempDir(), "journals")}, Keep: true, Repeat: 3, Answers: held,
			Finding: &kasoku.Finding{ID: "IDX-01", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditIndex,
				Do: "CREATE INDEX notes_user ON notes (user_id, price)", Undo: "DROP INDEX notes_user ON notes"}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Tables: []string{"notes"}, Calls: 10, Total: 9, Raw: statement}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := try("/notes")
	if res.Kept || !res.Asked || len(res.Differs) != 1 || !strings.Contains(res.Differs[0], "GET /notes now comes in another order (") || res.Gain < 0.5 {
		t.Errorf("%+v", res)
	}
	if n := indexParts(t, db); n != 0 {
		t.Errorf("%d parts of the index are left", n)
	}
	if res = try("/sorted"); !res.Kept || len(res.Differs) != 0 || indexParts(t, db) != 2 {
		t.Errorf("%+v, %d parts", res, indexParts(t, db))
	}
}

type note struct {
	ID    int `json:"id"`
	Price int `json:"price"`
}

func notes(db *sql.DB, query string) ([]note, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []note
	for rows.Next() {
		var n note
		if err := rows.Scan(&n.ID, &n.Price); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func indexParts(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE INDEX_NAME = 'notes_user'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
