package accesslog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
)

// sample is a log of 6,000 requests to a real web application, with kataribe's
// answer beside it.
const sample = "testdata/access_combined.log.zst"

// collectFiles reads files with CollectAll.
func collectFiles(t testing.TB, o Options, paths ...string) (*Table, []kasoku.LogWindow) {
	t.Helper()
	in, err := lines.Inputs(paths)
	if err != nil {
		t.Fatal(err)
	}
	table, windows, err := CollectAll(context.Background(), in, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table, windows
}

// A slowRow is a row that keeps everything.
type slowRow struct {
	times    []time.Duration
	upstream time.Duration
	codes    map[int]uint64
	bytes    []uint64
	at       []int64
	failed   map[int64]uint64
}

// slowTable adds up records the obvious way.
func slowTable(records []*accessformat.Record) map[string]*slowRow {
	mapper := routes.Automatic().Mapper()
	var seen []routes.Seen
	for _, r := range records {
		route, _ := mapper.Append(nil, r.Method, r.Path)
		if len(r.Path) == 0 {
			route = []byte("(no request)")
		}
		s := routes.Seen{Route: string(route), Count: 1, Bytes: r.Bytes}
		if r.Status/100 != 4 {
			s.Found = 1
		}
		seen = append(seen, s)
	}
	out := map[string]*slowRow{}
	for i, name := range routes.Collapse(seen, routes.Limits{}) {
		r := records[i]
		key := string(r.Method) + " " + name
		row := out[key]
		if row == nil {
			row = &slowRow{codes: map[int]uint64{}, failed: map[int64]uint64{}}
			out[key] = row
		}
		row.times = append(row.times, r.Latency)
		row.upstream += r.Upstream
		row.codes[r.Status]++
		row.bytes = append(row.bytes, r.Bytes)
		row.at = append(row.at, r.Unix)
		if r.Status >= 500 {
			row.failed[r.Unix/1e9]++
		}
	}
	return out
}

// readSlow reads all records of a file.
func readSlow(t *testing.T, path string) (out []*accessformat.Record) {
	t.Helper()
	in, err := lines.Inputs([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	w, err := lines.Open(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := accessformat.NewReader(w, nil)
	for r.Scan() {
		c := *r.Record()
		c.Method, c.Path = bytes.Clone(c.Method), bytes.Clone(c.Path)
		out = append(out, &c)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

func TestTable_AsTheSlowWay(t *testing.T) {
	for _, path := range []string{sample, "../accessformat/testdata/combined.log", "../accessformat/testdata/ltsv.log", "../accessformat/testdata/json.log"} {
		records := readSlow(t, path)
		want := slowTable(records)
		table, windows := collectFiles(t, Options{Workers: 3, BlockSize: 4 << 10, Slowest: 37}, path)
		if windows[0].Records != uint64(len(records)) || table.Records() != uint64(len(records)) {
			t.Errorf("%s: %d records, want %d", path, windows[0].Records, len(records))
		}
		if table.Exact() != time.Millisecond || table.Step() != time.Second {
			t.Errorf("%s: exact %v, step %v", path, table.Exact(), table.Step())
		}
		rows := table.Rows()
		if len(rows) != len(want) {
			t.Errorf("%s: %d rows, want %d", path, len(rows), len(want))
		}
		for i := range rows {
			key := rows[i].Method + " " + rows[i].Route
			if w := want[key]; w == nil {
				t.Errorf("%s: row %q", path, key)
			} else {
				compareRow(t, path+": "+key, &rows[i], w, table.Started())
			}
		}
		compareSlowest(t, path, table.Slowest(), records)
	}
}

func compareRow(t *testing.T, name string, got *Row, want *slowRow, started time.Time) {
	t.Helper()
	slices.Sort(want.times)
	n := uint64(len(want.times))
	var total time.Duration
	var squares float64
	for _, d := range want.times {
		total += d
		squares += d.Seconds() * d.Seconds()
	}
	var size uint64
	for _, b := range want.bytes {
		size += b
	}
	if got.Count != n || got.Total != total || got.Latency.Min() != want.times[0] || got.Latency.Max() != want.times[n-1] ||
		math.Abs(got.Squares-squares) > 1e-9*squares || !maps.Equal(got.Codes, want.codes) || got.Upstream != want.upstream {
		t.Errorf("%s: %+v, want %d, total %v, squares %v, codes %v", name, got, n, total, squares, want.codes)
	}
	if got.Bytes != size || got.MinBytes != slices.Min(want.bytes) || got.MaxBytes != slices.Max(want.bytes) {
		t.Errorf("%s: bytes %d %d %d", name, got.Bytes, got.MinBytes, got.MaxBytes)
	}
	for _, q := range []float64{0.01, 0.5, 0.9, 0.95, 0.99, 0.999} {
		if d := want.times[histogram.Rank(q, n)-1]; got.Latency.Quantile(q) != d {
			t.Errorf("%s: quantile %v is %v, want %v", name, q, got.Latency.Quantile(q), d)
		}
	}
	start := started.UnixNano()
	if got.First != time.Duration(slices.Min(want.at)-start) || got.Last != time.Duration(slices.Max(want.at)-start) {
		t.Errorf("%s: from %v to %v", name, got.First, got.Last)
	}
	seconds := map[int]kasoku.EndpointSecond{}
	for _, at := range want.at {
		k := int((at - start) / 1e9)
		seconds[k] = kasoku.EndpointSecond{Count: seconds[k].Count + 1, Failed: want.failed[at/1e9]}
	}
	if !maps.Equal(got.Seconds, seconds) {
		t.Errorf("%s: seconds %v, want %v", name, got.Seconds, seconds)
	}
}

func compareSlowest(t *testing.T, path string, got []kasoku.SlowRequest, records []*accessformat.Record) {
	t.Helper()
	slices.SortStableFunc(records, func(a, b *accessformat.Record) int { return cmp.Compare(b.Latency, a.Latency) })
	if len(got) != 37 {
		t.Errorf("%s: %d slow requests", path, len(got))
	}
	for i, s := range got {
		r := records[i]
		if s.Latency != r.Latency || s.URI != string(r.Path) || s.Method != string(r.Method) || s.Status != r.Status || s.Bytes != r.Bytes || !strings.HasPrefix(s.Route, "/") {
			t.Errorf("%s: slow request %d: %+v, want %s %v", path, i, s, r.Path, r.Latency)
		}
	}
}

// kataribeRow are the columns of kataribe that mean the same as ours.
var kataribeRow = regexp.MustCompile(`^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  ([A-Z]+ \S+)`)

// TestTable_AsKataribe: what kataribe says of the sample. Its bundles are other
// words for the routes that are found by themselves.
func TestTable_AsKataribe(t *testing.T) {
	answer, err := os.ReadFile("testdata/access_combined.kataribe.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := routes.NewRules(routes.Options{Patterns: []string{`/assets/*=^/assets/`}})
	if err != nil {
		t.Fatal(err)
	}
	table, _ := collectFiles(t, Options{Routes: list}, sample)
	rows := map[string]Row{}
	for _, r := range table.Rows() {
		rows[r.Method+" "+r.Route] = r
	}
	top, _, _ := strings.Cut(string(answer), "\n\n")
	n := 0
	for line := range strings.Lines(top) {
		m := kataribeRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n++
		route := strings.NewReplacer(":n", ":id", ":h", ":id").Replace(m[15])
		r, ok := rows[route]
		if !ok {
			t.Errorf("no row %q", route)
			continue
		}
		mean := r.Total.Seconds() / float64(r.Count)
		stddev := math.Sqrt(max(r.Squares/float64(r.Count)-mean*mean, 0))
		class := func(c int) (n uint64) {
			for code, k := range r.Codes {
				if code/100 == c {
					n += k
				}
			}
			return n
		}
		if wantMean, _ := strconv.ParseFloat(m[3], 64); math.Abs(mean-wantMean) > 0.000051 { // kataribe rounds a sum of floats
			t.Errorf("%s: mean %v, want %v", route, mean, wantMean)
		}
		got := fmt.Sprintf("%d %.3f %s %.4f %.3f %.3f %d %d %d %d %d %d %d %d", r.Count, r.Total.Seconds(), m[3], stddev,
			r.Latency.Min().Seconds(), r.Latency.Max().Seconds(), class(2), class(3), class(4), class(5), r.Bytes, r.MinBytes, r.Bytes/r.Count, r.MaxBytes)
		if want := strings.Join(m[1:15], " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", route, got, want)
		}
	}
	if n != 20 {
		t.Errorf("%d rows of kataribe", n)
	}
	if s := table.Slowest(); len(s) != 0 {
		t.Errorf("%d slow requests that no one asked for", len(s))
	}
}

// allThatIsSaid returns all that a collection says, as text.
func allThatIsSaid(t *Table, windows []kasoku.LogWindow, err error) string {
	var b strings.Builder
	for _, r := range t.Rows() {
		unit, exact := r.Latency.Exact()
		fmt.Fprintf(&b, "%q %d %v %d %d %d %d %v %d %d %v %v %v %v %v %v %v %v %v\n", r.Key, r.Count, r.Codes, r.Bytes, r.MinBytes, r.MaxBytes, r.RequestBytes,
			r.Upstream, r.UpstreamCount, r.Bots, r.Total, r.Squares, r.First, r.Last, r.Seconds, r.Latency.Quantile(0.9), unit, exact, r.Waits)
	}
	for _, s := range t.Slowest() {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	for _, w := range windows {
		w.Inode = 0
		fmt.Fprintf(&b, "%+v\n", w)
	}
	fmt.Fprintln(&b, t.Notes(), t.Started().UnixNano(), t.Step(), t.Records(), err)
	return b.String()
}

// hostileLog makes a log of all that is awkward: many routes at several places,
// bad lines, blank lines, times that go back, all from a number.
func hostileLog(n int, seed uint64) string {
	x := seed*2862933555777941757 + 3037000493
	next := func(n int) int {
		x = x*6364136223846793005 + 1442695040888963407
		return int(x>>33) % n
	}
	var b strings.Builder
	word := func(n int) string { return strconv.FormatInt(int64(next(n)), 36) + "x" }
	for range n {
		at := 1629507600 + next(40) + next(3)/2*next(200_000)
		switch next(12) {
		case 0:
			fmt.Fprintf(&b, "bad line %d\n", next(1000))
			continue
		case 1:
			b.WriteString("  \r\n")
			continue
		}
		path := "/" + []string{"u", "a", "b", "u", "me"}[next(5)]
		for range next(4) {
			path += "/" + word([]int{3, 30, 300}[next(3)])
		}
		if next(5) == 0 {
			path += ".js?q=" + word(50)
		}
		fmt.Fprintf(&b, "time:%d\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%d.%03d\tua:%s\thost:h%d\tk:%d\n",
			at, []string{"GET", "POST"}[next(2)], path, []int{200, 200, 304, 404, 500}[next(5)], next(5000), next(2), next(900),
			[]string{"Mozilla/5.0", "Googlebot/2.1", "x"}[next(3)], next(400), next(3))
	}
	return b.String()
}

// TestCollectAll_Deterministic: the answer is the same for any number of
// workers and any size of blocks.
func TestCollectAll_Deterministic(t *testing.T) {
	turn.Wait(t)
	filter, err := CompileFilter(`status != 304 and route != "/a"`)
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for i := range 3 {
		logs = append(logs, hostileLog(2500, uint64(i)))
	}
	for name, o := range map[string]Options{
		"all":    {Slowest: 20},
		"few":    {Slowest: 5, MaxRoutes: 40},
		"fewer":  {Slowest: 5, MaxRoutes: 3, Limits: routes.Limits{Names: 5}},
		"by":     {By: []string{"host", "class"}, MaxRoutes: 100},
		"extra":  {By: []string{"route", "k", "nothing"}, Bots: NoBots},
		"filter": {Where: filter, Since: time.Unix(1629507605, 0)},
	} {
		want := ""
		for round := range 8 {
			var in []lines.Input
			for i, l := range logs {
				in = append(in, lines.Input{Path: fmt.Sprint("log", i), R: strings.NewReader(l)})
			}
			o.Workers, o.BlockSize = round%4+1, []int{0, 300, 5000, 20_000, 64 << 10}[round%5]
			table, windows, err := CollectAll(context.Background(), in, o, nil)
			got := allThatIsSaid(table, windows, err)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%s: with %d workers and blocks of %d:\n%s", name, o.Workers, o.BlockSize, firstDifference(got, want))
			}
			for _, w := range windows {
				if w.Lines != w.Records+w.Dropped+w.Blank || w.Dropped == 0 || len(w.BadSample) != 5 {
					t.Fatalf("%s: %+v", name, w)
				}
			}
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %.700s\nwant %.700s", i, g[i], slices.Concat(w, []string{""})[min(i, len(w))])
		}
	}
	return "shorter"
}

// TestCollectAll_Lines: samples of bad lines have their true numbers.
func TestCollectAll_Lines(t *testing.T) {
	log := hostileLog(3000, 9)
	for _, size := range []int{200, 5000, 1 << 20} {
		table, windows, err := CollectAll(context.Background(), []lines.Input{{R: strings.NewReader(log)}}, Options{Workers: 4, BlockSize: size}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
		w := windows[0]
		if w.Lines != uint64(len(all)) || table.Records() != w.Records {
			t.Errorf("%d lines, want %d", w.Lines, len(all))
		}
		for _, bad := range w.BadSample {
			if all[bad.Line-1] != bad.Text {
				t.Errorf("line %d is %q, says %q", bad.Line, all[bad.Line-1], bad.Text)
			}
		}
	}
}

// TestCollect_AsCollectAll: a window gives what its inputs give.
func TestCollect_AsCollectAll(t *testing.T) {
	logs := []string{hostileLog(500, 1), hostileLog(700, 2)}
	o := Options{Slowest: 5, By: []string{"method", "route", "ua"}}
	inputs := func() (in []lines.Input) {
		for _, l := range logs {
			in = append(in, lines.Input{R: strings.NewReader(l)})
		}
		return in
	}
	w, err := lines.Open(inputs(), 0)
	if err != nil {
		t.Fatal(err)
	}
	table, window, err := Collect(w, o)
	if err != nil {
		t.Fatal(err)
	}
	all, windows, err := CollectAll(context.Background(), inputs(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := allThatIsSaid(table, nil, nil), allThatIsSaid(all, nil, nil); got != want {
		t.Error(firstDifference(got, want))
	}
	if window.Lines != windows[0].Lines+windows[1].Lines || window.Dropped != windows[0].Dropped+windows[1].Dropped || len(window.BadSample) != 5 || window.Format != "ltsv" {
		t.Errorf("window %+v of %+v", window, windows)
	}
	byHand := NewTable(o)
	in := inputs()
	for i := range in {
		f, err := accessformat.Detect([]byte(logs[i]))
		if err != nil {
			t.Fatal(err)
		}
		p := byHand.Parser(f)
		var r accessformat.Record
		for n, line := range strings.Split(logs[i], "\n") {
			r.Offset = int64(i*1_000_000 + n)
			if strings.TrimSpace(line) != "" && p.Parse([]byte(line), &r) == "" {
				byHand.Add(&r)
			}
		}
	}
	if got, want := allThatIsSaid(byHand, nil, nil), allThatIsSaid(all, nil, nil); got != want {
		t.Errorf("by hand: %s", firstDifference(got, want))
	}
}
