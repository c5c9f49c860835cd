package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// A replica is what a service must hold now. Each of its questions is answered by the
// model, too, and the two are compared. The rows are its own.
type replica struct {
	*service
	data    *isuumo.Data
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

// reset makes the rows those of the data.
func (r *replica) reset() {
	r.chairs, r.estates = nil, nil
	for _, chair := range r.data.Chairs {
		r.chairs = append(r.chairs, &chair)
	}
	for _, estate := range r.data.Estates {
		r.estates = append(r.estates, &estate)
	}
}

func (r *replica) byID(id int64) *isuumo.Chair {
	i := slices.IndexFunc(r.chairs, func(x *isuumo.Chair) bool { return x.ID == id })
	if i < 0 {
		r.fail("no chair %d", id)
		return &isuumo.Chair{}
	}
	return r.chairs[i]
}

// inStock returns the n-th chair of the data that is in stock.
func (r *replica) inStock(n int) *isuumo.Chair {
	for _, x := range r.chairs {
		if x.Stock > 0 {
			if n == 0 {
				return x
			}
			n--
		}
	}
	return r.chairs[0]
}

func (r *replica) chair(x *isuumo.Chair) {
	ask := get(fmt.Sprint("/api/chair/", x.ID))
	if x.Stock <= 0 {
		r.empty(ask, http.StatusNotFound)
		return
	}
	r.answers(ask, model.ChairAnswer(x))
}

func (r *replica) estate(x *isuumo.Estate) {
	r.answers(get(fmt.Sprint("/api/estate/", x.ID)), model.EstateAnswer(x))
}

func (r *replica) recommend(x *isuumo.Chair) {
	r.answers(get(fmt.Sprint("/api/recommended_estate/", x.ID)),
		model.EstateList{Estates: model.EstateAnswers(model.Recommended(r.estates, x))})
}

func (r *replica) lowPriced() {
	r.answers(get("/api/chair/low_priced"),
		model.ChairList{Chairs: model.ChairAnswers(model.LowPricedChairs(r.chairs))})
	r.answers(get("/api/estate/low_priced"),
		model.EstateList{Estates: model.EstateAnswers(model.LowPricedEstates(r.estates))})
}

// chairSearch compares one search with the reference.
func (r *replica) chairSearch(q *model.ChairQuery) {
	n, found := model.SearchChairs(r.chairs, &r.data.ChairCondition, q)
	r.foundChairs(q.Values().Encode(), n, found)
}

func (r *replica) foundChairs(query string, count int, found []*isuumo.Chair) {
	n := int64(count)
	r.answers(get("/api/chair/search?"+query), model.ChairList{Count: &n, Chairs: model.ChairAnswers(found)})
}

// featurePattern searches for features that are patterns.
func (r *replica) featurePattern(pattern string, holds func(features string) bool) {
	var fitting []*isuumo.Chair
	for _, x := range r.chairs {
		if holds(x.Features) {
			fitting = append(fitting, x)
		}
	}
	n, found := model.SearchChairs(fitting, &r.data.ChairCondition, &model.ChairQuery{PerPage: 10})
	r.foundChairs("page=0&perPage=10&features="+url.QueryEscape(pattern), n, found)
}

func (r *replica) estateSearch(q *model.EstateQuery) {
	n, found := model.SearchEstates(r.estates, &r.data.EstateCondition, q)
	r.foundEstates(q.Values().Encode(), n, found)
}

func (r *replica) foundEstates(query string, count int, found []*isuumo.Estate) {
	n := int64(count)
	r.answers(get("/api/estate/search?"+query), model.EstateList{Count: &n, Estates: model.EstateAnswers(found)})
}

// inPolygon compares the answer for one polygon with the reference. The count is the
// number of rows that are shown, at most fifty.
func (r *replica) inPolygon(corners []isuumo.Point) {
	text, err := json.Marshal(model.PolygonRequest{Coordinates: corners})
	if err != nil {
		r.fail("%w", err)
		return
	}
	found := model.EstateAnswers(model.InPolygon(r.estates, corners))
	n := int64(len(found))
	r.answers(post(polygonPath, string(text)), model.EstateList{Count: &n, Estates: found})
}

// all compares the lists that show most of what the service holds.
func (r *replica) all() {
	r.lowPriced()
	all := int64(len(r.data.Chairs) + len(r.data.Estates) + 100)
	for id := range r.data.ChairCondition.Price.Ranges {
		r.chairSearch(&model.ChairQuery{Price: at(id), PerPage: all})
	}
	for id := range r.data.EstateCondition.Rent.Ranges {
		r.estateSearch(&model.EstateQuery{Rent: at(id), PerPage: all})
	}
}
