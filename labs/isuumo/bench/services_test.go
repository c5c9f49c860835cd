package bench

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/app"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A process is the real service, run within the test.
type process struct {
	cfg  app.Config
	addr string
	stop func() error
}

// start starts the service, on the address that it had before if there is one.
func (p *process) start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	p.cfg.Ready = func(addr string) { ready <- addr }
	go func() { ended <- app.Serve(ctx, p.cfg) }()
	p.stop = func() error {
		cancel()
		return <-ended
	}
	select {
	case p.addr = <-ready:
		p.cfg.Listen = p.addr
		return nil
	case err := <-ended:
		cancel()
		return err
	}
}

// TestServices: the service as shipped and the tuned one pass, strictly and
// compatibly, without a message, and lose nothing when they are restarted.
func TestServices(t *testing.T) {
	turn.Wait(t)
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	dir := t.TempDir()
	if err := data.WriteService(dir, smallData()); err != nil {
		t.Fatal(err)
	}
	for _, variant := range []string{isuumo.Initial, isuumo.Tuned} {
		defects, err := isuumo.Variant(variant)
		if err != nil {
			t.Fatal(err)
		}
		sandboxtest.Exec(t, sandboxtest.DB(t, db, ""), "CREATE DATABASE IF NOT EXISTS isuumo")
		p := &process{cfg: app.Config{
			Listen: "127.0.0.1:0", DSN: db.DSN("root", "isuumo"), SQLDir: filepath.Join(dir, "sql"), FixtureDir: filepath.Join(dir, "fixture"),
			Defects: defects, AppLog: io.Discard,
		}}
		if err := p.start(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		for mode, compat := range map[string]bool{"strict": false, "compat": true} {
			t.Run(variant+"/"+mode, func(t *testing.T) {
				o := short("http://" + p.addr)
				o.Data, o.Compat, o.Duration = smallData(), compat, 3*time.Second
				o.Restart = func(ctx context.Context) error {
					if err := p.stop(); err != nil {
						return err
					}
					return p.start(context.WithoutCancel(ctx))
				}
				res, figures := runBench(t, o)
				passes(t, res)
				t.Logf("score %d, level %d, %d human requests, generator %+v", res.Score, res.Level, figures.HumanRequests, res.Generator)
			})
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}

// passes checks that a benchmark has passed without a word, but for timeouts, of which
// a busy machine is to blame.
func passes(t *testing.T, res *scenario.Result) {
	t.Helper()
	for _, e := range res.Errors {
		if e.Code != scenario.Timeout && e.Code != scenario.Trivial {
			t.Errorf("%d %s errors: %q", e.Count, e.Code, e.Samples)
		}
	}
	if !res.Pass {
		t.Errorf("not passed: %s, %v", res.Reason, res.Messages)
	}
}
