package data

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseDump reads the rows of one table from a dump: INSERT statements of several
// rows with the names of the columns in any order, or without them in the order of
// the table. Numbers may be quoted. Other statements, those for other tables, and
// comments are skipped.
func parseDump[T any](r io.Reader, t *table[T], add func(line int, row T) error) error {
	p := &dumpParser[T]{sqlLexer: sqlLexer{r: bufio.NewReaderSize(r, 1<<16), line: 1}, table: t, add: add}
	err := p.parse()
	if err != nil {
		return &lineError{p.line, err}
	}
	return nil
}

type dumpParser[T any] struct {
	sqlLexer
	*table[T]
	add  func(line int, row T) error
	rows int
}

func (p *dumpParser[T]) parse() error {
	for {
		first, err := p.next()
		switch {
		case err != nil:
			return err
		case first.kind == end:
			return nil
		case first.is(";"):
		case first.isWord("INSERT"):
			if err := p.insert(); err != nil {
				return err
			}
		default:
			if err := p.skip(); err != nil {
				return err
			}
		}
	}
}

// skip reads to the end of a statement.
func (p *dumpParser[T]) skip() error {
	for {
		t, err := p.next()
		if err != nil || t.kind == end || t.is(";") {
			return err
		}
	}
}

// insert reads what follows INSERT.
func (p *dumpParser[T]) insert() error {
	if err := p.want("INTO"); err != nil {
		return err
	}
	name, after, err := p.tableName()
	if err != nil {
		return err
	}
	if name != p.name {
		if after.is(";") || after.kind == end {
			return nil
		}
		return p.skip()
	}
	order, after, err := p.columnList(after)
	if err != nil {
		return err
	}
	if !after.isWord("VALUES") && !after.isWord("VALUE") {
		return fmt.Errorf("want VALUES, have %s", after)
	}
	for {
		if err := p.row(order); err != nil {
			return err
		}
		t, err := p.next()
		switch {
		case err != nil:
			return err
		case t.is(";") || t.kind == end:
			return nil
		case !t.is(","):
			return fmt.Errorf("after row %d: want a comma or a semicolon, have %s", p.rows, t)
		}
	}
}

// tableName reads a name, with or without that of a database, and the token after it.
func (p *dumpParser[T]) tableName() (name string, after token, err error) {
	for {
		t, err := p.next()
		if err != nil {
			return "", token{}, err
		}
		if t.kind != word && t.kind != quotedName {
			return "", token{}, fmt.Errorf("want the name of a table, have %s", t)
		}
		if after, err = p.next(); err != nil || !after.is(".") {
			return t.text, after, err
		}
	}
}

// columnList reads the names of columns if there are any, and the token after them. The
// order is the index in the row's fields of each value to come.
func (p *dumpParser[T]) columnList(first token) (order []int, after token, err error) {
	if !first.is("(") {
		for i := range p.columns {
			order = append(order, i)
		}
		return order, first, nil
	}
	for {
		t, err := p.next()
		if err != nil {
			return nil, token{}, err
		}
		i := slices.Index(p.columns, t.text)
		if t.kind != word && t.kind != quotedName || i < 0 || slices.Contains(order, i) {
			return nil, token{}, fmt.Errorf("want the columns %s, each once, have %s", strings.Join(p.columns, ", "), t)
		}
		order = append(order, i)
		if t, err = p.next(); err != nil {
			return nil, token{}, err
		}
		if t.is(")") {
			break
		}
		if !t.is(",") {
			return nil, token{}, fmt.Errorf("want a comma between columns, have %s", t)
		}
	}
	if len(order) != len(p.columns) {
		return nil, token{}, fmt.Errorf("want all the columns %s, have %d", strings.Join(p.columns, ", "), len(order))
	}
	after, err = p.next()
	return order, after, err
}

// row reads the values of one row in parentheses and hands it on.
func (p *dumpParser[T]) row(order []int) error {
	p.rows++
	if err := p.want("("); err != nil {
		return fmt.Errorf("row %d: %w", p.rows, err)
	}
	var row T
	fields := p.fields(&row)
	for i, column := range order {
		if i > 0 {
			if err := p.want(","); err != nil {
				return fmt.Errorf("row %d: after %d of %d values: %w", p.rows, i, len(order), err)
			}
		}
		v, err := p.next()
		if err != nil {
			return err
		}
		if err := setField(fields[column], v); err != nil {
			return fmt.Errorf("row %d: column %s: %w", p.rows, p.columns[column], err)
		}
	}
	if err := p.want(")"); err != nil {
		return fmt.Errorf("row %d: after %d values: %w", p.rows, len(order), err)
	}
	return p.add(p.line, row)
}

// want reads one token that has to be the given word or sign.
func (p *dumpParser[T]) want(text string) error {
	t, err := p.next()
	if err == nil && !t.is(text) && !t.isWord(text) {
		err = fmt.Errorf("want %s, have %s", text, t)
	}
	return err
}

// setField gives a field the value of a literal.
func setField(field any, t token) error {
	switch v := field.(type) {
	case *int64:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil || t.kind != quotedText && t.kind != numeral {
			return fmt.Errorf("want an integer, have %s", t)
		}
		*v = n
	case *float64:
		x, err := strconv.ParseFloat(t.text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || t.kind != quotedText && t.kind != numeral {
			return fmt.Errorf("want a number, have %s", t)
		}
		*v = x
	case *string:
		if t.kind != quotedText || !utf8.ValidString(t.text) {
			return fmt.Errorf("want a string in UTF-8, have %s", t)
		}
		*v = t.text
	}
	return nil
}
