package unit

import (
	"math"
	"strconv"
	"strings"
)

// Missing stands for what was not measured.
const Missing = "–"

// minus is U+2212, as wide as a digit and a plus sign.
const minus = "−"

// Sig3 prints a measured value in three significant digits with at most two
// decimals: 0.98, 8.90, 56.6, 357, 1,116. The whole part is never cut. A value
// too small for that is "< 0.01"; NaN and infinities are Missing.
func Sig3(v float64) string { return significant(v, 2) }

// Sig3Fine is Sig3 with at most three decimals, for comparisons, where a small
// difference is the point: 0.980, 0.010.
func Sig3Fine(v float64) string { return significant(v, 3) }

// Fixed prints v with that many decimals, for a column of values whose last digit
// means the same in each: 1,258.1, 10.6. A value too small for that, but not 0,
// is "< 0.1".
func Fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Missing
	case v == 0:
		return "0"
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if strings.Trim(s, "0.") == "" {
		return tooSmall(v < 0, decimals)
	}
	return sign(v) + group(s)
}

// Plain prints v as it would be written by hand, without trailing zeros and with
// at most two decimals: 1,000, 0.5. It is for values that were asked for rather
// than measured.
func Plain(v float64) string {
	s := Fixed(v, 2)
	if strings.Contains(s, ".") && !strings.Contains(s, "<") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Integer is any whole number.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// Count prints n exactly: 6,612.
func Count[T Integer](n T) string {
	if n < 0 {
		return minus + group(strconv.FormatUint(-uint64(n), 10))
	}
	return group(strconv.FormatUint(uint64(n), 10))
}

// Counted prints a count with its noun: 1 run, 6,612 runs.
func Counted[T Integer](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// significant prints v in three significant digits with at most that many
// decimals.
func significant(v float64, most int) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Missing
	case v == 0:
		return "0"
	}
	return Fixed(v, decimals(v, most))
}

// decimals returns how many decimals show three significant digits of v, at most
// that many. The exponent is taken after rounding: 9.996 is 10.0, not 10.00.
func decimals(v float64, most int) int {
	e := strconv.FormatFloat(v, 'e', 2, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:]) // always a number there
	return min(max(2-exp, 0), most)
}

func tooSmall(negative bool, decimals int) string {
	limit := "1"
	if decimals > 0 {
		limit = "0." + strings.Repeat("0", decimals-1) + "1"
	}
	if negative {
		return "> " + minus + limit
	}
	return "< " + limit
}

func sign(v float64) string {
	if v < 0 {
		return minus
	}
	return ""
}

// group puts a comma before each three digits of the whole part of s, a number
// without sign.
func group(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	n := len(whole)
	if n <= 3 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + n/3)
	for i := range n {
		if i > 0 && (n-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	b.WriteString(s[n:])
	return b.String()
}
