package accesslog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/lines"
)

func TestCompileFilter(t *testing.T) {
	r := accessformat.Record{
		Unix: time.Date(2021, 8, 21, 1, 0, 0, 0, time.UTC).UnixNano(), Method: []byte("GET"), Path: []byte("/users/bob/7?page=2"), Protocol: []byte("HTTP/1.1"),
		Status: 503, Bytes: 120, RequestBytes: 30, Latency: 250 * time.Millisecond, Has: accessformat.HasTime | accessformat.HasStatus | accessformat.HasBytes | accessformat.HasLatency,
		RemoteAddr: []byte("10.0.0.1"), User: []byte("u"), Referer: []byte("http://x/"), UserAgent: []byte("Googlebot/2.1"), VHost: []byte("h"),
	}
	f := func(text string, want bool) {
		t.Helper()
		filter, err := CompileFilter(text)
		if err != nil {
			t.Error(err)
			return
		}
		table := NewTable(Options{})
		run, slow := filter.run(), filter.run()
		whole := *filter
		whole.terms, whole.simple = nil, false
		slow.Filter = &whole
		if slow.holds(&r, table) != want {
			t.Errorf("%q without its terms: %v", text, !want)
		}
		for range 2 {
			if got := run.holds(&r, table); got != want {
				t.Errorf("%q: %v", text, got)
			}
		}
	}
	f(`status >= 500 and route == "/users/bob/:id"`, true)
	f(`route == "/users/:name/:id"`, true)
	f(`route == "/users/:name/x"`, false)
	f(`route startsWith "/users/" && method == "GET"`, true)
	f(`route == "/@:name"`, false)
	f(`path == "/users/bob/7" and uri endsWith "?page=2" and query contains "page"`, true)
	f(`latency > 0.2 and latency <= 0.25 and upstream < 0`, true)
	f(`bytes in 100..200 or request_bytes > 9000`, true)
	f(`time >= date("2021-08-21T01:00:00Z") and time < date("2021-08-21T01:00:01Z")`, true)
	f(`host matches "^10[.]" and user == "u" and vhost != "x" and referer contains "//x" and protocol == "HTTP/1.1"`, true)
	f(`bot and ua contains "bot"`, true)
	for _, name := range []string{"method", "path", "uri", "query", "route", "ua", "referer", "host", "user", "vhost", "protocol"} {
		f(name+` == "x"`, false)
		f(name+` != "x" and not bot`, false)
		f(name+` startsWith "zz" or status > 1`, true)
		f(name+` contains "zz" and status > 1`, false)
		f(name+` endsWith "zz" and 1 < status`, false)
	}
	for _, name := range []string{"status", "bytes", "request_bytes", "latency", "upstream"} {
		f(name+` == 1`, false)
		f(name+` != 1 && method == "GET"`, true)
		f(name+` < 1e9 && `+name+` <= 1e9 && `+name+` >= -1`, true)
		f(name+` > 1e9`, false)
	}
	f(`status in [200, 304]`, false)
	r.Path = []byte("/@bob")
	f(`route == "/@:name"`, true)
	f(`route == "/:name"`, false)
	f(`not (status == 503)`, false)
	f(`let s = status; s > 500`, true)
	for text, want := range map[string]string{
		`stats >= 500`:    `read filter "stats >= 500": unknown name "stats", expected method, path, uri, query, route, status, bytes, request_bytes, latency, upstream, time, ua, referer, host, user, vhost, protocol, bot`,
		`status >=`:       `read filter "status >=": unexpected token EOF (1:9)`,
		`status`:          `read filter "status": expected bool, but got int`,
		`status == "200"`: `read filter "status == \"200\"": invalid operation: == (mismatched types int and string) (1:8)`,
	} {
		if _, err := CompileFilter(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestIsBot(t *testing.T) {
	f := func(agent string, want bool) {
		t.Helper()
		var c botCache
		if IsBot([]byte(agent)) != want || c.is([]byte(agent)) != want || c.is([]byte(agent)) != want {
			t.Errorf("%q: %v", agent, !want)
		}
	}
	f("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true)
	f("Mozilla/5.0 (compatible; YandexBot/3.0)", true)
	f("facebookexternalhit/1.1", true)
	f("Baiduspider+(+http://www.baidu.com/search/spider.htm)", true)
	f("Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36", false)
	f("Mozilla/5.0 (X11) Explorer bottle-17 edition", false)
	f("search robots of a bottler", true)
	f("examplebot-mobile", true)
	f("SpiderMan Game/2.0", false)
	f("Spider Solitaire/3.1", false)
	f("Screaming Frog SEO Spider/21.0", true)
	f("Barcode Scanner/4.7", false)
	f("Photo Archiver/1.0", false)
	f("newscrawler/1", true)
	f("Mozilla/5.0 (X11; Linux x86_64)", false)
	f("benchmarker-user/2.0", false)
	f("bot", true)
	f("", false)
	f("-", false)
	f(strings.Repeat("x", 600)+"bot", true)
}

// TestProductOf: a bot is known by its product, never by a word that others use or an address.
func TestProductOf(t *testing.T) {
	f := func(agent, want string) {
		t.Helper()
		if got := productOf([]byte(agent)); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
	f("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "ahrefsbot")
	f("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "gptbot")
	f("Baiduspider+(+http://www.baidu.com/search/spider.htm)", "baiduspider")
	f("examplebot-mobile", "examplebot-mobile")
	f("Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)", "pingdom.com_bot_version_1.4")
	f("crawler (https://example.com/help)", "")
	f("Some/1.0 (+http://example.com/bot)", "")
	f("Mozilla/5.0 (Linux; Android 12; Xbot 5) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36", "")
	f("Talkbot/3 CFNetwork/1404.0.5 Darwin/22.3.0", "")
	f("evil|.*bot/1.0", "")
}

// TestNamedBots_Bounded: names that a stranger makes up fill no memory.
func TestNamedBots_Bounded(t *testing.T) {
	n := namedBots{}
	for i := range 1000 {
		n.count(kasoku.NamedBot{Name: fmt.Sprintf("bot-%d", i), Requests: 1})
	}
	if len(n) != mostNames {
		t.Error(len(n))
	}
}

// TestSeries: against a map, for times in any order.
func TestSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s series
		want := map[int64][2]uint32{}
		at := int64(rng.IntN(1000))
		for range rng.IntN(300) {
			at += int64(rng.IntN(9) - 3)
			failed := uint32(rng.IntN(2))
			s.add(at, failed)
			w := want[at]
			want[at] = [2]uint32{w[0] + 1, w[1] + failed}
		}
		if rng.IntN(2) == 0 {
			s.coarsen(time.Second, 5*time.Second)
			coarse := map[int64][2]uint32{}
			for at, n := range want {
				k := int64(math.Floor(float64(at) / 5))
				coarse[k] = [2]uint32{coarse[k][0] + n[0], coarse[k][1] + n[1]}
			}
			want = coarse
		}
		if len(s.buckets) != len(want) || !slices.IsSortedFunc(s.buckets, func(a, b bucket) int { return int(a.at - b.at) }) {
			t.Fatalf("%d buckets of %d: %v", len(s.buckets), len(want), s.buckets)
		}
		for _, b := range s.buckets {
			if want[b.at] != [2]uint32{b.count, b.failed} {
				t.Fatalf("at %d: %v, want %v", b.at, b, want[b.at])
			}
		}
	}
	for i := 1; i < len(steps); i++ {
		if steps[i]%steps[i-1] != 0 {
			t.Errorf("%v is no multiple of %v", steps[i], steps[i-1])
		}
	}
}

func TestTable_Waits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := func(name string, bytes uint64, want time.Duration, latency func() float64) {
		t.Helper()
		table := NewTable(Options{})
		for range 2000 {
			ms := time.Duration(latency()) * time.Millisecond
			table.Add(&accessformat.Record{Method: []byte("GET"), Path: []byte("/x"), Status: 200, Bytes: bytes, Latency: ms, Has: accessformat.HasLatency})
		}
		w := table.Rows()[0].Waits
		if w.Suspect != (want > 0) || w.Step != want || w.Suspect != (w.Reason != "") || w.Suspect && (w.Share < waitShare || w.Share > 1) {
			t.Errorf("%s: %+v", name, w)
		}
	}
	f("a poll of 50 ms, ten times at most", 300, 50*time.Millisecond, func() float64 { return float64(min(1+rng.IntN(14), 10))*50 + rng.ExpFloat64()*2 })
	f("the same with pages", 30_000, 0, func() float64 { return float64(1+rng.IntN(10))*50 + rng.ExpFloat64()*2 })
	f("a wait of 10 s", 10, 10*time.Second, func() float64 { return 10_000 + rng.ExpFloat64()*20 })
	f("exponential", 300, 0, func() float64 { return rng.ExpFloat64() * 400 })
	f("log-normal", 300, 0, func() float64 { return 300 * math.Exp(rng.NormFloat64()) })
	f("one narrow peak", 300, 0, func() float64 { return 205 + rng.NormFloat64()*3 })
	f("fast", 300, 0, func() float64 { return 50 + rng.Float64()*2 })
}

// TestTable_Steps: a log of many days has a bounded series.
func TestTable_Steps(t *testing.T) {
	table := NewTable(Options{})
	for i := range 400_000 {
		table.Add(&accessformat.Record{Unix: int64(1629507600+i) * 1e9, Has: accessformat.HasTime, Method: []byte("GET"), Path: []byte("/"), Status: 200 + i%2*300})
	}
	rows := table.Rows()
	if table.Step() != 10*time.Minute || len(rows[0].Seconds) > maxBuckets {
		t.Errorf("step %v, %d buckets", table.Step(), len(rows[0].Seconds))
	}
	if secondsOf(&rows[0].Endpoint) != 400_000 || rows[0].Last-rows[0].First != 399_999*time.Second || rows[0].First < 0 {
		t.Errorf("%+v", rows[0].Endpoint)
	}
	for at := range rows[0].Seconds {
		if at < 0 || at%600 != 0 {
			t.Errorf("a bucket at %d s", at)
		}
	}
	if notes := strings.Join(table.Notes(), "; "); !strings.Contains(notes, "the series are in steps of 10m") {
		t.Errorf("notes %q", notes)
	}
}

// TestTable_StepsOfFolded: the record at which routes fold, so that the step of all series
// grows, has its place by the new step.
func TestTable_StepsOfFolded(t *testing.T) {
	const each, routes = 100, 600
	table := NewTable(Options{MaxRoutes: 100})
	second := int64(0)
	for i := range routes {
		path := []byte("/users/" + letters(uint64(i)*1_000_003))
		for range each {
			table.Add(&accessformat.Record{Unix: (1629507600 + second) * 1e9, Has: accessformat.HasTime, Method: []byte("GET"), Path: path, Status: 200})
			second++
		}
	}
	if table.Step() == time.Second {
		t.Fatal("no series was long enough")
	}
	var n uint64
	for _, row := range table.Rows() {
		for at := range row.Seconds {
			if at < 0 || int64(at) > second {
				t.Errorf("%s: requests at second %d of %d", row.Route, at, second)
			}
		}
		n += secondsOf(&row.Endpoint)
	}
	if n != each*routes {
		t.Errorf("%d requests in series, want %d", n, each*routes)
	}
}

// TestTable_LongRun: a run has its seconds, however many they are.
func TestTable_LongRun(t *testing.T) {
	started := time.Unix(1629507600, 0)
	table := NewTable(Options{Clock: func(at time.Time) time.Duration { return at.Sub(started) }, Interval: kasoku.Interval{To: 2 * time.Hour}})
	for i := range 7200 {
		table.Add(&accessformat.Record{Unix: started.UnixNano() + int64(i)*1e9, Resolution: time.Second, Has: accessformat.HasTime, Method: []byte("GET"), Path: []byte("/")})
	}
	if e := table.Endpoints()[0]; table.Step() != time.Second || len(e.Seconds) != 7200 || !table.Started().IsZero() {
		t.Errorf("step %v, %d seconds, from %v", table.Step(), len(e.Seconds), table.Started())
	}
}

// TestCollectAll_LongLine: a line without an end is cut, counted, and read as
// far as it goes.
func TestCollectAll_LongLine(t *testing.T) {
	good := "time:1629507600\tmethod:GET\turi:/a\tstatus:200\n"
	log := good + strings.Repeat("x", 3<<20) + "\n" + good + strings.TrimSuffix(good, "\n") + "\tua:" + strings.Repeat("y\x00", 1<<20) + "\r\n\n" + good
	table, windows, err := CollectAll(t.Context(), []lines.Input{{R: strings.NewReader(log)}}, Options{By: []string{"ua"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := windows[0]
	if w.Lines != 6 || w.Records != 4 || w.Blank != 1 || w.Dropped != 1 || w.BadSample[0].Line != 2 || !strings.Contains(w.Note, "2 lines longer than 1.0 MiB were cut") {
		t.Errorf("%+v", w)
	}
	if rows := table.Rows(); len(rows) != 2 || len(rows[1].Key[0]) > 2*maxKeyPart {
		t.Errorf("%d rows", len(rows))
	}
}

// TestCollectAll_Unknown: one log that is none does not spoil the others.
func TestCollectAll_Unknown(t *testing.T) {
	good := "time:1629507600\tmethod:GET\turi:/a\tstatus:200\n"
	late := strings.Repeat("nonsense\n", 200) + good
	table, windows, err := CollectAll(t.Context(), []lines.Input{
		{Path: "good", R: strings.NewReader(good)}, {Path: "bad", R: strings.NewReader("what\nis this\n")},
		{Path: "late", R: strings.NewReader(late)}, {Path: "empty", R: strings.NewReader("")},
	}, Options{}, nil)
	var unknown *accessformat.UnknownFormatError
	if !errors.As(err, &unknown) || unknown.Path != "bad" || unknown.Line != 1 || unknown.Text != "what" {
		t.Errorf("error %v", err)
	}
	if table.Records() != 2 || len(windows) != 4 || windows[1].Dropped != 2 || windows[2].Records != 1 || windows[2].Dropped != 200 || windows[3].Lines != 0 {
		t.Errorf("%d records, %+v", table.Records(), windows)
	}
	if _, _, err := CollectAll(t.Context(), []lines.Input{{Path: "/none/such"}}, Options{}, nil); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestTable_By(t *testing.T) {
	log := "time:1629507600\tmethod:GET\turi:/a/1?x\tstatus:200\thost:h1\tua:bot\tk:v\treqtime:0.1\n" +
		"time:1629507661\tmethod:POST\turi:/a/2\tstatus:503\thost:h2\tk:v\treqtime:0.1\n" +
		"time:1629511200\treq:\\x16\\x03\tstatus:400\thost:h1\n"
	f := func(by string, want string) {
		t.Helper()
		table, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{By: strings.Fields(by), Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range table.Rows() {
			got = append(got, fmt.Sprintf("%s|%s|%s %d", r.Method, r.Route, strings.Join(r.Key, ","), r.Count))
		}
		slices.Sort(got)
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: got %q, want %q", by, s, want)
		}
	}
	f("", `GET|/a/:id|GET,/a/:id 1; POST|/a/:id|POST,/a/:id 1; |(no request)|,(no request) 1`)
	f("route", `|(no request)|(no request) 1; |/a/:id|/a/:id 2`)
	f("host class", `||h1,2xx 1; ||h1,4xx 1; ||h2,5xx 1`)
	f("path k", `||,- 0`[:0]+`||, 1; ||/a/1,v 1; ||/a/2,v 1`)
	f("uri", `|| 1; ||/a/1?x 1; ||/a/2 1`)
	f("minute", `||2021-08-21T01:00 1; ||2021-08-21T01:01 1; ||2021-08-21T02:00 1`)
	f("hour bot", `||2021-08-21T01,false 1; ||2021-08-21T01,true 1; ||2021-08-21T02,false 1`)
	f("status route", `|(no request)|400,(no request) 1; |/a/:id|200,/a/:id 1; |/a/:id|503,/a/:id 1`)
	for _, by := range [][]string{{""}, {"a\tb"}, {"host", "host"}} {
		if _, _, err := Collect(lines.NewReader(strings.NewReader(log), 0), Options{By: by}); err == nil {
			t.Errorf("%q: no error", by)
		}
	}
}

// A distinctLog is a log of n requests to different addresses, written as it is
// read. Every hundredth is to one of three frequent routes.
type distinctLog struct {
	n, max int
	buf    []byte
	peak   uint64 // of memory, in bytes
}

func (l *distinctLog) Read(p []byte) (int, error) {
	for len(l.buf) < len(p) && l.n < l.max {
		l.n++
		path := fmt.Sprintf("/u%d/%s/page-%s", l.n%3, letters(uint64(l.n)*0x9e3779b97f4a7c15), letters(uint64(l.n)*0xbf58476d1ce4e5b9))
		if l.n%100 == 0 {
			path = []string{"/login", "/u1/me", "/"}[l.n/100%3]
		}
		l.buf = fmt.Appendf(l.buf, "time:%d\tmethod:GET\turi:%s\tstatus:200\treqtime:0.%03d\n", 1629507600+l.n/5000, path, l.n%1000)
	}
	if len(l.buf) == 0 {
		return 0, io.EOF
	}
	if l.n%50_000 < 3000 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		l.peak = max(l.peak, m.HeapSys+m.StackSys-m.HeapReleased)
	}
	n := copy(p, l.buf)
	l.buf = append(l.buf[:0], l.buf[n:]...)
	return n, nil
}

func letters(x uint64) string {
	var b []byte
	for range 8 {
		b = append(b, 'g'+byte(x%20))
		x /= 20
	}
	return string(b)
}

// TestCollectAll_Distinct: memory does not grow with the number of different
// addresses, and what is frequent is not lost among them.
func TestCollectAll_Distinct(t *testing.T) {
	log := &distinctLog{max: 300_000}
	if os.Getenv("KASOKU_LONG") != "" {
		log.max = 10_000_000
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	table, windows, err := CollectAll(t.Context(), []lines.Input{{R: log}}, Options{Workers: 2, Slowest: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if windows[0].Records != uint64(log.max) {
		t.Errorf("%d records", windows[0].Records)
	}
	counts := map[string]uint64{}
	var sum uint64
	for _, e := range table.Endpoints() {
		counts[e.Route] = e.Count
		sum += e.Count
	}
	near := func(route string) bool { return counts[route]-uint64(log.max)/300 <= 1 }
	if sum != uint64(log.max) || !near("/login") || !near("/u1/me") || !near("/") || len(counts) > 100 {
		t.Errorf("%d requests, %d rows, /login %d, /u1/me %d, / %d", sum, len(counts), counts["/login"], counts["/u1/me"], counts["/"])
	}
	if n := len(table.reg.keys); n > table.opts.tracked() {
		t.Errorf("%d keys", n)
	}
	if peak := log.peak - min(log.peak, before.HeapSys-before.HeapReleased); peak > 64<<20 {
		t.Errorf("%d MiB", peak>>20)
	} else {
		t.Logf("%d MiB, %d rows, %d keys, %d nodes", peak>>20, len(counts), len(table.reg.keys), table.reg.tree.Nodes())
	}
}
