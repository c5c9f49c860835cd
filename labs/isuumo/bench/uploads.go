package bench

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/load/scenario"
)

// uploadFiles starts the uploads: a file of each kind at each level from the second
// on, as long as there are any.
func (r *run) uploadFiles(ctx context.Context, step *scenario.Step) {
	one := func(name string, files int, do func(*client, context.Context, int, *rand.Rand) error) {
		step.Once(ctx, scenario.Jobs{Name: name, Count: uploads,
			Do: func(ctx context.Context, w *scenario.Worker) error {
				if w.Number >= files {
					return nil
				}
				if err := w.Sleep(ctx, w.Between(uploadPause-uploadSpread, uploadPause+uploadSpread)); err != nil {
					return err
				}
				c, err := r.newClient(step, clientOptions{userAgent: humanAgent(w.Rand), timeout: uploadTimeout})
				if err != nil {
					return err
				}
				defer c.agent.Close()
				return scenario.Fail(scenario.Critical, do(c, ctx, w.Number, w.Rand))
			}})
	}
	d := r.o.Data
	one("chair upload", len(d.DraftChairs), func(c *client, ctx context.Context, n int, rng *rand.Rand) error {
		return c.uploadChairs(ctx, d.DraftChairs[n], c.others(len(d.DraftChairs[n]), rng))
	})
	one("estate upload", len(d.DraftEstates), func(c *client, ctx context.Context, n int, rng *rand.Rand) error {
		return c.uploadEstates(ctx, d.DraftEstates[n], c.others(len(d.DraftEstates[n]), rng))
	})
}

// others draws which rows of a file are looked at beside the first one. The contest's
// benchmark looks at none.
func (c *client) others(rows int, rng *rand.Rand) []int {
	if c.o.Compat || rows == 0 {
		return nil
	}
	return []int{rng.IntN(rows), rows - 1}
}

// uploadChairs uploads a file: its first row must not be there before, and must be
// afterwards, as must others.
func (c *client) uploadChairs(ctx context.Context, rows []isuumo.Chair, others []int) error {
	if len(rows) == 0 {
		return nil
	}
	if err := c.exactly(ctx, "GET /api/chair/:id", "/api/chair/"+strconv.FormatInt(rows[0].ID, 10),
		http.StatusNotFound); err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	c.chairs.UploadBegins(ids)
	if err := c.upload(ctx, "/api/chair", "chairs", data.ChairCSV(nil, rows)); err != nil {
		return err
	}
	c.chairs.UploadEnds(ids)
	for _, i := range append([]int{0}, others...) {
		rank, _ := c.chairs.Rank(ids[i])
		before := c.chairs.Now()
		there, err := c.chair(ctx, rank)
		if err == nil && !there && c.chairs.Certain(rank, c.chairs.Since(before)) {
			err = scenario.Errorf(scenario.Application, "GET /api/chair/%d: status 404 after it was uploaded", ids[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// uploadEstates is uploadChairs for estates.
func (c *client) uploadEstates(ctx context.Context, rows []isuumo.Estate, others []int) error {
	if len(rows) == 0 {
		return nil
	}
	if err := c.refused(ctx, "GET /api/estate/:id", "/api/estate/"+strconv.FormatInt(rows[0].ID, 10),
		http.StatusNotFound); err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	c.estates.UploadBegins(ids)
	if err := c.upload(ctx, "/api/estate", "estates", data.EstateCSV(nil, rows)); err != nil {
		return err
	}
	c.estates.UploadEnds(ids)
	for _, i := range append([]int{0}, others...) {
		rank, _ := c.estates.Rank(ids[i])
		if err := c.estate(ctx, rank); err != nil {
			return err
		}
	}
	return nil
}
