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

func addMessage(rec *kasoku.Recording, text string, n uint64) {
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
	addMessage(rec, "a client request body is buffered to a temporary file /t/1, request: POST /api/scans/17", 400)
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

// TestSpooled_Usual: few uploads among many requests are a remark, when nginx writes each of
// them to disk; one of many to the same endpoint is none.
func TestSpooled_Usual(t *testing.T) {
	for _, x := range []struct {
		uploads uint64
		remark  bool
	}{{24, true}, {200, false}} {
		rec := shop(shopConf, passed("GET", "/api/scans", 20_000, time.Millisecond),
			passed("POST", "/api/scans/:id", x.uploads, 10*time.Millisecond))
		addMessage(rec, "a client request body is buffered to a temporary file /t/1, request: POST /api/scans/17", 24)
		found, silent := web.RequestSpooled{}.Check(diagnose.NewCase(rec, nil))
		if x.remark != (len(found) == 1) || x.remark && found[0].Severity != kasoku.Info {
			t.Errorf("%d: %+v %+v", x.uploads, found, silent)
		}
	}
}

func TestBotsServed(t *testing.T) {
	e := passed("GET", "/list", 1000, 10*time.Millisecond)
	e.Bots, e.BotsPassed, e.BotsUpstream = 200, 200, 2*time.Second
	rec := shop("", e)
	found, _ := web.BotsServed{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Impact.Share != 0.2 || found[0].Risk() != kasoku.RiskSemantics || len(found[0].Fixes[0].Edits) != 0 {
		t.Fatalf("%+v", found)
	}
	for _, b := range []kasoku.NamedBot{{Name: "somebot", Requests: 100, Passed: 90}, {Name: "googlebot", Requests: 60, Passed: 60},
		{Name: "uptimerobot", Requests: 20, Passed: 20}, {Name: "newsbot", Requests: 5, Passed: 5}, {Name: "newsbot-feed", Requests: 5, Passed: 5},
		{Name: "a|.*bot", Requests: 20, Passed: 20}} {
		rec.Settings = append(rec.Settings, b.Setting(""))
	}
	found, _ = web.BotsServed{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || len(found[0].Fixes) != 2 || found[0].Impact.Share != 0.09 {
		t.Fatalf("%+v", found)
	}
	for i, want := range []string{`(?:^|[^a-z])(?:somebot)(?:[^a-z]|$)`, `(?:^|[^a-z])(?:googlebot)(?:[^a-z]|$)`} {
		if got := found[0].Fixes[i].Edits[0].Lines; !strings.Contains(got, `"~*`+want+`" 1;`) {
			t.Error(got)
		}
	}
	counted := map[string]string{}
	for _, e := range found[0].Evidence {
		counted[e.Text] = e.Value
	}
	for text, want := range map[string]string{"the fix refuses": "90", "it lets pass search engines and previews of links": "60",
		"it lets pass monitors, payments and feed readers": "30", "it lets pass bots without a name": "20",
		"it lets pass all that do not say that they are bots": "800"} {
		if counted[text] != want {
			t.Errorf("%s: %q, want %s", text, counted[text], want)
		}
	}
	rec.Settings = []kasoku.Setting{{Scope: "app", Name: "contract.bots", Value: "503"}}
	if found, _ = (web.BotsServed{}).Check(diagnose.NewCase(rec, nil)); found[0].Risk() != kasoku.RiskNone {
		t.Error("the contract allows it")
	}
	rec.Settings = kasoku.Terms{Route: "/list", Failure: "10 points"}.Settings()
	if found, _ = (web.BotsServed{}).Check(diagnose.NewCase(rec, nil)); !strings.Contains(found[0].Fixes[0].Note, "GET /list (10 points): does that hold for bots?") {
		t.Errorf("%q", found[0].Fixes[0].Note)
	}
	rec.Endpoints[0].BotsPassed, rec.Endpoints[0].Codes = 0, map[int]uint64{200: 800, 503: 200}
	found, silent := web.BotsServed{}.Check(diagnose.NewCase(rec, nil))
	if len(found) > 0 || silent[0].Blind || !strings.Contains(silent[0].Reason, "nginx answered up to 200 of them with 503 itself") {
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
	if found, _ := check(e); len(found) == 1 && !strings.Contains(found[0].Cause, " requests for 1 URI; ") {
		t.Error(found[0].Cause)
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
	// Quick ones where keeping them saves much: 4.5 ms of the 6 that requests take, not of 1,000.
	worth, trifle := e, e
	worth.Upstream, worth.Total = 4500*time.Millisecond, 6*time.Second
	trifle.Upstream = 4500 * time.Millisecond
	if found, silent := check(worth); len(found) != 1 {
		t.Errorf("%+v", silent)
	}
	other := passed("GET", "/slow", 1000, time.Second)
	if found, _ := (cache.SharedAnswer{}).Check(diagnose.NewCase(shop("", trifle, other), nil)); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	// Dear ones from two at a time on; not where answers differ by who asks, or wait by their name.
	dear := e
	dear.Variants, dear.Upstream = 500, 100*time.Second
	alternate, queue := e, e
	alternate.Varied = 400
	queue.Route = "/queue/head"
	for i, x := range []kasoku.Endpoint{dear, alternate, queue} {
		if found, silent := check(x); (len(found) == 1) != (i == 0) {
			t.Errorf("%d: %+v %+v", i, found, silent)
		}
	}
}

// TestSharedAnswer_AsksWho: an endpoint with one URI that looks a row up by many values answers by who
// asks; one that asks for the same each time, whose lookups are hardly its own, or come by the URI, does not.
func TestSharedAnswer_AsksWho(t *testing.T) {
	for name, tt := range map[string]struct {
		distinct uint64
		per      float64
		class    kasoku.CallerClass
		paths    uint64
		silent   bool
	}{
		"by a session":        {40, 1, kasoku.CallerConfirmed, 1, true},
		"likely":              {40, 1, kasoku.CallerHigh, 1, true},
		"the same value":      {1, 1, kasoku.CallerConfirmed, 1, false},
		"five settings each":  {5, 5, kasoku.CallerConfirmed, 1, false},
		"not known to be its": {40, 1, kasoku.CallerPossible, 1, false},
		"in a tenth of them":  {40, 0.1, kasoku.CallerConfirmed, 1, false},
		"by the URI":          {40, 1, kasoku.CallerConfirmed, 40, false},
		"values not counted":  {0, 1, kasoku.CallerConfirmed, 1, false},
	} {
		e := passed("GET", "/trend", 1000, 20*time.Millisecond)
		e.Paths, e.Variants = tt.paths, 20
		rec := shop("", e)
		rec.Queries = append(rec.Queries, kasoku.Query{ID: "WHO", Verb: "SELECT", Fingerprint: "select team_id from users where id = ?",
			Calls: 1000, Distinct: tt.distinct})
		rec.Callers = append(rec.Callers, kasoku.Caller{QueryID: "WHO", Method: "GET", Route: "/trend", Class: tt.class,
			PerRequest: tt.per, Requests: 1000})
		found, silent := (cache.SharedAnswer{}).Check(diagnose.NewCase(rec, nil))
		if (len(found) == 0) != tt.silent || tt.silent && !strings.Contains(silent[0].Reason, "who asks: select team_id") {
			t.Errorf("%s: %+v %+v", name, found, silent)
		}
	}
}

// TestSharedAnswer_Alternates: a contract says how old an answer may be, not that all share it. Sizes that alternate
// are answers that overtake one another where what the endpoint's requests look up is known, and is not who asks.
func TestSharedAnswer_Alternates(t *testing.T) {
	stale := 10 * time.Second
	const ranking = "select score from jobs where finished_at >= ?"
	for name, tt := range map[string]struct {
		text     string
		distinct uint64
		per      float64
		class    kasoku.CallerClass
		paths    uint64
		mean     time.Duration
		silent   string
	}{
		"overtake":            {ranking, 300, 1, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, ""},
		"quick":               {ranking, 300, 1, kasoku.CallerConfirmed, 1, 30 * time.Millisecond, "differ by who asks"},
		"no statement":        {"", 0, 1, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, "up is not known"},
		"several URIs":        {ranking, 300, 1, kasoku.CallerConfirmed, 4, 300 * time.Millisecond, "up is not known"},
		"not surely its":      {ranking, 300, 1, kasoku.CallerPossible, 1, 300 * time.Millisecond, "up is not known"},
		"its own for some":    {"select a from b where user_id = ?", 300, 0.3, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, "up is not known"},
		"perhaps its own":     {"select a from b where user_id = ?", 300, 1, kasoku.CallerPossible, 1, 300 * time.Millisecond, "up is not known"},
		"values not counted":  {"select a from b where user_id = ?", 0, 1, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, "up is not known"},
		"settings, the same":  {"select a from b where name = ?", 1, 1, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, ""},
		"in a join's ON":      {"select a from p left join l on l.post = p.id and l.user_id = ? where p.at > ?", 300, 1, kasoku.CallerConfirmed, 1, 300 * time.Millisecond, "from request to request"},
		"in what is selected": {"select if(user_id = ?, 1, 0) from p where p.at > ?", 300, 1, kasoku.CallerHigh, 1, 300 * time.Millisecond, "from request to request"},
	} {
		e := passed("GET", "/trend", 1000, tt.mean)
		e.Paths, e.Variants, e.Varied = tt.paths, 20, 400
		rec := shop("", e)
		rec.Settings = kasoku.Terms{Route: "GET /trend", Stale: &stale}.Settings()
		if tt.text != "" {
			rec.Queries = []kasoku.Query{{ID: "Q", Verb: "SELECT", Fingerprint: tt.text, Calls: 1000, Distinct: tt.distinct}}
			rec.Callers = []kasoku.Caller{{QueryID: "Q", Method: "GET", Route: "/trend", Class: tt.class, PerRequest: tt.per, Requests: 1000}}
		}
		found, silent := (cache.SharedAnswer{}).Check(diagnose.NewCase(rec, nil))
		if (len(found) == 1) != (tt.silent == "") || tt.silent != "" && !strings.Contains(silent[0].Reason, tt.silent) {
			t.Errorf("%s: %+v %+v", name, found, silent)
		}
	}
}

// TestSharedAnswer_Queued: where neighbours leave no CPU, answers are slow whatever they cost; what they cost
// the service itself is worth keeping then too, and on a host that has CPU left all of their time is.
func TestSharedAnswer_Queued(t *testing.T) {
	e := passed("GET", "/trend", 1000, 20*time.Millisecond)
	e.Paths, e.Variants = 1, 20
	f := func(busy, app float64, want string) {
		t.Helper()
		b := ladder().cpu(0.1, busy).program("10 mysqld", 0.1, 1e9).program("20 shop", app, 1e8).
			program("94 cc1plus", busy-app-0.1, 1e9).measured()
		b.Endpoints = shop("", e).Endpoints
		found, silent := (cache.SharedAnswer{}).Check(b.alone())
		switch {
		case want == "":
			if len(found) != 1 {
				t.Errorf("%+v", silent)
			}
		case len(found) > 0 || !strings.Contains(silent[0].Reason, want):
			t.Errorf("%+v %+v", found, silent)
		}
	}
	f(1.88, 0.2, "GET /trend took 20.0 ms, of which 3.00 ms need not be a wait for CPU: it was 99.0 % busy")
	f(1.88, 1.0, "")
	f(0.60, 0.2, "")
}

// TestSharedAnswerContract: what must be fresh is not kept, what may be old is kept for
// less, and without a contract the finding asks.
func TestSharedAnswerContract(t *testing.T) {
	e := passed("GET", "/trend", 1000, 200*time.Millisecond)
	e.Paths, e.Variants = 1, 20
	check := func(stale string) ([]kasoku.Finding, []kasoku.Silence) {
		rec := shop("http { server { location / { proxy_pass http://127.0.0.1:8000; } } }", e)
		if d, err := time.ParseDuration(stale); err == nil {
			rec.Settings = kasoku.Terms{Route: "GET /trend", Stale: &d}.Settings()
		}
		return cache.SharedAnswer{}.Check(diagnose.NewCase(rec, nil))
	}
	keeps := func(stale string, wants ...string) {
		t.Helper()
		found, _ := check(stale)
		if len(found) != 1 {
			t.Fatalf("%q: %+v", stale, found)
		}
		text := found[0].Fixes[0].Text + found[0].Fixes[0].Note + found[0].Fixes[0].Code
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not say %q:\n%s", stale, want, text)
			}
		}
	}
	keeps("", "May GET /trend be 1 s old?", "stale = '1s'", "proxy_cache_valid 200 1s;")
	keeps("10s", "for less than the 10s that [contract] allows", "proxy_cache_valid 200 9s;")
	keeps("1s", "beresp.ttl = 800ms", "beresp.grace = 0s")
	for _, stale := range []string{"0s", "100ms"} {
		if found, silent := check(stale); len(found) > 0 || !strings.Contains(silent[0].Reason, "GET /trend must be fresh") {
			t.Errorf("%q: %+v %+v", stale, found, silent)
		}
	}
	// What waits by design is not kept either.
	e.Latency = spread(200*time.Millisecond, 1000)
	other := passed("GET", "/a", 1000, 10*time.Millisecond)
	other.Latency = spread(10*time.Millisecond, 1000)
	found, silent := cache.SharedAnswer{}.Check(diagnose.NewCase(shop("", e, other), nil))
	if len(found) > 0 || !strings.Contains(silent[0].Reason, "GET /trend waits by design") {
		t.Errorf("%+v %+v", found, silent)
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

// TestBlobs_OneStatement: a statement that reads the pictures of all kinds has the bytes a call of none of them.
func TestBlobs_OneStatement(t *testing.T) {
	png, gif, page := passed("GET", "/image/:id.png", 400, 5*time.Millisecond), passed("GET", "/image/:id.gif", 400, 5*time.Millisecond),
		passed("GET", "/posts/:id", 400, 5*time.Millisecond)
	png.Bytes, gif.Bytes, page.Bytes = 400*60_000, 400*10_000, 400*5_000
	for _, e := range []*kasoku.Endpoint{&png, &gif, &page} {
		e.Paths, e.Variants = 50, 300
	}
	rec := shop("", png, gif, page)
	rec.Queries = []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: "select * from posts where id = ?", Tables: []string{"posts"},
		Calls: 1200, BytesSent: 1200 * 36_000}}
	rec.Tables = []kasoku.TableDef{{Name: "posts", Create: "CREATE TABLE `posts` (\n  `imgdata` mediumblob NOT NULL\n)"}}
	say := func(class kasoku.CallerClass) string {
		rec.Callers = nil
		for _, route := range []string{"/image/:id.png", "/image/:id.gif", "/posts/:id"} {
			rec.Callers = append(rec.Callers, kasoku.Caller{QueryID: "A", Method: "GET", Route: route, Class: class, PerRequest: 1})
		}
		found, _ := (web.Blobs{}).Check(diagnose.NewCase(rec, nil))
		var out []string
		for _, f := range found {
			out = append(out, f.Object.Name)
		}
		return strings.Join(out, ", ")
	}
	if got := say(kasoku.CallerConfirmed); got != "GET /image/:id.png" {
		t.Errorf("%q", got)
	}
	found, _ := (web.Blobs{}).Check(diagnose.NewCase(rec, nil))
	if cause := found[0].Cause; !strings.HasPrefix(cause, "GET /image/:id.png, GET /image/:id.gif answer with 35.0 kB") ||
		!strings.Contains(cause, "for each of 800 requests") {
		t.Error(cause)
	}
	if got := say(kasoku.CallerPossible); got != "" {
		t.Errorf("who runs it is not known: %q", got)
	}
}

func TestForks(t *testing.T) {
	scans := passed("POST", "/scans", 200, 5*time.Millisecond)
	rec := shop("", scans, passed("GET", "/a", 2000, time.Millisecond))
	grows(rec, diagnose.Host, "forks", 250)
	if found, silent := (application.Forks{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || !strings.Contains(silent[0].Reason, "is not known") {
		t.Errorf("without a member: %+v %+v", found, silent)
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High}}}
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

// TestForks_Traced: where a trace shows which endpoint starts which programs, that goes before what goes with the
// host's count by the second; a few starts, which a neighbour's many would hide, are nothing.
func TestForks_Traced(t *testing.T) {
	shopWith := func(requests uint64, programs ...kasoku.TracedProgram) *kasoku.Recording {
		rec := shop("", passed("POST", "/export", 500, 5*time.Millisecond), passed("GET", "/a", 2000, time.Millisecond))
		grows(rec, diagnose.Host, "forks", 2500) // a neighbour's too
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High}}}
		rec.Traces = []kasoku.Trace{{Interval: kasoku.Interval{From: time.Second, To: 2 * time.Second},
			Endpoints: []kasoku.TracedEndpoint{{Method: "GET", Route: "/a", Requests: 200},
				{Method: "POST", Route: "/export", Requests: requests, Programs: programs}}}}
		return rec
	}
	rec := shopWith(50, kasoku.TracedProgram{Name: "sh", With: 50, Starts: 50},
		kasoku.TracedProgram{Name: "zip", With: 50, Starts: 100})
	found, silent := application.Forks{}.Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 || found[0].Object.String() != "endpoint POST /export" {
		t.Fatalf("%+v %+v", found, silent)
	}
	f := found[0]
	if e := f.Evidence[0]; e.Value != "3.00" || e.Note != "zip 2.00, sh 1.00; 50 requests were traced" {
		t.Errorf("%+v", e)
	}
	const text = "Do in the process what zip does, and start no shell for it"
	if f.Fixes[0].Text != text || f.Confidence.Level != kasoku.High ||
		!strings.HasPrefix(f.Cause, "A request of POST /export starts 3.00 programs") {
		t.Errorf("%+v", f)
	}
	one := shopWith(1, kasoku.TracedProgram{Name: "cp", With: 1, Starts: 30})
	if found, _ := (application.Forks{}).Check(diagnose.NewCase(one, nil)); len(found) != 1 ||
		found[0].Confidence.Level == kasoku.High || found[0].Fixes[0].Text != "Do in the process what cp does" {
		t.Errorf("%+v", found)
	}
	for _, few := range []*kasoku.Recording{
		shopWith(50, kasoku.TracedProgram{Name: "zip", With: 4, Starts: 4}),
		shopWith(200, kasoku.TracedProgram{Name: "zip", With: 20, Starts: 20}),
		shopWith(0),
	} {
		if found, silent := (application.Forks{}).Check(diagnose.NewCase(few, nil)); len(found) > 0 {
			t.Errorf("%+v %+v", found, silent)
		}
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
	// What is not read is passed on in any case, whatever its cookie.
	rec.Endpoints = []kasoku.Endpoint{{Method: "POST", Route: "/conditions", Count: 950},
		{Method: "GET", Route: "/", Count: 50}}
	if found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 ||
		!strings.Contains(silent[0].Reason, "950 requests that may have come to it are neither GET nor HEAD") {
		t.Errorf("%+v", found)
	}
	rec.Endpoints[0].Count, rec.Endpoints[1].Count = 200, 800
	if found, _ := (cache.Passes{}).Check(diagnose.NewCase(rec, nil)); len(found) != 1 || found[0].Impact.Share != 0.8 {
		t.Errorf("%+v", found)
	}
	rec.Endpoints = nil
	for i := range rec.Series[1].Points {
		rec.Series[1].Points[i].Value *= 0.8
	}
	if found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 || silent[0].Blind {
		t.Errorf("%+v", found)
	}
}

// TestCachePasses_Elsewhere: what nginx passes on past Varnish does not count, where it is known.
func TestCachePasses_Elsewhere(t *testing.T) {
	const site = "http { server { listen 80; location / { proxy_pass http://127.0.0.1:8000; }\n" +
		"location = /trend { proxy_pass http://127.0.0.1:6081; }\nlocation /old/ { proxy_pass http://127.0.0.1:9000; } } }"
	for _, x := range []struct {
		came      float64
		endpoints []kasoku.Endpoint
		quiet     string
	}{
		{204, []kasoku.Endpoint{passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1)}, ""},
		{3000, []kasoku.Endpoint{passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1)}, "3,000 requests"},
		{500, []kasoku.Endpoint{passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1)}, "3,000 requests"}, // nowhere so many
		{200, []kasoku.Endpoint{passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1),
			passed("GET", "/old/a", 200, 1)}, "3,000 requests"}, // to either of two
		{200, []kasoku.Endpoint{passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1),
			passed("POST", "/trend", 4, 1)}, ""},
	} {
		rec := shop("", x.endpoints...)
		rec.Configs = []kasoku.Config{{Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: site}}
		grows(rec, "varnish", "MAIN.client_req", x.came)
		grows(rec, "varnish", "MAIN.s_pass", x.came)
		grows(rec, "varnish", "MAIN.cache_hit", 0)
		found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil))
		if x.quiet == "" != (len(found) == 1) || x.quiet != "" && !strings.Contains(silent[0].Reason, x.quiet) {
			t.Errorf("%v: %+v %+v", x.came, found, silent)
		}
	}
}

