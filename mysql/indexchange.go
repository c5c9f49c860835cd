package mysql

import (
	"context"
	"fmt"
	"strings"
)

// indexPrefix begins the name of a change that makes or drops an index.
const indexPrefix = "index "

// IndexChange returns the change of an index as a [Switch] makes it and takes it back:
// do and undo are the statements, one of which makes the index of that name and the
// other drops it, with all that belongs to it. Unlike a variable it outlives a restart
// of the server.
func IndexChange(schema, table, index, do, undo string) (Changed, error) {
	c := Changed{Name: indexPrefix + schema + "." + table + "." + index,
		Before: strings.TrimSuffix(strings.TrimSpace(undo), ";"), During: strings.TrimSuffix(strings.TrimSpace(do),
			";")}
	if _, _, _, ok := indexNamed(c.Name); !ok {
		return c, fmt.Errorf("index %s of %s.%s: %w", index, schema, table, ErrUnexpected)
	}
	for _, statement := range []string{do, undo} {
		if _, err := assignment(c.Name, statement); err != nil {
			return c, err
		}
	}
	return c, nil
}

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

// indexStatement returns a statement that makes or drops an index; anything else is
// refused: a journal of changes is a file.
func indexStatement(statement string) (string, error) {
	statement = strings.TrimSuffix(strings.TrimSpace(statement), ";")
	words := strings.Fields(strings.ToUpper(statement))
	kind := ""
	if len(words) > 2 {
		kind = words[0] + " " + words[1]
	}
	switch kind {
	case "CREATE INDEX", "CREATE UNIQUE", "CREATE SPATIAL", "CREATE FULLTEXT", "DROP INDEX", "ALTER TABLE":
	default:
		return "", fmt.Errorf("%q: %w", statement, ErrUnexpected)
	}
	if strings.Contains(statement, ";") {
		return "", fmt.Errorf("%q: %w", statement, ErrUnexpected)
	}
	return statement, nil
}

// makes reports whether a statement makes an index rather than drops it.
func makes(statement string) bool {
	s := " " + strings.ToUpper(strings.Join(strings.Fields(statement), " "))
	return !strings.Contains(s, " DROP INDEX ") && !strings.Contains(s, " DROP KEY ")
}

// assignIndex makes or drops an index.
func assignIndex(ctx context.Context, r *Reader, name, statement string) error {
	schema, _, _, ok := indexNamed(name)
	if !ok {
		return fmt.Errorf("%q: %w", name, ErrUnexpected)
	}
	statement, err := indexStatement(statement)
	if err != nil {
		return err
	}
	return r.with(ctx, func(conn *session) error {
		if err := conn.exec(ctx, "/* kasoku */ USE "+QuoteParts(schema)); err != nil {
			return err
		}
		if err := conn.exec(ctx, "/* kasoku */ "+statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
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
		if m[c.Name] = c.Before; (n > 0) == makes(c.During) {
			m[c.Name] = c.During
		}
	}
	return nil
}
