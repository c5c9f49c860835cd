package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/internal/test/mackereltest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/wire/graphite"
	"github.com/kasoku/kasoku/wire/mackerel"
)

// recent is the recording as of some minutes ago, which Carbon still keeps.
func recent() *kasoku.Recording {
	rec := recording()
	rec.Run.Started = time.Now().Add(-5 * time.Minute)
	return rec
}

// TestCarbon: what a run holds is in Carbon's files, by each way to it.
func TestCarbon(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts carbon-cache and go-carbon")
	}
	t.Parallel()
	for name, server := range map[string]func(testing.TB, sandbox.CarbonOptions) *sandbox.CarbonServer{
		"carbon-cache": sandboxtest.Carbon, "go-carbon": sandboxtest.GoCarbon,
	} {
		t.Run(name, func(t *testing.T) { filesOf(t, server(t, sandbox.CarbonOptions{})) })
	}
}

// filesOf sends a run to a server in each way and reads its files.
func filesOf(t *testing.T, c *sandbox.CarbonServer) {
	t.Helper()
	rec := recent()
	for protocol, address := range map[graphite.Protocol]string{graphite.Line: c.LineAddr(), graphite.Pickle: c.PickleAddr(), graphite.UDP: c.UDPAddr()} {
		out, err := NewCarbon(CarbonOptions{Options: graphite.Options{Address: address, Protocol: protocol}, Prefix: "by." + string(protocol), Start: rec.Run.Started})
		if err != nil {
			t.Fatal(err)
		}
		if err := Recording(t.Context(), rec, Rates, nil, out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		prefix := "by." + string(protocol) + ".web1."
		first := second(rec.Run.Started, 0)
		expect(t, c, prefix+"host.cpu.user", map[int64]float64{first + 1: 0.5, first + 2: 1.5, first + 4: 0.5})
		expect(t, c, prefix+"host.disk.reads.vda", map[int64]float64{first + 1: 50, first + 2: 20})
		expect(t, c, prefix+"mysql.Threads_connected", map[int64]float64{first: 3, first + 1: 151})
		expect(t, c, prefix+"process.rss.12_a_b_c__1_1", map[int64]float64{first: 1 << 30})
		expect(t, c, prefix+"load.latency.p99", map[int64]float64{first + 1: 0.03})
	}
}

// TestGraphiteWeb: graphite-web gives back what a run held, with its times.
func TestGraphiteWeb(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts carbon-cache and graphite-web")
	}
	t.Parallel()
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	web := sandboxtest.GraphiteWeb(t, c)
	rec := recent()
	out, err := NewCarbon(CarbonOptions{Options: graphite.Options{Address: c.PickleAddr(), Protocol: graphite.Pickle}, Prefix: "kasoku", Start: rec.Run.Started})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Recording(t.Context(), rec, Rates, nil, out), out.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	first := second(rec.Run.Started, 0)
	const name = "kasoku.web1.host.cpu.user"
	want := fmt.Sprint([]graphite.Series{{Target: name, Points: []graphite.Point{{Path: name, Time: first + 1, Value: 0.5}, {Path: name, Time: first + 2, Value: 1.5}, {Path: name, Time: first + 4, Value: 0.5}}}})
	sandboxtest.Until(t, want, func() bool {
		res, err := http.Get(fmt.Sprintf("%s/render/?target=kasoku.*.host.cpu.user&format=json&from=%d&until=%d", web.URL(), first-10, first+10))
		if err != nil {
			return false
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return false
		}
		got, err := graphite.ParseRender(body)
		return err == nil && fmt.Sprint(got) == want
	})
}

// expect waits until a metric has these points and no others.
func expect(t *testing.T, c *sandbox.CarbonServer, metric string, want map[int64]float64) {
	t.Helper()
	got := map[int64]float64{}
	sandboxtest.Until(t, metric+" is written", func() bool {
		points, err := c.Points(metric)
		if err != nil {
			t.Log(err) // it is being made
			return false
		}
		clear(got)
		for _, p := range points {
			got[p.Time] = p.Value
		}
		return len(got) >= len(want)
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", metric, got, want)
	}
}

// TestCarbonComesBack: a live export goes on while Carbon is away, and sends what it
// kept when there is one again.
func TestCarbonComesBack(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts carbon-cache")
	}
	t.Parallel()
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	start := time.Now().Add(-10 * time.Minute)
	out, err := NewCarbon(CarbonOptions{Options: graphite.Options{Address: c.LineAddr(), Protocol: graphite.Line}, Start: start, Drop: true})
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive(LiveOptions{Output: out})
	tick := func(n int) {
		f := &kasoku.Frame{Host: "web1", Source: "host", At: time.Duration(n) * time.Second}
		f.Gauge("load.1", "", "count", float64(n))
		if err := live.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	tick(0)
	expect(t, c, "web1.host.load.1", map[int64]float64{second(start, 0): 0})
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := 0
	sandboxtest.Until(t, "that no one listens is seen", func() bool {
		n++
		tick(n % 100)
		return out.Stats().Failures >= 2
	})
	again := sandboxtest.Carbon(t, sandbox.CarbonOptions{LinePort: c.LinePort})
	tick(200)
	last := second(start, 200*time.Second)
	sandboxtest.Until(t, "the last tick is written", func() bool {
		points, err := again.Points("web1.host.load.1")
		return err == nil && len(points) > 1 && points[len(points)-1].Time == last
	})
	// Whether the first one had read all, when it was stopped, cannot be known.
	if err := out.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "is not known") || out.Stats().Dropped > 0 {
		t.Errorf("%v, %+v", err, out.Stats())
	}
}

