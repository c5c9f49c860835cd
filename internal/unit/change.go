package unit

import (
	"math"
	"strings"
)

// factorFrom is the ratio from which a change is printed as a factor: "+140 %" and
// "−70 %" are hard to compare, ×2.40 and ÷3.33 are not.
const factorFrom = 1.5

// Change prints how a value moved: −8.8 % and +1.3 % below a factor of 1.5, ×3.28
// and ÷8.15 from there. A value that came from or went to 0 has no factor and
// is "from 0" or "to 0". It is Missing when either side is, or when the sign
// changed.
func Change(before, after float64) string {
	switch {
	case !finite(before) || !finite(after):
		return Missing
	case before == after:
		return "0 %"
	case before == 0:
		return "from 0"
	case after == 0:
		return "to 0"
	case before < 0 != (after < 0):
		return Missing
	}
	return Ratio(after / before)
}

// Ratio prints a change that is known as after/before, as Change does.
func Ratio(r float64) string {
	s, percent := ratio(r)
	if percent {
		s += " %"
	}
	return s
}

// RatioRange prints an interval of a ratio: −9.7 to −6.7 %, ÷13.2 to ÷14.0. The
// bounds may come in any order; the smaller change comes first when both go the
// same way as factors.
func RatioRange(a, b float64) string {
	if a > b {
		a, b = b, a
	}
	if b <= 1/factorFrom { // both are divisions; the larger ratio is the smaller divisor
		a, b = b, a
	}
	sa, pa := ratio(a)
	sb, pb := ratio(b)
	switch {
	case sa == Missing || sb == Missing:
		return Missing
	case pa && !pb:
		sa += " %"
	case pb:
		sb += " %"
	}
	return sa + " to " + sb
}

// ratio prints r and reports whether it is in percent, whose sign is left out.
func ratio(r float64) (s string, percent bool) {
	switch {
	case !finite(r) || r < 0:
		return Missing, false
	case r == 0:
		return "to 0", false
	case r >= factorFrom:
		return "×" + Sig3(r), false
	case r <= 1/factorFrom:
		return "÷" + Sig3(1/r), false
	}
	return signed(100 * (r - 1)), true
}

// Points prints how a ratio moved, in points of a percent: +69.5 points.
func Points(before, after float64) string {
	s := signed(100 * (after - before))
	if s == Missing {
		return s
	}
	return s + " points"
}

// PointsRange prints an interval of such a difference, after−before as a ratio:
// +68.6 to +70.2.
func PointsRange(a, b float64) string {
	if a > b {
		a, b = b, a
	}
	sa, sb := signed(100*a), signed(100*b)
	if sa == Missing || sb == Missing {
		return Missing
	}
	return sa + " to " + sb
}

// signed prints a difference in percent or points with its sign. What is too small
// to show is "< 0.1" without one: its direction is not known any better.
func signed(v float64) string {
	s := Fixed(v, 1)
	switch {
	case strings.HasPrefix(s, "> "+minus):
		return "< 0.1"
	case v > 0 && s != Missing && s[0] != '<':
		return "+" + s
	}
	return s
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
