package unit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDuration(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	f(137*time.Millisecond, "137 ms")
	f(1116*time.Millisecond, "1,116 ms")
	f(210*time.Microsecond, "0.21 ms")
	f(8904*time.Microsecond, "8.90 ms")
	f(99*time.Microsecond, "99.0 µs")
	f(99, "99 ns")
	f(0, "0 ms")
	f(12340*time.Millisecond, "12.3 s")
	f(time.Hour, "3,600 s")
	f(-137*time.Millisecond, "−137 ms")
	f(None, Missing)
	f(math.MaxInt64, "9,223,372,037 s")
}

func TestDurationIn(t *testing.T) {
	f := func(d, unit time.Duration, want string) {
		t.Helper()
		if got := DurationIn(d, unit); got != want {
			t.Errorf("DurationIn(%d, %v) = %q, want %q", d, unit, got, want)
		}
	}
	f(137*time.Millisecond, time.Second, "0.14")
	f(8900*time.Microsecond, time.Millisecond, "8.90")
	f(1814*time.Millisecond, time.Millisecond, "1,814")
	f(12, time.Nanosecond, "12")
	f(12, time.Millisecond, "< 0.01")
	f(0, time.Millisecond, "0")
	f(None, time.Millisecond, Missing)
	f(90*time.Second, time.Minute, "1.50")
}

func TestExactAndElapsed(t *testing.T) {
	f := func(d time.Duration, exact, elapsed string) {
		t.Helper()
		if got := Exact(d); got != exact {
			t.Errorf("Exact(%d) = %q, want %q", d, got, exact)
		}
		if got := Elapsed(d); got != elapsed {
			t.Errorf("Elapsed(%d) = %q, want %q", d, got, elapsed)
		}
	}
	f(0, "0 s", "0 ms")
	f(10*time.Second, "10 s", "10.0 s")
	f(1500*time.Millisecond, "1.5 s", "1.50 s")
	f(250*time.Millisecond, "250 ms", "250 ms")
	f(1001*time.Nanosecond, "1.001 µs", "1.00 µs")
	f(124*time.Second, "2 min 4 s", "2 min 4 s")
	f(59700*time.Millisecond, "59.7 s", "1 min")
	f(90*time.Minute, "1 h 30 min", "1 h 30 min")
	f(time.Minute+4250*time.Millisecond, "1 min 4.25 s", "1 min 4 s")
	f(time.Hour+time.Nanosecond, "1 h 0.000000001 s", "1 h")
	f(-time.Second, "−1 s", "−1,000 ms")
	f(None, Missing, Missing)
}

func TestBytes(t *testing.T) {
	f := func(n uint64, si, iec string) {
		t.Helper()
		if got := Bytes(n); got != si {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, si)
		}
		if got := BytesIEC(n); got != iec {
			t.Errorf("BytesIEC(%d) = %q, want %q", n, got, iec)
		}
	}
	f(0, "0 B", "0 B")
	f(512, "512 B", "512 B")
	f(999, "999 B", "999 B")
	f(1000, "1.0 kB", "1,000 B")
	f(1023, "1.0 kB", "1,023 B")
	f(1024, "1.0 kB", "1.0 KiB")
	f(1_800_000, "1.8 MB", "1.7 MiB")
	f(63_400_000, "63.4 MB", "60.5 MiB")
	f(704_000_000, "704 MB", "671 MiB")
	f(999_499, "999 kB", "976 KiB")
	f(999_500, "1.0 MB", "976 KiB")
	f(999_960, "1.0 MB", "977 KiB")
	f(1<<20-1, "1.0 MB", "1.0 MiB")
	f(128<<20, "134 MB", "128 MiB")
	f(math.MaxUint64, "18.4 EB", "16.0 EiB")
}

func TestPercent(t *testing.T) {
	f := func(ratio float64, prose, cell string) {
		t.Helper()
		if got := Percent(ratio); got != prose {
			t.Errorf("Percent(%v) = %q, want %q", ratio, got, prose)
		}
		if got := PercentCell(ratio); got != cell {
			t.Errorf("PercentCell(%v) = %q, want %q", ratio, got, cell)
		}
	}
	f(0.305, "30.5 %", "30.5")
	f(1, "100 %", "100.0")
	f(0.9997, "99.97 %", "99.97")
	f(0.99995, "> 99.99 %", "> 99.99")
	f(0.99999999, "> 99.99 %", "> 99.99")
	f(0.9994, "99.9 %", "99.9")
	f(0.99949, "99.9 %", "99.9")
	f(0.1+0.2+0.7, "100 %", "100.0")
	f(0, "0 %", "0")
	f(0.003, "0.3 %", "0.3")
	f(0.0006, "0.1 %", "0.1")
	f(0.0004, "< 0.1 %", "< 0.1")
	f(1e-15, "< 0.1 %", "< 0.1")
	f(1.0003, "100.03 %", "100.03")
	f(1.00001, "> 100 %", "> 100")
	f(12.345, "1,234.5 %", "1,234.5")
	f(math.NaN(), Missing, Missing)
	f(math.Inf(1), Missing, Missing)
}

func TestPercentNeverRoundsOverItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		due := rapid.Uint64Range(1, 1e11).Draw(t, "due")
		ok := rapid.Uint64Range(0, due).Draw(t, "ok")
		s := PercentCell(float64(ok) / float64(due))
		if (s == "100.0") != (ok == due) || (s == "0") != (ok == 0) {
			t.Errorf("%d of %d is %q", ok, due, s)
		}
	})
}

func TestPerSec(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := PerSec(v); got != want {
			t.Errorf("PerSec(%v) = %q, want %q", v, got, want)
		}
	}
	f(1000, "1,000 req/s")
	f(0.5, "0.5 req/s")
	f(math.NaN(), Missing)
}
