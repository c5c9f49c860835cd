package faults

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// filterFaults are searches that find other rows than were asked for.
func filterFaults() []Fault {
	return []Fault{
		{"only the first feature counts", Filter, `which does not fit the query`, Failed,
			same(Rule{At: []request.Endpoint{request.ChairSearching, request.EstateSearching},
				Before: func(x *Exchange) {
					first, _, more := strings.Cut(x.Query.Get("features"), ",")
					if more {
						x.Query.Set("features", first)
					}
				}})},
		{"features are compared as whole words", Filter, `GET /api/chair/search\?features=高さ調節可能&`, ByChance,
			same(whole(nil, func(x *Exchange, all []model.Chair) []model.Chair {
				return slices.DeleteFunc(all, func(c model.Chair) bool {
					has := strings.Split(c.Features, ",")
					return slices.ContainsFunc(wantedFeatures(x), func(f string) bool { return !slices.Contains(has, f) })
				})
			}))},
		{"ranges of height include their end", Filter,
			`heightRangeId=.* row \d+ is chair \d+, which does not fit the query`, ByChance, same(heightIncludesEnd())},
		{"ranges of door width begin above their start", Filter, `GET /api/estate/search\?doorWidthRangeId=.*expected`,
			ByChance, same(doorWidthAboveStart())},
		{"door width and door height are taken for each other", Filter,
			`GET /api/estate/search.*which does not fit the query`, ByChance,
			same(Rule{At: []request.Endpoint{request.EstateSearching}, Before: func(x *Exchange) {
				width, height := x.Query.Get("doorWidthRangeId"), x.Query.Get("doorHeightRangeId")
				x.Query.Set("doorWidthRangeId", height) // an empty one is none
				x.Query.Set("doorHeightRangeId", width)
			}})},
		{"an unknown color is no condition", Filter, `color=none.*which does not fit the query`, Overlooked,
			same(Rule{At: []request.Endpoint{request.ChairSearching}, Before: func(x *Exchange) {
				if c := x.Query.Get("color"); c != "" && !slices.Contains(x.Data().ChairCondition.Color.List, c) {
					dropParameter(x, "color")
				}
			}})},
		{"chairs that are sold out are found", Filter,
			`GET /api/chair/search.*(count \d+, expected|which was sold out before the request)`, ByChance,
			findSoldOut},
	}
}

// wantedFeatures returns the features that a search asks for.
func wantedFeatures(x *Exchange) []string {
	f := x.asked.Get("features")
	if f == "" {
		return nil
	}
	return strings.Split(f, ",")
}

// heightIncludesEnd finds a chair of 80 cm in the range that ends there.
func heightIncludesEnd() Rule {
	return whole(func(x *Exchange) bool {
		if x.Query.Get("heightRangeId") == "" {
			return false
		}
		if _, ok := chairQuery(x); !ok {
			return false
		}
		dropParameter(x, "heightRangeId")
		return true
	}, func(x *Exchange, all []model.Chair) []model.Chair {
		r := x.Data().ChairCondition.Height.Ranges[parseNumber(x.asked.Get("heightRangeId"))]
		return slices.DeleteFunc(all, func(c model.Chair) bool { return !r.Holds(c.Height) && c.Height != r.Max })
	})
}

// doorWidthAboveStart does not find a door of 80 cm in the range that starts there.
func doorWidthAboveStart() Rule {
	return whole(func(x *Exchange) bool { return parseNumber(x.Query.Get("doorWidthRangeId")) >= 0 },
		func(x *Exchange, all []model.Estate) []model.Estate {
			r := x.Data().EstateCondition.DoorWidth.Ranges[parseNumber(x.asked.Get("doorWidthRangeId"))]
			return slices.DeleteFunc(all, func(e model.Estate) bool { return e.DoorWidth == r.Min })
		})
}

