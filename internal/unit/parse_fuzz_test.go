package unit

import (
	"math"
	"strings"
	"testing"
	"time"
)

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"1000", "1k", "0", "50/s", "10/1m", "3/500ms", "infinity", "1k0", "50/", "-1", "1e3", ".5M/2 min"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseRate(s)
		switch {
		case err != nil && v != 0:
			t.Errorf("ParseRate(%q) = %v with %v", s, v, err)
		case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			t.Errorf("ParseRate(%q) = %v", s, v)
		case err == nil && v == 0 && s != "infinity" && strings.Trim(strings.TrimSpace(strings.SplitN(s, "/", 2)[0]), "0.kKM") != "":
			t.Errorf("ParseRate(%q) = 0", s)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"10s", "1.5s", "500 ms", "2 min 4 s", "1h30m", "1d", "0", "10", "-5s", "9223372036854775807ns", "3µs", "1..s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if d < 0 || err != nil && d != 0 {
			t.Fatalf("ParseDuration(%q) = %v, %v", s, d, err)
		}
		if err == nil {
			if again, err := ParseDuration(Exact(d)); err != nil || again != d {
				t.Errorf("%q: ParseDuration(%q) = %v, %v, want %v", s, Exact(d), again, err, d)
			}
		}
		// What the standard library reads is read, to the nanosecond, save for signs.
		if std, stdErr := time.ParseDuration(s); stdErr == nil && !strings.ContainsAny(s, "+-") && (err != nil || std != d) {
			t.Errorf("ParseDuration(%q) = %v, %v, standard library %v", s, d, err, std)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"2000", "10 MB", "1tB", "1.5k", "64 KiB", "15.9 EiB", "18446744073709551616", "MB", "1.2.3", "0.000000000000000000001EB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil && n != 0 {
			t.Errorf("ParseSize(%q) = %d with %v", s, n, err)
		}
		if err != nil {
			return
		}
		for _, printed := range []string{Bytes(n), BytesIEC(n)} {
			back, err := ParseSize(strings.ReplaceAll(printed, ",", ""))
			if err != nil && n < 1<<63 {
				t.Errorf("%q: cannot read %q: %v", s, printed, err)
			}
			if diff := math.Abs(float64(back) - float64(n)); err == nil && diff > 0.06*float64(n) {
				t.Errorf("%q is %d, printed %q", s, n, printed)
			}
		}
	})
}
