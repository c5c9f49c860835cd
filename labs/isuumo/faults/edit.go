package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// A row is what lists hold.
type row interface{ model.Chair | model.Estate }

// A list is an answer with rows.
type list[T row] struct {
	count   int64
	counted bool // there is a count
	rows    []T
}

// keyOf returns the key of a list.
func keyOf[T row]() string {
	if _, ok := any(*new(T)).(model.Chair); ok {
		return "chairs"
	}
	return "estates"
}

// readList reads a list, ok is false when the answer is none.
func readList[T row](x *Exchange) (l list[T], ok bool) {
	var raw map[string]json.RawMessage
	if x.Status != http.StatusOK || json.Unmarshal(x.Body, &raw) != nil {
		return l, false
	}
	if count, there := raw["count"]; there {
		l.counted = json.Unmarshal(count, &l.count) == nil
	}
	return l, json.Unmarshal(raw[keyOf[T]()], &l.rows) == nil
}

// write makes the list the answer.
func (l *list[T]) write(x *Exchange) {
	b := []byte("{")
	if l.counted {
		b = append(strconv.AppendInt(append(b, `"count":`...), l.count, 10), ',')
	}
	if l.rows == nil {
		l.rows = []T{}
	}
	b = append(append(append(b, '"'), keyOf[T]()...), `":`...)
	x.Body = append(append(b, encodeJSON(l.rows)...), '}')
}

// encodeJSON returns a value as JSON. What rows are made of can be encoded.
func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a number without end
	}
	return b
}

// editLists has an edit change an answer with rows.
func editLists[T row](edit func(*Exchange, *list[T])) func(*Exchange) {
	return func(x *Exchange) {
		if l, ok := readList[T](x); ok {
			edit(x, &l)
			l.write(x)
		}
	}
}

// editRows has an edit change each row of an answer, in a list or by itself.
func editRows[T row](edit func(*T)) func(*Exchange) {
	inList := editLists(func(_ *Exchange, l *list[T]) {
		for i := range l.rows {
			edit(&l.rows[i])
		}
	})
	return func(x *Exchange) {
		if x.What != request.ChairDetail && x.What != request.EstateDetail {
			inList(x)
			return
		}
		var one T
		if x.Status == http.StatusOK && json.Unmarshal(x.Body, &one) == nil {
			edit(&one)
			x.Body = encodeJSON(one)
		}
	}
}

// editObject has an edit change the keys of an answer.
func editObject(edit func(map[string]json.RawMessage)) func(*Exchange) {
	return editGood(func(x *Exchange) {
		var raw map[string]json.RawMessage
		if json.Unmarshal(x.Body, &raw) == nil {
			edit(raw)
			x.Body = encodeJSON(raw)
		}
	})
}

// replaceBytes replaces bytes of an answer, wherever they are.
func replaceBytes(old, with string) func(*Exchange) {
	return editGood(func(x *Exchange) { x.Body = bytes.ReplaceAll(x.Body, []byte(old), []byte(with)) })
}

// allRows is above the number of rows that there are.
const allRows = 1 << 20

// whole has an edit see all rows that a search finds, and cuts the page that was asked
// for from those that it leaves. widen, which may be nil, changes what is searched for;
// a search whose page is no number is left alone.
func whole[T row](widen func(*Exchange) bool, edit func(*Exchange, []T) []T) Rule {
	what := request.EstateSearching
	if keyOf[T]() == "chairs" {
		what = request.ChairSearching
	}
	rule := at(what, func(x *Exchange) {
		if x.asked == nil {
			return
		}
		editLists(func(x *Exchange, l *list[T]) {
			l.rows = edit(x, l.rows)
			l.count = int64(len(l.rows))
			l.rows = pageOf(l.rows, parseNumber(x.asked.Get("page")), parseNumber(x.asked.Get("perPage")))
		})(x)
	})
	rule.Before = func(x *Exchange) {
		if parseNumber(x.Query.Get("page")) < 0 || parseNumber(x.Query.Get("perPage")) < 0 {
			return
		}
		asked := maps.Clone(x.Query) // Set below changes none of its values
		if widen != nil && !widen(x) {
			return
		}
		x.asked = asked
		x.Query.Set("page", "0")
		x.Query.Set("perPage", strconv.Itoa(allRows))
	}
	return rule
}

// parseNumber reads a number, -1 when it is none.
func parseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// pageOf returns a page of rows.
func pageOf[T any](rows []T, page, perPage int) []T {
	from := min(page*perPage, len(rows))
	return rows[from:min(from+perPage, len(rows))]
}

// dropParameter takes a parameter out of a search. When that was its only condition, the search
// is for everything.
func dropParameter(x *Exchange, name string) {
	x.Query.Del(name)
	for key := range x.Query {
		if key != "page" && key != "perPage" {
			return
		}
	}
	x.Query.Set("features", "%") // which all rows hold
}

// chairQuery returns what a search for chairs asks for, ok is false when it has to be
// refused.
func chairQuery(x *Exchange) (q *model.ChairQuery, ok bool) {
	s, err := request.ParseChairSearch(x.Query.Encode(), &x.Data().ChairCondition)
	if err != nil {
		return nil, false
	}
	return &model.ChairQuery{
		Price: rangeID(s.Price), Height: rangeID(s.Height), Width: rangeID(s.Width), Depth: rangeID(s.Depth),
		Kind: s.Kind, Color: s.Color, Features: s.Features,
	}, true
}

func rangeID(i int) *int64 {
	if i == request.Any {
		return nil
	}
	id := int64(i)
	return &id
}

// popularityOf returns that of a chair which the service has shown.
func popularityOf(x *Exchange, c model.Chair) int64 {
	if r := x.Chair(c.ID); r != nil {
		return r.Popularity
	}
	return 0
}

// cornersOf returns the polygon of a request.
func cornersOf(x *Exchange) []isuumo.Point {
	var p model.PolygonRequest
	if json.Unmarshal(x.Sent, &p) != nil {
		return nil
	}
	return p.Coordinates
}
