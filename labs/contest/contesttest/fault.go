package contesttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
)

// A Fault is something that a service does wrong.
type Fault struct {
	Name   string
	Want   string        // a regular expression of what the benchmark has to say, "code text"
	Side   string        // of which service of the lab the requests are that it spoils; empty: the one that is loaded
	Method string        // of them
	At     string        // their paths hold it
	Most   int           // so many of them are spoiled; 0: all
	Lasts  time.Duration // of the first run in which it may be found; 0: as the test has it
	Before func(x *Exchange)
	After  func(x *Exchange) // when it was answered with 200
}

// CheckNames fails a test whose faults are fewer than 40, have the same name, or nothing to be said of them.
func CheckNames(t *testing.T, faults []Fault) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range faults {
		if seen[f.Name] || f.Want == "" {
			t.Errorf("%q comes twice, or has nothing to be said of it", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) < 40 {
		t.Errorf("%d faults, want 40 or more", len(seen))
	}
}

// An Exchange is a request and its answer, either of which a fault may spoil.
type Exchange struct {
	Slot    *Slot
	Request *http.Request
	Sent    []byte
	Status  int // 0: it has not been passed on
	Header  http.Header
	Body    []byte
	V       any // the body as JSON
	N       int // of the exchanges that the fault is about, from 1

	Keep *Kept // of the fault, from one exchange to the next

	pass http.Handler
}

// Kept is what a fault remembers.
type Kept struct {
	sync.Mutex
	Body []byte
	At   time.Time
}

// Do passes the request on.
func (x *Exchange) Do() {
	x.Request.Body = io.NopCloser(bytes.NewReader(x.Sent))
	w := httptest.NewRecorder()
	x.pass.ServeHTTP(w, x.Request)
	x.Status, x.Header, x.Body, x.V = w.Code, w.Header(), w.Body.Bytes(), nil
	_ = json.Unmarshal(x.Body, &x.V) // some are no JSON
}

// Object returns the answer's JSON object, nil of something else.
func (x *Exchange) Object() map[string]any { m, _ := x.V.(map[string]any); return m }

// List returns the answer's JSON array, nil of something else.
func (x *Exchange) List() []any { l, _ := x.V.([]any); return l }

// Set makes a value the answer.
func (x *Exchange) Set(v any) { x.V = v; x.Body, _ = json.Marshal(v) }

// Resend makes a value the request.
func (x *Exchange) Resend(v any) { x.Sent, _ = json.Marshal(v) }

// Answered answers without the service.
func Answered(status int, body string) func(x *Exchange) {
	return func(x *Exchange) { x.Status, x.Body = status, []byte(body) }
}

// Field changes an object that is answered.
func Field(change func(o map[string]any)) func(x *Exchange) {
	return func(x *Exchange) {
		if o := x.Object(); o != nil {
			change(o)
			x.Set(o)
		}
	}
}

// Edit changes a list that is answered, of two or more.
func Edit(change func(l []any) []any) func(x *Exchange) {
	return func(x *Exchange) {
		if l := x.List(); len(l) > 1 {
			x.Set(change(l))
		}
	}
}

// First changes the first object of a list, however long it is.
func First(change func(o map[string]any)) func(x *Exchange) {
	return func(x *Exchange) {
		if l := x.List(); len(l) > 0 {
			change(l[0].(map[string]any))
			x.Set(l)
		}
	}
}

// A Slot is a service that one benchmark at a time loads.
type Slot struct {
	Service http.Handler
	Always  func(x *Exchange) // is done to each answer of the service; may be nil
	Of      any               // what the lab's faults know of it; may be nil

	mu    sync.Mutex
	fault *Fault
	met   int
	kept  *Kept
}

// Through returns a service of the lab as the fault makes it: side is empty for the one that is loaded.
func (s *Slot) Through(side string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.through(side, h, w, r) })
}

func (s *Slot) through(side string, h http.Handler, w http.ResponseWriter, r *http.Request) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	x := &Exchange{Slot: s, Request: r, Sent: sent, pass: h}
	s.mu.Lock()
	f := s.fault
	hit := f != nil && f.Side == side && f.Method == r.Method && strings.Contains(r.URL.Path, f.At) &&
		(f.Most == 0 || s.met < f.Most)
	if hit {
		s.met++
	}
	x.N, x.Keep = s.met, s.kept
	s.mu.Unlock()
	if hit && f.Before != nil {
		f.Before(x)
	}
	if x.Status == 0 {
		x.Do()
	}
	if side == "" && s.Always != nil {
		s.Always(x)
	}
	if hit && f.After != nil && x.Status == http.StatusOK {
		f.After(x)
	}
	for name, values := range x.Header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(x.Status)
	_, _ = w.Write(x.Body) // the client is gone
}

// Run runs a benchmark once with a fault, nil for none, and returns how many requests it met.
func (s *Slot) Run(t *testing.T, run func(context.Context, *contest.Options) (*scenario.Result, error), f *Fault,
	d time.Duration,
) (res *scenario.Result, met int) {
	t.Helper()
	s.mu.Lock()
	s.fault, s.met, s.kept = f, 0, &Kept{}
	s.mu.Unlock()
	srv := httptest.NewServer(s.Through("", s.Service))
	defer srv.Close()
	res, err := run(t.Context(), &contest.Options{Target: srv.URL, Duration: d, Seed: 1})
	if err != nil {
		t.Error(err)
		return &scenario.Result{}, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return res, s.met
}

// Find has a benchmark look for a fault in longer and longer runs, from one to another, or the fault's own
// to three times that. What it did not find is an error.
func (s *Slot) Find(t *testing.T, run func(context.Context, *contest.Options) (*scenario.Result, error), f *Fault,
	from, to time.Duration,
) {
	t.Helper()
	said := ""
	if f.Lasts > 0 {
		from, to = f.Lasts, 3*f.Lasts
	}
	for d := from; d <= to; d *= 3 {
		res, met := s.Run(t, run, f, d)
		if said = ListErrors(res); regexp.MustCompile(f.Want).MatchString(said) {
			return
		}
		said = fmt.Sprintf("in %s it met %d requests: pass %t, score %d: %s", d, met, res.Pass, res.Score, said)
	}
	t.Errorf("%s: %.900s; want %s", f.Name, said, f.Want)
}

// ListErrors lists what a benchmark says, "code text" a line.
func ListErrors(res *scenario.Result) string { return listErrors(res, "") }

// WithoutTimeouts lists the errors that a busy host is not to blame for.
func WithoutTimeouts(res *scenario.Result) string { return listErrors(res, scenario.Timeout) }

func listErrors(res *scenario.Result, but scenario.Code) string {
	var out []string
	for _, e := range res.Errors {
		if e.Code != but {
			out = append(out, fmt.Sprintf("%s %s", e.Code, strings.Join(e.Samples, "; ")))
		}
	}
	return strings.Join(out, "\n")
}
