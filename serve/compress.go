package serve

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// compressed sends answers gzipped to those that take it (RFC 9110, 12.5.3): through an ssh tunnel that is what
// takes the time. A stream of events is sent as it is, for each of them is to arrive at once.
func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !takesGzip(r.Header.Get("Accept-Encoding")) || r.Method == http.MethodHead ||
			strings.HasSuffix(r.URL.Path, "/events") {
			next.ServeHTTP(w, r)
			return
		}
		z := &zipped{ResponseWriter: w}
		defer z.close()
		next.ServeHTTP(z, r)
	})
}

// takesGzip reads Accept-Encoding: gzip;q=0 refuses it.
func takesGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(one, " ", ""), ";")
		if name == "gzip" || name == "*" {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// zipped begins to compress with the first byte of a body that has no length or encoding yet.
type zipped struct {
	http.ResponseWriter
	to    io.Writer
	began bool
}

// WriteHeader implements http.ResponseWriter.
func (z *zipped) WriteHeader(code int) {
	if !z.began {
		z.began, z.to = true, z.ResponseWriter
		h := z.Header()
		if code != http.StatusNotModified && code != http.StatusNoContent && h.Get("Content-Encoding") == "" {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			z.to, _ = gzip.NewWriterLevel(z.ResponseWriter, gzip.BestSpeed)
		}
	}
	z.ResponseWriter.WriteHeader(code)
}

// Write implements io.Writer.
func (z *zipped) Write(b []byte) (int, error) {
	if !z.began {
		if z.Header().Get("Content-Type") == "" {
			z.Header().Set("Content-Type", http.DetectContentType(b))
		}
		z.WriteHeader(http.StatusOK)
	}
	return z.to.Write(b)
}

func (z *zipped) close() {
	if c, ok := z.to.(io.Closer); ok {
		_ = c.Close() // a reader that has gone away is his own matter
	}
}
