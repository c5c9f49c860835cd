package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// drawsPerSearch is how many conditions a search of a level draws, with replacement.
func drawsPerSearch(level int) int { return level/2 + 1 }

// chairQuery draws what a user looks for: prices three times as often as widths. The
// contest's benchmark is written to ask for features too, but by a mistake never does.
func (r *run) chairQuery(rng *rand.Rand, level int) *model.ChairQuery {
	cond := &r.o.Data.ChairCondition
	q := &model.ChairQuery{PerPage: perPage}
	for range drawsPerSearch(level) {
		switch n := rng.IntN(r.kinds(9)); {
		case n < 3:
			q.Price = anyRange(rng, cond.Price)
		case n < 5:
			q.Height = anyRange(rng, cond.Height)
		case n == 5:
			q.Width = anyRange(rng, cond.Width)
		case n == 6:
			q.Depth = anyRange(rng, cond.Depth)
		case n == 7:
			q.Kind = pick(rng, cond.Kind.List)
		case n == 8:
			q.Color = pick(rng, cond.Color.List)
		default:
			q.Features = []string{pick(rng, cond.Feature.List)}
		}
	}
	return q
}

// estateQuery is chairQuery for estates.
func (r *run) estateQuery(rng *rand.Rand, level int) *model.EstateQuery {
	cond := &r.o.Data.EstateCondition
	q := &model.EstateQuery{PerPage: perPage}
	for range drawsPerSearch(level) {
		switch n := rng.IntN(r.kinds(5)); {
		case n < 3:
			q.Rent = anyRange(rng, cond.Rent)
		case n == 3:
			q.DoorHeight = anyRange(rng, cond.DoorHeight)
		case n == 4:
			q.DoorWidth = anyRange(rng, cond.DoorWidth)
		default:
			q.Features = []string{pick(rng, cond.Feature.List)}
		}
	}
	return q
}

// kinds adds the kind of condition that the contest's benchmark leaves out.
func (r *run) kinds(n int) int {
	if r.o.Compat {
		return n
	}
	return n + 1
}

func anyRange(rng *rand.Rand, r isuumo.Ranges) *int64 {
	id := rng.Int64N(int64(len(r.Ranges)))
	return &id
}

// polygonOf draws a polygon as a user does.
func polygonOf(rng *rand.Rand) []isuumo.Point {
	return model.RandomPolygon(rng, data.Towns()[3:]) // the contest leaves out the first three
}

// drawnPage draws a page after the first search of count rows; ok is false when there
// are too few.
func drawnPage(rng *rand.Rand, count int64) (page int64, ok bool) {
	n := min(maxPages, count/perPage)
	if n <= 0 {
		return 0, false
	}
	return rng.Int64N(n), true
}

func emailOf(rng *rand.Rand) string { return fmt.Sprintf("user%08x@example.com", rng.Uint32()) }
