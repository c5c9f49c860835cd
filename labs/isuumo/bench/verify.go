package bench

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/load/scenario"
)

// A check is one question of a verification, or a few.
type check func(context.Context) error

// patientAtOnce is how many checks are made at once where there is time for it.
const patientAtOnce = 4

// all makes checks, several at once, and reports what is wrong. Its own error is
// errReported.
func all(ctx context.Context, step *scenario.Step, checks []check, atOnce int) error {
	todo := make(chan check)
	var wg sync.WaitGroup
	var failed atomic.Bool
	for range max(1, min(atOnce, len(checks))) {
		wg.Go(func() {
			for do := range todo {
				if err := do(ctx); err != nil {
					step.Fail(err)
					failed.Store(true)
				}
			}
		})
	}
	for _, do := range checks {
		if ctx.Err() != nil {
			break
		}
		todo <- do
	}
	close(todo)
	wg.Wait()
	if failed.Load() {
		return errReported
	}
	return ctx.Err()
}

// noRow stands for an id that no row has.
const noRow = -1

// contestRow draws one of the rows that the contest's snapshots ask for: the first 99,
// and one that there is not.
func contestRow(rng *rand.Rand, rows int) int { return rng.IntN(min(100, rows+1)) + noRow }

// anyRow draws a row.
func anyRow(rng *rand.Rand, rows int) int { return rng.IntN(rows) }

// A verifier draws what is asked of the service when there is no load, and asks for it.
type verifier struct {
	*client
	rng *rand.Rand
}

// snapshots draws n queries of each kind of which there are many, and one of each
// other.
func (v *verifier) snapshots(n int, row func(rng *rand.Rand, rows int) int) []check {
	d := v.o.Data
	checks := []check{
		v.chairCondition, v.estateCondition,
		func(ctx context.Context) error { _, err := v.lowPricedChairs(ctx); return err },
		func(ctx context.Context) error { _, err := v.lowPricedEstates(ctx); return err },
	}
	for range n {
		chair, estate, other := row(v.rng, len(d.Chairs)), row(v.rng, len(d.Estates)), row(v.rng, len(d.Chairs))
		cq, eq := model.RandomChairQuery(v.rng, &d.ChairCondition), model.RandomEstateQuery(v.rng, &d.EstateCondition)
		corners := polygonOf(v.rng)
		checks = append(checks,
			func(ctx context.Context) error { return v.verifyChair(ctx, chair) },
			func(ctx context.Context) error { return v.verifyEstate(ctx, estate) },
			func(ctx context.Context) error { return v.verifyRecommended(ctx, other) },
			func(ctx context.Context) error { _, err := v.searchChairs(ctx, cq); return err },
			func(ctx context.Context) error { _, err := v.searchEstates(ctx, eq); return err },
			func(ctx context.Context) error { _, err := v.polygon(ctx, corners); return err },
		)
	}
	return checks
}

func (v *verifier) verifyChair(ctx context.Context, i int) error {
	if i == noRow {
		return v.exactly(ctx, "GET /api/chair/:id", "/api/chair/0", http.StatusNotFound)
	}
	rank, _ := v.chairs.Rank(v.o.Data.Chairs[i].ID)
	there, err := v.chair(ctx, rank)
	if err == nil && !there && v.o.Compat {
		err = scenario.Errorf(scenario.Application, "GET /api/chair/%d: status 404, expected 200",
			v.o.Data.Chairs[i].ID)
	}
	return err
}

func (v *verifier) verifyEstate(ctx context.Context, i int) error {
	if i == noRow {
		return v.refused(ctx, "GET /api/estate/:id", "/api/estate/0", http.StatusNotFound)
	}
	rank, _ := v.estates.Rank(v.o.Data.Estates[i].ID)
	return v.estate(ctx, rank)
}

func (v *verifier) verifyRecommended(ctx context.Context, i int) error {
	if i == noRow {
		return v.refused(ctx, "GET /api/recommended_estate/:id", "/api/recommended_estate/0", http.StatusBadRequest)
	}
	rank, _ := v.chairs.Rank(v.o.Data.Chairs[i].ID)
	_, err := v.recommended(ctx, rank)
	return err
}

