package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

const (
	sizesOf = "SELECT /* kasoku */ COALESCE(ENGINE, ''), COALESCE(TABLE_ROWS, 0), COALESCE(DATA_LENGTH, 0), " +
		"COALESCE(INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
	keysOf = "SELECT /* kasoku */ INDEX_NAME, NON_UNIQUE = 0, CONCAT(%s, IF(SUB_PART IS NULL, '', CONCAT('(', " +
		"SUB_PART, ')')), IF(COLLATION = 'D', ' DESC', '')), COALESCE(CARDINALITY, -1) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY INDEX_NAME, SEQ_IN_INDEX"
	createdAs = "SHOW /* kasoku */ CREATE TABLE "
)

// A TableDef is a table with its indexes.
type TableDef struct {
	Schema, Name, Engine        string
	Create                      string // SHOW CREATE TABLE, without AUTO_INCREMENT=n
	Rows, DataBytes, IndexBytes uint64 // estimates
	Indexes                     []IndexParts
}

// IndexParts are the parts of an index with what the server thinks of them.
type IndexParts struct {
	Name        string
	Unique      bool
	Columns     []string // in order, a prefix as name(10), "x DESC" for descending ones
	Cardinality []int64  // distinct values of the first n columns; -1 when not reported
}

// TableDef returns the definition of a table or view, its sizes, and its indexes
// with what the server thinks of their distinct values. sql.ErrNoRows is in the
// error when there is none that the user may see.
func (s Schema) TableDef(ctx context.Context, schema, name string) (TableDef, error) {
	def := TableDef{Schema: schema, Name: name}
	err := s.r.with(ctx, func(conn *session) error {
		def.Indexes = nil
		err := conn.row(ctx, fmt.Sprintf(sizesOf, quoteText(schema), quoteText(name)), &def.Engine, &def.Rows,
			&def.DataBytes, &def.IndexBytes)
		if err != nil {
			return err
		}
		created, err := conn.texts(ctx, createdAs+QuoteParts(schema, name))
		if err != nil {
			return err
		}
		if len(created) < 2 || len(created[1]) < 2 {
			return fmt.Errorf("definition of %s.%s: %w", schema, name, ErrUnexpected)
		}
		def.Create = withoutCounter(created[1][1])
		return def.addIndexes(ctx, conn)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return def, fmt.Errorf("definition of %s.%s: no such table, or no right to see it: %w", schema, name, err)
	}
	if err != nil {
		return def, fmt.Errorf("definition of %s.%s: %w", schema, name, err)
	}
	return def, nil
}

// addIndexes reads the table's indexes.
func (d *TableDef) addIndexes(ctx context.Context, conn *session) error {
	var name, column string
	var unique bool
	var distinct int64
	return conn.query(ctx, fmt.Sprintf(keysOf, conn.indexed(), quoteText(d.Schema), quoteText(d.Name)),
		func() error {
			n := len(d.Indexes)
			if n == 0 || d.Indexes[n-1].Name != name {
				d.Indexes = append(d.Indexes, IndexParts{Name: name, Unique: unique})
				n++
			}
			k := &d.Indexes[n-1]
			k.Columns, k.Cardinality = append(k.Columns, column), append(k.Cardinality, distinct)
			return nil
		}, &name, &unique, &column, &distinct)
}

// quoteText returns a text literal that means the same in every sql_mode.
func quoteText(s string) string {
	if s == "" {
		return "''"
	}
	return "0x" + fmt.Sprintf("%x", s)
}
