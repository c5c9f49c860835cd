//go:build !race

package epollhttp

import (
	"net/http"
	"testing"

	"github.com/kasoku/kasoku/load"
)

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
