package nethttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kasoku/kasoku/load"
)

func benchServer(b *testing.B) string {
	payload := make([]byte, 1024)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Write(payload)
	}))
	b.Cleanup(srv.Close)
	return srv.URL
}

// BenchmarkClient compares a worker with the plain http.Client that one would
// write by hand; both include the server's side.
func BenchmarkClient(b *testing.B) {
	b.Run("client=kasoku", func(b *testing.B) {
		e, err := New(Options{})
		if err != nil {
			b.Fatal(err)
		}
		targets, err := e.prepare([]load.Target{{Method: "POST", URL: benchServer(b), Body: []byte(`{"name":"test"}`)}})
		if err != nil {
			b.Fatal(err)
		}
		tr, err := e.transport(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer tr.CloseIdleConnections()
		c := &client{shared: &shared{opts: &e.opts, tr: tr, targets: targets, timeout: e.opts.timeout()}}
		b.ReportAllocs()
		for b.Loop() {
			var h load.Hit
			if c.Do(b.Context(), &h); h.Code != 200 {
				b.Fatal(h.Err)
			}
		}
	})
	b.Run("client=plain", func(b *testing.B) {
		url := benchServer(b)
		c := http.Client{Timeout: DefaultTimeout, Transport: &http.Transport{}}
		defer c.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			resp, err := c.Post(url, "", bytes.NewReader([]byte(`{"name":"test"}`)))
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
}
