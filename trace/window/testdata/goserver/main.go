// A server whose statements carry the endpoint that they belong to as a comment, with each
// way in which a program of Go may run them.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	dsn := flag.String("dsn", "", "of the database")
	pool := flag.Int("pool", 8, "connections")
	other := flag.String("other", "", "URL of another service")
	flag.Parse()
	db, err := sql.Open("mysql", *dsn)
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(*pool)
	db.SetMaxIdleConns(*pool)
	s := &server{db: db, other: *other}
	mux := http.NewServeMux()
	for path, h := range map[string]func(context.Context, string) error{
		"/one": s.one, "/posts": s.posts, "/fan": s.fan, "/nested": s.nested, "/prepared": s.prepared, "/tx": s.tx, "/slow": s.slow,
		"/none": func(context.Context, string) error { return nil }, "/held": s.held, "/call": s.call,
		"/start": func(ctx context.Context, _ string) error {
			return exec.CommandContext(ctx, "/bin/sh", "-c", "true; /bin/true").Run()
		},
	} {
		h := h
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if err := h(r.Context(), "/*"+r.Method+" "+r.URL.Path+"*/ "); err != nil && r.Context().Err() == nil {
				http.Error(w, err.Error(), 500)
				return
			}
			fmt.Fprintln(w, "ok")
		})
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			s.query(context.Background(), "/*job*/ SELECT 'a job'")
		}
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	os.Stdout.Close()
	panic(http.Serve(l, mux))
}

type server struct {
	db    *sql.DB
	other string
}

func (s *server) query(ctx context.Context, q string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, q, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

func (s *server) one(ctx context.Context, tag string) error {
	return s.query(ctx, tag+"SELECT 1 + 1")
}

func (s *server) posts(ctx context.Context, tag string) error {
	if err := s.query(ctx, tag+"SELECT 20 AS posts"); err != nil {
		return err
	}
	for i := 0; i < 20; i++ {
		if err := s.query(ctx, tag+"SELECT 'user', ?", i); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) fan(ctx context.Context, tag string) error {
	errs := make(chan error, 3)
	for i := 0; i < 3; i++ {
		go func() { errs <- s.query(ctx, tag+"SELECT 'fan'") }()
	}
	for i := 0; i < 3; i++ {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// nested starts a goroutine that runs a statement, and another one that does.
func (s *server) nested(ctx context.Context, tag string) error {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		s.query(ctx, tag+"SELECT 'outer'")
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.query(ctx, tag+"SELECT 'inner'")
		}()
	}()
	wg.Wait()
	return nil
}

func (s *server) prepared(ctx context.Context, tag string) error {
	st, err := s.db.PrepareContext(ctx, tag+"SELECT 'prepared', ?")
	if err != nil {
		return err
	}
	defer st.Close()
	for i := 0; i < 2; i++ {
		var a string
		var b int
		if err := st.QueryRowContext(ctx, i).Scan(&a, &b); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) tx(ctx context.Context, tag string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRowContext(ctx, tag+"SELECT 2").Scan(&n); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *server) slow(ctx context.Context, tag string) error {
	if err := s.query(ctx, tag+"SELECT 'slow', SLEEP(0.05)"); err != nil {
		return err
	}
	return s.query(context.Background(), tag+"SELECT 'after the client gave up'")
}

// held holds a transaction open while it asks another service.
func (s *server) held(ctx context.Context, tag string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, tag+"SELECT 'held' FOR UPDATE"); err != nil {
		return err
	}
	if err := s.call(ctx, tag); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *server) call(ctx context.Context, tag string) error {
	resp, err := http.Get(s.other + "/rates/17")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
