package kasoku_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestSecurityPage: the tests that the threat model rests on are there, and its
// Japanese twin names the same.
func TestSecurityPage(t *testing.T) {
	named := regexp.MustCompile("`([a-z/.]+)`\\s+(Test\\w+)")
	var pages [][]string
	for _, path := range []string{"docs/security.md", "docs/ja/security.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range named.FindAllSubmatch(page, -1) {
			names = append(names, string(m[1])+" "+string(m[2]))
			if !declares(t, string(m[1]), string(m[2])) {
				t.Errorf("%s: there is no %s in %s", path, m[2], m[1])
			}
		}
		pages = append(pages, names)
	}
	if len(pages[0]) < 20 || !slices.Equal(pages[0], pages[1]) {
		t.Errorf("the pages name\n%v\n%v", pages[0], pages[1])
	}
}

// declares reports whether a directory's tests have one of this name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(b) {
			return true
		}
	}
	return false
}
