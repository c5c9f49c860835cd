package process

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwait: the pauses grow to two seconds, each failure is reported, and the end of
// the context ends it.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		appLog := log.New(&said, "", 0)
		gone, began := errors.New("gone"), time.Now()
		var at []time.Duration
		err := Await(t.Context(), appLog, "reach it", func(context.Context) error {
			if at = append(at, time.Since(began)); len(at) == 7 {
				return nil
			}
			return gone
		})
		if want := 5100 * time.Millisecond; err != nil || at[6] != want {
			t.Errorf("%v, %s; want the last attempt after %s", err, at, want)
		}
		if lines := strings.Split(said.String(), "\n"); len(lines) != 7 || lines[0] != "reach it: gone; trying again in 100ms" || lines[5] != "reach it: gone; trying again in 2s" {
			t.Errorf("log %q", lines)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := Await(ctx, appLog, "reach it", func(context.Context) error { return gone }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the end of the context: %v", err)
		}
	})
}

// TestServe: a request in flight is answered after the context has ended.
func TestServe(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		io.WriteString(w, "answered")
	})}
	go func() { served <- Serve(ctx, srv, ln) }()
	res, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "answered" {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), &http.Server{ReadHeaderTimeout: time.Minute}, ln); err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("on a closed listener: %v", err)
	}
}
