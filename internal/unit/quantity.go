package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// None is a duration that was not measured. It prints as Missing.
const None = time.Duration(math.MinInt64)

// Unit returns the unit for durations of which d is the largest: time.Second,
// time.Millisecond, time.Microsecond or time.Nanosecond. Latencies stay in ms up
// to 10 s, where people compare them with those of other steps, and below 0.1 the
// next smaller unit is taken.
func Unit(d time.Duration) time.Duration {
	d = max(d, -d)
	switch {
	case d >= 10*time.Second:
		return time.Second
	case d >= 100*time.Microsecond:
		return time.Millisecond
	case d >= 100*time.Nanosecond:
		return time.Microsecond
	}
	return time.Nanosecond
}

// Name returns ns, µs, ms, s, min or h for the unit, and its length for any other
// duration.
func Name(unit time.Duration) string {
	switch unit {
	case time.Nanosecond:
		return "ns"
	case time.Microsecond:
		return "µs"
	case time.Millisecond:
		return "ms"
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "h"
	}
	return unit.String()
}

// Duration prints a measured duration for prose: 137 ms, 1,116 ms, 12.3 s.
func Duration(d time.Duration) string {
	if d == None {
		return Missing
	}
	u := Unit(d)
	if d == 0 {
		u = time.Millisecond
	}
	return DurationIn(d, u) + " " + Name(u)
}

// DurationIn prints a measured duration in the unit, without its name.
func DurationIn(d, unit time.Duration) string {
	switch {
	case d == None:
		return Missing
	case unit == time.Nanosecond:
		return Count(d) // there are no parts of a nanosecond
	}
	return Sig3(float64(d) / float64(unit))
}

// Exact prints a duration that was asked for, with all its digits: 10 s, 1.5 s,
// 250 ms, 2 min 4 s, 1 h 30 min. [ParseDuration] reads it back.
func Exact(d time.Duration) string {
	switch {
	case d == None:
		return Missing
	case d == 0:
		return "0 s"
	case d < 0:
		return minus + Exact(-d)
	}
	var parts []string
	for _, u := range []time.Duration{time.Hour, time.Minute} {
		if n := d / u; n > 0 {
			parts = append(parts, strconv.FormatInt(int64(n), 10)+" "+Name(u))
			d %= u
		}
	}
	if d > 0 {
		parts = append(parts, exactSeconds(d, len(parts) > 0))
	}
	return strings.Join(parts, " ")
}

// exactSeconds prints a duration below a minute in one unit, seconds if asked.
func exactSeconds(d time.Duration, seconds bool) string {
	u := time.Second
	for !seconds && d < u {
		u /= 1000
	}
	s := strconv.FormatInt(int64(d/u), 10)
	if part := d % u; part > 0 {
		width := len(strconv.FormatInt(int64(u), 10)) - 1
		s += "." + strings.TrimRight(fmt.Sprintf("%0*d", width, int64(part)), "0")
	}
	return s + " " + Name(u)
}

// Elapsed prints how long something took, to the second from a minute on: 2 min
// 4 s; shorter ones as Duration does, but in seconds from 1 s: 4.20 s.
func Elapsed(d time.Duration) string {
	switch {
	case d != None && d >= time.Minute-time.Second/2:
		return Exact(d.Round(time.Second))
	case d >= time.Second:
		return DurationIn(d, time.Second) + " s"
	}
	return Duration(d)
}

// PerSec prints a rate of requests: 1,000 req/s.
func PerSec(v float64) string {
	s := Plain(v)
	if s == Missing {
		return s
	}
	return s + " req/s"
}

// A sizeUnit is a unit of bytes.
type sizeUnit struct {
	name  string
	bytes float64
}

var (
	sizesSI  = []sizeUnit{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}, {"EB", 1e18}}
	sizesIEC = []sizeUnit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"PiB", 1 << 50}, {"EiB", 1 << 60}}
)

// Bytes prints a size on the wire or on disk: 512 B, 1.8 MB, 63.4 MB, 704 MB. The
// units count in thousands.
func Bytes(n uint64) string { return bytesIn(n, sizesSI) }

// BytesIEC prints a size that the kernel counts in powers of two: 1.8 MiB.
func BytesIEC(n uint64) string { return bytesIn(n, sizesIEC) }

func bytesIn(n uint64, units []sizeUnit) string {
	if float64(n) < units[1].bytes {
		return Count(n) + " B"
	}
	u := sizeFor(float64(n), units)
	return Fixed(float64(n)/u.bytes, decimals(float64(n)/u.bytes, 1)) + " " + u.name
}

// sizeFor returns the largest unit of which v, rounded to a whole number, holds
// at least one.
func sizeFor(v float64, units []sizeUnit) sizeUnit {
	step := units[1].bytes
	u := units[0]
	for _, next := range units[1:] {
		if v/u.bytes < step-0.5 || v < step {
			break
		}
		u = next
	}
	return u
}

// Percent prints a ratio: 30.5 %. Only what is all of it is "100 %", and only what
// is none is "0 %"; between them it is 99.97 %, "> 99.99 %" and "< 0.1 %".
func Percent(ratio float64) string {
	s := PercentCell(ratio)
	switch s {
	case Missing:
		return s
	case "100.0":
		s = "100"
	}
	return s + " %"
}

// PercentCell prints a ratio in percent for a column whose header has the sign:
// 30.5, 100.0, 0.
//
// A ratio within 1e-12 of 1 is all: sums of shares miss it by rounding, while one
// request in a thousand billion is beyond any run.
func PercentCell(ratio float64) string {
	if math.Abs(ratio-1) < 1e-12 {
		return "100.0"
	}
	s := Fixed(ratio*100, 1)
	if s != "100.0" {
		return s
	}
	if s = Fixed(ratio*100, 2); s != "100.00" {
		return s
	}
	if ratio > 1 {
		return "> 100"
	}
	return "> 99.99"
}
