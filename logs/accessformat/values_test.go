package accessformat

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
)

// slowDecimal reads a decimal fraction with exact arithmetic.
func slowDecimal(s string, unit time.Duration) (time.Duration, bool) {
	if !regexp.MustCompile(`^([0-9]+|[0-9]*\.[0-9]+)$`).MatchString(s) {
		return 0, false
	}
	r, ok := new(big.Rat).SetString("0" + s)
	if !ok {
		return 0, false
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(unit)))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return time.Duration(n.Int64()), n.IsInt64()
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0.021", "21000", ".5", "5.", "", ".", "1.2.3", "9223372036.854775807", "9223372036854775807", "99999999999999999999", "1e3", "-1", "0x1p2", "00000000000000000000000.1", "0.1234567891234"} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, u uint8) {
		unit := []time.Duration{time.Second, time.Millisecond, time.Microsecond, 1}[u%4]
		got, ok := parseDecimal([]byte(s), unit)
		want, good := slowDecimal(s, unit)
		if good && len(s) <= 64 && (!ok || got != want) && want < 1<<62 {
			t.Errorf("%q %v: %v %v, want %v", s, unit, got, ok, want)
		}
		if got < 0 || ok && !good && !strings.ContainsAny(s, "eEsmh") {
			t.Errorf("%q %v: %v %v, want %v", s, unit, got, ok, good)
		}
	})
}

func TestDecimal(t *testing.T) {
	f := func(s string, unit, want time.Duration) {
		t.Helper()
		got, ok := parseDecimal([]byte(s), unit)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	f("0.021", time.Second, 21*time.Millisecond)
	f("1.5", time.Millisecond, 1500*time.Microsecond)
	f("0.0000000019", time.Second, 1)
	f("12ms", time.Second, 12*time.Millisecond)
	f("1m2.5s", time.Second, 62500*time.Millisecond)
	f("31.5µs", time.Second, 31500)
	f("9.29675e-05", time.Second, 92968)
	f("1E3", time.Millisecond, time.Second)
	for _, bad := range []string{"", ".", "5.", "-1", "-1s", "x", "1x", "1.2.3", "0x10", "1_0", "inf", "nan", "s", "1e400", "99999999999999999999999", "1e", "1 2"} {
		f(bad, time.Second, -1)
	}
}

func TestSumOfTimes(t *testing.T) {
	f := func(s string, want time.Duration, known, ok bool) {
		t.Helper()
		if d, k, o := sumOfTimes([]byte(s), time.Second); d != want || k != known || o != ok {
			t.Errorf("%q: %v %v %v", s, d, k, o)
		}
	}
	f("0.001, 0.020 : 0.300", 321*time.Millisecond, true, true)
	f("-, 0.020", 20*time.Millisecond, true, true)
	f("0.1,0.2", 300*time.Millisecond, true, true)
	f("-", 0, false, true)
	f("- : -, ", 0, false, true)
	f("", 0, false, true)
	f("0.1 0.2", 0, false, false)
	f("0.1, x", 0, false, false)
	f("9000000000, 9000000000", 0, false, false)
}

func TestRequestLine(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		var r Record
		requestLine([]byte(s), &r)
		if got := string(r.Method) + "|" + string(r.Path) + "|" + string(r.Protocol); got != want || string(r.Request) != s {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	f("GET /a?b HTTP/1.1", "GET|/a?b|HTTP/1.1")
	f("GET /a b HTTP/1.1", "GET|/a b|HTTP/1.1")
	f("GET /a HTTP/1.1 HTTP/1.0", "GET|/a HTTP/1.1|HTTP/1.0")
	f("POST /a HTTP/2", "POST|/a|HTTP/2")
	f("GET /old", "GET|/old|")
	f("VERSION-CONTROL /x HTTP/1.1", "VERSION-CONTROL|/x|HTTP/1.1")
	f("- - -", "||")
	f("", "||")
	f("-", "||")
	f("GET", "||")
	f("GET ", "||")
	f("GET  HTTP/1.1", "||HTTP/1.1")
	f(`\x16\x03\x01`, "||")
	f("METHODTHATISFARTOOLONG /", "||")
}
