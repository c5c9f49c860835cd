package indexes

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// grammarWords are reserved by the grammar, as by MySQL 8, and are names on servers that do not
// reserve them: MariaDB's tables may be called groups without quotes.
//
// Sources: MySQL 8.4 manual, "Keywords and Reserved Words"; MariaDB, "Reserved Words".
var grammarWords = []string{"array", "cume_dist", "dense_rank", "empty", "first_value", "function", "groups", "ilike", "lag",
	"last_value", "lateral", "lead", "nth_value", "ntile", "of", "percent_rank", "rank", "row_number", "system",
	"tablesample", "window"}

// quoteNames writes such words in backquotes where no parenthesis makes a function of them.
func quoteNames(text string) string {
	var b strings.Builder
	var words []sqlshape.Token
	lex := sqlshape.NewLexer([]byte(text))
	for t := lex.Next(); t.Kind != sqlshape.End; t = lex.Next() {
		words = append(words, t)
	}
	rest := text
	for i, t := range words {
		at := strings.Index(rest, string(t.Text))
		if at < 0 {
			return text
		}
		b.WriteString(rest[:at])
		rest = rest[at+len(t.Text):]
		called := i+1 < len(words) && words[i+1].IsSymbol('(')
		if t.Kind == sqlshape.Word && !called && slices.Contains(grammarWords, strings.ToLower(string(t.Text))) {
			b.WriteString("`" + string(t.Text) + "`")
		} else {
			b.Write(t.Text)
		}
	}
	return b.String() + rest
}
