package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

// crawlerConns is how many connections a crawler has at most: it looks at all rows of
// a page at once.
const crawlerConns = 64

// A crawler asks for a page of each kind every half second, whatever became of the
// ones before, and then for all details.
type crawler struct {
	*client
	step    *scenario.Step
	crawled sync.WaitGroup // by what is under way
}

// crawl starts the crawlers.
func (r *run) crawl(ctx context.Context, step *scenario.Step) {
	step.Workers(ctx, scenario.Workers{
		Name: "crawler", Count: rising(2, 5), Rest: -1,
		Begin: func(_ context.Context, w *scenario.Worker) error {
			c, err := r.newClient(step, clientOptions{
				userAgent: crawlerAgent(w.Rand), suffix: crawlerSuffix, timeout: requestTimeout, conns: crawlerConns,
			})
			w.Data = &crawler{client: c, step: step}
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(crawlPause-crawlSpread, crawlPause+crawlSpread)); err != nil {
				return err
			}
			b := w.Data.(*crawler)
			chairs, estates := r.chairQuery(w.Rand, step.Level()), r.estateQuery(w.Rand, step.Level())
			chairs.PerPage, estates.PerPage = crawlPerPage, crawlPerPage
			b.crawled.Go(func() { b.crawlChairs(ctx, chairs) })
			b.crawled.Go(func() { b.crawlEstates(ctx, estates) })
			return nil
		},
		End: func(w *scenario.Worker) {
			if b := w.Data.(*crawler); b.client != nil {
				b.crawled.Wait() // no longer than ctx, which is done, and the timeout of requests
				b.agent.Close()
			}
		},
	})
}

func (b *crawler) crawlChairs(ctx context.Context, q *model.ChairQuery) {
	found, err := b.searchChairs(ctx, q)
	b.countFailure(err)
	if err == nil {
		b.all(found.Rows, func(rank int32) error {
			_, err := b.chair(ctx, rank)
			return err
		})
	}
}

func (b *crawler) crawlEstates(ctx context.Context, q *model.EstateQuery) {
	found, err := b.searchEstates(ctx, q)
	b.countFailure(err)
	if err == nil {
		b.all(found.Rows, func(rank int32) error { return b.estate(ctx, rank) })
	}
}

// all looks at all rows at once.
func (b *crawler) all(rows []int32, look func(rank int32) error) {
	var wg sync.WaitGroup
	for _, rank := range rows {
		wg.Go(func() { b.countFailure(look(rank)) })
	}
	wg.Wait()
}

// countFailure counts what a crawler met as far as it counts: nothing when it was turned away
// with 503, and without a message when it had to wait. The contest's benchmark lets any
// answer pass that is JSON.
func (b *crawler) countFailure(err error) {
	switch {
	case err == nil || status(err) == http.StatusServiceUnavailable:
	case scenario.Is(err, scenario.Timeout):
		b.step.Fail(scenario.Fail(scenario.Trivial, err))
	case b.o.Compat && scenario.Is(err, scenario.Application) && !notJSON(err):
	default:
		b.step.Fail(err)
	}
}

// notJSON reports whether an error is one of decoding.
func notJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}
