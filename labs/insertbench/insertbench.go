// Package insertbench is the benchmark by which a row-by-row insert of Go was once found
// to be slower than one of Python, and what both really waited for.
//
// A round makes the table users, empties it, reads 10,000 rows from a CSV file, inserts
// them, selects all of them in order, writes them to another CSV file row by row without a
// buffer, and compares both files cell by cell. Ten rounds are a run; its result is the
// mean of their times, and its score how many rows a second took. How it is done can be
// as bad as it was, one defect at a time:
//
//	DRV-01  every statement is prepared, executed once and closed
//	DRV-02  row by row in a transaction, each row's INSERT prepared anew
//	DBC-01  each row is a commit, at which the database waits for the disk; pages are written twice
//	DBC-02  a binary log that is never read, synchronised at each of such commits
//	HW-11   row by row over one connection, which waits for each answer
//
// DRV-01, DBC-01 and HW-11 are what was published. Without any it goes beyond that: eight
// connections insert fifty rows by a statement. [Lab] has the steps of the write-up as
// variants; twin.py is the same program in Python.
package insertbench

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Lab returns the lab's table.
func Lab() *kit.Lab {
	return &kit.Lab{
		Name:  "insertbench",
		About: "a program that inserts rows into one table: prepares, commits, binary log, one connection",
		Defects: []kit.Defect{
			{ID: "DRV-01", Where: "service", About: "each statement is prepared, executed and closed"},
			{ID: "DRV-02", Where: "service", About: "row by row in a transaction, each prepared anew",
				Object: `users|query|endpoint|insertbench`, Brings: []string{"DRV-01", "DRV-03"}},
			{ID: "DBC-01", Where: "database", About: "each row is a commit, which waits for the disk",
				Object: `innodb_flush_log_at_trx_commit|sync_binlog`},
			{ID: "DBC-02", Where: "database", About: "a binary log that no one reads, synchronised at each commit",
				Object: `log_bin`, Brings: []string{"DBC-01"}},
			{ID: "HW-11", Where: "service", About: "row by row over one connection, which waits for each answer"},
		},
		Variants: variants(), Args: listArgs, Fill: fillTable, Files: writeImport, Serve: runService, Program: true,
		Twin: prepareTwin, Story: story(),
	}
}

// variants are the steps of the write-up, in its order, and what lies beyond them.
func variants() []kit.Variant {
	published, interpolated := kit.Set{"DRV-01", "DBC-01", "HW-11"}, kit.Set{"DBC-01", "HW-11"}
	recipe, both := kit.Set{"DRV-01", "HW-11"}, kit.Set{"HW-11"}
	return []kit.Variant{
		{Name: "go", About: "as published: prepare, execute, close; each row is a commit on disk",
			Defects: published},
		{Name: "python", About: "the same in Python, whose driver sends one text", Defects: interpolated, Twin: true},
		{Name: "go-interpolated", About: "interpolateParams=true", Defects: interpolated},
		{Name: "python-recipe", About: "the log is written once a second, pages once", Defects: both, Twin: true},
		{Name: "go-recipe", About: "likewise in Go, which prepares", Defects: recipe},
		{Name: "go-recipe-interpolated", About: "likewise, and interpolateParams=true", Defects: both},
		{Name: "python-memory", About: "all files of the database in memory", Defects: both, Twin: true,
			Memory: true},
		{Name: "go-memory", About: "likewise in Go, interpolated", Defects: both, Memory: true},
		{Name: "beyond", About: "fifty rows by a statement over eight connections", Defects: kit.Set{}},
	}
}

const table = `CREATE TABLE IF NOT EXISTS users (
  id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  email             VARCHAR(255) NOT NULL,
  email_verified_at TIMESTAMP NULL,
  password          VARCHAR(255) NOT NULL,
  remember_token    VARCHAR(100) NULL,
  created_at        TIMESTAMP NULL,
  updated_at        TIMESTAMP NULL,
  UNIQUE KEY users_email (email)
)`

func fillTable(ctx context.Context, db *sql.DB, _ kit.Set) error {
	_, err := db.ExecContext(ctx, table)
	return err
}

// listArgs is the recipe of the write-up, or the defaults in whose place it stands.
func listArgs(d kit.Set, _ string) []string {
	out := []string{"--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=0",
		"--innodb-flush-method=O_DIRECT_NO_FSYNC", "--innodb-flush-log-at-timeout=3"}
	if d.Has("DBC-01") {
		out = []string{"--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1",
			"--innodb-flush-method=O_DIRECT"}
	}
	if d.Has("DBC-02") {
		return append(out, "--log-bin=binlog", "--server-id=1", "--sync-binlog=1")
	}
	return append(out, "--skip-log-bin")
}

const (
	rounds      = 10
	connections = 8
	perBatch    = 50

	columns        = "name, email, email_verified_at, password, remember_token, created_at, updated_at"
	plainInsert    = "INSERT INTO users (" + columns + ") VALUES "
	plainMarks     = "(?, ?, ?, ?, ?, ?, ?)"
	numberedInsert = "INSERT INTO users (id, " + columns + ") VALUES "
	numberedMarks  = "(?, ?, ?, ?, ?, ?, ?, ?)"
)

