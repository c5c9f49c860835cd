package agent

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/scenario"
)

// packed compresses text in each way.
func packed(text string) map[string][]byte {
	out := map[string][]byte{}
	pack := func(name string, w func(io.Writer) io.WriteCloser) {
		var b bytes.Buffer
		z := w(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		out[name] = b.Bytes()
	}
	pack("gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	pack("zlib", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	pack("raw", func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 9); return z })
	return out
}

func TestCompression(t *testing.T) {
	text := strings.Repeat("ゲーミングチェア ", 2000)
	bodies := packed(text)
	bomb := packed(strings.Repeat("\x00", 2<<20))
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		encoding, kind, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		w.Header().Set("Content-Encoding", encoding)
		body := bodies[kind]
		switch kind {
		case "bomb":
			body = bomb["gzip"]
		case "half":
			body = bodies["gzip"][:100]
		case "none":
			body = nil
		case "plain":
			body = []byte("plain")
		}
		_, _ = w.Write(body)
	})
	a := open(t, Options{BaseURL: base, MaxBody: 1 << 20})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				for path, want := range map[string]string{
					"/gzip/gzip": text, "/GZIP/gzip": text, "/x-gzip/gzip": text, "/deflate/zlib": text, "/deflate/raw": text,
					"/gzip/none": "", "/br/plain": "plain", "/identity/plain": "plain",
				} {
					res, err := a.Get(t.Context(), "", path)
					if err != nil {
						t.Error(path, err)
						continue
					}
					if string(res.Body) != want {
						t.Errorf("%s: got %.20q", path, res.Body)
					}
					res.Release()
				}
			}
		})
	}
	wg.Wait()
	for _, path := range []string{"/gzip/half", "/gzip/plain", "/deflate/plain", "/gzip/zlib"} {
		if res, err := a.Get(t.Context(), "", path); err == nil {
			t.Errorf("%s: got %.20q", path, res.Body)
		}
	}
	var long *http1.BodyTooLongError
	if _, err := a.Get(t.Context(), "", "/gzip/bomb"); !errors.As(err, &long) || scenario.CodeOf(err) != scenario.Application {
		t.Errorf("bomb: %v", err)
	}
	if res := do(t, a, &Request{Method: "HEAD", Path: "/gzip/gzip"}); len(res.Body) > 0 {
		t.Errorf("HEAD: got %q", res.Body)
	}
	for _, asked := range []*Response{
		get(t, open(t, Options{BaseURL: base, NoCompression: true}), "/gzip/gzip"),
		do(t, a, &Request{Path: "/gzip/gzip", Header: http.Header{"Accept-Encoding": {"gzip"}}}),
	} {
		if !bytes.Equal(asked.Body, bodies["gzip"]) {
			t.Error("what the user has asked for is decoded")
		}
	}
}

// TestCompressedAndRemembered: what is remembered is decoded, and stays.
func TestCompressedAndRemembered(t *testing.T) {
	bodies := packed("remembered")
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"x"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bodies["gzip"])
	})
	a := open(t, Options{BaseURL: base})
	for i := range 10 {
		res := get(t, a, "/")
		if string(res.Body) != "remembered" || res.NotModified != (i > 0) {
			t.Errorf("got %q, not modified %v", res.Body, res.NotModified)
		}
		res.Release()
	}
}
