package terminal

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/comparison"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recording"
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
	d := comparison.Compare(configured(t), report.Options{Sections: []string{report.SectionConfig, report.SectionWarnings}})
	before, _ := sample.Configured()
	golden.CheckString(t, "testdata/config-80.golden", write(t, d, Options{Width: 80}))
	golden.CheckString(t, "testdata/config-80-color.golden", write(t, d, Options{Width: 80, Color: true}))
	golden.CheckString(t, "testdata/texts-80.golden", write(t, recording.Texts(before, options()), Options{Width: 80}))
	golden.CheckString(t, "testdata/texts-none-80.golden", write(t, recording.Texts(&kasoku.Recording{}, options()), Options{Width: 80}))
}
