package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/words"
)

// notOurs are strings with words of others, by file: names that a program we replace has
// given, and that its users' dashboards know.
var notOurs = map[string]string{
	"MySQL Replication Behind Master": "cmd/mackerel-plugin-mysql-lite/main.go",
	"Behind":                          "cmd/mackerel-plugin-mysql-lite/main.go",
	"Seconds_Behind_Master - Seconds Behind Master": "cmd/mackerel-plugin-mysql/graphs.go",
}

// TestWords: the words that CONTRIBUTING.md lists as not used are in no comment, no
// name, no message and no page.
func TestWords(t *testing.T) {
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := words.Read(string(contributing))
	if err != nil {
		t.Fatal(err)
	}
	files, faults := 0, 0
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || base == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		for _, f := range unusedWords(list, name, string(text)) {
			faults++
			t.Error(f)
		}
		return nil
	})
	if err != nil || files < 1000 {
		t.Fatalf("%d files read: %v", files, err)
	}
	if faults > 0 {
		t.Log("CONTRIBUTING.md, Words, has what to write instead")
	}
}

// unusedWords returns where a file has words that are not used. CONTRIBUTING.md lists
// them; the strings of tests may be anything.
func unusedWords(list *words.List, name, text string) (out []string) {
	if name == "CONTRIBUTING.md" || !list.MayHave(text) {
		return nil
	}
	if path.Ext(name) == ".md" {
		for i, line := range strings.Split(text, "\n") {
			for _, w := range list.Find(line) {
				out = append(out, fmt.Sprintf("%s:%d: %q", name, i+1, w))
			}
		}
		return out
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	add := func(at token.Pos, found []string) {
		for _, w := range found {
			out = append(out, fmt.Sprintf("%s: %q", set.Position(at), w))
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			add(c.Pos(), list.Find(c.Text))
		}
	}
	test := strings.HasSuffix(name, "_test.go")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			add(n.Pos(), list.FindIdentifier(n.Name))
		case *ast.BasicLit:
			if n.Kind == token.STRING && !test {
				s, err := strconv.Unquote(n.Value)
				if err == nil && !isOthers(s, name) {
					add(n.Pos(), list.Find(s))
				}
			}
		}
		return true
	})
	return out
}

// isOthers reports whether a string, or a line of it, has words of others in that file.
func isOthers(s, name string) bool {
	for text, file := range notOurs {
		if file == name && strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// TestWords_Find: what is found, so that the test above cannot pass for want of a list.
func TestWords_Find(t *testing.T) {
	list, err := words.Read("| not used | but |\n|---|---|\n| tell, besides | print |\n| サーバ、メモリー | サーバー、メモリ |\n\ntell\n")
	if err != nil {
		t.Fatal(err)
	}
	f := func(text, want string) {
		t.Helper()
		if got := strings.Join(list.Find(text), " "); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	f("Tell me, a fortune-teller; besides, a tell.", "Tell besides tell")
	f("intelligent", "")
	f("lag-tell-master and Seconds_Tell_Master are names", "")
	f("サーバとサーバー、メモリーとメモリ", "サーバ メモリー")
	if got := strings.Join(list.FindIdentifier("TestTellOnce"), " "); got != "Tell" {
		t.Errorf("TestTellOnce: found %q", got)
	}
	if list.MayHave("nothing of it") || !list.MayHave("xTELLx") || !list.MayHave("サーバー") {
		t.Error("MayHave is wrong")
	}
	if _, err := words.Read("no table"); err == nil {
		t.Error("a text without a table is read")
	}
	const source = "package p\n\n// besides this\nfunc tell() string { return \"besides\" }\n"
	if got := len(unusedWords(list, "p.go", source)); got != 3 {
		t.Errorf("%d words in a source that has 3", got)
	}
	if got := len(unusedWords(list, "p_test.go", source)); got != 2 {
		t.Errorf("%d words in a test, whose strings may be anything, want 2", got)
	}
}
