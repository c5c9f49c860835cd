package logscmd

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	now := time.Date(2026, 11, 20, 5, 10, 0, 0, time.UTC) // 14:10 in Tokyo
	f := func(s, want string) {
		t.Helper()
		got, err := parseMoment(s, now, tokyo)
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %v, %v, want %s", s, got, err, want)
		}
	}
	f("2026-11-20T14:02:11+01:00", "2026-11-20T14:02:11+01:00")
	f("2026-11-20T14:02:11.250Z", "2026-11-20T14:02:11.25Z")
	f("2026-11-20 14:02:11", "2026-11-20T14:02:11+09:00")
	f("2026-11-20T14:02", "2026-11-20T14:02:00+09:00")
	f("2026-11-20", "2026-11-20T00:00:00+09:00")
	f("20/Nov/2026:14:02:11 +0900", "2026-11-20T14:02:11+09:00")
	f("14:02", "2026-11-20T14:02:00+09:00")
	f("14:02:30", "2026-11-20T14:02:30+09:00")
	f("14:11", "2026-11-19T14:11:00+09:00")
	f("10m", "2026-11-20T14:00:00+09:00")
	f("1h30m", "2026-11-20T12:40:00+09:00")
	for _, bad := range []string{"", "yesterday", "25:00", "-10m", "2026-13-01", "10"} {
		if got, err := parseMoment(bad, now, tokyo); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
