package load

import (
	"fmt"
	"time"
)

// MaxShares is the most machines that one load is shared out to.
const MaxShares = 1000

// A Share is the part of a load that one of several machines sends: of the requests of
// the whole, in their order, those whose number leaves the remainder Index when it is
// divided by Of. So the machines need not talk while the load runs, their requests
// together are the whole's, and none of them is sent twice.
//
// The zero value is the whole.
type Share struct {
	Index int // 0 <= Index < Of
	Of    int // machines; 0: one
}

// Validate reports a share that is no part of a load.
func (s Share) Validate() error {
	if s == (Share{}) || s.Of >= 1 && s.Of <= MaxShares && s.Index >= 0 && s.Index < s.Of {
		return nil
	}
	return fmt.Errorf("bad share %d of %d: want 0 to one less, of at most %d", s.Index, s.Of, MaxShares)
}

// stride returns how far the numbers of its requests lie apart.
func (s Share) stride() uint64 { return uint64(max(s.Of, 1)) }

// Number returns the number in the whole of the i-th request of the share, from 0.
func (s Share) Number(i uint64) uint64 { return uint64(s.Index) + i*s.stride() }

// Users returns how many of the users of a closed loop are the share's.
func (s Share) Users(all int) int {
	n := all / int(s.stride())
	if s.Index < all%int(s.stride()) {
		n++
	}
	return n
}

// Arrivals returns the due times of the requests that the plan's share has.
func (p *Plan) Arrivals() Arrivals {
	all := p.Schedule.Arrivals()
	if p.Share.stride() == 1 {
		return all
	}
	return &sharedArrivals{all: all, skip: p.Share.Index, stride: int(p.Share.stride())}
}

// sharedArrivals are every stride-th of all.
type sharedArrivals struct {
	all          Arrivals
	skip, stride int // requests of others before the next one
}

// Next implements [Arrivals].
func (a *sharedArrivals) Next() (due time.Duration, step int, ok bool) {
	for range a.skip {
		if _, _, ok = a.all.Next(); !ok {
			return 0, 0, false
		}
	}
	a.skip = a.stride - 1
	return a.all.Next()
}
