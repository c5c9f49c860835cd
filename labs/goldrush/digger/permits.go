package digger

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// A permit is a licence as the client sees it.
type permit struct {
	id       int
	left     int // digs that were not sent
	inFlight int
}

// permits are the licences of a client, and those that it has asked for.
type permits struct {
	held    []permit        // the oldest first
	asked   []time.Duration // when, of each that may still come
	overdue int             // that were asked for and taken for lost
	most    int             // digs of one that were under way at once
	wallet  []goldrush.Coin
}

// digs is how many digs may be sent.
func (p *permits) digs() (n int) {
	for i := range p.held {
		n += p.held[i].left
	}
	return n
}

// busy reports whether there are licences with digs left, and each has one under way.
func (p *permits) busy() bool {
	any := false
	for i := range p.held {
		if p.held[i].left > 0 && p.held[i].inFlight == 0 {
			return false
		}
		any = any || p.held[i].left > 0
	}
	return any
}

// taken is how many of the server's places are in use.
func (p *permits) taken(early bool) int {
	n := len(p.asked)
	for i := range p.held {
		if p.held[i].left > 0 || !early {
			n++
		}
	}
	return n
}

// giveUp takes for lost what was asked for a while ago. It returns when the next one will be;
// 0: nothing waits.
func (p *permits) giveUp(now, after time.Duration) (next time.Duration) {
	if after == 0 {
		return 0
	}
	for len(p.asked) > 0 && now-p.asked[0] >= after {
		p.asked = p.asked[1:]
		p.overdue++
	}
	if len(p.asked) == 0 {
		return 0
	}
	return p.asked[0] + after
}

// answered notes that a licence that was asked for then has come, or will not.
func (p *permits) answered(asked time.Duration) {
	if i := slices.Index(p.asked, asked); i >= 0 {
		p.asked = slices.Delete(p.asked, i, i+1)
		return
	}
	p.overdue--
}

// use takes a dig of the oldest licence that has one; ok is false where none has.
func (p *permits) use(oneByOne bool) (id int, ok bool) {
	for i := range p.held {
		h := &p.held[i]
		if h.left == 0 || oneByOne && h.inFlight > 0 {
			continue
		}
		h.left--
		h.inFlight++
		p.most = max(p.most, h.inFlight)
		return h.id, true
	}
	return 0, false
}

// dug notes the answer to a dig. Unused says that the server did not count it.
func (p *permits) dug(id int, unused bool) {
	i := slices.IndexFunc(p.held, func(x permit) bool { return x.id == id })
	if i < 0 {
		return
	}
	h := &p.held[i]
	h.inFlight--
	if unused {
		h.left++
	}
	if h.left == 0 && h.inFlight == 0 {
		p.held = slices.Delete(p.held, i, i+1)
	}
}

// lost forgets a licence that the server does not know.
func (p *permits) lost(id int) {
	p.held = slices.DeleteFunc(p.held, func(x permit) bool { return x.id == id })
}

// pay takes so many coins, which there are.
func (p *permits) pay(n int) []goldrush.Coin {
	at := len(p.wallet) - n
	out := slices.Clone(p.wallet[at:])
	p.wallet = p.wallet[:at]
	return out
}
