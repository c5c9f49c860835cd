package bench

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/rowjson"
	"github.com/kasoku/kasoku/load/scenario"
)

const (
	initializeAgent = "isucon-initialize"
	verifyAgent     = "isucon-verify"
)

// verifyConns is how many connections verify at once: all requests of the contest's
// own verification.
const verifyConns = 64

// Prepare initialises the service and verifies it: the contest's own verification in
// its time, and then the thorough one.
func (r *run) Prepare(ctx context.Context, step *scenario.Step) error {
	if err := r.initialize(ctx, step); err != nil {
		return err
	}
	err := inTime(ctx, verifyTimeout, "verification", func(ctx context.Context) error { return r.verify(ctx, step) })
	if err == nil && !r.o.Compat {
		err = inTime(ctx, thoroughTimeout, "thorough verification",
			func(ctx context.Context) error { return r.verifyThoroughly(ctx, step) })
	}
	return unreported(err)
}

// errReported means that the failure was reported already.
var errReported = errors.New("reported")

// unreported returns what is left to report of an error.
func unreported(err error) error {
	if errors.Is(err, errReported) {
		return nil
	}
	return err
}

// inTime does something that has to be done in a time. That it was not is critical.
func inTime(ctx context.Context, limit time.Duration, what string, do func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(inner)
	if inner.Err() != nil && ctx.Err() == nil {
		return scenario.Errorf(scenario.Critical, "%s took more than %s", what, limit)
	}
	return err
}

// initialize has the service load its data.
func (r *run) initialize(ctx context.Context, step *scenario.Step) error {
	c, err := r.newClient(step, clientOptions{userAgent: initializeAgent, timeout: initializeTimeout})
	if err != nil {
		return err
	}
	defer c.agent.Close()
	q := &question{step: "POST /initialize", method: http.MethodPost, path: "/initialize"}
	res, err := c.ask(ctx, q, http.StatusOK)
	if err != nil {
		return scenario.Fail(scenario.Critical, err)
	}
	defer res.Release()
	step.Initialized(q.step, res.Body)
	language, err := rowjson.Language(res.Body)
	if err != nil {
		return scenario.Fail(scenario.Critical, q.wrong(err))
	}
	step.SetLanguage(language)
	return nil
}

// verify is the contest's own verification: five queries of each kind at once, then
// an upload of each kind and a purchase.
func (r *run) verify(ctx context.Context, step *scenario.Step) error {
	c, err := r.newClient(step, clientOptions{userAgent: verifyAgent, timeout: requestTimeout, conns: verifyConns})
	if err != nil {
		return err
	}
	defer c.agent.Close()
	c.verifies, c.how.placeless = true, r.o.Compat
	v := &verifier{c, step.Rand("verify", 0)}
	checks := v.snapshots(verifyOfEach, contestRow)
	if err := all(ctx, step, checks, len(checks)); err != nil {
		return err
	}
	d := r.o.Data
	err = both(
		func() error { return c.uploadEstates(ctx, d.VerifyEstates, nil) },
		func() error { return c.uploadChairs(ctx, d.VerifyChairs, nil) })
	if err != nil || len(d.VerifyChairs) == 0 {
		return err
	}
	return c.buyLast(ctx, step, d.VerifyChairs[0].ID)
}

// buyLast buys a chair that there is one of, and looks whether it is gone then.
func (c *client) buyLast(ctx context.Context, step *scenario.Step, id int64) error {
	rank, _ := c.chairs.Rank(id)
	there, err := c.chair(ctx, rank)
	if err == nil && !there {
		err = scenario.Errorf(scenario.Application, "GET /api/chair/%d: status 404 before it was bought", id)
	}
	if err != nil {
		return err
	}
	sold, err := c.buy(ctx, rank, emailOf(step.Rand("verify", 1)))
	if err == nil && !sold {
		err = scenario.Errorf(scenario.Application, "POST /api/chair/buy/%d: status 404, expected 200", id)
	}
	if err != nil {
		return err
	}
	step.Score(tagBuy)
	return c.exactly(ctx, "GET /api/chair/:id", "/api/chair/"+strconv.FormatInt(id, 10), http.StatusNotFound)
}
