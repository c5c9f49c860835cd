package app

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/conformance"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/sqlfile"
	"github.com/kasoku/kasoku/labs/isuumo/tuning"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestConformance: the service answers alike with all defects, with each of them
// mended by itself, with none in its queries, and from memory.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs database servers; not in short mode")
	}
	d := few()
	shipped, err := isuumo.Variant(isuumo.Initial)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		configs := map[string]isuumo.Defects{
			"as shipped":         shipped,
			"all queries mended": {"CCH-07"},
			"from memory":        {},
			"ranges by triggers": {"CCH-07", "IDX-05T"},
			"search tables":      {"CCH-07", "QRY-03S"},
			"counts kept":        {"CCH-07", "QRY-08K"},
		}
		if s.Kind == sandbox.KindMariaDB {
			configs["from memory, late and talking"] = isuumo.Defects{"APP-01", "OPS-02"}
			configs["counts kept, locks"] = isuumo.Defects{"CCH-07", "QRY-08K", "QRY-03", "LCK-01", "QRY-03S"}
			configs["search tables with triggers, late"] = isuumo.Defects{"CCH-07", "IDX-05T", "QRY-03S", "OPS-02"}
			for _, x := range isuumo.Known() {
				if x.SQL {
					configs["without "+x.ID] = shipped.Without(x.ID)
				}
			}
		}
		db := sandboxtest.DB(t, s, "")
		for name, defects := range configs {
			t.Run(name, func(t *testing.T) {
				turn.Wait(t)
				// A service makes its own database where there is none.
				sandboxtest.Exec(t, db, "DROP DATABASE IF EXISTS isuumo")
				url, log := served(t, s, d, defects)
				for _, err := range conformance.Check(t.Context(), url, d) {
					t.Error(err)
				}
				if t.Failed() {
					t.Logf("the service says:\n%.3000s", log)
				}
			})
		}
	})
}

// few is the small data with a thousand rows of each kind.
var few = sync.OnceValue(func() *isuumo.Data {
	d := data.Generate(data.Options{Size: data.Small})
	d.Chairs, d.Estates = d.Chairs[:1000], d.Estates[:1000]
	return d
})

// served runs the service with its own files until the end of the test.
func served(t *testing.T, s *sandbox.Server, d *isuumo.Data, defects isuumo.Defects) (url string, log *command.Tail) {
	t.Helper()
	dir := t.TempDir()
	if err := data.WriteService(dir, d); err != nil {
		t.Fatal(err)
	}
	if ddl := tuning.DDL(defects, s.Kind); ddl != "" {
		if err := os.WriteFile(filepath.Join(dir, "sql", sqlfile.Tuning), []byte(ddl), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log = command.NewTail(1 << 20)
	return start(t, Config{
		Listen: "127.0.0.1:0", DSN: s.DSN("", "isuumo"), SQLDir: filepath.Join(dir, "sql"), FixtureDir: filepath.Join(dir, "fixture"),
		Defects: defects, AppLog: log,
	}), log
}

// start runs the service until the end of the test.
func start(t *testing.T, cfg Config) (url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	cfg.Ready = func(addr string) { ready <- addr }
	go func() { ended <- Serve(ctx, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	select {
	case addr := <-ready:
		return "http://" + addr
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return ""
	}
}
