package data

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestWriteService_Database: both servers take the statements, and hold the rows as
// they were made, text that needs escapes included.
func TestWriteService_Database(t *testing.T) {
	turn.Wait(t)
	d := *small()
	d.Chairs = append([]isuumo.Chair{}, d.Chairs...)
	d.Chairs[7].Name = "a'b\"c\\d\ne\tf;\r%_\x00g"
	dir := t.TempDir()
	if err := WriteService(dir, &d); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "sql", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		for range 2 { // a second /initialize begins anew
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for statement := range strings.SplitSeq(strings.TrimSpace(string(b)), ";\n") {
					sandboxtest.Exec(t, db, strings.TrimSuffix(statement, ";"))
				}
			}
		}
		sameRows(t, db, chairTable(), d.Chairs)
		sameRows(t, db, estateTable(), d.Estates)
	})
}

func sameRows[T comparable](t *testing.T, db *sql.DB, table *table[T], want []T) {
	t.Helper()
	rows, err := db.Query("SELECT " + strings.Join(table.columns, ", ") + " FROM isuumo." + table.name + " ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next() && n < len(want); n++ {
		var row T
		if err := rows.Scan(table.fields(&row)...); err != nil {
			t.Fatal(err)
		}
		if row != want[n] {
			t.Errorf("%s: got %+v, want %+v", table.name, row, want[n])
		}
	}
	if err := rows.Err(); err != nil || n != len(want) {
		t.Errorf("%s: %d rows, %v; want %d", table.name, n, err, len(want))
	}
	var indexes int
	err = db.QueryRow("SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'isuumo' AND table_name = ?", table.name).Scan(&indexes)
	if err != nil || indexes != 1 {
		t.Errorf("%s: %d columns in indexes, %v; want the primary key alone", table.name, indexes, err)
	}
}
