package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/scenario"
)

const (
	readPerPage = 1000 // rows, when all are read
	countedLast = 60   // chairs that were bought last are counted
	countedMore = 40   // and others that were bought
	countedIdle = 20   // and others that nobody has bought
	mostCounted = 50   // units of a chair; of one that has more the stock is not counted
)

// Validate looks at what the load has left behind, after a restart when there is one:
// the stock of chairs is counted by buying what is left, then all rows are read.
func (r *run) Validate(ctx context.Context, step *scenario.Step) error {
	if r.o.Compat {
		return nil
	}
	if r.o.Restart != nil {
		if err := r.o.Restart(ctx); err != nil {
			return scenario.Fail(scenario.Internal, fmt.Errorf("restart the service: %w", err))
		}
	}
	c, err := r.newClient(step, clientOptions{userAgent: verifyAgent, timeout: patientTimeout})
	if err != nil {
		return err
	}
	defer c.agent.Close()
	rng := step.Rand("validate", 0)
	var checks []check
	for _, rank := range r.toCount(rng) {
		email := emailOf(rng)
		checks = append(checks, func(ctx context.Context) error { return c.countStock(ctx, rank, email) })
	}
	if err := all(ctx, step, checks, patientAtOnce); err != nil {
		return untold(err)
	}
	checks = append(c.snapshots(rng, (r.o.Verify+9)/10, anyRow), c.everything()...)
	return untold(all(ctx, step, checks, patientAtOnce))
}

// toCount draws the chairs whose stock is counted. Those that were bought last come
// first: a service that writes late loses them.
func (r *run) toCount(rng *rand.Rand) []int32 {
	var out []int32
	add := func(rank int32) bool {
		left, _ := r.chairs.Left(rank)
		if left > mostCounted || slices.Contains(out, rank) {
			return false
		}
		out = append(out, rank)
		return true
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

// countStock buys a chair until the service has none left, and looks whether it is
// gone then. What the service still has must agree with the purchases that were
// confirmed.
func (c *client) countStock(ctx context.Context, rank int32, email string) error {
	for {
		sold, err := c.buy(ctx, rank, email)
		if err != nil {
			return err
		}
		if !sold {
			break
		}
	}
	return c.exactly(ctx, "GET /api/chair/:id", "/api/chair/"+strconv.FormatInt(c.chairs.Row(rank).ID, 10), http.StatusNotFound)
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
