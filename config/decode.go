package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// A field is one key of a table, as its struct tags have it.
type field struct {
	name    string
	option  string // path: a file name or several; shell: a plain string is a shell command
	example string
	value   reflect.Value
}

// fieldsOf returns the keys of a table in the order of the struct.
func fieldsOf(table reflect.Value) []field {
	var out []field
	for i := range table.NumField() {
		tag := table.Type().Field(i).Tag
		name, option, _ := strings.Cut(tag.Get("toml"), ",")
		if option == "servers" {
			for _, s := range table.Field(i).Interface().([]Server) {
				out = append(out, field{name: s.Source.Table, value: reflect.ValueOf(s.Table).Elem()})
			}
			continue
		}
		if name != "-" {
			out = append(out, field{name, option, tag.Get("eg"), table.Field(i)})
		}
	}
	return out
}

// A mistake is something wrong with the value at a path.
type mistake struct {
	path  []string
	text  string
	hint  string
	known []field // of an unknown key: those of its table
}

// key returns the path as people write it: finalize.units[1].name.
func (m mistake) key() string {
	var b strings.Builder
	for i, part := range m.path {
		if _, err := strconv.Atoi(part); err == nil && i > 0 {
			b.WriteString("[" + part + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// A decoder puts the values of a parsed document into structs and collects the
// mistakes.
type decoder struct{ mistakes []mistake }

func (d *decoder) fail(path []string, hint, format string, args ...any) {
	d.mistakes = append(d.mistakes, mistake{path: slices.Clone(path), text: fmt.Sprintf(format, args...), hint: hint})
}

// table fills the struct from the table.
func (d *decoder) table(into reflect.Value, from map[string]any, path []string) {
	fields := fieldsOf(into)
	for _, key := range slices.Sorted(maps.Keys(from)) {
		at := append(slices.Clone(path), key)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			d.mistakes = append(d.mistakes, mistake{path: at, text: "no such key", known: fields})
			continue
		}
		d.value(fields[i], from[key], at)
	}
}

// hintOf returns what to do about a mistake. What was likely meant by an unknown key, also
// in another table, is looked for only now: a file may have thousands of them, and one
// mistake is reported.
func (m mistake) hintOf() string {
	if m.known == nil {
		return m.hint
	}
	names := make([]string, len(m.known))
	for i, f := range m.known {
		names[i] = f.name
	}
	key := m.path[len(m.path)-1]
	hint := "the keys here are " + strings.Join(names, ", ")
	if near, ok := unit.Nearest(key, names); ok {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	} else if places := placesOf(key); len(places) > 0 {
		hint = fmt.Sprintf("%q belongs to %s; %s", key, strings.Join(places, " or "), hint)
	}
	return hint
}

// placesOf returns the tables that have the key.
func placesOf(key string) []string {
	var out []string
	all := Default()
	for _, top := range fieldsOf(reflect.ValueOf(&all).Elem()) {
		if top.name == key {
			out = append(out, "the top of the file, above all [tables]")
		}
		if top.value.Kind() != reflect.Struct {
			continue
		}
		for _, f := range fieldsOf(top.value) {
			if f.name == key {
				out = append(out, "["+top.name+"]")
			}
		}
	}
	return out
}

// value puts one value into its field.
func (d *decoder) value(f field, v any, path []string) {
	var want string
	ok := false
	switch to := f.value.Addr().Interface().(type) {
	case *string:
		want = "text in quotes"
		*to, ok = v.(string)
	case *bool:
		want = "true or false"
		*to, ok = v.(bool)
	case **bool:
		want = "true or false"
		var b bool
		b, ok = v.(bool)
		*to = &b
	case *int:
		want = "a whole number"
		*to, ok = whole(v)
	case *float64:
		want = "a number"
		*to, ok = number(v)
	case *time.Duration:
		d.duration(to, f, v, path)
		return
	case **time.Duration:
		*to = new(time.Duration)
		d.duration(*to, f, v, path)
		return
	case *[]string:
		want = "a list of texts"
		*to, ok = texts(v, f.option == "shell")
	case *[]int:
		want = "a list of whole numbers"
		*to, ok = list(v, whole)
	case *[]float64:
		want = "a list of numbers"
		*to, ok = list(v, number)
	case *map[string]string:
		d.settings(to, f, v, path)
		return
	default:
		d.nested(f.value, v, path)
		return
	}
	if !ok {
		d.wrong(f, want, v, path)
	}
}

// wrong describes what was expected.
func (d *decoder) wrong(f field, want string, v any, path []string) {
	d.fail(path, "such as "+f.name+" = "+f.example, "want %s, not %s", want, describe(v))
}

func (d *decoder) duration(to *time.Duration, f field, v any, path []string) {
	text, ok := v.(string)
	if !ok {
		d.wrong(f, "a duration in quotes", v, path)
		return
	}
	var err error
	if *to, err = unit.ParseDuration(text); err != nil {
		d.fail(path, "such as "+f.name+" = "+f.example, "%v", err)
	}
}

// settings takes plain values and flattens tables: pool.max_idle = 100.
func (d *decoder) settings(to *map[string]string, f field, v any, path []string) {
	from, ok := v.(map[string]any)
	if !ok {
		d.wrong(f, "a table", v, path)
		return
	}
	*to = map[string]string{}
	d.flatten(*to, f, from, path)
}

func (d *decoder) flatten(to map[string]string, f field, from map[string]any, path []string) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		at := append(slices.Clone(path), key)
		name := strings.Join(at[1:], ".")
		if _, ok := to[name]; ok {
			d.fail(at, "", "is there twice, with and without quotes")
		}
		switch v := from[key].(type) {
		case map[string]any:
			d.flatten(to, f, v, at)
		case string:
			to[name] = v
		case bool, int64, float64:
			to[name] = fmt.Sprint(v)
		default:
			d.wrong(f, "a text, a number, true or false", v, at)
		}
	}
}

// nested fills a table or a list of tables.
func (d *decoder) nested(into reflect.Value, v any, path []string) {
	if into.Kind() == reflect.Struct {
		from, ok := v.(map[string]any)
		if !ok {
			d.fail(path, "write it as a table: ["+strings.Join(path, ".")+"]", "want a table, not %s", describe(v))
			return
		}
		d.table(into, from, path)
		return
	}
	all, ok := list(v, func(v any) (map[string]any, bool) { m, ok := v.(map[string]any); return m, ok })
	if !ok {
		d.fail(path, "write each as a table: [["+strings.Join(path, ".")+"]]", "want a list of tables, not %s", describe(v))
		return
	}
	for i, from := range all {
		element := reflect.New(into.Type().Elem()).Elem()
		d.table(element, from, append(slices.Clone(path), strconv.Itoa(i)))
		into.Set(reflect.Append(into, element))
	}
}

// texts takes a list, or one text alone; in a shell field that is a command line.
func texts(v any, shell bool) ([]string, bool) {
	one, ok := v.(string)
	switch {
	case !ok:
		return list(v, func(v any) (string, bool) { s, ok := v.(string); return s, ok })
	case shell && strings.TrimSpace(one) == "":
		return []string{one}, true // refused later, as empty
	case shell:
		return []string{"sh", "-c", one}, true
	}
	return []string{one}, true
}

// list takes a list whose elements are all of one kind.
func list[T any](v any, one func(any) (T, bool)) ([]T, bool) {
	if tables, ok := v.([]map[string]any); ok {
		all := make([]any, len(tables))
		for i := range tables {
			all[i] = tables[i]
		}
		v = all
	}
	all, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]T, 0, len(all))
	for _, v := range all {
		t, ok := one(v)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func whole(v any) (int, bool) {
	n, ok := v.(int64)
	return int(n), ok && int64(int(n)) == n
}

// describe names the kind of a TOML value.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return fmt.Sprint(v)
	case []any, []map[string]any:
		return "a list with something else in it"
	case map[string]any:
		return "a table"
	}
	return "a date"
}
