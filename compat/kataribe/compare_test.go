package kataribe

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// run runs kataribe and returns what it printed.
func run(t testing.TB, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
}

// runConfig runs it with the text of a configuration.
func runConfig(t testing.TB, config, log string) (stdout, stderr string, code int) {
	t.Helper()
	return run(t, log, "-f", writeConfig(t, config))
}

func writeConfig(t testing.TB, config string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kataribe.toml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sortColumns are the columns of the rankings' names.
var sortColumns = map[string]string{"Count": "Count", "Total": "Total", "Mean": "Mean", "Standard Deviation": "Stddev", "Maximum(100 Percentile)": "Max"}

// untied returns an output without what is random in kataribe's: rows that tie
// are sorted by their text. The tie that the end of a ranking may cut, when it is
// full, is only counted.
func untied(output string) string {
	var out strings.Builder
	for block := range strings.SplitSeq(output, "\n\n") {
		rows := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
		title, rows := rows[0], rows[1:]
		out.WriteString(title + "\n")
		column := 1 // of the slow requests
		if name, ok := strings.CutPrefix(title, "Top "); ok {
			_, name, _ = strings.Cut(name, " Sort By ")
			column = slices.Index(strings.Fields(rows[0]), sortColumns[name])
			out.WriteString(rows[0] + "\n")
			rows = rows[1:]
		}
		full := strings.Fields(title)[1] == strconv.Itoa(len(rows))
		writeUntied(&out, rows, column, full)
	}
	return out.String()
}

func writeUntied(out *strings.Builder, rows []string, column int, full bool) {
	key := func(row string) string { return strings.Fields(row)[column] }
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && key(rows[n]) == key(rows[0]) {
			n++
		}
		tie := slices.Clone(rows[:n])
		if rows = rows[n:]; len(rows) == 0 && full {
			for range tie {
				out.WriteString("tie at the end\n")
			}
			return
		}
		if column == 1 && len(tie) > 1 { // the rank of a slow request stays
			for i := range tie {
				_, tie[i], _ = strings.Cut(strings.TrimLeft(tie[i], " "), " ")
			}
		}
		slices.Sort(tie)
		out.WriteString(strings.Join(tie, "\n") + "\n")
	}
}

// same fails the test unless both outputs are the same but for ties.
func same(t testing.TB, got, want string) {
	t.Helper()
	g, w := untied(got), untied(want)
	if g == w {
		return
	}
	gl, wl := strings.Split(g, "\n"), strings.Split(w, "\n")
	for i := range max(len(gl), len(wl)) {
		if i >= len(gl) || i >= len(wl) || gl[i] != wl[i] {
			t.Fatalf("line %d differs\ngot  %q\nwant %q", i+1, line(gl, i), line(wl, i))
		}
	}
}

func line(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}