// verifyThoroughly asks for as much of each kind as the contest has snapshots, for
// each choice of the searches by itself, for pages up to the end and beyond, and for
// what has to be refused.
func (r *run) verifyThoroughly(ctx context.Context, step *scenario.Step) error {
	c, err := r.newClient(step, clientOptions{userAgent: verifyAgent, timeout: patientTimeout})
	if err != nil {
		return err
	}
	defer c.agent.Close()
	v := &verifier{c, step.Rand("verify", 2)}
	checks := v.refusals()
	checks = append(checks, v.snapshots(r.o.Verify, anyRow)...)
	checks = append(checks, v.choices()...)
	checks = append(checks, v.crowded())
	for range (r.o.Verify + 9) / 10 {
		checks = append(checks, v.turnChairPages(), v.turnEstatePages())
	}
	return all(ctx, step, checks, patientAtOnce)
}

// crowded searches a square with more estates than a list holds: of polygons as users
// draw them few have so many.
func (v *verifier) crowded() check {
	center := pick(v.rng, v.o.Data.Estates)
	var corners []isuumo.Point
	for half, inside := 0.01, 0; inside <= isuumo.PolygonLimit && half < 90; half *= 1.2 {
		south, north, west, east := center.Latitude-half, center.Latitude+half, center.Longitude-half,
			center.Longitude+half
		corners = []isuumo.Point{{Latitude: south, Longitude: west}, {Latitude: south, Longitude: east},
			{Latitude: north, Longitude: east}, {Latitude: north, Longitude: west}, {Latitude: south, Longitude: west}}
		inside = 0
		for _, e := range v.o.Data.Estates {
			if model.InBox(corners, isuumo.Point{Latitude: e.Latitude, Longitude: e.Longitude}) {
				inside++
			}
		}
	}
	return func(ctx context.Context) error { _, err := v.polygon(ctx, corners); return err }
}

// choices are searches for each choice by itself, for features that are part of
// another one's name, and for what nothing has.
func (v *verifier) choices() []check {
	var checks []check
	chairs := func(q model.ChairQuery) {
		q.PerPage = perPage
		checks = append(checks, func(ctx context.Context) error { _, err := v.searchChairs(ctx, &q); return err })
	}
	estates := func(q model.EstateQuery) {
		q.PerPage = perPage
		checks = append(checks, func(ctx context.Context) error { _, err := v.searchEstates(ctx, &q); return err })
	}
	cc, ec := &v.o.Data.ChairCondition, &v.o.Data.EstateCondition
	eachRange(cc.Price, func(id *int64) { chairs(model.ChairQuery{Price: id}) })
	eachRange(cc.Height, func(id *int64) { chairs(model.ChairQuery{Height: id}) })
	eachRange(cc.Width, func(id *int64) { chairs(model.ChairQuery{Width: id}) })
	eachRange(cc.Depth, func(id *int64) { chairs(model.ChairQuery{Depth: id}) })
	eachRange(ec.Rent, func(id *int64) { estates(model.EstateQuery{Rent: id}) })
	eachRange(ec.DoorHeight, func(id *int64) { estates(model.EstateQuery{DoorHeight: id}) })
	eachRange(ec.DoorWidth, func(id *int64) { estates(model.EstateQuery{DoorWidth: id}) })
	for _, kind := range append(cc.Kind.List, "none") {
		chairs(model.ChairQuery{Kind: kind})
	}
	for _, color := range append(cc.Color.List, "none") {
		chairs(model.ChairQuery{Color: color})
	}
	for _, f := range overlapping(cc.Feature.List) {
		chairs(model.ChairQuery{Features: []string{f}})
	}
	for _, f := range overlapping(ec.Feature.List) {
		estates(model.EstateQuery{Features: []string{f}})
	}
	return checks
}

func eachRange(r isuumo.Ranges, do func(id *int64)) {
	for i := range r.Ranges {
		id := int64(i)
		do(&id)
	}
}

