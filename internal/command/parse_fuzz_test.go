package command

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestParseStat(t *testing.T) {
	f := func(in string, want stat, ok bool) {
		t.Helper()
		got, gotOK := parseStat([]byte(in))
		if got != want || gotOK != ok {
			t.Errorf("%q: got %+v, %v", in, got, gotOK)
		}
	}
	rest := " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2"
	f("12 (sh) S 7 8 9"+rest, stat{false, 7, 8, 4711}, true)
	f("12 (a) b) R 2) Z 7 8 9"+rest, stat{true, 7, 8, 4711}, true)
	f("12 (sh) S 7 9", stat{}, false)
	f("12 (sh) S x 8 9"+rest, stat{}, false)
	f("", stat{}, false)
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 7 9 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2\n"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if st, ok := parseStat(in); !ok && st != (stat{}) {
			t.Errorf("refused, yet %+v", st)
		}
	})
}

func TestTail_KeepsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		tail := NewTail(limit)
		var all []byte
		for i := range rapid.IntRange(0, 12).Draw(t, "writes") {
			p := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, fmt.Sprint("write", i))
			if n, err := tail.Write(p); n != len(p) || err != nil {
				t.Fatalf("write: %d, %v", n, err)
			}
			all = append(all, p...)
		}
		want := all[max(0, len(all)-limit):]
		if tail.String() != string(want) || tail.Total() != uint64(len(all)) || tail.Truncated() != (len(all) > limit) {
			t.Fatalf("limit %d: got %q, want %q", limit, tail.String(), want)
		}
	})
}
