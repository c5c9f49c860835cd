// Package stacktest gives tests isuumo whole: database, service and nginx.
//
// The service is a process of its own, which is the test binary: a test package that
// starts a stack has [Main] in its TestMain.
package stacktest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/app"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
)

// Main runs the tests, or serves isuumo when the test binary was started in the
// place of kasoku.
func Main(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "lab" && os.Args[2] == "serve" {
		if err := serve(os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(args []string) error {
	cfg := app.Config{DSN: os.Getenv("KASOKU_LAB_DSN"), AppLog: os.Stderr}
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&cfg.Listen, "listen", "", "")
	f.StringVar(&cfg.SQLDir, "sql", "", "")
	f.StringVar(&cfg.FixtureDir, "fixture", "", "")
	defects := f.String("defects", "", "")
	ready := f.String("ready", "", "")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if cfg.Defects, err = isuumo.ParseDefects(*defects); err != nil {
		return err
	}
	var reported error
	cfg.Ready = func(addr string) { reported = os.WriteFile(*ready, []byte(addr+"\n"), 0o600) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := app.Serve(ctx, cfg); err != nil {
		return err
	}
	return reported
}

// Up returns a stack of the test's own, small and in a temporary directory unless the
// options say otherwise. In short mode the test is skipped.
func Up(t testing.TB, o stack.Options) *stack.Stack {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a database and nginx; not in short mode")
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Program == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		o.Program = self
	}
	if o.Size == "" && o.Data == nil && o.DataDir == "" {
		o.Size = data.Small
	}
	s, err := stack.Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}
