package score

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// grouped is a number with separators of thousands: 1,234,567.8, 1_234, 1 234
// (also with the narrow and the unbreakable blank), 1'234.
var grouped = lazyregexp.New(`^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^[+-]?\d{1,3}(?:[_' \x{a0}\x{202f}]\d{3})+(?:\.\d+)?$`)

// parseNumber reads a finite decimal number.
func parseNumber(text string) (v float64, ok bool) {
	text = strings.TrimSpace(text)
	if grouped().MatchString(text) {
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(",_' \u00a0\u202f", r) {
				return -1
			}
			return r
		}, text)
	}
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// numberIn returns the number that was found, or why it is none.
func numberIn(found any) (v float64, why string) {
	text := ""
	switch x := found.(type) {
	case json.Number:
		text = x.String()
	case string:
		text = x
	default:
		return 0, "what stands there is " + describeValue(found) + ", not a number"
	}
	v, ok := parseNumber(text)
	if !ok {
		return 0, fmt.Sprintf("%q is not a number", cutText(text))
	}
	return v, ""
}

// truthIn returns whether what was found means a pass, or why it means nothing.
func truthIn(found any) (passed bool, why string) {
	switch x := found.(type) {
	case bool:
		return x, ""
	case json.Number:
		v, ok := parseNumber(x.String())
		return ok && v != 0, ""
	case string:
		switch strings.ToLower(strings.TrimSpace(x)) {
		case "pass", "passed", "ok", "success", "succeeded", "true", "yes":
			return true, ""
		case "fail", "failed", "ng", "error", "false", "no":
			return false, ""
		}
		return false, fmt.Sprintf("%q is neither pass nor fail", cutText(x))
	}
	return false, "what stands there is " + describeValue(found) + ", neither true nor false"
}

// describeValue names a JSON value by its kind.
func describeValue(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a value"
}

func cutText(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
