package diagnose

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// ofLabs are words that only a service of labs/ has: its name, table, columns,
// path, schema, ports and figures of its story.
var ofLabs = regexp.MustCompile(`(?i)userapi|\busers?\b|/users|ユーザー|\bmail\b|mail-|\blabs?\b|\bledger\b|\bentries\b|transfers|\b(4150|8080|3306|3307|13306)\b|151[^0-9]`)

// allowed are parts of lines in which such a word means something else.
var allowed = []string{"cpu.user", "cmd.User", "command.User", `"user"`, "user agent", "user time", "seconds of user", "CREATE USER", "DROP USER"}

// TestNoNamesOfLabs: what is diagnosed must not depend on who is diagnosed.
func TestNoNamesOfLabs(t *testing.T) {
	files := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (name == "settings" || name == "probe") {
			return fs.SkipDir // they read a server's own tables, and its protocol
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			rest := line
			for _, a := range allowed {
				rest = strings.ReplaceAll(rest, a, "")
			}
			if word := ofLabs.FindString(rest); word != "" {
				t.Errorf("%s:%d: %q of a lab: %s", name, n, word, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files, %v", files, err)
	}
}
