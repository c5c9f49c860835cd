package servicetest

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/service"
)

// Nginx returns an nginx of the test's own.
func Nginx(t testing.TB, o service.NginxOptions) *service.NginxServer {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not in short mode")
	}
	s, err := service.Nginx(t.Context(), o)
	if err != nil {
		fail(t, err)
	}
	t.Cleanup(func() {
		// The test's own context is cancelled by now.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

// Varnish returns a Varnish of the test's own.
func Varnish(t testing.TB, o service.VarnishOptions) *service.VarnishServer {
	t.Helper()
	if testing.Short() {
		t.Skip("needs varnish; not in short mode")
	}
	s, err := service.Varnish(t.Context(), o)
	if err != nil {
		fail(t, err)
	}
	t.Cleanup(func() {
		// The test's own context is cancelled by now.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}
