package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestQuoteBenchmark: a finding about an endpoint quotes what the benchmark said of it, and
// of no other.
func TestQuoteBenchmark(t *testing.T) {
	said := func(text string, count uint64) kasoku.Message {
		return kasoku.Message{Kind: kasoku.MessageBenchmark, Level: "error", Pattern: text, Sample: text,
			Count: count}
	}
	timed := said("POST /api/estate/nazotte: タイムアウトしました", 34)
	timed.First, timed.Last, timed.Seconds = 3*time.Second, 5*time.Second, map[int]uint64{3: 30, 5: 4}
	rec := &kasoku.Recording{
		Run: kasoku.Run{Length: 10 * time.Second},
		Endpoints: []kasoku.Endpoint{{Method: "POST", Route: "/api/estate/nazotte", Count: 50}, {Method: "GET",
			Route: "/api/chair/:id", Count: 90},
			{Method: "GET", Route: "/api/chair/:id/x", Count: 9}},
		Messages: []kasoku.Message{timed, said("timeout (GET /api/chair/12)", 2), said("either and/or: failed", 9),
			said("Get /api/chair/3/x : EOF", 1),
			{Kind: kasoku.MessageApp, Level: "error", Sample: "GET /api/chair/12: failed", Count: 70}},
	}
	about := func(name string) func(*kasoku.Finding) {
		return func(f *kasoku.Finding) { f.Object = kasoku.Object{Kind: "endpoint", Name: name} }
	}
	inCause := func(f *kasoku.Finding) { f.Cause = "It runs 20 times per GET /api/chair/:id: much." }
	remark := func(f *kasoku.Finding) { inCause(f); f.Severity = kasoku.Info }
	f := func(change func(*kasoku.Finding), want string) {
		t.Helper()
		var got []string
		for _, e := range Diagnose(NewCase(rec, nil), []Rule{finding("A", 0.5, change)}).Findings[0].Evidence[1:] {
			got = append(got, e.Source+" "+e.Text+" "+e.Value+" "+e.Note)
		}
		if s := strings.Join(got, "\n"); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	f(about("POST /api/estate/nazotte"), "benchmark POST /api/estate/nazotte: タイムアウトしました × 34 first 3 s")
	f(inCause, "benchmark timeout (GET /api/chair/12) × 2 in its result")
	f(about("GET /api/chair/:id/x"), "benchmark Get /api/chair/3/x : EOF × 1 in its result")
	f(about("GET /api/estate/nazotte"), "")
	f(remark, "")
	f(nil, "")
	if v := Diagnose(NewCase(rec, nil), nil).Verdict; !strings.Contains(v,
		"complained most of POST /api/estate/nazotte (34 times)") {
		t.Errorf("verdict %q", v)
	}
}
