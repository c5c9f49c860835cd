package terminal

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/logfile"
)

func slowLogOf(t *testing.T, name string) *logfile.SlowLog {
	t.Helper()
	in, err := lines.Inputs([]string{"../../docs/samples/" + name})
	if err != nil {
		t.Fatal(err)
	}
	table, windows, err := slowlog.CollectAll(t.Context(), in, slowlog.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	windows[0].Path = name
	return &logfile.SlowLog{
		Classes: table.Classes(), Transactions: table.Transactions(), Saves: table.Saves(), Connections: table.Connections(),
		Statements: table.Statements(), Logs: windows, Started: time.Unix(0, 0).UTC(),
	}
}

// TestSlowLog has one log in all forms.
func TestSlowLog(t *testing.T) {
	log := slowLogOf(t, "slow.log")
	doc, err := logfile.Slow(log, logfile.SlowOptions{Limit: 8})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := logfile.Slow(log, logfile.SlowOptions{Machine: true})
	if err != nil {
		t.Fatal(err)
	}
	one := logfile.SlowClass(log, &log.Classes[0], true, logfile.SlowOptions{})
	diff, err := logfile.DiffSlow(&logfile.SlowDiff{Before: log, After: slowLogOf(t, "slow-after.log"), Names: [2]string{"slow.log", "slow-after.log"}}, logfile.SlowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{80, 120} {
		for name, d := range map[string]*report.Document{"slowlog": doc, "slowlog-one": one, "slowlog-diff": diff} {
			var b bytes.Buffer
			if err := Write(&b, d, Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, fmt.Sprintf("testdata/%s-%d.golden", name, width), b.Bytes())
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"slowlog.md.golden":   func(w io.Writer) error { return encode.Markdown(w, doc) },
		"slowlog.tsv.golden":  func(w io.Writer) error { return encode.TSV(w, logfile.AccessTable(machine, "queries")) },
		"slowlog.html.golden": func(w io.Writer) error { return html.Write(w, logfile.AccessTable(doc, "queries")) },
		"slowlog.json.golden": func(w io.Writer) error {
			return encode.SlowLogJSON(w, log, logfile.SlowOptions{Limit: 2}, encode.SlowLogShown{Masked: true})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if name == "slowlog.html.golden" {
			if !bytes.Contains(b.Bytes(), []byte("EE059278")) {
				t.Error("the page has no statement")
			}
			continue
		}
		golden.Check(t, "testdata/"+name, b.Bytes())
	}
}

// TestSlowLog_Hostile: what a log holds neither drives a terminal nor adds markup.
func TestSlowLog_Hostile(t *testing.T) {
	evil := "\x1b[2J<script>\x00|`\u202e\x07"
	text := "# Time: 2026-11-20T05:00:00.000000Z\n# User@Host: " + evil + "[a] @ " + evil + " []  Id: 1\n" +
		"# Query_time: 1.0  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 1\nuse `" + evil + "`;\nselect '" + evil + "' from `" + evil + "` /* " + evil + " */;\nnot a head " + evil + "\n"
	in := []lines.Input{{Path: evil, R: bytes.NewReader([]byte(text + text))}}
	table, windows, err := slowlog.CollectAll(t.Context(), in, slowlog.Options{Split: slowlog.SplitAll}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := &logfile.SlowLog{Classes: table.Classes(), Logs: windows, Started: time.Unix(0, 0).UTC()}
	doc, err := logfile.Slow(log, logfile.SlowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*report.Document{doc, logfile.SlowClass(log, &log.Classes[0], false, logfile.SlowOptions{})} {
		for name, write := range map[string]func(io.Writer) error{
			"terminal": func(w io.Writer) error { return Write(w, d, Options{Width: 100}) },
			"html":     func(w io.Writer) error { return html.Write(w, d) },
			"tsv":      func(w io.Writer) error { return encode.TSV(w, d) },
			"md":       func(w io.Writer) error { return encode.Markdown(w, d) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsAny(b.Bytes(), "\x1b\x00\x07") || name == "terminal" && bytes.ContainsRune(b.Bytes(), 0x202e) || name == "html" && bytes.Contains(b.Bytes(), []byte("<script>\\")) {
				t.Errorf("%s: %q", name, b.String())
			}
		}
	}
}
