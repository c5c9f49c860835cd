package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/web"
)

// keepalive checks NGX-01 with a server block and the requests of one endpoint, on a host that
// opened many connections.
func keepalive(t *testing.T, server, route string, more func(rec *kasoku.Recording)) ([]kasoku.Finding, kasoku.Silence) {
	t.Helper()
	rec := siteOf(server, passed("GET", route, 1000, time.Millisecond))
	grows(rec, diagnose.Host, "tcp.active_opens", 5000)
	if more != nil {
		more(rec)
	}
	found, silent := web.UpstreamKeepalive{}.Check(diagnose.NewCase(rec, nil))
	return found, append(silent, kasoku.Silence{})[0]
}

// TestKeepalive_Fires: only requests that went through a location that closes its connections
// count, whatever else the host opens.
func TestKeepalive_Fires(t *testing.T) {
	const plain = "location / { proxy_pass http://127.0.0.1:9000; }"
	for _, c := range []struct {
		name, server, route string
		want                string // a part of the reason; empty: it fires
		blind               bool
	}{
		{"a plain proxy_pass", plain, "/list", "", false},
		{"by way of try_files", "location / { try_files $uri @app; } location @app { proxy_pass http://127.0.0.1:9000; }", "/list", "", false},
		{"requests of FastCGI", plain + ` location ~ \.php$ { fastcgi_pass unix:/run/php.sock; }`, "/index.php", "0 requests were passed on by", false},
		{"FastCGI by way of try_files", "location /admin/ { proxy_pass http://127.0.0.1:9000; } location / { try_files $uri /index.php; }" +
			` location ~ \.php$ { fastcgi_pass unix:/run/php.sock; }`, "/list", "0 requests were passed on by", false},
		{"where they went is not known", "location /admin/ { proxy_pass http://127.0.0.1:9000; } location / { rewrite ^ /x; }", "/list",
			"which location of nginx passed on 1,000 requests", true},
		{"an id that a pattern may take", plain + ` location ~ ^/item/\d+$ { fastcgi_pass unix:/run/php.sock; }`, "/item/:id",
			"which location of nginx passed on 1,000 requests", true},
		{"a Unix socket, which no counter has", "location / { proxy_pass http://unix:/run/x.sock; }", "/list", "Unix sockets are in no counter", true},
		{"WebSockets", `location / { proxy_pass http://127.0.0.1:9000; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; }`,
			"/socket.io/", "nginx keeps", false},
		{"a Connection of the client", "location / { proxy_pass http://127.0.0.1:9000; proxy_set_header Connection $http_connection; }", "/cable", "nginx keeps", false},
		{"a Connection by a map", "location / { proxy_pass http://127.0.0.1:9000; proxy_set_header Connection $connection_upgrade; }", "/push", "nginx keeps", false},
	} {
		found, silent := keepalive(t, c.server, c.route, nil)
		if (len(found) > 0) != (c.want == "") || silent.Blind != c.blind || !strings.Contains(silent.Reason, c.want) {
			t.Errorf("%s: %+v %+v", c.name, found, silent)
		}
	}
}

// TestKeepalive_Versions: nginx from 1.29.7 on keeps connections of upstream blocks where nothing
// is configured, and what the configuration says against that counts.
func TestKeepalive_Versions(t *testing.T) {
	const up = "location / { proxy_pass http://app; }\n} upstream app { server 127.0.0.1:9000; "
	for _, c := range []struct {
		version, server string
		fires           bool
	}{
		{"", up, true}, {"1.28.2", up, true}, {"1.29.6", up, true}, {"1.29.7", up, false}, {"1.30.0", up, false}, {"2.0.0", up, false},
		{"1.29.7", up + "keepalive 0;", true}, {"1.29.7", strings.Replace(up, "/ {", "/ { proxy_http_version 1.0;", 1), true},
		{"1.29.7", strings.Replace(up, "/ {", "/ { proxy_set_header Connection close;", 1), true},
		{"1.29.7", "location / { proxy_pass http://127.0.0.1:9000; }", true},
	} {
		found, silent := keepalive(t, c.server, "/list", func(rec *kasoku.Recording) {
			rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High, Program: "nginx", Version: c.version}}}
		})
		if (len(found) > 0) != c.fires {
			t.Errorf("%q %s: %d findings, %+v", c.version, c.server, len(found), silent)
		}
	}
}

