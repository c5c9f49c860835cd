package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store/chunk"
)

// A row is one row as the database gave it: NULL, int64, float64, string or
// []byte in each column. Its methods take the columns one after the other, as
// the table's write side lists them; the first that is not what it should be is
// kept in err, and zeros follow.
type row struct {
	vals []any
	next int
	err  error
}

func (r *row) any() any {
	if r.next >= len(r.vals) {
		r.fail("too few columns")
		return nil
	}
	v := r.vals[r.next]
	r.next++
	return v
}

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *row) int64() int64 {
	switch v := r.any().(type) {
	case int64:
		return v
	case nil:
		return 0
	default:
		r.fail("column %d is %T, not an integer", r.next, v)
		return 0
	}
}

func (r *row) int() int           { return int(r.int64()) }
func (r *row) dur() time.Duration { return time.Duration(r.int64()) }
func (r *row) bool() bool         { return r.int64() != 0 }
func (r *row) skip(columns int)   { r.next += columns }

// real reads NULL as NaN, which is how SQLite stores it.
func (r *row) real() float64 {
	switch v := r.any().(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case nil:
		return math.NaN()
	default:
		r.fail("column %d is %T, not a number", r.next, v)
		return 0
	}
}

// mostText and mostLong bound the texts of a run file, in bytes: whoever wrote the file
// decides what is in it. What kasoku writes is far shorter; files of configuration, of
// at most 1 MiB each, and samples are long.
const (
	mostText = 64 << 10
	mostLong = 16 << 20
)

// text takes a text such as a title, a note or a name.
func (r *row) text() string { return cutText(r.string(), mostText) }

// long takes a text that may be long: a file, a sample.
func (r *row) long() string { return cutText(r.string(), mostLong) }

// cutText cuts a text that is longer than most bytes, and says so at its end.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	kept, all := unit.BytesIEC(uint64(end)), unit.BytesIEC(uint64(len(s)))
	return strings.Clone(s[:end]) + fmt.Sprintf("… [cut: %s of %s]", kept, all)
}

func (r *row) string() string {
	switch v := r.any().(type) {
	case string:
		return v
	case nil:
		return ""
	default:
		r.fail("column %d is %T, not text", r.next, v)
		return ""
	}
}

func (r *row) blob() []byte {
	switch v := r.any().(type) {
	case []byte:
		return v
	case nil:
		return nil
	default:
		r.fail("column %d is %T, not bytes", r.next, v)
		return nil
	}
}

// json reads a column of JSON into v.
func (r *row) json(v any) {
	text := r.string()
	if len(text) > mostLong {
		r.fail("column %d has %d bytes of JSON, at most %d are read", r.next, len(text), mostLong)
	}
	if r.err != nil {
		return
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		r.fail("column %d: %w", r.next, err)
	}
}

// sum returns CRC-32C over the row in a form without ambiguity: for each column
// one letter, and the value: i and 8 bytes of integer, f and 8 bytes of float, t
// or b and 8 bytes of length and the bytes, n. All numbers are big-endian.
func (r *row) sum(buf []byte) (crc uint32, grown []byte) {
	buf = buf[:0]
	for _, v := range r.vals {
		switch v := v.(type) {
		case nil:
			buf = append(buf, 'n')
		case int64:
			buf = binary.BigEndian.AppendUint64(append(buf, 'i'), uint64(v))
		case float64:
			buf = binary.BigEndian.AppendUint64(append(buf, 'f'), math.Float64bits(v))
		case string:
			buf = append(binary.BigEndian.AppendUint64(append(buf, 't'), uint64(len(v))), v...)
		case []byte:
			buf = append(binary.BigEndian.AppendUint64(append(buf, 'b'), uint64(len(v))), v...)
		}
	}
	return chunk.Checksum(buf), buf
}

func ns(d time.Duration) int64 { return int64(d) }
func asInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// jsonText encodes what cannot fail to encode: maps, slices and structs of
// plain values. Text in it becomes valid UTF-8.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// validKeys makes the keys of a map valid UTF-8, adding up what falls together;
// JSON would keep only one of them.
func validKeys(m map[string]uint64) map[string]uint64 {
	valid := true
	for k := range m {
		valid = valid && strings.ToValidUTF8(k, "\uFFFD") == k
	}
	if valid {
		return m
	}
	out := make(map[string]uint64, len(m))
	for k, n := range maps.All(m) {
		out[strings.ToValidUTF8(k, "\uFFFD")] += n
	}
	return out
}

// blobOf encodes a histogram; nil stays NULL.
func blobOf[T any, P encoded[T]](v P) []byte {
	if v == nil {
		return nil
	}
	b, _ := v.MarshalBinary() // it never fails
	return b
}
