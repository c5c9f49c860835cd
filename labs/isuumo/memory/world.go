package memory

import (
	"encoding/json"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A world is all that answers are made from at one moment. It is immutable but for
// the marks of the chairs.
type world struct {
	*schema
	chairs  *chairs
	estates *estates
}

// A schema is what the conditions make of the rows.
type schema struct {
	conditions      *request.Conditions
	chairCondition  []byte // JSON
	estateCondition []byte
	chair           kind[isuumo.Chair]
	estate          kind[isuumo.Estate]
}

func newSchema(c *request.Conditions) (*schema, error) {
	s := &schema{
		conditions: c,
		chair: kind[isuumo.Chair]{
			catalog: newCatalog(c.Chair.Feature, c.Chair.Color, c.Chair.Kind, c.Chair.Price, c.Chair.Height,
				c.Chair.Width, c.Chair.Depth),
			entry:  chairEntry,
			encode: appendChair,
		},
		estate: kind[isuumo.Estate]{
			catalog: newCatalog(c.Estate.Feature, isuumo.List{}, isuumo.List{}, c.Estate.DoorHeight,
				c.Estate.DoorWidth, c.Estate.Rent),
			entry:  estateEntry,
			encode: appendEstate,
		},
	}
	var err error
	if s.chairCondition, err = json.Marshal(&c.Chair); err != nil {
		return nil, err
	}
	s.estateCondition, err = json.Marshal(&c.Estate)
	return s, err
}

func chairEntry(c *isuumo.Chair) entry {
	lengths := [...]int64{c.Height, c.Width, c.Depth}
	slices.Sort(lengths[:])
	return entry{
		id: c.ID, popularity: c.Popularity,
		features: c.Features, color: c.Color, kind: c.Kind,
		numbers: [4]int64{c.Price, c.Height, c.Width, c.Depth},
		money:   c.Price,
		sides:   sides{lengths[0], lengths[1]},
	}
}

func estateEntry(e *isuumo.Estate) entry {
	return entry{
		id: e.ID, popularity: e.Popularity,
		features: e.Features,
		numbers:  [4]int64{e.DoorHeight, e.DoorWidth, e.Rent},
		money:    e.Rent,
		sides:    sides{min(e.DoorHeight, e.DoorWidth), max(e.DoorHeight, e.DoorWidth)},
	}
}

// chairs are the chairs of a world.
type chairs struct {
	*table
	inStock marks // by rank
}

func newChairs(t *table) *chairs {
	return &chairs{table: t, inStock: make(marks, words(len(t.rows)))}
}

// restock marks the chairs that are there to buy, whose number is given by slot.
// No one may see the chairs yet.
func (c *chairs) restock(stock []int64) {
	found := make(set, len(c.inStock))
	for slot, n := range stock {
		if n > 0 {
			found.add(c.rankOf[slot])
		}
	}
	for i, w := range found {
		c.inStock[i].Store(w)
	}
}

// firstChairs returns the chairs of the rows, and how many of each there are to buy,
// by slot.
func firstChairs(k *kind[isuumo.Chair], rows []isuumo.Chair) (*chairs, []int64) {
	stock := make([]int64, len(rows))
	for i := range rows {
		stock[i] = rows[i].Stock
	}
	c := newChairs(grow(&table{}, k, rows))
	c.restock(stock)
	return c, stock
}

// estates are the estates of a world.
type estates struct {
	*table
	doors  []sides // by rank
	places []place
}

func newEstates(t *table, places []place) *estates {
	e := &estates{table: t, doors: make([]sides, len(t.rows)), places: places}
	for rank, slot := range t.slotOf {
		e.doors[rank] = t.rows[slot].sides
	}
	return e
}

// growEstates returns the estates with further ones, under the conditions of [grow].
func growEstates(e *estates, k *kind[isuumo.Estate], rows []isuumo.Estate) *estates {
	fresh := make([]place, len(rows))
	for i := range rows {
		fresh[i] = newPlace(rows[i].Latitude, rows[i].Longitude, uint32(len(e.rows)+i))
	}
	return newEstates(grow(e.table, k, rows), merge(e.places, fresh, comparePlaces))
}

func firstEstates(k *kind[isuumo.Estate], rows []isuumo.Estate) *estates {
	return growEstates(&estates{table: &table{}}, k, rows)
}
