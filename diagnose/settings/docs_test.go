package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
)

const (
	tableBegins = "<!-- checks -->\n"
	tableEnds   = "<!-- /checks -->\n"
)

// TestDocs keeps the table of docs/advise.md in step with the checks; -update writes it.
func TestDocs(t *testing.T) {
	const path = "../../docs/advise.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), tableBegins)
	_, tail, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no %q and %q", path, tableBegins, tableEnds)
	}
	want := head + tableBegins + checkTable() + tableEnds + tail
	if golden.Update() {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s is not in step with the checks; go test ./advise -update writes it:\n%s", path, checkTable())
	}
}

func checkTable() string {
	all := checks()
	slices.SortStableFunc(all, func(a, b *check) int { return strings.Compare(orderKey(a.id), orderKey(b.id)) })
	var b strings.Builder
	b.WriteString("| id | area | looks at | formula | speaks at |\n|---|---|---|---|---|\n")
	for _, c := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.id, c.area, c.title, c.formula, c.threshold)
	}
	return b.String()
}
