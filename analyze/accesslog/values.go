package accesslog

import (
	"bytes"
	"math"
	"time"
)

// digits parses an unsigned number.
func digits(b []byte) (uint64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// decimal parses a decimal fraction of the unit. What is finer than a
// nanosecond is cut.
func decimal(b []byte, unit time.Duration) (time.Duration, bool) {
	whole, fraction, dot := bytes.Cut(b, []byte("."))
	if len(whole) == 0 && len(fraction) == 0 {
		return 0, false
	}
	var n uint64
	if len(whole) > 0 {
		var ok bool
		if n, ok = digits(whole); !ok {
			return 0, false
		}
	}
	if n >= uint64(math.MaxInt64/int64(unit)) || dot && len(fraction) == 0 {
		return 0, false
	}
	d := time.Duration(n) * unit
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		unit /= 10
		d += time.Duration(c-'0') * unit
	}
	return d, true
}

// upstream parses the times that nginx writes of several upstreams, such as
// "0.001, 0.020 : 0.300", and adds them up: they were asked one after another.
// A dash is an upstream that gave no answer.
func upstream(b []byte, unit time.Duration) (time.Duration, bool) {
	var sum time.Duration
	known := false
	for len(b) > 0 {
		i := bytes.IndexAny(b, ",: ")
		part := b
		if i >= 0 {
			part, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if len(part) == 0 || len(part) == 1 && part[0] == '-' {
			continue
		}
		d, ok := decimal(part, unit)
		if !ok || sum > math.MaxInt64-d {
			return 0, false
		}
		sum += d
		known = true
	}
	return sum, known
}

// A timeParser parses the times of a log. It remembers the last one, since
// hundreds of requests share a second.
type timeParser struct {
	local *time.Location // of times without an offset
	text  []byte
	last  time.Time
	res   time.Duration
	ok    bool
}

// parse reads a time in one of the forms that servers write, with its
// resolution. Brackets around it are skipped.
func (p *timeParser) parse(b []byte) (time.Time, time.Duration, bool) {
	if len(b) > 1 && b[0] == '[' && b[len(b)-1] == ']' {
		b = b[1 : len(b)-1]
	}
	if p.ok && bytes.Equal(b, p.text) {
		return p.last, p.res, true
	}
	p.last, p.res, p.ok = p.read(b)
	p.text = append(p.text[:0], b...)
	return p.last, p.res, p.ok
}

func (p *timeParser) read(b []byte) (time.Time, time.Duration, bool) {
	switch {
	case len(b) > 64:
		return time.Time{}, 0, false
	case len(b) >= 20 && b[2] == '/' && b[6] == '/':
		return p.common(b)
	case len(b) >= 19 && b[4] == '-' && b[7] == '-':
		return p.iso(b)
	}
	return epoch(b)
}

// common reads 21/Aug/2021:10:00:00 +0900 (nginx $time_local, Apache %t), also
// without the offset or with a fraction of a second.
func (p *timeParser) common(b []byte) (time.Time, time.Duration, bool) {
	stamp, zone, _ := bytes.Cut(b, []byte(" "))
	layout := "02/Jan/2006:15:04:05"
	res, ok := resolution(stamp, len(layout))
	if !ok {
		return time.Time{}, 0, false
	}
	if len(zone) > 0 {
		t, err := time.Parse(layout+" -0700", string(b))
		return t, res, err == nil
	}
	t, err := time.ParseInLocation(layout, string(stamp), p.location())
	return t, res, err == nil
}

// iso reads 2021-08-21T10:00:00.123+09:00 ($time_iso8601) and its relatives
// with a blank for the T and without an offset.
func (p *timeParser) iso(b []byte) (time.Time, time.Duration, bool) {
	s := []byte(string(b))
	if s[10] == ' ' {
		s[10] = 'T'
	}
	end := 19
	for end < len(s) && (s[end] == '.' || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	res, ok := resolution(s[:end], 19)
	if !ok {
		return time.Time{}, 0, false
	}
	zone := bytes.TrimLeft(s[end:], " ")
	text := string(s[:end]) + string(zone)
	layout := "2006-01-02T15:04:05"
	switch {
	case len(zone) == 0:
		t, err := time.ParseInLocation(layout, text, p.location())
		return t, res, err == nil
	case bytes.IndexByte(zone, ':') >= 0 || zone[0] == 'Z':
		layout += "Z07:00"
	default:
		layout += "-0700"
	}
	t, err := time.Parse(layout, text)
	return t, res, err == nil
}

// epoch reads 1629507600.123 ($msec), also without a fraction, or in
// milliseconds or microseconds as some programs write it.
func epoch(b []byte) (time.Time, time.Duration, bool) {
	whole, fraction, _ := bytes.Cut(b, []byte("."))
	unit := time.Second
	switch len(whole) {
	case 10:
	case 13:
		unit = time.Millisecond
	case 16:
		unit = time.Microsecond
	default:
		return time.Time{}, 0, false
	}
	n, ok := digits(whole)
	if !ok {
		return time.Time{}, 0, false
	}
	d := time.Duration(n) * unit
	for _, c := range fraction {
		if c < '0' || c > '9' || len(fraction) > 9 {
			return time.Time{}, 0, false
		}
		unit /= 10
		d += time.Duration(c-'0') * unit
	}
	return time.Unix(0, int64(d)), max(unit, 1), true
}

// resolution returns the resolution of a time with that many bytes before its
// fraction.
func resolution(b []byte, whole int) (time.Duration, bool) {
	if len(b) == whole {
		return time.Second, true
	}
	n := len(b) - whole - 1
	if n < 1 || n > 9 || b[whole] != '.' && b[whole] != ',' {
		return 0, false
	}
	res := time.Second
	for range n {
		res /= 10
	}
	return res, true
}

func (p *timeParser) location() *time.Location {
	if p.local == nil {
		return time.Local
	}
	return p.local
}

// time reads a time into the record.
func (p *Parser) time(b []byte, r *Record) bool {
	if isDash(b) {
		return true
	}
	t, res, ok := p.times.parse(b)
	if !ok {
		return false
	}
	_, zone := t.Zone()
	r.Unix, r.Resolution, r.Zone = t.UnixNano(), res, int32(zone)
	r.Has |= HasTime
	return true
}
