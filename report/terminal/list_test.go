package terminal

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/runlist"
	"github.com/kasoku/kasoku/store"
)

func TestList(t *testing.T) {
	o := runlist.ListOptions{Options: report.Options{Location: sample.JST}}
	for name, runs := range map[string][]store.Info{"tuning": sample.Tuning(), "contest": sample.Contest()} {
		for _, columns := range []int{40, 80, 120, 200} {
			var b bytes.Buffer
			if err := Write(&b, runlist.List(runs, o), Options{Width: columns, ASCII: columns == 200}); err != nil {
				t.Fatal(err)
			}
			for _, l := range bytes.Split(b.Bytes(), []byte("\n")) {
				if width(string(l)) > columns {
					t.Errorf("%s at %d: %q is wider", name, columns, l)
				}
			}
			golden.Check(t, fmt.Sprintf("testdata/list-%s-%d.golden", name, columns), b.Bytes())
		}
	}
}
