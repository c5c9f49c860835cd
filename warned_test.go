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

// TestWarning_SameNames: digits of names are names, those of amounts are none.
func TestWarning_SameNames(t *testing.T) {
	f := func(a, b string, same bool) {
		t.Helper()
		if (Warning{Text: a}).Same(Warning{Text: b}) != same {
			t.Errorf("%q, %q: same %v", a, b, !same)
		}
	}
	f("shop1.log is not there", "shop2.log is not there", false)
	f("/etc/app/7/app.conf: denied", "/etc/app/8/app.conf: denied", false)
	f("10.0.0.1 is full", "10.0.0.2 is full", false)
	f("listen 127.0.0.1:8080", "listen 127.0.0.1:8081", false)
	f("::1 is silent", "::2 is silent", false)
	f("step 1: refused", "step 5: refused", false)
	f("port 3306 is silent", "port 3307 is silent", false)
	f("belongs to uid 61001: not read", "belongs to uid 61002: not read", false)
	f("late by 12.3 ms (4 of 1,000 requests)", "late by 1,204 ms (17 of 999 requests)", true)
	f("3 %, 12.5%, ×2.5 of it.", "4 %, 1.5%, ×3 of it.", true)
	f("pid 12: gone", "pid 7: gone", true)
	f("4 files", "four files", false)
}

// TestSeen: within one command the very warning alone is the same, against the run before one
// with other amounts too.
func TestSeen(t *testing.T) {
	a := Warning{Code: "late-generator", Text: "late: 12 ms", Hint: "slower"}
	b := Warning{Code: "late-generator", Text: "late: 34 ms", Hint: "slower"}
	hint := a
	hint.Hint = "another"
	for _, x := range []struct {
		seen         Seen
		w            Warning
		printed, has bool
	}{
		{Seen{Now: []Warning{a}}, a, true, true},
		{Seen{Now: []Warning{a}}, b, false, false},
		{Seen{Now: []Warning{a}}, hint, false, false},
		{Seen{Before: []Warning{a}}, a, false, true},
		{Seen{Before: []Warning{a}}, b, false, true},
		{Seen{}, a, false, false},
	} {
		if x.seen.Printed(x.w) != x.printed || x.seen.Has(x.w) != x.has {
			t.Errorf("%+v: %+v: printed %v, has %v", x.seen, x.w, x.seen.Printed(x.w), x.seen.Has(x.w))
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
