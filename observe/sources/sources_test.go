package sources_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/sources"
)

// TestDeclarations: each source says what it is, and each of its signals has a unit and
// is declared once under the name that it is recorded with.
func TestDeclarations(t *testing.T) {
	names, keys := map[string]bool{}, map[string]bool{}
	for _, d := range sources.All() {
		if d.Name == "" || names[d.Name] {
			t.Errorf("%q: without a name, or twice", d.Name)
		}
		names[d.Name] = true
		if d.Role == "" || d.Records == "" || d.Rights == "" || d.Lost == "" && d.Role != observe.RoleSelf {
			t.Errorf("%s: role, what is recorded, rights or what is lost is not said", d.Name)
		}
		for _, text := range []string{d.Records, d.From, d.Rights, d.Lost} {
			if strings.Contains(text, "  ") || strings.HasSuffix(text, ".") || strings.ContainsAny(text, "\n") {
				t.Errorf("%s: want one line without a full stop: %q", d.Name, text)
			}
		}
		drawn := false
		for _, s := range d.Signals {
			key := d.SourceName() + "\n" + s.Key
			if s.Key == "" || s.Unit == "" || keys[key] {
				t.Errorf("%s: %q: without a unit, or twice", d.Name, s.Key)
			}
			keys[key] = true
			drawn = drawn || s.Colour != ""
			if got, ok := sources.Signal(d.SourceName(), s.Key); !ok || got != s {
				t.Errorf("%s: %q is not found", d.Name, s.Key)
			}
		}
		if drawn != (d.Chart.Title != "") {
			t.Errorf("%s: a chart and signals with a colour go together", d.Name)
		}
	}
	if sources.Find("host") == nil || sources.Find("nothing") != nil {
		t.Error("Find does not find by name")
	}
}

// TestPages: docs/sources.md has what the declarations say, and the Japanese page a row
// for each source.
func TestPages(t *testing.T) {
	page := readPage(t, "../../docs/sources.md")
	japanese := readPage(t, "../../docs/ja/sources.md")
	for _, d := range sources.All() {
		if d.Role == observe.RoleLog {
			continue // part of reading the logs
		}
		if !strings.Contains(japanese, "`"+d.Name+"`") {
			t.Errorf("docs/ja/sources.md does not name %s", d.Name)
		}
		cells := []string{"`" + d.Name + "`", d.Records}
		if d.From != "" {
			cells = append(cells, d.From)
		}
		if row := "| " + strings.Join(append(cells, d.Rights), " | ") + " |\n"; !strings.Contains(page, row) {
			t.Errorf("docs/sources.md: want\n%s", row)
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
