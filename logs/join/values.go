package join

// frequent is the part of the requests from which on a value in URIs says
// nothing about a request: "1" of page=1.
const frequent = 0.05

// values are the literals of requests that distinguish them.
type values struct {
	mask []uint64   // of each request: bits of its literals
	of   [][]uint64 // of each request
}

// rareValues leaves out the values that many requests have.
func rareValues(requests []Request) values {
	seen := map[uint64]int{}
	for i := range requests {
		for k, v := range requests[i].Literals {
			if !hasLiteral(requests[i].Literals[:k], v) {
				seen[v]++
			}
		}
	}
	most := int(frequent * float64(len(requests)))
	v := values{mask: make([]uint64, len(requests)), of: make([][]uint64, len(requests))}
	for i := range requests {
		for _, l := range requests[i].Literals {
			if seen[l] <= max(most, 1) {
				v.of[i] = append(v.of[i], l)
				v.mask[i] |= bitOf(l)
			}
		}
	}
	return v
}

// match reports whether request r has one of the literals, whose bits are mask.
func (v *values) match(r int32, mask uint64, literals []uint64) bool {
	if v.mask[r]&mask == 0 {
		return false
	}
	for _, l := range v.of[r] {
		if hasLiteral(literals, l) {
			return true
		}
	}
	return false
}

func hasLiteral(literals []uint64, l uint64) bool {
	for _, x := range literals {
		if x == l {
			return true
		}
	}
	return false
}

func bitOf(l uint64) uint64 { return 1 << ((l ^ l>>32) * 0x9e3779b97f4a7c15 >> 58) }
