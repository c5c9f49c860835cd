package ptquerydigest

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
)

// namedTables returns the tables of a statement, each once, with the default
// database where the statement names none.
func namedTables(sql, db string) []tableName {
	var out []tableName
	seen := map[tableName]bool{}
	for _, t := range tablesOf(sql) {
		if t.db == "" {
			t.db = db
		}
		if !seen[t] {
			seen[t], out = true, append(out, t)
		}
	}
	return out
}

// status and create are the statements that show a table.
func (t tableName) status() string {
	if t.db == "" {
		return fmt.Sprintf("SHOW TABLE STATUS LIKE '%s'", t.name)
	}
	return fmt.Sprintf("SHOW TABLE STATUS FROM `%s` LIKE '%s'", t.db, t.name)
}

func (t tableName) create() string {
	if t.db == "" {
		return fmt.Sprintf("SHOW CREATE TABLE `%s`", t.name)
	}
	return fmt.Sprintf("SHOW CREATE TABLE `%s`.`%s`", t.db, t.name)
}

// sample prints the worst statement of a class, the tables that it names and how
// to EXPLAIN it.
func (p *printer) sample(d *digest, c *class) {
	if d.groupBy != byFingerprint {
		p.line("%s", c.key)
		return
	}
	end := p.o.verticalEnd()
	if tables := namedTables(c.worst.statement, c.worst.db); len(tables) > 0 {
		p.line("# Tables")
		for _, t := range tables {
			p.line("#    %s%s", t.status(), end)
			p.line("#    %s%s", t.create(), end)
		}
	}
	sql := shortenStatement(c.worst.statement)
	if isSelect(sql) {
		p.line("%s", explainLine)
		p.line("%s%s", sql, end)
		return
	}
	p.line("%s%s", sql, end)
	if s, ok := asSelect(sql); ok {
		p.line("# Converted for EXPLAIN")
		p.line("%s", explainLine)
		p.line("%s%s", s, end)
	}
}

const explainLine = "# EXPLAIN /*!50100 PARTITIONS*/"

// isSelect reports whether a statement starts with SELECT, after comments and
// parentheses.
func isSelect(sql string) bool {
	s := scanner{text: cutLead(sql)}
	return strings.EqualFold(s.word(), "select")
}

// cutLead cuts comments, blanks and parentheses off the front.
func cutLead(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\r\n(")
		switch {
		case strings.HasPrefix(sql, "/*"):
			i := strings.Index(sql, "*/")
			if i < 0 {
				return sql
			}
			sql = sql[i+2:]
		case strings.HasPrefix(sql, "-- "), strings.HasPrefix(sql, "#"):
			_, rest, ok := strings.Cut(sql, "\n")
			if !ok {
				return ""
			}
			sql = rest
		default:
			return sql
		}
	}
}

var (
	multiRow = lazyregexp.New(`(?is)\A((?:insert|replace)(?:\s\w+)*\s+\S+\s+values\s*\(.*?\))\s*,\s*\(.*?(on\s+duplicate.*|\z)`)
	inList   = lazyregexp.New(`(?is)\bin\s*\(`)

	updateForm = lazyregexp.New(`(?is)\Aupdate\s+(?:low_priority\s+|ignore\s+)?(.*?)\s+set\b(.*?)(?:\s*\bwhere\b(.*?))?(limit\s*[0-9]+(?:\s*,\s*[0-9]+)?)?\s*\z`)
	deleteForm = lazyregexp.New(`(?is)\Adelete\b.*?\bfrom\b(.*)\z`)
	joins      = lazyregexp.New(`(?i)\bjoin\b`)
)

// keepItems is how many values of an IN list are printed.
const keepItems = 20

// longSample is from how many bytes on IN lists are shortened.
const longSample = 1024

// shortenStatement leaves out the rows of an INSERT after the first, where the table and
// its columns are written without blanks, and most values of IN lists in long
// statements.
func shortenStatement(sql string) string {
	if m := multiRow().FindStringSubmatch(sql); m != nil {
		return m[1] + " /*... omitted ...*/" + m[2]
	}
	if len(sql) <= longSample {
		return sql
	}
	var b strings.Builder
	for {
		m := inList().FindStringIndex(sql)
		if m == nil {
			break
		}
		b.WriteString(sql[:m[1]])
		sql = sql[m[1]:]
		end := strings.IndexByte(sql, ')')
		if end < 0 {
			break
		}
		items := strings.Split(sql[:end], ",")
		if len(items) > keepItems {
			fmt.Fprintf(&b, "%s/*... omitted %d items ...*/", strings.Join(items[:keepItems], ","), len(items)-keepItems)
		} else {
			b.WriteString(sql[:end])
		}
		sql = sql[end:]
	}
	b.WriteString(sql)
	return b.String()
}

// asSelect turns a statement into a SELECT that reads the same rows, by its text.
func asSelect(sql string) (string, bool) {
	bare := cutLead(sql)
	s := scanner{text: bare}
	switch verb := s.word(); {
	case strings.EqualFold(verb, "update"):
		if wordIndex(bare, "select") >= 0 {
			return "", false
		}
		return updateAsSelect(bare)
	case strings.EqualFold(verb, "delete"):
		m := deleteForm().FindStringSubmatch(bare)
		if m == nil {
			return "", false
		}
		if joins().MatchString(bare) {
			return "select 1 from " + m[1], true
		}
		return "select * from " + m[1], true
	case equalAny(verb, "insert", "replace"):
		return "", false
	}
	if i := wordIndex(bare, "select"); i >= 0 {
		return bare[i:], true
	}
	return "", false
}

func updateAsSelect(sql string) (string, bool) {
	m := updateForm().FindStringSubmatchIndex(sql)
	if m == nil {
		return "", false
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return sql[m[2*i]:m[2*i+1]]
	}
	out := "select " + part(2) + " from " + part(1) + " "
	if m[6] >= 0 {
		out += "where " + part(3)
	}
	if m[8] >= 0 {
		out += " " + part(4) + " "
	}
	return out, true
}
