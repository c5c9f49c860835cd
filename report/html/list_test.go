package html

import (
	"testing"

	"github.com/kasoku/kasoku/internal/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
)

func TestListGolden(t *testing.T) {
	golden.Check(t, "testdata/list.html.golden", content(t, report.List(sample.Tuning(), report.ListOptions{Options: options()})))
}