// A result is what a run prints, in the words of ISUCON's benchmarks.
type result struct {
	Pass     bool     `json:"pass"`
	Score    float64  `json:"score"` // rows a second, of whole rounds
	Messages []string `json:"messages"`
	Seconds  float64  `json:"seconds_per_round"` // of 10,000 rows
	Rounds   int      `json:"rounds"`
	Rows     int      `json:"rows"` // of all rounds
}

// bench is one run of the program.
type bench struct {
	db    *sql.DB
	d     kit.Set
	files string
	over  time.Time // when the last round ends, whole or not
}

// runService makes ten rounds, or as many as end within the duration. Where not even one
// does, its rows until then are the result.
func runService(ctx context.Context, c kit.Config) error {
	dsn := mysqlflags.WithParam(c.DSN, "parseTime=true")
	if !c.Defects.Has("DRV-01") {
		dsn = mysqlflags.WithParam(dsn, "interpolateParams=true")
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	n := connections
	if c.Defects.Has("HW-11") {
		n = 1
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	begin := time.Now()
	b := &bench{db: db, d: c.Defects, files: c.Files, over: begin.Add(c.Duration)}
	r := result{Pass: true, Messages: []string{}}
	taken := time.Duration(0)
	for r.Rounds < rounds {
		n, whole, err := b.round(ctx)
		if err != nil {
			return err
		}
		if whole || r.Rounds == 0 {
			r.Rounds, r.Rows, taken = r.Rounds+1, r.Rows+n, time.Since(begin)
		}
		if !whole || !time.Now().Before(b.over) {
			break
		}
	}
	r.Score = float64(r.Rows) / taken.Seconds()
	r.Seconds = rowsOfFile / r.Score
	r.Messages = append(r.Messages, fmt.Sprintf("%.3f s a round of %d rows, from %d rows", r.Seconds, rowsOfFile,
		r.Rows))
	return json.NewEncoder(c.Out).Encode(r)
}

// round inserts the rows of the file, exports them and compares. Where the time is over
// before it has inserted all, it goes on with those that it has.
func (b *bench) round(ctx context.Context) (rows int, whole bool, err error) {
	for _, statement := range []string{table, "TRUNCATE TABLE users"} {
		if _, err := b.db.ExecContext(ctx, statement); err != nil {
			return 0, false, err
		}
	}
	all, err := readRows(filepath.Join(b.files, importFile))
	if err != nil {
		return 0, false, err
	}
	if b.d.Has("HW-11") && !b.d.Has("DRV-02") {
		rows, err = b.insertAlone(ctx, all)
	} else {
		rows, err = b.insertGroups(ctx, all)
	}
	if err != nil {
		return 0, false, err
	}
	if err := b.export(ctx); err != nil {
		return 0, false, err
	}
	return rows, rows == len(all), compareFile(all[:rows], filepath.Join(b.files, exportFile))
}

// insertAlone commits row by row, and returns how many.
func (b *bench) insertAlone(ctx context.Context, all [][]string) (int, error) {
	for i, row := range all {
		if i > 0 && time.Now().After(b.over) {
			return i, nil
		}
		if _, err := b.db.ExecContext(ctx, plainInsert+plainMarks, argsOf(row)...); err != nil {
			return i, err
		}
	}
	return len(all), nil
}

// insertGroups inserts fifty rows at a time, over as many connections as there may be. The
// rows are numbered, since what runs side by side comes in any order.
func (b *bench) insertGroups(ctx context.Context, all [][]string) (int, error) {
	var next atomic.Int64
	errs := make([]error, b.db.Stats().MaxOpenConnections)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil && (next.Load() == 0 || time.Now().Before(b.over)) {
				from := int(next.Add(perBatch)) - perBatch
				if from >= len(all) {
					return
				}
				errs[i] = b.insertGroup(ctx, from, all[from:min(from+perBatch, len(all))])
			}
		})
	}
	wg.Wait()
	return min(int(next.Load()), len(all)), errors.Join(errs...)
}

// insertGroup inserts rows that begin at a place of the file.
func (b *bench) insertGroup(ctx context.Context, from int, group [][]string) error {
	switch {
	case b.d.Has("DRV-02"):
		return b.insertTransaction(ctx, from, group)
	case b.d.Has("DBC-01") || b.d.Has("DBC-02"):
		for i, row := range group {
			if _, err := b.db.ExecContext(ctx, numberedInsert+numberedMarks, append([]any{from + i + 1},
				argsOf(row)...)...); err != nil {
				return err
			}
		}
		return nil
	}
	var args []any
	for i, row := range group {
		args = append(append(args, from+i+1), argsOf(row)...)
	}
	_, err := b.db.ExecContext(ctx, numberedInsert+strings.Repeat(numberedMarks+", ", len(group)-1)+numberedMarks,
		args...)
	return err
}

// insertTransaction inserts rows by a statement each, in one transaction.
func (b *bench) insertTransaction(ctx context.Context, from int, group [][]string) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i, row := range group {
		if err := insertPrepared(ctx, tx, append([]any{from + i + 1}, argsOf(row)...)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// insertPrepared prepares the statement for one row.
func insertPrepared(ctx context.Context, tx *sql.Tx, row []any) (err error) {
	st, err := tx.PrepareContext(ctx, numberedInsert+numberedMarks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	_, err = st.ExecContext(ctx, row...)
	return err
}

func argsOf(row []string) []any {
	out := make([]any, len(row))
	for i, cell := range row {
		out[i] = cell
	}
	return out
}
