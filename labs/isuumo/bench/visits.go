package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// errGaveUp ends a visit of somebody who has waited too long for a page. It does not
// count as an error of the service.
var errGaveUp = errors.New("gave up")

// A visitor is a person who looks around, again and again.
type visitor struct {
	*client
	step *scenario.Step
	rng  *rand.Rand
}

// A crowd is the visitors who come for the same thing.
type crowd struct {
	name  string
	count func(level int) int
	visit func(*visitor, context.Context) error
}

// people starts the visitors of a crowd.
func (r *run) people(ctx context.Context, step *scenario.Step, of crowd) {
	step.Workers(ctx, scenario.Workers{
		Name: of.name, Count: of.count, Rest: -1,
		Begin: func(_ context.Context, w *scenario.Worker) error {
			c, err := r.newClient(step, clientOptions{userAgent: humanAgent(w.Rand), timeout: requestTimeout})
			w.Data = &visitor{c, step, w.Rand}
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(0, thinkTime)); err != nil {
				return err
			}
			err := of.visit(w.Data.(*visitor), ctx)
			spread := failedSpread
			switch {
			case err == nil:
				return nil
			case errors.Is(err, errGaveUp):
				spread = giveUpSpread
			default:
				step.Fail(err)
			}
			return w.Sleep(ctx, w.Between(giveUpPause-spread, giveUpPause+spread))
		},
		End: func(w *scenario.Worker) {
			if v, ok := w.Data.(*visitor); ok && v.client != nil {
				v.agent.Close()
			}
		},
	})
}

// page does what one page needs and then reports whether the visitor has waited too
// long for it, and what the contest's own benchmark finds wrong with it. That one
// does not look at a page that came too late.
func (v *visitor) page(ask, contest func() error) error {
	start := time.Now()
	if err := ask(); err != nil {
		return err
	}
	if time.Since(start) > patience {
		return errGaveUp
	}
	if v.o.Compat && contest != nil {
		return contest()
	}
	return nil
}

// topPage is where each visit begins.
func (v *visitor) topPage(ctx context.Context) error {
	var chairs, estates *list
	return v.page(func() error {
		return both(
			func() (err error) { chairs, err = v.lowPricedChairs(ctx); return err },
			func() (err error) { estates, err = v.lowPricedEstates(ctx); return err })
	}, func() error {
		return errors.Join(v.official.lowPricedChairs(chairs), v.official.lowPricedEstates(estates))
	})
}

// lookForChair is a visit of somebody who looks for a chair and buys one: at most two
// points.
func (v *visitor) lookForChair(ctx context.Context) error {
	if err := v.topPage(ctx); err != nil {
		return err
	}
	if err := v.page(func() error { return v.chairCondition(ctx) }, nil); err != nil {
		return err
	}
	rows, err := v.browseChairs(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	var chair int32
	var estates []int32
	for range looks {
		chair = pick(v.rng, rows)
		if estates, err = v.lookAtChair(ctx, chair); err != nil || len(estates) == 0 {
			return err
		}
	}
	err = v.page(func() error {
		sold, err := v.buy(ctx, chair, emailOf(v.rng))
		if sold {
			v.step.Score(tagBuy)
		}
		if v.o.Compat {
			return nil // what is wrong with a purchase is not reported
		}
		return err
	}, nil)
	if err != nil {
		return err
	}
	return v.lookAtEstates(ctx, estates)
}

// browseChairs searches, turns pages, and returns the last page with chairs.
func (v *visitor) browseChairs(ctx context.Context) (rows []int32, err error) {
	for range searches {
		q := v.chairQuery(v.rng, v.step.Level())
		var found *list
		search := func() (err error) { found, err = v.searchChairs(ctx, q); return err }
		if err := v.page(search, func() error { return v.official.foundChairs(found) }); err != nil {
			return nil, err
		}
		if len(found.Rows) == 0 {
			continue
		}
		rows = found.Rows
		for range pages {
			var ok bool
			if q.Page, ok = drawnPage(v.rng, found.Count); !ok {
				break
			}
			if err := v.page(search, func() error {
				return errors.Join(v.official.full(found), v.official.foundChairs(found))
			}); err != nil {
				return nil, err
			}
			if len(found.Rows) > 0 {
				rows = found.Rows
			}
		}
	}
	return rows, nil
}

// lookAtChair looks at a chair and the estates that go with it. There are no estates
// when the chair is gone.
func (v *visitor) lookAtChair(ctx context.Context, chair int32) ([]int32, error) {
	var there bool
	var estates *list
	err := v.page(func() error {
		return both(
			func() (err error) { there, err = v.chair(ctx, chair); return err },
			func() (err error) { estates, err = v.recommended(ctx, chair); return err })
	}, func() error { return v.official.recommended(chair, estates) })
	if err != nil || !there {
		return nil, err
	}
	return estates.Rows, nil
}

// lookForEstate is a visit of somebody who looks for an estate and requests its
// documents: at most one point.
func (v *visitor) lookForEstate(ctx context.Context) error {
	if err := v.topPage(ctx); err != nil {
		return err
	}
	if err := v.page(func() error { return v.estateCondition(ctx) }, nil); err != nil {
		return err
	}
	rows, err := v.browseEstates(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	return v.lookAtEstates(ctx, rows)
}

// browseEstates searches, turns pages, and returns the last page with estates. The
// contest's benchmark looks at the first page again instead of those that it turns to.
func (v *visitor) browseEstates(ctx context.Context) (rows []int32, err error) {
	for range searches {
		q := v.estateQuery(v.rng, v.step.Level())
		var found *list
		search := func() (err error) { found, err = v.searchEstates(ctx, q); return err }
		if err := v.page(search, func() error { return v.official.foundEstates(found) }); err != nil {
			return nil, err
		}
		if len(found.Rows) == 0 {
			continue
		}
		first := found
		rows = found.Rows
		for range pages {
			var ok bool
			if q.Page, ok = drawnPage(v.rng, first.Count); !ok {
				break
			}
			if err := v.page(search, func() error { return v.official.foundEstates(first) }); err != nil {
				return nil, err
			}
			if len(found.Rows) > 0 {
				rows = found.Rows
			}
		}
	}
	return rows, nil
}

// lookAtEstates looks at two of the estates and requests the documents of the second.
func (v *visitor) lookAtEstates(ctx context.Context, rows []int32) error {
	var estate int32
	for range looks {
		estate = pick(v.rng, rows)
		if err := v.page(func() error { return v.estate(ctx, estate) }, nil); err != nil {
			return err
		}
	}
	return v.request(ctx, estate)
}

func (v *visitor) request(ctx context.Context, estate int32) error {
	return v.page(func() error {
		err := v.requestDocument(ctx, estate, emailOf(v.rng))
		if err == nil {
			v.step.Score(tagDocument)
		}
		return err
	}, nil)
}

// drawOnMap is a visit of somebody who draws where the estate should be: at most one
// point.
func (v *visitor) drawOnMap(ctx context.Context) error {
	if err := v.topPage(ctx); err != nil {
		return err
	}
	corners := polygonOf(v.rng)
	var found *list
	err := v.page(
		func() (err error) { found, err = v.polygon(ctx, corners); return err },
		func() error { return v.official.polygon(corners, found) })
	if err != nil || len(found.Rows) == 0 {
		return err
	}
	estate := pick(v.rng, found.Rows)
	if err := v.page(func() error { return v.estate(ctx, estate) }, nil); err != nil {
		return err
	}
	return v.request(ctx, estate)
}
