package rules

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/diagnose/rules/web"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// The configuration of a shop, in two files.
var (
	shopConf = readShop("nginx.conf")
	shopSite = readShop("shop.conf")
)

func readShop(name string) string {
	text, err := os.ReadFile("web/testdata/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// shop is a recording with the shop's configuration and an access log of 10 s.
func shop(conf string, endpoints ...kasoku.Endpoint) *kasoku.Recording {
	for i := range endpoints {
		e := &endpoints[i]
		e.Seconds = map[int]kasoku.EndpointSecond{}
		for s := range 10 {
			e.Seconds[s] = kasoku.EndpointSecond{Count: e.Count / 10}
		}
		if e.Codes == nil {
			e.Codes = map[int]uint64{200: e.Count}
		}
	}
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}, Endpoints: endpoints}
	if conf != "" {
		rec.Configs = []kasoku.Config{
			{Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: conf},
			{Kind: capture.KindNginx, Name: "/etc/nginx/conf.d/shop.conf", Text: shopSite},
		}
	}
	return rec
}

func grows(rec *kasoku.Recording, source, name string, to float64) {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name}, Kind: kasoku.Counter}
	for i := range 11 {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: to * float64(i) / 10})
	}
	rec.Series = append(rec.Series, s)
}

func tells(rec *kasoku.Recording, text string, n uint64) {
	rec.Messages = append(rec.Messages, kasoku.Message{Kind: kasoku.MessageNginx, Level: "warn", Pattern: text, Sample: text, Count: n, Last: 9 * time.Second, Seconds: map[int]uint64{1: n}})
}

func passed(method, route string, count uint64, each time.Duration) kasoku.Endpoint {
	return kasoku.Endpoint{Method: method, Route: route, Count: count, Total: time.Duration(count) * each, UpstreamCount: count, Upstream: time.Duration(count) * each}
}

