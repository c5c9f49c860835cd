package chunk

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// values draws floats of the kinds that sources give, and all others.
func anyValue() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64Range(0, 1<<60), func(n int64) float64 { return float64(n) }),
		rapid.Map(rapid.IntRange(-1000, 1_000_000), func(n int) float64 { return float64(n) / 100 }),
		rapid.Map(rapid.Int64Range(0, 1e14), func(n int64) float64 { return time.Duration(n).Seconds() }),
		rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2, -(1 << 53), 0.1, 1e-9}),
	)
}

func anyColumns(t *rapid.T) ([]time.Duration, []Column) {
	times := rapid.SliceOfN(rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) }), 1, 70).Draw(t, "times")
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1<<40), 0, 20, rapid.ID[int64]).Draw(t, "ids")
	next := int64(0)
	var out []Column
	for range ids {
		next += rapid.Int64Range(1, 1<<40).Draw(t, "step")
		c := Column{ID: next}
		one := anyValue()
		constant := rapid.Bool().Draw(t, "constant")
		v := one.Draw(t, "value")
		for i := range times {
			if rapid.IntRange(0, 9).Draw(t, "there") == 0 {
				continue
			}
			if !constant {
				v = one.Draw(t, "value")
			}
			c.Ticks, c.Values = append(c.Ticks, uint32(i)), append(c.Values, v)
		}
		out = append(out, c)
	}
	return times, out
}

func TestChunkGivesBackEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times, want := anyColumns(t)
		raw := Append(nil, times, want)
		var got []Column
		h, err := eachColumn(raw, func(_ []time.Duration, c Column) error {
			got = append(got, Column{c.ID, append([]uint32(nil), c.Ticks...), append([]float64(nil), c.Values...)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.times, times) {
			t.Fatalf("times %v, want %v", h.times, times)
		}
		if len(got) != len(want) {
			t.Fatalf("%d series, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].ID != want[i].ID {
				t.Fatalf("series %d: id %d, want %d", i, got[i].ID, want[i].ID)
			}
			if !slices.Equal(got[i].Ticks, want[i].Ticks) {
				t.Fatalf("ticks %v, want %v", got[i].Ticks, want[i].Ticks)
			}
			if !sameBits(got[i].Values, want[i].Values) {
				t.Fatalf("values %v, want %v", got[i].Values, want[i].Values)
			}
		}
	})
}

func TestChunkForms(t *testing.T) {
	f := func(want byte, values ...float64) {
		t.Helper()
		if got := chooseForm(values); got != want {
			t.Errorf("form %d, want %d", got, want)
		}
	}
	f(0)
	f(0, 1, 2, 3)
	f(0, 1<<52, -7)
	f(2, 1, 2.25, 0.01)
	f(6, 0.000001, 12)
	f(9, 1e-9)
	f(9, (12 * time.Second).Seconds(), (340*time.Millisecond + 7).Seconds())
	f(formBits, 1<<54)
	f(formBits, 1, math.NaN())
	f(formBits, 0, math.Copysign(0, -1))
	f(formBits, math.Pi)
}

func TestChunk_Failure(t *testing.T) {
	f := func(raw ...byte) {
		t.Helper()
		if _, err := eachColumn(raw, func([]time.Duration, Column) error { return nil }); err == nil {
			t.Errorf("% x: no error", raw)
		}
	}
	f()
	f(2, 0, 0)
	f(1, 0)
	f(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0) // 2^64-1 ticks
	f(1, 0, 0xff, 0xff, 0xff, 0x7f)
	f(1, 1, 1, 0, 1, 0)          // no value
	f(1, 1, 1, 0, 1, 40, 0)      // unknown form
	f(1, 1, 1, 0, 1, 0x80, 2, 0) // a value after the last tick
	f(1, 1, 1, 0, 1, 0, 0, 0)    // bytes after the last series
}

func TestCompressedChunkIsChecked(t *testing.T) {
	enc, err := NewCompressor()
	if err != nil {
		t.Fatal(err)
	}
	dec, err := NewDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	raw := Append(nil, []time.Duration{1, 2}, []Column{{1, []uint32{0, 1}, []float64{math.Pi, math.E}}})
	packed := enc.EncodeAll(raw, nil)
	for i := range packed {
		flipped := bytes.Clone(packed)
		flipped[i] ^= 0x10
		if got, err := dec.DecodeAll(flipped, nil); err == nil && !bytes.Equal(got, raw) {
			t.Errorf("byte %d of %d: a flip goes unnoticed", i, len(packed))
		}
	}
}

// TestCompressedBomb gives the reader a few bytes that ask for much memory.
func TestCompressedBomb(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := enc.EncodeAll(make([]byte, MaxRaw+1), nil)
	dec, err := NewDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	if _, err := dec.DecodeAll(bomb, nil); err == nil {
		t.Errorf("%d bytes became more than %d", len(bomb), MaxRaw)
	}
}

func TestTailGivesBackEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Int64(), 0, 50).Draw(t, "ids")
		values := rapid.SliceOfN(anyValue(), len(ids), len(ids)).Draw(t, "values")
		var gotIDs []int64
		var got []float64
		err := EachSample(AppendTick(nil, ids, values), func(id int64, v float64) {
			gotIDs, got = append(gotIDs, id), append(got, v)
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(gotIDs, ids) || !sameBits(got, values) {
			t.Fatalf("%v: %v, want %v: %v", gotIDs, got, ids, values)
		}
	})
}

func TestTail_Failure(t *testing.T) {
	good := AppendTick(nil, []int64{1, 2, 9}, []float64{1, 2, 3})
	count := func(b []byte) (n int, err error) {
		err = EachSample(b, func(int64, float64) { n++ })
		return n, err
	}
	for i := range good {
		if n, err := count(good[:i]); err == nil || n > 0 {
			t.Errorf("cut to %d bytes: %d samples, error %v", i, n, err)
		}
		for bit := range 8 {
			b := bytes.Clone(good)
			b[i] ^= 1 << bit
			if n, err := count(b); err == nil || n > 0 {
				t.Errorf("bit %d of byte %d: %d samples, error %v", bit, i, n, err)
			}
		}
	}
}

// sealTail puts the right checksum after a tail row's body.
func sealTail(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), Checksum(body))
}

// sameBits reports whether values are the same bit by bit, NaN and the sign of 0 too.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
