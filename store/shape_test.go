package store

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soon fails the test when f does not return: a file may take seconds, not a life.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: it does not end", what)
	}
}

// finished writes a finished run file.
func finished(t *testing.T) (path string) {
	t.Helper()
	path = tempRun(t)
	rec := anyRecording(1)
	if err := Write(path, rec); err != nil {
		t.Fatal(err)
	}
	return path
}

const endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT "

// TestForeignShape: a run file that holds more than tables of rows is refused by all that
// open one, before any of it is run.
func TestForeignShape(t *testing.T) {
	f := func(what string, statements ...string) {
		t.Helper()
		path := finished(t)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		refused := func(who string, err error) {
			t.Helper()
			if !errors.Is(err, ErrNotRun) {
				t.Errorf("%s: %s: %v", what, who, err)
			}
		}
		soon(t, what, func() {
			_, err := Open(path)
			refused("open", err)
			_, err = Conditions(path)
			refused("conditions", err)
			_, err = Edit(path)
			refused("edit", err)
			_, err = Load(path, 0)
			refused("load", err)
			if by, err := recorderOf(path); err == nil {
				t.Errorf("%s: recorded by %+v", what, by)
			}
			if runs, err := List(filepath.Dir(path)); err != nil || len(runs) != 1 || runs[0].Err == nil {
				t.Errorf("%s: list: %+v, %v", what, runs, err)
			}
		})
	}
	f("an endless view", "DROP TABLE event", "CREATE VIEW event AS "+endless+"n AS id, n AS at_ns, n AS kind, n AS text FROM r")
	f("an endless run", "ALTER TABLE run RENAME TO other", "CREATE VIEW run AS SELECT other.* FROM other, ("+endless+"n FROM r)")
	f("a trigger", "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM event; END")
	f("a column that is computed", "ALTER TABLE event ADD COLUMN more BLOB AS (zeroblob(999999999))")
	f("an id that sorts", "DROP TABLE warning", "CREATE TABLE warning (id TEXT, code, text, hint)")
	f("no number of rows", "DROP TABLE warning", "CREATE TABLE warning (id INTEGER PRIMARY KEY, code, text, hint) WITHOUT ROWID")
}

// TestRepeatedPages: pages of a table that are named again and again stand for more rows
// than can be read; the second time is damage.
func TestRepeatedPages(t *testing.T) {
	path := finished(t)
	db, err := connect(path, reading)
	if err != nil {
		t.Fatal(err)
	}
	var root uint32
	if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'event'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	file := mustRead(t, path)
	first := uint32(len(file)/pageBytes) + 1
	leaf := append([]byte{}, file[(root-1)*pageBytes:root*pageBytes]...)
	const depth = 15
	put := func(number uint32, page []byte) {
		at := int(number-1) * pageBytes
		if need := at + pageBytes; need > len(file) {
			file = append(file, make([]byte, need-len(file))...)
		}
		copy(file[at:], page)
	}
	put(root, interior(first))
	for i := range uint32(depth) {
		put(first+i, interior(first+i+1))
	}
	put(first+depth, leaf)
	binary.BigEndian.PutUint32(file[28:], uint32(len(file)/pageBytes))
	mustWrite(t, path, file)
	soon(t, "pages named again", func() {
		rec, err := Open(path)
		if err != nil || !strings.Contains(strings.Join(rec.Damage, "\n"), "table event: ") {
			t.Errorf("%v, damage %q", err, rec.Damage)
		}
	})
}

// interior returns a page of a table's tree all of whose children are one page.
//
// Source: SQLite, "Database File Format", "B-tree Pages".
func interior(child uint32) []byte {
	page := make([]byte, pageBytes)
	const cells, size = 60, 5
	page[0] = 5
	binary.BigEndian.PutUint16(page[3:], cells)
	binary.BigEndian.PutUint16(page[5:], pageBytes-cells*size)
	binary.BigEndian.PutUint32(page[8:], child)
	for i := range cells {
		at := pageBytes - (i+1)*size
		binary.BigEndian.PutUint16(page[12+2*i:], uint16(at))
		binary.BigEndian.PutUint32(page[at:], child)
		page[at+4] = byte(i + 1)
	}
	return page
}

// TestCopyFile: what lies beside a run file is copied only when it is a file.
func TestCopyFile(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	f := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		soon(t, what, func() {
			if err := copyFile(filepath.Join(dir, "to"), from); err == nil {
				t.Errorf("%s was copied", what)
			}
		})
		_ = os.Remove(from)
	}
	f("an endless device", os.Symlink("/dev/zero", from))
	f("a pipe", unix.Mkfifo(from, 0o600))
}
