package mysqlflags

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Bool is a status value that reads as yes or no and may say something third,
// such as "Connecting". The zero value is no.
type Bool struct{ text string }

// NewBool returns a value as a server would give it, for tests.
func NewBool(text string) Bool { return Bool{text} }

// String returns the value as the server gave it.
func (b Bool) String() string { return b.text }

// Yes reports whether the value is Yes, ON, TRUE or 1 in any case.
func (b Bool) Yes() bool { return isYes(b.text) }

// A QueryMap is the outcome of a query, each row a map from column to value.
type QueryMap struct {
	rows []row
	err  error
}

// A row maps column names to values; nil is NULL.
type row map[string]*string

// Query runs a query and keeps all of its rows. An error comes from
// [QueryMap.Scan]. A result with exactly the columns Variable_name and Value is
// one row whose columns are the variables.
//
// The status of a replica may be asked for in old words or in new ones: SHOW SLAVE
// STATUS is sent as SHOW REPLICA STATUS to a server that does not understand it, and
// the other way round, and the rows have each column by its old name and its new one.
func Query(db *sql.DB, query string, args ...any) *QueryMap {
	return QueryContext(context.Background(), db, query, args...)
}

// A Querier is a *sql.DB, *sql.Conn or *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// QueryContext is [Query] with a context and on anything that can be queried.
func QueryContext(ctx context.Context, db Querier, query string, args ...any) *QueryMap {
	other, replica := replicaQuery(query)
	rows, err := readRows(ctx, db, query, args)
	if replica && ErrorNumber(err) == syntaxError {
		rows, err = readRows(ctx, db, other, args)
	}
	if replica {
		for _, r := range rows {
			r.alias()
		}
	}
	if err != nil {
		return &QueryMap{err: Explain(fmt.Errorf("query %.60q: %w", query, err))}
	}
	return &QueryMap{rows: rows}
}

// syntaxError is ER_PARSE_ERROR.
const syntaxError = 1064

func readRows(ctx context.Context, db Querier, query string, args []any) ([]row, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	pairs := len(columns) == 2 && columns[0] == "Variable_name" && columns[1] == "Value"
	raw := make([]sql.RawBytes, len(columns))
	into := make([]any, len(columns))
	for i := range raw {
		into[i] = &raw[i]
	}
	var out []row
	if pairs {
		out = []row{{}}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if pairs {
			out[0][string(raw[0])] = textOf(raw[1])
			continue
		}
		r := make(row, len(columns))
		for i, c := range columns {
			r[c] = textOf(raw[i])
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if pairs && len(out[0]) == 0 {
		return nil, nil
	}
	return out, nil
}

func textOf(b sql.RawBytes) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

// ErrNoRows is what [QueryMap.Scan] returns when a struct is to be filled and
// the query gave no row.
var ErrNoRows = errors.New("no sql result")

// Scan puts the rows into dest: a pointer to a struct takes the first row, a
// pointer to a slice of structs takes all of them. Map types with string keys
// and values stand for structs.
//
// A field takes the column that its tag `mysqlvar:"NAME"` names, or its own
// name; case does not matter; the tag "-" leaves a field out. Strings, numbers,
// bools (yes, on, true and 1 are true), [Bool], []byte, those with a method Scan such
// as sql.NullInt64, and pointers to them are filled. A column that a field wants and
// the rows lack is a [*MissingError], unless the field is a pointer or its tag says
// `mysqlvar:"NAME,optional"`; it is zero then. NULL is nil in a pointer and the zero
// value elsewhere. A number that does not fit is an error.
func (q *QueryMap) Scan(dest any) error {
	if q.err != nil {
		return q.err
	}
	return decodeInto(q.rows, dest)
}
