package store

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/turn"
)

var keep = flag.Bool("keep", false, "write the kept samples of the current version anew; never after it was released")

// schemaOf returns what a database says of its own tables, in order.
func schemaOf(tb testing.TB, path string) string {
	tb.Helper()
	db, err := connect(path, editing)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			tb.Fatal(err)
		}
		b.WriteString(s + ";\n")
	}
	return b.String()
}

func current(tb testing.TB) schema {
	tb.Helper()
	s, err := currentSchema()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestWholeSchema: a new file gets what all steps make of an empty one.
func TestWholeSchema(t *testing.T) {
	path := tempRun(t)
	mustWrite(t, path, nil)
	db, err := connect(path, editing)
	if err != nil {
		t.Fatal(err)
	}
	if err := current(t).migrate(db); err != nil {
		t.Fatal(err)
	}
	db.Close()
	stepwise := schemaOf(t, path)
	golden.CheckString(t, "schema.sql", stepwise)
	fresh := tempRun(t)
	record(t, fresh, 1, 1)
	if got := schemaOf(t, fresh); got != stepwise {
		t.Errorf("a new file has the schema\n%s\nwant\n%s", got, stepwise)
	}
}

// TestKeptSchemas builds a database of each released schema, brings it up to date
// and finds the schema that a new file gets.
func TestKeptSchemas(t *testing.T) {
	turn.Wait(t)
	fresh := tempRun(t)
	record(t, fresh, 5, 1)
	want := schemaOf(t, fresh)
	s := current(t)
	for v := int64(1); v <= s.version(); v++ {
		name := fmt.Sprintf("testdata/schema-v%d.sql", v)
		if *keep && v == s.version() {
			mustWrite(t, name, []byte(want))
		}
		path := tempRun(t)
		mustWrite(t, path, nil)
		execute(t, path, string(mustRead(t, name))+fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, v))
		db, err := connect(path, editing)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.migrate(db); err != nil {
			t.Errorf("from version %d: %v", v, err)
		}
		db.Close()
		if got := schemaOf(t, path); got != want {
			t.Errorf("from version %d the schema becomes\n%s\nwant\n%s", v, got, want)
		}
	}
}

// TestKeptFiles opens a file of each released version, as everybody may do for
// ever.
func TestKeptFiles(t *testing.T) {
	s := current(t)
	for v := int64(1); v <= s.version(); v++ {
		name := fmt.Sprintf("testdata/run-v%d.kasoku.gz", v)
		if *keep && v == s.version() {
			path := tempRun(t)
			if err := Write(path, sampleRecording()); err != nil {
				t.Fatal(err)
			}
			mustWrite(t, name, zip(t, mustRead(t, path)))
		}
		path := tempRun(t)
		mustWrite(t, path, unzip(t, mustRead(t, name)))
		if got := query[int64](t, path, "PRAGMA user_version"); got != v {
			t.Errorf("%s is of version %d", name, got)
		}
		if d := difference(mustOpen(t, path), sampleOfVersion(v)); d != "" {
			t.Errorf("version %d: %s", v, d)
		}
	}
}

func zip(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func unzip(tb testing.TB, b []byte) []byte {
	tb.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// nextSchema is a schema of a version that does not exist yet.
func nextSchema(t *testing.T) schema {
	t.Helper()
	s := current(t)
	return append(s, migration{s.version() + 1, `ALTER TABLE run ADD COLUMN weather TEXT NOT NULL DEFAULT 'fair';
		UPDATE run SET note = note || ', migrated';`})
}

// TestOpenOlder opens a file of an older version: it is migrated in a copy. Its
// description is read as it is.
func TestOpenOlder(t *testing.T) {
	next := opener{nextSchema(t)}
	path := tempRun(t)
	if err := Write(path, sampleRecording()); err != nil {
		t.Fatal(err)
	}
	before := mustRead(t, path)
	rec, err := next.open(path)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.Note != "one of three, migrated" || len(rec.Series) != 5 {
		t.Errorf("run %+v", rec.Run)
	}
	if rec.Damage != nil {
		t.Errorf("damage %v", rec.Damage)
	}
	if !bytes.Equal(mustRead(t, path), before) {
		t.Error("the file has changed")
	}

	if run, err := next.describe(path); err != nil || run.Note != "one of three" {
		t.Errorf("described as %+v, %v", run, err)
	}

	db, err := next.edit(path)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if v := query[int64](t, path, "PRAGMA user_version"); v != next.schema.version() {
		t.Errorf("version %d after an edit", v)
	}
	v := current(t).version()
	want := fmt.Sprintf("its schema is version %d, this kasoku knows up to %d", v+1, v)
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v", err)
	}
}

func TestRecoverOlder(t *testing.T) {
	path := crash(t, t.TempDir(), 5)
	rec, err := opener{nextSchema(t)}.open(path)
	if err != nil {
		t.Fatal(err)
	}
	if ticksOf(t, rec) != 5 || rec.Run.State != kasoku.Incomplete || rec.Damage != nil {
		t.Errorf("run %+v, damage %v", rec.Run, rec.Damage)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

// TestFailedMigration leaves no half of a step.
func TestFailedMigration(t *testing.T) {
	known := current(t).version()
	s := append(current(t), migration{known + 1, "CREATE TABLE extra (x); SELECT * FROM nowhere"})
	path := tempRun(t)
	record(t, path, 5, 1)
	db, err := connect(path, editing)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.migrate(db); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("migrate to version %d: ", known+1)) {
		t.Errorf("error %v", err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").Scan(&n); err != nil && err != sql.ErrNoRows || n != 0 {
		t.Errorf("%d tables of a failed step, %v", n, err)
	}
	db.Close()
	if v := query[int64](t, path, "PRAGMA user_version"); v != known {
		t.Errorf("version %d", v)
	}
}

func TestMigrations_Failure(t *testing.T) {
	f := func(names ...string) {
		t.Helper()
		fsys := fstest.MapFS{}
		for _, n := range names {
			fsys["migration/"+n] = &fstest.MapFile{}
		}
		if s, err := migrations(fsys); err == nil {
			t.Errorf("%v gave %v", names, s)
		}
	}
	f("0002_a.sql")
	f("0001_a.sql", "0003_b.sql")
	f("0001_a.sql", "0001_b.sql")
	f("a.sql")
}
