package model

import (
	"math/rand/v2"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// RandomChairQuery returns a search as the contest verifies a service with: each
// range, kind and color by a chance of one in ten, one to three features, 20 to 49
// chairs on the first page.
//
// The last feature of the list is never asked for.
func RandomChairQuery(rng *rand.Rand, c *isuumo.ChairCondition) *ChairQuery {
	return &ChairQuery{
		Price:    maybeRange(rng, c.Price),
		Height:   maybeRange(rng, c.Height),
		Width:    maybeRange(rng, c.Width),
		Depth:    maybeRange(rng, c.Depth),
		Kind:     maybeText(rng, c.Kind),
		Color:    maybeText(rng, c.Color),
		Features: someFeatures(rng, c.Feature),
		PerPage:  20 + rng.Int64N(30),
	}
}

// RandomEstateQuery is [RandomChairQuery] for estates.
func RandomEstateQuery(rng *rand.Rand, c *isuumo.EstateCondition) *EstateQuery {
	return &EstateQuery{
		DoorHeight: maybeRange(rng, c.DoorHeight),
		DoorWidth:  maybeRange(rng, c.DoorWidth),
		Rent:       maybeRange(rng, c.Rent),
		Features:   someFeatures(rng, c.Feature),
		PerPage:    20 + rng.Int64N(30),
	}
}

func maybeRange(rng *rand.Rand, r isuumo.Ranges) *int64 {
	if rng.IntN(10) != 0 || len(r.Ranges) == 0 {
		return nil
	}
	id := rng.Int64N(int64(len(r.Ranges)))
	return &id
}

func maybeText(rng *rand.Rand, l isuumo.List) string {
	if rng.IntN(10) != 0 || len(l.List) == 0 {
		return ""
	}
	return l.List[rng.IntN(len(l.List))]
}

func someFeatures(rng *rand.Rand, l isuumo.List) []string {
	if len(l.List) < 2 {
		return nil
	}
	features := slices.Clone(l.List[:len(l.List)-1])
	rng.Shuffle(len(features), func(i, j int) { features[i], features[j] = features[j], features[i] })
	return features[:min(1+rng.IntN(3), len(features))]
}
