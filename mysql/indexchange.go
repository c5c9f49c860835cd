package mysql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysqlflags"
)

// indexPrefix begins the name of a change that makes or drops an index.
const indexPrefix = "index "

// An IndexStatement is what a statement that makes or drops one index names.
type IndexStatement struct {
	Schema, Table, Index string // Schema is empty where the statement does not name it
	Drops                bool
	Special              bool // FULLTEXT or SPATIAL: a statement uses it only where it is written for it
}

// ParseIndex reads a statement that makes or drops one index and does nothing else:
// CREATE … INDEX name ON table (…), DROP INDEX name ON table, or ALTER TABLE with one such
// ADD or DROP. All others are refused, with options, but for MySQL's INVISIBLE, and comments
// too: such statements are read from files.
func ParseIndex(statement string) (IndexStatement, error) {
	var s IndexStatement
	l := sqlshape.NewLexer([]byte(statement))
	words := func(list ...string) bool { // the next tokens are these, of which the first may be one of several
		for _, w := range list {
			if t := l.Raw(); !slices.ContainsFunc(strings.Split(w, "|"), t.Is) {
				return false
			}
		}
		return true
	}
	kind := func() bool { // UNIQUE, SPATIAL and FULLTEXT may stand before INDEX
		t := l.Raw()
		if s.Special = t.Is("spatial") || t.Is("fulltext"); s.Special || t.Is("unique") {
			t = l.Raw()
		}
		return t.Is("index") || t.Is("key")
	}
	name := func() string {
		if t := l.Raw(); t.Kind == sqlshape.Name || t.Kind == sqlshape.Word {
			return string(t.Unquoted())
		}
		return ""
	}
	table := func() bool {
		s.Table = name()
		rest := l
		if t := rest.Raw(); t.IsSymbol('.') {
			l = rest
			s.Schema, s.Table = s.Table, name()
			return s.Schema != "" && s.Table != ""
		}
		return s.Table != ""
	}
	index := func() bool { s.Index = name(); return s.Index != "" }
	good := false
	switch t := l.Raw(); {
	case t.Is("create"):
		good = kind() && index() && words("on") && table() && bracketed(&l)
	case t.Is("drop"):
		s.Drops, good = true, words("index") && index() && words("on") && table()
	case t.Is("alter") && words("table") && table():
		switch t := l.Raw(); {
		case t.Is("add"):
			good = kind() && index() && bracketed(&l)
		case t.Is("drop"):
			s.Drops, good = true, words("index|key") && index()
		}
	}
	end := l.Raw()
	if !s.Drops && end.Is("invisible") {
		end = l.Raw()
	}
	if end.IsSymbol(';') {
		end = l.Raw()
	}
	if !good || end.Kind != sqlshape.End {
		return s, fmt.Errorf("%.200q makes or drops no index alone: %w", statement, ErrUnexpected)
	}
	return s, nil
}

// bracketed moves past the parts of an index in their brackets, and reports whether they
// are all there.
func bracketed(l *sqlshape.Lexer) bool {
	for depth := 0; ; {
		switch t := l.Raw(); {
		case t.Open, t.Kind == sqlshape.End, t.Kind == sqlshape.Comment, t.IsSymbol(';'):
			return false
		case t.IsSymbol('('):
			depth++
		case t.IsSymbol(')'):
			if depth--; depth == 0 {
				return true
			}
		case depth == 0:
			return false
		}
	}
}

// IndexChange returns the change of an index as a [Switch] makes it and takes it back: do
// and undo are statements that [ParseIndex] takes, of which one makes an index and the
// other drops the same. The schema is that of a statement that names none. Unlike a
// variable an index outlives a restart of the server.
func IndexChange(schema, do, undo string) (Changed, error) {
	s, err := ParseIndex(do)
	if err != nil {
		return Changed{}, err
	}
	c := Changed{Name: indexPrefix + cmp.Or(s.Schema, schema) + "." + s.Table + "." + s.Index,
		Before: withoutEnd(undo), During: withoutEnd(do)}
	return c, c.checkIndex()
}

func withoutEnd(statement string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(statement), ";"))
}

// checkIndex reports why a change is none of one index: its statements are to make and to
// drop the index of its name.
func (c Changed) checkIndex() error {
	schema, table, index, ok := indexNamed(c.Name)
	if !ok {
		return fmt.Errorf("change of %.100q: %w", c.Name, ErrUnexpected)
	}
	drops := 0
	for _, statement := range []string{c.Before, c.During} {
		if len(statement) >= mostIndexStatement {
			return fmt.Errorf("%s: a statement of %d bytes: %w", c.Name, len(statement), ErrUnexpected)
		}
		s, err := ParseIndex(statement)
		if err != nil {
			return err
		}
		if cmp.Or(s.Schema, schema) != schema || s.Table != table || s.Index != index {
			return fmt.Errorf("%s: %.200q is of another index: %w", c.Name, statement, ErrUnexpected)
		}
		if s.Drops {
			drops++
		}
	}
	if drops != 1 {
		return fmt.Errorf("%s: what is made is not dropped again, or the reverse: %w", c.Name, ErrUnexpected)
	}
	return nil
}

// mostIndexStatement bounds a statement of a change of an index, in bytes.
const mostIndexStatement = 64 << 10

