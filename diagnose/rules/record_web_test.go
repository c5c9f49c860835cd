//go:build extract

package rules

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/trace/window"
)

// A webRun is one run of the depot with nginx in front.
type webRun struct {
	name     string
	depot    depot
	nginx    webConf
	perSec   float64
	mix      []webTarget
	stale    string // how old the board may be by its contract; empty: there is none
	vcl      string // Varnish between nginx and the depot; empty: none
	answers  bool   // the board is asked at the end
	pprof    bool   // profiles of the depot are taken, of a longer load
	trace    bool   // the system calls of the depot are watched
	baseline string
	keep     string // "NGX-01/fires NGX-02/silent"
}

// A webTarget is a request and how often it comes among the others.
type webTarget struct {
	weight int
	line   string // METHOD path
	body   int
	agent  string
	cookie bool
	kept   bool // asked on condition that the style sheet has changed
}

// A webConf is what varies in nginx's configuration.
type webConf struct {
	keep     bool // connections to the depot, but for those of /v1/parcels/ with some
	some     bool
	static   bool // /look/ is sent by nginx
	buffers  bool // bodies and answers fit
	refuse   bool // bots get 503
	gzip     bool
	slow     bool // manifests are sent as slowly as clients that are far away read
	trickle  bool // and are read so from the depot
	connects int  // worker_connections, 0: 1024
}

// text returns the nginx.conf.
func (n webConf) text() string {
	var server, bots, up string
	kept := "proxy_http_version 1.1; proxy_set_header Connection \"\";"
	if n.keep || n.some {
		up = "keepalive 32;"
	}
	if n.buffers {
		server += "client_body_buffer_size 256k; proxy_buffers 8 256k; proxy_buffer_size 64k; proxy_busy_buffers_size 512k;\n"
	}
	if n.keep {
		server += kept + "\n"
	}
	if n.gzip {
		server += "gzip on; gzip_types text/css text/plain; gzip_min_length 100;\n"
	}
	if n.refuse {
		bots, server = "map $http_user_agent $bot { default 0; ~*bot 1; }\n", server+"if ($bot) { return 503; }\n"
	}
	server += "location / { proxy_pass http://depot; }\n"
	if n.some {
		server += "location /v1/parcels/ { " + kept + " proxy_pass http://depot; }\n"
	}
	if n.slow {
		server += "location /v1/manifests/ { limit_rate 200k; proxy_pass http://depot; }\n"
	}
	if n.trickle {
		server += "location /v1/manifests/ { limit_rate 4500k; proxy_max_temp_file_size 0; proxy_pass http://depot; }\n"
	}
	if n.static {
		server += "location /look/ { root \"{dir}\"; expires 1d; }\n"
	}
	connects := n.connects
	if connects == 0 {
		connects = 1024
	}
	return fmt.Sprintf(`{user}
worker_processes 1;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log" warn;
events { worker_connections %d; }
http {
    {log_format}
    access_log "{dir}/access.log" kasoku;
    client_max_body_size 8m;
    client_body_temp_path "{dir}/body"; proxy_temp_path "{dir}/proxy"; fastcgi_temp_path "{dir}/fastcgi"; uwsgi_temp_path "{dir}/uwsgi"; scgi_temp_path "{dir}/scgi";
    upstream depot { server {upstream}; %s }
    %s
    server {
        listen 127.0.0.1:{port};
        location = /nginx_status { access_log off; stub_status; }
        %s
    }
}
`, connects, up, bots, strings.ReplaceAll(server, "\n", "\n        "))
}

// TestRecordWeb makes the runs of the depot that testdata keeps, on both servers:
//
//	go test -tags extract ./diagnose/rules -run TestRecordWeb -timeout 30m
//
// With -args -only bare,tuned only those.
func TestRecordWeb(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		done := map[string]*kasoku.Recording{}
		for _, r := range webRuns() {
			if *only == "" || named(r.name) {
				t.Run(r.name, func(t *testing.T) { done[r.name] = r.record(t, s, done[r.baseline]) })
			}
		}
	})
}

