package isutrain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/labs/isutrain/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// sometimes answers 503 while down.
func sometimes(h http.Handler, down *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// An exchange is a request and its answer, either of which a fault may spoil.
type exchange struct {
	slot   *slot
	r      *http.Request
	sent   []byte
	pass   http.Handler
	status int // 0: it has not been passed on
	header http.Header
	body   []byte
	v      any // the body as JSON
	n      int // of the exchanges that the fault is about, from 1
}

// do passes the request on.
func (x *exchange) do() {
	x.r.Body = io.NopCloser(bytes.NewReader(x.sent))
	w := httptest.NewRecorder()
	x.pass.ServeHTTP(w, x.r)
	x.status, x.header, x.body, x.v = w.Code, w.Header(), w.Body.Bytes(), nil
	_ = json.Unmarshal(x.body, &x.v) // some are no JSON
}

// object and list return the answer's JSON, nil of a bad answer.
func (x *exchange) object() map[string]any { m, _ := x.v.(map[string]any); return m }
func (x *exchange) list() []any            { l, _ := x.v.([]any); return l }

// set makes a value the answer.
func (x *exchange) set(v any) { x.v = v; x.body, _ = json.Marshal(v) }

// A fault is something that a service does wrong.
type fault struct {
	name, want string // want is a regular expression of what the benchmark has to say
	method, at string // requests whose path holds it; "payment" stands for those at the payment service
	most       int    // so many of them are spoiled; 0: all
	before     func(x *exchange)
	after      func(x *exchange)
}

// A slot is a service that one benchmark at a time loads.
type slot struct {
	desk *desk

	mu    sync.Mutex
	fault *fault
	met   int
	kept  any // of a fault's own
}

// through spoils what the fault is about.
func (s *slot) through(h http.Handler, payment bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		x := &exchange{slot: s, r: r, sent: sent, pass: h}
		s.mu.Lock()
		f := s.fault
		hit := f != nil && f.method == r.Method && (strings.HasPrefix(f.at, "payment") == payment) &&
			strings.Contains(r.URL.Path, strings.TrimPrefix(f.at, "payment")) && (f.most == 0 || s.met < f.most)
		if hit {
			s.met++
		}
		x.n = s.met
		s.mu.Unlock()
		if hit && f.before != nil {
			f.before(x)
		}
		if x.status == 0 {
			x.do()
		}
		if !payment && r.URL.Path == "/initialize" && x.object() != nil {
			x.object()["available_days"] = fewDays // so many have rows
			x.set(x.v)
		}
		if hit && f.after != nil && x.status == http.StatusOK {
			f.after(x)
		}
		for name, values := range x.header {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(x.status)
		w.Write(x.body)
	})
}

func newSlot(t *testing.T, dsn func(pay http.Handler) *desk) *slot {
	s := &slot{}
	l := &ledger{}
	s.desk = dsn(s.through(l.routes(), true))
	s.desk.ledger = l
	return s
}

// run runs the benchmark once with a fault, nil for none.
func (s *slot) run(t *testing.T, f *fault, d time.Duration) *scenario.Result {
	s.mu.Lock()
	s.fault, s.met, s.kept = f, 0, nil
	s.mu.Unlock()
	srv := httptest.NewServer(s.through(s.desk.h, false))
	defer srv.Close()
	res, err := bench.Run(t.Context(), &contest.Options{Target: srv.URL, Duration: d, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestScore: the benchmark says nothing of a service that answers well, tuned or not, and
// names each fault of one that does not.
func TestScore(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server, and runs the benchmark many times")
	}
	const atOnce = 5
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	slots := make(chan *slot, atOnce)
	for i := range atOnce {
		slots <- newSlot(t, func(pay http.Handler) *desk {
			return newDesk(t, server, fmt.Sprintf("isutrain%d", i), kit.Set{}, fewDays, pay)
		})
	}
	var runs sync.WaitGroup
	for _, f := range faults() {
		if !turn.Takes(f.name) {
			continue
		}
		s := <-slots
		runs.Go(func() {
			defer func() { slots <- s }()
			said := ""
			for d := 2 * time.Second; d <= 18*time.Second; d *= 3 {
				res := s.run(t, &f, d)
				if said = listErrors(res); regexp.MustCompile(f.want).MatchString(said) {
					return
				}
				said = fmt.Sprintf("in %s it met %d requests: pass %t, score %d: %s", d, s.met, res.Pass, res.Score,
					said)
			}
			t.Errorf("%s: %.900s; want %s", f.name, said, f.want)
		})
	}
	runs.Wait()
	s := <-slots
	if res := s.run(t, nil, 3*time.Second); !res.Pass || res.Points == 0 || withoutTimeouts(res) != "" {
		t.Errorf("a good service: pass %t, score %d, %s", res.Pass, res.Score, listErrors(res))
	}
}

// TestScore_Initial: the service as it was shipped passes.
func TestScore_Initial(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	s := newSlot(t, func(pay http.Handler) *desk { return newDesk(t, server, "isutrain", Lab().All(), fewDays, pay) })
	if res := s.run(t, nil, 3*time.Second); !res.Pass || res.Points == 0 || withoutTimeouts(res) != "" {
		t.Errorf("pass %t, score %d, %s", res.Pass, res.Score, listErrors(res))
	}
}

func listErrors(res *scenario.Result) string {
	var out []string
	for _, e := range res.Errors {
		out = append(out, fmt.Sprintf("%s %s", e.Code, strings.Join(e.Samples, "; ")))
	}
	return strings.Join(out, "\n")
}

// withoutTimeouts are errors that a busy host is not to blame for.
func withoutTimeouts(res *scenario.Result) string {
	var out []string
	for _, e := range res.Errors {
		if e.Code != scenario.Timeout {
			out = append(out, fmt.Sprintf("%s %s", e.Code, strings.Join(e.Samples, "; ")))
		}
	}
	return strings.Join(out, "\n")
}
