package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// DefaultSeed is the seed of the contest's own data.
const DefaultSeed = 19700101

// A Size defines how many rows there are.
type Size string

// The sizes.
const (
	Full  Size = "full"  // as in the contest: 29,500 rows of each kind, drafts of 500
	Small Size = "small" // a tenth of everything, for tests
)

// ParseSize reads the name of a size; "" is Full.
func ParseSize(s string) (Size, error) {
	switch Size(s) {
	case Full, "":
		return Full, nil
	case Small:
		return Small, nil
	}
	return "", fmt.Errorf("unknown size %q: want %s or %s", s, Full, Small)
}

// Options configure what to generate. The zero value is the contest's size and seed.
type Options struct {
	Size Size   // "" is Full
	Seed uint64 // 0 is DefaultSeed
}

// counts are how many rows of each kind there are.
type counts struct {
	rows   int // after /initialize
	verify int // uploaded while the service is verified
	files  int // uploaded under load
	draft  int // rows in each of them

	// The popularity of a small set has a tenth of the range, so that as large a part
	// of the rows shares it with another one.
	popularityLow, popularityHigh int64
}

func (s Size) counts() counts {
	c := counts{rows: 29_500, verify: 500, files: 20, draft: 500, popularityLow: 3000, popularityHigh: 1_000_000}
	if s == Small {
		c.rows, c.verify, c.draft = c.rows/10, c.verify/10, c.draft/10
		c.popularityHigh = c.popularityLow + (c.popularityHigh-c.popularityLow)/10
	}
	return c
}

// Generate makes all rows and conditions. Ids count from 1: first the rows, then
// those of the verification, then the files one after another. The caller owns what
// it gets.
func Generate(o Options) *isuumo.Data {
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	n := o.Size.counts()
	d := &isuumo.Data{ChairCondition: ChairCondition(), EstateCondition: EstateCondition()}
	// Chairs and estates have streams of their own: a change to one leaves the other alone.
	c := newChairs(rand.New(rand.NewPCG(o.Seed, 1)), n)
	d.Chairs, d.VerifyChairs, d.DraftChairs = dealRows(n, c.next)
	d.VerifyChairs[0].Stock = 1
	e := newEstates(rand.New(rand.NewPCG(o.Seed, 2)), n)
	d.Estates, d.VerifyEstates, d.DraftEstates = dealRows(n, e.next)
	return d
}

// dealRows makes the rows of one kind.
func dealRows[T any](n counts, next func(id int64) T) (rows, verify []T, drafts [][]T) {
	var id int64
	take := func(count int) []T {
		out := make([]T, count)
		for i := range out {
			id++
			out[i] = next(id)
		}
		return out
	}
	rows, verify = take(n.rows), take(n.verify)
	for range n.files {
		drafts = append(drafts, take(n.draft))
	}
	return rows, verify, drafts
}

// chairs makes one chair after another.
type chairs struct {
	dice
	names, descriptions, thumbnails []string
	condition                       isuumo.ChairCondition
}

func newChairs(rng *rand.Rand, n counts) *chairs {
	return &chairs{
		dice:         dice{rng, n},
		names:        combineAll(chairPrefixes, chairAdjectives, chairNouns),
		descriptions: combineAll(chairAims, chairMeans, chairPromises),
		thumbnails:   thumbnailPaths("chair"),
		condition:    ChairCondition(),
	}
}

func (c *chairs) next(id int64) isuumo.Chair {
	return isuumo.Chair{
		ID:          id,
		Name:        c.one(c.names),
		Description: c.one(c.descriptions),
		Thumbnail:   c.one(c.thumbnails),
		Price:       c.between(1000, 20_000),
		Height:      c.between(30, 200),
		Width:       c.between(30, 200),
		Depth:       c.between(30, 200),
		Color:       c.one(c.condition.Color.List),
		Features:    c.features(c.condition.Feature.List),
		Kind:        c.one(c.condition.Kind.List),
		Popularity:  c.popularity(),
		Stock:       c.between(1, 10),
	}
}

// estates makes one estate after another.
type estates struct {
	dice
	names, descriptions, thumbnails []string
	condition                       isuumo.EstateCondition
}

func newEstates(rng *rand.Rand, n counts) *estates {
	return &estates{
		dice:         dice{rng, n},
		names:        fillTemplates(estateNames, lastNames),
		descriptions: combineAll(estatePlaces, estateRooms, estatePromises),
		thumbnails:   thumbnailPaths("estate"),
		condition:    EstateCondition(),
	}
}

func (e *estates) next(id int64) isuumo.Estate {
	at := towns[e.rng.IntN(len(towns))]
	return isuumo.Estate{
		ID:          id,
		Thumbnail:   e.one(e.thumbnails),
		Name:        e.one(e.names),
		Description: e.one(e.descriptions),
		Latitude:    e.near(at.Latitude),
		Longitude:   e.near(at.Longitude),
		Address:     e.address(at),
		Rent:        e.between(30_000, 200_000),
		DoorHeight:  e.between(30, 200),
		DoorWidth:   e.between(30, 200),
		Features:    e.features(e.condition.Feature.List),
		Popularity:  e.popularity(),
	}
}

// address returns where in the town the estate is, at most 50 characters.
func (e *estates) address(at town) string {
	s := at.name + e.one(quarters) + formatDecimal(e.between(1, 9)) + "丁目" + formatDecimal(e.between(1, 40)) + "番" +
		formatDecimal(e.between(1, 30)) + "号"
	if e.rng.IntN(3) == 0 {
		return s // a house
	}
	return s + " " + formatDecimal(e.between(1, 14)*100+e.between(1, 12)) + "号室"
}

func formatDecimal(v int64) string { return strconv.FormatInt(v, 10) }

// dice draws what chairs and estates have in common.
type dice struct {
	rng *rand.Rand
	n   counts
}

func (d *dice) one(of []string) string { return of[d.rng.IntN(len(of))] }

// between returns a number from low to high, both included, each as likely.
func (d *dice) between(low, high int64) int64 { return low + d.rng.Int64N(high-low+1) }

func (d *dice) popularity() int64 { return d.between(d.n.popularityLow, d.n.popularityHigh) }

// features returns none to three different features, each number as likely.
func (d *dice) features(list []string) string {
	var chosen [3]int
	n := d.rng.IntN(len(chosen) + 1)
	var b strings.Builder
	for i := range n {
		chosen[i] = d.fresh(len(list), chosen[:i])
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(list[chosen[i]])
	}
	return b.String()
}

// fresh returns a number below n that is not taken.
func (d *dice) fresh(n int, taken []int) int {
	for {
		v := d.rng.IntN(n)
		free := true
		for _, t := range taken {
			free = free && v != t
		}
		if free {
			return v
		}
	}
}

// near returns a latitude or longitude about that of a town, with a standard
// deviation of 0.3°, in whole millionths of a degree.
//
// The sum of twelve numbers of 16 bits has a standard deviation of 2^16, and its
// distribution function differs from the normal one by less than 0.003. Other than
// rand.NormFloat64 it needs no logarithm, whose last bit depends on the machine.
func (d *dice) near(degrees float64) float64 {
	const draws, bits = 12, 16
	sum := int64(0)
	for range draws / 4 {
		for v := d.rng.Uint64(); v != 0; v >>= bits {
			sum += int64(v & (1<<bits - 1))
		}
	}
	sum -= draws * (1<<bits - 1) / 2
	return float64(int64(math.Round(degrees*1e6))+sum*300_000>>bits) / 1e6
}
