package nginxconf

import (
	"errors"
	"strings"
	"testing"
)

const before = `events {}
http {
    # a proxy
    access_log /var/log/access.log; # all
    upstream app {
        server 127.0.0.1:8080;
    }
    server {
        listen 81;
        return 404;
    }
    server {
        listen 80;
        location /api/ {
            proxy_set_header Host $host;
            proxy_set_header Connection close;
            proxy_pass http://app;
        }
        location / { root /www; }
    }
}
`

func TestEdit(t *testing.T) {
	for _, c := range []struct{ name, context, lines, old, new string }{
		{"end of a block", "upstream app", "keepalive 64;", "        server 127.0.0.1:8080;\n", "        server 127.0.0.1:8080;\n        keepalive 64;\n"},
		{"one of several", "location /api/", "proxy_http_version 1.1;\nproxy_set_header Connection \"\";",
			"proxy_set_header Connection close;\n            proxy_pass http://app;\n",
			"proxy_set_header Connection \"\";\n            proxy_pass http://app;\n            proxy_http_version 1.1;\n"},
		{"in place of", "http", "access_log off;", "access_log /var/log/access.log; # all", "access_log off; # all"},
		{"start of http", "http", "map $http_user_agent $bot {\n    default 0;\n    ~bot 1;\n}", "http {\n",
			"http {\n    map $http_user_agent $bot {\n        default 0;\n        ~bot 1;\n    }\n"},
		{"one line", "location /", "expires 1d;", "{ root /www; }", "{ root /www; \n            expires 1d;\n        }"},
		{"of several servers the one that proxies", "server", "gzip on;", "        location / { root /www; }\n", "        location / { root /www; }\n        gzip on;\n"},
		{"a block", "location /api/", "if ($bot) {\n    return 503;\n}", "            proxy_pass http://app;\n",
			"            proxy_pass http://app;\n            if ($bot) {\n                return 503;\n            }\n"},
		{"the top", "", "worker_rlimit_nofile 65536;", "events {}\n", "worker_rlimit_nofile 65536;\nevents {}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(before, c.old) {
				t.Fatalf("%q is not there", c.old)
			}
			want := strings.Replace(before, c.old, c.new, 1)
			got, err := Edit(before, c.context, c.lines)
			if err != nil || got != want {
				t.Fatalf("error %v, got\n%s\nwant\n%s", err, got, want)
			}
			if again, err := Edit(got, c.context, c.lines); err != nil || again != got {
				t.Errorf("again: error %v, got\n%s", err, again)
			}
		})
	}
}

func TestEditRemovesTheOthers(t *testing.T) {
	got, err := Edit("server {\n  gzip off;\n  listen 80;\n  gzip off;\n}\n", "server", "gzip on;")
	if want := "server {\n  gzip on;\n  listen 80;\n}\n"; err != nil || got != want {
		t.Errorf("error %v, got %q, want %q", err, got, want)
	}
}

func TestEditRefuses(t *testing.T) {
	if _, err := Edit(before, "location /none", "expires 1d;"); !errors.Is(err, ErrNoContext) {
		t.Errorf("no such context: %v", err)
	}
	var syntax *SyntaxError
	if _, err := Edit("http {", "http", "gzip on;"); !errors.As(err, &syntax) {
		t.Errorf("bad text: %v", err)
	}
	if _, err := Edit(before, "http", "gzip on"); !errors.As(err, &syntax) {
		t.Errorf("bad directive: %v", err)
	}
	if _, err := Edit("# configuration file /etc/nginx/nginx.conf:\nhttp {}\n", "http", "gzip on;"); err == nil {
		t.Error("a dump was edited")
	}
}

// FuzzEdit: what was good stays good, has what was asked for, and is the same when it
// is edited again.
func FuzzEdit(f *testing.F) {
	for _, s := range []struct{ context, lines string }{
		{"http", "access_log off;"}, {"location /api/", "if ($bot) {\n return 503; }"}, {"upstream app", "keepalive 64;keepalive_requests 9;"},
		{"", "user x;"}, {"server", "gzip on; gzip on;"}, {"location /", "a \"x;\ny\";"},
	} {
		f.Add(before, s.context, s.lines)
	}
	f.Add("server{a b;}server{}", "server", "c;")
	f.Fuzz(func(t *testing.T, text, context, lines string) {
		got, err := Edit(text, context, lines)
		if err != nil {
			return
		}
		conf, err := Parse(got, "")
		if err != nil {
			t.Fatalf("%q in %q of %q: %v\n%s", lines, context, text, err, got)
		}
		if want, _ := Parse(lines, ""); len(want) > 0 && len(conf) == 0 {
			t.Fatalf("%q in %q of %q: nothing is left", lines, context, text)
		}
		if again, err := Edit(got, context, lines); err == nil && again != got {
			t.Fatalf("%q in %q of %q: first\n%s\nagain\n%s", lines, context, text, got, again)
		}
	})
}
