package encode

import (
	"bytes"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/runlist"
)

func TestListGolden(t *testing.T) {
	d := runlist.List(sample.Tuning(), runlist.ListOptions{Options: report.Options{Location: sample.JST}})
	var tsv, md bytes.Buffer
	if err := TSV(&tsv, d); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&md, d); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/list.tsv.golden", tsv.Bytes())
	golden.Check(t, "testdata/list.md.golden", md.Bytes())
}
