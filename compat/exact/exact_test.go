package exact

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	f := func(text string, factor, want float64) {
		t.Helper()
		if got, _ := Parse([]byte(text), factor); got.Value != want {
			t.Errorf("Parse(%q) = %v, want %v", text, got.Value, want)
		}
	}
	f("0.021", 1, 0.021)
	micro := math.Pow10(-6)
	f("123", micro, 123*micro)
	f("", 1, 0)
	f(".", 1, 0)
	f("1.", 1, 1)
	f(".5", 1, 0.5)
	f("-", 1, 0)
	f("1.2.3", 1, 0)
	f("1e3", 1, 1000)
	f("0.1, 0.2", 1, 0)
	f("123456789012345678901234567890", 1, 123456789012345678901234567890)
}

// TestTally: however durations are counted, the same comes out.
func TestTally(t *testing.T) {
	var c Tally
	want := map[float64]uint64{}
	for i := range 3000 {
		text := fmt.Sprintf("0.%03d", i*i%997)
		switch i % 10 {
		case 7:
			text = fmt.Sprintf("%d.5", i)
		case 9:
			text = fmt.Sprintf("%d.%03d", i, i%1000)
		}
		n, _ := Parse([]byte(text), 1)
		c.Add(n, 3)
		want[n.Value]++
	}
	last := -1.0
	for _, s := range Ascending(c.Append(nil, 3, 1)) {
		if s.Value <= last || want[s.Value] != s.N {
			t.Errorf("%v: %d, want %d", s.Value, s.N, want[s.Value])
		}
		last = s.Value
		delete(want, s.Value)
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestAt(t *testing.T) {
	steps := []Step{{1, 2}, {5, 1}, {7, 3}}
	f := func(index int64, want float64) {
		t.Helper()
		if got := At(steps, index); got != want {
			t.Errorf("At(%d) = %v, want %v", index, got, want)
		}
	}
	f(-1, 1)
	f(0, 1)
	f(1, 1)
	f(2, 5)
	f(3, 7)
	f(5, 7)
	f(9, 7)
	if got := StdDev([]Step{{1, 1}, {3, 1}}, 2, 2); got != 1 {
		t.Errorf("StdDev = %v", got)
	}
}

// TestTop: it keeps what sorting all would put first.
func TestTop(t *testing.T) {
	for _, smallest := range []bool{false, true} {
		all, parts := Top[int]{Keep: 1000, Smallest: smallest}, [2]Top[int]{}
		for i := range parts {
			parts[i] = Top[int]{Keep: 7, Smallest: smallest}
		}
		for i := range 100 {
			p := Place{Value: float64(i * i % 23), Seq: i % 4, Line: uint64(i)}
			all.Put(p, i)
			if part := &parts[i%2]; part.Wants(p) {
				part.Put(p, i)
			}
		}
		parts[0].Merge(&parts[1])
		if got, want := parts[0].List(), all.List()[:7]; !slices.Equal(got, want) {
			t.Errorf("smallest %v: %v, want %v", smallest, got, want)
		}
	}
}

// TestBook: blocks come in any order, sums and dropped lines are in that of the
// lines.
func TestBook(t *testing.T) {
	k := NewBook()
	var each []float64
	k.Each = func(_ int, v [2]float64) { each = append(each, v[0]) }
	for _, seq := range []int{1, 2, 0} {
		b := k.NewBatch()
		for i := range 3 {
			b.Line()
			_, id := k.ID([]byte{byte('a' + seq + i)})
			b.Add(id, [2]float64{float64(seq*10 + i), 1})
		}
		b.Line()
		b.Drop([]byte("text"), "why")
		k.Add(seq, b)
	}
	if want := []float64{0, 1, 2, 10, 11, 12, 20, 21, 22}; !slices.Equal(each, want) {
		t.Errorf("each %v", each)
	}
	var order string
	for _, id := range k.Order() {
		order += k.Names()[id]
	}
	dropped, lines, first := k.Dropped()
	if order != "abcde" || dropped != 3 || lines != 12 || first.Line != 4 || first.Why != "why" {
		t.Errorf("order %s, dropped %d of %d, first %v", order, dropped, lines, first)
	}
	if _, id := k.ID([]byte("c")); k.Sums(id) != [2]float64{2 + 11 + 20, 3} {
		t.Errorf("sums %v", k.Sums(id))
	}
}
