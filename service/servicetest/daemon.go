package servicetest

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/peertest"
	"github.com/kasoku/kasoku/service"
)

// Nginx returns an nginx of the test's own.
func Nginx(t testing.TB, o service.NginxOptions) *service.NginxServer {
	t.Helper()
	return daemon(t, "nginx", service.Nginx, o)
}

// Varnish returns a Varnish of the test's own.
func Varnish(t testing.TB, o service.VarnishOptions) *service.VarnishServer {
	t.Helper()
	return daemon(t, "varnish", service.Varnish, o)
}

// Redis returns a Redis of the test's own.
func Redis(t testing.TB, o service.RedisOptions) *service.RedisServer {
	t.Helper()
	return daemon(t, "redis-server", service.Redis, o)
}

// Carbon returns a carbon-cache of the test's own.
func Carbon(t testing.TB, o service.CarbonOptions) *service.CarbonServer {
	t.Helper()
	return daemon(t, "carbon-cache", service.Carbon, o)
}

// GoCarbon returns a go-carbon of the test's own.
func GoCarbon(t testing.TB, o service.CarbonOptions) *service.CarbonServer {
	t.Helper()
	if o.Program == "" {
		o.Program = peertest.Path(t, "go-carbon")
	}
	return daemon(t, "go-carbon", service.GoCarbon, o)
}

// GraphiteWeb returns a graphite-web of the test's own, before a carbon.
func GraphiteWeb(t testing.TB, carbon *service.CarbonServer) *service.GraphiteWebServer {
	t.Helper()
	return daemon(t, "graphite-web", service.GraphiteWeb, carbon)
}

// daemon starts a server that ends with the test.
func daemon[O any, S interface{ Stop(context.Context) error }](t testing.TB, name string,
	start func(context.Context, O) (S, error), o O) S {
	t.Helper()
	if testing.Short() {
		t.Skipf("needs %s; not in short mode", name)
	}
	s, err := start(t.Context(), o)
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
