package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"sync/atomic"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/rowjson"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// What the API answers, one function per row of its table. Each sends the request,
// and unless the benchmark is compatible checks the whole answer.

// searchChairs asks for a page of chairs.
func (c *client) searchChairs(ctx context.Context, q *model.ChairQuery) (*list, error) {
	ask := &question{step: "GET /api/chair/search", path: "/api/chair/search?" + q.Values().Encode(), counted: true}
	return rowsOf(ctx, c, c.chairRows, ask, func(l *list) error { return c.chairs.Search(q, l.span, l.Page) })
}

// lowPricedChairs asks for the cheapest chairs.
func (c *client) lowPricedChairs(ctx context.Context) (*list, error) {
	ask := &question{step: "GET /api/chair/low_priced", path: "/api/chair/low_priced"}
	return rowsOf(ctx, c, c.chairRows, ask, func(l *list) error { return c.chairs.LowPriced(l.span, l.Rows) })
}

// searchEstates asks for a page of estates.
func (c *client) searchEstates(ctx context.Context, q *model.EstateQuery) (*list, error) {
	ask := &question{step: "GET /api/estate/search", path: "/api/estate/search?" + q.Values().Encode(), counted: true}
	return rowsOf(ctx, c, c.estateRows, ask, func(l *list) error { return c.estates.Search(q, l.span, l.Page) })
}

// lowPricedEstates asks for the estates with the lowest rents.
func (c *client) lowPricedEstates(ctx context.Context) (*list, error) {
	ask := &question{step: "GET /api/estate/low_priced", path: "/api/estate/low_priced"}
	return rowsOf(ctx, c, c.estateRows, ask, func(l *list) error { return c.estates.LowPriced(l.span, l.Rows) })
}

// recommended asks for the estates that a chair goes well with, sold out or not.
func (c *client) recommended(ctx context.Context, chair int32) (*list, error) {
	row := c.chairs.Row(chair)
	ask := &question{step: "GET /api/recommended_estate/:id",
		path: "/api/recommended_estate/" + strconv.FormatInt(row.ID, 10)}
	return rowsOf(ctx, c, c.estateRows, ask, func(l *list) error { return c.estates.Recommended(row, l.span, l.Rows) })
}

// polygon asks for the estates in a polygon.
func (c *client) polygon(ctx context.Context, corners []isuumo.Point) (*list, error) {
	body, err := json.Marshal(model.PolygonRequest{Coordinates: corners})
	if err != nil {
		return nil, err
	}
	ask := &question{
		step: "POST /api/estate/nazotte", method: http.MethodPost, path: "/api/estate/nazotte",
		kind: "application/json", body: body, counted: true,
		about: fmt.Sprintf("/api/estate/nazotte with %d corners, the first at %v, %v", len(corners)-1,
			corners[0].Latitude, corners[0].Longitude),
	}
	return rowsOf(ctx, c, c.estateRows, ask, func(l *list) error {
		return c.estates.InPolygon(corners, l.span,
			l.Page)
	})
}

// rowsOf asks for a list. check is what the model with time has to say about it.
func rowsOf[T comparable](ctx context.Context, c *client, s *shelf[T], q *question, check func(*list) error) (*list,
	error) {
	from := s.clock.Now()
	res, err := c.ask(ctx, q, http.StatusOK)
	if err != nil {
		return nil, err
	}
	defer res.Release()
	l, err := read(c, s, res.Body, q.counted)
	if err != nil {
		return nil, q.wrong(err)
	}
	l.span = s.clock.Since(from)
	if !c.o.Compat || c.verifies {
		err = cmp.Or(l.wrong, check(l))
	}
	return l, q.wrong(err)
}

// chair asks for a chair. there is false when the service has none, and may say so.
func (c *client) chair(ctx context.Context, rank int32) (there bool, err error) {
	q := &question{step: "GET /api/chair/:id", path: "/api/chair/" + strconv.FormatInt(c.chairs.Row(rank).ID, 10)}
	from := c.chairs.Now()
	res, err := c.ask(ctx, q, http.StatusOK)
	span := c.chairs.Since(from)
	if status(err) == http.StatusNotFound && (c.o.Compat || !c.chairs.Certain(rank, span)) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer res.Release()
	if err := one(c, c.chairRows, res, rank); err != nil {
		return true, q.wrong(err)
	}
	if !c.o.Compat && !c.chairs.Possible(rank, span) {
		err = errors.New("status 200, expected 404: it was sold out before the request, or no one has uploaded it")
	}
	return true, q.wrong(err)
}

// estate asks for an estate.
func (c *client) estate(ctx context.Context, rank int32) error {
	q := &question{step: "GET /api/estate/:id", path: "/api/estate/" + strconv.FormatInt(c.estates.Row(rank).ID, 10)}
	res, err := c.ask(ctx, q, http.StatusOK)
	if err != nil {
		return err
	}
	defer res.Release()
	return q.wrong(one(c, c.estateRows, res, rank))
}

