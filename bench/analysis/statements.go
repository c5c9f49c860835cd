package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

func quoteArgument(s string) string {
	b, err := json.Marshal(strings.ReplaceAll(s, `\"`, `"`))
	if err != nil {
		return `""` // a string can always be encoded
	}
	return string(b)
}

// writeSlow makes a slow log of that many bytes: that of a real MariaDB under a
// mixed load up to part of it, repeated until it is long enough.
func writeSlow(ctx context.Context, out io.Writer, size int64) error {
	server, err := sandbox.MariaDB(ctx, sandbox.Options{Vars: map[string]string{
		"slow_query_log": "1", "long_query_time": "0", "log_slow_verbosity": "query_plan,innodb",
		"innodb_flush_log_at_trx_commit": "0",
	}})
	if err != nil {
		return err
	}
	log, err := loadServer(ctx, server, min(size, 24<<20))
	if err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	for size > 0 {
		if _, err := out.Write(log); err != nil {
			return err
		}
		size -= int64(len(log))
	}
	return nil
}

// loadServer runs statements until the slow log has that size, and returns it.
func loadServer(ctx context.Context, server *sandbox.Server, size int64) ([]byte, error) {
	db, err := mysqlflags.OpenDSN(server.DSN("root", ""))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := makeSchema(ctx, db); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		wg.Go(func() { errs[n] = sendUntil(ctx, db, server.SlowLog, size, rand.New(rand.NewPCG(7, uint64(n)))) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return os.ReadFile(server.SlowLog)
}

func makeSchema(ctx context.Context, db *sql.DB) error {
	for _, s := range []string{
		"CREATE DATABASE bench", "USE bench",
		"CREATE TABLE bench.isu (id INT AUTO_INCREMENT PRIMARY KEY, uuid CHAR(36), name VARCHAR(99), user_id VARCHAR(40), image BLOB, KEY (uuid))",
		"CREATE TABLE bench.cond (id INT AUTO_INCREMENT PRIMARY KEY, uuid CHAR(36), at DATETIME, sitting BOOL, message TEXT)",
		"CREATE TABLE bench.items (id INT AUTO_INCREMENT PRIMARY KEY, stock INT, price INT)",
		"INSERT INTO bench.items (stock, price) SELECT 1000, seq FROM seq_1_to_500",
	} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	return nil
}

// sendUntil sends statements of every sort on a connection of its own, until the
// log has that size.
func sendUntil(ctx context.Context, db *sql.DB, log string, size int64, r *rand.Rand) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "USE bench"); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n%50 == 0 {
			if info, err := os.Stat(log); err == nil && info.Size() >= size {
				return nil
			}
		}
		for _, s := range makeStatements(r) {
			if _, err := conn.ExecContext(ctx, s); err != nil && !strings.Contains(err.Error(), "1213") { // a deadlock is a part of life
				return fmt.Errorf("%.60s: %w", s, err)
			}
		}
	}
}

func makeStatements(r *rand.Rand) []string {
	id, item := randomUUID(r), r.IntN(500)+1
	switch r.IntN(8) {
	case 0:
		return []string{fmt.Sprintf("INSERT INTO isu (uuid, name, user_id, image) VALUES ('%s', 'isu %d', 'user%d', _binary '%s')",
			id, r.IntN(1e6), r.IntN(100), strings.Repeat(`\0\n# Time: 1\'`, r.IntN(90)))}
	case 1:
		rows := make([]string, 1+r.IntN(10))
		for i := range rows {
			rows[i] = fmt.Sprintf("('%s', '2021-08-21 10:%02d:%02d', %d, 'message %d; of many\n# User@Host: app[app] @ localhost []\nwords')", id, r.IntN(60), r.IntN(60), r.IntN(2), r.IntN(1e6))
		}
		return []string{"INSERT INTO cond (uuid, at, sitting, message) VALUES " + strings.Join(rows, ", ")}
	case 2:
		return []string{fmt.Sprintf("SELECT * FROM cond WHERE uuid = '%s' AND at < '2021-08-21 10:30:00' ORDER BY at DESC LIMIT 20", id)}
	case 3:
		return []string{fmt.Sprintf("SELECT id, uuid, name FROM isu WHERE user_id = 'user%d' ORDER BY id DESC LIMIT 5",
			r.IntN(100))}
	case 4:
		ids := make([]string, 1+r.IntN(40))
		for i := range ids {
			ids[i] = fmt.Sprint(r.IntN(500))
		}
		return []string{"SELECT /* controller:items,action:index */ id, stock, price FROM items WHERE id IN (" + strings.Join(ids, ", ") + ")"}
	case 5:
		return []string{"START TRANSACTION", fmt.Sprintf("SELECT stock FROM items WHERE id = %d FOR UPDATE", item),
			fmt.Sprintf("UPDATE items SET stock = stock - 1, price = %d WHERE id = %d", r.IntN(9999), item), "COMMIT /* Buy */"}
	case 6:
		return []string{fmt.Sprintf("SELECT COUNT(*) AS n FROM isu AS i\n  JOIN items AS t ON t.id = i.id\n  WHERE t.price BETWEEN %d AND %d\n    AND i.name LIKE '%%%d%%'", item, item+50, r.IntN(99))}
	}
	out := make([]string, 0, 12)
	for range 12 { // one lookup for each of a list
		out = append(out, fmt.Sprintf("SELECT name FROM isu WHERE id = %d", r.IntN(1000)))
	}
	return out
}
