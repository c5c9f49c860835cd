package html

import (
	"bytes"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/runlist"
)

func TestListGolden(t *testing.T) {
	golden.Check(t, "testdata/list.html.golden", content(t, runlist.List(sample.Tuning(), runlist.ListOptions{Options: options()})))
}

// What people and programs typed must not become markup.
func TestListHostile(t *testing.T) {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onmouseover=alert(3) \x1b[31m\u202e`</code>`**"
	runs := sample.Contest()
	for i := range runs {
		r := &runs[i]
		r.Label, r.Note, r.Revision, r.Project, r.Verdict, r.Summary.Bottleneck = evil, evil, evil, evil, evil, evil
	}
	runs[2].State, runs[2].StopReason = kasoku.Incomplete, evil
	page := content(t, runlist.List(runs, runlist.ListOptions{Options: options()}))
	for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page has %q", bad)
		}
	}
}
