package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

// began is when the runs of these tests began.
var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	seconds = 40
	token   = "0123456789abcdef"
)

// hostile is what strangers put into logs.
const hostile = `/<img src=x onerror="document.title='owned'">/</script><script>document.title='owned'</script>`

// newRun is a run of 40 s with so many routes, each with a statement of its own. In the first half /r0 takes 10 ms,
// in the second 100 ms.
func newRun(name string, routes int, perSecond uint64) *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{ID: name, Project: "shop", Label: name, Started: began,
		Length: seconds * time.Second, State: kasoku.Finished, Load: "GET /r0, open loop", Note: "as shipped",
		Hosts: []kasoku.Host{{Name: "web", Cores: 2, MemoryBytes: 1 << 32}}}}
	for r := range routes {
		e := kasoku.Endpoint{Host: "web", Method: "GET", Route: fmt.Sprintf("/r%d", r), Codes: map[int]uint64{200: 0},
			Latency: histogram.New(), Seconds: map[int]kasoku.EndpointSecond{}, BySecond: &histogram.BySecond{}}
		q := kasoku.Query{Host: "web", ID: fmt.Sprintf("%032X", r+1), Verb: "SELECT",
			Tables:      []string{fmt.Sprintf("t%d", r)},
			Fingerprint: fmt.Sprintf("select * from t%d where id = ?", r), Latency: histogram.New(),
			Seconds: map[int]kasoku.QuerySecond{}, BySecond: &histogram.BySecond{}}
		for s := range seconds {
			took := 10 * time.Millisecond
			if r == 0 && s >= seconds/2 {
				took *= 10
			}
			for range perSecond {
				e.Latency.Record(took)
				e.BySecond.Record(int64(s), took)
				q.Latency.Record(took / 2)
				q.BySecond.Record(int64(s), took/2)
			}
			e.Seconds[s] = kasoku.EndpointSecond{Count: perSecond}
			q.Seconds[s] = kasoku.QuerySecond{Calls: perSecond, Total: time.Duration(perSecond) * took / 2}
			e.Count, e.Total = e.Count+perSecond, e.Total+time.Duration(perSecond)*took
			q.Calls, q.Total = q.Calls+perSecond, q.Total+time.Duration(perSecond)*took/2
		}
		e.Codes[200] = e.Count
		rec.Endpoints = append(rec.Endpoints, e)
		rec.Queries = append(rec.Queries, q)
		rec.Callers = append(rec.Callers, kasoku.Caller{Host: "web", QueryID: q.ID, Method: "GET", Route: e.Route,
			Class: kasoku.CallerConfirmed, Source: kasoku.FromComments, PerRequest: 1, Requests: e.Count,
			Calls: float64(q.Calls), Share: 1})
	}
	cpu := kasoku.Series{Key: kasoku.Key{Host: "web", Source: "host", Name: "cpu.user", Instance: "cpu0"},
		Kind: kasoku.Counter, Unit: "s"}
	for s := range seconds + 1 {
		cpu.Points = append(cpu.Points, kasoku.Point{At: time.Duration(s) * time.Second, Value: float64(s) / 2})
	}
	rec.Series = append(rec.Series, cpu)
	for s := range seconds {
		l := kasoku.LoadSecond{Second: s, Step: 1, Target: "GET /r0", Asked: perSecond,
			Codes: map[int]uint64{200: perSecond}, Latency: histogram.New(), SendDelay: histogram.New(),
			Service: histogram.New()}
		for range perSecond {
			l.Latency.Record(10 * time.Millisecond)
		}
		rec.Seconds = append(rec.Seconds, l)
	}
	rec.Steps = []kasoku.Step{{Number: 1, PerSec: float64(perSecond), Planned: seconds * time.Second,
		Interval: kasoku.Interval{To: seconds * time.Second}}}
	rec.Diagnosis = &kasoku.Diagnosis{Rules: 1, Findings: []kasoku.Finding{{ID: "IDX-01",
		Object: kasoku.Object{Kind: "table", Name: "t0"}, Title: "t0 is read without an index",
		Severity: kasoku.Problem, Cause: "No index helps.", Interval: kasoku.Interval{To: seconds * time.Second},
		Evidence: []kasoku.Evidence{{Source: "slow.log", Text: "select * from t0 where id = ?"}},
		Fixes: []kasoku.Fix{{Text: "Add it.", Where: "the database", Code: "ALTER TABLE t0 ADD INDEX (id);",
			Lang: "sql"}}}}}
	return rec
}

// newHostileRun is one whose texts are all from strangers.
func newHostileRun() *kasoku.Recording {
	rec := newRun("hostile", 2, 3)
	for i := range rec.Endpoints {
		rec.Endpoints[i].Route = fmt.Sprintf("%s%d", hostile, i)
		rec.Callers[i].Route = rec.Endpoints[i].Route
		rec.Queries[i].Fingerprint = "select '" + hostile + "\u202e\u200b\x1b[31m'"
	}
	rec.Run.Note, rec.Run.Project, rec.Run.Hosts[0].Name = hostile, hostile, hostile
	rec.Diagnosis.Findings[0].Title = hostile
	rec.Diagnosis.Findings[0].Fixes[0].Code = hostile
	rec.Messages = []kasoku.Message{{Host: hostile, Pattern: hostile, Sample: "javascript:" + hostile, Count: 9,
		Seconds: map[int]uint64{3: 9}}}
	return rec
}

// write keeps runs in a new directory, by the names of their labels.
func write(t testing.TB, runs ...*kasoku.Recording) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, rec := range runs {
		if err := store.Write(filepath.Join(dir, rec.Run.ID+store.Extension), rec); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options(dir string) serve.Options {
	return serve.Options{
		Dirs: []string{dir}, Now: time.Now, Access: localhttp.Access{Token: token, Cookie: "kasoku"}, Open: store.Open,
		Report: func(path string) report.Options { return report.Options{File: path, Location: time.UTC} },
		Complete: func(rec *kasoku.Recording) {
			if rec.Summary == nil {
				rec.Summary = diagnose.Summarise(rec)
			}
		},
	}
}

// serving is a server on a loopback port.
func serving(t testing.TB, o serve.Options) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve.New(o).Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// get asks a handler as who has the token.
func get(t testing.TB, h http.Handler, target string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "127.0.0.1:9797"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(b)
}

func handler(o serve.Options) http.Handler {
	return serve.New(o).Handler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9797})
}

// section is what stands in a section of a page.
func section(t testing.TB, page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<section aria-labelledby="`+id+`">`)
	if !ok {
		t.Fatalf("no section %s in %s", id, page)
	}
	text, _, _ := strings.Cut(rest, "</section>")
	return text
}
