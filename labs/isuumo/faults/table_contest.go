package faults

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// contestFaults are the faults with which the contest's benchmark was tried. It was also
// tried with cheapest chairs in reverse from the fifth second on; here that is from the
// first user on.
func contestFaults() []Fault {
	return []Fault{
		{"/initialize answers 500", Contest, `POST /initialize: status 500, expected 200`, Failed,
			same(at(request.Initialize, answerStatus(http.StatusInternalServerError)))},
		{"/initialize names no language", Contest, `POST /initialize: no "language"`, Failed,
			same(at(request.Initialize, editObject(func(o map[string]json.RawMessage) { delete(o, "language") })))},
		{"chairs by id are always 404", Contest, `GET /api/chair/\d+: status 404, expected 200`, Failed,
			same(at(request.ChairDetail, answerStatus(http.StatusNotFound)))},
		{"chairs by id have no description", Contest, `without the key "description"`, Failed,
			same(at(request.ChairDetail, editObject(func(o map[string]json.RawMessage) { delete(o, "description") })))},
		{"counts of chairs are one too high", Contest, `GET /api/chair/search.*: count \d+, expected`, Failed,
			same(at(request.ChairSearching, editLists(func(_ *Exchange, l *list[model.Chair]) { l.count++ })))},
		{"cheapest estates come in reverse", Contest, `GET /api/estate/low_priced: row 1 is estate \d+, expected`,
			Failed,
			same(at(request.EstateLowPriced, editLists(func(_ *Exchange,
				l *list[model.Estate]) {
				slices.Reverse(l.rows)
			})))},
		{"uploads of chairs answer 500", Contest, `POST /api/chair: status 500, expected 201`, Failed,
			same(at(request.ChairUpload, answerStatus(http.StatusInternalServerError)))},
		{"uploads of chairs answer 200", Contest, `POST /api/chair: status 200, expected 201`, Failed,
			same(at(request.ChairUpload, answerStatus(http.StatusOK)))},
		{"searches for estates take 2.5 s", Contest, `GET /api/estate/search: no answer within 2s`, Failed,
			same(at(request.EstateSearching, func(x *Exchange) { x.Delay = 2500 * time.Millisecond }))},
		{"cheapest chairs come in reverse under load", Contest,
			`GET /api/chair/low_priced: row 1 is chair \d+, expected`, Failed,
			same(at(request.ChairLowPriced, editLists(func(_ *Exchange,
				l *list[model.Chair]) {
				slices.Reverse(l.rows)
			})).within(Loading))},
		{"one upload of estates under load answers 500", Contest, `POST /api/estate: status 500, expected 201`, Failed,
			same(Rule{At: []request.Endpoint{request.EstateUpload}, When: Loading, Most: 1,
				Before: answerStatus(http.StatusInternalServerError)})},
		{"20 searches of people get 503", Contest, `GET /api/chair/search.*: status 503, expected 200`, Reported,
			same(Rule{At: []request.Endpoint{request.ChairSearching}, When: Loading, Who: People, Most: 20,
				Before: answerStatus(http.StatusServiceUnavailable)})},
		{"5 purchases get 404", Contest, `a unit of chair \d+ was refused, at least`, Overlooked,
			same(Rule{At: []request.Endpoint{request.ChairBuy}, When: Loading, Most: 5,
				Before: answerStatus(http.StatusNotFound)})},
	}
}
