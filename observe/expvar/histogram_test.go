package expvar

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
)

func TestHistogramOf(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if h, ok := histogramOf("/sched/latencies:seconds", o); ok {
			got = fmt.Sprint(h.counts, " ", h.edges, " ", h.unit)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	same := "[0 3 1] [-Inf 0 0.5 +Inf] s"
	f(`{"Counts":[0,3,1],"Buckets":[null,0,0.5,null]}`, same)
	f(`{"counts":[0,3,1],"buckets":["-Inf",0,0.5,"+Inf"]}`, same)
	f(`{"counts":[0,3,1],"buckets":["-infinity",0,0.5,"inf"]}`, same)
	f(`{"Counts":[0,3,1],"Buckets":[-1.7976931348623157e308,0,0.5,1.7976931348623157e308]}`, same)
	f(`{"Counts":[0,3,1],"Buckets":[0,0.5]}`, same)
	f(`{"Counts":[0,3],"Buckets":[1,8,16]}`, "[0 3] [1 8 16] s")
	for _, bad := range []string{
		`{}`, `{"Counts":[],"Buckets":[1]}`, `{"Counts":[1,2],"Buckets":[1,2]}`, `{"Counts":[1,2],"Buckets":[1,null,3]}`,
		`{"Counts":[1,2],"Buckets":[1,3,2]}`, `{"Counts":[1,2],"Buckets":[1,1,2]}`, `{"Counts":[1,-2],"Buckets":[1,2,3]}`, `{"Counts":[1,"2"],"Buckets":[1,2,3]}`,
		`{"Counts":[1],"Buckets":["0","1"]}`, `{"Counts":[1],"Buckets":[true,1]}`, `{"Counts":7,"Buckets":[1,2]}`,
		`{"Counts":[` + strings.Repeat("0,", mostBuckets) + `0],"Buckets":[1]}`,
	} {
		f(bad, "none")
	}
}

// TestQuantile: what a histogram says of values is at least what a sorted list of them
// says, and no more than the edge above it.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := histogram{edges: []float64{math.Inf(-1), 0, 1, 2, 4, 8, math.Inf(1)}, counts: make([]float64, 6)}
		values := rapid.SliceOfN(rapid.IntRange(0, 7), 1, 300).Draw(t, "values")
		var sorted [8]int
		for _, v := range values {
			sorted[v]++
			for i := range h.counts {
				if float64(v) < h.edges[i+1] {
					h.counts[i]++
					break
				}
			}
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		rank, exact := max(int(math.Ceil(q*float64(len(values)))), 1), 0
		for n := sorted[0]; n < rank; n += sorted[exact] {
			exact++
		}
		got, ok := h.quantile(q)
		if !ok || got <= float64(exact) || got > max(1, 2*float64(exact)) {
			t.Fatalf("%v of %v: %v, exact %d", q, values, got, exact)
		}
	})
	for _, h := range []histogram{
		{}, {edges: []float64{1, 2}, counts: []float64{0}}, {edges: []float64{math.Inf(-1), math.Inf(1)}, counts: []float64{7}},
	} {
		if v, ok := h.quantile(0.5); ok {
			t.Errorf("%+v: %v", h, v)
		}
	}
	beyond := histogram{edges: []float64{0, 5, math.Inf(1)}, counts: []float64{1, 9}}
	if v, ok := beyond.quantile(0.99); v != 5 || !ok {
		t.Error(v, ok)
	}
}

// Quantiles are of what came since the tick before; a program that began anew reports
// all that it did since.
func TestQuantilesSinceTheTickBefore(t *testing.T) {
	answer := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"go":{"/sched/latencies:seconds":{"Counts":%s,"Buckets":[0,1,2,4,null]}}}`, answer)
	}))
	defer srv.Close()
	for _, s := range []*Source{New(srv.URL), New(srv.URL, srv.URL)} {
		defer s.Close()
		for i, c := range []struct{ counts, want string }{
			{"[5,0,9,0]", "count=14"},
			{"[104,1,9,0]", "count=114 p50=1 p99=1 max=2"},
			{"[104,1,9,0]", "count=114"},
			{"[0,0,3,0]", "count=3 p50=4 p99=4 max=4"},
			{"[0,0]", ""}, // not what it was
			{"[0,0,5,0]", "count=5"},
		} {
			answer = c.counts
			var f kasoku.Frame
			if err := s.Collect(t.Context(), &f); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range f.Samples[:len(f.Samples)/len(s.addresses)] {
				name, ok := strings.CutPrefix(x.Name, "/sched/latencies:seconds.")
				if !ok || name != "count" && x.Unit != "s" || !strings.HasSuffix(x.Instance, "go") {
					t.Errorf("%+v", x)
				}
				got = append(got, fmt.Sprint(name, "=", x.Value))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("tick %d: %q, want %q", i, s, c.want)
			}
		}
	}
}

// What a program publishes is bounded, however much it is.
func TestHistogramsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"/x/%d:bytes":{"Counts":[1],"Buckets":[0,1]}`, i)
	}
	found, err := Parse([]byte("{" + b.String()[1:] + "}"))
	if err != nil || len(found) != 1 || len(found[0].histograms) != mostHistograms || len(found[0].Values) != mostHistograms {
		t.Errorf("%+v, %v", found, err)
	}
}
