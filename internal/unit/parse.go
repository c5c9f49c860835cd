package unit

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// ParseRate reads a rate of requests: a number such as 1000, 0.5, 1k or 2M, per
// second or per the time after a slash: 50/s, 10/1m, 3/500ms. It returns requests
// per second. "0" and "infinity" give 0, which means as fast as possible.
func ParseRate(s string) (perSec float64, err error) {
	if s == "infinity" {
		return 0, nil
	}
	number, per, slash := strings.Cut(s, "/")
	n, ok := parseNumber(strings.TrimSpace(number))
	if !ok {
		return 0, fmt.Errorf("bad rate %q: want a number such as 1000 or 1k", s)
	}
	period := time.Second
	if slash {
		period, err = parsePer(strings.TrimSpace(per))
		if err != nil {
			return 0, fmt.Errorf("bad rate %q: %w", s, err)
		}
	}
	perSec = n * 1e9 / float64(period)
	if math.IsInf(perSec, 0) || perSec == 0 && n != 0 {
		return 0, fmt.Errorf("bad rate %q: out of range", s)
	}
	return perSec, nil
}

// parsePer reads the time after the slash of a rate; a bare unit is one of it.
func parsePer(s string) (time.Duration, error) {
	if _, ok := timeUnits[s]; ok {
		s = "1" + s
	}
	d, err := ParseDuration(s)
	if err != nil || d == 0 {
		return 0, fmt.Errorf("want a time after the slash such as s, 1m or 500ms, not %q", s)
	}
	return d, nil
}

// parseNumber reads digits with an optional fraction and an optional k or M. It
// refuses what is not 0 but too small to distinguish from it.
func parseNumber(s string) (float64, bool) {
	scale := 1.0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'k', 'K':
			scale, s = 1e3, s[:n-1]
		case 'M':
			scale, s = 1e6, s[:n-1]
		}
	}
	if !isDecimal(s) {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v*scale, 0) || v == 0 && strings.Trim(s, "0.") != "" {
		return 0, false
	}
	return v * scale, true
}

// isDecimal reports whether s is digits with at most one point and at least one
// digit. strconv alone would take 0x1p-2, 1_000 and Inf.
func isDecimal(s string) bool {
	digits, points := 0, 0
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
		case s[i] == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

// timeUnits maps what people write to what time.ParseDuration knows.
var timeUnits = map[string]string{
	"ns": "ns", "us": "us", "µs": "us", "μs": "us", "ms": "ms", "s": "s", "m": "m", "min": "m", "h": "h", "d": "d",
}

// ParseDuration reads a duration such as 10s, 1.5s, 500 ms, 2 min 4 s, 1h30m or
// 1d. Spaces are free, min is m, d is 24 h. A number needs its unit, save for 0;
// there are no negative durations.
func ParseDuration(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	if rest == "0" {
		return 0, nil
	}
	if rest == "" {
		return 0, fmt.Errorf("bad duration %q: want a number and a unit such as 10s", s)
	}
	var sum time.Duration
	for rest != "" {
		var number, name string
		number, rest = span(rest, func(c byte) bool { return c >= '0' && c <= '9' || c == '.' })
		name, rest = span(strings.TrimLeft(rest, " "), func(c byte) bool {
			return (c < '0' || c > '9') && c != '.' &&
				c != ' '
		})
		rest = strings.TrimLeft(rest, " ")
		d, err := parseTerm(number, name)
		if err != nil {
			return 0, fmt.Errorf("bad duration %q: %w", s, err)
		}
		if sum += d; sum < 0 {
			return 0, fmt.Errorf("bad duration %q: out of range", s)
		}
	}
	return sum, nil
}

// parseTerm reads one number with its unit.
func parseTerm(number, name string) (time.Duration, error) {
	switch {
	case number == "" && strings.HasPrefix(name, "-"):
		return 0, errors.New("below 0")
	case !isDecimal(number):
		return 0, errors.New("want a number and a unit such as 10s")
	case name == "":
		return 0, fmt.Errorf("want a unit such as %ss", number)
	}
	short, ok := timeUnits[name]
	if !ok {
		return 0, fmt.Errorf("unknown unit %q: want ns, us, ms, s, m, h or d", name)
	}
	times := time.Duration(1)
	if short == "d" {
		short, times = "h", 24
	}
	d, err := time.ParseDuration(number + short)
	if err != nil || d > math.MaxInt64/times {
		return 0, errors.New("out of range")
	}
	return d * times, nil
}

// span cuts s after its longest start of bytes that are in the set.
func span(s string, in func(byte) bool) (head, tail string) {
	i := 0
	for i < len(s) && in(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// sizeNames maps lower-case suffixes to bytes.
var sizeNames = map[string]uint64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12, "p": 1e15, "pb": 1e15,
	"e": 1e18, "eb": 1e18,
	"ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20, "gi": 1 << 30, "gib": 1 << 30,
	"ti": 1 << 40, "tib": 1 << 40, "pi": 1 << 50, "pib": 1 << 50, "ei": 1 << 60, "eib": 1 << 60,
}

// ParseSize reads a size such as 2000, 10 MB, 1.5k or 64 KiB. kB, MB and so on
// count in thousands, KiB, MiB and so on in powers of two; case and the space do
// not matter. A part of a byte is rounded down.
func ParseSize(s string) (bytes uint64, err error) {
	number, name := span(strings.TrimSpace(s), func(c byte) bool { return c >= '0' && c <= '9' || c == '.' })
	name = strings.TrimLeft(name, " ")
	if !isDecimal(number) {
		return 0, fmt.Errorf("bad size %q: want a number such as 2000, 10 MB or 64 KiB", s)
	}
	scale, ok := sizeNames[strings.ToLower(name)]
	if !ok {
		return 0, fmt.Errorf("bad size %q: unknown unit %q: want B, kB, MB, GB, KiB, MiB or GiB", s, name)
	}
	bytes, ok = scaleDecimal(number, scale)
	if !ok {
		return 0, fmt.Errorf("bad size %q: out of range", s)
	}
	return bytes, nil
}

// scaleDecimal returns number·scale rounded down, false when it passes 64 bits.
func scaleDecimal(number string, scale uint64) (uint64, bool) {
	whole, part, _ := strings.Cut(number, ".")
	var v uint64
	if whole != "" {
		n, err := strconv.ParseUint(whole, 10, 64)
		if err != nil || n > math.MaxUint64/scale {
			return 0, false
		}
		v = n * scale
	}
	// 18 digits give a part of the largest unit to the byte; scale stays below 2^61.
	part = part[:min(len(part), 18)]
	if part == "" {
		return v, true
	}
	n, err := strconv.ParseUint(part, 10, 64)
	if err != nil {
		return 0, false
	}
	add := mulDiv(n, scale, pow10(len(part)))
	return v + add, v+add >= v
}

// mulDiv returns a·b/c rounded down, through 128 bits; a must be below c.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// pow10 returns 10^n for n up to 19.
func pow10(n int) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}
