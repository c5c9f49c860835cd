package routes

import "slices"

// Values of which there are as many as requests: those that users bring, where the log is too
// short to have many of them.
const (
	// rareValues are so many that what they have in common is no chance.
	rareValues = 16
	// rareUnseen is how likely the next request at the place has a value that was not seen yet.
	// Of names of endpoints, of which there are so many and no more, nearly all are seen soon:
	// of 20 with 60 requests, 0.05. By Good and Turing it is the part of the requests whose value
	// was seen once.
	//
	// Source: I. J. Good, "The Population Frequencies of Species and the Estimation of Population
	// Parameters", Biometrika 40, 1953.
	rareUnseen = 0.4
	// rareAlike is how many times as large the answers of one value are as those of another at
	// most, a tenth of either end left out: one template makes them.
	rareAlike = 2
	// rareRepeated is how many requests a route has elsewhere in the log, on average: it is long
	// enough for endpoints to come again.
	rareRepeated = 3
)

// elsewhere is what the whole log holds.
type elsewhere struct {
	requests uint64
	routes   int
}

// takeRare makes one of the values of a place, which are fewer than names may be, when
// the next request is likely to bring another one, their answers are alike, and the rest of the
// log repeats itself. The first segment of a path stays: endpoints have their names there. It reports
// whether it did.
func (p *place) takeRare(l Limits, log elsewhere) bool {
	if len(p.kids) < rareValues || len(p.kids) > l.Names || p.folded() {
		return false
	}
	var good []*place
	for _, k := range p.kids {
		if k.piece[0] != '/' || isPlaceholder([]byte(k.piece)) || k.found == 0 {
			continue
		}
		good = append(good, k)
	}
	if len(good) < rareValues {
		return false
	}
	stay := findOutstanding(good, Limits{Names: len(good) / 2, Outstanding: l.Outstanding})
	good = good[len(stay):]
	var asked, once uint64
	routes := 0
	for _, k := range good {
		asked += k.count
		routes += k.size()
		if k.count == 1 {
			once++
		}
	}
	others := max(log.routes-routes, 0)
	if len(good) < rareValues || float64(once) < rareUnseen*float64(asked) || !areAlike(good) ||
		others == 0 || log.requests-asked < rareRepeated*uint64(others) {
		return false
	}
	rare := map[*place]bool{}
	for _, k := range good {
		rare[k] = true
		delete(p.index, k.piece)
	}
	p.kids = slices.DeleteFunc(p.kids, func(k *place) bool { return rare[k] })
	p.gather(good)
	return true
}

// size returns how many routes end at a place and after it.
func (p *place) size() int {
	n := len(p.ends)
	for _, k := range p.kids {
		n += k.size()
	}
	return n
}

// areAlike reports whether the answers of values are of about one size, and that is known.
func areAlike(values []*place) bool {
	var means []float64
	for _, k := range values {
		means = append(means, float64(k.bytes)/float64(max(k.count, 1)))
	}
	slices.Sort(means)
	tenth := len(means) / 10
	least, most := means[tenth], means[len(means)-1-tenth]
	return least > 0 && most <= rareAlike*least
}
