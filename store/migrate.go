package store

import (
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
)

// applicationID marks a run file in bytes 68 to 71 of the database header:
// "kaso" in ASCII.
const applicationID = 0x6b61736f

// migrationFiles holds the schema as numbered steps. A step that was released
// never changes; a new one is added instead.
//
//go:embed migration/*.sql
var migrationFiles embed.FS

// wholeSchema is what all steps make of an empty file, as one script: a new file costs
// a quarter of the CPU so. A test holds it to the steps, and writes it with -update.
//
//go:embed schema.sql
var wholeSchema string

// A migration brings a file from version number-1 to number.
type migration struct {
	number int64
	sql    string
}

// migrations reads the steps of a directory, in order. They are numbered from 1
// without a gap; the number is the first four digits of the name.
func migrations(fsys fs.FS) ([]migration, error) {
	names, err := fs.Glob(fsys, "migration/*.sql")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []migration
	for i, name := range names {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, "migration/"), "_")
		n, err := strconv.Atoi(digits)
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %q: want number %d", name, i+1)
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{int64(n), string(text)})
	}
	return out, nil
}

// schema is the list of migrations that a kasoku knows.
type schema []migration

func currentSchema() (schema, error) { return migrations(migrationFiles) }

// version is the version of the files that this schema writes.
func (s schema) version() int64 { return int64(len(s)) }

// migrate brings a file up to date, in one transaction.
func (s schema) migrate(db *sql.DB) error {
	have, err := pragmaInt(db, "user_version")
	if err != nil {
		return fmt.Errorf("read version: %w", err)
	}
	return inTx(db, func(tx *sql.Tx) error {
		for _, m := range s {
			if m.number <= have {
				continue
			}
			if err := m.run(tx); err != nil {
				return fmt.Errorf("migrate to version %d: %w", m.number, err)
			}
		}
		return nil
	})
}

// run does what brings a file to the migration's version, and marks it as a run file.
func (m migration) run(tx *sql.Tx) error {
	_, err := tx.Exec(fmt.Sprintf("%s\nPRAGMA application_id=%d; PRAGMA user_version=%d", m.sql, applicationID, m.number))
	return err
}

// upgrade brings a file with data up to date. Its checksums are renewed for those
// tables that agreed with them before, and made for those that are new; the others
// continue to be reported as damaged.
func (s schema) upgrade(db *sql.DB) error {
	have, err := pragmaInt(db, "user_version")
	if err != nil || have == s.version() {
		return err
	}
	sound, err := soundTables(db)
	if err != nil {
		return err
	}
	if err := s.migrate(db); err != nil {
		return err
	}
	return inTx(db, func(tx *sql.Tx) error { return renewSums(tx, sound) })
}

// soundTables returns the tables, among those that this kasoku knows, that hold
// what their checksums say, or are not there yet.
func soundTables(db queryer) ([]summed, error) {
	rd, err := newReader(db)
	if err != nil {
		return nil, err
	}
	defer rd.close()
	rd.readSums()
	var sound []summed
	for _, t := range allTables() {
		columns, err := columnsOf(db, t.name)
		if err != nil {
			return nil, err
		}
		if len(columns) == 0 && len(rd.sums) > 0 {
			sound = append(sound, t)
		}
		if _, ok := rd.sums[t.name]; !ok {
			continue
		}
		before := len(rd.damage)
		rd.scan(t.name, columns, func(int64, *row) error { return nil })
		if len(rd.damage) == before {
			sound = append(sound, t)
		}
	}
	return sound, nil
}

// columnsOf returns the columns that a table of the file has, without its id.
func columnsOf(db queryer, table string) ([]string, error) {
	rows, err := db.Query("SELECT name FROM pragma_table_info(?) WHERE name <> 'id' ORDER BY cid", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// check refuses a database that is not a run file or is newer than s. It
// returns the file's version. m is how it was connected to.
func (s schema) check(db queryer, m mode) (int64, error) {
	id, err := pragmaInt(db, "application_id")
	if err != nil {
		return 0, err
	}
	if id != applicationID {
		return 0, ErrNotRun
	}
	v, err := pragmaInt(db, "user_version")
	if err != nil {
		return 0, err
	}
	if v > s.version() {
		return v, fmt.Errorf("%w: its schema is version %d, this kasoku knows up to %d", ErrNewer, v, s.version())
	}
	if v < 1 {
		return v, ErrNotRun
	}
	return v, checkShape(db, m)
}
