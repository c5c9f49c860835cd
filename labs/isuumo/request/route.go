package request

import (
	"net/http"
	"strings"
)

// An Endpoint is one of the interface's operations.
type Endpoint uint8

// The endpoints. The first two are no operations: they are answered with 404 and 405.
const (
	Unknown Endpoint = iota
	WrongMethod
	Initialize     // POST /initialize
	ChairDetail    // GET /api/chair/:id
	ChairUpload    // POST /api/chair
	ChairSearching // GET /api/chair/search
	ChairLowPriced // GET /api/chair/low_priced
	ChairCondition // GET /api/chair/search/condition
	ChairBuy       // POST /api/chair/buy/:id
	EstateDetail
	EstateUpload
	EstateSearching
	EstateLowPriced
	EstateCondition
	EstateRequest // POST /api/estate/req_doc/:id
	EstatePolygon // POST /api/estate/nazotte
	Recommended   // GET /api/recommended_estate/:id, of a chair
)

// Route returns what is asked for, and the id's segment of the path where the
// endpoint has one. Fixed segments win over ids. Nothing is allocated.
func Route(method, path string) (e Endpoint, id string) {
	want := http.MethodGet
	switch {
	case path == "/initialize":
		e, want = Initialize, http.MethodPost
	case strings.HasPrefix(path, "/api/chair"):
		e, want, id = routeChair(path[len("/api/chair"):])
	case strings.HasPrefix(path, "/api/estate"):
		e, want, id = routeEstate(path[len("/api/estate"):])
	case strings.HasPrefix(path, "/api/recommended_estate/"):
		e, id = Recommended, path[len("/api/recommended_estate/"):]
	}
	switch {
	case e == Unknown || strings.Contains(id, "/"):
		return Unknown, ""
	case method != want:
		return WrongMethod, ""
	}
	return e, id
}

func routeChair(rest string) (e Endpoint, method, id string) {
	switch rest {
	case "":
		return ChairUpload, http.MethodPost, ""
	case "/search":
		return ChairSearching, http.MethodGet, ""
	case "/low_priced":
		return ChairLowPriced, http.MethodGet, ""
	case "/search/condition":
		return ChairCondition, http.MethodGet, ""
	}
	if id, ok := strings.CutPrefix(rest, "/buy/"); ok {
		return ChairBuy, http.MethodPost, id
	}
	if id, ok := strings.CutPrefix(rest, "/"); ok {
		return ChairDetail, http.MethodGet, id
	}
	return Unknown, "", ""
}

func routeEstate(rest string) (e Endpoint, method, id string) {
	switch rest {
	case "":
		return EstateUpload, http.MethodPost, ""
	case "/search":
		return EstateSearching, http.MethodGet, ""
	case "/low_priced":
		return EstateLowPriced, http.MethodGet, ""
	case "/search/condition":
		return EstateCondition, http.MethodGet, ""
	case "/nazotte":
		return EstatePolygon, http.MethodPost, ""
	}
	if id, ok := strings.CutPrefix(rest, "/req_doc/"); ok {
		return EstateRequest, http.MethodPost, id
	}
	if id, ok := strings.CutPrefix(rest, "/"); ok {
		return EstateDetail, http.MethodGet, id
	}
	return Unknown, "", ""
}
