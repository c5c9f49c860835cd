package mysqlread

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/service"
	"github.com/kasoku/kasoku/service/servicetest"
)

func TestZoneOffset(t *testing.T) {
	servicetest.Each(t, service.Options{Vars: map[string]string{"default_time_zone": "+08:00"}}, func(t *testing.T, s *service.Server) {
		r, err := New(t.Context(), servicetest.DB(t, s, ""))
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
