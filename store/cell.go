package store

import (
	"encoding"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// A cell is the value of one column of one row, in memory.
type cell interface {
	put() any   // as database/sql takes it
	get(r *row) // takes it off a row
}

type textCell[S ~string] struct{ p *S }

// textOf is a text such as a title, a note, a name, or a word of a fixed set.
func textOf[S ~string](p *S) cell { return textCell[S]{p} }

func (c textCell[S]) put() any   { return string(*c.p) }
func (c textCell[S]) get(r *row) { *c.p = S(r.text()) }

type longCell struct{ p *string }

// longOf is a text that may be long: a file, a sample.
func longOf(p *string) cell { return longCell{p} }

func (c longCell) put() any   { return *c.p }
func (c longCell) get(r *row) { *c.p = r.long() }

// An integer is what the file keeps as a whole number.
type integer interface {
	int | int64 | uint32 | uint64 | time.Duration
}

type numberCell[N integer] struct{ p *N }

// numberOf is a whole number. database/sql takes no uint64 above 2^63: the bits are kept.
func numberOf[N integer](p *N) cell { return numberCell[N]{p} }

func (c numberCell[N]) put() any   { return int64(*c.p) }
func (c numberCell[N]) get(r *row) { *c.p = N(r.int64()) }

type realCell struct{ p *float64 }

// realOf is a number; NaN becomes NULL.
func realOf(p *float64) cell { return realCell{p} }

func (c realCell) put() any   { return *c.p }
func (c realCell) get(r *row) { *c.p = r.real() }

type flagCell struct{ p *bool }

// flagOf is a bool, 0 or 1 in the file.
func flagOf(p *bool) cell { return flagCell{p} }

func (c flagCell) put() any   { return asInt(*c.p) }
func (c flagCell) get(r *row) { *c.p = r.bool() }

type blobCell struct{ p *[]byte }

// bytesOf is bytes as they are; nil is NULL.
func bytesOf(p *[]byte) cell { return blobCell{p} }

func (c blobCell) put() any   { return *c.p }
func (c blobCell) get(r *row) { *c.p = r.blob() }

// encoded is a *T that is one run of bytes in a file.
type encoded[T any] interface {
	*T
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// encodedOf is what encodes itself, such as a histogram; nil is NULL.
func encodedOf[T any, P encoded[T]](p *P) cell {
	return formOf(func() any { return blobOf(*p) }, func(r *row) {
		blob := r.blob()
		if blob == nil {
			return
		}
		v := P(new(T))
		if err := v.UnmarshalBinary(blob); err != nil {
			r.fail("column %d: %w", r.next, err)
			return
		}
		*p = v
	})
}

type jsonCell[T any] struct{ p *T }

// jsonOf is what JSON can hold as it is.
func jsonOf[T any](p *T) cell { return jsonCell[T]{p} }

func (c jsonCell[T]) put() any   { return jsonText(*c.p) }
func (c jsonCell[T]) get(r *row) { r.json(c.p) }

type asCell struct {
	write func() any
	read  func(r *row)
}

// formOf is a column with a form of its own.
func formOf(write func() any, read func(r *row)) cell { return asCell{write, read} }

func (c asCell) put() any   { return c.write() }
func (c asCell) get(r *row) { c.read(r) }

// computedBy is a column for those who read the file with SQL, which is not read back.
func computedBy(write func() any) cell { return formOf(write, func(r *row) { r.skip(1) }) }

// packedOf is a list as JSON whose members another type names.
func packedOf[A, B any](p *[]A, pack func(A) B, unpack func(B) A) cell {
	return formOf(func() any { return jsonText(mapped(*p, pack)) }, func(r *row) {
		var in []B
		r.json(&in)
		*p = mapped(in, unpack)
	})
}

func mapped[A, B any](in []A, f func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// spreadOf are three figures of a histogram for those who read the file with SQL, which
// cannot read the histogram itself.
func spreadOf(h *histogram.Histogram) (p50, p99, most cell) {
	figure := func(of func() time.Duration) cell {
		return computedBy(func() any {
			if h == nil {
				return int64(0)
			}
			return int64(of())
		})
	}
	p50 = figure(func() time.Duration { return h.Quantile(0.5) })
	p99 = figure(func() time.Duration { return h.Quantile(0.99) })
	return p50, p99, figure(func() time.Duration { return h.Max() })
}
