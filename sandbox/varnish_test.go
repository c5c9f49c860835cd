package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestVarnish: answers are kept unless a cookie forbids it, and nothing is left
// when the server has stopped.
func TestVarnish(t *testing.T) {
	asked := 0
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, asked)
	}))
	defer app.Close()
	s := sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: strings.TrimPrefix(app.URL, "http://")})
	get := func(cookie string) string {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i, want := range []string{"1", "1", "2", "3"} {
		cookie := ""
		if i >= 2 {
			cookie = "user=1"
		}
		if got := get(cookie); got != want {
			t.Errorf("answer %d: %s, want %s", i+1, got, want)
		}
	}
	if s.Pid() == 0 {
		t.Error("it does not run")
	}
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.Pid() != 0 {
		t.Error("it runs on")
	}
}
