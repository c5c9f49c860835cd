package rules

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestRuleDocs: each rule is described in full, in sentences.
func TestRuleDocs(t *testing.T) {
	for _, r := range All() {
		d := reflect.ValueOf(r.Doc())
		for i := range d.NumField() {
			if d.Field(i).Kind() != reflect.String {
				continue // it is data
			}
			name, text := d.Type().Field(i).Name, strings.TrimSpace(d.Field(i).String())
			if text == "" || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s is no sentence: %q", r.ID(), name, text)
			}
		}
		if s := r.Doc().Line(); s == "" || s[0] < 'a' || s[0] > 'z' {
			t.Errorf("%s: the summary continues a sentence: %q", r.ID(), s)
		}
	}
}

// TestRuleFiles: one rule a file, in the folder of its family, by its id.
func TestRuleFiles(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range All() {
		kind := reflect.TypeOf(r)
		id := strings.ToLower(strings.ReplaceAll(r.ID(), "-", ""))
		files, err := filepath.Glob(filepath.Join(filepath.Base(kind.PkgPath()), id+"_*.go"))
		if err != nil {
			t.Fatal(err)
		}
		declared := 0
		for _, file := range files {
			listed[file] = true
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			declared += strings.Count(string(text), "\ntype "+kind.Name()+" struct{}\n")
		}
		if declared != 1 {
			t.Errorf("%s: %d declarations of %s in %q", r.ID(), declared, kind.Name(), files)
		}
	}
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ") Doc() diagnose.Doc {") && !listed[file] {
			t.Errorf("%s has a rule that is not in All", file)
		}
	}
}

// TestIDs: ids are unique and every testdata directory belongs to one.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All() {
		if seen[r.ID()] {
			t.Errorf("%s twice", r.ID())
		}
		seen[r.ID()] = true
	}
	dirs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if d.IsDir() && d.Name() != "fuzz" && d.Name() != "rapid" && !seen[d.Name()] {
			t.Errorf("testdata/%s belongs to no rule", d.Name())
		}
	}
}
