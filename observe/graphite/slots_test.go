package graphite

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// seriesFile writes a file of 100 slots, a second each, with points at these times.
func seriesFile(t *testing.T, path string, times ...int64) {
	t.Helper()
	const slots = 100
	b := []byte("\x00\x00\x00\x01\x00\x00\x00\x64\x3f\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x1c\x00\x00\x00\x01\x00\x00\x00\x64")
	ring := make([]byte, slots*12)
	for _, at := range times {
		slot := ring[(at-times[0])%slots*12:]
		binary.BigEndian.PutUint32(slot, uint32(at))
		binary.BigEndian.PutUint64(slot[4:], math.Float64bits(1))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, ring...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSlots: what is counted of files of series, and what of them is not looked at.
func TestSlots(t *testing.T) {
	const now = 1_000_000
	dir := t.TempDir()
	write := func(name string, times ...int64) {
		t.Helper()
		for i := range times {
			times[i] += now
		}
		seriesFile(t, filepath.Join(dir, name), times...)
	}
	write("a/five.wsp", -21, -16, -11, -6, -1)
	write("a/jitter.wsp", -21, -16, -12, -6, -1)
	write("a/lost.wsp", -26, -21, -11, -6, -1)
	write("b/each.wsp", -5, -4, -3, -2, -1)
	write("b/event.wsp", -60, -55, -20, -12, -1)
	write("b/burst.wsp", -31, -30, -20, -19, -10, -9)
	write("b/half.wsp", -12, -10, -9, -7, -6, -4, -3, -1) // a point each one and a half slots
	write("b/few.wsp", -11, -6, -1)
	write("c/gone.wsp", -80, -75, -70, -65)
	write("carbon/agents/h-a/cpuUsage.wsp", -21, -16, -11, -6, -1)
	if err := os.WriteFile(filepath.Join(dir, "b", "bad.wsp"), []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sampler{root: dir, began: now - 30}
	var f kasoku.Frame
	s.look(&f, time.Unix(now, 0))
	got := map[string]float64{}
	for _, x := range f.Samples {
		if x.Instance != "1s:100s" {
			t.Errorf("of %q", x.Instance)
		}
		got[x.Name] = x.Value
	}
	want := map[string]float64{SlotsLooked: 7, SlotsApart: 3, SlotsPeriod: 5, SlotsStep: 1, SlotsNumber: 100}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	gone := sampler{root: filepath.Join(dir, "none")}
	f.Reset()
	if gone.look(&f, time.Unix(now, 0)); len(f.Samples) > 0 {
		t.Errorf("of nothing %v", f.Samples)
	}
}

// TestSampler_Bounded: of many files a few are taken, of each directory some.
func TestSampler_Bounded(t *testing.T) {
	dir := t.TempDir()
	for d := range 15 {
		for i := range 20 {
			path := filepath.Join(dir, fmt.Sprint(d), fmt.Sprint(i)+".wsp")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := sampler{root: dir}
	var f kasoku.Frame
	s.look(&f, time.Unix(1_000_000, 0))
	of := map[string]int{}
	for _, path := range s.paths {
		of[filepath.Dir(path)]++
	}
	if len(s.paths) != mostSampled || len(of) != mostSampled/mostOfOne {
		t.Errorf("%d files of %d directories", len(s.paths), len(of))
	}
}
