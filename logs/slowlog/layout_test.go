package slowlog

import (
	"bytes"
	"testing"
)

func TestLiteral_EveryByteCounts(t *testing.T) {
	for n := 1; n < 40; n++ {
		text := bytes.Repeat([]byte("# Query_time: "), 4)[:n+1]
		l := newLiteral(text[:n])
		if !l.starts(text) || l.starts(text[:n]) {
			t.Errorf("%d bytes: want the text that goes on, and no other", n)
		}
		for i := range n {
			for bit := range 8 {
				other := bytes.Clone(text)
				if other[i] ^= 1 << bit; l.starts(other) {
					t.Errorf("%d bytes: %q is %q", n, other, text)
				}
			}
		}
	}
}
