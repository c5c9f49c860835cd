package indexes

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the grammar's values

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// maxStatement bounds the text that is read: a list of thousands of values says no
// more than its beginning, and a run has thousands of statements.
const maxStatement = 64 << 10

var (
	errLong  = errors.New("the statement is too long to read")
	errEmpty = errors.New("no text was kept")
)

// A grammar reads statements. It is not safe for concurrent use.
type grammar struct{ p *parser.Parser }

func newGrammar() grammar { return grammar{parser.New()} }

// unread are parts of statements that the grammar does not take, and what stands for them. What an
// index can do is the same.
var unread = []struct {
	part func() *regexp.Regexp
	by   string
}{
	// What wants a text or a name, and was masked.
	{lazyregexp.New(`(?i)\sescape\s+\?`), ""},
	{lazyregexp.New(`(?i)\sas\s+\?`), " AS `?`"},
	{lazyregexp.New(`(?i)\sseparator\s+\?`), ""},
	{lazyregexp.New(`->(>?)\s*\?`), "->$1'$$'"},
}

// foreign are parts that only one of the servers has, or a newer one: for statements that are not
// read otherwise.
var foreign = []struct {
	part func() *regexp.Regexp
	by   string
}{
	{lazyregexp.New(`(?i)(?:\soffset\s+(?:\?|\d+)\s+rows?)?\sfetch\s+(?:first|next)\s+(\?|\d+)\s+rows?\s+only\b`), " LIMIT $1"},
	{lazyregexp.New(`(?i)\sas\s+\w+\s*(?:\([^()]*\)\s*)?on\s+duplicate\s+key\s`), " ON DUPLICATE KEY "},
	{lazyregexp.New(`(?is)^(\s*(?:insert|replace|delete)\s.*)\sreturning\s[^()]*$`), "$1"},
}

// query reads a class: the statement as it was sent when it was kept, else with its
// values masked, else the fingerprint.
func (g grammar) query(q *kasoku.Query) (ast.StmtNode, error) {
	err := errEmpty
	for _, text := range []string{q.Raw, q.Sample, q.Fingerprint} {
		if text == "" {
			continue
		}
		for _, r := range unread {
			text = r.part().ReplaceAllString(text, r.by)
		}
		var stmt ast.StmtNode
		if stmt, err = g.statement(text); err == nil {
			return stmt, nil
		}
		for _, r := range foreign {
			text = r.part().ReplaceAllString(text, r.by)
		}
		if again, other := g.statement(text); other == nil {
			return again, nil
		}
	}
	return nil, err
}

// statement reads one statement, whose values may be masked. It never panics.
func (g grammar) statement(text string) (stmt ast.StmtNode, err error) {
	if len(text) > maxStatement {
		return nil, errLong
	}
	defer func() {
		if p := recover(); p != nil { // the grammar is somebody else's, and the text hostile
			stmt, err = nil, fmt.Errorf("read statement: %v", p)
		}
	}()
	text = makeParsable(text)
	if stmt, err = g.p.ParseOneStmt(text, "", ""); err != nil {
		if quoted, again := g.p.ParseOneStmt(quoteNames(text), "", ""); again == nil {
			return quoted, nil
		}
		return nil, fmt.Errorf("read statement: %w", err)
	}
	return stmt, nil
}

// makeParsable replaces what masks and fingerprints write for lists of values: "?+" and
// "?, …".
func makeParsable(text string) string {
	if strings.Contains(text, "?+") {
		text = strings.ReplaceAll(text, "?+", "?")
	}
	if strings.Contains(text, "…") {
		text = strings.ReplaceAll(text, ", …", "")
	}
	return text
}

// ParseStatement reads one statement with the SQL grammar; its values may be masked. It
// fails on text that the grammar does not know, and never panics.
func ParseStatement(text string) (ast.StmtNode, error) { return newGrammar().statement(text) }

// QuoteTable writes the name of a table, which may have that of its schema before it.
func QuoteTable(name string) string {
	if schema, table, ok := strings.Cut(name, "."); ok {
		return quoteName(schema) + "." + quoteName(table)
	}
	return quoteName(name)
}

// QuoteName writes a name as SQL needs it, in backquotes where it is no plain word.
func QuoteName(name string) string { return quoteName(name) }