// TestPrometheusReads: Prometheus takes a run's text into its database, with each
// value at its time, and its linter finds nothing in what is shown live.
func TestPrometheusReads(t *testing.T) {
	if testing.Short() {
		t.Skip("runs promtool")
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "run.om")
	f, err := os.Create(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := OpenMetrics(f, recording(), nil); err != nil {
		t.Fatal(err)
	}
	f.Close()
	db := filepath.Join(dir, "db")
	promtool(t, "", "tsdb", "create-blocks-from", "openmetrics", text, db)
	if err := os.Mkdir(filepath.Join(db, "wal"), 0o755); err != nil { // dump wants one
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil { // from 2.50 on it wants that where it works
		t.Fatal(err)
	}
	t.Chdir(dir)
	dump := promtool(t, "", "tsdb", "dump", db)
	for _, want := range []string{
		`{__name__="kasoku_host_cpu_user_seconds_total", host="web1"} 10.5 1795183332595`,
		`{__name__="kasoku_host_disk_reads_total", entity="vda", host="web1"} 20 1795183333595`,
		`{__name__="kasoku_mysql_threads_connected", host="web1"} 151 1795183332595`,
		`{__name__="kasoku_process_rss_bytes", entity="12 a\"b,c =1+1", host="web1"} 1.073741824e+09 1795183331595`,
		`{__name__="kasoku_load_latency_p99_seconds", host="web1"} 0.03 1795183332592`,
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("the database lacks\n%s\nit has\n%s", want, dump)
		}
	}
	page := livePage(t)
	if said := promtool(t, string(page.text(0)), "check", "metrics"); said != "" {
		t.Errorf("promtool check metrics says\n%s", said)
	}
}

// TestPrometheusLint: names that servers give, and Prometheus would not, are none that
// its linter minds.
func TestPrometheusLint(t *testing.T) {
	if testing.Short() {
		t.Skip("runs promtool")
	}
	page := NewPage("web1", time.Now(), time.Minute, nil)
	f := &kasoku.Frame{Host: "web1", Source: "x"}
	f.Gauge("Innodb_buffer_pool_pages_total", "", "count", 1)
	f.Gauge("Innodb_row_lock_time_avg", "", "ms", 1500)
	f.Counter("Innodb_row_lock_time", "", "ms", 2500)
	f.Counter("carbonserver.disk_wait_time_ns", "", "s", 1)
	f.Gauge("conntrack.count", "", "count", 1)
	f.Gauge("conntrack", "", "count", 1)
	f.Counter("binlog_commits_total", "", "count", 1)
	f.Gauge("requests", "GET /", "count/s", 1)
	if err := NewLive(LiveOptions{Output: page, Form: Raw}).Frame(f); err != nil {
		t.Fatal(err)
	}
	text := string(page.text(0))
	if said := promtool(t, text, "check", "metrics"); said != "" {
		t.Errorf("promtool check metrics says\n%s", said)
	}
	for _, want := range []string{
		"\nkasoku_x_innodb_buffer_pool_pages_total_value{host=\"web1\"} 1\n", "\nkasoku_x_innodb_row_lock_time_avg_seconds{host=\"web1\"} 1.5\n",
		"\nkasoku_x_innodb_row_lock_time_seconds_total{host=\"web1\"} 2.5\n", "\nkasoku_x_conntrack_count_value{host=\"web1\"} 1\n",
		"\nkasoku_x_binlog_commits_total{host=\"web1\"} 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func promtool(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("promtool", args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %v: %v\n%s\n`tools/setup test` installs it", args, err, out)
	}
	return string(out)
}

