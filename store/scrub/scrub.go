// Package scrub takes out of the texts of a run file what must not be mailed: secrets, and
// what looks like a person's data. Names and shapes that a reader needs stay.
//
// Its functions are pure, and safe for concurrent use. Start at [Text].
package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/secret"
)

// ID returns an id as it is, which is one word; else its [Text].
func ID(s string) string {
	if isField(strings.NewReplacer("-", "_", ".", "_", ":", "_").Replace(s)) {
		return s
	}
	return Text(s)
}

// Text returns a text without secrets and without what looks like a person's data.
func Text(s string) string {
	return string(appendWithoutPersons(nil, secret.Append(nil, []byte(s))))
}

// MapJSON returns a text with change made on it or, where it is a JSON array or object, the texts and keys in
// it, so that it can still be read.
func MapJSON(text string, change func(string) string) string {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		if text == "null" {
			return text
		}
		return change(text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // counts of 64 bits
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return change(text)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	changed := false
	v = mapValue(v, func(s string) string {
		safe := change(s)
		changed = changed || safe != s
		return safe
	})
	if !changed {
		return text // in the order in which it was written
	}
	if err := e.Encode(v); err != nil {
		return change(text)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func mapValue(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapValue(v[i], change)
		}
	case map[string]any:
		return mapKeys(v, change)
	}
	return v
}

// isField reports whether a key may be the name of a field, which a reader looks for.
func isField(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// mapKeys changes an object. Counts whose keys become the same are added up.
func mapKeys(m map[string]any, change func(string) string) any {
	out := make(map[string]any, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		safe := key
		if !isField(key) {
			safe = change(key)
		}
		value := mapValue(m[key], change)
		if before, ok := out[safe].(json.Number); ok {
			if now, ok := value.(json.Number); ok {
				a, _ := before.Int64()
				b, _ := now.Int64()
				value = json.Number(fmt.Sprint(a + b))
			}
		}
		out[safe] = value
	}
	return out
}

// Args takes the arguments of a command as a JSON array, and keeps of them the program, the
// names of flags and plain numbers. It is empty for what is no such array.
func Args(text string) string {
	var args []string
	if json.Unmarshal([]byte(text), &args) != nil {
		return ""
	}
	changed := false
	for i, safe := range secret.MaskArgs(args) {
		name, _, valued := strings.Cut(safe, "=")
		switch {
		case i == 0:
			safe = Text(safe)
		case isNumber(safe), strings.HasPrefix(safe, "--") && isField(strings.ReplaceAll(name[2:], "-", "_")):
			if valued {
				safe = name + "=" + secret.Masked
			}
		case safe == "--", len(safe) > 1 && safe[0] == '-' && isField(safe[1:2]):
			if safe != "--" && len(safe) > 2 {
				safe = safe[:2] + secret.Masked
			}
		default:
			safe = secret.Masked
		}
		changed = changed || safe != args[i]
		args[i] = safe
	}
	if !changed {
		return text
	}
	out, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return string(out)
}

// isNumber reports whether an argument is a number, perhaps with a unit.
func isNumber(s string) bool {
	return s != "" && len(s) <= 8 && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789.kKMGsmh") == ""
}
