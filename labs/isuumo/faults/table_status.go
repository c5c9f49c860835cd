package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// statusFaults are answers with another status.
func statusFaults() []Fault {
	return []Fault{
		{"purchases answer 201", Status, `POST /api/chair/buy/\d+: status 201, expected 200`, Failed,
			same(at(request.ChairBuy, editGood(answerStatus(http.StatusCreated))))},
		{"every tenth request for documents gets 404", Status,
			`POST /api/estate/req_doc/\d+: status 404, expected 200`, Failed, everyTenth},
		{"estates by id are elsewhere", Status, `GET /api/estate/\d+: status 302, expected 200`, Failed,
			same(at(request.EstateDetail, editGood(func(x *Exchange) {
				x.Status, x.Body = http.StatusFound, nil
				x.Header.Set("Location", "/estate/detail")
			})))},
		{"a range that there is not finds nothing", Status, `GET /api/estate/search\?.*: status 200, expected 400`,
			Overlooked,
			same(at(request.EstateSearching, func(x *Exchange) {
				if x.Status == http.StatusBadRequest && x.Query.Get("rentRangeId") != "" &&
					x.Query.Get("perPage") != "" {
					(&list[model.Estate]{counted: true}).write(x)
					x.Status = http.StatusOK
				}
			}))},
		{"recommendations for no chair answer 404", Status, `GET /api/recommended_estate/0: status 404, expected 400`,
			Overlooked,
			same(at(request.Recommended, func(x *Exchange) {
				if x.Status == http.StatusBadRequest {
					x.Status = http.StatusNotFound
				}
			}))},
		{"the page after the last one answers 404", Status, `GET /api/chair/search.*: status 404, expected 200`,
			Overlooked,
			same(at(request.ChairSearching, func(x *Exchange) {
				if l, ok := readList[model.Chair](x); ok && l.count > 0 && len(l.rows) == 0 {
					x.Status, x.Body = http.StatusNotFound, nil
				}
			}))},
		{"purchases need no address", Status, `POST /api/chair/buy/0: status 404, expected 400`, Overlooked,
			same(Rule{At: []request.Endpoint{request.ChairBuy}, Before: func(x *Exchange) {
				if !bytes.Contains(x.Sent, []byte(`"email"`)) {
					x.Sent = []byte(`{"email":""}`)
				}
			}})},
		{"crawlers get 500", Status, `status 500, expected 200`, Overlooked,
			same(Rule{Who: Crawlers, Before: answerStatus(http.StatusInternalServerError)})},
	}
}

// everyTenth refuses every tenth request for documents under load.
func everyTenth() Rule {
	var mu sync.Mutex
	n := 0
	return Rule{At: []request.Endpoint{request.EstateRequest}, When: Loading, Before: func(x *Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%10 == 1 {
			x.Status = http.StatusNotFound
		}
	}}
}

// libertyFaults are what a service may do.
func libertyFaults() []Fault {
	free := func(name string, r Rule) Fault { return Fault{name, Liberty, "", Overlooked, same(r)} }
	latitude := regexp.MustCompile(`"latitude":[0-9.]+`)
	return []Fault{
		free("crawlers get 503", Rule{Who: Crawlers, Before: func(x *Exchange) {
			x.Status,
				x.Body = http.StatusServiceUnavailable, []byte("<html></html>")
		}}),
		free("JSON is indented", Rule{After: anyJSON(func(body []byte) []byte {
			var b bytes.Buffer
			_ = json.Indent(&b, body, "", "  ")
			return append(b.Bytes(), '\n')
		})}),
		free("keys come in another order", Rule{After: anyJSON(func(body []byte) []byte {
			var v any
			d := json.NewDecoder(bytes.NewReader(body))
			d.UseNumber()
			_ = d.Decode(&v) // into maps, which are written by key
			return encodeJSON(v)
		})}),
		free("texts are escaped", Rule{After: anyJSON(escapeText)}),
		free("latitudes have an exponent", Rule{After: anyJSON(func(body []byte) []byte {
			return latitude.ReplaceAllFunc(body, func(old []byte) []byte {
				v, _ := strconv.ParseFloat(string(old[len(`"latitude":`):]), 64)
				return strconv.AppendFloat([]byte(`"latitude":`), v, 'e', -1, 64)
			})
		})}),
		free("answers are compressed", Rule{After: func(x *Exchange) { x.Gzip = len(x.Body) > 0 }}),
		free("answers come in chunks", Rule{After: func(x *Exchange) { x.Chunked = true }}),
		free("each answer ends its connection", Rule{After: func(x *Exchange) { x.Hangup = true }}),
		free("cheapest chairs take half a second", at(request.ChairLowPriced,
			func(x *Exchange) { x.Delay = 500 * time.Millisecond })),
		free("refusals come with a text", Rule{After: func(x *Exchange) {
			if x.Status >= http.StatusBadRequest {
				x.Body = []byte("there is no such thing")
			}
		}}),
		free("answers have other headers", Rule{After: func(x *Exchange) {
			x.Header.Set("Content-Type", "text/plain")
			x.Header.Set("Set-Cookie", "a=b")
			x.Header.Set("ETag", `"1"`)
		}}),
		free("/initialize says more", at(request.Initialize,
			editObject(func(o map[string]json.RawMessage) { o["rows"] = json.RawMessage("5900") }))),
	}
}

// anyJSON has an edit change each answer that is JSON.
func anyJSON(edit func([]byte) []byte) func(*Exchange) {
	return func(x *Exchange) {
		if json.Valid(x.Body) {
			x.Body = edit(x.Body)
		}
	}
}

// escapeText writes characters beyond ASCII as escapes.
func escapeText(body []byte) []byte {
	out := make([]byte, 0, 2*len(body))
	for len(body) > 0 {
		c, n := utf8.DecodeRune(body)
		body = body[n:]
		if c < utf8.RuneSelf {
			out = append(out, byte(c))
			continue
		}
		for _, half := range utf16.AppendRune(nil, c) {
			out = fmt.Appendf(out, `\u%04x`, half)
		}
	}
	return out
}