func (r webRun) record(t *testing.T, s *sandbox.Server, baseline *kasoku.Recording) *kasoku.Recording {
	rec := r.measure(t, s)
	c := diagnose.NewCase(rec, baseline)
	version, _ := rec.Setting("mysql", "version")
	name := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if w := wrongCase(c, id, kind); w != "" {
			t.Errorf("%s %s", want, w)
			continue
		}
		origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordWeb/%s -args -only %s\n",
			rec.Run.Started.Format(time.DateOnly), c.Server(), version, s.Kind, strings.Trim(r.baseline+","+r.name, ","))
		if kind == "fires" {
			origin += "want: " + map[string]string{
				"NGX-01": "upstream depot", "NGX-02": "endpoint GET /look/depot.css", "NGX-03": "location /", "NGX-04": "location /v1/manifests/",
				"NGX-05": "user agents bots", "NGX-06": "endpoint GET /v1/labels/", "NGX-08": "directive worker_connections", "NGX-09": "directive gzip",
				"CCH-01": "endpoint GET /v1/board", "CCH-08": "endpoint GET /v1/board", "CCH-02": "cache varnish",
				"CCH-04": "endpoint GET /v1/board", "CCH-05": "endpoint GET /v1/board", "CCH-06": "cache varnish",
				"APP-01": "log depot.log", "APP-02": "waited for", "APP-03": "endpoint GET /v1/overview",
				"LCK-05": "endpoint POST /v1/payments/", "APP-04": "endpoint POST /v1/events",
				"APP-06": "endpoint GET /v1/news", "APP-10": "endpoint POST /v1/papers",
				"APP-08": "endpoint GET /v1/board",
			}[id] + "\n"
		}
		keepExtract(t, rec, baseline, id, kind+"/"+name+"-"+r.name, origin)
	}
	if testing.Verbose() {
		for _, e := range rec.Endpoints {
			t.Logf("%s %s: %d passed %d, codes %v, bots %d/%d, varied %d, variants %d, paths %d, bytes %d, upstream %s of %s", e.Method, e.Route, e.Count, e.UpstreamCount, e.Codes, e.BotsPassed, e.Bots, e.Varied, e.Variants, e.Paths, e.Bytes, e.Upstream, e.Total)
		}
		for _, q := range rec.Queries {
			t.Logf("%s: %d calls, %d bytes, %v", q.Fingerprint, q.Calls, q.BytesSent, q.Tables)
		}
		t.Logf("%d tables, %d callers %+v", len(rec.Tables), len(rec.Callers), rec.Callers)
	}
	return rec
}

