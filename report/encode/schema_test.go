package encode

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kasoku/kasoku/internal/test/golden"
)

// answers are the types of what -o json writes, one for each kind.
var answers = []reflect.Type{
	reflect.TypeFor[Run](), reflect.TypeFor[Part](), reflect.TypeFor[Parts](), reflect.TypeFor[Comparison](),
	reflect.TypeFor[AccessLog](), reflect.TypeFor[AccessDiff](),
	reflect.TypeFor[Attack](), reflect.TypeFor[Carbon](), reflect.TypeFor[SlowLog](), reflect.TypeFor[SlowDiff](),
	reflect.TypeFor[Plans](), reflect.TypeFor[DigestFile](), reflect.TypeFor[Probe](),
	reflect.TypeFor[ProfilesTaken](), reflect.TypeFor[List](),
}

// object is a part of a schema.
type object = map[string]any

// A drawing makes the schema of types: their fields are Go's, what they mean is docs/json.md's.
type drawing struct {
	page   string
	strict bool // a field that is not in it is a mistake: for tests, since fields may be added
	defs   object
}

// draw returns the schema of all answers.
func draw(t *testing.T, strict bool) object {
	t.Helper()
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	d := &drawing{page: string(page), strict: strict, defs: object{}}
	var roots []object
	for _, x := range answers {
		roots = append(roots, d.of(x))
		def := d.defs[x.Name()].(object)
		fields := def["properties"].(object)
		fields["lost_parts"] = object{"type": "array", "items": object{"type": "string"},
			"description": "parts of the answer that a bug of kasoku cost; absent when there are none"}
		kind := fields["kind"].(object)
		word := quoted.FindStringSubmatch(kind["description"].(string))
		if word == nil {
			t.Fatalf("docs/json.md does not say the kind of %s", x.Name())
		}
		fields["kind"] = object{"const": word[1]}
	}
	return object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "what kasoku writes with -o json",
		"$comment": "made from the Go types and docs/json.md by TestSchema", "anyOf": roots, "$defs": d.defs}
}

// quoted is the first word in backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// of is the schema of a value.
func (d *drawing) of(x reflect.Type) object {
	switch {
	case x == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case x == reflect.TypeFor[json.RawMessage](), x.Kind() == reflect.Interface:
		return object{}
	}
	switch x.Kind() {
	case reflect.Pointer:
		return orNull(d.of(x.Elem()))
	case reflect.Struct:
		if d.defs[x.Name()] == nil {
			d.defs[x.Name()] = object{} // it may be a part of itself
			d.defs[x.Name()] = d.object(x)
		}
		return object{"$ref": "#/$defs/" + x.Name()}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": d.of(x.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.of(x.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// orNull is the schema of a value that may be missing.
func orNull(of object) object {
	if name, ok := of["type"].(string); ok && len(of) == 1 {
		return object{"type": []string{name, "null"}}
	}
	return object{"anyOf": []object{of, {"type": "null"}}}
}

// object is the schema of a struct.
func (d *drawing) object(x reflect.Type) object {
	out, required := object{}, []string{}
	d.fields(x, d.meanings(x.Name()), out, &required)
	slices.Sort(required)
	def := object{"type": "object", "properties": out, "required": required}
	if d.strict {
		def["additionalProperties"] = false
	}
	return def
}

// fields adds the fields of a struct, and those of structs embedded in it.
func (d *drawing) fields(x reflect.Type, meaning map[string]string, out object, required *[]string) {
	for f := range x.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.fields(f.Type, d.meanings(f.Type.Name()), out, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		of := d.of(f.Type)
		if strings.Contains(rest, "omit") {
			if f.Type.Kind() == reflect.Pointer {
				of = d.of(f.Type.Elem())
			}
		} else {
			*required = append(*required, name)
		}
		if text := meaning[name]; text != "" {
			of["description"] = text
		}
		out[name] = of
	}
}

// row is a row of a table of docs/json.md: name, type, meaning.
var row = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| [^|]* \\| ?(.*?) ?\\|$")

// meanings are those of the fields of an object, by its section of docs/json.md.
func (d *drawing) meanings(name string) map[string]string {
	_, section, _ := strings.Cut(d.page, "\n### "+name+"\n")
	section, _, _ = strings.Cut(section, "\n##")
	out := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// TestSchema: the schema is that of the types.
func TestSchema(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(draw(t, false)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "schema.json", b.Bytes())
}

// TestSchema_Outputs: what is really written is as the schema says, and has no other field.
func TestSchema_Outputs(t *testing.T) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(draw(t, true)); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&text)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("kasoku.json", doc); err != nil {
		t.Fatal(err)
	}
	byKind := map[string]*jsonschema.Schema{}
	for _, x := range answers {
		s, err := c.Compile("kasoku.json#/$defs/" + x.Name())
		if err != nil {
			t.Fatal(err)
		}
		field := doc.(object)["$defs"].(object)[x.Name()].(object)["properties"].(object)["kind"].(object)
		byKind[field["const"].(string)] = s
	}
	files, err := filepath.Glob("testdata/*.json.golden")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, path := range append(files, "../terminal/testdata/slowlog.json.golden") {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		kind, _ := out.(object)["kind"].(string)
		if byKind[kind] == nil {
			t.Errorf("%s: kind %q has no schema", path, kind)
			continue
		}
		seen[kind] = true
		if err := byKind[kind].Validate(out); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		out.(object)["not_a_field"] = true
		if byKind[kind].Validate(out) == nil {
			t.Errorf("%s: a field that is none is taken", path)
		}
	}
	for _, kind := range []string{"run", "compare", "attack", "slowlog"} {
		if !seen[kind] {
			t.Errorf("no output of kind %q was held to its schema", kind)
		}
	}
}
