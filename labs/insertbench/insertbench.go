// Package insertbench is a program that inserts rows, as loaders of CSV files do: one
// after the other over one connection, and how it does so can be made as bad as such
// programs are in the field, one defect at a time.
//
//	DRV-01  every statement is prepared, executed once and closed
//	DRV-02  row by row in a transaction, each row's INSERT prepared anew
//	DBC-01  the database waits for the disk at each commit
//	DBC-02  a binary log that is never read, synchronised at each commit
//	HW-11   one connection, which waits for each answer
//
// Without any, eight connections insert fifty rows by a statement, and the redo log is
// written once a second. [Lab] is the lab's table.
package insertbench

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
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
			{ID: "DBC-01", Where: "database", About: "each commit waits for the disk",
				Object: `innodb_flush_log_at_trx_commit|sync_binlog`},
			{ID: "DBC-02", Where: "database", About: "a binary log that no one reads, synchronised at each commit",
				Object: `log_bin`, Brings: []string{"DBC-01"}},
			{ID: "HW-11", Where: "service", About: "one connection, which waits for each answer"},
		},
		Args: listArgs, Fill: fillTable, Serve: runService, Program: true,
	}
}

const table = `CREATE TABLE users (
  id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  email             VARCHAR(255) NOT NULL,
  email_verified_at TIMESTAMP NULL,
  password          VARCHAR(255) NOT NULL,
  remember_token    VARCHAR(100) NULL,
  created_at        TIMESTAMP NULL,
  UNIQUE KEY users_email (email)
)`

func fillTable(ctx context.Context, db *sql.DB, _ kit.Set) error {
	_, err := db.ExecContext(ctx, table)
	return err
}

func listArgs(d kit.Set, _ string) []string {
	out := []string{"--innodb-flush-log-at-trx-commit=2"}
	if d.Has("DBC-01") {
		out = []string{"--innodb-flush-log-at-trx-commit=1"}
	}
	if d.Has("DBC-02") {
		return append(out, "--log-bin=binlog", "--server-id=1", "--sync-binlog=1")
	}
	return append(out, "--skip-log-bin")
}

const (
	connections = 8
	perBatch    = 50
	columns     = "INSERT INTO users (name, email, email_verified_at, password, remember_token, created_at) VALUES "
	marks       = "(?, ?, ?, ?, ?, ?)"
)

// bench is one run of the program.
type bench struct {
	db   *sql.DB
	d    kit.Set
	next atomic.Int64 // number of the next row
}

// runService inserts rows for the duration, or until the context ends, and checks that all
// are there.
func runService(ctx context.Context, c kit.Config) error {
	dsn := c.DSN
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
	b := &bench{db: db, d: c.Defects}
	work, cancel := context.WithTimeout(ctx, c.Duration)
	defer cancel()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for work.Err() == nil && errs[i] == nil {
				errs[i] = b.batch(ctx)
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, b.check(ctx))...)
}

// batch inserts fifty rows.
func (b *bench) batch(ctx context.Context) error {
	first := b.next.Add(perBatch) - perBatch
	if !b.d.Has("DRV-02") {
		var args []any
		for i := range int64(perBatch) {
			args = append(args, rowNumbered(first+i)...)
		}
		_, err := b.db.ExecContext(ctx, columns+strings.Repeat(marks+", ", perBatch-1)+marks, args...)
		return err
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range int64(perBatch) {
		if err := insertRow(ctx, tx, rowNumbered(first+i)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// insertRow prepares the statement for one row.
func insertRow(ctx context.Context, tx *sql.Tx, row []any) (err error) {
	st, err := tx.PrepareContext(ctx, columns+marks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	_, err = st.ExecContext(ctx, row...)
	return err
}

func (b *bench) check(ctx context.Context) error {
	var n int64
	if err := b.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM users").Scan(&n); err != nil {
		return err
	}
	if want := b.next.Load(); n != want {
		return fmt.Errorf("the table has %d rows, want %d", n, want)
	}
	return nil
}

// rowNumbered is row number i.
func rowNumbered(i int64) []any {
	sum := sha1.Sum(fmt.Append(nil, i))
	hash := hex.EncodeToString(sum[:])
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return []any{fmt.Sprintf("名前%d", i), fmt.Sprintf("test%d@example.com", i), at, hash, hash[:10], at}
}
