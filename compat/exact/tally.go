package exact

import (
	"cmp"
	"math"
	"slices"
)

// A Tally counts how often each duration occurred. Durations whose digits are few
// and written alike, as those of one log are, are counted in pages; others in a
// map.
type Tally struct {
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

// Add counts a duration. Those with frac digits after the point go to pages; it
// must be the same each time.
func (t *Tally) Add(n Number, frac int) {
	if n.Frac != frac || frac < 0 || n.digits >= maxDigits {
		t.addRare(n.Value, 1)
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

func (t *Tally) addRare(v float64, n uint64) {
	if t.rare == nil {
		t.rare = map[float64]uint64{}
	}
	t.rare[v] += n
}

// at returns where digits are counted in the pages.
func (t *Tally) at(digits uint32) *uint32 {
	i := int(digits / pageLen)
	if i >= len(t.pages) {
		t.pages = append(t.pages, make([]*page, i+1-len(t.pages))...)
	}
	if t.pages[i] == nil {
		t.pages[i] = new(page)
	}
	return &t.pages[i][digits%pageLen]
}

// A Step is a duration and how many requests took that long.
type Step struct {
	Value float64
	N     uint64
}

// Append adds what was counted to dst, in no order. frac is that of [Tally.Add],
// factor that of [Parse].
func (t *Tally) Append(dst []Step, frac int, factor float64) []Step {
	if frac < 0 {
		frac = 0 // nothing is in pages
	}
	value := func(digits uint32) float64 { return float64(digits) / exactPowers[frac] * factor }
	if t.pages == nil {
		for _, c := range t.few {
			if c.n > 0 {
				dst = append(dst, Step{value(c.digits), uint64(c.n)})
			}
		}
	}
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n > 0 {
				dst = append(dst, Step{value(uint32(i*pageLen + j)), uint64(n)})
			}
		}
	}
	for v, n := range t.rare {
		dst = append(dst, Step{v, n})
	}
	return dst
}

// Ascending sorts the steps and joins those of the same duration.
func Ascending(steps []Step) []Step {
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Compare(a.Value, b.Value) })
	out := steps[:0]
	for _, s := range steps {
		if n := len(out); n > 0 && out[n-1].Value == s.Value {
			out[n-1].N += s.N
			continue
		}
		out = append(out, s)
	}
	return out
}

// At returns the duration at an index, counted from 0, of all durations in
// ascending order; the first or the last one when there is no such index.
func At(steps []Step, index int64) float64 {
	left := uint64(max(index, 0))
	for _, s := range steps {
		if left < s.N {
			return s.Value
		}
		left -= s.N
	}
	return steps[len(steps)-1].Value
}

// StdDev returns the standard deviation of the durations, n in all, from their
// mean, as of a whole population.
func StdDev(steps []Step, mean float64, n uint64) float64 {
	squares := 0.0
	for _, s := range steps {
		d := s.Value - mean
		squares += float64(s.N) * d * d
	}
	return math.Sqrt(squares / float64(n))
}
