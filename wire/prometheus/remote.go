package prometheus

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"
)

// A Point is a value at a moment.
type Point struct {
	At    time.Time
	Value float64
}

// A WriteRequest is what remote write 1.0 sends: series with their values, encoded as they are
// added. The zero value is empty.
//
// Source: prometheus.io/docs/specs/prw/remote_write_spec, version 1.0; the encoding of protocol
// buffers, "Message Structure".
type WriteRequest struct {
	b      []byte
	points int
}

// Points returns how many values it has.
func (w *WriteRequest) Points() int { return w.points }

// Series adds the values of one series, the oldest first. An empty label is left out, as
// Prometheus has it; what is no UTF-8 becomes U+FFFD.
func (w *WriteRequest) Series(name string, labels []Label, points []Point) {
	all := append([]Label{{"__name__", name}}, labels...)
	slices.SortFunc(all, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	var series []byte
	for _, l := range all {
		if l.Value == "" {
			continue
		}
		label := appendText(nil, 1, l.Name)
		label = appendText(label, 2, strings.ToValidUTF8(l.Value, "\uFFFD"))
		series = appendText(series, 1, string(label))
	}
	for _, p := range points {
		sample := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(p.Value)) // field 1, 64 bits
		sample = append(sample, 2<<3)                                                           // field 2, a varint
		sample = binary.AppendUvarint(sample, uint64(p.At.UnixMilli()))
		series = appendText(series, 2, string(sample))
	}
	w.b = appendText(w.b, 1, string(series))
	w.points += len(points)
}

// appendText appends a field with its length: text, or a message.
func appendText(b []byte, field byte, s string) []byte {
	b = append(b, field<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// mostLiteral is how long a literal of snappy is made; its length takes two bytes.
const mostLiteral = 1 << 16

// Body returns the request as it is sent, in snappy's block format. Nothing is compressed: all
// of it is literals, which every decoder reads.
//
// Source: google/snappy, format_description.txt.
func (w *WriteRequest) Body() []byte {
	out := binary.AppendUvarint(nil, uint64(len(w.b)))
	for part := range slices.Chunk(w.b, mostLiteral) {
		out = append(out, 61<<2) // a literal whose length less one follows in two bytes
		out = binary.LittleEndian.AppendUint16(out, uint16(len(part)-1))
		out = append(out, part...)
	}
	return out
}
