package recording

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestEndpoints_Variants: an endpoint says what it was put together from, and which of its sets of
// query keys is the dear one; one that has one path and one set says nothing.
func TestEndpoints_Variants(t *testing.T) {
	endpoint := func(route string, n uint64, total time.Duration) kasoku.Endpoint {
		return kasoku.Endpoint{Host: "web", Method: "GET", Route: route, Count: n, Total: total, Latency: histogram.New()}
	}
	rec := &kasoku.Recording{Endpoints: []kasoku.Endpoint{endpoint("/search", 110, 8*time.Second), endpoint("/user/:name", 300, 2*time.Second),
		endpoint("/top", 5, 0)}}
	for _, v := range []kasoku.Variants{
		{Method: "GET", Route: "/search", Paths: 1, Sets: []kasoku.QueryKeys{
			{Keys: "page&q", Requests: 10, Time: 7 * time.Second}, {Requests: 98, Time: time.Second}, {Keys: kasoku.OtherKeys, Requests: 2}}},
		{Method: "GET", Route: "/user/:name", Paths: 312, Sets: []kasoku.QueryKeys{{Requests: 300, Time: 2 * time.Second}}},
	} {
		rec.Settings = append(rec.Settings, v.Setting("web"))
	}
	rec.Settings = append(rec.Settings, kasoku.Setting{Host: "web", Scope: kasoku.VariantScope, Name: "GET /top", Value: "2 paths; x"},
		kasoku.Setting{Host: "web", Scope: kasoku.VariantScope, Name: "GET /top", Value: "9 paths; 1 requests, 99999999999999999 us ?a"})
	s := EndpointsSection(recorded.View{Recording: rec})
	if len(s.Blocks) != 2 {
		t.Fatalf("%+v", s.Blocks)
	}
	all, variants := s.Blocks[0].(*report.Table), s.Blocks[1].(*report.Table)
	for i, want := range []string{"", "(about 312 paths)", ""} {
		if got := all.Rows[i].Cells[0].Small; got != want {
			t.Errorf("%s: %q, want %q", all.Rows[i].Cells[0].Text, got, want)
		}
	}
	want := [][5]string{{"GET /search", "?page&q", "10", "70.0", "700"}, {"GET /search", "no query", "98", "10.0", "10.2"}, {"GET /search", "other keys", "2", "0", "0"}}
	if len(variants.Rows) != len(want) {
		t.Fatalf("%+v", variants.Rows)
	}
	for i, cells := range want {
		for k, text := range cells {
			if got := variants.Rows[i].Cells[k].Text; got != text {
				t.Errorf("row %d, %s: %q, want %q", i, variants.Columns[k].Key, got, text)
			}
		}
	}
}

// TestEndpoints_NoTimes: a log without request times has no shares and no means, not those of 0.
func TestEndpoints_NoTimes(t *testing.T) {
	v := kasoku.Variants{Method: "GET", Route: "/search", Paths: 1, Sets: []kasoku.QueryKeys{{Keys: "q", Requests: 10}, {Requests: 98}}}
	rec := &kasoku.Recording{Endpoints: []kasoku.Endpoint{{Host: "web", Method: "GET", Route: "/search", Count: 108, Latency: histogram.New()}},
		Settings: []kasoku.Setting{v.Setting("web")}}
	s := EndpointsSection(recorded.View{Recording: rec})
	for i, first := range []int{5, 3} {
		row := s.Blocks[i].(*report.Table).Rows[0]
		for _, c := range row.Cells[first : first+2] {
			if c.Text != "–" {
				t.Errorf("table %d: %q of %+v", i, c.Text, row.Cells)
			}
		}
	}
}
