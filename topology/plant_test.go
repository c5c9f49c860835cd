package topology

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// plant writes a tree from a txtar file. NAME@ becomes a symbolic link, and a
// cmdline has one argument a line.
func plant(t testing.TB, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := string(f.Data)
		name, isLink := strings.CutSuffix(path, "@")
		switch {
		case isLink:
			err = os.Symlink(strings.TrimSpace(text), name)
		case filepath.Base(path) == "cmdline":
			err = os.WriteFile(path, []byte(strings.ReplaceAll(text, "\n", "\x00")), 0o644)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}
