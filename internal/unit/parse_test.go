package unit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate_Success(t *testing.T) {
	f := func(s string, want float64) {
		t.Helper()
		got, err := ParseRate(s)
		if err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	f("1000", 1000)
	f("0", 0)
	f("0/s", 0)
	f("infinity", 0)
	f("1k", 1000)
	f("1.5k", 1500)
	f("2M", 2e6)
	f("0.5", 0.5)
	f("50/s", 50)
	f("50/1s", 50)
	f("10/1m", 10.0/60)
	f("10/m", 10.0/60)
	f("10/min", 10.0/60)
	f("1/h", 1.0/3600)
	f("3/500ms", 6)
	f("1/us", 1e6)
	f("1/ns", 1e9)
	f("1k/2s", 500)
	f(" 50 / s ", 50)
}

func TestParseRate_Failure(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		got, err := ParseRate(s)
		if err == nil || got != 0 || err.Error() != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %s", s, got, err, want)
		}
	}
	number := func(s string) { t.Helper(); f(s, `bad rate "`+s+`": want a number such as 1000 or 1k`) }
	number("")
	number("1k0")
	number("k")
	number("-1")
	number("+1")
	number("1e3")
	number("0x10")
	number("1_000")
	number("1,000")
	number("Inf")
	number("NaN")
	number(".")
	number("1.2.3")
	number("/s")
	number("0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001")
	per := func(s, part string) {
		t.Helper()
		f(s, `bad rate "`+s+`": want a time after the slash such as s, 1m or 500ms, not "`+part+`"`)
	}
	per("50/", "")
	per("50/x", "x")
	per("50/0s", "0s")
	per("50/-1s", "-1s")
	per("50/10", "10")
	per("50/1s/2", "1s/2")
}

func TestParseDuration_Success(t *testing.T) {
	f := func(s string, want time.Duration) {
		t.Helper()
		got, err := ParseDuration(s)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	f("0", 0)
	f("0s", 0)
	f("10s", 10*time.Second)
	f("1.5s", 1500*ms)
	f(".5s", 500*ms)
	f("500 ms", 500*ms)
	f("1h30m", 90*time.Minute)
	f("2 min 4 s", 124*time.Second)
	f("1 h 30 min", 90*time.Minute)
	f("1d", 24*time.Hour)
	f("0.5d", 12*time.Hour)
	f("3us", 3*us)
	f("3µs", 3*us)
	f("3μs", 3*us)
	f("9223372036854775807ns", math.MaxInt64)
}

func TestParseDuration_Failure(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		got, err := ParseDuration(s)
		if err == nil || got != 0 || err.Error() != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %s", s, got, err, want)
		}
	}
	f("", `bad duration "": want a number and a unit such as 10s`)
	f("s", `bad duration "s": want a number and a unit such as 10s`)
	f("10", `bad duration "10": want a unit such as 10s`)
	f("1m30", `bad duration "1m30": want a unit such as 30s`)
	f("-5s", `bad duration "-5s": below 0`)
	f("10x", `bad duration "10x": unknown unit "x": want ns, us, ms, s, m, h or d`)
	f("10S", `bad duration "10S": unknown unit "S": want ns, us, ms, s, m, h or d`)
	f("1e3s", `bad duration "1e3s": unknown unit "e": want ns, us, ms, s, m, h or d`)
	f("1.2.3s", `bad duration "1.2.3s": want a number and a unit such as 10s`)
	f("9223372036854775808ns", `bad duration "9223372036854775808ns": out of range`)
	f("200000d", `bad duration "200000d": out of range`)
	f("292y", `bad duration "292y": unknown unit "y": want ns, us, ms, s, m, h or d`)
	f("2562047h 2562047h", `bad duration "2562047h 2562047h": out of range`)
}

func TestParseSize_Success(t *testing.T) {
	f := func(s string, want uint64) {
		t.Helper()
		got, err := ParseSize(s)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	f("0", 0)
	f("2000", 2000)
	f("2000B", 2000)
	f("10 MB", 10e6)
	f("10mb", 10e6)
	f("1tB", 1e12)
	f("1.5k", 1500)
	f("64 KiB", 64<<10)
	f("64Ki", 64<<10)
	f("1.5MiB", 3<<19)
	f("0.0009 kB", 0)
	f("1.0000000001GB", 1e9)
	f("1.000000001GB", 1e9+1)
	f("18446744073709551615", math.MaxUint64)
	f("15.9 EiB", 18331451923248866918)
}

func TestParseSize_Failure(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		got, err := ParseSize(s)
		if err == nil || got != 0 || err.Error() != want {
			t.Errorf("ParseSize(%q) = %v, %v, want %s", s, got, err, want)
		}
	}
	number := func(s string) { t.Helper(); f(s, `bad size "`+s+`": want a number such as 2000, 10 MB or 64 KiB`) }
	number("")
	number("MB")
	number("-1")
	number("1.2.3")
	number(".")
	f("10 XB", `bad size "10 XB": unknown unit "XB": want B, kB, MB, GB, KiB, MiB or GiB`)
	f("10 M B", `bad size "10 M B": unknown unit "M B": want B, kB, MB, GB, KiB, MiB or GiB`)
	f("18446744073709551616", `bad size "18446744073709551616": out of range`)
	f("16 EiB", `bad size "16 EiB": out of range`)
	f("18.9 EB", `bad size "18.9 EB": out of range`)
}

func TestExactRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "d"))
		got, err := ParseDuration(Exact(d))
		if err != nil || got != d {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", Exact(d), got, err, d)
		}
	})
}
