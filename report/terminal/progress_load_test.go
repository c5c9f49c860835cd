package terminal

import (
	"bytes"
	"testing"
	"time"
)

func TestLoadProgress(t *testing.T) {
	f := func(o ProgressOptions, s LoadProgress, want string) {
		t.Helper()
		var b bytes.Buffer
		NewProgress(&b, o).Load(s)
		if want != "" {
			want = "\r\x1b[K" + want
		}
		if b.String() != want {
			t.Errorf("wrote\n%q, want\n%q", b.String(), want)
		}
	}
	s := LoadProgress{Elapsed: 4 * time.Second, Planned: 10 * time.Second, PerSec: 997.6, Asked: 1000,
		P50: 210 * time.Microsecond, P99: 980 * time.Microsecond, InFlight: 12}
	f(ProgressOptions{}, s, "")
	f(ProgressOptions{Live: true, Width: 100}, s, " 4 of 10 s  ━━━━━━━━────────────    998 of 1,000/s  p50 0.21 ms  p99 0.98 ms  0 err  12 in flight")
	f(ProgressOptions{Live: true}, s, " 4 of 10 s  ━━━━━━━──────────    998 of 1,000/s  p50 0.21 ms  p99 0.98 ms  0 err")
	f(ProgressOptions{Live: true, Width: 60}, s, " 4 of 10 s  ━━━━──────    998 of 1,000/s  p99 0.98 ms  0 err")
	f(ProgressOptions{Live: true, Width: 20}, s, " 4 of 10 s    998 of")
	s.Errors, s.Number, s.Of = 691, 2, 3
	f(ProgressOptions{Live: true, Color: true, Width: 90, ASCII: true}, s,
		"step 2/3   4 of 10 s  \x1b[36m======\x1b[0m\x1b[2m---------\x1b[0m    998 of 1,000/s  p50 0.21 ms  p99 0.98 ms  \x1b[31m691 err\x1b[0m")
	f(ProgressOptions{Live: true}, LoadProgress{Elapsed: 300 * time.Millisecond, PerSec: -1, InFlight: -1}, "0 s  0 err")
	f(ProgressOptions{Live: true}, LoadProgress{Elapsed: 75 * time.Second, Planned: 2 * time.Minute, PerSec: 52340, InFlight: 64, P50: time.Millisecond, P99: 2 * time.Second},
		"1 min 15 s of 2 min  ━━━━━━━━━━━──────  52,340/s  p50 1.00 ms  p99 2.00 s  0 err")
}
