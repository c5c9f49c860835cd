package kasoku

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestByWeight(t *testing.T) {
	in := []Warning{{Code: "one-run", Text: "a"},
		{Code: "profile", Text: "b", Hint: "run as root, or as the user of the service"},
		{Code: "mysql-partial", Text: "c"}, {Code: "log-lacks", Text: "d"}, {Code: "late-generator", Text: "e"},
		{Code: "not-restored", Text: "f"},
		{Code: "log-lacks", Text: "d"}, {Code: "log-lacks", Text: "d", Host: "other"}}
	var got []string
	for _, w := range ByWeight(in) {
		got = append(got, w.Text)
	}
	if want := []string{"f", "e", "d", "d", "c", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if ByWeight(nil) != nil {
		t.Error("warnings of none")
	}
}

func TestWarning_Same(t *testing.T) {
	a := Warning{Code: "not-captured", Text: "pid 5056 calls itself nginx: 1,204.5 ms"}
	for _, x := range []struct {
		b    Warning
		same bool
	}{
		{Warning{Code: "not-captured", Text: "pid 7 calls itself nginx: 3 ms"}, true},
		{Warning{Code: "not-captured", Text: "pid 7 calls itself mysqld: 3 ms"}, false},
		{Warning{Code: "profile", Text: a.Text}, false},
		{Warning{Host: "b", Code: a.Code, Text: a.Text}, false},
	} {
		if a.Same(x.b) != x.same {
			t.Errorf("%+v: same %v", x.b, !x.same)
		}
	}
}

// TestWeights: each code that has a weight is one that something writes.
func TestWeights(t *testing.T) {
	left := map[string]bool{}
	for code := range weights {
		left[code] = true
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), path == "warned.go":
			return nil
		}
		text, err := os.ReadFile(path)
		for code := range left {
			if bytes.Contains(text, []byte(`"`+code+`"`)) {
				delete(left, code)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("no warning has these codes: %v", left)
	}
}
