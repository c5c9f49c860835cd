package mine

import (
	"fmt"
	"math/bits"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// mostShown is how many coins a balance shows, and a licence may cost.
const mostShown = 1000

// A bank issues coins in turn; one that was spent may be issued again.
type bank struct {
	issued  []uint64 // a bit for each coin
	total   int      // coins there are
	next    int
	balance int

	earned, spent int64
}

// newBank has coins for the dearest treasures that there may be.
func newBank(r *goldrush.Rules, values []int) *bank {
	total, left := 0, r.Treasures
	for depth := r.Depth; depth > 0; depth-- {
		n := min(left, r.SizeX*r.SizeY)
		v := values[depth-1]
		total += n * (v + v/4)
		left -= n
	}
	return &bank{total: total, issued: make([]uint64, (total+63)/64)}
}

func (b *bank) has(i int) bool { return b.issued[i/64]&(1<<(i%64)) != 0 }

// earn issues so many coins, which there are.
func (b *bank) earn(n int) []goldrush.Coin {
	out := make([]goldrush.Coin, 0, n)
	for len(out) < n {
		if !b.has(b.next) {
			b.issued[b.next/64] |= 1 << (b.next % 64)
			out = append(out, goldrush.Coin(b.next))
		}
		b.next = (b.next + 1) % b.total
	}
	b.balance += n
	b.earned += int64(n)
	return out
}

// spend takes coins back, all or none.
func (b *bank) spend(coins []goldrush.Coin) *goldrush.Answer {
	if len(coins) > b.balance {
		return refuse(402, 0, "bogus coin: too many coins in the wallet")
	}
	for i, c := range coins {
		if int(c) < b.total && b.has(int(c)) {
			b.issued[c/64] &^= 1 << (c % 64)
			continue
		}
		for _, back := range coins[:i] {
			b.issued[back/64] |= 1 << (back % 64)
		}
		return refuse(402, 0, fmt.Sprintf("bogus coin: %d", c))
	}
	b.balance -= len(coins)
	b.spent += int64(len(coins))
	return nil
}

// newest returns up to a thousand coins that are held, those first that were issued last.
func (b *bank) newest() []goldrush.Coin {
	out := make([]goldrush.Coin, 0, min(b.balance, mostShown))
	out = b.appendHeld(out, 0, b.next)
	return b.appendHeld(out, b.next, b.total)
}

// appendHeld appends the coins from first on, before end, that are held, the last first, until out is
// full. Of words without one it looks at the word alone.
func (b *bank) appendHeld(out []goldrush.Coin, first, end int) []goldrush.Coin {
	for at := end; at > first && len(out) < cap(out); {
		base := (at - 1) &^ 63
		word := b.issued[base/64] & (^uint64(0) >> (63 - (at-1)&63))
		if base < first {
			word &= ^uint64(0) << (first & 63)
		}
		for ; word != 0 && len(out) < cap(out); word &^= 1 << (bits.Len64(word) - 1) {
			out = append(out, goldrush.Coin(base+bits.Len64(word)-1))
		}
		at = base
	}
	return out
}
