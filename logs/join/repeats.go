package join

import "slices"

// mostAsked bounds what is known apart of a class in one run on a connection.
const mostAsked = 64

// asked is what the statements of a class asked for in one run on a connection, by their literals.
type asked struct {
	known  uint64
	values []uint64 // each once
}

// add counts a statement whose literals are known: it has some, and all of them were kept.
func (a *asked) add(literals []uint64) {
	if len(literals) == 0 || len(literals) >= mostLiterals {
		return
	}
	h := uint64(14695981039346656037)
	for _, l := range literals {
		h = (h ^ l) * 1099511628211
	}
	if !slices.Contains(a.values, h) {
		if len(a.values) >= mostAsked {
			return
		}
		a.values = append(a.values, h)
	}
	a.known++
}
