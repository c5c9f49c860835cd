package faults

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/labs/isuumo/request"
)

// proxied is a proxy before a handler.
func proxied(t *testing.T, rule Rule, service http.HandlerFunc) string {
	t.Helper()
	back := httptest.NewServer(service)
	t.Cleanup(back.Close)
	p, err := New(Options{Target: back.URL, Data: small(), Rule: rule})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	front := httptest.NewServer(p)
	t.Cleanup(front.Close)
	return front.URL
}

// ask sends a request as somebody; a body is posted.
func ask(t *testing.T, url, agent, body string) (*http.Response, string, error) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res, string(got), err
}

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Seen", r.Header.Get("User-Agent"))
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.RequestURI(), b)
}

// TestProxy_Unspoiled: without a rule everything is passed on as it is.
func TestProxy_Unspoiled(t *testing.T) {
	url := proxied(t, Rule{}, echo)
	res, body, err := ask(t, url+"/api/chair/buy/1?a=%E6%A4%85", "me", `{"email":"x"}`)
	if err != nil || res.StatusCode != http.StatusCreated || res.Header.Get("X-Seen") != "me" || body != `POST /api/chair/buy/1?a=%E6%A4%85 {"email":"x"}` {
		t.Errorf("%d %v %q, %v", res.StatusCode, res.Header, body, err)
	}
}

// TestProxy_Matching: endpoint, phase, users and number decide.
func TestProxy_Matching(t *testing.T) {
	const spoiled = http.StatusTeapot
	url := proxied(t, Rule{
		At: []request.Endpoint{request.ChairLowPriced}, When: Loading, Who: People, Skip: 1, Most: 2, Before: answerStatus(spoiled),
	}, echo)
	f := func(path, agent string, want int) {
		t.Helper()
		if res, _, err := ask(t, url+path, agent, ""); err != nil || res.StatusCode != want {
			t.Errorf("%s by %s: %d, %v; want %d", path, agent, res.StatusCode, err, want)
		}
	}
	const low, person = "/api/chair/low_priced", "ISUCON Edge bottle-1"
	f(low, verifyAgent, 201)
	f("/api/estate/low_priced", person, 201) // the load begins
	f(low, "isubot", 201)
	f(low, person, 201) // the first one is left alone
	f(low, person, spoiled)
	f(low, person, spoiled)
	f(low, person, 201)

	url = proxied(t, at(request.ChairLowPriced, answerStatus(spoiled)).within(Validating), echo)
	f(low, verifyAgent, 201)
	f(low, person, 201)
	f(low, verifyAgent, spoiled)
	f(low, person, spoiled) // who is late
}

// TestProxy_Transport: how an answer is sent.
func TestProxy_Transport(t *testing.T) {
	text := strings.Repeat("text ", 1000)
	say := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	get := func(change func(*Exchange)) (*http.Response, string, error) {
		t.Helper()
		return ask(t, proxied(t, Rule{After: change}, say)+"/api/chair/1", "me", "")
	}
	res, body, err := get(func(x *Exchange) { x.Gzip = true })
	z, zerr := gzip.NewReader(strings.NewReader(body))
	if err != nil || zerr != nil || res.Header.Get("Content-Encoding") != "gzip" {
		t.Fatal(res.Header, err, zerr)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != text {
		t.Errorf("compressed: %.20q, %v", b, err)
	}
	if res, body, err = get(func(x *Exchange) { x.Chunked = true }); err != nil || body != text || res.ContentLength != -1 {
		t.Errorf("in chunks: %d, %.20q, %v", res.ContentLength, body, err)
	}
	if _, body, err = get(func(x *Exchange) { x.Missing = 5 }); !errors.Is(err, io.ErrUnexpectedEOF) || body != text {
		t.Errorf("cut: %.20q, %v", body, err)
	}
	if res, _, err = get(func(x *Exchange) { x.Hangup = true }); err != nil || !res.Close {
		t.Errorf("closed: %v, %v", res.Close, err)
	}
}

// TestWhole: an edit sees all rows, and the page that was asked for is cut from what it
// leaves.
func TestWhole(t *testing.T) {
	rule := whole(nil, func(_ *Exchange, all []model.Chair) []model.Chair { return all[1:] })
	url := proxied(t, rule, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("page") != "0" || parseNumber(r.FormValue("perPage")) != allRows {
			t.Errorf("the service is asked for %s", r.URL.RawQuery)
		}
		l := list[model.Chair]{count: 5, counted: true, rows: []model.Chair{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}, {ID: 5}}}
		x := &Exchange{}
		l.write(x)
		_, _ = w.Write(x.Body)
	})
	_, body, err := ask(t, url+"/api/chair/search?color=x&page=1&perPage=3", "me", "")
	var got struct {
		Count  int
		Chairs []model.Chair
	}
	if err = errors.Join(err, json.Unmarshal([]byte(body), &got)); err != nil || got.Count != 4 || len(got.Chairs) != 1 || got.Chairs[0].ID != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLiberties: an answer is the same JSON, whatever liberty was taken.
func TestLiberties(t *testing.T) {
	e := model.EstateAnswer(&small().Estates[0])
	for _, f := range libertyFaults() {
		rule := f.Rule()
		x := &Exchange{What: request.EstateDetail, Human: true, Status: http.StatusOK, Header: http.Header{}, Body: encodeJSON(e)}
		if rule.After != nil {
			rule.After(x)
		}
		var got model.Estate
		if err := json.Unmarshal(x.Body, &got); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %s, %v", f.Name, x.Body, err)
		}
	}
}

// TestUpload: the parts of a form make it up again.
func TestUpload(t *testing.T) {
	const form = "--b\r\nContent-Type: text/csv\r\n\r\n1,a\n2,b\n\r\n--b--\r\n"
	head, lines, tail := splitUpload([]byte(form))
	if len(lines) != 2 || string(lines[1]) != "2,b\n" || string(head)+string(lines[0])+string(lines[1])+string(tail) != form {
		t.Errorf("%q %q %q", head, lines, tail)
	}
	if head, lines, tail = splitUpload([]byte("no form")); string(head) != "no form" || lines != nil || tail != nil {
		t.Errorf("%q %q %q", head, lines, tail)
	}
}
