package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A Statement is what a rule needs to know of the text of a class of statements.
// It is read from the masked sample, token by token: enough to distinguish a lookup
// from a list and to write an example, and no grammar.
type Statement struct {
	Table   string   // the first one named
	tables  int      // how many are named
	Keys    []string // columns that are compared with one value for equality
	Ranged  []string // columns that are compared with <, > or BETWEEN
	spatial bool     // asks for what lies in a shape
	Limit   bool
	Ordered bool
	Grouped bool
	where   bool
	Sums    bool // SUM, AVG, MIN, MAX …
	Counts  bool // COUNT
	// CountsAll is a COUNT that is the first that is selected: of a statement without groups the one row.
	CountsAll bool
	distinct  bool
	Rows      bool // INSERT with more than one row
}

// spatialWords are functions that compare shapes.
var spatialWords = []string{"st_contains", "st_within", "st_intersects", "st_distance", "st_distance_sphere",
	"mbrcontains", "mbrwithin", "mbrintersects"}

// sumWords are functions that make one value of many rows.
var sumWords = []string{"sum", "avg", "min", "max", "std", "stddev", "variance", "group_concat", "json_arrayagg"}

// Of reads the text of a class.
func Of(q *kasoku.Query) Statement {
	text := TextOf(q)
	s := of(q, text)
	if strings.HasSuffix(text, "…") && q.Fingerprint != "" { // cut: what it groups by, compares and bounds comes last
		whole := of(q, q.Fingerprint)
		whole.Rows = whole.Rows || s.Rows // which a fingerprint does not count
		return whole
	}
	return s
}

func of(q *kasoku.Query, text string) Statement {
	tables := q.Tables
	if len(tables) == 0 {
		tables = sqlshape.Tables([]byte(text))
	}
	s := Statement{tables: len(tables)}
	if len(tables) > 0 {
		s.Table = tables[0]
	}
	tokens := tokensOf(text)
	for i, t := range tokens {
		s.token(tokens, i, strings.ToLower(t))
	}
	return s
}

// tokensOf splits a masked statement; names lose their quotes.
func tokensOf(text string) []string {
	var out []string
	lex := sqlshape.NewLexer([]byte(text))
	for len(out) < 4096 {
		t := lex.Next()
		switch t.Kind {
		case sqlshape.End:
			return out
		case sqlshape.Name:
			out = append(out, strings.Trim(string(t.Text), "`"))
		case sqlshape.String, sqlshape.Number:
			out = append(out, "?")
		default:
			out = append(out, string(t.Text))
		}
	}
	return out
}

func (s *Statement) token(tokens []string, i int, word string) {
	at := func(k int) string {
		if k < 0 || k >= len(tokens) {
			return ""
		}
		return strings.ToLower(tokens[k])
	}
	call := at(i+1) == "("
	switch {
	case word == "where":
		s.where = true
	case word == "limit":
		s.Limit = true
	case word == "by" && at(i-1) == "order":
		s.Ordered = true
	case word == "by" && at(i-1) == "group":
		s.Grouped = true
	case word == "distinct":
		s.distinct = true
	case word == "count" && call:
		s.Counts = true
		s.CountsAll = s.CountsAll || i == 1 && at(0) == "select"
	case call && slices.Contains(sumWords, word):
		s.Sums = true
	case call && slices.Contains(spatialWords, word):
		s.spatial = true
	case word == "=" && at(i+1) == "?" && s.where && isColumn(at(i-1)):
		s.Keys = append(s.Keys, tokens[i-1])
	case (word == "<" || word == ">") && at(i+1) != "?" && at(i+1) != "=", word == "!":
	case (word == "<" || word == ">" || word == "between") && isColumn(at(i-1)) && s.where:
		if !slices.Contains(s.Ranged, tokens[i-1]) {
			s.Ranged = append(s.Ranged, tokens[i-1])
		}
	case word == "," && at(i-1) == ")" && at(i+1) == "(" || word == "…" && at(i-1) == "," && at(i-2) == ")":
		s.Rows = true
	}
}

// TextOf returns the text of a class to be rewritten: its masked sample, else its
// fingerprint.
func TextOf(q *kasoku.Query) string {
	if q.Sample != "" {
		return q.Sample
	}
	return q.Fingerprint
}

// isColumn reports whether a token can be the name of a column.
func isColumn(token string) bool {
	return token != "" && token != "?" && wording.IsWordByte(token[0]) && (token[0] < '0' || token[0] > '9')
}

// ChangesRows reports whether a class changes rows.
func ChangesRows(q *kasoku.Query) bool {
	return slices.Contains([]string{"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD"}, q.Verb)
}

// RowsPerCall is how many rows a call sends on average.
func RowsPerCall(q *kasoku.Query) float64 { return float64(q.RowsSent) / max(float64(q.Calls), 1) }
