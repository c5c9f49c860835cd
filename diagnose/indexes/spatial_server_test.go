package indexes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const within = "ST_Contains(ST_GeomFromText('POLYGON((10 10, 10 12, 12 12, 12 10, 10 10))'), "

// TestSpatialSteps runs what is proposed for a test against a function of columns, for
// a stored point without an index, and for one without a reference system, on real
// servers: each step in order, and the server then uses the index.
func TestSpatialSteps(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE maps")
		db = sandboxtest.DB(t, srv, "maps")
		var rows []string
		for i := range 3000 {
			rows = append(rows, fmt.Sprintf("(%d, %d.5, %d.25)", i+1, i%60, i%50))
		}
		var version string
		if err := db.QueryRow("SELECT VERSION()").Scan(&version); err != nil {
			t.Fatal(err)
		}
		for name, columns := range map[string]string{"functions": "", "kept": "spot POINT", "unbound": "spot POINT NOT NULL, SPATIAL INDEX old (spot)"} {
			test := within + "spot)"
			if columns == "" {
				test = within + "POINT(lat, lng))"
				columns = "note TEXT"
			}
			sandboxtest.Exec(t, db, "CREATE TABLE "+name+" (id INT PRIMARY KEY, lat DOUBLE NOT NULL, lng DOUBLE NOT NULL, "+columns+")")
			insert := "INSERT INTO " + name + " (id, lat, lng) VALUES " + strings.Join(rows, ",")
			if name != "functions" {
				insert = "INSERT INTO " + name + " (id, lat, lng, spot) SELECT id, lat, lng, POINT(lat, lng) FROM functions_rows"
				sandboxtest.Exec(t, db, "CREATE TABLE IF NOT EXISTS functions_rows (id INT PRIMARY KEY, lat DOUBLE, lng DOUBLE)",
					"REPLACE INTO functions_rows VALUES "+strings.Join(rows, ","))
			}
			sandboxtest.Exec(t, db, insert)
			var table, create string
			if err := db.QueryRow("SHOW CREATE TABLE "+name).Scan(&table, &create); err != nil {
				t.Fatal(err)
			}
			advice, err := indexes.Propose(&kasoku.Recording{
				Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: version}},
				Tables:   []kasoku.TableDef{{Schema: "maps", Name: name, Create: create, Engine: "InnoDB", Rows: 3000, DataBytes: 1 << 20}},
				Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: "select id from " + name, Sample: "SELECT id FROM " + name + " WHERE " + strings.Replace(test, "'POLYGON((10 10, 10 12, 12 12, 12 10, 10 10))'", "?", 1),
					Tables: []string{name}, Calls: 100, Total: time.Second, RowsExamined: 300_000, RowsSent: 300}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if name == "unbound" && strings.Contains(version, "MariaDB") {
				if len(advice.Spatial) != 0 {
					t.Errorf("MariaDB needs no reference system, and %v is proposed", advice.Spatial[0].Steps)
				}
				continue
			}
			if len(advice.Spatial) != 1 {
				t.Fatalf("%s: %d proposals", name, len(advice.Spatial))
			}
			s := advice.Spatial[0]
			for _, step := range s.Steps {
				if _, err := db.Exec(step); err != nil {
					t.Fatalf("%s: %s: %v", name, step, err)
				}
			}
			query := "SELECT id FROM " + name + " WHERE " + within + s.Column + ")"
			if key := keyOf(t, srv, query); key != name+"_"+s.Column {
				t.Errorf("%s: after %q the server reads by %q", name, s.Steps, key)
			}
			counted := func(where string) (n int) {
				if err := db.QueryRow("SELECT COUNT(*) FROM " + name + " WHERE " + where).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if name == "functions" { // rows that come later have their point as well
				sandboxtest.Exec(t, db, "INSERT INTO functions (id, lat, lng) VALUES (9001, 11, 11)", "UPDATE functions SET lat = 11.1, lng = 11.2 WHERE id = 1")
			}
			if a, b := counted(test), counted(within+s.Column+")"); a != b || a == 0 {
				t.Errorf("%s: %d rows by %s, %d by the column", name, a, test, b)
			}
		}
	})
}

// keyOf returns the index by which the server reads.
func keyOf(t *testing.T, srv *sandbox.Server, query string) (key string) {
	t.Helper()
	rows, err := sandboxtest.DB(t, srv, "maps").Query("EXPLAIN FORMAT=TRADITIONAL " + query)
	if err != nil {
		rows, err = sandboxtest.DB(t, srv, "maps").Query("EXPLAIN " + query)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]*string, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			if c == "key" && values[i] != nil {
				key = *values[i]
			}
		}
	}
	return key
}
