package provecmd

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestFindAgain: a change that only the run file knows of is not made.
func TestFindAgain(t *testing.T) {
	rec := &kasoku.Recording{Diagnosis: &kasoku.Diagnosis{Findings: []kasoku.Finding{{ID: "IDX-01", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{
		{Kind: kasoku.EditIndex, Do: "DROP INDEX mail ON users", Undo: "CREATE INDEX mail ON users (mail)"}}}}}}}}
	named, err := findingNamed(rec, "1")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := findAgain(rec, nil, named); err == nil {
		t.Errorf("%+v", f)
	}
	if len(rec.Diagnosis.Findings) != 1 {
		t.Error("the run's own diagnosis was changed")
	}
}