// overlapping returns the texts that are part of another one.
func overlapping(list []string) []string {
	var out []string
	for _, f := range list {
		for _, other := range list {
			if f != other && strings.Contains(other, f) {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// turnChairPages searches, and turns to a page in the middle, the last one and the one
// after it.
func (v *verifier) turnChairPages() check {
	q := v.chairQuery(v.rng, 0)
	part := v.rng.Float64()
	return func(ctx context.Context) error {
		return turnPages(part, func(page int64) (*list, error) {
			q.Page = page
			return v.searchChairs(ctx, q)
		})
	}
}

// turnEstatePages is turnChairPages for estates.
func (v *verifier) turnEstatePages() check {
	q := v.estateQuery(v.rng, 0)
	part := v.rng.Float64()
	return func(ctx context.Context) error {
		return turnPages(part, func(page int64) (*list, error) {
			q.Page = page
			return v.searchEstates(ctx, q)
		})
	}
}

func turnPages(part float64, turn func(page int64) (*list, error)) error {
	first, err := turn(0)
	if err != nil {
		return err
	}
	last := max(0, first.Count-1) / perPage
	for _, page := range []int64{int64(part * float64(last)), last, last + 1} {
		if _, err := turn(page); err != nil {
			return err
		}
	}
	return nil
}

// refusals are questions that have to be refused, with the status that the API has for
// them.
func (v *verifier) refusals() []check {
	const (
		missing = http.StatusNotFound
		bad     = http.StatusBadRequest
		email   = `{"email":"user@example.com"}`
	)
	noPrice := "?priceRangeId=" + strconv.Itoa(len(v.o.Data.ChairCondition.Price.Ranges)) + "&page=0&perPage=25"
	noRent := "?rentRangeId=" + strconv.Itoa(len(v.o.Data.EstateCondition.Rent.Ranges)) + "&page=0&perPage=25"
	var checks []check
	for _, one := range []struct {
		want       int
		step, rest string // what comes after the step, or takes the place of :id in it
		body       string
	}{
		{missing, "GET /api/chair/:id", "0", ""},
		{missing, "GET /api/estate/:id", "0", ""},
		{bad, "GET /api/chair/:id", "x", ""},
		{bad, "GET /api/estate/:id", "x", ""},
		{bad, "GET /api/recommended_estate/:id", "0", ""},
		{bad, "GET /api/recommended_estate/:id", "x", ""},
		{bad, "GET /api/chair/search", "?page=0&perPage=25", ""},
		{bad, "GET /api/chair/search", "?priceRangeId=0", ""},
		{bad, "GET /api/chair/search", "?priceRangeId=0&page=x&perPage=25", ""},
		{bad, "GET /api/chair/search", "?priceRangeId=x&page=0&perPage=25", ""},
		{bad, "GET /api/chair/search", noPrice, ""},
		{bad, "GET /api/estate/search", "?page=0&perPage=25", ""},
		{bad, "GET /api/estate/search", "?rentRangeId=0", ""},
		{bad, "GET /api/estate/search", "?rentRangeId=0&page=0&perPage=x", ""},
		{bad, "GET /api/estate/search", "?rentRangeId=x&page=0&perPage=25", ""},
		{bad, "GET /api/estate/search", noRent, ""},
		{missing, "POST /api/chair/buy/:id", "0", email},
		{missing, "POST /api/estate/req_doc/:id", "0", email},
		{bad, "POST /api/chair/buy/:id", "0", `{}`},
		{bad, "POST /api/estate/req_doc/:id", "0", `{}`},
		{bad, "POST /api/estate/nazotte", "", `{"coordinates":[]}`},
	} {
		method, path, _ := strings.Cut(one.step, " ")
		q := &question{step: one.step + refusedSuffix, method: method, path: strings.TrimSuffix(path, ":id") + one.rest}
		if one.body != "" {
			q.kind, q.body = "application/json", []byte(one.body)
		}
		checks = append(checks, func(ctx context.Context) error { return v.mustBe(ctx, q, one.want) })
	}
	return checks
}
