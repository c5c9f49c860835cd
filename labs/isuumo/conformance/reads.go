package conformance

import (
	"net/http"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo/model"
)

func (c *checker) conditions() {
	c.answers(get("/api/chair/search/condition"), c.data.ChairCondition)
	c.answers(get("/api/estate/search/condition"), c.data.EstateCondition)
}

// details: a chair that is sold out is as if it were not there. What is no integer is
// 400, what is no row 404.
func (c *checker) details() {
	for i := range 20 {
		c.chair(c.chairs[(i*997)%len(c.chairs)])
		c.estate(c.estates[(i*991)%len(c.estates)])
	}
	for _, kind := range []string{"chair", "estate"} {
		for _, id := range []string{"0", "-1", "2147483647", "2147483648", "9223372036854775807"} {
			c.empty(get("/api/"+kind+"/"+id), http.StatusNotFound)
		}
		for _, id := range []string{"x", "1.5", "1x", "0x1", "99999999999999999999", "buy"} {
			c.empty(get("/api/"+kind+"/"+id), http.StatusBadRequest)
		}
	}
	c.empty(get("/api/sofa"), http.StatusNotFound)
}

// searchChairs asks for each choice by itself, for pages beyond the last one, and
// for what the contest's checks ask for.
func (c *checker) searchChairs() {
	of := &c.data.ChairCondition
	ask := func(q model.ChairQuery) {
		q.PerPage = 25
		c.chairSearch(&q)
	}
	for id := range of.Price.Ranges {
		ask(model.ChairQuery{Price: at(id)})
	}
	for id := range of.Height.Ranges {
		ask(model.ChairQuery{Height: at(id), Page: 1})
		ask(model.ChairQuery{Width: at(id), Page: 2})
		ask(model.ChairQuery{Depth: at(id), Height: at(id)})
	}
	for _, kind := range of.Kind.List {
		ask(model.ChairQuery{Kind: kind})
	}
	for i, color := range of.Color.List {
		ask(model.ChairQuery{Color: color, Kind: of.Kind.List[i%len(of.Kind.List)]})
	}
	// Each feature, among them one that is a part of another.
	for _, f := range of.Feature.List {
		ask(model.ChairQuery{Features: []string{f}})
	}
	for range 30 {
		c.chairSearch(model.RandomChairQuery(c.rng, of))
	}
	for page := range int64(5) { // small pages, so that rows of one popularity fall on two
		c.chairSearch(&model.ChairQuery{Price: at(1), Page: page, PerPage: 3})
	}
	c.chairSearch(&model.ChairQuery{Price: at(0), Page: 1_000_000, PerPage: 25})
	c.chairSearch(&model.ChairQuery{Price: at(0), PerPage: 0})
	c.chairSearch(&model.ChairQuery{Kind: "ソファー", PerPage: 25})
	c.chairSearch(&model.ChairQuery{Color: "虹色", Price: at(0), PerPage: 25})
	c.chairSearch(&model.ChairQuery{Features: []string{"空を飛べる"}, PerPage: 25})
	c.all()
	c.oddChairSearches()
}

// oddChairSearches: an empty text is no condition, unknown features and parameters are
// passed over, and of a parameter that comes twice the first one counts. A feature is
// a pattern of LIKE.
func (c *checker) oddChairSearches() {
	n, found := model.SearchChairs(c.chairs, &c.data.ChairCondition, &model.ChairQuery{Price: at(2), PerPage: 10})
	c.foundChairs("priceRangeId=2&heightRangeId=&widthRangeId=&depthRangeId=&kind=&color=&features=&page=0&perPage=10",
		n, found)
	c.foundChairs("priceRangeId=2&sofa=1&page=0&perPage=10", n, found)
	c.foundChairs("priceRangeId=2&priceRangeId=3&page=0&perPage=10", n, found)
	c.foundChairs("perPage=10&page=0&priceRangeId=2", n, found)
	c.featurePattern("%", func(string) bool { return true })
	c.featurePattern("_", func(f string) bool { return f != "" })
	c.featurePattern("イ_リア", func(f string) bool { return strings.Contains(f, "イタリア") })
	c.featurePattern("回転%,ア%ー", func(f string) bool {
		_, after, a := strings.Cut(f, "ア")
		return a && strings.Contains(after, "ー") && strings.Contains(f, "回転")
	})
}

