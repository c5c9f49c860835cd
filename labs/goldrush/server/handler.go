package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// calls are those of each path, by method.
var calls = listCalls()

func listCalls() map[string]map[string]goldrush.Call {
	out := map[string]map[string]goldrush.Call{}
	for c := range goldrush.Calls {
		method, path := c.Route()
		if out[path] == nil {
			out[path] = map[string]goldrush.Call{}
		}
		out[path][method] = c
	}
	return out
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/metrics" {
		s.showMetrics(w)
		return
	}
	c, refused := callOf(r)
	if refused != nil {
		writeAnswer(w, &goldrush.Request{}, refused)
		return
	}
	q, refused := readRequest(c, r)
	if refused != nil {
		writeAnswer(w, &q, refused)
		return
	}
	a, ok := s.Ask(r.Context(), q)
	if !ok { // gone, or the game is: there is no answer, not even an empty one
		panic(http.ErrAbortHandler)
	}
	writeAnswer(w, &q, &a)
}

// callOf returns which call a request is, or what is answered to one that is none.
func callOf(r *http.Request) (goldrush.Call, *goldrush.Answer) {
	methods := calls[r.URL.Path]
	if methods == nil {
		return 0, refuse(http.StatusNotFound, fmt.Sprintf("path %s was not found", r.URL.Path))
	}
	c, ok := methods[r.Method]
	if !ok {
		var allowed []string
		for _, m := range []string{http.MethodGet, http.MethodPost} {
			if _, ok := methods[m]; ok {
				allowed = append(allowed, m)
			}
		}
		return 0, refuse(http.StatusMethodNotAllowed,
			fmt.Sprintf("method %s is not allowed, but [%s] are", r.Method, strings.Join(allowed, ",")))
	}
	return c, nil
}

// writeAnswer writes an answer as JSON.
func writeAnswer(w http.ResponseWriter, q *goldrush.Request, a *goldrush.Answer) {
	body, err := json.Marshal(bodyOf(q, a))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	h.Set("Cache-Control", "no-cache, no-store, must-revalidate")
	h.Set("Pragma", "no-cache")
	h.Set("Expires", "0")
	w.WriteHeader(a.Status)
	_, _ = w.Write(append(bytes.TrimSpace(body), '\n')) // a client that is gone misses nothing
}

// bodyOf is what an answer shows.
func bodyOf(q *goldrush.Request, a *goldrush.Answer) any {
	if a.Status != http.StatusOK {
		return a.Error
	}
	switch q.Call {
	case goldrush.Balance:
		return struct {
			Balance int             `json:"balance"`
			Wallet  []goldrush.Coin `json:"wallet"`
		}{a.Balance, a.Coins}
	case goldrush.Licenses:
		return a.Licenses
	case goldrush.Issue:
		return a.Licenses[0]
	case goldrush.Explore:
		return struct {
			Area   goldrush.Area `json:"area"`
			Amount int           `json:"amount"`
		}{q.Area, a.Amount}
	case goldrush.Dig:
		return []string{a.Treasure}
	case goldrush.Cash:
		return a.Coins
	}
	return "OK"
}