// TestKeepalive_Code: the application gets from an upstream what it got from proxy_pass: the
// Host, its port and path, and nginx takes back the same redirects. WebSockets stay.
func TestKeepalive_Code(t *testing.T) {
	for _, c := range []struct {
		server     string
		want, lack []string
	}{
		{"location / { proxy_pass http://127.0.0.1:9000; }", []string{"upstream kept_127_0_0_1_9000 {", "server 127.0.0.1:9000;",
			"proxy_pass http://kept_127_0_0_1_9000;", `proxy_set_header Host "127.0.0.1:9000";`, "proxy_redirect http://127.0.0.1:9000/ /;",
			`proxy_set_header Connection "";`}, nil},
		{"proxy_set_header Host $host; location /shop/ { proxy_pass http://app.test/v2/; }", []string{"server app.test:80;",
			"proxy_pass http://kept_app_test_80/v2/;", `proxy_set_header Host "$host";`, "proxy_redirect http://app.test/v2/ /shop/;"}, []string{"Host \"app"}},
		{"location /shop/ { proxy_pass https://app.test; }", []string{"server app.test:443;", "proxy_pass https://kept_app_test_443;",
			`proxy_set_header Host "app.test";`, "proxy_ssl_name app.test;"}, nil},
		{"location /shop/ { proxy_pass http://[::1]:8080; proxy_redirect off; }", []string{"server [::1]:8080;", `proxy_set_header Host "[::1]:8080";`}, []string{"proxy_redirect"}},
		{"location /shop/ { proxy_pass http://unix:/run/x.sock; }", []string{"server unix:/run/x.sock;", "proxy_pass http://kept_run_x_sock;",
			`proxy_set_header Host "localhost";`}, []string{"proxy_redirect"}},
		{"location /shop/ { proxy_pass http://unix:/run/x.sock:/v2/; }", []string{"server unix:/run/x.sock;", "proxy_pass http://kept_run_x_sock/v2/;"}, nil},
		{"location /shop/ { proxy_pass http://app.test; } location /ws/ { proxy_pass http://app.test; proxy_set_header Connection upgrade; }",
			[]string{"location /shop/ {"}, []string{"/ws/"}},
		{"location /shop/ { proxy_pass http://app.test; } location /unused/ { proxy_pass http://app.test; }", []string{"location /shop/ {"}, []string{"/unused/"}},
	} {
		found, silent := keepalive(t, c.server, "/shop/list", func(rec *kasoku.Recording) {
			rec.Endpoints[0].Connects, rec.Endpoints[0].ConnectCount = 1000, 1000
			if strings.Contains(c.server, "location / ") {
				rec.Endpoints[0].Route = "/list"
			}
		})
		if len(found) != 1 {
			t.Errorf("%s: %+v", c.server, silent)
			continue
		}
		code := found[0].Fixes[0].Code
		for _, want := range c.want {
			if !strings.Contains(code, want) {
				t.Errorf("%s: lacks %q:\n%s", c.server, want, code)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(code, lack) {
				t.Errorf("%s: has %q:\n%s", c.server, lack, code)
			}
		}
	}
	found, _ := keepalive(t, "location / { if ($x) { proxy_pass http://127.0.0.1:9000; } }", "/list", nil)
	if len(found) != 1 || found[0].Fixes[0].Code != "" || !strings.Contains(found[0].Fixes[0].Note, "location /: there") {
		t.Errorf("a proxy_pass in a block: %+v", found)
	}
}
