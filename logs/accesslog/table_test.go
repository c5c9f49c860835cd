package accesslog

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

func TestCollect(t *testing.T) {
	for name, format := range map[string]string{"combined.log": "combined, request time in s", "ltsv.log": "ltsv"} {
		w, err := lines.Since(lines.Mark{Path: "../accessformat/testdata/" + name, Missing: true})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		table, window, err := Collect(w, Options{Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		if window.Records != 300 || window.Lines != 300 || window.Format != format || window.Files != 1 || window.Path != "../accessformat/testdata/"+name {
			t.Errorf("%s: window %+v", name, window)
		}
		byRoute := map[string]kasoku.Endpoint{}
		for _, e := range table.Endpoints() {
			byRoute[e.Method+" "+e.Route] = e
			var codes uint64
			for _, n := range e.Codes {
				codes += n
			}
			if codes != e.Count || e.Latency.Count() != e.Count || e.Latency.Sum() != e.Total || secondsOf(&e) != e.Count {
				t.Errorf("%s: counts of %s %s do not add up", name, e.Method, e.Route)
			}
		}
		want, err := os.ReadFile("../accessformat/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got, n := byRoute["GET /api/trend"].Count, strings.Count(string(want), `GET /api/trend HTTP`); got != uint64(n) {
			t.Errorf("%s: %d requests to /api/trend, want %d", name, got, n)
		}
		if byRoute["GET /api/isu/:id/icon"].Count == 0 || len(byRoute) > 40 {
			t.Errorf("%s: routes %v", name, byRoute)
		}
	}
}

// secondsOf counts the requests of an endpoint's seconds.
func secondsOf(e *kasoku.Endpoint) (n uint64) {
	for _, s := range e.Seconds {
		n += s.Count
	}
	return n
}

func logOf(at ...int) string {
	var b strings.Builder
	for i, s := range at {
		fmt.Fprintf(&b, "time:%d\tmethod:GET\turi:/a/%d\tstatus:%d\tsize:10\treqtime:0.5\n", 1629507600+s, i, 200+i%2*303)
	}
	return b.String()
}

func TestCollect_UnknownFormat(t *testing.T) {
	path := t.TempDir() + "/access.log"
	if err := os.WriteFile(path, []byte("\nhello token=abc\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := lines.Since(lines.Mark{Path: path, Missing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	table, window, err := Collect(w, Options{})
	want := path + `:2: unknown format "hello token=***", expected LTSV`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if h, ok := err.(interface{ Hint() string }); !ok || !strings.Contains(h.Hint(), "log_format kasoku") {
		t.Error("no hint")
	}
	if window.Lines != 3 || window.Dropped != 2 || window.Blank != 1 || table.Records() != 0 {
		t.Errorf("window %+v", window)
	}
	_, _, err = Collect(lines.NewReader(strings.NewReader("garbage\n"), 0), Options{Format: formatNamed(t, `$remote_addr - $remote_user [$time_local] "$request" $status`)})
	if want := `access log:1: not in the format nginx: "garbage": no " - " after $remote_addr`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	for text, want := range map[string]string{
		"SQLite format 3\x00\x10\n": "run", `{"log":"a\n","stream":"stdout"}` + "\n": "docker logs", "a\n": "log_format",
	} {
		_, _, err := Collect(lines.NewReader(strings.NewReader(text), 0), Options{})
		if h, ok := err.(interface{ Hint() string }); !ok || !strings.Contains(h.Hint(), want) {
			t.Errorf("%q: hint of %v", text, err)
		}
	}
	if _, _, err := Collect(lines.NewReader(strings.NewReader("\n"), 0), Options{}); err != nil {
		t.Errorf("an empty log: %v", err)
	}
}

func TestTable_Clock(t *testing.T) {
	o := Options{
		Clock:    func(at time.Time) time.Duration { return at.Sub(time.Unix(1629507600, 500_000_000)) },
		Interval: kasoku.Interval{From: 0, To: 3 * time.Second},
	}
	table, window, err := Collect(lines.NewReader(strings.NewReader(logOf(-1, 0, 1, 1, 3, 4)), 0), o)
	if err != nil {
		t.Fatal(err)
	}
	e := table.Endpoints()
	if table.counts.outside != 2 || table.Records() != 4 || len(e) != 1 {
		t.Fatalf("%d outside, %d records, %+v", table.counts.outside, table.Records(), e)
	}
	if got := fmt.Sprint(e[0].Seconds); got != "map[0:{3 2} 2:{1 0}]" {
		t.Errorf("seconds %s", got)
	}
	if e[0].First != 0 || e[0].Last != 2500*time.Millisecond || e[0].Failed() != 2 || e[0].Bytes != 40 || e[0].Total != 2*time.Second {
		t.Errorf("endpoint %+v", e[0])
	}
	if want := "2 entries outside the run were left out"; window.Note != want {
		t.Errorf("note %q, want %q", window.Note, want)
	}
}

func TestTable_Bounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "time:1629507600\tmethod:GET\turi:/%s\tstatus:200\n", strings.Repeat("x/", i%10+1)+strings.Repeat("y", i/10+1))
	}
	b.WriteString("time:1629507600\treq:\\x16\\x03\tstatus:400\n")
	table, window, err := Collect(lines.NewReader(strings.NewReader(b.String()), 0), Options{MaxRoutes: 10})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Endpoints()); n != 11 {
		t.Errorf("%d endpoints", n)
	}
	if e := table.Endpoints()[0]; e.Route != Other || e.Count != 91 {
		t.Errorf("most frequent %s with %d", e.Route, e.Count)
	}
	if want := "101 requests have no request time; 91 requests were folded into (other routes)"; window.Note != want {
		t.Errorf("note %q, want %q", window.Note, want)
	}
}