// measure makes the run.
func (r webRun) measure(t *testing.T, db *sandbox.Server) *kasoku.Recording {
	t.Helper()
	dir := t.TempDir()
	const schema = "depot"
	admin := sandboxtest.DB(t, db, "")
	sandboxtest.Exec(t, admin, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema+" CHARACTER SET utf8mb4")
	sandboxtest.Exec(t, sandboxtest.DB(t, db, schema), createLabels)
	dsn, appLog := db.DSN("root", schema), filepath.Join(dir, "depot.log")
	r.depot.Dir = dir
	if r.trace {
		r.depot.Front = filepath.Join(dir, "front")
	}
	url, pid, stop, err := startService(t.Context(), serviceConfig{DSN: dsn, AccessLog: filepath.Join(dir, "own.log"), Depot: &r.depot}, appLog)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	upstream := strings.TrimPrefix(url, "http://")
	var servers []observe.Table
	take := &capture.Options{Schema: true}
	if r.vcl != "" {
		v, err := sandbox.Varnish(t.Context(), sandbox.VarnishOptions{Upstream: upstream, VCL: r.vcl})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Stop(context.Background())
		upstream, servers = v.Addr(), append(servers, &varnish.Table{Name: v.Dir})
		vcl := filepath.Join(dir, "depot.vcl")
		if err := os.WriteFile(vcl, []byte(r.vcl), 0o644); err != nil {
			t.Fatal(err)
		}
		take.VCL = []string{vcl}
	}
	front := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: r.nginx.text(), Upstream: upstream})
	if r.trace {
		if err := os.WriteFile(r.depot.Front, []byte(strings.TrimPrefix(front.URL(), "http://")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	look := filepath.Join(front.Dir, "look")
	if err := os.MkdirAll(look, 0o755); err != nil {
		t.Fatal(err)
	}
	css := filepath.Join(look, "depot.css")
	if err := os.WriteFile(css, bytes.Repeat([]byte("c"), cssBytes), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(css, cssTime, cssTime); err != nil {
		t.Fatal(err)
	}
	take.Nginx = append(append([]string{front.Program}, front.Args()...), "-T")
	engine, err := nethttp.New(nethttp.Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	res, err := record.Record(t.Context(), record.Options{
		Path:     filepath.Join(dir, "run.kasoku"),
		Run:      kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Settings: r.contract(),
		Database: record.Database{MySQL: dsn, SlowLog: true},
		Sources: record.Sources{Trace: r.plan(), Pprof: r.profiled(url), AccessLog: front.AccessLog, AppLog: appLog,
			MoreLogs: record.Logs{Error: []string{front.ErrorLog}},
			Servers:  append(servers, &nginx.Table{Status: front.URL() + "/nginx_status"}), PIDs: []int{db.Pid(), pid, front.Pid()}},
		Capture: take,
		Course: record.Course{Answers: r.askBoard(front.URL()),
			Load: &record.Load{Engine: engine, Each: r.length(), Next: record.Climb(r.perSec),
				Targets: r.targets(front.URL())}},
	})
	if err != nil {
		t.Fatal(err)
	}
	keepOnly(res.Recording, db.Pid(), pid, os.Getpid())
	return res.Recording
}

// contract is what the board's clients are promised.
func (r webRun) contract() []kasoku.Setting {
	d, err := time.ParseDuration(r.stale)
	if err != nil {
		return nil
	}
	return kasoku.Terms{Route: "GET /v1/board", Stale: &d}.Settings()
}

// length is that of the load: profiles begin 5 s into one.
func (r webRun) length() time.Duration {
	if r.pprof {
		return 12 * time.Second
	}
	return 6 * time.Second
}

// profiled is where the depot at a URL shows its profiles.
func (r webRun) profiled(url string) []string {
	if !r.pprof {
		return nil
	}
	return []string{url + "/debug/pprof/"}
}

// plan is how long system calls are watched.
func (r webRun) plan() *window.Plan {
	if !r.trace {
		return nil
	}
	return &window.Plan{For: 3 * time.Second, After: 1500 * time.Millisecond, Asked: true}
}

// The style sheet has the ETag that nginx makes of these.
const cssBytes = 12 << 10

var cssTime = time.Unix(1_764_000_000, 0)

// askBoard asks for the board as the golden answers at the end of a run do.
func (r webRun) askBoard(url string) func(context.Context) (kasoku.ComparedAnswers, error) {
	if !r.answers {
		return nil
	}
	return func(ctx context.Context) (kasoku.ComparedAnswers, error) {
		req, err := answers.ParseRequest("GET " + url + "/v1/board")
		if err != nil {
			return kasoku.ComparedAnswers{}, err
		}
		a := answers.Asker{Pause: time.Millisecond}
		defer a.Close()
		return a.Twice(ctx, []answers.Request{req})
	}
}

func (r webRun) targets(url string) (out []load.Target) {
	for _, m := range r.mix {
		method, path, _ := strings.Cut(m.line, " ")
		n := 1
		if strings.Contains(path, "*") {
			n = depotLabels
		}
		for i := range n {
			t := load.Target{Method: method, URL: url + strings.Replace(path, "*", fmt.Sprint(i), 1), Weight: max(m.weight/n, 1), Header: http.Header{}}
			t.Header.Set("User-Agent", "depot-app/2.1")
			if m.agent != "" {
				t.Header.Set("User-Agent", m.agent)
			}
			if m.kept {
				t.Header.Set("If-None-Match", fmt.Sprintf(`"%x-%x"`, cssTime.Unix(), cssBytes))
			}
			if m.cookie {
				t.Header.Set("Cookie", "basket=17")
			}
			if m.body > 0 {
				t.Body = bytes.Repeat([]byte("x"), m.body)
			}
			out = append(out, t)
		}
	}
	return out
}

// depotMix is what comes to the depot; shares are out of 160.
func depotMix() []webTarget {
	return []webTarget{
		{weight: 16, line: "GET /look/depot.css"}, {weight: 40, line: "GET /v1/board"}, {weight: 24, line: "GET /v1/parcels/*"},
		{weight: 24, line: "GET /v1/labels/*"}, {weight: 16, line: "GET /v1/manifests/*"}, {weight: 16, line: "POST /v1/papers", body: 60 << 10},
		{weight: 16, line: "POST /v1/scans"}, {weight: 8, line: "GET /v1/parcels/*", agent: "Somebot/1.0 (+http://example.com/bot)"},
	}
}

// revisits are what a client with a cache asks for, the board so often out of 160.
func revisits(board int) []webTarget {
	return []webTarget{{weight: 40, line: "GET /look/depot.css", kept: true}, {weight: board, line: "GET /v1/board"},
		{weight: 120 - board, line: "POST /v1/scans"}}
}

const passingVCL = "vcl 4.1;\nbackend depot { .host = \"{host}\"; .port = \"{port}\"; }\n"

const keepingVCL = passingVCL + "sub vcl_recv { unset req.http.cookie; }\nsub vcl_backend_response { set beresp.ttl = 0.8s; set beresp.grace = 0.2s; }\n"

// boardVCL keeps the board, and passes all else on.
const boardVCL = passingVCL +
	"sub vcl_recv { if (req.url ~ \"^/v1/board\") { unset req.http.cookie; return (hash); } return (pass); }\n" +
	"sub vcl_backend_response { set beresp.ttl = 0s; set beresp.grace = 0s; if (bereq.url ~ \"^/v1/board\") { set beresp.ttl = 0.8s; } }\n"

func webRuns() []webRun {
	ms := time.Millisecond
	every := func(kind string) string {
		var out []string
		for _, id := range []string{"NGX-01", "NGX-02", "NGX-03", "NGX-04", "NGX-05", "NGX-06", "CCH-01", "APP-01", "APP-02"} {
			out = append(out, id+"/"+kind)
		}
		return strings.Join(out, " ")
	}
	bare := depot{Log: 1, Copy: "exec", Board: 8 * ms, Label: 10 << 10, Manifest: 300 << 10}
	good := depot{Copy: "link", BoardEvery: 1, Manifest: 4 << 10}
	tuned := webConf{keep: true, static: true, buffers: true, refuse: true}
	board := []webTarget{{weight: 1, line: "GET /v1/board", cookie: true}}
	anew := []webTarget{{weight: 9, line: "GET /v1/board", cookie: true}, {weight: 1, line: "POST /initialize"}}
	const banning = "sub vcl_deliver { if (req.url == \"/initialize\") { ban(\"req.url ~ .\"); } }\n"
	css := []webTarget{{weight: 4, line: "GET /look/depot.css"}, {weight: 1, line: "GET /v1/parcels/*"}}
	overview := []webTarget{{weight: 3, line: "GET /v1/overview"}, {weight: 1, line: "GET /v1/board"}}
	payments := []webTarget{{weight: 24, line: "POST /v1/payments/*"}, {weight: 8, line: "GET /v1/board"}}
	pays := func(when, kind string) webRun {
		return webRun{name: when, depot: depot{Board: 8 * ms, Asks: "/v1/board", Pays: when}, trace: true, nginx: tuned,
			perSec: 80, mix: payments, keep: "LCK-05/" + kind}
	}
	marks := func(how, kind string) webRun {
		return webRun{name: "marks-" + how, depot: depot{Marks: how}, nginx: tuned, answers: true, perSec: 40, mix: board,
			keep: "APP-08/" + kind}
	}
	papers := func(name, how, kind string, size int) webRun {
		return webRun{name: "papers-" + name, depot: depot{Papers: how}, pprof: true, nginx: tuned, perSec: 40,
			mix:  []webTarget{{weight: 1, line: "POST /v1/papers", body: size}, {weight: 3, line: "GET /v1/board"}},
			keep: "APP-10/" + kind}
	}
	events := func(what, kind string) webRun {
		return webRun{name: "events-" + what, depot: depot{Board: ms, Events: what}, trace: true, nginx: tuned, perSec: 150,
			mix: []webTarget{{weight: 3, line: "POST /v1/events"}, {weight: 1, line: "GET /v1/board"}}, keep: "APP-04/" + kind}
	}
	news := func(name, how, often string, n int, seldom string, of int, keep string) webRun {
		return webRun{name: "news-" + name, depot: depot{Board: ms, News: how}, trace: true, nginx: tuned, perSec: 80,
			mix: []webTarget{{weight: n, line: "GET /v1/news?after=" + often},
				{weight: of, line: "GET /v1/news?after=" + seldom}, {weight: 10, line: "GET /v1/board"}}, keep: keep}
	}
	// Workers of Varnish add to its counters when a connection was idle for 50 ms: timeout_linger.
	kept := func(name, stale, vcl string, mix []webTarget, keep string) webRun {
		return webRun{name: name, stale: stale, depot: bare, nginx: webConf{keep: true}, vcl: vcl, perSec: 16, mix: mix,
			keep: keep}
	}
	large := depot{Manifest: 9 << 20}
	// Some megabytes of an answer lie in the sockets of the loopback: manifests are larger than that.
	held := func(name string, manifest int, keep string) webRun {
		return webRun{name: name, depot: depot{Manifest: manifest}, nginx: webConf{keep: true, trickle: true},
			vcl:    boardVCL,
			perSec: 20, mix: []webTarget{{weight: 6, line: "GET /v1/board", cookie: true},
				{weight: 8, line: "GET /v1/manifests/*"}},
			keep: keep}
	}
	few := []webTarget{ // of 900 requests: 45 files, 45 of bots, 18 spooled of each kind
		{weight: 40, line: "GET /look/depot.css"}, {weight: 320, line: "GET /v1/board"}, {weight: 128, line: "GET /v1/parcels/*"},
		{weight: 240, line: "GET /v1/labels/*"}, {weight: 16, line: "GET /v1/manifests/*"}, {weight: 16, line: "POST /v1/papers", body: 60 << 10},
		{weight: 40, line: "GET /v1/parcels/*", agent: "Somebot/1.0"},
	}
	return []webRun{
		{name: "bare", depot: bare, nginx: webConf{slow: true}, perSec: 200, mix: depotMix(), keep: every("fires") + " NGX-08/silent"},
		{name: "tuned", depot: good, nginx: tuned, perSec: 300, mix: depotMix(), keep: every("silent") + " NGX-08/silent"},
		{name: "slower", depot: good, nginx: tuned, perSec: 200, mix: depotMix()[1:], keep: every("silent") + " NGX-08/silent"},
		{name: "some", depot: depot{Log: 0.8, Board: 6 * ms, BoardEvery: 5, Label: 3600, Manifest: 300 << 10}, nginx: webConf{some: true, slow: true}, perSec: 150, mix: few,
			keep: "NGX-02/under NGX-03/under NGX-04/under NGX-05/under NGX-06/under CCH-01/under APP-01/under"},
		{name: "narrow", depot: depot{Slow: 400 * ms}, nginx: webConf{connects: 40}, perSec: 200, mix: []webTarget{{weight: 1, line: "GET /v1/parcels/*"}}, keep: "NGX-08/fires"},
		{name: "packed", depot: depot{Slow: 250 * ms}, nginx: webConf{connects: 128}, perSec: 200, mix: []webTarget{{weight: 1, line: "GET /v1/parcels/*"}}, keep: ""},
		{name: "plain", depot: good, nginx: webConf{keep: true}, perSec: 300, mix: css},
		{name: "gzip", baseline: "plain", depot: good, nginx: webConf{keep: true, gzip: true}, perSec: 300, mix: css, keep: "NGX-09/fires"},
		{name: "same", baseline: "plain", depot: good, nginx: webConf{keep: true}, perSec: 300, mix: css, keep: "NGX-09/silent"},
		{name: "gzip-and-more", baseline: "plain", depot: good, nginx: webConf{keep: true, gzip: true, buffers: true}, perSec: 300, mix: css, keep: "NGX-09/silent"},
		{name: "again", depot: depot{}, nginx: tuned, answers: true, perSec: 200, mix: revisits(40), keep: "CCH-08/fires"},
		{name: "validated", depot: depot{Tag: true}, nginx: tuned, answers: true, perSec: 200, mix: revisits(40), keep: "CCH-08/silent"},
		{name: "keeps-none", depot: depot{}, nginx: tuned, answers: true, perSec: 200, mix: revisits(40)[1:], keep: "CCH-08/silent"},
		{name: "few-again", depot: depot{}, nginx: tuned, answers: true, perSec: 150, mix: revisits(8), keep: "CCH-08/under"},
		{name: "self", depot: depot{Board: 8 * ms, Asks: "/v1/board"}, trace: true, nginx: tuned, perSec: 100, mix: overview, keep: "APP-03/fires"},
		{name: "other-path", depot: depot{Board: 8 * ms, Asks: "/look/depot.css"}, trace: true, nginx: tuned, perSec: 100, mix: overview, keep: "APP-03/silent"},
		{name: "function", depot: depot{Board: 8 * ms}, trace: true, nginx: tuned, perSec: 100, mix: overview, keep: "APP-03/silent"},
		news("poll", "poll", "7", 38, "6", 2, "APP-06/fires"),
		news("memory", "memory", "7", 38, "6", 2, "APP-06/silent"),
		news("never", "poll", "7", 38, "8", 2, "APP-06/silent"),
		news("listed", "poll", "3", 38, "2", 2, "APP-06/silent"),
		news("some", "poll", "7", 22, "6", 18, "APP-06/under"),
		events("drop", "fires"), events("duplicate", "silent"), events("invalid", "silent"), events("batch", "silent"),
		papers("hold", "hold", "fires", 3<<20), papers("stream", "", "silent", 3<<20),
		papers("small", "hold", "silent", 60<<10),
		marks("outside", "fires"), marks("inside", "under"), marks("limits", "silent"), marks("none", "silent"),
		pays("held", "fires"), pays("read", "silent"), pays("before", "silent"),
		{name: "passing", depot: bare, nginx: webConf{keep: true}, vcl: passingVCL, perSec: 100, mix: board, keep: "CCH-02/fires"},
		{name: "keeping", depot: bare, nginx: webConf{keep: true}, vcl: keepingVCL, perSec: 100, mix: board, keep: "CCH-02/silent"},
		kept("kept-too-long", "900ms", keepingVCL, board, "CCH-04/fires"),
		kept("kept-for-long", "1150ms", keepingVCL, board, "CCH-04/under"),
		kept("may-be-older", "5s", keepingVCL, board, "CCH-04/silent"),
		kept("no-terms", "", keepingVCL, board, "CCH-04/silent CCH-05/silent"),
		kept("kept-over-initialize", "", keepingVCL, anew, "CCH-05/fires"),
		kept("banned", "", keepingVCL+banning, anew, "CCH-05/silent"),
		kept("not-kept", "", passingVCL, anew, "CCH-05/silent"),
		held("passed-memory", 9<<20, "CCH-06/fires"), held("passed-small", 4<<10, "CCH-06/silent"),
		{name: "kept-alone", depot: large, nginx: webConf{keep: true, trickle: true}, vcl: boardVCL, perSec: 20,
			mix: append(board, webTarget{weight: 1, line: "GET /look/depot.css"}), keep: "CCH-06/silent"},
		{name: "all-passed", depot: large, nginx: webConf{keep: true, trickle: true}, vcl: passingVCL, perSec: 20,
			mix: []webTarget{{weight: 6, line: "GET /v1/board", cookie: true},
				{weight: 8, line: "GET /v1/manifests/*", cookie: true}},
			keep: "CCH-06/silent"},
		{name: "half-kept", depot: bare, nginx: webConf{keep: true}, vcl: strings.Replace(keepingVCL, "unset req.http.cookie;", "if (req.url ~ \"board\") { unset req.http.cookie; }", 1), perSec: 100,
			mix: append(board, webTarget{weight: 1, line: "GET /v1/parcels/1", cookie: true}), keep: "CCH-02/silent"},
	}
}

// createLabels is the depot's table.
const createLabels = "CREATE TABLE IF NOT EXISTS labels (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, picture MEDIUMBLOB NOT NULL)"
