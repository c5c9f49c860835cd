package store

import (
	"bytes"
	"testing"
	"time"
)

// FuzzChunk checks that no bytes make the decoder panic, give more values than
// there are bytes, or values after the last tick; and that what it accepts is
// the same after another round.
func FuzzChunk(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{1, 1, 1, 0, 1, 0x80, 1, 14})
	f.Add(appendChunk(nil, []time.Duration{1e9, 2e9, 3e9}, []column{
		{1, []uint32{0, 1, 2}, []float64{1, 2, 3}},
		{2, []uint32{0, 2}, []float64{0.25, 0.5}},
		{9, []uint32{1}, []float64{1.0 / 3}},
	}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var columns []column
		total := 0
		h, err := eachColumn(raw, func(times []time.Duration, c column) error {
			total += len(c.values)
			if len(c.values) != len(c.ticks) || len(c.ticks) > 0 && int(c.ticks[len(c.ticks)-1]) >= len(times) {
				t.Fatalf("%d values at ticks %v of %d", len(c.values), c.ticks, len(times))
			}
			columns = append(columns, column{c.id, append([]uint32(nil), c.ticks...), append([]float64(nil), c.values...)})
			return nil
		})
		if total > len(raw) {
			t.Fatalf("%d values of %d bytes", total, len(raw))
		}
		if err != nil {
			return
		}
		again := appendChunk(nil, h.times, columns)
		i := 0
		if _, err := eachColumn(again, func(_ []time.Duration, c column) error {
			if d := difference(c.values, columns[i].values); d != "" && len(c.values) > 0 {
				t.Fatal(d)
			}
			i++
			return nil
		}); err != nil || i != len(columns) {
			t.Fatalf("second round: %d of %d series, %v", i, len(columns), err)
		}
	})
}

// FuzzTail checks the decoder of tail rows with bodies whose checksum holds.
func FuzzTail(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0})
	body := appendTail(nil, []int64{1, 2, 3}, []float64{1, 2.5, -1})
	f.Add(body[:len(body)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		n := 0
		eachTail(bytes.Clone(body), func(int64, float64) { n++ })
		eachTail(sealTail(body), func(int64, float64) { n++ })
		if n*9 > 2*len(body) {
			t.Fatalf("%d samples of %d bytes", n, len(body))
		}
	})
}

// FuzzHeader checks that only what carries our mark is taken for a run file.
func FuzzHeader(f *testing.F) {
	head := make([]byte, headerBytes)
	copy(head, "SQLite format 3\x00")
	f.Add([]byte{})
	f.Add([]byte("SQLite format 3\x00"))
	f.Add(bytes.Clone(head))
	copy(head[68:], "kaso")
	f.Add(head)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err != nil && h != (header{}) {
			t.Fatalf("%+v with an error", h)
		}
		if err == nil && !bytes.Contains(b, []byte("kaso")) {
			t.Fatal("accepted without our mark")
		}
	})
}

// FuzzStart checks that the parser of process states never panics.
func FuzzStart(f *testing.F) {
	f.Add([]byte("1204 (userapi) S 1 1204 1204 0 -1 4194560 1 0 0 0 5 3 0 0 20 0 7 0 123456 1 2 3"))
	f.Add([]byte("1 (a) b) c) S 1"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, b []byte) { parseStart(b) })
}
