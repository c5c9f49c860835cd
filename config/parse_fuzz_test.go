package config

import (
	"errors"
	"testing"

	"github.com/BurntSushi/toml"
)

func parseTOML(doc string) (map[string]any, error) {
	m := map[string]any{}
	err := toml.Unmarshal([]byte(doc), &m)
	return m, err
}

// FuzzParse: no panic; an error has no result and a line within the file; what
// is accepted is valid.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{
		"", "project = 'x'\n[load]\nfor = '5s'\n", "[[finalize.units]]\nname='a'\n[[finalize.units]]\nname=\"b\\\"\"\nneeds=['a']",
		"[settings]\na.b = 1\n'a.b' = 2", "x = '''\n'''\n\"a\\u00e9\" = 1", "[load]\nsteps = [\n1, # a\n2]\n", "load = { for = '1s', score = { json = 'a' } }",
		"[ load . score ]\njson = \"\"\"a\\\n\"\"\"\"\"\n", "[mysql]\r\ndsn = 'x'\r\n",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := Parse(doc, Name)
		if err == nil {
			if again := c.Validate(); again != nil {
				t.Errorf("accepted, yet %v", again)
			}
			return
		}
		var e *Error
		if c != nil || !errors.As(err, &e) || e.Text == "" {
			t.Errorf("%v, %v", c, err)
		}
	})
}

// FuzzIndexLines: each key of an accepted document is found on a line of it.
func FuzzIndexLines(f *testing.F) {
	f.Add("a = 1\nb.c = [\n1]\n'd' = 2\n")
	f.Add("[t]\nx = \"\"\"\n\"\"\"\n[[u]]\n\n[[u]]\ny = { z = 1 }\n")
	f.Add("\"a\" = '[' # ]\nb = \"\\\"\"\n")
	f.Fuzz(func(t *testing.T, doc string) {
		md, err := toml.Decode(doc, &map[string]any{})
		if err != nil {
			return
		}
		index := indexLines(doc)
		lines := 1
		for _, c := range doc {
			if c == '\n' {
				lines++
			}
		}
		for _, line := range index {
			if line < 1 || line > lines {
				t.Errorf("%q: line %d of %d", doc, line, lines)
			}
		}
		for _, key := range md.Keys() {
			if index.find(key[:1]) == 0 {
				t.Errorf("%q: %q is not found", doc, key)
			}
		}
	})
}
