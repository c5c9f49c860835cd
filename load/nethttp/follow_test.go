package nethttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// TestFollowerIsTheEngine: what a follower makes of a redirect is what the engine
// makes of it.
func TestFollowerIsTheEngine(t *testing.T) {
	srv := httptest.NewServer(redirector())
	defer srv.Close()
	s := loadtest.Start(t)
	f := func(redirects int, url string, code int, location string) {
		t.Helper()
		o := Options{Redirects: redirects, Timeout: time.Second}
		target := load.Target{Method: "POST", URL: url, Body: []byte("body")}
		want := first(t, o, target)
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		follower, err := e.Follower(t.Context(), load.Plan{Targets: []load.Target{target}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer follower.Close()
		got := load.Hit{Step: want.Step, Due: want.Due, Sent: want.Sent, Done: want.Done}
		follower.Follow(t.Context(), &got, code, location)
		if got != want {
			t.Errorf("%s leads the follower to\n%+v\nand the engine to\n%+v", location, got, want)
		}
	}
	f(0, srv.URL+"/see", 303, "/end")
	f(0, srv.URL+"/temporary", 307, "/see")
	f(1, srv.URL+"/temporary", 307, "/see")
	f(RefuseRedirects, srv.URL+"/keep", 308, "/end")
	f(0, srv.URL+"/keep", 308, "/end")
	f(0, s.URL("/loop"), 302, "/loop")
	f(0, s.URL("/bad-location"), 302, "http://[::1/%")
}

func TestFollowerKeepsToTheTimeout(t *testing.T) {
	s := loadtest.Start(t)
	e, err := New(Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Follower(t.Context(), load.Plan{Targets: []load.Target{get(s.URL("/ok"))}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var h load.Hit
	if f.Follow(t.Context(), &h, 302, s.URL("/hang")); h.Code != 0 || !strings.HasSuffix(h.Err, ErrTimeout.Error()) {
		t.Errorf("bad hit %+v", h)
	}
	f.all.timeout = 0
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(load.ErrAborted) })
	if f.Follow(ctx, &h, 302, s.URL("/hang")); h.Code != 0 || !strings.HasSuffix(h.Err, load.ErrAborted.Error()) {
		t.Errorf("bad hit %+v", h)
	}
	h = load.Hit{BytesIn: 7}
	if f.Follow(t.Context(), &h, 300, "/ok"); h.Code != 300 || h.BytesIn != 7 || h.Err != "" {
		t.Errorf("an answer that is not followed becomes %+v", h)
	}
	sum := kasoku.LoadSummary{Redirected: 3, Connections: 1}
	if f.Count(&sum); sum.Redirected != 2 || sum.Connections != 3 {
		t.Errorf("bad summary %+v", sum)
	}
}

func redirector() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/see":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/temporary":
			http.Redirect(w, r, "/see", http.StatusTemporaryRedirect)
		case "/keep":
			http.Redirect(w, r, "/end", http.StatusPermanentRedirect)
		case "/end":
			echo().ServeHTTP(w, r)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		}
	})
}
