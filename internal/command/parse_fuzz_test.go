package command

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// FuzzTail: however an output comes in pieces, its end is kept.
func FuzzTail(f *testing.F) {
	f.Add([]byte("the end"), 3, 2)
	f.Add([]byte(""), 0, 1)
	f.Fuzz(func(t *testing.T, text []byte, limit, piece int) {
		limit, piece = limit&0xfff, piece&0xff+1
		tail := NewTail(limit)
		for rest := text; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			_, _ = tail.Write(rest[:min(piece, len(rest))]) // never fails
		}
		if want := text[max(0, len(text)-limit):]; tail.String() != string(want) || tail.Total() != uint64(len(text)) {
			t.Fatalf("limit %d, pieces of %d: %q, want %q", limit, piece, tail.String(), want)
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
