package store

import (
	"fmt"
	"strings"
)

// A table maps values of T to the rows of one table and back. Every table has
// an integer key, id, which is the value's place counted from 1 where nothing
// else is said.
type table[T any] struct {
	name    string
	columns []string            // all but id
	fields  func(v *T) []column // of a value, in the order of columns
}

// A column is one of a table, and where its value is.
type column struct {
	name string
	cell cell
}

// tableOf returns a table whose columns are listed once, for writing and reading.
func tableOf[T any](name string, fields func(v *T) []column) table[T] {
	t := table[T]{name: name, fields: fields}
	for _, c := range fields(new(T)) {
		t.columns = append(t.columns, c.name)
	}
	return t
}

// put returns the value's columns as database/sql takes them.
func (t table[T]) put(v *T) []any {
	out := make([]any, 0, len(t.columns))
	for _, c := range t.fields(v) {
		out = append(out, c.cell.put())
	}
	return out
}

// get takes the value's columns off a row.
func (t table[T]) get(r *row, v *T) {
	for _, c := range t.fields(v) {
		c.cell.get(r)
	}
}

func cols(s string) []string { return strings.Fields(s) }

func (t table[T]) insertSQL() string {
	return fmt.Sprintf("INSERT INTO %s (id, %s) VALUES (?%s)",
		t.name, strings.Join(t.columns, ", "), strings.Repeat(", ?", len(t.columns)))
}

// insert adds one row.
func (t table[T]) insert(q queryer, id int64, v *T) error {
	_, err := q.Exec(t.insertSQL(), append([]any{id}, t.put(v)...)...)
	return t.named(err)
}

// replace makes the values all that the table holds.
func (t table[T]) replace(q queryer, values []T) error {
	if _, err := q.Exec("DELETE FROM " + t.name); err != nil {
		return t.named(err)
	}
	for i := range values {
		if err := t.insert(q, int64(i+1), &values[i]); err != nil {
			return err
		}
	}
	return nil
}

// replaceOne makes the value, if there is one, the only row, with id 1.
func (t table[T]) replaceOne(q queryer, v *T) error {
	if v == nil {
		return t.replace(q, nil)
	}
	return t.replace(q, []T{*v})
}

func (t table[T]) named(err error) error {
	if err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	return nil
}

// A kept is a value with its row's id.
type kept[T any] struct {
	id int64
	v  T
}

// read returns the rows that can be read, by id. What is lost, rd remembers.
func (t table[T]) read(rd *reader) []kept[T] {
	var out []kept[T]
	rd.scan(t.name, t.columns, func(id int64, r *row) error {
		var v T
		t.get(r, &v)
		if r.err == nil {
			out = append(out, kept[T]{id, v})
		}
		return r.err
	})
	return out
}

// values drops the ids.
func values[T any](rows []kept[T]) []T {
	if rows == nil {
		return nil
	}
	out := make([]T, len(rows))
	for i := range rows {
		out[i] = rows[i].v
	}
	return out
}

// one returns the first row, nil when there is none.
func one[T any](rows []kept[T]) *T {
	if len(rows) == 0 {
		return nil
	}
	return &rows[0].v
}

// byID finds the value of a row, nil when that row is lost.
func byID[T any](rows []kept[T], id int64) *T {
	lo, hi := 0, len(rows)
	for lo < hi {
		mid := (lo + hi) / 2
		if rows[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(rows) && rows[lo].id == id {
		return &rows[lo].v
	}
	return nil
}

// add adds a row after all others.
func (t table[T]) add(q queryer, v *T) error {
	_, err := q.Exec(t.insertSQL(), append([]any{nil}, t.put(v)...)...)
	return t.named(err)
}
