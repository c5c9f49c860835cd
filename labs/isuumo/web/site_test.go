package web_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
	"github.com/kasoku/kasoku/labs/isuumo/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// A site is the whole lab, reached through a proxy that makes faults on demand.
type site struct {
	URL  string
	Data *isuumo.Data

	mu     sync.Mutex
	faults map[string]http.HandlerFunc // by the beginning of a path
}

func newSite(t *testing.T) *site {
	t.Helper()
	lab := stacktest.Up(t, stack.Options{Variant: isuumo.Tuned})
	target, err := url.Parse(lab.URL())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Data: lab.Data, faults: map[string]http.HandlerFunc{}}
	through := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog: log.New(io.Discard, "", 0), // pages leave before all pictures are there
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := through.ServeHTTP
		for path, f := range s.faults {
			if strings.HasPrefix(r.URL.Path, path) {
				h = f
			}
		}
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// fault answers requests whose path begins so, until the function it returns is called.
func (s *site) fault(path string, h http.HandlerFunc) (mend func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[path] = h
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.faults, path)
	}
}

// status answers with a status and an empty body, as the service does.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cut closes the connection without an answer.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
