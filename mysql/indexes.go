package mysql

import (
	"context"
	"fmt"
	"strings"
)

// An Index is one index of a table of the users'.
type Index struct {
	Table  string // schema.table
	Name   string // PRIMARY for the primary key
	Unique bool
	Parts  []string // columns in order, a prefix as name(10), an expression in brackets
}

// String returns the index as a key of its definition: two of the same text serve
// the same statements.
func (i Index) String() string {
	kind := "index"
	if i.Unique {
		kind = "unique index"
	}
	return fmt.Sprintf("%s %s.%s (%s)", kind, i.Table, i.Name, strings.Join(i.Parts, ", "))
}

const (
	indexesOf = " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA NOT IN ('mysql', 'sys', " +
		"'information_schema', 'performance_schema') " +
		"ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
	indexColumns = "SELECT /* kasoku */ CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), INDEX_NAME, NON_UNIQUE = 0, " +
		"CONCAT(%s, IF(SUB_PART IS NULL, '', CONCAT('(', SUB_PART, ')')))"
)

// Indexes lists the indexes that the user may see, by table and name, primary
// keys included.
func (s Schema) Indexes(ctx context.Context) ([]Index, error) {
	var out []Index
	err := s.r.with(ctx, func(conn *session) error {
		out = nil
		var table, name, column string
		var unique bool
		return conn.query(ctx, fmt.Sprintf(indexColumns, conn.indexed())+indexesOf, func() error {
			if n := len(out); n > 0 && out[n-1].Table == table && out[n-1].Name == name {
				out[n-1].Parts = append(out[n-1].Parts, column)
				return nil
			}
			out = append(out, Index{table, name, unique, []string{column}})
			return nil
		}, &table, &name, &unique, &column)
	})
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	return out, nil
}

// SetAtRuntime returns the names of global variables that were set by a statement
// since the server was started, so that a restart loses them unless an option
// file has them too. ok is false on servers that do not report it.
//
// Source: GLOBAL_VALUE_ORIGIN of MariaDB's information_schema.SYSTEM_VARIABLES,
// since 10.1; VARIABLE_SOURCE of MySQL's performance_schema.variables_info, since 8.0.
func (r *Reader) SetAtRuntime(ctx context.Context) (names []string, ok bool, err error) {
	query := "SELECT /* kasoku */ LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES WHERE " +
		"GLOBAL_VALUE_ORIGIN = 'SQL' ORDER BY 1"
	if r.Flavor() == MySQL {
		query = "SELECT /* kasoku */ LOWER(VARIABLE_NAME) FROM performance_schema.variables_info WHERE VARIABLE_SOURCE " +
			"= 'DYNAMIC' ORDER BY 1"
	}
	err = r.with(ctx, func(conn *session) error {
		names, ok = nil, conn.flavor == MariaDB || conn.schema && conn.version.AtLeast(8, 0, 0)
		if !ok {
			return nil
		}
		var name string
		return conn.query(ctx, query, func() error {
			names = append(names, name)
			return nil
		}, &name)
	})
	if err != nil {
		return nil, false, fmt.Errorf("list variables set at run time: %w", err)
	}
	return names, ok, nil
}

// EnabledConsumers returns the consumers of performance_schema that are on, by
// name; none where it is off.
func (r *Reader) EnabledConsumers(ctx context.Context) (names []string, err error) {
	err = r.with(ctx, func(conn *session) error {
		names = nil
		if !conn.schema {
			return nil
		}
		var name string
		return conn.query(ctx, "SELECT /* kasoku */ NAME FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' "+
			"ORDER BY 1", func() error {
			names = append(names, name)
			return nil
		}, &name)
	})
	if err != nil {
		return nil, fmt.Errorf("list consumers of performance_schema: %w", err)
	}
	return names, nil
}
