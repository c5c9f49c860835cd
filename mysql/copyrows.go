package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// A CopyColumn is a column whose values are copied: of a long one the beginning.
type CopyColumn struct {
	Name string
	Long bool
}

// copyLimit bounds the statement that reads rows for a copy, copyText the characters of a
// long value.
const (
	copyLimit = 2 * time.Second
	copyText  = 255
)

// CopyRows reads most rows at most of a table, all of them where it has no more, else
// pieces from all over its primary key where that is one number. A row may come twice. The
// server ends the statement after 2 s.
func (s Schema) CopyRows(ctx context.Context, def TableDef, columns []CopyColumn, most int) (rows [][]sql.NullString, err error) {
	var list []string
	for _, c := range columns {
		name := QuoteParts(c.Name)
		if c.Long {
			name = fmt.Sprintf("LEFT(%s, %d)", name, copyText)
		}
		list = append(list, name)
	}
	err = s.r.with(ctx, func(conn *session) (err error) {
		rows, err = conn.copyRows(ctx, def, strings.Join(list, ", "), len(list), most)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rows of %s.%s: %w", def.Schema, def.Name, err)
	}
	return rows, nil
}

func (s *session) copyRows(ctx context.Context, def TableDef, list string, width, most int) (out [][]sql.NullString, err error) {
	if err := s.exec(ctx, s.limit(copyLimit)); err != nil {
		return nil, err
	}
	defer func() {
		if end := s.exec(context.WithoutCancel(ctx), s.limit(0)); err == nil {
			err = end
		}
	}()
	places, err := s.places(ctx, def, most)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		places[i] = "(SELECT " + list + " FROM " + QuoteParts(def.Schema, def.Name) + p + ")"
	}
	row, into := make([]sql.NullString, width), make([]any, width)
	for i := range row {
		into[i] = &row[i]
	}
	err = s.query(ctx, strings.Join(places, " UNION ALL "), func() error {
		out = append(out, append([]sql.NullString(nil), row...))
		return nil
	}, into...)
	return out, err
}