// Lasts reports whether a change outlives a restart of the server.
func (c Changed) Lasts() bool { return strings.HasPrefix(c.Name, indexPrefix) }

// indexNamed splits the name of a change of an index.
func indexNamed(name string) (schema, table, index string, ok bool) {
	rest, ok := strings.CutPrefix(name, indexPrefix)
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" ||
		strings.ContainsAny(rest, "`'\"\\;\n") {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// assignIndex makes or drops an index.
//
// A server that made an index of its own for a foreign key drops it when another one serves the
// key, and does not let that other one go then: it goes in one statement with the key's own
// coming back.
//
// Source: MySQL 9.7 manual, FOREIGN KEY Constraints: "This index might be silently dropped later
// if you create another index that can be used to enforce the foreign key
// constraint".
func assignIndex(ctx context.Context, r *Reader, name, statement string) error {
	schema, table, index, ok := indexNamed(name)
	if !ok {
		return fmt.Errorf("%q: %w", name, ErrUnexpected)
	}
	parsed, err := ParseIndex(statement)
	if err != nil {
		return err
	}
	return r.with(ctx, func(conn *session) error {
		if err := conn.exec(ctx, "/* kasoku */ USE "+QuoteParts(schema)); err != nil {
			return err
		}
		err := conn.exec(ctx, "/* kasoku */ "+statement)
		if parsed.Drops && mysqlflags.ErrorNumber(err) == neededByKey {
			if adds, no := conn.keysWithout(ctx, schema, table, index); no == nil && len(adds) > 0 {
				err = conn.exec(ctx, "/* kasoku */ ALTER TABLE "+QuoteParts(schema, table)+" "+strings.Join(adds, ", ")+
					", DROP INDEX "+QuoteParts(index))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
}

// neededByKey is the number of the error that a foreign key needs the index.
const neededByKey = 1553

// keysWithout returns what adds an index for each foreign key of a table that has none but the
// named one, by the name that the server gives such an index: that of the key, and where the
// server named the key itself, that of its first column.
func (s *session) keysWithout(ctx context.Context, schema, table, index string) (adds []string, err error) {
	of := " WHERE TABLE_SCHEMA = " + quoteText(schema) + " AND TABLE_NAME = " + quoteText(table)
	lists := func(query string) (names []string, columns map[string][]string, err error) {
		rows, err := s.texts(ctx, "SELECT /* kasoku */ "+query)
		columns = map[string][]string{}
		for _, r := range rows[min(1, len(rows)):] { // the first has the names
			if columns[r[0]] == nil {
				names = append(names, r[0])
			}
			columns[r[0]] = append(columns[r[0]], r[1])
		}
		return names, columns, err
	}
	keys, parts, err := lists("CONSTRAINT_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE" + of +
		" AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION")
	if err != nil {
		return nil, err
	}
	indexes, has, err := lists("INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS" + of +
		" ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	for _, key := range keys {
		columns := parts[key]
		if slices.ContainsFunc(indexes, func(name string) bool {
			return !strings.EqualFold(name, index) && len(has[name]) >= len(columns) && slices.Equal(has[name][:len(columns)], columns)
		}) {
			continue
		}
		name := key
		if strings.HasPrefix(key, table+"_ibfk_") {
			name = columns[0]
		}
		quoted := make([]string, len(columns))
		for i, c := range columns {
			quoted[i] = QuoteParts(c)
		}
		adds = append(adds, "ADD INDEX "+QuoteParts(name)+" ("+strings.Join(quoted, ", ")+")")
	}
	return adds, err
}

// CanHide reports whether the server has indexes that statements of other sessions do not use.
//
// Source: MySQL 9.7 manual, Invisible Indexes. MariaDB's ignored ones are used by no session.
func (r *Reader) CanHide() bool { return r.Flavor() == MySQL && r.Version().AtLeast(8, 0, 0) }

// ShowIndex makes the index of a change, which was made invisible, one that statements use.
func ShowIndex(ctx context.Context, r *Reader, name string) error {
	schema, table, index, ok := indexNamed(name)
	if !ok {
		return fmt.Errorf("%q: %w", name, ErrUnexpected)
	}
	return r.with(ctx, func(conn *session) error {
		return conn.exec(ctx, "/* kasoku */ ALTER TABLE "+QuoteParts(schema, table)+" ALTER INDEX "+QuoteParts(index)+
			" VISIBLE")
	})
}

// addIndexes puts into m which of the changes of indexes are made.
func addIndexes(ctx context.Context, r *Reader, changes []Changed, m map[string]string) error {
	for _, c := range changes {
		schema, table, index, ok := indexNamed(c.Name)
		if !ok {
			continue
		}
		var n int
		err := r.with(ctx, func(conn *session) error {
			*conn.sent++
			return conn.conn.QueryRowContext(ctx,
				"/* kasoku */ SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? "+
					"AND INDEX_NAME = ?",
				schema, table, index).Scan(&n)
		})
		if err != nil {
			return err
		}
		during, err := ParseIndex(c.During)
		if err != nil {
			return err
		}
		if m[c.Name] = c.Before; (n > 0) == !during.Drops {
			m[c.Name] = c.During
		}
	}
	return nil
}
