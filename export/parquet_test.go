package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/peertest"
)

// tabled is a run with known figures.
func tabled() *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{Started: time.Date(2026, 11, 20, 5, 2, 0, 0, time.UTC)}}
	for i, route := range []string{"/fast", "/slow"} {
		e := kasoku.Endpoint{Host: "web", Method: "GET", Route: route, Seconds: map[int]kasoku.EndpointSecond{},
			BySecond: &histogram.BySecond{}}
		for second := range 10 {
			for k := range 100 {
				e.BySecond.Record(int64(second), time.Duration((k+1)*(1+9*i))*time.Millisecond)
			}
			e.Seconds[second] = kasoku.EndpointSecond{Count: 100 + uint64(i), Failed: uint64(2 * i)} // some without a time
		}
		e.BySecond.Pack()
		rec.Endpoints = append(rec.Endpoints, e)
	}
	rec.Endpoints = append(rec.Endpoints, kasoku.Endpoint{Host: "web", Method: "GET", Route: "/untimed",
		Seconds: map[int]kasoku.EndpointSecond{3: {Count: 7}}})
	q := kasoku.Query{Host: "db", ID: "ABCD", Fingerprint: "select ?", BySecond: &histogram.BySecond{}, Seconds: map[int]kasoku.QuerySecond{}}
	for second := range 10 {
		q.BySecond.Record(int64(second), time.Millisecond)
		q.BySecond.Record(int64(second), 3*time.Millisecond)
		q.Seconds[second] = kasoku.QuerySecond{Calls: 2, Total: time.Duration(second) * time.Second, Rows: 5}
	}
	q.BySecond.Pack()
	rec.Queries = []kasoku.Query{q}
	s := kasoku.Series{Key: kasoku.Key{Host: "db", Source: "host", Name: "cpu.user"}, Kind: kasoku.Gauge, Unit: "s/s"}
	for second := range 10 {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(second) * time.Second, Value: float64(second) / 10})
	}
	rec.Series = append(rec.Series, s)
	return rec
}

// queries are the SQL blocks of a page.
func queries(t *testing.T, page string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```sql\n")[1:] {
		sql, _, _ := strings.Cut(block, "```")
		out = append(out, sql)
	}
	return out
}

// TestParquet: the queries of the pages give, in DuckDB, the figures of the run.
func TestParquet(t *testing.T) {
	duckdb := peertest.Path(t, "duckdb")
	dir := t.TempDir()
	if err := Parquet(t.Context(), dir, tabled(), Rates, nil); err != nil {
		t.Fatal(err)
	}
	ask := func(sql string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), duckdb, "-csv", "-noheader", "-c", "SET TimeZone='UTC'", "-c", sql)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", sql, err, out)
		}
		return string(out)
	}
	want := []string{
		"/slow,1010,20\n/fast,1000,0\n/untimed,7,0\n",
		"/slow,1000,990.0\n/fast,1000,99.0\n",
		"2026-11-20 05:02:09+00,9.0,0.9\n2026-11-20 05:02:08+00,8.0,0.8\n",
	}
	for _, page := range []string{"../docs/export.md", "../docs/ja/export.md"} {
		all := queries(t, filepath.FromSlash(page))
		if len(all) != len(want) {
			t.Fatalf("%s has %d queries", page, len(all))
		}
		for i, sql := range all {
			if got := ask(sql); !strings.HasPrefix(got, want[i]) || i < 2 && got != want[i] {
				t.Errorf("%s: %s\ngives\n%s", page, sql, got)
			}
		}
	}
	if got := ask("SELECT sum(calls), sum(total_us), sum(rows_sent), count(*) FROM 'statements.parquet'"); got != "20,45000000.0,50,20\n" {
		t.Errorf("statements: %s", got)
	}
	if got := ask("SELECT sum(requests) FROM 'requests.parquet' WHERE duration_us IS NULL"); got != "17\n" {
		t.Errorf("without a request time: %s", got)
	}
}
