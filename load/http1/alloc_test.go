//go:build !race

package http1

import "testing"

func TestParserDoesNotAllocate(t *testing.T) {
	f := func(p *Parser, answer string, pieces ...byte) {
		t.Helper()
		in := cut([]byte(answer), pieces)
		one := func() {
			if p.Keep != nil {
				p.Keep.Body = p.Keep.Body[:0]
			}
			p.Start(false)
			for _, b := range in {
				if _, _, err := p.Feed(b); err != nil {
					t.Fatal(err)
				}
			}
			if p.state == inClose {
				p.EOF()
			}
			if p.state != complete {
				t.Fatalf("%.100q is not done", answer)
			}
		}
		one()
		if n := testing.AllocsPerRun(100, one); n != 0 {
			t.Errorf("%v allocations for %.100q in %d pieces, want 0", n, answer, len(in))
		}
	}
	for _, name := range []string{"ok", "nginx", "no-content", "not-found", "until-close", "http10", "hints", "to-ok", "chunked", "tiny-chunks"} {
		answer := named(name)
		f(&Parser{}, answer)
		f(&Parser{Memo: &Memo{}}, answer)
		f(&Parser{Keep: &Kept{}}, answer)
		for n := range min(len(answer), 255) {
			f(&Parser{}, answer, byte(n), 1)
		}
	}
}
