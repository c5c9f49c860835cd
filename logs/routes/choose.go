package routes

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// What makes the values of a dispatcher endpoints of their own: most of the requests have values that
// come often, these are few, and the answers differ by them.
const (
	oftenChosen = 5   // requests
	choicesPart = 0.9 // of the requests that have a value
	// choicesApart is how many times as much time, or as many bytes, one value has as another at least,
	// on average.
	choicesApart = 2
	// choicesF is how many times as large the variance between the values is as the one within them,
	// at least: by chance it is as large.
	choicesF = 10
	// manyChosen requests of each of two values say by their means that sizes differ; fewer say so where
	// all answers of the one are larger than all of the other.
	manyChosen = 20
)

// Choose returns the final route of each where some have what [Mapper.Append] adds of a query
// string: it stays where the log bears out that the program chooses by it, in values that are few and
// come often, what it does; else the route is its path, as it is for values that come rarely.
// What was answered with 4xx alone counts for nothing. Routes are different.
func Choose(seen []Seen, l Limits) []string {
	l = l.withDefaults()
	names := make([]string, len(seen))
	paths := map[string]*choices{}
	var chosen []string
	for i := range seen {
		names[i] = seen[i].Route
		path, choice, _ := strings.Cut(seen[i].Route, "?")
		many := choice == "*"
		p := paths[path]
		if p == nil {
			p = &choices{}
			paths[path] = p
		}
		if p.many = p.many || many; choice == "" {
			p.plain = &seen[i]
			continue
		}
		if len(p.values) == 0 {
			chosen = append(chosen, path)
		}
		p.values = append(p.values, i)
	}
	for _, path := range chosen {
		p := paths[path]
		stay := p.stay(seen, l)
		for _, i := range p.values {
			if !slices.Contains(stay, i) {
				names[i] = path
			}
		}
	}
	return names
}

// choices are the routes of one path.
type choices struct {
	plain  *Seen // without a value; nil: none
	values []int // of seen
	many   bool  // values were folded
}

// stay returns the values that are endpoints of their own.
func (p *choices) stay(seen []Seen, l Limits) (often []int) {
	var all, asked uint64
	var known []*Seen
	for _, i := range p.values {
		s := &seen[i]
		if s.Found == 0 || p.many {
			continue
		}
		all += s.Count
		if s.Count >= oftenChosen {
			asked += s.Count
			often, known = append(often, i), append(known, s)
		}
	}
	if p.plain != nil && p.plain.Found >= oftenChosen {
		known = append(known, p.plain)
	}
	if p.many || len(often) > l.Names || float64(asked) < choicesPart*float64(all) || !differ(known) {
		return nil
	}
	return often
}

// differ reports whether answers differ by value, in time or in size.
func differ(values []*Seen) bool { return differInTime(values) || differInSize(values) }

// differInTime is the analysis of variance, and one mean that is far above another.
func differInTime(values []*Seen) bool {
	least, most := math.Inf(1), 0.0
	var n, sum, squares, between float64
	groups := 0
	for _, s := range values {
		if s.Timed < oftenChosen {
			continue
		}
		mean := s.Seconds / float64(s.Timed)
		least, most = min(least, mean), max(most, mean)
		n, sum, squares = n+float64(s.Timed), sum+s.Seconds, squares+s.Squares
		between += mean * s.Seconds
		groups++
	}
	if groups < 2 || most <= 0 || most < choicesApart*least {
		return false
	}
	within := max(squares-between, 0) / (n - float64(groups))
	return (between-sum*sum/n)/float64(groups-1) >= choicesF*within
}

// differInSize reports whether the answers of one value are far larger than those of another.
func differInSize(values []*Seen) bool {
	mean := func(s *Seen) float64 { return float64(s.Bytes) / float64(s.Count) }
	order := slices.SortedFunc(slices.Values(values), func(a, b *Seen) int { return cmp.Compare(mean(a), mean(b)) })
	for i, small := range order {
		for _, large := range order[i+1:] {
			apart := small.MaxBytes < large.MinBytes || small.Count >= manyChosen && large.Count >= manyChosen
			if apart && mean(large) > 0 && mean(large) >= choicesApart*mean(small) {
				return true
			}
		}
	}
	return false
}