// TestKeepaliveEdits: what is proposed, put into the files, makes the rule silent.
func TestKeepaliveEdits(t *testing.T) {
	rec := shop(shopConf, passed("GET", "/a", 500, time.Millisecond))
	grows(rec, diagnose.Host, "tcp.active_opens", 500)
	found, silent := web.UpstreamKeepalive{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Object.String() != "upstream shop" {
		t.Fatalf("%+v %+v", found, silent)
	}
	edits := found[0].Fixes[0].Edits
	for _, e := range edits {
		done := false
		for i := range rec.Configs {
			text, err := nginxconf.Edit(rec.Configs[i].Text, e.Context, e.Lines)
			if err == nil {
				rec.Configs[i].Text, done = text, true
			}
		}
		if !done {
			t.Errorf("no file takes %+v", e)
		}
	}
	if found, silent := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || silent[0].Blind {
		t.Errorf("after its own edits: %+v %+v\n%s%s", found, silent, rec.Configs[0].Text, rec.Configs[1].Text)
	}
	if !strings.Contains(rec.Configs[1].Text, "proxy_set_header Host \"$host\"") {
		t.Errorf("a header that was inherited is lost:\n%s", rec.Configs[1].Text)
	}
}

// TestErrorLogLevel: what a log cannot show is blindness, not silence.
func TestErrorLogLevel(t *testing.T) {
	f := func(conf string, read, blind bool) {
		t.Helper()
		rec := shop(conf, passed("POST", "/a", 500, time.Millisecond))
		if read {
			rec.Logs = []kasoku.LogWindow{{Kind: "errorlog", Files: 1}}
		}
		found, silent := web.RequestSpooled{}.Check(diagnose.NewCase(rec, nil))
		if len(found) > 0 || silent[0].Blind != blind {
			t.Errorf("%+v %+v", found, silent)
		}
	}
	f(shopConf, true, true)
	f(shopConf, false, true)
	f("", true, true)
	f(strings.Replace(shopConf, "error.log;", "error.log warn;", 1), true, false)
	f(strings.Replace(shopConf, "error.log;", "error.log info;", 1), true, false)
	f(strings.Replace(shopConf, "error.log;", "error.log crit;", 1), true, true)
}

func TestSpooled(t *testing.T) {
	e := passed("POST", "/api/scans/:id", 500, 10*time.Millisecond)
	e.MaxRequestBytes = 70_000
	rec := shop(shopConf, e)
	tells(rec, "a client request body is buffered to a temporary file /t/1, request: POST /api/scans/17", 400)
	found, _ := web.RequestSpooled{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Object.String() != "location /api/" || found[0].Fixes[0].Edits[0].Lines != "client_body_buffer_size 128k;" {
		t.Fatalf("%+v", found)
	}
	rec.Endpoints[0].MaxRequestBytes = 5 << 20
	found, _ = web.RequestSpooled{}.Check(diagnose.NewCase(rec, nil))
	if !strings.HasPrefix(found[0].Fixes[0].Edits[0].Lines, "proxy_request_buffering off;") {
		t.Errorf("%+v", found[0].Fixes)
	}
	if found, _ := (web.ResponseSpooled{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

func TestBotsServed(t *testing.T) {
	e := passed("GET", "/list", 1000, 10*time.Millisecond)
	e.Bots, e.BotsPassed, e.BotsUpstream = 200, 200, 2*time.Second
	rec := shop("", e)
	found, _ := web.BotsServed{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Impact.Share != 0.2 || found[0].Risk() != kasoku.RiskSemantics || len(found[0].Fixes[0].Edits) != 2 {
		t.Fatalf("%+v", found)
	}
	rec.Settings = []kasoku.Setting{{Scope: "app", Name: "contract.bots", Value: "503"}}
	if found, _ = (web.BotsServed{}).Check(diagnose.NewCase(rec, nil)); found[0].Risk() != kasoku.RiskNone {
		t.Error("the contract allows it")
	}
	rec.Endpoints[0].BotsPassed = 0
	if found, silent := (web.BotsServed{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || silent[0].Blind {
		t.Errorf("%+v %+v", found, silent)
	}
}

func TestSharedAnswer(t *testing.T) {
	e := passed("GET", "/trend", 1000, 20*time.Millisecond)
	e.Paths, e.Variants = 1, 20
	check := func(e kasoku.Endpoint) ([]kasoku.Finding, []kasoku.Silence) {
		return cache.SharedAnswer{}.Check(diagnose.NewCase(shop("", e), nil))
	}
	if found, _ := check(e); len(found) != 1 || found[0].Object.String() != "endpoint GET /trend" || found[0].Confidence.Level == kasoku.High {
		t.Errorf("%+v", found)
	}
	personal, quick, old := e, e, e
	personal.Variants = 900
	quick.Upstream = time.Second
	old.Variants = 0
	for i, x := range []kasoku.Endpoint{personal, quick, old} {
		if found, silent := check(x); len(found) > 0 || silent[0].Blind != (i == 2) {
			t.Errorf("%d: %+v %+v", i, found, silent)
		}
	}
}

func TestBlobs(t *testing.T) {
	e := passed("GET", "/icons/:id", 400, 5*time.Millisecond)
	e.Bytes, e.Paths, e.Variants = 400*40_000, 50, 300
	rec := shop("", e)
	rec.Queries = []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: "select image from things where id = ?", Tables: []string{"things"}, Calls: 400}}
	if found, _ := (web.Blobs{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 {
		t.Errorf("without a sign of bytes: %+v", found)
	}
	rec.Tables = []kasoku.TableDef{{Name: "things", Create: "CREATE TABLE `things` (\n  `id` bigint NOT NULL,\n  `image` longblob NOT NULL\n)"}}
	found, silent := web.Blobs{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Object.String() != "endpoint GET /icons/:id" {
		t.Errorf("%+v %+v", found, silent)
	}
	rec.Callers = []kasoku.Caller{{QueryID: "A", Method: "GET", Route: "/others"}}
	if found, _ := (web.Blobs{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 {
		t.Errorf("another endpoint runs it: %+v", found)
	}
}

func TestForks(t *testing.T) {
	scans := passed("POST", "/scans", 200, 5*time.Millisecond)
	rec := shop("", scans, passed("GET", "/a", 2000, time.Millisecond))
	grows(rec, diagnose.Host, "forks", 250)
	if found, silent := (application.Forks{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || silent[0].Blind {
		t.Errorf("anybody's forks: %+v %+v", found, silent)
	}
	forks := &rec.Series[0]
	for s := range 10 { // the scans come in bursts, and the forks with them
		n := uint64(40 * (s % 2))
		rec.Endpoints[0].Seconds[s] = kasoku.EndpointSecond{Count: n}
		forks.Points[s+1].Value = forks.Points[s].Value + 5 + float64(n)
	}
	found, silent := application.Forks{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Object.String() != "endpoint POST /scans" {
		t.Errorf("%+v %+v", found, silent)
	}
}

func TestCachePasses(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}}
	grows(rec, "varnish", "MAIN.client_req", 1000)
	grows(rec, "varnish", "MAIN.s_pass", 1000)
	grows(rec, "varnish", "MAIN.cache_hit", 0)
	if found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil)); len(found) != 1 {
		t.Errorf("%+v", silent)
	}
	for i := range rec.Series[1].Points {
		rec.Series[1].Points[i].Value *= 0.8
	}
	if found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || silent[0].Blind {
		t.Errorf("%+v", found)
	}
}

// TestWebTitles: titles fit a line, and each finding quotes something.
func TestWebTitles(t *testing.T) {
	ids := []string{"NGX-01", "NGX-02", "NGX-03", "NGX-04", "NGX-05", "NGX-06", "NGX-08", "NGX-09", "CCH-01", "CCH-02", "APP-01", "APP-02"}
	for _, r := range All() {
		if !slices.Contains(ids, r.ID()) {
			continue
		}
		for _, k := range keptRuns(t, r.ID()) {
			found, _ := r.Check(k.c)
			for _, f := range found {
				if len(f.Title) > 70 || len(f.Evidence) == 0 || f.Expect == "" || f.Verify == "" || len(f.Fixes) == 0 {
					t.Errorf("%s: %+v", k.path, f)
				}
			}
		}
	}
}
