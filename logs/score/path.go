package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A key is one step of a path: into an object by name, or into a list by index.
type key struct {
	name  string
	index int // from the end when below 0
	list  bool
}

// parsePath reads $.items[0]["a name"].score; the dollar and the first dot may be
// left out.
func parsePath(text string) ([]key, error) {
	fail := func(why string) ([]key, error) { return nil, fmt.Errorf("JSON path %q: %s", text, why) }
	rest := strings.TrimPrefix(strings.TrimSpace(text), "$")
	var out []key
	for first := true; rest != ""; first = false {
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			if strings.HasPrefix(rest, `["`) {
				end = strings.Index(rest, `"]`) + 1
			}
			if end <= 0 {
				return fail("a [ without its ]")
			}
			k, ok := parseIndex(rest[1:end])
			if !ok {
				return fail(fmt.Sprintf("%q is neither a number nor a quoted name", rest[1:end]))
			}
			out, rest = append(out, k), rest[end+1:]
			continue
		}
		if rest[0] == '.' {
			rest = rest[1:]
		} else if !first {
			return fail("a name must follow a dot")
		}
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 && !(first && strings.HasPrefix(rest, "[")) {
			return fail("a name is missing")
		}
		if n > 0 {
			out = append(out, key{name: rest[:n]})
		}
		rest = rest[n:]
	}
	if len(out) == 0 {
		return fail("it leads nowhere")
	}
	return out, nil
}

func parseIndex(text string) (key, bool) {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return key{name: text[1 : len(text)-1]}, true
	}
	n, err := strconv.Atoi(text)
	return key{index: n, list: true}, err == nil
}

// followPath returns what lies at the path.
func followPath(v any, path []key) (any, bool) {
	for _, k := range path {
		if k.list {
			items, _ := v.([]any)
			i := k.index
			if i < 0 {
				i += len(items)
			}
			if i < 0 || i >= len(items) {
				return nil, false
			}
			v = items[i]
			continue
		}
		fields, _ := v.(map[string]any)
		var ok bool
		if v, ok = fields[k.name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// lastAt returns what lies at the path in the last JSON value of the output that
// has the path.
func lastAt(output []byte, path []key) (found any, why string) {
	values, has := 0, false
	eachJSON(output, func(v any) {
		values++
		if x, ok := followPath(v, path); ok {
			found, has = x, true
		}
	})
	switch {
	case has:
		return found, ""
	case values == 0:
		return nil, "there is no JSON in it"
	}
	return nil, "no JSON value has it"
}

// workPerByte bounds how many bytes are looked at for each byte of an output. A
// text of nothing but opening brackets would else be read once from each.
const workPerByte = 8

// eachJSON calls do for each object and list of the output that lies in no other
// one, in order.
func eachJSON(output []byte, do func(any)) {
	eachJSONAt(plainText(output), func(v any, _, _ int) { do(v) })
}

// eachJSONAt is eachJSON of a text without escape sequences, and gives where each value
// begins and ends.
func eachJSONAt(output []byte, do func(v any, from, to int)) {
	budget := int64(workPerByte * len(output))
	for at := 0; budget > 0; {
		n := bytes.IndexAny(output[at:], "{[")
		if n < 0 {
			return
		}
		at += n
		if !mayOpen(output[at:]) {
			at++
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(output[at:]))
		dec.UseNumber()
		var v any
		err := dec.Decode(&v)
		if err == nil {
			from := at
			at += int(dec.InputOffset())
			do(v, from, at)
			continue
		}
		read := int64(len(output) - at)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			read = min(read, syntax.Offset)
		}
		budget -= read
		at++
	}
}

// mayOpen reports whether an object or a list can begin so.
func mayOpen(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	if text[0] == '{' {
		return rest[0] == '"' || rest[0] == '}'
	}
	return bytes.IndexByte([]byte(`]{["-0123456789tfn`), rest[0]) >= 0
}
