// Package sqlfile puts a database into the state that files of SQL describe: the
// files of one directory in the order of their names. It is what /initialize does.
//
// The statements go through the driver one by one, so no client program is needed.
// A file is held in memory while it runs; a statement may be as long as the
// server's max_allowed_packet.
package sqlfile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tuning is the file, below the directory, that changes the tables which the file
// before it has made: indexes, further columns.
const Tuning = "0_Tuning.sql"

// Run runs all files *.sql of the directory. Each begins in the database that the
// DSN names, even when the one before it has dropped and created it anew.
//
// With late, tables are changed when they are full, the defect OPS-02: [Tuning]
// comes last, and then a column for the range of each number is added and filled
// one range at a time.
func Run(ctx context.Context, db *sql.DB, dir string, late bool) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		return fmt.Errorf("find SQL files: %w", err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("find SQL files: none in %s", dir)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("run SQL files: %w", err)
	}
	// A session that drops its database has none afterwards. It is not given back.
	defer conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it says ErrBadConn
	if late {
		paths = tuningLast(paths)
	}
	if err := runFiles(ctx, conn, paths); err != nil {
		return err
	}
	if late {
		return addRanges(ctx, conn)
	}
	return nil
}

func tuningLast(paths []string) []string {
	var first, last []string
	for _, p := range paths {
		if filepath.Base(p) == Tuning {
			last = append(last, p)
		} else {
			first = append(first, p)
		}
	}
	return append(first, last...)
}

func runFiles(ctx context.Context, conn *sql.Conn, paths []string) error {
	var name sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name); err != nil {
		return fmt.Errorf("run SQL files: %w", err)
	}
	for _, path := range paths {
		if name.Valid {
			if _, err := conn.ExecContext(ctx, "USE `"+strings.ReplaceAll(name.String, "`", "``")+"`"); err != nil {
				return fmt.Errorf("run %s: %w", path, err)
			}
		}
		if err := runFile(ctx, conn, path); err != nil {
			return fmt.Errorf("run %s: %w", path, err)
		}
	}
	return nil
}

func runFile(ctx context.Context, conn *sql.Conn, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line, q := range Statements(string(b)) {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	return nil
}

// addRanges adds a column for the range of each number to full tables. No query reads
// these columns.
func addRanges(ctx context.Context, conn *sql.Conn) error {
	var failed error
	run := func(format string, args ...any) {
		if failed == nil {
			_, failed = conn.ExecContext(ctx, fmt.Sprintf(format, args...))
		}
	}
	for _, c := range []struct {
		table, column string
		bounds        []int
	}{
		{"chair", "price", []int{0, 3000, 6000, 9000, 12000, 15000}},
		{"chair", "height", []int{0, 80, 110, 150}},
		{"chair", "width", []int{0, 80, 110, 150}},
		{"chair", "depth", []int{0, 80, 110, 150}},
		{"estate", "rent", []int{0, 50000, 100000, 150000}},
		{"estate", "door_height", []int{0, 80, 110, 150}},
		{"estate", "door_width", []int{0, 80, 110, 150}},
	} {
		run("ALTER TABLE %s ADD COLUMN %s_class INTEGER NOT NULL DEFAULT 0, FORCE", c.table, c.column)
		for i, from := range c.bounds {
			run("UPDATE %s SET %s_class = %d WHERE %s >= %d", c.table, c.column, i+1, c.column, from)
		}
	}
	if failed != nil {
		return fmt.Errorf("change full tables: %w", failed)
	}
	return nil
}
