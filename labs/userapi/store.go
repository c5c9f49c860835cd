package userapi

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync/atomic"
	"time"
)

// user is one row of the table users.
type user struct{ id, name, mail string }

func newUser() user {
	var b [16]byte
	rand.Read(b[:])         //nolint:errcheck // it never fails, by its documentation
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80 // RFC 9562 variant
	id := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	return user{id, "ユーザー" + id, "mail-" + id + "@example.com"}
}

// CreateTable is the schema of the service.
const CreateTable = `CREATE TABLE IF NOT EXISTS users (
  id   VARCHAR(64)  NOT NULL PRIMARY KEY,
  name VARCHAR(256) NOT NULL,
  mail VARCHAR(256) NOT NULL
) CHARACTER SET utf8mb4`

// store writes users the way the defects ask for.
type store struct {
	db     *sql.DB
	save   bool        // DRV-04
	sqlLog *log.Logger // DRV-05; nil for none
	cached bool        // OPS-09

	count atomic.Int64 // of users, with OPS-09
}

// execer is what *sql.DB and *sql.Tx have in common here.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (s *store) add(ctx context.Context, u user) error {
	write := s.insert
	if s.save {
		write = s.saveORM
	}
	if err := write(ctx, u); err != nil {
		return err
	}
	s.count.Add(1)
	return nil
}

// saveORM does what object-relational mappers do for "save" when the key is
// already set: update in a transaction, look the row up when nothing changed,
// insert in another transaction.
func (s *store) saveORM(ctx context.Context, u user) error {
	var changed int64
	err := s.inTx(ctx, func(tx *sql.Tx) (err error) {
		changed, err = s.exec(ctx, tx, "UPDATE users SET name = ?, mail = ? WHERE users.id = ?", u.name, u.mail, u.id)
		return err
	})
	if err != nil || changed > 0 {
		return err
	}
	var got user
	start := time.Now()
	const find = "SELECT id, name, mail FROM users WHERE users.id = ? ORDER BY users.id ASC LIMIT 1"
	err = s.db.QueryRowContext(ctx, find, u.id).Scan(&got.id, &got.name, &got.mail)
	s.log(start, find, 0, u.id)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error { return s.insertIn(ctx, tx, u) })
}

func (s *store) insert(ctx context.Context, u user) error { return s.insertIn(ctx, s.db, u) }

func (s *store) insertIn(ctx context.Context, x execer, u user) error {
	_, err := s.exec(ctx, x, "INSERT INTO users (id, name, mail) VALUES (?, ?, ?)", u.id, u.name, u.mail)
	return err
}

func (s *store) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *store) exec(ctx context.Context, x execer, query string, args ...any) (int64, error) {
	start := time.Now()
	res, err := x.ExecContext(ctx, query, args...)
	if err != nil {
		s.log(start, query, 0, args...)
		return 0, err
	}
	n, err := res.RowsAffected()
	s.log(start, query, n, args...)
	return n, err
}

// log prints a statement with its literals and its duration, as mappers do in
// their debug mode.
func (s *store) log(start time.Time, query string, rows int64, args ...any) {
	if s.sqlLog == nil {
		return
	}
	var b strings.Builder
	for part := range strings.SplitAfterSeq(query, "?") {
		if lit, cut := strings.CutSuffix(part, "?"); cut && len(args) > 0 {
			fmt.Fprintf(&b, "%s'%v'", lit, args[0])
			args = args[1:]
			continue
		}
		b.WriteString(part)
	}
	s.sqlLog.Printf("[%.2fms]  %s\n[%d rows affected or returned]", float64(time.Since(start).Microseconds())/1000,
		b.String(), rows)
}
