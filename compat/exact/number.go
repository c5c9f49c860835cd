package exact

import (
	"math"
	"strconv"
)

// A Number is a duration as a log writes it.
type Number struct {
	Value float64 // times the factor that it was parsed with
	Frac  int     // digits after the point; -1 when it is not written as digits and a point

	digits uint64 // all of them: 21 of 0.021
}

// exactPowers are the powers of ten that floating point numbers hold exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Parse reads a number and multiplies it by the factor. It is the value that
// strconv.ParseFloat gives: up to 15 digits are divided by a power of ten, both
// exact, which rounds once. It reports false for what is no number, or none that
// is finite, and returns 0 then.
func Parse(text []byte, factor float64) (Number, bool) {
	n := Number{}
	point := false
	for _, c := range text {
		switch {
		case c-'0' <= 9:
			n.digits = n.digits*10 + uint64(c-'0')
			if point {
				n.Frac++
			}
		case c == '.' && !point:
			point = true
		default:
			return parseRare(text, factor)
		}
	}
	if len(text) == 0 || len(text) > len(exactPowers) || point && len(text) == 1 {
		return parseRare(text, factor)
	}
	n.Value = float64(n.digits) / exactPowers[n.Frac] * factor
	return n, true
}

func parseRare(text []byte, factor float64) (Number, bool) {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{Frac: -1}, false
	}
	return Number{Value: v * factor, Frac: -1}, true
}