// livePage is a page with the samples of the recording.
func livePage(t *testing.T) *Page {
	t.Helper()
	page := NewPage("web1", time.Now(), time.Minute, []string{"host", "mysql", "nginx"})
	live := NewLive(LiveOptions{Output: page, Form: Raw})
	for _, source := range []string{"host", "mysql", "process", "locks"} {
		f := &kasoku.Frame{Host: "web1", Source: source}
		for _, s := range recording().Series {
			if s.Key.Source == source {
				f.Samples = append(f.Samples, kasoku.Sample{Name: s.Key.Name, Instance: s.Key.Instance, Unit: s.Unit, Kind: s.Kind, Value: s.Points[0].Value})
			}
		}
		if err := live.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	return page
}

// TestPrometheusScrapes: a real server scrapes the page and answers what is on it.
func TestPrometheusScrapes(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("runs prometheus")
	}
	t.Parallel()
	server, err := Serve("127.0.0.1:0", livePage(t), localhttp.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	at, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: kasoku, static_configs: [{targets: ['%s']}]}]\n", at.Host)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	address := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := exec.CommandContext(ctx, "prometheus", "--config.file="+conf, "--storage.tsdb.path="+filepath.Join(dir, "db"), "--web.listen-address="+address, "--log.level=error")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; `tools/setup test` installs it", err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed
	}()
	for query, want := range map[string]string{
		`kasoku_host_cpu_user_seconds_total{host="web1"}`:      "10",
		`kasoku_host_disk_reads_total{entity="vda"}`:           "100",
		`kasoku_process_rss_bytes{entity="12 a\"b,c =1+1"}`:    "1073741824",
		`kasoku_source_up{source="locks"}`:                     "1",
		`kasoku_source_up{source="nginx"}`:                     "0",
		`up{job="kasoku"}`:                                     "1",
		`count({__name__=~"kasoku_mysql_.*",job=~"kasoku.*"})`: "1",
	} {
		got := ""
		sandboxtest.Until(t, query+" has a value", func() bool {
			got = ask(address, query)
			return got == want
		})
		if got != want {
			t.Errorf("%s is %q, want %q", query, got, want)
		}
	}
}