// findSoldOut finds chairs whose stock is used up. No one else sells any.
func findSoldOut() Rule {
	s := stock{sold: map[int64]int64{}}
	rule := whole(nil, func(x *Exchange, all []model.Chair) []model.Chair {
		q, ok := chairQuery(x)
		if !ok {
			return all
		}
		for _, id := range s.gone(x) {
			if c := x.Chair(id); q.Fits(&x.Data().ChairCondition, c) {
				all = append(all, model.ChairAnswer(c))
			}
		}
		slices.SortFunc(all, func(a, b model.Chair) int {
			return cmp.Or(cmp.Compare(popularityOf(x, b), popularityOf(x, a)), cmp.Compare(a.ID, b.ID))
		})
		return slices.CompactFunc(all, func(a, b model.Chair) bool { return a.ID == b.ID })
	})
	search := rule
	return Rule{
		At: []request.Endpoint{request.ChairSearching, request.ChairBuy},
		Before: func(x *Exchange) {
			if x.What == request.ChairSearching {
				search.Before(x)
			}
		},
		After: func(x *Exchange) {
			if x.What == request.ChairSearching {
				search.After(x)
			} else if x.Status == http.StatusOK {
				s.sell(x.ID)
			}
		},
	}
}

// A stock counts what was sold.
type stock struct {
	mu   sync.Mutex
	sold map[int64]int64
}

func (s *stock) sell(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sold[id]++
}

// gone returns the chairs of which all units were sold.
func (s *stock) gone(x *Exchange) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int64
	for id, n := range s.sold {
		if c := x.Chair(id); c != nil && n >= c.Stock {
			out = append(out, id)
		}
	}
	return out
}

// orderFaults are lists in another order.
func orderFaults() []Fault {
	return []Fault{
		{"chairs come in reverse from the third page on", Order,
			`GET /api/chair/search.*the order is popularity descending, id ascending`, Failed,
			same(at(request.ChairSearching, editLists(func(x *Exchange, l *list[model.Chair]) {
				reverseFrom(x, l.rows,
					2)
			})))},
		{"estates come in reverse from the third page on", Order,
			`GET /api/estate/search.*the order is popularity descending, id ascending`, Overlooked,
			same(at(request.EstateSearching, editLists(func(x *Exchange, l *list[model.Estate]) {
				reverseFrom(x, l.rows,
					2)
			})))},
		{"chairs of one popularity come by id descending", Order,
			`GET /api/chair/search.*row \d+ is chair \d+, (expected|which belongs before)`, ByChance,
			same(whole(nil, func(x *Exchange, all []model.Chair) []model.Chair {
				slices.SortFunc(all, func(a, b model.Chair) int {
					return cmp.Or(cmp.Compare(popularityOf(x, b), popularityOf(x, a)), cmp.Compare(b.ID, a.ID))
				})
				return all
			}))},
		{"cheapest chairs of one price come by id descending", Order,
			`GET /api/chair/low_priced: row \d+ is chair \d+, expected`, Failed,
			same(at(request.ChairLowPriced, editLists(func(_ *Exchange, l *list[model.Chair]) {
				slices.SortFunc(l.rows, func(a, b model.Chair) int {
					return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(b.ID, a.ID))
				})
			})))},
		{"the eleventh recommendation changes places with the next", Order,
			`GET /api/recommended_estate/\d+: row 11 is estate \d+, expected`, Failed,
			same(at(request.Recommended, editLists(func(_ *Exchange, l *list[model.Estate]) {
				if len(l.rows) > 11 {
					l.rows[10], l.rows[11] = l.rows[11], l.rows[10]
				}
			})))},
	}
}

// reverseFrom reverses pages from one on.
func reverseFrom[T any](x *Exchange, rows []T, page int) {
	if parseNumber(x.Query.Get("page")) >= page {
		slices.Reverse(rows)
	}
}

// countFaults are numbers that do not belong to their list.
func countFaults() []Fault {
	return []Fault{
		{"counts are one too high with features", Count, `features=.*: count \d+, expected`, Failed,
			same(at(request.EstateSearching, editLists(func(x *Exchange, l *list[model.Estate]) {
				if x.Query.Get("features") != "" {
					l.count++
				}
			})))},
		{"counts are the page's from the second page on", Count, `GET /api/estate/search.*: count \d+, expected`,
			Overlooked,
			same(at(request.EstateSearching, editLists(func(x *Exchange, l *list[model.Estate]) {
				if parseNumber(x.Query.Get("page")) > 0 {
					l.count = int64(len(l.rows))
				}
			})))},
		{"counts are remembered for ever", Count, `GET /api/estate/search.*: count \d+, expected`, Overlooked,
			rememberCounts},
		{"a polygon's count is one too high under load", Count, `POST /api/estate/nazotte .*: count \d+ with \d+ rows`,
			Overlooked,
			same(at(request.EstatePolygon, editLists(func(_ *Exchange,
				l *list[model.Estate]) {
				l.count++
			})).within(Loading))},
	}
}

