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
	"github.com/kasoku/kasoku/labs/isuumo/model"
)

// maxErrors is how many errors are kept: the first ones say most.
const maxErrors = 40

// Check returns all that a service at a URL such as http://127.0.0.1:1323 answers
// otherwise than it should. The data is what its /initialize leaves.
func Check(ctx context.Context, url string, d *isuumo.Data) []error {
	c := &checker{
		ctx: ctx, url: url, data: d, rng: rand.New(rand.NewPCG(10, 2020)),
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	defer c.client.CloseIdleConnections()
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
		c.step = step.name
		step.run()
		if ctx.Err() != nil || c.unreachable {
			break
		}
	}
	return c.errs
}

// A checker asks one service.
type checker struct {
	ctx         context.Context
	url         string
	data        *isuumo.Data
	client      *http.Client
	rng         *rand.Rand
	step        string
	errs        []error
	unreachable bool

	// What the service must hold now. The rows are the checker's own.
	chairs  []*isuumo.Chair
	estates []*isuumo.Estate
}

func (c *checker) fail(format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", c.step, fmt.Errorf(format, args...)))
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
func (c *checker) do(r call) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(c.ctx, r.method, c.url+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func (c *checker) ask(r call) (status int, body []byte) {
	status, body, err := c.do(r)
	if err != nil {
		c.fail("%s: %w", r, err)
		c.unreachable = true
	}
	return status, body
}

// empty demands a status and an empty body.
func (c *checker) empty(r call, want int) {
	status, body := c.ask(r)
	if status != want || len(body) > 0 {
		c.fail("%s: status %d with %d bytes, want %d with none", r, status, len(body), want)
	}
}

// answers demands 200 and the JSON of a value, key by key.
func (c *checker) answers(r call, want any) {
	status, body := c.ask(r)
	if status != http.StatusOK {
		c.fail("%s: status %d, want 200", r, status)
		return
	}
	text, err := json.Marshal(want)
	if err != nil {
		c.fail("%s: %w", r, err)
		return
	}
	if bytes.Equal(bytes.TrimSpace(body), text) {
		return // most services write keys in the same order
	}
	got, err := decode(body)
	if err != nil {
		c.fail("%s: %w in %.80q", r, err, body)
		return
	}
	wanted, err := decode(text)
	if err != nil {
		c.fail("%s: %w", r, err)
		return
	}
	if where := difference("", got, wanted); where != "" {
		c.fail("%s: %s", r, where)
	}
}

// decode reads exactly one JSON value.
func decode(b []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something behind the JSON")
	}
	return v, nil
}

// difference says where two decoded values differ, and how; it is empty when they
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
	c.chairs, c.estates = nil, nil
	for _, chair := range c.data.Chairs {
		c.chairs = append(c.chairs, &chair)
	}
	for _, estate := range c.data.Estates {
		c.estates = append(c.estates, &estate)
	}
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

// all compares the lists that show most of what the service holds.
func (c *checker) all() {
	c.lowPriced()
	all := int64(len(c.data.Chairs) + len(c.data.Estates) + 100)
	for id := range c.data.ChairCondition.Price.Ranges {
		c.chairSearch(&model.ChairQuery{Price: at(id), PerPage: all})
	}
	for id := range c.data.EstateCondition.Rent.Ranges {
		c.estateSearch(&model.EstateQuery{Rent: at(id), PerPage: all})
	}
}

func at(id int) *int64 {
	v := int64(id)
	return &v
}

// inStock returns the n-th chair of the data that is in stock.
func (c *checker) inStock(n int) *isuumo.Chair {
	for _, x := range c.chairs {
		if x.Stock > 0 {
			if n == 0 {
				return x
			}
			n--
		}
	}
	return c.chairs[0]
}
