package truth_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/labs/insertbench"
	"github.com/kasoku/kasoku/labs/isucholar"
	"github.com/kasoku/kasoku/labs/isuportal"
	"github.com/kasoku/kasoku/labs/isutrain"
	"github.com/kasoku/kasoku/labs/truth"
	"github.com/kasoku/kasoku/store"
)

// What the recorded runs must reach.
const (
	leastRecall    = 0.9
	leastPrecision = 0.85
)

// TestRecorded diagnoses recorded runs of labs again. testdata has them as
// LAB-VARIANT.kasoku.gz: files that `kasoku lab truth --keep DIR` left, packed by
// gzip -9n.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.kasoku.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	labs := map[string]*truth.Lab{"insertbench": truth.Of(insertbench.Lab()), "isucholar": truth.Of(isucholar.Lab()),
		"isuportal": truth.Of(isuportal.Lab()), "isutrain": truth.Of(isutrain.Lab()), "userapi": truth.Userapi()}
	var table truth.Table
	for _, path := range files {
		name, variant, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".kasoku.gz"), "-")
		rec, err := store.Open(golden.Unpack(t, path, "run.kasoku"))
		if err != nil {
			t.Fatal(err)
		}
		row := truth.Judge(labs[name].Case(variant), diagnose.Diagnose(diagnose.NewCase(rec, nil), rules.All()))
		if variant == truth.None && len(row.False) > 0 {
			t.Errorf("%s: a tuned variant gets %v", name, row.False)
		}
		table = append(table, row)
	}
	var b strings.Builder
	if err := table.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	if table.Recall() < leastRecall || table.Precision() < leastPrecision {
		t.Errorf("recall %.2f, want %.2f; precision %.2f, want %.2f", table.Recall(), leastRecall, table.Precision(), leastPrecision)
	}
}
