package accessformat

import (
	"encoding/json"
	"fmt"
	"strings"
)

// looksLikeJSON reports whether a format is a JSON object.
func looksLikeJSON(pieces []piece) bool {
	n := len(pieces)
	return n > 1 && strings.HasPrefix(strings.TrimSpace(pieces[0].text), "{") &&
		strings.HasSuffix(strings.TrimSpace(pieces[n-1].text), "}")
}

// looksLikeLTSV reports whether a format is labels and values with tabs between.
func looksLikeLTSV(pieces []piece) bool {
	parts := splitTabs(pieces)
	for _, part := range parts {
		if len(part) == 0 { // an empty format, or a line that begins with a tab
			return false
		}
		label, _, ok := strings.Cut(part[0].text, ":")
		if !ok || label == "" || strings.ContainsAny(label, ` "[`) {
			return false
		}
	}
	return len(parts) > 1
}

// splitTabs splits pieces at tabs.
func splitTabs(pieces []piece) [][]piece {
	var out [][]piece
	var part []piece
	for _, p := range pieces {
		if !p.isText() {
			part = append(part, p)
			continue
		}
		for i, text := range strings.Split(p.text, "\t") {
			if i > 0 {
				out, part = append(out, part), nil
			}
			if text != "" || i > 0 {
				part = append(part, piece{text: text, at: p.at})
			}
		}
	}
	return append(out, part)
}

// meantBy returns what a key means in a format: what its only value does, else
// what the key itself says.
func meantBy(key string, values []piece, known keyTable) (m meaning, some bool) {
	if fused := fusePieces(values); len(fused) == 1 && !fused[0].isText() && fused[0].what != noField {
		return fused[0].meaning, true
	}
	if n := len(values); n > 1 && !values[0].isText() && values[0].what == aTime {
		return values[0].meaning, true // %x.%^
	}
	if s := known[key]; s != nil {
		return s.meaning, true
	}
	return meaning{}, false
}

// ltsvKeys returns what the labels of a format mean.
func ltsvKeys(pieces []piece) (keyTable, error) {
	known, out := newKeyTable(""), keyTable{}
	for _, part := range splitTabs(pieces) {
		label, rest, _ := strings.Cut(part[0].text, ":")
		var values []piece
		if rest != "" {
			values = append(values, piece{text: rest})
		}
		values = trimBrackets(append(values, part[1:]...))
		if m, ok := meantBy(label, values, known); ok {
			out.add(label, m)
		}
	}
	return out, out.check()
}

// trimBrackets takes the brackets off a single value.
func trimBrackets(values []piece) []piece {
	if n := len(values); n == 3 && values[0].text == "[" && values[2].text == "]" {
		return values[1:2]
	}
	return values
}

// private is the first of the runes that stand for the values of a format while
// it is read as JSON. Unicode leaves them to private use.
const private = 0xe000

// jsonKeys returns what the keys of a format that is a JSON object mean.
func jsonKeys(pieces []piece) (keyTable, error) {
	var object map[string]any
	if err := json.Unmarshal(jsonText(pieces), &object); err != nil {
		return nil, fmt.Errorf("it begins as JSON and is none: %w", err)
	}
	known, out := newKeyTable(""), keyTable{}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if prefix != "" {
					key = prefix + "." + key
				}
				walk(key, inner)
			}
		case []any:
			if len(v) > 0 {
				walk(prefix, v[0])
			}
		case string:
			var values []piece
			for _, r := range v {
				if i := int(r - private); i >= 0 && i < len(pieces) {
					values = append(values, pieces[i])
				} else {
					values = append(values, piece{text: string(r)})
				}
			}
			if m, ok := meantBy(prefix, trimBrackets(joinTexts(values)), known); ok {
				out.add(prefix, m)
			}
		}
	}
	walk("", object)
	return out, out.check()
}

// jsonText returns a format as JSON, with a private rune for every value, in
// quotes where it has none.
func jsonText(pieces []piece) []byte {
	var text []byte
	inText := false
	for i, p := range pieces {
		if !p.isText() {
			s := string(rune(private + i))
			if !inText {
				s = `"` + s + `"`
			}
			text = append(text, s...)
			continue
		}
		for j := 0; j < len(p.text); j++ {
			if p.text[j] == '\\' && inText && j+1 < len(p.text) {
				text = append(text, p.text[j])
				j++
			} else if p.text[j] == '"' {
				inText = !inText
			}
			text = append(text, p.text[j])
		}
	}
	return text
}

// check reports whether the keys say what was requested.
func (t keyTable) check() error {
	for _, s := range t {
		if s.what == aRequest || s.what == aPath {
			return nil
		}
	}
	return &compileError{0, "the format has no request",
		"$request or $request_uri (nginx), %r or %U (Apache, goaccess)"}
}