// TestCachePasses_Hosts: a Varnish that listens at a port of another host is not what nginx passes requests to at
// that port of its own.
func TestCachePasses_Hosts(t *testing.T) {
	const site = "http { server { listen 80; location / { proxy_pass http://127.0.0.1:8000; }\n" +
		"location = /trend { proxy_pass http://127.0.0.1:6081; } } }"
	for host, want := range map[string]string{"web1": "", "web2": "3,000 requests"} {
		rec := shop("", passed("POST", "/conditions", 3000, 1), passed("GET", "/trend", 200, 1))
		rec.Run.Hosts = []kasoku.Host{{Name: "web1"}, {Name: "web2"}}
		rec.Configs = []kasoku.Config{{Host: "web1", Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: site}}
		rec.Service = &kasoku.Service{Members: []kasoku.Member{
			{ID: "web", Role: kasoku.RoleWeb, Host: "web1", Sure: kasoku.High},
			{ID: "cache", Role: kasoku.RoleCache, Host: host, Sure: kasoku.High,
				Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:6081"}}}}}
		grows(rec, "varnish", "MAIN.client_req", 1000) // as of no place that nginx passes to
		grows(rec, "varnish", "MAIN.s_pass", 1000)
		grows(rec, "varnish", "MAIN.cache_hit", 0)
		found, silent := (cache.Passes{}).Check(diagnose.NewCase(rec, nil))
		if (len(found) == 1) != (want == "") || want != "" && !strings.Contains(silent[0].Reason, want) {
			t.Errorf("%s: %+v %+v", host, found, silent)
		}
	}
}

// TestSharedAnswer_Kept: what a Varnish before the application has is not computed for each
// request, however long it takes on a busy host; what goes past it is.
func TestSharedAnswer_Kept(t *testing.T) {
	const site = "http { server { listen 80; location / { proxy_pass http://127.0.0.1:8000; }\n" +
		"location = /trend { proxy_pass http://127.0.0.1:6081; } } }"
	for _, x := range []struct {
		route  string
		hits   float64
		quiet  string
		finds  int
		counts bool // Varnish's counters are there
		slept  float64
	}{
		{"/trend", 980, "Varnish had 98.0 % of what came to it, GET /trend too", 0, true, 0},
		{"/trend", 980, "Varnish had 98.0 % of what came to it, GET /trend too", 0, true, 200},
		{"/trend", 0, "", 1, true, 0},
		{"/trend", 0, "", 1, false, 0},
		{"/other", 980, "", 1, true, 0},
	} {
		dear := passed("GET", x.route, 1000, 20*time.Millisecond)
		dear.Paths, dear.Variants = 1, 20
		through := passed("GET", "/trend", 1000, time.Millisecond)
		endpoints := []kasoku.Endpoint{dear, passed("POST", "/conditions", 3000, time.Millisecond)}
		if x.route != "/trend" {
			endpoints = append(endpoints, through)
		}
		rec := shop("", endpoints...)
		rec.Configs = []kasoku.Config{{Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: site}}
		if x.counts {
			grows(rec, "varnish", "MAIN.client_req", 1000+x.slept) // that waited for another's answer count twice
			grows(rec, "varnish", "MAIN.cache_hit", x.hits)
			grows(rec, "varnish", "MAIN.cache_miss", 1000-x.hits)
			grows(rec, "varnish", "MAIN.s_pass", 0)
		}
		found, silent := (cache.SharedAnswer{}).Check(diagnose.NewCase(rec, nil))
		if len(found) != x.finds || x.quiet != "" && silent[0].Reason != x.quiet {
			t.Errorf("%s, %v hits: %+v %+v", x.route, x.hits, found, silent)
		}
	}
}

// TestWebTitles: titles fit a line, and each finding quotes something.
func TestWebTitles(t *testing.T) {
	ids := []string{"NGX-01", "NGX-02", "NGX-03", "NGX-04", "NGX-05", "NGX-06", "NGX-08", "NGX-09", "CCH-01",
		"CCH-02", "CCH-04", "CCH-05", "CCH-06", "CCH-08", "APP-01", "APP-02", "APP-03", "APP-04", "APP-06", "APP-10",
		"LCK-05"}
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

// TestUnvalidated: CCH-08 takes clients that ask on condition, and answers that are known to be bare; without
// one of both, and where anything says that there is a validator or an age, it says nothing.
func TestUnvalidated(t *testing.T) {
	const conf = "http { server { location / { proxy_pass http://127.0.0.1:8000; } } }"
	run := func(conf string, change func(e *kasoku.Endpoint, again *kasoku.FetchedAgain, a *kasoku.ComparedAnswers), more ...kasoku.Setting) *diagnose.Case {
		e := passed("GET", "/trend", 1000, 2*time.Millisecond)
		e.Bytes = 1000 * 500
		again := kasoku.FetchedAgain{Method: "GET", Route: "/trend", Requests: 600, Bytes: 600 * 500, Time: time.Second}
		a := kasoku.ComparedAnswers{Asked: 3, Bare: map[string]string{"GET /trend": "shop.test"}}
		change(&e, &again, &a)
		rec := shop(conf, e)
		rec.Settings = append(append(a.Settings(), again.Setting("")), more...)
		return diagnose.NewCase(rec, nil)
	}
	none := func(*kasoku.Endpoint, *kasoku.FetchedAgain, *kasoku.ComparedAnswers) {}
	r := cache.Unvalidated{}
	sayAll(t, r, run(conf, none), "endpoint GET /trend", "Clients fetch GET /trend again although they have it", "info", "600 of 1,000 again")
	found, _ := r.Check(run(conf, none))
	if x := found[0].Fixes[0]; x.Code != "" || !strings.Contains(x.Note, "May GET /trend be some seconds old?") {
		t.Errorf("without a contract: %+v", x)
	}
	stale := func(d string) kasoku.Setting {
		return kasoku.Setting{Scope: kasoku.ContractScope, Name: "stale GET /trend", Value: d}
	}
	if found, _ = r.Check(run(conf, none, stale("20s"))); !strings.Contains(found[0].Fixes[0].Code, "private, max-age=20") {
		t.Errorf("with a contract: %+v", found[0].Fixes[0])
	}
	for want, c := range map[string]*diagnose.Case{
		"quiet: GET /trend must be fresh":                      run(conf, none, stale("0s")),
		"quiet: nginx's configuration sets Cache-Control":      run(strings.Replace(conf, "location", "expires 1h; location", 1), none),
		"quiet: nginx's configuration sets Cache-Control, ":    run(strings.Replace(conf, "location", "add_header ETag x; location", 1), none),
		"blind: clients fetch GET /trend again, and no golden": run(conf, func(_ *kasoku.Endpoint, _ *kasoku.FetchedAgain, a *kasoku.ComparedAnswers) { a.Bare = nil }),
		"quiet: GET /trend was answered with a validator": run(conf, func(_ *kasoku.Endpoint, _ *kasoku.FetchedAgain, a *kasoku.ComparedAnswers) {
			a.Bare["GET /trend"] = ""
		}),
		"quiet: GET /trend answers 304 at times": run(conf, func(e *kasoku.Endpoint, _ *kasoku.FetchedAgain, _ *kasoku.ComparedAnswers) {
			e.Codes = map[int]uint64{200: 999, 304: 1}
		}),
		"quiet: clients fetched GET /trend again 49 times":         run(conf, func(_ *kasoku.Endpoint, again *kasoku.FetchedAgain, _ *kasoku.ComparedAnswers) { again.Requests = 49 }),
		"quiet: clients fetched GET /trend again 600 times, 1.8 %": run(conf, func(_ *kasoku.Endpoint, again *kasoku.FetchedAgain, _ *kasoku.ComparedAnswers) { again.Bytes = 9000 }),
		"quiet: no client that asks on condition":                  run(conf, func(e *kasoku.Endpoint, _ *kasoku.FetchedAgain, _ *kasoku.ComparedAnswers) { e.Route = "/other" }),
	} {
		sayAll(t, r, c, want)
	}
	elsewhere := run(conf, none)
	elsewhere.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "web", Role: kasoku.RoleWeb, Sure: kasoku.High,
		Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:8443"}}}}}
	sayAll(t, r, elsewhere, "quiet: GET /trend was asked at shop.test, which is not where the web server listens")
}
