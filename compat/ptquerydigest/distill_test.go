package ptquerydigest

import (
	"os"
	"strings"
	"testing"
)

// TestDistill_AsPtQueryDigest: the file is what pt-query-digest said.
func TestDistill_AsPtQueryDigest(t *testing.T) {
	data, err := os.ReadFile("testdata/distill.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if got := distillStatement(f[0]); got != f[1] {
			t.Errorf("distill(%q) = %q, want %q", f[0], got, f[1])
		}
		var tables []string
		for _, n := range namedTables(f[0], "dbx") {
			tables = append(tables, "`"+n.db+"`.`"+n.name+"`")
		}
		if got := strings.Join(tables, " "); got != f[2] {
			t.Errorf("tables of %q = %s, want %s", f[0], got, f[2])
		}
	}
}
