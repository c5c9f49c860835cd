package kasoku_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// TestBoundedServers: a server that need not be honest is opened by OpenBounded. OpenDSN
// is for the servers that kasoku itself started.
func TestBoundedServers(t *testing.T) {
	own := []string{"sandbox/", "labs/", "bench/", "mysqlflags/", "cmd/kasoku/internal/labcmd/autopilot_lab.go"}
	seen := 0
	for _, f := range theTree(t).files {
		b, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if f.test || !bytes.Contains(b, []byte("mysqlflags.OpenDSN(")) {
			continue
		}
		seen++
		if !slices.ContainsFunc(own, func(dir string) bool { return strings.HasPrefix(f.path, dir) }) {
			t.Errorf("%s opens a server whose answers have no bound: use mysqlflags.OpenBounded", f.path)
		}
	}
	if seen == 0 {
		t.Fatal("no call was found: nothing was checked")
	}
}
