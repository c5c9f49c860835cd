package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/web"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// TestStaticFiles_PassesOn: what is no file is passed on as before, never answered with
// 404; and what has an id for its name is no file.
func TestStaticFiles_PassesOn(t *testing.T) {
	rec := recordedCase(t, "testdata/NGX-02/fires/mariadb-bare.txtar")
	fix := func(conf string) (kasoku.Finding, string) {
		t.Helper()
		rec.Configs = nil
		if conf != "" {
			rec.Configs = []kasoku.Config{{Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: "http { proxy_set_header X-Outer 1; server { " + conf + " } }"}}
		}
		found, silent := (web.StaticFiles{}).Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("silent: %+v", silent)
		}
		f := found[0].Fixes[0]
		if _, err := nginxconf.Parse(f.Code, "fix"); err != nil || strings.Contains(f.Code+f.Note, "404") {
			t.Errorf("%v: %s\n%s", err, f.Code, f.Note)
		}
		return found[0], f.Code
	}
	const proxied = `location / { proxy_pass http://127.0.0.1:8000; proxy_set_header Host $http_host; auth_basic on; }`
	if _, code := fix(proxied); code != "" {
		t.Errorf("code for a path that was not found as a file:\n%s", code)
	}
	rec.Settings = append(rec.Settings, kasoku.Setting{Scope: kasoku.FilesScope, Name: "/look/depot.css", Value: "/srv/depot/public"})
	f, code := fix(proxied)
	for _, want := range []string{`location ~ "^(/look/depot\.css)$" {`, "root /srv/depot/public;", `auth_basic "on";`, "try_files $uri @application;", "proxy_pass http://127.0.0.1:8000;\n", `proxy_set_header "Host" "$http_host";`} {
		if !strings.Contains(code, want) {
			t.Errorf("lacks %q:\n%s", want, code)
		}
	}
	if f.Confidence.Level != kasoku.High || !strings.Contains(f.Fixes[0].Note, "/srv/depot/public") || strings.Contains(code, "X-Outer") {
		t.Errorf("confidence %s\n%s", f.Confidence.Level, code)
	}
	for _, conf := range []string{"", "location / { fastcgi_pass 127.0.0.1:9000; }", "location / { proxy_pass http://app/v2/; }",
		"location / { rewrite ^ /x; proxy_pass http://app; }", "location ^~ /look/ { proxy_pass http://app; }"} {
		if _, code := fix(conf); code != "" {
			t.Errorf("%s: code without what passes requests on:\n%s", conf, code)
		}
	}
	for i := range rec.Endpoints {
		if e := &rec.Endpoints[i]; strings.Contains(e.Route, ".") {
			e.Route = "/image/:id.png"
		}
	}
	if found, _ := (web.StaticFiles{}).Check(diagnose.NewCase(rec, nil)); len(found) > 0 {
		t.Errorf("rows of a table are files: %+v", found[0])
	}
}

// TestStaticFiles_InLine: what files take where requests wait in line for one worker is mostly the line.
func TestStaticFiles_InLine(t *testing.T) {
	rec := recordedCase(t, "testdata/NGX-02/fires/mariadb-bare.txtar")
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Workers: 1, Threads: 1}}}
	var all time.Duration
	seconds := map[int]bool{}
	for i := range rec.Endpoints {
		e := &rec.Endpoints[i]
		for s := range e.Seconds {
			seconds[s] = true
		}
		e.Latency = histogram.New()
		e.Latency.RecordN(time.Millisecond, e.Count/5+1)
		e.Latency.RecordN(time.Second, e.Count-e.Count/5-1)
		e.Total, e.Upstream = e.Latency.Sum(), e.Latency.Sum()
		all += e.Total
	}
	found, silent := (web.StaticFiles{}).Check(diagnose.NewCase(rec, nil))
	if len(found) != 1 {
		t.Fatalf("silent: %+v", silent)
	}
	f := found[0]
	if len(seconds) >= int(all.Seconds()) || f.Impact.Share > 0.05 || !f.Impact.Estimate || !strings.Contains(f.Cause, "most of it in line for the application's workers") {
		t.Errorf("%d s, %s: %+v %s", len(seconds), all, f.Impact, f.Cause)
	}
	rec.Service.Members[0].Threads = 0 // how many it has in work is not known
	if found, _ = (web.StaticFiles{}).Check(diagnose.NewCase(rec, nil)); found[0].Impact.Share < 0.09 || !strings.Contains(found[0].Cause, "The application took") {
		t.Errorf("%+v %s", found[0].Impact, found[0].Cause)
	}
}

// TestKeepalive_Gunicorn: workers that close each connection are named where the fix asks
// nginx to keep it.
func TestKeepalive_Gunicorn(t *testing.T) {
	rec := recordedCase(t, "testdata/NGX-01/fires/mariadb-bare.txtar")
	note := func() string {
		found, silent := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("silent: %+v", silent)
		}
		return found[0].Fixes[0].Note
	}
	if strings.Contains(note(), "gunicorn") {
		t.Error(note())
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High},
		{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Framework: "gunicorn"}}}
	if !strings.Contains(note(), "gthread") {
		t.Error(note())
	}
}
