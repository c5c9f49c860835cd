package encode

import (
	"bytes"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
)

func configured(t *testing.T) *compare.Comparison {
	t.Helper()
	before, after := sample.Configured()
	c, err := compare.Compare([]*kasoku.Recording{before}, []*kasoku.Recording{after}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDiffs(t *testing.T) {
	var md, js bytes.Buffer
	if err := Markdown(&md, comparison.Compare(configured(t), report.Options{Sections: []string{report.SectionConfig}})); err != nil {
		t.Fatal(err)
	}
	if err := ComparisonJSON(&js, configured(t)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/config.md.golden", md.Bytes())
	golden.Check(t, "testdata/config.json.golden", js.Bytes())
}
