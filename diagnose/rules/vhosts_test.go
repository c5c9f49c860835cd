package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/diagnose/rules/web"
)

// vhosts is a recording of an nginx with two sites, of which Grafana's stands first.
func vhosts(shop string, endpoints ...kasoku.Endpoint) *kasoku.Recording {
	rec := siteOf("", endpoints...)
	rec.Configs = nil
	for name, text := range map[string]string{
		"nginx.conf":                 "events {}\nhttp {\n    include sites-enabled/*;\n}\n",
		"sites-enabled/grafana.conf": "server {\n    server_name grafana.test;\n    location / { proxy_pass http://127.0.0.1:3000; }\n}\n",
		"sites-enabled/shop.conf":    "\nserver {\n    server_name shop.test;\n" + shop + "\n}\n",
	} {
		rec.Configs = append(rec.Configs, kasoku.Config{Kind: capture.KindNginx, Name: "/etc/nginx/" + name, Text: text})
	}
	sortConfigs(rec)
	return rec
}

// siteOf is a recording of an nginx with one site.
func siteOf(server string, endpoints ...kasoku.Endpoint) *kasoku.Recording {
	rec := shop("", endpoints...)
	rec.Configs = []kasoku.Config{{Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf",
		Text: "events {}\nhttp {\n    server {\n" + server + "\n    }\n}\n"}}
	return rec
}

func sortConfigs(rec *kasoku.Recording) {
	for i := range rec.Configs {
		if strings.HasSuffix(rec.Configs[i].Name, "nginx.conf") {
			rec.Configs[0], rec.Configs[i] = rec.Configs[i], rec.Configs[0]
		}
	}
	if !strings.HasSuffix(rec.Configs[1].Name, "grafana.conf") {
		rec.Configs[1], rec.Configs[2] = rec.Configs[2], rec.Configs[1]
	}
}

// answersBy makes the shop's server block the one that answers.
func answersBy(rec *kasoku.Recording, file string, line int) {
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High,
		Blocks: []kasoku.ConfigBlock{{File: file, Line: line}}}}}
}

const ofShop = "/etc/nginx/sites-enabled/shop.conf"

// siteCases are the rules that quote a location, with a recording that has each fire.
var siteCases = []struct {
	rule diagnose.Rule
	from func(rec *kasoku.Recording)
}{
	{cache.SharedAnswer{}, func(rec *kasoku.Recording) {
		e := &rec.Endpoints[0]
		e.Variants, e.MinBytes, e.MaxBytes, e.Bytes = 10, 9, 9, 9*e.Count
	}},
	{web.StaticFiles{}, func(rec *kasoku.Recording) {
		rec.Endpoints[0].Route, rec.Endpoints[0].MinBytes, rec.Endpoints[0].MaxBytes = "/page.css", 9, 9
		rec.Endpoints[0].Paths, rec.Endpoints[0].Bytes = 1, 9*rec.Endpoints[0].Count
		rec.Settings = []kasoku.Setting{{Scope: kasoku.FilesScope, Name: "/page.css", Value: "/srv/shop"}}
	}},
	{web.RequestSpooled{}, func(rec *kasoku.Recording) {
		addMessage(rec, "a client request body is buffered to a temporary file /t/1, request: GET /trend", 900)
	}},
	{web.ResponseSpooled{}, func(rec *kasoku.Recording) {
		rec.Endpoints[0].MaxBytes = 200_000
		addMessage(rec, "an upstream response is buffered to a temporary file /t/1, request: GET /trend", 900)
	}},
	{web.UpstreamKeepalive{}, func(rec *kasoku.Recording) { grows(rec, diagnose.Host, "tcp.active_opens", 1000) }},
}

// TestSites: the server block that answers is quoted, whichever stands first, and its file is
// named; where it is not known which answers there is no code, and no finding about keepalive.
func TestSites(t *testing.T) {
	for _, c := range siteCases {
		rec := vhosts("    location / { client_max_body_size 9m; proxy_pass http://127.0.0.1:9000; }",
			passed("GET", "/trend", 1000, 100*time.Millisecond))
		c.from(rec)
		id := c.rule.ID()
		found, silent := c.rule.Check(diagnose.NewCase(rec, nil))
		switch {
		case id == "NGX-01":
			if len(found) > 0 || !silent[0].Blind || !strings.Contains(silent[0].Reason, "which of 2 server blocks") {
				t.Errorf("%s: no block is known: %+v %+v", id, found, silent)
			}
		case len(found) != 1 || found[0].Fixes[0].Code != "" || len(found[0].Fixes[0].Edits) > 0:
			t.Errorf("%s: no block is known: %+v %+v", id, found, silent)
		}
		answersBy(rec, ofShop, 2)
		found, silent = c.rule.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Errorf("%s: %+v", id, silent)
			continue
		}
		f := found[0].Fixes[0]
		if f.Code == "" || strings.Contains(f.Code, "3000") || !strings.Contains(f.Where, "shop.conf:2") || len(f.Edits) > 0 {
			t.Errorf("%s: not the shop's: %q, %d edits\n%s", id, f.Where, len(f.Edits), f.Code)
		}
	}
}

