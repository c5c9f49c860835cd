package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A row of docs/config.md has key, type, default, example and meaning.
var row = regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+)` \\| ([^|]+) \\| ([^|]+) \\| `(.+)` \\| (.+) \\|$")

// documented is what docs/config.md says of a key.
type documented struct{ kind, standard, example string }

// TestDocs: the page has every key, with a type, a default and an example that hold.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]documented{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		described[m[1]] = documented{m[2], m[3], m[4]}
	}
	standard := Default()
	visit(reflect.ValueOf(&standard).Elem(), "", func(key string, f field) {
		doc, ok := described[key]
		if !ok {
			t.Errorf("docs/config.md has no row for `%s`", key)
			return
		}
		delete(described, key)
		if want := kindName(f); doc.kind != want {
			t.Errorf("`%s`: type %q, want %q", key, doc.kind, want)
		}
		text, quoted := strings.CutPrefix(doc.standard, "`")
		if quoted {
			holds(t, key, f, strings.TrimSuffix(text, "`"))
		} else if !f.value.IsZero() {
			t.Errorf("`%s`: default %q, and it is %v", key, doc.standard, f.value)
		}
		if _, mistakes := try(f, doc.example); len(mistakes) > 0 {
			t.Errorf("`%s`: example %s: %s", key, doc.example, mistakes[0].text)
		}
	})
	for key := range described {
		t.Errorf("docs/config.md describes `%s`, which does not exist", key)
	}
	for block := range strings.SplitSeq(string(page), "```toml\n") {
		if doc, _, ok := strings.Cut(block, "```"); ok && !strings.HasPrefix(doc, "#") {
			if _, err := Parse([]byte(doc), "docs/config.md"); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDocs_Japanese: the Japanese page has the same keys in the same order, with the same
// examples, defaults and files.
func TestDocs_Japanese(t *testing.T) {
	var pages [2]string
	for i, path := range []string{"../docs/config.md", "../docs/ja/config.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, m := range row.FindAllStringSubmatch(string(page), -1) {
			if !strings.HasPrefix(m[3], "`") {
				m[3] = "" // words
			}
			lines = append(lines, m[1]+" | "+m[3]+" | "+m[4])
		}
		for n, block := range strings.Split(string(page), "```") {
			if n%2 == 1 {
				lines = append(lines, block)
			}
		}
		pages[i] = strings.Join(lines, "\n")
	}
	if pages[0] != pages[1] {
		t.Errorf("English:\n%s\n\nJapanese:\n%s", pages[0], pages[1])
	}
}

// visit calls f for every key that holds a value.
func visit(table reflect.Value, path string, f func(key string, at field)) {
	for _, at := range fieldsOf(table) {
		switch {
		case at.example != "":
			f(path+at.name, at)
		case at.value.Kind() == reflect.Struct:
			visit(at.value, path+at.name+".", f)
		default:
			visit(reflect.New(at.value.Type().Elem()).Elem(), path+at.name+"[].", f)
		}
	}
}

// kindName is how the page calls the type of a key.
func kindName(f field) string {
	switch f.value.Interface().(type) {
	case time.Duration, *time.Duration:
		return "duration"
	case bool, *bool:
		return "true or false"
	case float64:
		return "number"
	case int:
		return "whole number"
	case map[string]string:
		return "table"
	case string:
		if f.option == "path" {
			return "path"
		}
		return "text"
	case []string:
		switch f.option {
		case "path":
			return "list of paths"
		case "shell":
			return "text or list of text"
		}
		return "list of text"
	}
	return "list of numbers"
}

// try decodes a value as the key's.
func try(f field, value string) (got reflect.Value, mistakes []mistake) {
	f.value = reflect.New(f.value.Type()).Elem()
	doc, err := parseTOML("x = " + value)
	if err != nil {
		return f.value, []mistake{{text: err.Error()}}
	}
	d := &decoder{}
	d.value(f, doc["x"], []string{"x"})
	return f.value, d.mistakes
}

// holds fails unless the value is that of the key.
func holds(t *testing.T, key string, f field, value string) {
	t.Helper()
	got, mistakes := try(f, value)
	if len(mistakes) > 0 || !reflect.DeepEqual(got.Interface(), f.value.Interface()) {
		t.Errorf("`%s`: default %s: %v, want %v; %v", key, value, got, f.value, mistakes)
	}
}
