package sandboxtest

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/sandbox"
)

// Nginx returns an nginx of the test's own.
func Nginx(t testing.TB, o sandbox.NginxOptions) *sandbox.NginxServer {
	t.Helper()
	return daemon(t, "nginx", sandbox.Nginx, o)
}

// Varnish returns a Varnish of the test's own.
func Varnish(t testing.TB, o sandbox.VarnishOptions) *sandbox.VarnishServer {
	t.Helper()
	return daemon(t, "varnish", sandbox.Varnish, o)
}

// Redis returns a Redis of the test's own.
func Redis(t testing.TB, o sandbox.RedisOptions) *sandbox.RedisServer {
	t.Helper()
	return daemon(t, "redis-server", sandbox.Redis, o)
}

// Memcached returns a memcached of the test's own.
func Memcached(t testing.TB, o sandbox.MemcachedOptions) *sandbox.MemcachedServer {
	t.Helper()
	return daemon(t, "memcached", sandbox.Memcached, o)
}

// Carbon returns a carbon-cache of the test's own.
func Carbon(t testing.TB, o sandbox.CarbonOptions) *sandbox.CarbonServer {
	t.Helper()
	return daemon(t, "carbon-cache", sandbox.Carbon, o)
}

// CarbonRelay returns a carbon-relay of the test's own.
func CarbonRelay(t testing.TB, o sandbox.CarbonRelayOptions) *sandbox.CarbonServer {
	t.Helper()
	return daemon(t, "carbon-relay", sandbox.CarbonRelay, o)
}

// GoCarbon returns a go-carbon of the test's own.
func GoCarbon(t testing.TB, o sandbox.CarbonOptions) *sandbox.CarbonServer {
	t.Helper()
	if o.Program == "" {
		o.Program = peertest.Path(t, "go-carbon")
	}
	return daemon(t, "go-carbon", sandbox.GoCarbon, o)
}

// GraphiteWeb returns a graphite-web of the test's own, before a carbon.
func GraphiteWeb(t testing.TB, carbon *sandbox.CarbonServer) *sandbox.GraphiteWebServer {
	t.Helper()
	return daemon(t, "graphite-web", sandbox.GraphiteWeb, carbon)
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

// PHPFPM returns the program of PHP-FPM, whose name has the version of PHP that a distribution has.
func PHPFPM(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"php-fpm8.2", "php-fpm8.3", "php-fpm8.4", "php-fpm"} {
		if path, err := command.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no php-fpm: `tools/setup test` installs it")
	return ""
}