// TestSites_Redirect: a server block that passes nothing on, such as one that redirects, leaves
// no doubt about the other one.
func TestSites_Redirect(t *testing.T) {
	rec := siteOf("        listen 80; return 301 https://shop.test;\n    }\n    server {\n"+
		"        location / { proxy_pass http://127.0.0.1:9000; }", passed("GET", "/trend", 1000, 100*time.Millisecond))
	grows(rec, diagnose.Host, "tcp.active_opens", 1000)
	if found, silent := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil)); len(found) != 1 {
		t.Errorf("%+v", silent)
	}
}

// TestSpooled_Passes: the directives are those of what passes the requests on: FastCGI's for
// PHP, which try_files leads to, and words where that is not known.
func TestSpooled_Passes(t *testing.T) {
	const php = "index index.php; location / { try_files $uri $uri/ /index.php?$args; }\n"
	for _, c := range []struct{ server, streams, buffers string }{
		{php + `location ~ \.php$ { fastcgi_pass unix:/run/php.sock; }`, "location ~ \\.php$ {\n    fastcgi_request_buffering off;\n}",
			"location ~ \\.php$ {\n    fastcgi_buffers 8 32k;\n}"},
		{"location / { try_files $uri @app; } location @app { uwsgi_pass 127.0.0.1:3031; }", "location @app {\n    uwsgi_request_buffering off;\n}",
			"location @app {\n    uwsgi_buffers 8 32k;\n}"},
		{"location / { proxy_pass http://127.0.0.1:9000; }", "location / {\n    proxy_request_buffering off;\n    proxy_http_version 1.1;\n}",
			"location / {\n    proxy_buffers 8 32k;\n}"},
		{"gzip on; location / { proxy_pass http://127.0.0.1:9000; }", "location / {\n    proxy_request_buffering off;\n    proxy_http_version 1.1;\n}", ""},
		{"location / { grpc_pass 127.0.0.1:9000; }", "", ""},
		{"location / { try_files $uri =404; }", "", ""},
	} {
		e := passed("POST", "/papers", 1000, 10*time.Millisecond)
		e.MaxRequestBytes, e.MaxBytes = 5<<20, 200_000
		rec := siteOf(c.server, e)
		addMessage(rec, "a client request body is buffered to a temporary file /t/1, request: POST /papers", 900)
		addMessage(rec, "an upstream response is buffered to a temporary file /t/2, request: POST /papers", 900)
		for _, r := range []struct {
			diagnose.Rule
			want string
		}{{web.RequestSpooled{}, c.streams}, {web.ResponseSpooled{}, c.buffers}} {
			found, silent := r.Check(diagnose.NewCase(rec, nil))
			if len(found) != 1 {
				t.Fatalf("%s: %+v", r.ID(), silent)
			}
			if f := found[0].Fixes[0]; f.Code != r.want || f.Code == "" && f.Note == "" {
				t.Errorf("%s: %s\n%q, want\n%q", r.ID(), c.server, f.Code, r.want)
			}
		}
	}
}

// TestSharedAnswer_Passes: the words of CCH-01 are those of what passes the requests on.
func TestSharedAnswer_Passes(t *testing.T) {
	for server, want := range map[string]string{
		`location / { try_files $uri /index.php; } location ~ \.php$ { fastcgi_pass unix:/run/php.sock; }`: "nginx: fastcgi_cache_path, and",
		"location / { uwsgi_pass 127.0.0.1:3031; }":                                                        "nginx: uwsgi_cache_path, and",
		"location / { grpc_pass 127.0.0.1:3031; }":                                                         "nginx keeps no answers of gRPC.",
		"location / { proxy_pass http://127.0.0.1:9000/v2/; }":                                             "nginx: proxy_cache_path, and",
		"location / { rewrite ^ /x; }":                                                                     "(fastcgi_ or uwsgi_ in place of proxy_ where",
		"location / { proxy_ignore_headers Vary; proxy_pass http://a; }":                                   "",
	} {
		rec := siteOf(server, passed("GET", "/trend", 1000, 100*time.Millisecond))
		siteCases[0].from(rec)
		found, silent := (cache.SharedAnswer{}).Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("%s: %+v", server, silent)
		}
		f := found[0].Fixes[0]
		if (f.Code == "") != (want != "") || !strings.Contains(f.Note, want) || strings.Count(f.Code, "proxy_ignore_headers") > 1 {
			t.Errorf("%s: %s\n%s", server, f.Note, f.Code)
		}
	}
}
