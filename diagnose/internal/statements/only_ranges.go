package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// OnlyRanges reports whether all values of a class are bounds: each stands right after <, >, <= or >=, in BETWEEN …
// AND or after LIMIT or OFFSET, as the time up to which everything is known. Whom a statement is about is
// looked for by what equals a value, wherever that stands: in WHERE, in a join's condition, in what is selected.
// It is false of a text that was cut, and of one without values.
func OnlyRanges(q *kasoku.Query) bool {
	text := TextOf(q)
	if strings.Contains(text, "…") || strings.Contains(text, "...") {
		return false
	}
	tokens, found := tokensOf(strings.ToLower(text)), false
	at := func(k int) string {
		if k < 0 {
			return ""
		}
		return tokens[k]
	}
	for i, t := range tokens {
		switch t {
		case "?":
		case "null", "true", "false": // a value like others, but for IS NULL
			if at(i-1) == "is" || at(i-1) == "not" && at(i-2) == "is" {
				continue
			}
		default:
			continue
		}
		if !isBound(at, i) {
			return false
		}
		found = true
	}
	return found
}

// isBound reports whether the value at a place is a bound. The lexer has a token for each sign of an operator.
func isBound(at func(int) string, i int) bool {
	before := i - 1
	switch at(before) {
	case "limit", "offset", "between":
		return true
	case ",":
		return at(i-2) == "?" && at(i-3) == "limit"
	case "and":
		return at(i-2) == "?" && at(i-3) == "between"
	case "=":
		before--
	}
	return slices.Contains([]string{"<", ">"}, at(before)) &&
		!slices.Contains([]string{"<", ">", "=", "-", "!"}, at(before-1)) // <=>, <>, <<, ->
}
