package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// maxErrors is how many errors are kept: the first ones say most.
const maxErrors = 40

// Check returns all that a service at a URL such as http://127.0.0.1:1323 answers
// otherwise than it should. The data is what its /initialize leaves.
func Check(ctx context.Context, url string, d *isuumo.Data) []error {
	asked := &service{ctx: ctx, url: url, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	defer asked.client.CloseIdleConnections()
	c := &checker{&replica{service: asked, data: d}, rand.New(rand.NewPCG(10, 2020))}
	for _, step := range []struct {
		name string
		run  func()
	}{
		{"initialize", c.initialize},
		{"conditions", c.conditions},
		{"details", c.details},
		{"low priced", c.lowPriced},
		{"chair search", c.searchChairs},
		{"estate search", c.searchEstates},
		{"refused searches", c.refusedSearches},
		{"recommended", c.recommended},
		{"polygon", c.polygons},
		{"polygon that is none", c.noPolygons},
		{"upload", c.uploads},
		{"uploaded texts", c.uploadedTexts},
		{"refused uploads", c.refusedUploads},
		{"purchase", c.purchases},
		{"request for documents", c.documents},
		{"initialize again", c.initializeAgain},
	} {
		asked.step = step.name
		step.run()
		if ctx.Err() != nil || asked.unreachable {
			break
		}
	}
	return asked.errs
}

// A checker goes through the interface, step by step.
type checker struct {
	*replica
	rng *rand.Rand
}

// A service is asked, and what it answers otherwise than it should is kept.
type service struct {
	ctx         context.Context
	url         string
	client      *http.Client
	step        string // of the check
	errs        []error
	unreachable bool
}

func (s *service) fail(format string, args ...any) {
	if len(s.errs) < maxErrors {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", s.step, fmt.Errorf(format, args...)))
	}
}

// A call is one request.
type call struct {
	method, path string // path with query
	contentType  string
	body         string
}

func get(path string) call { return call{method: http.MethodGet, path: path} }

func post(path, body string) call {
	return call{http.MethodPost, path, "application/json", body}
}

// String names the call in errors.
func (r call) String() string {
	if r.body == "" {
		return r.method + " " + r.path
	}
	return fmt.Sprintf("%s %s %.80q", r.method, r.path, r.body)
}

// do returns the answer's status and body; status 0 is none.
func (s *service) do(r call) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(s.ctx, r.method, s.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func (s *service) ask(r call) (status int, body []byte) {
	status, body, err := s.do(r)
	if err != nil {
		s.fail("%s: %w", r, err)
		s.unreachable = true
	}
	return status, body
}

// empty demands a status and an empty body.
func (s *service) empty(r call, want int) {
	status, body := s.ask(r)
	if status != want || len(body) > 0 {
		s.fail("%s: status %d with %d bytes, want %d with none", r, status, len(body), want)
	}
}

// answers demands 200 and the JSON of a value, key by key.
func (s *service) answers(r call, want any) {
	status, body := s.ask(r)
	if status != http.StatusOK {
		s.fail("%s: status %d, want 200", r, status)
		return
	}
	text, err := json.Marshal(want)
	if err != nil {
		s.fail("%s: %w", r, err)
		return
	}
	if bytes.Equal(bytes.TrimSpace(body), text) {
		return // most services write keys in the same order
	}
	got, err := decode(body)
	if err != nil {
		s.fail("%s: %w in %.80q", r, err, body)
		return
	}
	wanted, err := decode(text)
	if err != nil {
		s.fail("%s: %w", r, err)
		return
	}
	if where := difference("", got, wanted); where != "" {
		s.fail("%s: %s", r, where)
	}
}

// decode reads exactly one JSON value.
func decode(b []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something after the JSON")
	}
	return v, nil
}

// difference describes where two decoded values differ, and how; it is empty when they
// are equal.
func difference(at string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for k := range g {
			if _, ok := w[k]; !ok {
				return fmt.Sprintf("%s.%s is too many", at, k)
			}
		}
		for k, v := range w {
			if _, ok := g[k]; !ok {
				return fmt.Sprintf("%s.%s is missing", at, k)
			}
			if d := difference(at+"."+k, g[k], v); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(g), len(w)) {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); d != "" {
				return d
			}
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s has %d elements, want %d", at, len(g), len(w))
		}
		return ""
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("%s is %.80s, want %.80s", cmp.Or(at, "the answer"), encode(got), encode(want))
}

// encode writes a decoded value again, for errors.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// initialize resets the service.
func (c *checker) initialize() {
	r := call{method: http.MethodPost, path: "/initialize"}
	status, body := c.ask(r)
	var v struct{ Language string }
	if err := json.Unmarshal(body, &v); status != http.StatusOK || err != nil || v.Language == "" {
		c.fail("%s: status %d, language %q, %v; want 200 and a language", r, status, v.Language, err)
	}
	c.reset()
}

// initializeAgain finds that nothing is left of what was uploaded and bought.
func (c *checker) initializeAgain() {
	c.initialize()
	for _, x := range newChairs() {
		c.empty(get(fmt.Sprint("/api/chair/", x.ID)), http.StatusNotFound)
	}
	for _, x := range newEstates() {
		c.empty(get(fmt.Sprint("/api/estate/", x.ID)), http.StatusNotFound)
	}
	c.all()
	c.uploads() // the ids are free again
	c.initialize()
	c.all()
}

func at(id int) *int64 {
	v := int64(id)
	return &v
}
