package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// LeavesResult reports whether a write to one of a SELECT's tables leaves its result as it is: an UPDATE of one
// table that sets only columns which the SELECT does not name. It is false where that is not known: of texts that
// were cut, of a SELECT of all columns, and without the definition of the table, which may compute columns from
// others (GENERATED, ON UPDATE). Triggers are not known.
func LeavesResult(c *diagnose.Case, read, write *kasoku.Query) bool {
	named, set := tokensOf(read.Fingerprint), assigned(write.Fingerprint)
	if read.Verb != "SELECT" || write.Verb != "UPDATE" || len(write.Tables) != 1 || len(set) == 0 ||
		!isWhole(read) || !isWhole(write) || readsAll(named) {
		return false
	}
	create := definitionOf(c, write)
	if create == "" {
		return false
	}
	for line := range strings.Lines(create) { // as SHOW CREATE TABLE writes it: a column a line
		if name, rest, ok := columnLine(line); ok && containsName(named, name) &&
			(strings.Contains(rest, "GENERATED ALWAYS") || strings.Contains(rest, " AS (") ||
				strings.Contains(strings.ToUpper(rest), "ON UPDATE")) {
			return false
		}
	}
	return !slices.ContainsFunc(set, func(column string) bool { return containsName(named, column) })
}

// isWhole reports whether the fingerprint of a class is all of its statement.
func isWhole(q *kasoku.Query) bool {
	text := strings.TrimSpace(q.Fingerprint)
	return len(text) >= len(q.Verb) && strings.EqualFold(text[:len(q.Verb)], q.Verb) &&
		!strings.Contains(text, "…") && !strings.Contains(text, "...")
}

// readsAll reports whether a SELECT reads columns that it does not name.
func readsAll(tokens []string) bool {
	for i, t := range tokens {
		if strings.EqualFold(t, "natural") {
			return true
		}
		if t == "*" && i > 0 && slices.Contains([]string{".", ",", "select", "distinct", "all"},
			strings.ToLower(tokens[i-1])) {
			return true
		}
	}
	return false
}

// definitionOf returns the definition of a statement's first table; empty where it is not known.
func definitionOf(c *diagnose.Case, q *kasoku.Query) string {
	table := Of(q).Table
	name := table[strings.LastIndexByte(table, '.')+1:]
	for i := range c.Tables {
		if t := &c.Tables[i]; t.Host == q.Host && strings.EqualFold(t.Name, name) {
			return t.Create
		}
	}
	return ""
}

// columnLine returns the name of the column that a line of a definition is about, and the rest of it.
func columnLine(line string) (name, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(strings.TrimSpace(line), "`"); !ok {
		return "", "", false
	}
	return strings.Cut(rest, "`")
}
