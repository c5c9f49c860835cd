package html

import (
	"bytes"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
)

func options() report.Options {
	return report.Options{Location: sample.JST, Made: sample.Started.Add(45 * time.Second), File: "20261120-140211-before.kasoku"}
}

func compared(t *testing.T) *compare.Comparison {
	t.Helper()
	c, err := compare.Compare([]*kasoku.Recording{sample.Before()}, []*kasoku.Recording{sample.After()}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func render(t *testing.T, d *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	golden.Check(t, "testdata/show.html", render(t, report.Show(sample.Before(), options())))
	golden.Check(t, "testdata/compare.html", render(t, report.Compare(compared(t), options())))
	golden.Check(t, "testdata/story.html", render(t, story(t)))
}

func story(t *testing.T) *report.Document {
	t.Helper()
	before := sample.Before()
	st := report.Story{Before: before, After: sample.After(), Comparison: compared(t)}
	for _, x := range sample.Trials() {
		e, err := compare.Effect(compare.Cut{Run: before, Step: 3}, compare.Cut{Run: x.Run, Step: 1}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		st.Tries = append(st.Tries, report.Try{Change: x.Change, Finding: x.Finding, Control: x.Control, Effect: e})
	}
	st.Tries = append(st.Tries, report.Try{Change: "SQL logging off", Finding: "DRV-05", Failed: "the lab did not start"})
	return report.Tell(st, options())
}