func TestTable_Merge(t *testing.T) {
	b, err := os.ReadFile("../accessformat/testdata/ltsv.log")
	if err != nil {
		t.Fatal(err)
	}
	collect := func(log string, max int) *Table {
		table, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{MaxRoutes: max})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	whole := collect(string(b), 0)
	merged, small := NewTable(Options{}), NewTable(Options{MaxRoutes: 3})
	for _, part := range strings.SplitAfter(string(b), "/api/trend\n") {
		if part != "" {
			merged.Merge(collect(part, 0))
			small.Merge(collect(part, 2))
		}
	}
	list := func(t *Table) (out string) {
		for _, e := range t.Endpoints() {
			out += fmt.Sprintln(e.Method, e.Route, e.Count, e.Codes, e.Bytes, e.Total, e.First, e.Last, e.Seconds, e.Latency.Quantile(0.9))
		}
		return out
	}
	if list(merged) != list(whole) {
		t.Errorf("merged\n%swhole\n%s", list(merged), list(whole))
	}
	var count uint64
	for _, e := range small.Endpoints() {
		count += e.Count
	}
	if count != 300 || len(small.Endpoints()) > 4 {
		t.Errorf("%d requests in %d rows", count, len(small.Endpoints()))
	}
}

// TestTableNext: tables that go on with one another add up to the table that had all
// the records, details too.
func TestTableNext(t *testing.T) {
	o := Options{Detail: true}
	whole, part := NewTable(o), NewTable(o)
	var parts []*Table
	p := whole.Parser(formatNamed(t, "ltsv"))
	for i := range 3000 {
		// Names fold only after many of them were seen: in the midst of a part.
		line := fmt.Sprintf("time:2026-11-21T08:00:%02d+00:00\tmethod:GET\turi:/shops/%c%c%c/items\tstatus:200\tsize:%d\treqtime:0.0%02d",
			i/50, 'a'+i*7%26, 'a'+i*3%26, 'a'+i%26, i%10, i%50)
		var r accessformat.Record
		if why := p.Parse([]byte(line), &r); why != "" {
			t.Fatal(why)
		}
		whole.Add(&r)
		part.Add(&r)
		if i%250 == 249 {
			parts = append(parts, part)
			part = part.Next()
		}
	}
	sum := part.Next()
	for _, one := range append(parts, part) {
		sum.Merge(one)
	}
	got, want := sum.Endpoints(), whole.Endpoints()
	if len(want) == 0 || len(want) > 100 {
		t.Fatalf("%d routes: nothing folds", len(want))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d routes, want %d\ngot  %+v\nwant %+v", len(got), len(want), got[0], want[0])
	}
}

// formatNamed returns the format of a specification.
func formatNamed(t testing.TB, spec string) *accessformat.Format {
	t.Helper()
	f, err := accessformat.ParseFormat(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func FuzzTable(f *testing.F) {
	for _, name := range []string{"combined.log", "ltsv.log"} {
		b, err := os.ReadFile("../accessformat/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:1500])
	}
	f.Add([]byte(`a [21/Aug/2021:10:00:00 +0900] "GET /1/2.png?x" 200 - "\"" 5` + "\n\n\x00"))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, table := accessformat.NewReader(lines.NewReader(bytes.NewReader(log), 0), time.UTC), NewTable(Options{MaxRoutes: 3})
		for r.Scan() {
			table.Add(r.Record())
		}
		var count uint64
		for _, e := range table.Endpoints() {
			count += e.Count
			if len(e.Route) > maxShown+10 {
				t.Fatalf("route of %d bytes", len(e.Route))
			}
			if strings.ContainsFunc(e.Route, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("route %q", e.Route)
			}
		}
		if count != r.Account().Records || len(table.Endpoints()) > 4 {
			t.Fatalf("%d requests, %d records, %d endpoints", count, r.Account().Records, len(table.Endpoints()))
		}
	})
}

func BenchmarkCollect(b *testing.B) {
	for _, name := range []string{"combined", "ltsv"} {
		b.Run("format="+name, func(b *testing.B) {
			log, err := os.ReadFile("../accessformat/testdata/" + name + ".log")
			if err != nil {
				b.Fatal(err)
			}
			big := strings.Repeat(string(log), 100)
			b.SetBytes(int64(len(big)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Collect(lines.NewReader(strings.NewReader(big), 0), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
