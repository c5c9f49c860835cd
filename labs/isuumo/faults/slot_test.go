package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/app"
	"github.com/kasoku/kasoku/labs/isuumo/bench"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

var small = sync.OnceValue(func() *isuumo.Data { return data.Generate(data.Options{Size: data.Small}) })

var known = sync.OnceValue(func() *bench.Known { return bench.Know(small()) })

// A slot is the tuned service with a database of its own on a shared server. One
// benchmark at a time uses it.
type slot struct {
	cfg    app.Config
	cancel context.CancelFunc
	ended  chan error
}

// newSlots starts services until the end of the test.
func newSlots(t *testing.T, n int) chan *slot {
	t.Helper()
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	root := sandboxtest.DB(t, server, "")
	slots := make(chan *slot, n)
	for i := range n {
		database := fmt.Sprintf("isuumo%d", i)
		sandboxtest.Exec(t, root, "CREATE DATABASE "+database)
		dir := t.TempDir()
		if err := errors.Join(data.WriteService(dir, small()), rename(filepath.Join(dir, "sql"), database)); err != nil {
			t.Fatal(err)
		}
		s := &slot{cfg: app.Config{
			Listen: "127.0.0.1:0", DSN: server.DSN("", database), SQLDir: filepath.Join(dir, "sql"), FixtureDir: filepath.Join(dir, "fixture"),
			AppLog: io.Discard,
		}}
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		})
		slots <- s
	}
	return slots
}

// rename puts the tables into another database than isuumo.
func rename(dir, database string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		return err
	}
	names := strings.NewReplacer("isuumo.", database+".", "isuumo;", database+";", "isuumo CHARACTER", database+" CHARACTER")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(names.Replace(string(text))), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts the service, where it was before if it was.
func (s *slot) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan string, 1)
	s.cancel, s.ended = cancel, make(chan error, 1)
	s.cfg.Ready = func(addr string) { ready <- addr }
	go func() { s.ended <- app.Serve(ctx, s.cfg) }()
	select {
	case s.cfg.Listen = <-ready:
		return nil
	case err := <-s.ended:
		s.ended <- nil
		return err
	}
}

func (s *slot) stop() error {
	s.cancel()
	return <-s.ended
}

// restart restarts the service. In the meantime statements change its database.
func (s *slot) restart(ctx context.Context, statements []string) error {
	if err := s.stop(); err != nil {
		return err
	}
	db, err := mysqlflags.OpenDSN(s.cfg.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return s.start()
}

// pace makes each run so slow that many fit on two cores.
const pace = 20 * time.Millisecond

// run benchmarks the service through a proxy with the rule, under load for some time.
func (s *slot) run(ctx context.Context, rule Rule, compat bool, long time.Duration) (res *scenario.Result, met int, err error) {
	p, err := New(Options{Target: "http://" + s.cfg.Listen, Data: small(), Rule: rule, Pace: pace})
	if err != nil {
		return nil, 0, err
	}
	defer p.Close()
	server := httptest.NewServer(http.HandlerFunc(p.ServeHTTP))
	defer server.Close()
	o := bench.Options{
		Target: server.URL, Data: small(), Known: known(), Compat: compat, Seed: 10, Verify: 40,
		Duration: long, Levels: []int64{2, 3, 4},
	}
	if rule.Lose != nil {
		o.Restart = func(ctx context.Context) error { return s.restart(ctx, rule.Lose()) }
	}
	b, err := bench.New(o)
	if err != nil {
		return nil, 0, err
	}
	res, err = b.Run(ctx)
	return res, p.matched, err
}
