package config

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kasoku/kasoku/internal/test/golden"
)

// object is a part of a schema.
type object = map[string]any

// TestSchema: the schema has every key, its type and its meaning.
func TestSchema(t *testing.T) {
	page, err := os.ReadFile("../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	meaning := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		meaning[m[1]] = m[5]
	}
	standard := Default()
	root := schemaOf(reflect.ValueOf(&standard).Elem(), "", meaning)
	root["$schema"], root["title"] = "http://json-schema.org/draft-07/schema#", Name
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "schema.json", b.Bytes())
}

// schemaOf is that of a table.
func schemaOf(table reflect.Value, path string, meaning map[string]string) object {
	keys := object{}
	for _, at := range fieldsOf(table) {
		switch {
		case at.example != "":
			k := typeOf(at)
			k["description"] = meaning[path+at.name]
			if words := wordsOf(path + at.name); words != nil {
				addWords(k, words)
			}
			keys[at.name] = k
		case at.value.Kind() == reflect.Struct:
			keys[at.name] = schemaOf(at.value, path+at.name+".", meaning)
		default:
			of := reflect.New(at.value.Type().Elem()).Elem()
			keys[at.name] = object{"type": "array", "items": schemaOf(of, path+at.name+"[].", meaning)}
		}
	}
	return object{"type": "object", "properties": keys, "additionalProperties": false}
}

// typeOf is that of a key, by the words of docs/config.md.
func typeOf(f field) object {
	text := object{"type": "string"}
	switch kindName(f) {
	case "true or false":
		return object{"type": "boolean"}
	case "number":
		return object{"type": "number"}
	case "whole number":
		return object{"type": "integer"}
	case "table":
		return object{"type": "object"}
	case "duration":
		return object{"type": "string", "examples": []string{strings.Trim(f.example, "'")}}
	case "list of numbers":
		number := "number"
		if f.value.Type().Elem().Kind() == reflect.Int {
			number = "integer"
		}
		return object{"type": "array", "items": object{"type": number}}
	case "list of text", "list of paths", "text or list of text":
		return object{"type": []string{"array", "string"}, "items": text}
	}
	return text
}

// wordsOf are the words that a key takes, nil where it takes others.
func wordsOf(key string) []string {
	switch key {
	case "load.engine":
		return Engines()
	case "load.pacing":
		return Pacings()
	case "sources.off":
		return SourceNames()
	}
	return nil
}

func addWords(k object, words []string) {
	if items, is := k["items"].(object); is {
		items["enum"] = words
		return
	}
	k["enum"] = words
}

// TestSchema_Holds: what the program accepts the schema accepts, and what it refuses for its
// keys and types the schema refuses.
func TestSchema_Holds(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(Name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(Name)
	if err != nil {
		t.Fatal(err)
	}
	f := func(text string, good bool) {
		t.Helper()
		doc, err := parseTOML(text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != good {
			t.Errorf("%s: the schema says %v", text, err)
		}
		if _, err := Parse([]byte(text), Name); (err == nil) != good {
			t.Errorf("%s: the program says %v", text, err)
		}
	}
	page, err := os.ReadFile("../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(page), "```toml\n") {
		if text, _, ok := strings.Cut(block, "```"); ok && !strings.HasPrefix(text, "#") {
			f(text, true)
		}
	}
	f("project = 'shop'\nload.command = ['a', 'b']\nsettings = { pool.max_idle = 100 }", true)
	f("load.targets = ['GET http://127.0.0.1/']\nload.steps = [10, 20.5]\nload.engine = 'nethttp'", true)
	f("load.targets = ['GET http://127.0.0.1/']\nload.steps = 10", false)
	f("projct = 'shop'", false)
	f("load.engine = 'curl'\nload.targets = ['GET http://127.0.0.1/']\nload.steps = [10]", false)
	f("load.steps = 'many'", false)
	f("mysql.slow_log = 'yes'", false)
	f("sources.off = ['sockets', 'nothing']", false)
	f("[[finalize.units]]\nname = 'app'\nbegin = 'x'", false)
	f("watch.pids = [1.5]", false)
}
