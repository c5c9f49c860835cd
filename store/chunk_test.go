package store

import (
	"bytes"
	"encoding/binary"
	"math"
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

func anyColumns(t *rapid.T) ([]time.Duration, []column) {
	times := rapid.SliceOfN(rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) }), 1, 70).Draw(t, "times")
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1<<40), 0, 20, rapid.ID[int64]).Draw(t, "ids")
	next := int64(0)
	var out []column
	for range ids {
		next += rapid.Int64Range(1, 1<<40).Draw(t, "step")
		c := column{id: next}
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
			c.ticks, c.values = append(c.ticks, uint32(i)), append(c.values, v)
		}
		out = append(out, c)
	}
	return times, out
}

func TestChunkGivesBackEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times, want := anyColumns(t)
		raw := appendChunk(nil, times, want)
		var got []column
		h, err := eachColumn(raw, func(_ []time.Duration, c column) error {
			got = append(got, column{c.id, append([]uint32(nil), c.ticks...), append([]float64(nil), c.values...)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(h.times, times); d != "" {
			t.Fatal("times", d)
		}
		if len(got) != len(want) {
			t.Fatalf("%d series, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].id != want[i].id {
				t.Fatalf("series %d: id %d, want %d", i, got[i].id, want[i].id)
			}
			if d := difference(got[i].ticks, want[i].ticks); d != "" {
				t.Fatal("ticks", d)
			}
			if d := difference(got[i].values, want[i].values); d != "" {
				t.Fatal("values", d)
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

// TestChunkIsSmall pins what the forms and the compression are worth.
func TestChunkIsSmall(t *testing.T) {
	path := tempRun(t)
	record(t, path, 700, 60)
	bytes := query[int](t, path, "SELECT sum(length(data)) FROM chunk")
	if perPoint := float64(bytes) / (700 * 60); perPoint > 2.5 {
		t.Errorf("%.2f bytes for each sample, want at most 2.5", perPoint)
	}
}

func TestChunk_Failure(t *testing.T) {
	f := func(raw ...byte) {
		t.Helper()
		if _, err := eachColumn(raw, func([]time.Duration, column) error { return nil }); err == nil {
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
	enc, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	dec, err := newDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	raw := appendChunk(nil, []time.Duration{1, 2}, []column{{1, []uint32{0, 1}, []float64{math.Pi, math.E}}})
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
	bomb := enc.EncodeAll(make([]byte, maxRawChunk+1), nil)
	dec, err := newDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	if _, err := dec.DecodeAll(bomb, nil); err == nil {
		t.Errorf("%d bytes became more than %d", len(bomb), maxRawChunk)
	}
}

func TestTailGivesBackEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Int64(), 0, 50).Draw(t, "ids")
		values := rapid.SliceOfN(anyValue(), len(ids), len(ids)).Draw(t, "values")
		var gotIDs []int64
		var got []float64
		err := eachTail(appendTail(nil, ids, values), func(id int64, v float64) {
			gotIDs, got = append(gotIDs, id), append(got, v)
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(gotIDs, ids); d != "" && len(ids) > 0 {
			t.Fatal(d)
		}
		if d := difference(got, values); d != "" && len(ids) > 0 {
			t.Fatal(d)
		}
	})
}

func TestTail_Failure(t *testing.T) {
	good := appendTail(nil, []int64{1, 2, 9}, []float64{1, 2, 3})
	count := func(b []byte) (n int, err error) {
		err = eachTail(b, func(int64, float64) { n++ })
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
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), checksum(body))
}
