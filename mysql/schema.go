package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/mysqlflags"
)

// A Definition is how one base table of the users' is defined.
type Definition struct {
	Schema, Name string
	Create       string // SHOW CREATE TABLE, without AUTO_INCREMENT=n
}

const namesQuery = "SELECT /* kasoku */ TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE " +
	"= 'BASE TABLE' " +
	"AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1, 2"

// Definitions returns the definitions of the tables that the user may see, by
// schema and name, at most so many; left is how many tables it gave up on: those
// beyond that number, dropped meanwhile, not allowed, or not reached when the
// context ended. The end of the context is no error.
//
// A table that is being altered makes it wait, so the context needs a deadline.
func (s Schema) Definitions(ctx context.Context, most int) (out []Definition, left int, err error) {
	err = s.r.with(ctx, func(conn *session) error {
		out, left = nil, 0
		// Both change how definitions are written.
		if err := conn.exec(ctx, "SET /* kasoku */ SESSION sql_mode = '', sql_quote_show_create = 1"); err != nil {
			return err
		}
		var all []Definition
		var d Definition
		err := conn.query(ctx, namesQuery, func() error { all = append(all, d); return nil }, &d.Schema, &d.Name)
		if err != nil {
			return err
		}
		left = len(all)
		sum := 0
		for _, d := range all[:min(most, len(all))] {
			if sum > mostDefined {
				return nil
			}
			var name string
			err := conn.row(ctx, "SHOW /* kasoku */ CREATE TABLE "+QuoteParts(d.Schema, d.Name), &name, &d.Create)
			switch {
			case err == nil:
				d.Create = withoutCounter(d.Create)
				out = append(out, d)
				sum += len(d.Create)
				left--
			case mysqlflags.ErrorNumber(err) == 0:
				return err
			}
		}
		return nil
	})
	if ctx.Err() != nil && left > 0 {
		err = nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read table definitions: %w", err)
	}
	return out, left, nil
}

// QuoteParts quotes the parts of a name as identifiers, whatever dots they hold.
func QuoteParts(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(quoted, ".")
}

var counter = lazyregexp.New(` AUTO_INCREMENT=\d+`)

// withoutCounter removes the next id from a definition: it changes with each row.
// The table's options begin on the line that closes the columns; a comment, the last
// of them, may hold anything.
func withoutCounter(create string) string {
	i := strings.Index(create, "\n) ")
	if i < 0 {
		return create
	}
	head, options := create[:i], create[i:]
	comment := ""
	if j := strings.Index(options, " COMMENT="); j >= 0 {
		options, comment = options[:j], options[j:]
	}
	if loc := counter().FindStringIndex(options); loc != nil {
		options = options[:loc[0]] + options[loc[1]:]
	}
	return head + options + comment
}
