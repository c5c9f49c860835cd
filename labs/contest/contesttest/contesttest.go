// Package contesttest tests benchmarks: a service whose answers are spoiled has to be found out.
//
// The one idea: a [Spoil] is a text in answers and what stands there in its place, with the
// error that the benchmark has to report; [Run] runs it for each case.
package contesttest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
)

// A Spoil is something that is answered wrongly.
type Spoil struct {
	Path string // with which the path of requests ends, or that with its slash begins it
	Old  string // in their answers, becomes New
	New  string
	Want string // in the errors, as "code text"
}

// A Case is a service. Without spoils it has points, and no errors.
type Case struct {
	Name   string
	Spoils []Spoil
}

// Run runs a benchmark for each case, against a service that is spoiled. A run that is too short for its host is
// followed by one three times as long, twice.
func Run(t *testing.T, run func(context.Context, *contest.Options) (*scenario.Result, error), h http.Handler,
	d time.Duration, cases []Case,
) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			srv := httptest.NewServer(c.spoil(h))
			defer srv.Close()
			res, err := run(t.Context(), &contest.Options{Target: srv.URL, Duration: d, Seed: 1})
			for longer := 3 * d; err == nil && len(c.Spoils) == 0 && isTooShort(res) && longer <= 9*d; longer *= 3 {
				t.Logf("too short: %s", ListErrors(res))
				res, err = run(t.Context(), &contest.Options{Target: srv.URL, Duration: longer, Seed: 1})
			}
			if err != nil {
				t.Fatal(err)
			}
			got := WithoutTimeouts(res)
			if len(c.Spoils) == 0 && (got != "" || !res.Pass || res.Points == 0) {
				t.Errorf("pass %t, score %d, %s", res.Pass, res.Score, got)
			}
			for _, s := range c.Spoils {
				if !strings.Contains(got, s.Want) {
					t.Errorf("pass %t, score %d, %s; want %q", res.Pass, res.Score, got, s.Want)
				}
			}
		})
	}
}

// isTooShort reports whether a run brought no points and has nothing to say of answers: on a busy host no one came as
// far as that. A service that does not work brings none either, however long it is.
func isTooShort(res *scenario.Result) bool {
	return res.Points == 0 && !slices.ContainsFunc(res.Errors, func(e scenario.CodeErrors) bool {
		return e.Code != scenario.Timeout && e.Code != scenario.Critical
	})
}

func (c *Case) spoil(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		for _, s := range c.Spoils {
			if strings.HasSuffix(r.URL.Path, s.Path) || strings.HasSuffix(s.Path, "/") && strings.HasPrefix(r.URL.Path, s.Path) {
				body = bytes.ReplaceAll(body, []byte(s.Old), []byte(s.New))
			}
		}
		for name, values := range rec.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(rec.Code)
		w.Write(body) //nolint:errcheck // as a service
	})
}
