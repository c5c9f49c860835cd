//go:build extract

package rules

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/store"
)

// A run file becomes a case with
//
//	go test -tags extract ./diagnose/rules -run TestExtractRun \
//	  -from before.kasoku -rule POOL-01 -as fires/mariadb-1000 -origin 'recorded: 2026-11-20, MariaDB 10.11.19, kasoku run …'
//
// and then go test ./diagnose/rules reports whether it is what it should be.
var (
	from     = flag.String("from", "", "run `file`")
	baseline = flag.String("baseline", "", "run `file` to compare with")
	rule     = flag.String("rule", "", "rule `id`")
	as       = flag.String("as", "", "`kind/name` of the case")
	origin   = flag.String("origin", "", "first lines of the case")
)

func TestExtractRun(t *testing.T) {
	if *from == "" {
		t.Skip("no -from")
	}
	open := func(path string) *kasoku.Recording {
		if path == "" {
			return nil
		}
		rec, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	keepExtract(t, open(*from), open(*baseline), *rule, *as, *origin)
}

// keepExtract writes what the rule reads of a run to its testdata.
func keepExtract(t *testing.T, rec, baseline *kasoku.Recording, rule, as, origin string) {
	t.Helper()
	data, err := extract.Write(rec, baseline, reads(rule, rec.Load != nil), origin)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", rule, filepath.FromSlash(as)+".txtar")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
