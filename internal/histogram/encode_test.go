package histogram

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// frame writes an encoding by hand.
func frame(numbers ...uint64) []byte {
	b := []byte{version}
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func TestUnmarshalBinary_Failure(t *testing.T) {
	f := func(b []byte, want string) {
		t.Helper()
		h := New()
		h.Record(time.Second)
		err := h.UnmarshalBinary(b)
		if err == nil || err.Error() != "histogram: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
		if h.Count() != 0 || len(encoded(t, h)) != 2 {
			t.Errorf("%s: the histogram is not empty", want)
		}
	}
	f(nil, "no bytes")
	f([]byte{7, 0}, "version 7, want 1 or 2")
	f([]byte{version}, "bad varint")
	f([]byte{version, 0x80, 0}, "bad varint") // 0 in two bytes
	f(append([]byte{version}, []byte(strings.Repeat("\xff", 11))...), "bad varint")
	f(append(frame(0), 0), "1 bytes too many")
	f(frame(1, 0, 5, 5, 0, 0), "0 filled buckets")
	f(frame(1, 0, 5, 5, 0, buckets+1), "7297 filled buckets")
	f(frame(1, 0, 5, 1<<63, 0, 1, 0), "value beyond 2^63-1 ns")
	f(frame(1, 0, 5, 1, 1<<63-1, 1, 0), "value beyond 2^63-1 ns")
	f(frame(1, 0, 5, 5, 0, 1, buckets<<1), "bucket out of range")
	f(frame(1, 0, 5, 5, 0, 1, 1<<63), "bucket out of range")
	f(frame(1, 0, 5, 5, 0, 1, 5<<1|1, 1<<64-1), "count out of range") // 1 in the long form
	f(frame(1, 0, 5, 5, 0, 1, 5<<1|1, 1<<64-2), "count out of range") // 2^64
	f(frame(2, 0, 11, 5, 1, 2, 5<<1, 0<<1|1, 1<<64-3), "count out of range")
	f(frame(2, 0, 5, 5, 0, 1, 5<<1), "counts add up to 1, not 2")
	f(frame(1, 0, 6, 6, 0, 1, 5<<1), "least and greatest value lie outside the buckets")
	f(frame(1, 0, 5, 5, 1, 1, 5<<1), "least and greatest value lie outside the buckets")
	f(frame(1, 0, 6, 5, 0, 1, 5<<1), "sum does not fit the counts")
	f(frame(1, 1, 5, 5, 0, 1, 5<<1), "sum does not fit the counts")
	f(frame(1, 0, 4, 5, 0, 1, 5<<1), "sum does not fit the counts")
	f(frame(3, 0, 15, 5, 0, 1, 5<<1), "counts add up to 1, not 3")

	exact := func(numbers ...uint64) []byte {
		b := frame(numbers...)
		b[0] = versionExact
		return b
	}
	f(exact(), "bad varint")
	f(exact(0, 1, 0), "unit of 0 ns")
	f(exact(uint64(maxUnit)+1, 1, 0), "unit of 3600000000001 ns")
	f(exact(1000, 0), "0 filled buckets")
	f(exact(1000, exactMultiples+1), "262145 filled buckets")
	f(exact(1000, 1, exactMultiples<<1), "bucket out of range")
	f(exact(1000, 1, 5<<1|1, 1<<64-1), "count out of range")
	f(exact(1000, 1, 5<<1, 0), "1 bytes too many")
	f(exact(1000, 2, 5<<1, (exactMultiples-8)<<1), "more multiples than an exact histogram holds")
}

// TestEncodingIsStable pins both versions: files that hold them are read
// forever.
func TestEncodingIsStable(t *testing.T) {
	h := New()
	for _, d := range []time.Duration{5, 5, 5, 7, 300, time.Millisecond} {
		h.Record(d)
	}
	want := frame(6, 0, 1_000_322, 5, 999_995, 4, 5<<1|1, 1, 1<<1, 270<<1, 1501<<1)
	if got := encoded(t, h); string(got) != string(want) {
		t.Errorf("got  % x\nwant % x", got, want)
	}
	var back Histogram
	if err := back.UnmarshalBinary(want); err != nil || back.Count() != 6 || back.Max() != time.Millisecond {
		t.Errorf("%v, count %d, max %v", err, back.Count(), back.Max())
	}
	if b, err := h.MarshalBinary(); err != nil || string(b) != string(want) {
		t.Errorf("MarshalBinary gives % x, %v", b, err)
	}

	e := NewExact(time.Millisecond)
	for _, ms := range []time.Duration{5, 5, 5, 7, 300} {
		e.Record(ms * time.Millisecond)
	}
	want = frame(1_000_000, 3, 5<<1|1, 1, 1<<1, 292<<1)
	want[0] = versionExact
	if got := encoded(t, e); string(got) != string(want) {
		t.Errorf("got  % x\nwant % x", got, want)
	}
	if err := back.UnmarshalBinary(want); err != nil || back.Count() != 5 || back.Sum() != 322*time.Millisecond {
		t.Errorf("%v, count %d, sum %v", err, back.Count(), back.Sum())
	}
	if unit, ok := back.Exact(); unit != time.Millisecond || !ok || back.Max() != 300*time.Millisecond {
		t.Errorf("unit %v, exact %v, max %v", unit, ok, back.Max())
	}
}
