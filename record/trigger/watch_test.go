package trigger

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/accessformat"
)

func TestBegan(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := func(logged, took, want time.Duration) {
		t.Helper()
		if got := now.Sub(began(&accessformat.Record{Unix: now.Add(-logged).UnixNano(), Latency: took, Has: accessformat.HasTime | accessformat.HasLatency}, now)); got != want {
			t.Errorf("logged %s ago, took %s: began %s ago, want %s", logged, took, got, want)
		}
	}
	f(0, 2*time.Second, 2*time.Second)
	f(5*time.Second, 2*time.Second, 7*time.Second)
	f(-9*time.Hour, 2*time.Second, 2*time.Second) // another time zone
	f(9*time.Hour, 2*time.Second, 2*time.Second)
}
