package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// NewerThan returns the column by which a SELECT asks for rows that came after one that its client has: it compares
// one column with a value by > or >=, and none by <, <= or BETWEEN, and orders the rows by it. Ok is false of others,
// as of what is in stock, and of those that count or add up.
func NewerThan(q *kasoku.Query) (column string, ok bool) {
	if q.Verb != "SELECT" {
		return "", false
	}
	s := Of(q)
	if s.Counts || s.Sums || s.Grouped || s.distinct || len(s.Ranged) != 1 {
		return "", false
	}
	tokens := tokensOf(TextOf(q))
	for i, t := range tokens {
		switch word := strings.ToLower(t); {
		case word == "<", word == "between", word == "or", word == "union":
			return "", false
		case word == ">" && i > 0 && tokens[i-1] == s.Ranged[0]:
			at := i + 1
			if at < len(tokens) && tokens[at] == "=" {
				at++
			}
			if at >= len(tokens) || tokens[at] != "?" || column != "" {
				return "", false
			}
			column = s.Ranged[0]
		}
	}
	return column, column != "" && !slices.Contains(s.Keys, column) && ordersBy(tokens, column)
}

// ordersBy reports whether a statement's order begins with a column.
func ordersBy(tokens []string, column string) bool {
	for i, t := range tokens {
		if !strings.EqualFold(t, "order") || i+2 >= len(tokens) || !strings.EqualFold(tokens[i+1], "by") {
			continue
		}
		at := i + 2
		for at+2 < len(tokens) && tokens[at+1] == "." { // the table's name before it
			at += 2
		}
		return strings.EqualFold(tokens[at], column)
	}
	return false
}
