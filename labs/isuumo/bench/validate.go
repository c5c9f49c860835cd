package bench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

const (
	readPerPage = 1000 // rows, when all are read
	countedLast = 60   // chairs that were bought last are counted
	countedMore = 40   // and others that were bought
	countedIdle = 20   // and others that were not bought
	mostCounted = 50   // units of a chair; of one that has more the stock is not counted

	countedCheap  = 3  // of the cheapest chairs
	countedListed = 20 // chairs of which lists are read just before they are sold out, and just after
	buyersAtOnce  = 3  // of one chair
)

// Validate looks at the state after the load, and after a restart when there is one:
// several users at once buy the remaining chairs, which counts the stock, a file of
// each kind is uploaded, then all rows are read.
func (r *run) Validate(ctx context.Context, step *scenario.Step) error {
	if r.o.Compat {
		return nil
	}
	if r.o.Restart != nil {
		if err := r.o.Restart(ctx); err != nil {
			return scenario.Fail(scenario.Internal, fmt.Errorf("restart the service: %w", err))
		}
	}
	c, err := r.newClient(step, clientOptions{userAgent: verifyAgent, timeout: patientTimeout,
		conns: patientAtOnce * buyersAtOnce})
	if err != nil {
		return err
	}
	defer c.agent.Close()
	cheapest, err := c.lowPricedChairs(ctx)
	if err != nil {
		return err
	}
	rng := step.Rand("validate", 0)
	var checks []check
	for i, rank := range r.toCount(rng, cheapest.Rows) {
		email := emailOf(rng)
		checks = append(checks, func(ctx context.Context) error {
			count := func() error { return c.countStock(ctx, rank, email) }
			if i < countedListed {
				return around(func() error { return c.listChairsLike(ctx, r.chairs.Row(rank)) }, count)
			}
			return count()
		})
	}
	checks = append(checks, c.uploadLast)
	if err := all(ctx, step, checks, patientAtOnce); err != nil {
		return unreported(err)
	}
	checks = append((&verifier{c, rng}).snapshots((r.o.Verify+9)/10, anyRow), c.everything()...)
	return unreported(all(ctx, step, checks, patientAtOnce))
}

// toCount draws the chairs whose stock is counted. After some of the cheapest, which
// are in two lists, come those that were bought last: a service that writes late loses
// them.
func (r *run) toCount(rng *rand.Rand, cheapest []int32) []int32 {
	var out []int32
	add := func(rank int32) bool {
		left, _ := r.chairs.Left(rank)
		if left > mostCounted || slices.Contains(out, rank) {
			return false
		}
		out = append(out, rank)
		return true
	}
	for _, rank := range cheapest[:min(len(cheapest), countedCheap)] {
		add(rank)
	}
	bought := r.chairs.Purchases()
	slices.Reverse(bought)
	for _, rank := range bought {
		if len(out) == countedLast {
			break
		}
		add(rank)
	}
	more := len(out) + countedMore
	for _, i := range rng.Perm(len(bought)) {
		if len(out) == more {
			break
		}
		add(bought[i])
	}
	for range countedIdle {
		rank, _ := r.chairs.Rank(pick(rng, r.o.Data.Chairs).ID)
		add(rank)
	}
	return out
}

// around reads lists, does something that changes them, and reads them again at once:
// who remembers lists has had no time to forget them.
func around(read, do func() error) error {
	for _, step := range []func() error{read, do, read} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// listChairsLike reads lists that a chair may be in.
func (c *client) listChairsLike(ctx context.Context, row *isuumo.Chair) error {
	cond := &c.o.Data.ChairCondition
	_, err := c.searchChairs(ctx, &model.ChairQuery{
		Price: rangeOf(cond.Price, row.Price), Height: rangeOf(cond.Height, row.Height),
		Width: rangeOf(cond.Width, row.Width),
		Depth: rangeOf(cond.Depth, row.Depth), Kind: row.Kind, Color: row.Color, PerPage: perPage,
	})
	if err == nil {
		_, err = c.lowPricedChairs(ctx)
	}
	return err
}

// listEstatesLike reads a list that an estate may be in.
func (c *client) listEstatesLike(ctx context.Context, row *isuumo.Estate) error {
	cond := &c.o.Data.EstateCondition
	_, err := c.searchEstates(ctx, &model.EstateQuery{
		Rent: rangeOf(cond.Rent, row.Rent), DoorHeight: rangeOf(cond.DoorHeight, row.DoorHeight),
		DoorWidth: rangeOf(cond.DoorWidth, row.DoorWidth),
		PerPage:   perPage,
	})
	return err
}

// uploadLast uploads the last file of each kind, which a run does not come to, with
// lists read around it.
func (c *client) uploadLast(ctx context.Context) error {
	chairs, estates := c.o.Data.DraftChairs, c.o.Data.DraftEstates
	if n := len(chairs) - 1; n >= 0 && len(chairs[n]) > 0 && !c.chairs.Begun(chairs[n][0].ID) {
		err := around(
			func() error { return c.listChairsLike(ctx, &chairs[n][0]) },
			func() error { return c.uploadChairs(ctx, chairs[n], nil) })
		if err != nil {
			return err
		}
	}
	if n := len(estates) - 1; n >= 0 && len(estates[n]) > 0 && !c.estates.Begun(estates[n][0].ID) {
		return around(
			func() error { return c.listEstatesLike(ctx, &estates[n][0]) },
			func() error { return c.uploadEstates(ctx, estates[n], nil) })
	}
	return nil
}

// rangeOf returns the id of the range that has a value in it, nil without one.
func rangeOf(r isuumo.Ranges, v int64) *int64 {
	for i := range r.Ranges {
		if r.Ranges[i].Holds(v) {
			id := int64(i)
			return &id
		}
	}
	return nil
}

// countStock has several users buy a chair until the service has none left, and looks
// whether it is gone then. What the service still has must agree with the purchases
// that were confirmed.
func (c *client) countStock(ctx context.Context, rank int32, email string) error {
	var wg sync.WaitGroup
	errs := make([]error, buyersAtOnce)
	for i := range errs {
		wg.Go(func() {
			for sold := true; sold && errs[i] == nil; {
				sold, errs[i] = c.buy(ctx, rank, email)
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	return c.exactly(ctx, "GET /api/chair/:id", "/api/chair/"+strconv.FormatInt(c.chairs.Row(rank).ID, 10),
		http.StatusNotFound)
}

// everything reads all rows there are, by the ranges of prices and rents.
func (c *client) everything() []check {
	var checks []check
	eachRange(c.o.Data.ChairCondition.Price, func(id *int64) {
		checks = append(checks, func(ctx context.Context) error {
			return readAll(func(page int64) (*list, error) {
				return c.searchChairs(ctx, &model.ChairQuery{Price: id, Page: page, PerPage: readPerPage})
			})
		})
	})
	eachRange(c.o.Data.EstateCondition.Rent, func(id *int64) {
		checks = append(checks, func(ctx context.Context) error {
			return readAll(func(page int64) (*list, error) {
				return c.searchEstates(ctx, &model.EstateQuery{Rent: id, Page: page, PerPage: readPerPage})
			})
		})
	})
	return checks
}

func readAll(turn func(page int64) (*list, error)) error {
	for page := int64(0); ; page++ {
		l, err := turn(page)
		if err != nil || (page+1)*readPerPage >= l.Count {
			return err
		}
	}
}