// ask asks Prometheus for a single value, empty without one.
func ask(address, query string) string {
	resp, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if json.Unmarshal(body, &answer) != nil || len(answer.Data.Result) != 1 {
		return ""
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}

func mackerelTo(t *testing.T, live bool, start time.Time) (*mackereltest.Server, *Mackerel) {
	t.Helper()
	s := mackereltest.New(t, map[string]string{"web1": "2eQGEaLxibb"})
	c, err := mackerel.New(mackerel.Options{Key: mackereltest.Key, Base: s.URL, FirstWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return s, NewMackerel(MackerelOptions{Client: c, Start: start, HostIDs: map[string]string{"web1": "2eQGEaLxibb"}, Service: mackereltest.Service, Live: live})
}

// TestMackerel: a run is reported by the minute, its mean and its worst second, the
// load's for the service; a service that is busy is asked again.
func TestMackerel(t *testing.T) {
	start := time.Unix(1795183320, 0) // a whole minute
	s, out := mackerelTo(t, false, start)
	s.Fail("", 429, 0)
	if err := Recording(t.Context(), recording(), Rates, nil, Filtered(out, HasNoEntity)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]mackereltest.Value{}
	for _, v := range s.Values() {
		got[v.Name] = v
		if v.Time != 1795183320 {
			t.Errorf("%+v is not of the minute", v)
		}
	}
	f := func(name, host string, want float64) {
		t.Helper()
		if v, posted := got[name]; !posted || v.Host != host || v.Value < want-1e-9 || v.Value > want+1e-9 {
			t.Errorf("%s is %+v, want %v of %q", name, v, want, host)
		}
	}
	f("custom.kasoku.host.cpu.user.avg", "2eQGEaLxibb", 2.5/3)
	f("custom.kasoku.host.cpu.user.max", "2eQGEaLxibb", 1.5)
	f("custom.kasoku.mysql.Threads_connected.avg", "2eQGEaLxibb", 77)
	f("kasoku.load.requests.max", "", 3)
	f("kasoku.score.score.avg", "", 1234)
	if _, posted := got["custom.kasoku.host.disk.reads.vda.avg"]; posted {
		t.Error("an entity was posted")
	}
	if st := out.Stats(); st.Host+st.Service != len(s.Values()) || st.Lost != 0 {
		t.Errorf("%+v", st)
	}
	made, err := Annotate(t.Context(), out.o.Client, recording(), mackereltest.Service, []string{mackereltest.Role})
	if err != nil || made != 3 || len(s.Annotations()) != 3 {
		t.Errorf("%d annotations, %+v: %v", made, s.Annotations(), err)
	}
}

// TestMackerelLive: a minute is posted once, when it is over, and the rest at the end.
func TestMackerelLive(t *testing.T) {
	start := time.Unix(1795183320+30, 0)
	s, out := mackerelTo(t, true, start)
	posted := func(n int) int {
		f := &kasoku.Frame{Host: "web1", Source: "host", At: time.Duration(n) * time.Second}
		f.Gauge("load.1", "", "count", float64(n))
		if err := NewLive(LiveOptions{Output: out}).Frame(f); err != nil {
			t.Fatal(err)
		}
		return len(s.Values())
	}
	for n := range 36 { // till 14:02:05, the minute before is over, but sources are late
		if got := posted(n); got != 0 {
			t.Fatalf("%d values after %d s", got, n)
		}
	}
	if got := posted(36); got != 2 {
		t.Fatalf("%d values after the minute", got)
	}
	posted(29) // too late
	if got := posted(37); got != 2 || out.Stats().Late != 1 {
		t.Fatalf("%d values, %+v", got, out.Stats())
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "[{2eQGEaLxibb custom.kasoku.host.load.1.avg 1795183320 14.5} {2eQGEaLxibb custom.kasoku.host.load.1.max 1795183320 29} " +
		"{2eQGEaLxibb custom.kasoku.host.load.1.avg 1795183380 33.5} {2eQGEaLxibb custom.kasoku.host.load.1.max 1795183380 37}]"
	if got := fmt.Sprint(s.Values()); got != want {
		t.Errorf("posted %s, want %s", got, want)
	}
}

// TestMackerelRefuses: what is not posted is counted and reported.
func TestMackerelRefuses(t *testing.T) {
	s, out := mackerelTo(t, false, started)
	s.Fail("", 403, 403)
	if err := Recording(t.Context(), recording(), Rates, Selection{"host.cpu.*"}, out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(t.Context()); err == nil || strings.Contains(err.Error(), mackereltest.Key) || out.Stats().Lost != 2 {
		t.Errorf("%v, %+v", err, out.Stats())
	}
}

// TestMackerelGraphs: each graph is defined once, all entities of a metric have one;
// when that is refused, the values are posted all the same, and it is tried again.
func TestMackerelGraphs(t *testing.T) {
	start := time.Unix(1795183320, 0)
	s, out := mackerelTo(t, true, start)
	live := NewLive(LiveOptions{Output: out})
	minute := func(n int) error {
		t.Helper()
		f := &kasoku.Frame{Host: "web1", Source: "host", At: time.Duration(n) * time.Minute}
		f.Gauge("mem.free", "", "bytes", 1)
		f.Gauge("disk.util", "vda", "ratio", 1)
		f.Gauge("disk.util", "v.db", "ratio", 1)
		f.Counter("cpu.user", "", "s", float64(n))
		f.Gauge("load.1", "", "count", 1)
		return live.Frame(f)
	}
	if err := minute(0); err != nil {
		t.Fatal(err)
	}
	s.Fail("", 403)
	if err := minute(2); err == nil || !strings.Contains(err.Error(), "define graphs") || len(s.Graphs()) != 0 || len(s.Values()) != 8 {
		t.Fatalf("%d graphs, %d values: %v", len(s.Graphs()), len(s.Values()), err)
	}
	for n := 4; n < 10; n += 2 {
		if err := minute(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range s.Graphs() {
		got = append(got, fmt.Sprintf("%s %q %s", g.Name, g.Label, g.Unit))
	}
	want := `custom.kasoku.host.cpu.user "kasoku host cpu.user (s/s)" float
custom.kasoku.host.disk.util.# "kasoku host disk.util (ratio)" float
custom.kasoku.host.load.1 "kasoku host load.1" float
custom.kasoku.host.mem.free "kasoku host mem.free" bytes`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if l := s.Graphs()[1].Lines; len(l) != 2 || l[0].Name != "custom.kasoku.host.disk.util.#.avg" || l[1].Label != "worst second" || l[1].Stacked {
		t.Errorf("%+v", l)
	}
	if st := out.Stats(); st.Graphs != 4 || st.Lost != 0 {
		t.Errorf("%+v", st)
	}
}

// TestPage: a source that is silent is down and shows nothing; one that has nothing to
// say is up.
func TestPage(t *testing.T) {
	page := livePage(t)
	text := string(page.text(0))
	for _, want := range []string{
		"\nkasoku_source_up{host=\"web1\",source=\"locks\"} 1\n", "\nkasoku_source_up{host=\"web1\",source=\"nginx\"} 0\n",
		"\n# TYPE kasoku_host_cpu_user_seconds_total counter\nkasoku_host_cpu_user_seconds_total{host=\"web1\"} 10\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	page.now = func() time.Duration { return time.Hour }
	if text := string(page.text(0)); strings.Contains(text, "cpu_user") || !strings.Contains(text, "source=\"host\"} 0\n") {
		t.Errorf("an hour later the page shows\n%s", text)
	}
	if page.Scrapes() != 2 {
		t.Errorf("%d scrapes", page.Scrapes())
	}
}
