package accessformat

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// isDash reports whether a value says that there is none.
func isDash(b []byte) bool { return len(b) == 0 || len(b) == 1 && b[0] == '-' }

// parseDigits parses an unsigned number.
func parseDigits(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var n uint64
	if len(b) < 20 {
		for _, c := range b {
			d := c - '0'
			if d > 9 {
				return 0, false
			}
			n = n*10 + uint64(d)
		}
		return n, true
	}
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// scales are the steps of decimal fractions of a unit, in ns.
var scales = [...]time.Duration{1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1}

// scaleOf returns where a unit stands in scales: 0 for s, 3 for ms, 6 for µs, 9
// for ns.
func scaleOf(unit time.Duration) int {
	switch unit {
	case time.Millisecond:
		return 3
	case time.Microsecond:
		return 6
	case time.Nanosecond:
		return 9
	}
	return 0
}

// parseDecimal parses a decimal fraction of the unit, which is a second, or a
// thousandth, millionth or billionth of it. What is finer than a nanosecond is
// cut. A number may bring its unit along, as in 12ms, or an exponent.
func parseDecimal(b []byte, unit time.Duration) (time.Duration, bool) {
	if len(b) > 18 {
		return otherDecimal(b, unit)
	}
	var n uint64
	fraction := -1
	for i, c := range b {
		d := c - '0'
		if d <= 9 {
			n = n*10 + uint64(d)
			continue
		}
		if c != '.' || fraction >= 0 {
			return otherDecimal(b, unit)
		}
		fraction = i
	}
	scale := scaleOf(unit)
	switch {
	case fraction < 0 && len(b) == 0:
		return 0, false
	case fraction >= 0:
		n0 := len(b) - 1 - fraction
		if n0 == 0 {
			return 0, false
		}
		scale += n0
	}
	if scale >= len(scales) {
		return otherDecimal(b, unit)
	}
	hi, lo := bits.Mul64(n, uint64(scales[scale]))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return time.Duration(lo), true
}

// otherDecimal parses numbers that are rare.
func otherDecimal(b []byte, unit time.Duration) (time.Duration, bool) {
	if len(b) > 64 || len(b) == 0 {
		return 0, false
	}
	if b[len(b)-1] == 's' {
		d, err := time.ParseDuration(string(b))
		if err != nil || d < 0 {
			return 0, false
		}
		return d, true
	}
	if c := b[0]; c != '.' && !isDigit(c) || bytes.ContainsAny(b, "xXpP_") {
		return 0, false // what strconv takes beyond decimals
	}
	if bytes.ContainsAny(b, "eE") {
		f, err := strconv.ParseFloat(string(b), 64)
		if f *= float64(unit); err != nil || f >= math.MaxInt64 {
			return 0, false
		}
		return time.Duration(math.Round(f)), true
	}
	whole, fraction, dot := bytes.Cut(b, []byte("."))
	if len(whole) == 0 && len(fraction) == 0 || dot && len(fraction) == 0 {
		return 0, false
	}
	whole = bytes.TrimLeft(whole, "0")
	n, ok := parseDigits(whole)
	if len(whole) > 0 && !ok || n >= uint64(math.MaxInt64/int64(unit)) {
		return 0, false
	}
	d := time.Duration(n) * unit
	for _, c := range fraction {
		if !isDigit(c) {
			return 0, false
		}
		unit /= 10
		d += time.Duration(c-'0') * unit
	}
	return d, true
}

// sumOfTimes parses the times that nginx writes of several upstreams, such as
// "0.001, 0.020 : 0.300", and adds them up: they were asked one after another.
// A dash is an upstream that gave no answer. Known says whether there is a
// number at all.
func sumOfTimes(b []byte, unit time.Duration) (sum time.Duration, known, ok bool) {
	if d, ok := parseDecimal(b, unit); ok {
		return d, true, true
	}
	for len(b) > 0 {
		part := b
		if i := bytes.IndexAny(b, ",:"); i >= 0 {
			part, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if part = bytes.Trim(part, " "); isDash(part) {
			continue
		}
		d, ok := parseDecimal(part, unit)
		if !ok || sum > math.MaxInt64-d {
			return 0, false, false
		}
		sum += d
		known = true
	}
	return sum, known, true
}

// setStatus reads the status code of a record. nginx writes 000 when it sent none.
func setStatus(r *Record, b []byte) bool {
	if len(b) == 3 {
		x, y, z := b[0]-'0', b[1]-'0', b[2]-'0'
		if x > 9 || y > 9 || z > 9 {
			return false
		}
		r.Status = int(x)*100 + int(y)*10 + int(z)
		r.Has |= HasStatus
		return true
	}
	if isDash(b) {
		return true
	}
	n, ok := parseDigits(b)
	if !ok || n > 999 {
		return false
	}
	r.Status = int(n)
	r.Has |= HasStatus
	return true
}

// requestLine splits "GET /path HTTP/1.1". What is no HTTP request, such as the
// start of a TLS connection to a plain port, leaves method and path empty.
func requestLine(b []byte, r *Record) {
	r.Request = b
	i := 0
	for i < len(b) && isToken[b[i]] {
		i++
	}
	if i == 0 || b[0] < 'A' || i > maxMethod || i >= len(b)-1 || b[i] != ' ' {
		return
	}
	path := b[i+1:]
	if n := len(path) - len(" HTTP/1.1"); n >= 0 && string(path[n:n+6]) == " HTTP/" {
		path, r.Protocol = path[:n], path[n+1:]
	} else if n := bytes.LastIndex(path, httpSlash); n >= 0 {
		path, r.Protocol = path[:n], path[n+1:]
	}
	if len(path) > 0 {
		r.Method, r.Path = b[:i], path
	}
}

var httpSlash = []byte(" HTTP/")

// maxMethod bounds the length of a method: the longest that is registered, such as
// UPDATEREDIRECTREF, has 17 letters.
const maxMethod = 20

// isToken marks the bytes that methods consist of.
var isToken = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_'
	}
	return t
}()

// isMethod reports whether b is a token such as methods are.
func isMethod(b []byte) bool {
	for _, c := range b {
		if !isToken[c] {
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxMethod
}

func badValue(label string, value []byte) string {
	return "bad " + label + " " + quoteShort(value)
}

// quoteShort returns a value for an error message, cut.
func quoteShort(b []byte) string { return strconv.QuoteToASCII(string(b[:min(len(b), 40)])) }
