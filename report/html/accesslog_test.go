package html

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/logfile"
)

// sampleLog reads a log of the documentation.
func sampleLog(t *testing.T, name string) *logfile.AccessLog {
	t.Helper()
	in, err := lines.Inputs([]string{filepath.Join("..", "..", "docs", "samples", name)})
	if err != nil {
		t.Fatal(err)
	}
	table, windows, err := accesslog.CollectAll(t.Context(), in, accesslog.Options{Slowest: 10, Location: sample.JST}, nil)
	if err != nil {
		t.Fatal(err)
	}
	windows[0].Path = name
	return &logfile.AccessLog{
		Rows: table.Rows(), By: table.By(), Slowest: table.Slowest(), Logs: windows,
		Started: table.Started(), Step: table.Step(), Exact: table.Exact(), Zone: sample.JST,
	}
}

func accessPage(t *testing.T) *report.Document {
	t.Helper()
	d, err := logfile.Access(sampleLog(t, "access.log"), logfile.AccessOptions{Options: report.Options{Made: sample.Started, Location: sample.JST}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func diffPage(t *testing.T) *report.Document {
	t.Helper()
	d, err := logfile.DiffAccess(&logfile.LogDiff{Before: sampleLog(t, "access.log"), After: sampleLog(t, "after.log"), Names: [2]string{"access.log", "after.log"}},
		logfile.AccessOptions{Options: report.Options{Made: sample.Started, Location: sample.JST}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAccessLogGolden(t *testing.T) {
	golden.Check(t, "testdata/accesslog.html.golden", content(t, accessPage(t)))
	golden.Check(t, "testdata/accesslog-diff.html.golden", content(t, diffPage(t)))
}

// TestBrowserSortsTables: the order that the address asks for is the one that is
// shown, also by numbers that are printed with commas and units.
func TestBrowserSortsTables(t *testing.T) {
	turn.Wait(t)
	url := file(t, accessPage(t))
	for sorted, want := range map[string]string{"-requests": "/products/:id", "requests": "(no request)", "-p99_s": "/orders", "route": "(no request)"} {
		dom := browsertest.DumpDOM(t, url+"?sort="+sorted)
		_, rows, _ := strings.Cut(dom, "<tbody>")
		first, _, _ := strings.Cut(rows, "</tr>")
		if !strings.Contains(first, ">"+want+"<") {
			t.Errorf("sorted by %s the first row is %s, want %s", sorted, first, want)
		}
		if !strings.Contains(dom, `aria-sort="`) {
			t.Errorf("sorted by %s: no head says so", sorted)
		}
	}
}
