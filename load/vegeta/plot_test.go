package vegeta

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/internal/uplot"
)

// plotted writes results to files, plots them, and returns the page and its data.
func plotted(t *testing.T, o PlotOptions, files ...[]Result) (page string, series []plotSeries) {
	t.Helper()
	for i, results := range files {
		var b bytes.Buffer
		enc, err := NewEncoder(&b, JSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if err := enc.Encode(&r); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(t.TempDir(), string(rune('a'+i)))
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Files = append(o.Files, name)
	}
	var out bytes.Buffer
	o.Stdout = &out
	if err := Plot(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	page = out.String()
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(data), &series); err != nil {
		t.Fatalf("data %.200q: %v", data, err)
	}
	return page, series
}

func TestPlot(t *testing.T) {
	start := time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC)
	at := func(ms int, latency time.Duration, attack, failed string) Result {
		return Result{Attack: attack, Code: 200, Timestamp: start.Add(time.Duration(ms) * time.Millisecond), Latency: latency, Error: failed, Method: "GET", URL: "http://h/"}
	}
	const hostile = "</script><b>&\u2028"
	page, series := plotted(t, PlotOptions{Title: "<i>title</i>", Threshold: 4000},
		[]Result{at(1500, 2*time.Millisecond, "one", ""), at(1000, 1234567*time.Nanosecond, "one", ""), at(1200, time.Second, "one", "503")},
		[]Result{at(90_000, 5*time.Microsecond, hostile, "")})
	want := []plotSeries{
		{"one", true, 2, 2, []float64{0, 0.5}, []float64{1.23457, 2}},
		{"one", false, 1, 1000, []float64{0.2}, []float64{1000}},
		{hostile, true, 1, 0.005, []float64{0}, []float64{0.005}},
	}
	if got, _ := json.Marshal(series); string(got) != string(must(json.Marshal(want))) {
		t.Errorf("series are\n%s, want\n%s", got, must(json.Marshal(want)))
	}
	for _, part := range []string{"&lt;i&gt;title", "4 results of 2 attacks", uplot.Script(), uplot.Style(), uplot.License(), `content="default-src &#39;none&#39;`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %.40q", part)
		}
	}
	for _, part := range []string{"<i>", "<b>", "src=", "href=", "ZgotmplZ"} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %q", part)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestPlot_Failure(t *testing.T) {
	for want, o := range map[string]PlotOptions{
		"no results":       {Stdin: strings.NewReader("")},
		"bad threshold 2":  {Threshold: 2},
		"bad threshold -1": {Threshold: -1},
		"open results: ":   {Files: []string{"testdata/none"}},
	} {
		o.Stdout = &bytes.Buffer{}
		if err := Plot(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// TestPlotDrawsAtMostTheThreshold also of results that do not come in order.
func TestPlotDrawsAtMostTheThreshold(t *testing.T) {
	var results []Result
	for i := range 5000 {
		results = append(results, Result{Timestamp: time.Unix(0, int64(i^1)*1e6), Latency: time.Duration(1+i%7) * time.Millisecond, Code: 200})
	}
	results[2345].Latency = 9 * time.Second
	page, series := plotted(t, PlotOptions{Threshold: 100}, results)
	s := series[0]
	if len(s.X) != 100 || s.Results != 5000 || !slices.IsSorted(s.X) || !slices.Contains(s.Y, 9000) || s.Max != 9000 {
		t.Errorf("%d points of %d, largest %v, in order %t", len(s.X), s.Results, s.Max, slices.IsSorted(s.X))
	}
	if !strings.Contains(page, "100 points are drawn, at most 100 of a series") {
		t.Error("the page does not say that it leaves out points")
	}
}

// TestLargestTriangles: of each bucket the point that is kept makes the largest
// triangle, with areas computed plainly.
func TestLargestTriangles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.Int64Range(0, 1000), 4, 300).Draw(t, "gaps")
		var points []plotPoint
		var at int64
		for _, g := range gaps {
			at += g
			points = append(points, plotPoint{at, time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "latency"))})
		}
		n := rapid.IntRange(3, len(points)-1).Draw(t, "n")
		got := largestTriangles(points, n)
		if len(got) != n || got[0] != points[0] || got[n-1] != points[len(points)-1] || !slices.IsSortedFunc(got, byTime) {
			t.Fatalf("%d points kept, want %d: %v", len(got), n, got)
		}
		width := float64(len(points)-2) / float64(n-2)
		edge := func(i int) int { return 1 + int(float64(i)*width) }
		for i := range n - 2 {
			next := points[len(points)-1:]
			if i+1 < n-2 {
				next = points[edge(i+1):edge(i+2)]
			}
			kept, largest := area(got[i], got[i+1], next), 0.0
			bucket := points[edge(i):edge(i+1)]
			for _, p := range bucket {
				largest = max(largest, area(got[i], p, next))
			}
			if !slices.Contains(bucket, got[i+1]) || kept < largest*(1-1e-9)-1e-3 {
				t.Fatalf("bucket %d keeps %v with area %v, the largest is %v of %v", i, got[i+1], kept, largest, bucket)
			}
		}
	})
}

// area is that of the triangle of two points and the mean of others.
func area(a, b plotPoint, others []plotPoint) float64 {
	var x, y float64
	for _, p := range others {
		x += float64(p.at) / float64(len(others))
		y += float64(p.latency) / float64(len(others))
	}
	return math.Abs((float64(a.at)-x)*float64(b.latency-a.latency)-float64(a.at-b.at)*(y-float64(a.latency))) / 2
}

func BenchmarkPlotAdd(b *testing.B) {
	p := plot{attacks: map[string]*plotAttack{}}
	r := Result{Attack: "one", Code: 200, Timestamp: time.Unix(1, 0), Latency: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		p.add(&r)
		if a := p.attacks["one"]; len(a.series[plotOK]) == 1<<20 {
			a.series[plotOK] = a.series[plotOK][:0]
		}
	}
}
