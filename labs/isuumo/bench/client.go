package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/rowjson"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// The ends of the names of requests that are not those of people who want an answer:
// of what crawlers ask for, which the service may turn away, and of what it has to
// refuse.
const (
	crawlerSuffix = " (bot)"
	refusedSuffix = " (refused)"
)

// OfPeople reports whether the requests of a step are those that the service has to
// answer well and in time. Errors of the others are no failures of the service.
func OfPeople(step string) bool {
	return !strings.HasSuffix(step, crawlerSuffix) && !strings.HasSuffix(step, refusedSuffix)
}

// A client is one user with his browser. It may ask for several things at once.
//
// What it asks for is checked as far as [Options.Compat] leaves it to: every answer
// by the model with time, or else only that it can be read.
type client struct {
	*run
	agent  *agent.Agent
	suffix string // of the names of steps
	how    reading
	// verifies says that the answers are compared with all that is known also with
	// Options.Compat.
	verifies bool
}

type clientOptions struct {
	userAgent string
	suffix    string
	timeout   time.Duration
	conns     int // 0: a browser's
}

func (r *run) newClient(step *scenario.Step, o clientOptions) (*client, error) {
	a, err := agent.New(agent.Options{
		BaseURL: r.o.Target, UserAgent: o.userAgent, Timeout: o.timeout, MaxConns: o.conns,
		NoCookies: true, NoCache: true, Permit: r.o.Permit, Record: r.recordTo(step),
	})
	if err != nil {
		return nil, scenario.Fail(scenario.Internal, err)
	}
	return &client{run: r, agent: a, suffix: o.suffix, how: reading{lax: r.o.Compat}}, nil
}

// A question is a request and what messages call it.
type question struct {
	step   string // "GET /api/chair/:id"
	method string // empty: GET
	path   string
	kind   string // content type of the body
	body   []byte
	about  string // what to say in messages; empty: the path

	counted bool // the answer is a list with a count
}

func (q *question) String() string {
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	if q.about != "" {
		return method + " " + q.about
	}
	if path, err := url.QueryUnescape(q.path); err == nil {
		return method + " " + path
	}
	return method + " " + q.path
}

// wrong returns an error of the application about the answer to the question; nil
// for nil.
func (q *question) wrong(err error) error {
	if err == nil {
		return nil
	}
	return scenario.Errorf(scenario.Application, "%s: %w", q, err)
}

// A statusError is an answer with another status than the one that was expected.
type statusError struct {
	got, want int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d, expected %d", e.got, e.want)
}

// status returns the status of an unexpected answer, 0 when the error is another one.
func status(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.got
	}
	return 0
}

// ask sends a question and returns the answer when it has the status that is
// expected. Otherwise the error is a [statusError], of the code Temporary for 503.
func (c *client) ask(ctx context.Context, q *question, want int) (*agent.Response, error) {
	res, err := c.agent.Do(ctx, &agent.Request{
		Step: q.step + c.suffix, Method: q.method, Path: q.path, ContentType: q.kind, Body: q.body,
	})
	switch {
	case err != nil:
		return nil, err
	case res.Status == want:
		return res, nil
	}
	err = q.wrong(&statusError{res.Status, want})
	if res.Status >= http.StatusInternalServerError { // it is not about this row or that search
		err = scenario.Errorf(scenario.Application, "%s: %w", q.step, &statusError{res.Status, want})
	}
	if res.Status == http.StatusServiceUnavailable {
		err = scenario.Fail(scenario.Temporary, err)
	}
	res.Release()
	return nil, err
}

// A list is an answer with rows.
type list struct {
	truth.Page            // Count is -1 where the API has none
	span       truth.Span // of the request
	wrong      error      // about a row's fields; only with [Options.Compat]
}

// lists holds lists for reuse.
var lists = sync.Pool{New: func() any { return new(rowjson.List) }}

// read turns an answer with rows into a list. Strictly, any row that is not as it has
// to be is an error.
func read[T comparable](c *client, s *shelf[T], body []byte, counted bool) (*list, error) {
	raw := lists.Get().(*rowjson.List)
	defer lists.Put(raw)
	err := raw.Split(body, s.list, counted)
	if err != nil && c.o.Compat {
		err = readLax(raw, body, s.list)
	}
	if err != nil {
		return nil, err
	}
	out := &list{Page: truth.Page{Count: raw.Count, Rows: make([]int32, len(raw.Rows))}}
	for i, row := range raw.Rows {
		rank, wrong, err := s.rank(row, c.how)
		switch {
		case err != nil:
			return nil, err
		case wrong != nil && !c.o.Compat:
			return nil, wrong
		case out.wrong == nil:
			out.wrong = wrong
		}
		out.Rows[i] = rank
	}
	return out, nil
}

// readLax reads an answer as encoding/json does: other keys are ignored, missing ones
// are zero.
func readLax(into *rowjson.List, body []byte, name string) error {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	into.Count, into.Rows = 0, into.Rows[:0]
	if raw, ok := answer["count"]; ok {
		if err := json.Unmarshal(raw, &into.Count); err != nil {
			return err
		}
	}
	var rows []json.RawMessage
	if raw, ok := answer[name]; ok {
		if err := json.Unmarshal(raw, &rows); err != nil {
			return err
		}
	}
	for _, row := range rows {
		into.Rows = append(into.Rows, row)
	}
	return nil
}

// both does two things at once, and returns what went wrong with the first or the
// second.
func both(first, second func() error) error {
	var other error
	var wg sync.WaitGroup
	wg.Go(func() { other = second() })
	if err := first(); err != nil {
		wg.Wait()
		return err
	}
	wg.Wait()
	return other
}