// rememberCounts counts once for each search.
func rememberCounts() Rule {
	var known sync.Map // count by conditions
	return at(request.EstateSearching, editLists(func(x *Exchange, l *list[model.Estate]) {
		x.Query.Del("page")
		x.Query.Del("perPage")
		count, _ := known.LoadOrStore(x.Query.Encode(), l.count)
		l.count = count.(int64)
	}))
}

// pageFaults are parts of a list other than were asked for.
func pageFaults() []Fault {
	search := []request.Endpoint{request.ChairSearching, request.EstateSearching}
	return []Fault{
		{"a page begins with the last row of the one before", Page,
			`row 1 is estate \d+, which has \d+ matches before it, expected`, Overlooked,
			same(shiftedPages())},
		{"each page is the first", Page, `row 1 is \w+ \d+, which has 0 matches before it, expected`, Overlooked,
			same(Rule{At: search, Before: func(x *Exchange) {
				if parseNumber(x.Query.Get("page")) > 0 {
					x.Query.Set("page", "0")
				}
			}})},
		{"a page has 25 rows whatever was asked for", Page, `the list ends after 25 rows|25 rows, expected at most`,
			ByChance,
			same(Rule{At: search, Before: func(x *Exchange) {
				if parseNumber(x.Query.Get("perPage")) >= 0 {
					x.Query.Set("perPage", "25")
				}
			}})},
		{"a page has one row too many under load", Page, `26 rows, expected at most 25`, Overlooked,
			same(Rule{At: search, When: Loading, Before: func(x *Exchange) {
				if parseNumber(x.Query.Get("page")) == 0 {
					x.Query.Set("perPage", strconv.Itoa(parseNumber(x.Query.Get("perPage"))+1))
				}
			}})},
		{"a full page lacks its last row under load", Page, `the list ends after 24 rows, expected`, Overlooked,
			same(at(request.ChairSearching, editLists(func(_ *Exchange, l *list[model.Chair]) {
				if len(l.rows) == 25 {
					l.rows = l.rows[:24]
				}
			})).within(Loading))},
		{"pages from the third on are empty", Page, `no rows, expected`, Overlooked,
			same(at(request.EstateSearching, editLists(func(x *Exchange, l *list[model.Estate]) {
				if parseNumber(x.Query.Get("page")) >= 2 {
					l.rows = nil
				}
			})))},
		{"cheapest estates end after 19", Page, `GET /api/estate/low_priced: the list ends after 19 rows, expected`,
			Failed,
			same(at(request.EstateLowPriced, editLists(func(_ *Exchange,
				l *list[model.Estate]) {
				l.rows = l.rows[:min(len(l.rows), 19)]
			})))},
		{"recommendations lack the fifth", Page, `GET /api/recommended_estate/\d+: row 5 is estate \d+, expected`,
			Failed,
			same(at(request.Recommended, editLists(func(_ *Exchange, l *list[model.Estate]) {
				if len(l.rows) > 5 {
					l.rows = slices.Delete(l.rows, 4, 5)
				}
			})))},
	}
}

// shiftedPages begins each page but the first one row too early.
func shiftedPages() Rule {
	rule := whole(func(x *Exchange) bool { return parseNumber(x.Query.Get("page")) > 0 },
		func(x *Exchange, all []model.Estate) []model.Estate { return all })
	rule.After = func(x *Exchange) {
		l, ok := readList[model.Estate](x)
		if !ok || x.asked == nil {
			return
		}
		page, size := parseNumber(x.asked.Get("page")), parseNumber(x.asked.Get("perPage"))
		from := min(max(0, page*size-1), len(l.rows))
		l.rows = l.rows[from:min(from+size, len(l.rows))]
		l.write(x)
	}
	return rule
}
