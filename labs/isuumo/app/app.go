// Package app runs the lab's service as a process: by SQL or from memory, as the
// defects say, on a TCP port or a unix socket.
package app

import (
	"context"
	"database/sql"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/memory"
	"github.com/kasoku/kasoku/labs/isuumo/queries"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Config defines where the service listens, what it needs, and how badly it does.
type Config struct {
	Listen     string // host:port, port 0 takes a free one; or unix:/path
	DSN        string // of the database; interpolateParams is set as the defects say
	SQLDir     string // with the files that /initialize runs
	FixtureDir string // with chair_condition.json and estate_condition.json
	Defects    isuumo.Defects
	AppLog     io.Writer         // what the process says; with APP-01 also a line for each request
	Ready      func(addr string) // called once, when requests are accepted: host:port or unix:/path
}

// A closer answers requests until it is closed.
type closer interface {
	http.Handler
	io.Closer
}

// Serve runs the service until the context ends, then lets requests in flight
// finish for at most two seconds. It waits for its database as long as it takes.
func Serve(ctx context.Context, cfg Config) error {
	appLog := log.New(cfg.AppLog, "", log.LstdFlags)
	db, err := openDB(cfg)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer db.Close()
	if err := reach(ctx, db, cfg.DSN, appLog); err != nil {
		return fmt.Errorf("reach database: %w", err)
	}
	s, err := newService(cfg, db, appLog)
	if err != nil {
		return err
	}
	ln, addr, err := listen(cfg.Listen)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if cfg.Ready != nil {
		cfg.Ready(addr)
	}
	var h http.Handler = s
	if cfg.Defects.Has("APP-01") {
		h = chatty(s, cfg.AppLog)
	}
	h = withVars(h, db)
	return errors.Join(process.Serve(ctx, &http.Server{
		Handler:           h,
		ErrorLog:          appLog,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute, // longer than nginx keeps its connections, 60 s by default
	}, ln), s.Close())
}

// newService returns the service from memory unless CCH-07 forbids it.
func newService(cfg Config, db *sql.DB, appLog *log.Logger) (closer, error) {
	if cfg.Defects.Has("CCH-07") {
		return queries.New(queries.Options{
			DB: db, SQLDir: cfg.SQLDir, FixtureDir: cfg.FixtureDir, Defects: cfg.Defects, Log: appLog,
		})
	}
	return memory.New(memory.Options{
		DB: db, SQLDir: cfg.SQLDir, FixtureDir: cfg.FixtureDir, Defects: cfg.Defects, Log: appLog,
	})
}

// openDB opens the database with the pool and the way of passing parameters that the
// defects ask for.
//
// POOL-06 leaves ten connections, of which database/sql keeps its default of two
// when they are idle. Mended, there are as many as two cores and a disk keep busy,
// all kept. DRV-01 leaves the driver to prepare, execute and close a statement for
// each query that has parameters; mended, it writes them into the query's text.
func openDB(cfg Config) (*sql.DB, error) {
	sqlService := cfg.Defects.Has("CCH-07")
	dsn := cfg.DSN
	if !sqlService || !cfg.Defects.Has("DRV-01") {
		dsn = mysqlflags.WithParam(dsn, "interpolateParams=true")
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return nil, err
	}
	if sqlService && cfg.Defects.Has("POOL-06") {
		db.SetMaxOpenConns(10)
	} else {
		db.SetMaxOpenConns(poolSize)
		db.SetMaxIdleConns(poolSize)
	}
	return db, nil
}

// Vars is the path at which the service publishes what its pool counts, as expvar
// does, to those who ask it without nginx.
const Vars = "/debug/vars"

// withVars answers Vars.
func withVars(h http.Handler, db *sql.DB) http.Handler {
	pool := expvar.Func(func() any { return db.Stats() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != Vars || r.Header.Get("X-Forwarded-For") != "" {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\"db\": %s}\n", pool.String())
	})
}

// poolSize is above the number of requests that the benchmark's highest level has
// in flight, and well below the servers' default of 151 connections.
const poolSize = 64

// errUnknownDatabase is ER_BAD_DB_ERROR.
const errUnknownDatabase = 1049

// reach waits until the database answers. One that is not there is made, empty: an
// /initialize that was killed between dropping and making it leaves the server
// without, and no client could connect to call the next one.
func reach(ctx context.Context, db *sql.DB, dsn string, appLog *log.Logger) error {
	return process.Await(ctx, appLog, "reach database", func(ctx context.Context) error {
		err := db.PingContext(ctx)
		if mysqlflags.ErrorNumber(err) != errUnknownDatabase {
			return err
		}
		if err := create(ctx, dsn); err != nil {
			return err
		}
		return db.PingContext(ctx)
	})
}

// create makes the database that the DSN names.
func create(ctx context.Context, dsn string) error {
	name := mysqlflags.Database(dsn)
	db, err := mysqlflags.OpenDSN(strings.Replace(dsn, ")/"+name, ")/", 1))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`")
	return err
}

// listen listens at host:port or unix:/path, where it replaces a socket that no process
// listens on any more. It returns the address in the same form.
func listen(at string) (net.Listener, string, error) {
	path, isUnix := strings.CutPrefix(at, "unix:")
	if !isUnix {
		ln, err := net.Listen("tcp", at)
		if err != nil {
			return nil, "", fmt.Errorf("listen: %w", err)
		}
		return ln, ln.Addr().String(), nil
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, "", fmt.Errorf("listen: somebody listens on %s already", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("listen: %w", err)
	}
	// nginx's workers may run as another user.
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, "", errors.Join(fmt.Errorf("listen: %w", err), ln.Close())
	}
	return ln, at, nil
}