func (c *checker) searchEstates() {
	of := &c.data.EstateCondition
	ask := func(q model.EstateQuery) {
		q.PerPage = 25
		c.estateSearch(&q)
	}
	for id := range of.Rent.Ranges {
		ask(model.EstateQuery{Rent: at(id)})
	}
	for id := range of.DoorHeight.Ranges {
		ask(model.EstateQuery{DoorHeight: at(id), Page: 1})
		ask(model.EstateQuery{DoorWidth: at(id), Page: 2})
		ask(model.EstateQuery{DoorWidth: at(id), DoorHeight: at(id)})
	}
	for _, f := range of.Feature.List {
		ask(model.EstateQuery{Features: []string{f}})
	}
	for range 30 {
		c.estateSearch(model.RandomEstateQuery(c.rng, of))
	}
	for page := range int64(5) {
		c.estateSearch(&model.EstateQuery{Rent: at(1), Page: page, PerPage: 3})
	}
	c.estateSearch(&model.EstateQuery{Rent: at(0), Page: 1_000_000, PerPage: 25})
	c.estateSearch(&model.EstateQuery{Features: []string{"空を飛べる"}, PerPage: 25})
	n, found := model.SearchEstates(c.estates, of, &model.EstateQuery{Rent: at(2), PerPage: 10})
	c.foundEstates("rentRangeId=2&doorHeightRangeId=&doorWidthRangeId=&features=&page=0&perPage=10", n, found)
	n, found = model.SearchEstates(c.estates, of, &model.EstateQuery{PerPage: 10})
	c.foundEstates("features=%25&page=0&perPage=10", n, found)
}

// refusedSearches: what is refused with 400, and pages before the first one with
// 500. A page is no condition.
func (c *checker) refusedSearches() {
	ranges := map[string][]string{
		"chair":  {"priceRangeId", "heightRangeId", "widthRangeId", "depthRangeId"},
		"estate": {"doorHeightRangeId", "doorWidthRangeId", "rentRangeId"},
	}
	for kind, names := range ranges {
		refuse := func(query string, status int) { c.empty(get("/api/"+kind+"/search"+query), status) }
		refuse("", http.StatusBadRequest)
		refuse("?", http.StatusBadRequest)
		refuse("?page=0&perPage=25", http.StatusBadRequest)
		refuse("?page=-1&perPage=25", http.StatusBadRequest)
		refuse("?features=&page=0&perPage=25", http.StatusBadRequest)
		for _, name := range names {
			for _, id := range []string{"-1", "6", "99", "x", "1.5", "0x1", "99999999999999999999"} {
				if kind == "estate" && id == "6" {
					id = "4" // one beyond the last
				}
				refuse("?"+name+"="+id+"&page=0&perPage=25", http.StatusBadRequest)
			}
			refuse("?"+name+"=&page=0&perPage=25", http.StatusBadRequest)
		}
		for _, one := range []string{names[0] + "=1", "features=%E8%A7%92"} {
			for _, page := range []string{"", "&page=0", "&perPage=25", "&page=&perPage=25", "&page=0&perPage=",
				"&page=x&perPage=25", "&page=0&perPage=x", "&page=1.5&perPage=25", "&page=-1", "&page=-1&perPage=x"} {
				refuse("?"+one+page, http.StatusBadRequest)
			}
			refuse("?"+one+"&page=-1&perPage=25", http.StatusInternalServerError)
			refuse("?"+one+"&page=0&perPage=-1", http.StatusInternalServerError)
			refuse("?"+names[0]+"=99&"+one+"&page=-1&perPage=25", http.StatusBadRequest)
		}
	}
}

// recommended: unknown chairs are 400, those that are sold out are not unknown.
func (c *checker) recommended() {
	for i := range 30 {
		c.recommend(c.chairs[(i*983)%len(c.chairs)])
	}
	for _, id := range []string{"0", "-1", "2147483647", "x", "1.5", "99999999999999999999"} {
		c.empty(get("/api/recommended_estate/"+id), http.StatusBadRequest)
	}
}
