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

// Run runs a benchmark for each case, against a service that is spoiled.
func Run(t *testing.T, run func(context.Context, *contest.Options) (*scenario.Result, error), h http.Handler,
	d time.Duration, cases []Case,
) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			srv := httptest.NewServer(c.spoil(h))
			defer srv.Close()
			res, err := run(t.Context(), &contest.Options{Target: srv.URL, Duration: d, Seed: 1})
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
