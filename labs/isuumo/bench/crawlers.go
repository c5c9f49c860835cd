package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/scenario"
)

// crawlerConns is how many connections a crawler has at most: it looks at all rows of
// a page at once.
const crawlerConns = 64

// A crawler asks for a page of each kind every half second, whatever became of the
// ones before, and then for all details.
type crawler struct {
	*client
	step *scenario.Step
}

// crawl starts the crawlers.
func (r *run) crawl(ctx context.Context, step *scenario.Step) {
	step.Workers(ctx, scenario.Workers{
		Name: "crawler", Count: rising(2, 5), Rest: -1,
		Begin: func(_ context.Context, w *scenario.Worker) error {
			c, err := r.newClient(step, clientOptions{
				userAgent: crawlerAgent(w.Rand), suffix: crawlerSuffix, timeout: requestTimeout, conns: crawlerConns,
			})
			w.Data = &crawler{c, step}
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(crawlPause-crawlSpread, crawlPause+crawlSpread)); err != nil {
				return err
			}
			b := w.Data.(*crawler)
			chairs, estates := r.chairQuery(w.Rand, step.Level()), r.estateQuery(w.Rand, step.Level())
			chairs.PerPage, estates.PerPage = crawlPerPage, crawlPerPage
			step.Go(ctx, func(ctx context.Context) error { return b.crawlChairs(ctx, chairs) })
			step.Go(ctx, func(ctx context.Context) error { return b.crawlEstates(ctx, estates) })
			return nil
		},
	})
}

func (b *crawler) crawlChairs(ctx context.Context, q *model.ChairQuery) error {
	found, err := b.searchChairs(ctx, q)
	if err != nil {
		return b.judge(err)
	}
	return b.all(found.Rows, func(rank int32) error {
		_, err := b.chair(ctx, rank)
		return err
	})
}

func (b *crawler) crawlEstates(ctx context.Context, q *model.EstateQuery) error {
	found, err := b.searchEstates(ctx, q)
	if err != nil {
		return b.judge(err)
	}
	return b.all(found.Rows, func(rank int32) error { return b.estate(ctx, rank) })
}

// all looks at all rows at once and fails by itself.
func (b *crawler) all(rows []int32, look func(rank int32) error) error {
	var wg sync.WaitGroup
	for _, rank := range rows {
		wg.Go(func() { b.step.Fail(b.judge(look(rank))) })
	}
	wg.Wait()
	return nil
}

// judge returns what is to be said about what a crawler met: nothing when it was
// turned away with 503, and no message when it had to wait. The contest's benchmark
// lets any answer pass that is JSON.
func (b *crawler) judge(err error) error {
	switch {
	case err == nil || status(err) == http.StatusServiceUnavailable:
		return nil
	case scenario.Is(err, scenario.Timeout):
		return scenario.Fail(scenario.Trivial, err)
	case b.o.Compat && scenario.Is(err, scenario.Application) && !notJSON(err):
		return nil
	}
	return err
}

// notJSON reports whether an error is one of decoding.
func notJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}
