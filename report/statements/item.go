package statements

import (
	"strings"

	"github.com/kasoku/kasoku"
)

// Item names a class of statements in a few words: its verb, its tables and its tag.
func Item(q *kasoku.Query) string {
	if command, ok := strings.CutPrefix(q.Fingerprint, "administrator command: "); ok {
		return command
	}
	out := q.Verb
	if len(q.Tables) > 0 {
		out += " " + strings.Join(q.Tables, " ")
	}
	if q.Tag != "" {
		out += " /* " + q.Tag + " */"
	}
	return strings.TrimSpace(out)
}

// ShortID is the start of an id, enough to name it in one log.
func ShortID(id string) string { return id[:min(len(id), shownID)] }

// shownID is the part of an id that people are shown.
const shownID = 8
