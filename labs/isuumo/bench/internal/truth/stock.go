package truth

import (
	"fmt"
	"slices"
	"sync"
)

// units are what is known of one chair's purchases.
type units struct {
	begun   int64
	sold    int64 // confirmed
	refused int64 // these took nothing. All others may have.
}

// stocks count the purchases of chairs by rank.
type stocks struct {
	mu    sync.Mutex
	units map[int32]*units
	sold  []int32 // the chair of each confirmed purchase, in that order
}

// A Bought is what came of a purchase.
type Bought int

const (
	// Unknown stands for no answer, or one that does not say whether a unit was sold.
	Unknown Bought = iota
	// Sold stands for a purchase that the service has confirmed.
	Sold
	// Refused stands for an answer that there is none left.
	Refused
)

// BuyBegins reports that a unit is about to be bought. BuyEnds has to follow.
func (c *Chairs) BuyBegins(rank int32) {
	c.stocks.mu.Lock()
	defer c.stocks.mu.Unlock()
	u := c.stocks.units[rank]
	if u == nil {
		u = &units{}
		c.stocks.units[rank] = u
	}
	if u.begun++; u.begun-u.refused >= c.rows[rank].Stock {
		c.mark(rank, func(m *Moment) *set { return &m.leaving })
	}
}

// BuyEnds takes what came of a purchase, and reports what is wrong with it: a unit
// that was sold although there was none, or refused although there was one for
// certain.
func (c *Chairs) BuyEnds(rank int32, came Bought) error {
	c.stocks.mu.Lock()
	defer c.stocks.mu.Unlock()
	u, stock := c.stocks.units[rank], c.rows[rank].Stock
	switch came {
	case Sold:
		u.sold++
		c.stocks.sold = append(c.stocks.sold, rank)
		if u.sold == stock {
			c.mark(rank, func(m *Moment) *set { return &m.gone })
		}
		if u.sold > stock {
			return fmt.Errorf("%d units of %s were sold, the stock was %d", u.sold, c.name(rank), stock)
		}
	case Refused:
		others := u.begun - 1 - u.refused
		u.refused++
		if others < stock {
			return fmt.Errorf("a unit of %s was refused, at least %d of %d are left", c.name(rank), stock-others, stock)
		}
	}
	return nil
}

// mark adds a row to a set of the present moment, unless it is there.
func (c *Chairs) mark(rank int32, which func(*Moment) *set) {
	if now := c.Now(); !which(now).has(rank) {
		c.grow([]int64{c.ids[rank]}, which)
	}
}

// Left returns how many units of a chair there are. known is false when a purchase
// is under way, or when the outcome of one cannot be known.
func (c *Chairs) Left(rank int32) (left int64, known bool) {
	c.stocks.mu.Lock()
	defer c.stocks.mu.Unlock()
	u := c.stocks.units[rank]
	if u == nil {
		return c.rows[rank].Stock, true
	}
	return max(0, c.rows[rank].Stock-u.sold), u.begun == u.sold+u.refused
}

// Purchases returns the chair of each confirmed purchase, in the order in which
// they were confirmed.
func (c *Chairs) Purchases() []int32 {
	c.stocks.mu.Lock()
	defer c.stocks.mu.Unlock()
	return slices.Clone(c.stocks.sold)
}
