package chunk

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
	f.Add(Append(nil, []time.Duration{1e9, 2e9, 3e9}, []Column{
		{1, []uint32{0, 1, 2}, []float64{1, 2, 3}},
		{2, []uint32{0, 2}, []float64{0.25, 0.5}},
		{9, []uint32{1}, []float64{1.0 / 3}},
	}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var columns []Column
		total := 0
		h, err := eachColumn(raw, func(times []time.Duration, c Column) error {
			total += len(c.Values)
			if len(c.Values) != len(c.Ticks) || len(c.Ticks) > 0 && int(c.Ticks[len(c.Ticks)-1]) >= len(times) {
				t.Fatalf("%d values at ticks %v of %d", len(c.Values), c.Ticks, len(times))
			}
			columns = append(columns, Column{c.ID, append([]uint32(nil), c.Ticks...), append([]float64(nil), c.Values...)})
			return nil
		})
		if total > len(raw) {
			t.Fatalf("%d values of %d bytes", total, len(raw))
		}
		if err != nil {
			return
		}
		again := Append(nil, h.times, columns)
		i := 0
		if _, err := eachColumn(again, func(_ []time.Duration, c Column) error {
			if !sameBits(c.Values, columns[i].Values) {
				t.Fatalf("%v, want %v", c.Values, columns[i].Values)
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
	body := AppendTick(nil, []int64{1, 2, 3}, []float64{1, 2.5, -1})
	f.Add(body[:len(body)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		n := 0
		EachSample(bytes.Clone(body), func(int64, float64) { n++ })
		EachSample(sealTail(body), func(int64, float64) { n++ })
		if n*9 > 2*len(body) {
			t.Fatalf("%d samples of %d bytes", n, len(body))
		}
	})
}
