//go:build !race

package epollhttp

import (
	"net/http"
	"testing"

	"github.com/kasoku/kasoku/load"
)

func TestParserDoesNotAllocate(t *testing.T) {
	f := func(p *parser, answer string, pieces ...byte) {
		t.Helper()
		in := cut([]byte(answer), pieces)
		one := func() {
			p.start(false)
			for _, b := range in {
				if _, _, err := p.feed(b); err != nil {
					t.Fatal(err)
				}
			}
			if p.state == inClose {
				p.eof()
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
		f(&parser{}, answer)
		f(&parser{memo: &memo{}}, answer)
		for n := range min(len(answer), 255) {
			f(&parser{}, answer, byte(n), 1)
		}
	}
}

func TestTemplateDoesNotAllocate(t *testing.T) {
	fill, err := load.NewFill(load.FillOptions{
		URL: "http://h/users/{{int 1 100000}}", Header: http.Header{"X-Id": {"{{uuid}}"}}, Body: []byte(`{"name":"{{alnum 12}}"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	f := func(target load.Target, o Options) {
		t.Helper()
		one, err := newTemplate(&target, &o)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 0, 1000)
		if n := testing.AllocsPerRun(100, func() { dst, _ = one.append(dst[:0], 1_000_000) }); n != 0 {
			t.Errorf("%v allocations for each request, want 0", n)
		}
	}
	f(load.Target{Method: "GET", URL: "http://h/"}, Options{SeqHeader: "X-Seq"})
	f(load.Target{Method: "POST", URL: "http://h/", Fill: fill}, Options{SeqHeader: "X-Seq"})
	f(load.Target{Method: "POST", URL: "http://h/", Fill: fill}, Options{Chunked: true})
	f(load.Target{Method: "GET", URL: "http://h/", Fill: fill}, Options{Chunked: true})
}
