package load

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxTable bounds a [Table], in bytes.
const maxTable = 64 << 20

// A Table is a CSV file whose columns fill places of requests: request n takes
// row n, and from the first one again after the last. With several targets in
// turn each therefore sees only the rows of its own numbers. It is immutable and
// safe for concurrent use.
type Table struct {
	name    string
	columns []string
	rows    uint64
	cells   string   // one after the other, row by row
	ends    []uint32 // of each cell
}

// ReadTable reads a CSV file (RFC 4180) whose first row names the columns. The
// name is for errors, which have it with the line. A table takes at most 64 MiB,
// four bytes for each cell included.
func ReadTable(r io.Reader, name string) (*Table, error) { return readTable(r, name, maxTable) }

func readTable(r io.Reader, name string, limit int) (*Table, error) {
	limited := &io.LimitedReader{R: r, N: int64(limit) + 1}
	text := bufio.NewReader(limited)
	if b, _ := text.Peek(3); string(b) == "\ufeff" { // the byte order mark of some editors
		_, _ = text.Discard(len(b))
	}
	in := csv.NewReader(text)
	in.ReuseRecord = true
	in.FieldsPerRecord = -1
	t := &Table{name: name}
	var cells strings.Builder
	for {
		row, err := in.Read()
		switch {
		case limited.N <= 0:
			return nil, fmt.Errorf("%s: larger than %d MiB", name, limit>>20)
		case err == io.EOF && len(t.columns) == 0:
			return nil, fmt.Errorf("%s:1: no header: want a row with the names of the columns", name)
		case err == io.EOF && t.rows == 0:
			return nil, fmt.Errorf("%s: no row after the header", name)
		case err == io.EOF:
			t.cells = cells.String()
			return t, nil
		case err != nil:
			return nil, tableError(name, err)
		}
		line, _ := in.FieldPos(0)
		if len(t.columns) == 0 {
			if err := t.header(row); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			continue
		}
		if len(row) != len(t.columns) {
			return nil, fmt.Errorf("%s:%d: %d cells in the row, %d in the header", name, line, len(row), len(t.columns))
		}
		for _, c := range row {
			cells.WriteString(c)
			t.ends = append(t.ends, uint32(cells.Len()))
		}
		if cells.Len()+4*len(t.ends) > limit {
			return nil, fmt.Errorf("%s:%d: the table takes more than %d MiB", name, line, limit>>20)
		}
		t.rows++
	}
}

// tableError writes the line where it stands in other errors.
func tableError(name string, err error) error {
	if e := (*csv.ParseError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s:%d: bad CSV: %w", name, e.Line, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (t *Table) header(row []string) error {
	seen := make(map[string]bool, len(row))
	for i, c := range row {
		c = strings.TrimSpace(c)
		switch {
		case c == "":
			return fmt.Errorf("bad header: column %d has no name", i+1)
		case seen[c]:
			return fmt.Errorf("bad header: two columns %q", c)
		}
		seen[c] = true
		t.columns = append(t.columns, c)
	}
	return nil
}

// column returns the index of a column.
func (t *Table) column(name string) (int, error) {
	i := slices.Index(t.columns, strings.TrimSpace(name))
	if i < 0 {
		return 0, fmt.Errorf("%s has no column %q but %s", t.name, name, strings.Join(t.columns, ", "))
	}
	return i, nil
}

// cell returns a cell; row is less than t.rows.
func (t *Table) cell(row uint64, column int) string {
	i := row*uint64(len(t.columns)) + uint64(column)
	begin := uint32(0)
	if i > 0 {
		begin = t.ends[i-1]
	}
	return t.cells[begin:t.ends[i]]
}
