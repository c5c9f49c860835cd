package profile

import (
	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
)

// Outside makes a profile of what was seen of a program from outside: of CPU time, or of
// waits, whose outermost frames are their reasons. Its host, address and interval are the
// caller's to set.
func Outside(kind kasoku.ProfileKind, p *pprof.Profile) (kasoku.Profile, error) {
	if err := clean(p); err != nil {
		return kasoku.Profile{}, err
	}
	return packed(kind, p)
}

// Reasons returns the reasons of a profile of waits, the largest first, as functions of their
// own: what a thread or goroutine waited for, with all that waited for it.
func Reasons(p *kasoku.Profile) (out []kasoku.ProfileFunction) {
	for _, f := range p.Functions {
		if f.File == reasonFile {
			out = append(out, f)
		}
	}
	sortByCum(out)
	return out
}
