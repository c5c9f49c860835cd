package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Taking is a row that a transaction locks by its state and then gives another: SELECT … WHERE id = ? AND
// state = ? FOR UPDATE, UPDATE … SET state = ? WHERE id = ?.
type Taking struct {
	Table string
	State []string // columns by which the row is chosen and that the UPDATE sets
	// Update is the UPDATE with the state in its condition, which takes the row by itself; empty where its
	// condition is more than columns that equal values.
	Update string
}

// TakingOf reports what a SELECT … FOR UPDATE and the UPDATE after it in one transaction take; false where they
// are about other rows, where the UPDATE sets what the SELECT reads, so that it may be made of it, and where the
// SELECT skips rows that others have locked.
func TakingOf(lock, update *kasoku.Query) (Taking, bool) {
	text := TextOf(lock)
	if lock.Verb != "SELECT" || update.Verb != "UPDATE" || !locksRows(text) {
		return Taking{}, false
	}
	a, b := Of(lock), Of(update)
	if a.tables != 1 || b.tables != 1 || !strings.EqualFold(a.Table, b.Table) || a.Grouped || len(b.Keys) == 0 ||
		len(b.Ranged) > 0 || b.Limit {
		return Taking{}, false
	}
	set, read := assigned(TextOf(update)), selected(text)
	t := Taking{Table: b.Table}
	for _, column := range a.Keys {
		if containsName(set, column) && !containsName(b.Keys, column) {
			t.State = append(t.State, column)
		}
	}
	for _, key := range b.Keys { // the row of the UPDATE is the one that was locked
		if !containsName(a.Keys, key) && !(a.Limit && containsName(read, key)) {
			return Taking{}, false
		}
	}
	if len(t.State) == 0 || containsName(read, "*") ||
		slices.ContainsFunc(read, func(c string) bool { return containsName(set, c) && !containsName(a.Keys, c) }) {
		return Taking{}, false
	}
	if text = TextOf(update); onlyEquals(text, len(b.Keys)) && !strings.Contains(text, "…") {
		t.Update = strings.TrimRight(strings.TrimSpace(text), "; ")
		for _, column := range t.State {
			if quoted := "`" + column + "`"; strings.Contains(text, quoted) { // as where it is set
				column = quoted
			}
			t.Update += " AND " + column + " = ?"
		}
	}
	return t, true
}

// locksRows reports whether a SELECT waits for rows to change them.
func locksRows(text string) bool {
	tokens := tokensOf(strings.ToLower(text))
	for i := range len(tokens) - 1 {
		if tokens[i] == "for" && tokens[i+1] == "update" {
			return !slices.Contains(tokens[i:], "skip")
		}
	}
	return false
}

func containsName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// assigned returns the columns that an UPDATE sets.
func assigned(text string) (out []string) {
	tokens := tokensOf(text)
	at := slices.IndexFunc(tokens, func(t string) bool { return strings.EqualFold(t, "set") })
	if at < 0 {
		return nil
	}
	begins, depth := true, 0
	for i := at + 1; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case strings.EqualFold(t, "where") && depth == 0:
			return out
		case t == "(":
			depth++
		case t == ")":
			depth--
		case t == "," && depth == 0:
			begins = true
		case t == "=" && begins:
			out, begins = append(out, tokens[i-1]), false
		}
	}
	return out
}

// selected returns the columns that a SELECT reads, "*" for all of them and for what is no column.
func selected(text string) (out []string) {
	tokens := tokensOf(text)
	for i := 1; i < len(tokens) && !strings.EqualFold(tokens[i], "from"); i++ {
		switch t := tokens[i]; {
		case t == "," || t == "?" || t == ".":
		case isColumn(t):
			out = append(out, t)
		default:
			out = append(out, "*")
		}
	}
	return out
}

// onlyEquals reports whether the condition of a statement, its last part, is so many columns that equal values.
func onlyEquals(text string, keys int) bool {
	tokens := tokensOf(text)
	at := slices.IndexFunc(tokens, func(t string) bool { return strings.EqualFold(t, "where") })
	if at < 0 {
		return false
	}
	rest, n := tokens[at+1:], 0
	for len(rest) >= 3 && isColumn(rest[0]) && rest[1] == "=" && rest[2] == "?" {
		rest = rest[3:]
		if n++; len(rest) > 0 && strings.EqualFold(rest[0], "and") {
			rest = rest[1:]
		}
	}
	return n == keys && len(rest) == 0
}