// one reports what is wrong with an answer that has to be one row.
func one[T comparable](c *client, s *shelf[T], res *agent.Response, rank int32) error {
	raw := res.Body
	if !c.how.lax {
		var err error
		if raw, err = rowjson.Object(raw); err != nil {
			return err
		}
	}
	got, wrong, err := s.rank(raw, c.how)
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return wrong
	case got != rank:
		return errors.New("the row of another id")
	}
	return nil
}

// exactly asks for what the service must answer with a status other than 200.
func (c *client) exactly(ctx context.Context, step, path string, want int) error {
	return c.mustBe(ctx, &question{step: step + refusedSuffix, path: path}, want)
}

// mustBe sends a question of which only the answer's status matters.
func (c *client) mustBe(ctx context.Context, q *question, want int) error {
	res, err := c.ask(ctx, q, want)
	if err != nil {
		return err
	}
	res.Release()
	return nil
}

// refused is exactly, save that with [Options.Compat] any other status than 200 will
// do.
func (c *client) refused(ctx context.Context, step, path string, want int) error {
	err := c.exactly(ctx, step, path, want)
	if got := status(err); c.o.Compat && got != 0 && got != http.StatusOK {
		return nil
	}
	return err
}

// buy buys a chair. sold is false when the service had none left, and may say so.
func (c *client) buy(ctx context.Context, rank int32, email string) (sold bool, err error) {
	q, err := mail("/api/chair/buy/", c.chairs.Row(rank).ID, email)
	if err != nil {
		return false, err
	}
	c.chairs.BuyBegins(rank)
	res, err := c.ask(ctx, q, http.StatusOK)
	switch {
	case err == nil:
		res.Release()
		return true, q.wrong(c.chairs.BuyEnds(rank, truth.Sold))
	case status(err) == http.StatusNotFound:
		return false, q.wrong(c.chairs.BuyEnds(rank, truth.Refused))
	}
	_ = c.chairs.BuyEnds(rank, truth.Unknown) // nothing is wrong with that
	return false, err
}

// requestDocument asks for the documents about an estate.
func (c *client) requestDocument(ctx context.Context, rank int32, email string) error {
	q, err := mail("/api/estate/req_doc/", c.estates.Row(rank).ID, email)
	if err != nil {
		return err
	}
	return c.mustBe(ctx, q, http.StatusOK)
}

// mail is a question that brings an address.
func mail(path string, id int64, email string) (*question, error) {
	body, err := json.Marshal(map[string]string{"email": email})
	if err != nil {
		return nil, err
	}
	return &question{
		step: "POST " + path + ":id", method: http.MethodPost, path: path + strconv.FormatInt(id, 10),
		kind: "application/json", body: body,
	}, nil
}

// upload sends a file of rows.
func (c *client) upload(ctx context.Context, path, field string, csv []byte) error {
	kind, body, err := agent.Form(agent.File{Field: field, Name: field + ".csv", ContentType: "text/csv", Data: csv})
	if err != nil {
		return err
	}
	q := &question{step: "POST " + path, method: http.MethodPost, path: path, kind: kind, body: body}
	return c.mustBe(ctx, q, http.StatusCreated)
}

// chairCondition asks for the choices of the search for chairs.
func (c *client) chairCondition(ctx context.Context) error {
	return condition(ctx, c, "/api/chair/search/condition", &c.o.Data.ChairCondition, &c.seen.chair)
}

// estateCondition asks for the choices of the search for estates.
func (c *client) estateCondition(ctx context.Context) error {
	return condition(ctx, c, "/api/estate/search/condition", &c.o.Data.EstateCondition, &c.seen.estate)
}

// conditions are answers that are known to be right.
type conditions struct {
	chair, estate atomic.Pointer[[]byte]
}

func condition[T any](ctx context.Context, c *client, path string, want *T, seen *atomic.Pointer[[]byte]) error {
	q := &question{step: "GET " + path, path: path}
	res, err := c.ask(ctx, q, http.StatusOK)
	if err != nil {
		return err
	}
	defer res.Release()
	if before := seen.Load(); before != nil && bytes.Equal(*before, res.Body) {
		return nil
	}
	var got T
	d := json.NewDecoder(bytes.NewReader(res.Body))
	if !c.o.Compat {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(&got); err != nil {
		return q.wrong(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return q.wrong(errors.New("bytes after the end of the JSON"))
	}
	if (!c.o.Compat || c.verifies) && !reflect.DeepEqual(&got, want) {
		return q.wrong(errors.New("not the choices that the data has"))
	}
	body := bytes.Clone(res.Body)
	seen.Store(&body)
	return nil
}
