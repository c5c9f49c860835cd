package kataribe

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// A number is a duration as the log writes it: digits of which the last frac ones
// stand behind the point. 0.021 is 21 with frac 3.
type number struct {
	digits uint64
	frac   int
	value  float64 // times 10^scale
}

// exactPowers are the powers of ten that floating point numbers hold exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseNumber reads a duration; what is no number is 0. Up to 15 digits are
// divided by a power of ten, both exact, which rounds once, and so gives what
// strconv.ParseFloat gives. A frac of -1 says that the text was not so simple.
func parseNumber(text []byte, factor float64) number {
	n := number{}
	point := false
	for _, c := range text {
		switch {
		case c-'0' <= 9:
			n.digits = n.digits*10 + uint64(c-'0')
			if point {
				n.frac++
			}
		case c == '.' && !point:
			point = true
		default:
			return parseRareNumber(text, factor)
		}
	}
	if len(text) == 0 || len(text) > len(exactPowers) || point && len(text) == 1 {
		return parseRareNumber(text, factor)
	}
	n.value = float64(n.digits) / exactPowers[n.frac] * factor
	return n
}

func parseRareNumber(text []byte, factor float64) number {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return number{frac: -1, value: v * factor}
}

// A tally counts how often each duration occurred. Durations whose digits are few
// and written alike, as those of one log are, are counted in pages; others in a
// map.
type tally struct {
	few   [4]count // until there are more
	pages []*page  // by digits / pageLen; nil until there are too many for few
	rare  map[float64]uint64
}

type count struct {
	digits uint32
	n      uint32
}

const pageLen = 64

type page [pageLen]uint32

// maxDigits bounds the pages of a tally: 65 s in milliseconds.
const maxDigits = 1 << 16

// add counts a duration. frac is what those in pages have.
func (t *tally) add(n number, frac int) {
	if n.frac != frac || frac < 0 || n.digits >= maxDigits {
		t.addRare(n.value, 1)
		return
	}
	digits := uint32(n.digits)
	if t.pages == nil {
		for i := range t.few {
			c := &t.few[i]
			if c.n == 0 || c.digits == digits {
				c.digits = digits
				c.n++
				return
			}
		}
		for _, c := range t.few {
			*t.at(c.digits) = c.n
		}
	}
	*t.at(digits)++
}

func (t *tally) addRare(v float64, n uint64) {
	if t.rare == nil {
		t.rare = map[float64]uint64{}
	}
	t.rare[v] += n
}

// at returns where digits are counted in the pages.
func (t *tally) at(digits uint32) *uint32 {
	i := int(digits / pageLen)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*page, i+1-len(t.pages))...)
	}
	if t.pages[i] == nil {
		t.pages[i] = new(page)
	}
	return &t.pages[i][digits%pageLen]
}

// A step is a duration and how many requests took that long.
type step struct {
	value float64
	n     uint64
}

// append adds what was counted to dst, in no order.
func (t *tally) append(dst []step, frac int, factor float64) []step {
	value := func(digits uint32) float64 { return float64(digits) / exactPowers[frac] * factor }
	if t.pages == nil {
		for _, c := range t.few {
			if c.n > 0 {
				dst = append(dst, step{value(c.digits), uint64(c.n)})
			}
		}
	}
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n > 0 {
				dst = append(dst, step{value(uint32(i*pageLen + j)), uint64(n)})
			}
		}
	}
	for v, n := range t.rare {
		dst = append(dst, step{v, n})
	}
	return dst
}

// ascending sorts the steps and joins those of the same duration.
func ascending(steps []step) []step {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.value, b.value) })
	out := steps[:0]
	for _, s := range steps {
		if n := len(out); n > 0 && out[n-1].value == s.value {
			out[n-1].n += s.n
			continue
		}
		out = append(out, s)
	}
	return out
}

// percentile returns the duration at index n·p/100, rounded down, of all n
// durations in ascending order. Percentile 100 is the last one.
func percentile(steps []step, n uint64, p float64) float64 {
	at := uint64(math.Min(math.Max(float64(n)*p/100, 0), float64(n-1)))
	for _, s := range steps {
		if at < s.n {
			return s.value
		}
		at -= s.n
	}
	return steps[len(steps)-1].value
}
