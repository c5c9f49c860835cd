package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// object is a part of a schema.
type object = map[string]any

// typeName is what a type of an answer is named in docs/json.md and in the schema: unseenJSON is Unseen.
func typeName(x reflect.Type) string {
	r := []rune(strings.TrimSuffix(x.Name(), "JSON"))
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// isAny says that a value may be anything.
func isAny(x reflect.Type) bool {
	return x == reflect.TypeFor[json.RawMessage]() || x.Kind() == reflect.Interface
}

// A fieldPage is docs/json.md, whose tables are made from the types.
type fieldPage struct {
	text     string
	done     map[string]reflect.Type
	problems []string
}

func newFieldPage(text string) *fieldPage {
	return &fieldPage{text: text, done: map[string]reflect.Type{}}
}

// put writes the table of a type, and those of what it has.
func (p *fieldPage) put(x reflect.Type) {
	for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice || x.Kind() == reflect.Map {
		x = x.Elem()
	}
	if x.Kind() != reflect.Struct || x == reflect.TypeFor[time.Time]() || p.done[typeName(x)] == x {
		return
	}
	name := typeName(x)
	if p.done[name] != nil {
		p.problems = append(p.problems, fmt.Sprintf("%v and %v are both named %s", p.done[name], x, name))
		return
	}
	p.done[name] = x
	head, rest, ok := strings.Cut(p.text, "\n### "+name+"\n")
	if !ok {
		p.problems = append(p.problems, "docs/json.md has no section ### "+name)
		p.text += "\n### " + name + "\n" + tableHead
		head, rest, _ = strings.Cut(p.text, "\n### "+name+"\n")
	}
	section, more, _ := strings.Cut(rest, "\n##")
	if more != "" {
		more = "\n##" + more
	}
	p.text = head + "\n### " + name + "\n" + p.table(x, section) + more
	for f := range x.Fields() {
		if tag := f.Tag.Get("json"); tag != "-" && (f.IsExported() || f.Anonymous) && !isAny(f.Type) {
			p.put(f.Type)
		}
	}
}

// tableHead is how tables of fields begin.
const tableHead = "\n| field | type | meaning |\n|---|---|---|\n"

// table is the section with the rows of its table made anew.
func (p *fieldPage) table(x reflect.Type, section string) string {
	before, rest, ok := strings.Cut(section, tableHead)
	if !ok {
		p.problems = append(p.problems, "docs/json.md has no table of fields in ### "+typeName(x))
		return section
	}
	after := ""
	for i := 0; i < len(rest); {
		line, _, _ := strings.Cut(rest[i:], "\n")
		if !strings.HasPrefix(line, "|") {
			after = rest[i:]
			break
		}
		i += len(line) + 1
	}
	meaning := meanings(section)
	var rows strings.Builder
	p.rows(&rows, x, meaning)
	for f := range x.Fields() {
		if f.Anonymous && !strings.Contains(section, "(#"+strings.ToLower(typeName(f.Type))+")") {
			p.problems = append(p.problems, fmt.Sprintf("docs/json.md does not say that %s has the fields of %s", typeName(x), typeName(f.Type)))
		}
	}
	return before + tableHead + rows.String() + after
}

// rows writes a row for each field; those of structs embedded in it stand in their own section.
func (p *fieldPage) rows(w *strings.Builder, x reflect.Type, meaning map[string]string) {
	for f := range x.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		if _, ok := meaning[name]; !ok || name == "kind" && meaning[name] == "" {
			p.problems = append(p.problems, fmt.Sprintf("docs/json.md does not say what %s.%s means", typeName(x), name))
		}
		fmt.Fprintf(w, "| `%s` | %s | %s\n", name, typeWord(f.Type, strings.Contains(rest, "omit")), strings.TrimLeft(meaning[name]+" |", " "))
	}
}

// typeWord is the type of a field; one that may be left out is never null.
func typeWord(x reflect.Type, omit bool) string {
	switch {
	case x == reflect.TypeFor[time.Time]():
		return "time"
	case isAny(x):
		return "any"
	}
	switch x.Kind() {
	case reflect.Pointer:
		if omit {
			return typeWord(x.Elem(), false)
		}
		return typeWord(x.Elem(), false) + " or null"
	case reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", typeName(x), strings.ToLower(typeName(x)))
	case reflect.Slice, reflect.Array:
		return "list of " + typeWord(x.Elem(), false)
	case reflect.Map:
		return "object of " + typeWord(x.Elem(), false)
	case reflect.Bool:
		return "bool"
	case reflect.String:
		return "string"
	}
	return "number"
}

// row is a row of a table of docs/json.md: name, type, meaning.
var row = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| [^|]* \\| ?(.*?) ?\\|$")

// meanings are those of the fields of a section.
func meanings(section string) map[string]string {
	out := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// A drawing makes the schema of types: their fields are Go's, what they mean is docs/json.md's.
type drawing struct {
	page   string
	strict bool // a field that is not in it is a mistake: for tests, since fields may be added
	defs   object
}

// drawSchema returns the schema of all answers.
func drawSchema(t *testing.T, strict bool) object {
	t.Helper()
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	d := &drawing{page: string(page), strict: strict, defs: object{}}
	var roots []object
	for _, x := range answers {
		root := d.of(x)
		if slices.Contains(listed, x) {
			roots = append(roots, object{"type": "array", "items": root})
			continue
		}
		roots = append(roots, root)
		fields := d.defs[typeName(x)].(object)["properties"].(object)
		fields["lost_parts"] = object{"type": "array", "items": object{"type": "string"},
			"description": "parts of the answer that a bug of kasoku cost; absent when there are none"}
		kind := fields["kind"].(object)
		word := quoted.FindStringSubmatch(fmt.Sprint(kind["description"]))
		if word == nil {
			t.Fatalf("docs/json.md does not say the kind of %s", typeName(x))
		}
		fields["kind"] = object{"const": word[1]}
	}
	return object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "what kasoku writes with -o json",
		"$comment": "made from the Go types and docs/json.md by TestJSONSchema", "anyOf": roots, "$defs": d.defs}
}

// quoted is the first word in backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// of is the schema of a value.
func (d *drawing) of(x reflect.Type) object {
	switch {
	case x == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case isAny(x):
		return object{}
	}
	switch x.Kind() {
	case reflect.Pointer:
		return orNull(d.of(x.Elem()))
	case reflect.Struct:
		name := typeName(x)
		if d.defs[name] == nil {
			d.defs[name] = object{} // it may be a part of itself
			d.defs[name] = d.object(x)
		}
		return object{"$ref": "#/$defs/" + name}
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
	d.fields(x, out, &required)
	slices.Sort(required)
	def := object{"type": "object", "properties": out, "required": required}
	if d.strict {
		def["additionalProperties"] = false
	}
	return def
}

// fields adds the fields of a struct, and those of structs embedded in it.
func (d *drawing) fields(x reflect.Type, out object, required *[]string) {
	_, section, _ := strings.Cut(d.page, "\n### "+typeName(x)+"\n")
	section, _, _ = strings.Cut(section, "\n##")
	meaning := meanings(section)
	for f := range x.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.fields(f.Type, out, required)
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
