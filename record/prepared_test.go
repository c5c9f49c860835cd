package record

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/prepared"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// proposing is a rule that proposes one statement.
type proposing string

func (proposing) ID() string        { return "QRY-05" }
func (proposing) Doc() diagnose.Doc { return diagnose.Doc{} }

func (p proposing) Check(*diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return []kasoku.Finding{{ID: p.ID(), Title: string(p), Evidence: []kasoku.Evidence{{Text: "one"}},
		Fixes: []kasoku.Fix{{Text: "Do", Lang: "sql", Code: string(p)}}}}, nil
}

// TestPreparedFixes_Gone: SQL that no server was asked about says so.
func TestPreparedFixes_Gone(t *testing.T) {
	rec := &kasoku.Recording{Diagnosis: &kasoku.Diagnosis{Findings: []kasoku.Finding{{Fixes: []kasoku.Fix{
		{Lang: "sql", Code: "SELECT 1 FROM t;", Note: "First."}, {Lang: "sh", Code: "true"}}}}}}
	err := prepared.Fixes(t.Context(), rec, "root@unix("+filepath.Join(t.TempDir(), "no.sock")+")/")
	fixes := rec.Diagnosis.Findings[0].Fixes
	if err == nil || fixes[0].Note != "First. Not checked on the server: it could not be asked." || fixes[1].Note != "" {
		t.Errorf("%v, %+v", err, fixes)
	}
}

// TestPreparedFixes: the SQL of findings is prepared at the end of a run, and what the server said
// is in its file.
func TestPreparedFixes(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY)")
		for code, want := range map[string]string{"SELECT id FROM items WHERE id IN (?, ?);": "accepted", "SELECT name FROM items;": "refuses"} {
			o := quick(t)
			o.MySQL = s.DSN("", "shop")
			o.Rules = []diagnose.Rule{proposing(code)}
			mustRecord(t, o)
			rec, err := store.Open(o.Path)
			if err != nil {
				t.Fatal(err)
			}
			fix := rec.Diagnosis.Findings[0].Fixes[0]
			if !strings.Contains(fix.Note, want) || (fix.Code == "") != (want == "refuses") {
				t.Errorf("%s: %+v", code, fix)
			}
		}
	})
}
