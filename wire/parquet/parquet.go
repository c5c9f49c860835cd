// Package parquet writes tables as Parquet files, for DuckDB, ClickHouse, pandas and others.
//
// The one idea: rows are kept column by column until there are enough of them for a row group, which
// is written at once: each column a page of plain values, compressed with zstd. So memory is bounded
// however long the table is, and the file needs one pass.
//
// Only what tables of measurements need is here: moments in UTC, integers, floats and texts, each of
// which may be missing. Sources: parquet.thrift and Encodings.md of apache/parquet-format 2.12; the
// compact protocol of Apache Thrift.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A Type is what a column holds.
type Type uint8

// The types. Moments are in microseconds.
const (
	Time Type = iota
	Int
	Float
	Text
)

// A Column describes a column.
type Column struct {
	Name string
	Type Type
}

// groupRows is how many rows a row group has, but for the last.
const groupRows = 128 << 10

// A Writer writes rows. It is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	zip     *zstd.Encoder
	at      int64 // bytes written
	columns []column
	rows    int // of the present group
	total   int64
	groups  []group
	err     error
}

// A column of the present group.
type column struct {
	Column
	values []byte // plain
	runs   []run  // which rows have a value
}

// A run is rows one after another that all have a value, or all have none.
type run struct {
	has bool
	n   int
}

// A group is what the end of the file says of a row group.
type group struct {
	rows   int
	chunks []chunk
}

type chunk struct{ offset, plain, packed int64 }

// NewWriter begins a file.
func NewWriter(w io.Writer, columns ...Column) (*Writer, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	p := &Writer{w: w, zip: zip}
	for _, c := range columns {
		p.columns = append(p.columns, column{Column: c})
	}
	p.write([]byte(magic))
	return p, p.err
}

const magic = "PAR1"

func (p *Writer) write(b []byte) {
	if p.err != nil {
		return
	}
	n, err := p.w.Write(b)
	p.at += int64(n)
	p.err = err
}

// Row adds a row: for each column a value of its type, a [time.Time], an int64, a float64 or a string, or nil for
// none.
func (p *Writer) Row(values ...any) error {
	if p.err != nil {
		return p.err
	}
	if len(values) != len(p.columns) {
		return fmt.Errorf("parquet: a row of %d values for %d columns", len(values), len(p.columns))
	}
	for i, v := range values {
		if p.err = p.columns[i].add(v); p.err != nil {
			return p.err // the columns are not of one length any more
		}
	}
	if p.rows++; p.rows == groupRows {
		p.flush()
	}
	return p.err
}

func (c *column) add(v any) error {
	switch v := v.(type) {
	case nil:
	case time.Time:
		if c.Type != Time {
			return c.wrong(v)
		}
		c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v.UnixMicro()))
	case int64:
		if c.Type != Int {
			return c.wrong(v)
		}
		c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
	case float64:
		if c.Type != Float {
			return c.wrong(v)
		}
		c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
	case string:
		if c.Type != Text {
			return c.wrong(v)
		}
		c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
	default:
		return c.wrong(v)
	}
	has := v != nil
	if n := len(c.runs); n == 0 || c.runs[n-1].has != has {
		c.runs = append(c.runs, run{has: has})
	}
	c.runs[len(c.runs)-1].n++
	return nil
}

func (c *column) wrong(v any) error { return fmt.Errorf("parquet: a value %T in column %s", v, c.Name) }

// maxPage is less than what a page may hold.
const maxPage = 1 << 30

// flush writes the present group.
func (p *Writer) flush() {
	if p.rows == 0 {
		return
	}
	g := group{rows: p.rows}
	for i := range p.columns {
		c := &p.columns[i]
		page := c.page()
		if len(page) > maxPage && p.err == nil {
			p.err = errors.New("parquet: a column of too many bytes")
		}
		packed := p.zip.EncodeAll(page, nil)
		header := pageHeader(p.rows, len(page), len(packed))
		g.chunks = append(g.chunks, chunk{p.at, int64(len(header) + len(page)), int64(len(header) + len(packed))})
		p.write(header)
		p.write(packed)
		c.values, c.runs = c.values[:0], c.runs[:0]
	}
	p.groups = append(p.groups, g)
	p.total += int64(p.rows)
	p.rows = 0
}

// page returns the definition levels of a page, 1 where there is a value, and the values. Levels are runs,
// with the length of all of them before.
func (c *column) page() []byte {
	levels := make([]byte, 4, 4+4*len(c.runs))
	for _, r := range c.runs {
		levels = binary.AppendUvarint(levels, uint64(r.n)<<1)
		level := byte(0)
		if r.has {
			level = 1
		}
		levels = append(levels, level)
	}
	binary.LittleEndian.PutUint32(levels, uint32(len(levels)-4))
	return append(levels, c.values...)
}

// Close ends the file; what it is written to stays open.
func (p *Writer) Close() error {
	p.flush()
	footer := p.footer()
	p.write(footer)
	p.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	p.write([]byte(magic))
	return errors.Join(p.err, p.zip.Close())
}
