package ptquerydigest

import (
	"crypto/md5"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// formatInt prints a whole number.
func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// formatSeconds prints a time with its unit: 366us, 74ms, 12s. It is cut to whole
// microseconds first, and rounded then; milliseconds are those of the time in seconds,
// where 0.5115 × 1000 is a little less than 511.5.
func formatSeconds(v float64) string {
	us := inMicroseconds(v)
	switch {
	case us <= 0:
		return "0"
	case us < 1000:
		return fmt.Sprintf("%.0fus", us)
	case us < 1e6:
		return fmt.Sprintf("%.0fms", us/1e6*1e3)
	}
	return fmt.Sprintf("%.0fs", us/1e6)
}

// inMicroseconds cuts a time to whole ones, as it is written with 15 digits: 242 of
// 0.000242999999999999. Where that has an exponent it is written with 17 decimals, so
// that ninety times 0.000001, a little less than 0.00009, are 90.
func inMicroseconds(v float64) float64 {
	text := strconv.FormatFloat(max(v, 0), 'g', 15, 64)
	if strings.Contains(text, "e") {
		text = strconv.FormatFloat(v, 'f', 17, 64)
	}
	whole, part, _ := strings.Cut(text, ".")
	us, _ := strconv.ParseFloat(whole+(part + "000000")[:6], 64) // digits
	return us
}

// units are what the powers of 1,000 and 1,024 are called.
var units = [...]string{"", "k", "M", "G", "T", "P", "E", "Z", "Y"}

// shortenBytes prints a number with two decimals, and in units of 1,024 when it is that
// long; a whole number below that has none: 40, 4.14, 17.97k.
func shortenBytes(v float64) string { return formatScaled(v, 1024) }

func formatScaled(v, base float64) string {
	u := 0
	for v >= base && u < len(units)-1 {
		v /= base
		u++
	}
	// Whole is what Perl writes without a point, 2e-07 as well.
	if u == 0 && !strings.Contains(strconv.FormatFloat(v, 'g', 15, 64), ".") {
		return strconv.FormatFloat(truncFloat(v), 'f', -1, 64)
	}
	return fmt.Sprintf("%.2f%s", v, units[u])
}

// shortenCount is shorten with units of 1,000: 4.45k.
func shortenCount(v float64) string { return formatScaled(v, 1000) }

// percentOf is the share of part in whole, cut to a whole number.
func percentOf(part, whole float64) int {
	if whole == 0 {
		return 0
	}
	return int(part * 100 / whole)
}

// isTime reports whether the values of an attribute are seconds.
func isTime(name string) bool {
	return strings.HasSuffix(name, "_time") || strings.HasSuffix(name, "_wait")
}

// formatFigure prints a value of an attribute as a report does.
func formatFigure(name string, v float64) string {
	if isTime(name) {
		return formatSeconds(v)
	}
	return shortenBytes(v)
}

// checksumOf is the id of a class: the upper-case MD5 of its key.
func checksumOf(key string) string {
	return fmt.Sprintf("%X", md5.Sum([]byte(key)))
}

// cutText shortens a text to n bytes, the last three of which are dots.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= 3 {
		return "..."[:max(n, 0)]
	}
	return s[:n-3] + "..."
}

// trimLine shortens a line, unless the length is 0.
func trimLine(s string, n int) string {
	if n > 0 && len(s) > n {
		return s[:n]
	}
	return s
}

// truncFloat cuts a number to a whole one.
func truncFloat(v float64) float64 {
	if t := math.Trunc(v); t != 0 {
		return t
	}
	return 0 // and not -0
}
