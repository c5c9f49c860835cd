package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// NewerThan returns the column by which a SELECT asks for rows that came after one that its client has: it compares
// one column with a value by > or >=, and none by <, <= or BETWEEN. Ok is false of others, and of those that count or
// add up.
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
	return column, column != "" && !slices.Contains(s.Keys, column)
}
