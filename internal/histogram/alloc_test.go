//go:build !race

package histogram

import (
	"reflect"
	"testing"
	"time"
)

func TestAllocations(t *testing.T) {
	h, o := New(), New()
	for i := range 4096 {
		h.Record(time.Duration(i) * time.Millisecond)
		o.Record(time.Duration(i) * time.Millisecond)
	}
	buf := make([]byte, 0, 64<<10)
	i := 0
	f := func(name string, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(1000, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	f("Record", func() { h.Record(time.Duration(i&4095) * time.Millisecond); i++ })
	f("RecordN", func() { h.RecordN(time.Duration(i&4095)*time.Millisecond, 3); i++ })
	f("Quantile", func() { h.Quantile(0.99) })
	f("CountBetween", func() { h.CountBetween(time.Second, 2*time.Second) })
	f("Merge", func() { h.Merge(o) })
	f("AppendBinary", func() { buf, _ = h.AppendBinary(buf[:0]) })
	e, oe := NewExact(time.Millisecond), NewExact(time.Millisecond)
	for i := range 4096 {
		e.RecordN(time.Duration(i)*time.Millisecond, 300)
		oe.Record(time.Duration(i) * time.Millisecond)
	}
	f("exact Record", func() { e.Record(time.Duration(i&4095) * time.Millisecond); i++ })
	f("exact Quantile", func() { e.Quantile(0.99) })
	f("exact CountBetween", func() { e.CountBetween(time.Second, 2*time.Second) })
	f("exact Merge", func() { e.Merge(oe) })
	f("exact AppendBinary", func() { buf, _ = e.AppendBinary(buf[:0]) })
	f("exact Reset and Record", func() { e.Reset(); e.Record(time.Second) })
	f("Reset and Record", func() { h.Reset(); h.Record(time.Second) })
}

// TestEmptySize holds what the package comment says.
func TestEmptySize(t *testing.T) {
	if size := reflect.TypeFor[Histogram]().Size(); size > 352 {
		t.Errorf("an empty histogram takes %d bytes, want at most 352", size)
	}
}
