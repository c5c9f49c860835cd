package mysql

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestZoneOffset(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Vars: map[string]string{"default_time_zone": "+08:00"}}, func(t *testing.T, s *sandbox.Server) {
		r, err := New(t.Context(), sandboxtest.DB(t, s, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got, err := r.ZoneOffset(t.Context()); err != nil || got != 8*time.Hour {
			t.Errorf("%s, %v; want 8h", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := r.ZoneOffset(ctx); err == nil || got != 0 {
			t.Errorf("%s, %v; want an error", got, err)
		}
	})
}
