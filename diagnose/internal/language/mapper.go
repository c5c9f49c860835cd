package language

import (
	"strings"

	"github.com/kasoku/kasoku/diagnose"
)

// Mappers that advice is written for, as their statements look: of Python, and of Ruby.
const (
	Django       = "django"
	SQLAlchemy   = "sqlalchemy"
	ActiveRecord = "activerecord"
)

// MapperOf returns what writes the statements of an application in Python or Ruby, by how most of
// those that name columns write them; empty where that is not known, and for other languages.
//
// Sources: ActiveRecord, quote_column_name of its MySQL adapter, and Django,
// SQLCompiler.quote_name_unless_alias and DatabaseOperations.quote_name of its MySQL backend:
// `t`.`c`, each name quoted; SQLAlchemy, LABEL_STYLE_TABLENAME_PLUS_COL, which Query has:
// t.c AS t_c, and only names that are reserved quoted.
func MapperOf(c *diagnose.Case) string {
	written := Of(c)
	if written != Python && written != Ruby {
		return ""
	}
	var quoted, labelled, other uint64
	for i := range c.Queries {
		q := &c.Queries[i]
		text := strings.ToLower(q.Fingerprint)
		if q.Verb != "SELECT" || !strings.Contains(text, ".") {
			continue
		}
		switch {
		case strings.Contains(text, "`.`"):
			quoted += q.Calls
		case labels(text):
			labelled += q.Calls
		default:
			other += q.Calls
		}
	}
	switch all := quoted + labelled + other; {
	case 2*quoted > all && written == Ruby:
		return ActiveRecord
	case 2*quoted > all:
		return Django
	case 2*labelled > all && written == Python:
		return SQLAlchemy
	}
	return ""
}

// labels reports whether a column is called by its table and its own name: token.id AS token_id.
func labels(text string) bool {
	words := strings.Fields(text)
	for i := 2; i < len(words); i++ {
		label := strings.Trim(words[i], "`,")
		if words[i-1] == "as" && label == strings.ReplaceAll(strings.ReplaceAll(words[i-2], "`", ""), ".", "_") &&
			strings.Contains(words[i-2], ".") {
			return true
		}
	}
	return false
}
