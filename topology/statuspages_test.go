package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

func TestStatusURLs(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		conf, err := nginxconf.Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		for i, d := range conf {
			if d.Words[0] == "stub_status" {
				got = strings.Join(statusURLs(conf, i), " ")
			}
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	server := func(listen string) string {
		return "http { server { " + listen + " location = /s { allow 127.0.0.1; stub_status; } location / { } } }"
	}
	f(server("listen 80;"), "http://127.0.0.1/s")
	f(server(""), "http://127.0.0.1/s")
	f(server("listen 127.0.0.1:8080 default_server; listen [::1]:81;"), "http://127.0.0.1:8080/s http://[::1]:81/s")
	f(server("listen *:8080; listen [::]:8080;"), "http://127.0.0.1:8080/s")
	f(server("listen localhost:9;"), "http://127.0.0.1:9/s")
	f(server("listen unix:/run/s.sock; listen 10.0.0.1:80; listen 443 ssl;"), "")
	f("http { server { listen 80; location ^~ /a { location /a/b { stub_status on; } } } }", "http://127.0.0.1/a/b")
	f("http { server { listen 80; location ~ ^/s$ { stub_status; } } }", "")
	f("http { server { listen 80; stub_status; } }", "")
}

func TestCarbonSettings(t *testing.T) {
	f := func(isGo bool, text, want string) {
		t.Helper()
		storage, port := carbonSettings([]byte(text), isGo)
		if got := storage + " " + port; got != want {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
	f(false, "[cache]\nSTORAGE_DIR    = /var/lib/graphite/\nLOCAL_DATA_DIR = /var/lib/graphite/whisper/\n#CACHE_QUERY_PORT = 1\n", "/var/lib/graphite/whisper 7002")
	f(false, "[cache]\nSTORAGE_DIR = /x\nCACHE_QUERY_PORT = 7102\n[relay]\nSTORAGE_DIR = /y\n", "/x/whisper 7102")
	f(false, "", " 7002")
	f(true, "[whisper]\ndata-dir = \"/data\"\n[carbonlink]\nlisten = \"127.0.0.1:7003\"\nenabled = true\n", "/data 7003")
	f(true, "[carbonlink]\nlisten = \"127.0.0.1:7003\"\nenabled = false\n", "/var/lib/graphite/whisper/ ")
	f(true, "[common]\n", "/var/lib/graphite/whisper/ 7002")
}

func TestRedis(t *testing.T) {
	tcp := func(address string, port int, loopback bool) Listener {
		return Listener{Network: "tcp", Address: address, Port: port, Loopback: loopback}
	}
	private := tcp("127.0.0.1:6379", 6379, true)
	private.Private = true
	for _, c := range []struct {
		says   string
		listen []Listener
		want   CacheServer
		asked  string
	}{
		{"+PONG\r\n", []Listener{tcp("127.0.0.1:6379", 6379, true)}, CacheServer{Address: "127.0.0.1:6379"}, "127.0.0.1:6379"},
		{"-NOAUTH x", []Listener{tcp("0.0.0.0:6379", 6379, false)}, CacheServer{Address: "127.0.0.1:6379", Password: true}, "127.0.0.1:6379"},
		{"HTTP/1.1 400", []Listener{tcp("127.0.0.1:80", 80, true)}, CacheServer{}, "127.0.0.1:80"},
		{"+PONG", []Listener{private, tcp("10.0.0.1:6379", 6379, false)}, CacheServer{}, ""},
		{"+PONG", []Listener{private, {Network: "unix", Address: "/run/r.sock"}}, CacheServer{Address: "/run/r.sock"}, "/run/r.sock"},
		{"", []Listener{tcp("127.0.0.1:1", 1, true)}, CacheServer{}, "127.0.0.1:1 tls 127.0.0.1:1"},
		{"tls +PONG", []Listener{tcp("0.0.0.0:6379", 6379, false)}, CacheServer{Address: "rediss://127.0.0.1:6379", TLS: true}, "127.0.0.1:6379 tls 127.0.0.1:6379"},
		{"tls -NOAUTH", []Listener{tcp("127.0.0.1:6", 6, true)}, CacheServer{Address: "rediss://127.0.0.1:6", TLS: true, Password: true}, "127.0.0.1:6 tls 127.0.0.1:6"},
		{"tls ", []Listener{tcp("127.0.0.1:6", 6, true)}, CacheServer{Address: "rediss://127.0.0.1:6", TLS: true, Stranger: true}, "127.0.0.1:6 tls 127.0.0.1:6"},
		{"tls HTTP", []Listener{tcp("127.0.0.1:6", 6, true)}, CacheServer{}, "127.0.0.1:6 tls 127.0.0.1:6"},
	} {
		asked := ""
		a := asker{view: &view{}, ask: func(_ context.Context, network, address, _ string) (string, error) {
			says, secure := strings.CutPrefix(c.says, "tls ")
			if network == overTLS {
				asked += " tls "
			}
			asked += address
			if c.says == "" || secure != (network == overTLS) {
				return "", errors.New("refused")
			}
			return says, nil
		}}
		if got := a.redis(&Service{Listen: c.listen}); *got != c.want || asked != c.asked {
			t.Errorf("%+v: %+v, asked %q", c, *got, asked)
		}
	}
}

func TestVarnish(t *testing.T) {
	for _, c := range []struct{ args, call, says, want string }{
		{"varnishd -F -n /run/v -a :80", "varnishstat -1 -f MAIN.uptime -n /run/v", "MAIN.uptime 5 1.00 x", "{/run/v true}"},
		{"varnishd -F", "varnishstat -1 -f MAIN.uptime", "Could not open shared memory", "{ false}"},
	} {
		called := ""
		a := asker{view: &view{}, run: func(_ context.Context, path string, args ...string) ([]byte, error) {
			called = path + " " + strings.Join(args, " ")
			return []byte(c.says), nil
		}}
		if got := a.varnish(&subject{Service: &Service{}, args: strings.Fields(c.args)}, ""); fmt.Sprint(*got) != c.want || called != c.call {
			t.Errorf("%+v: %+v, called %q", c, *got, called)
		}
		if (len(a.view.notes) == 1) != (c.want == "{ false}") {
			t.Error(a.view.notes)
		}
	}
}

func FuzzCarbonSettings(f *testing.F) {
	f.Add("[cache]\nSTORAGE_DIR = /x\n", false)
	f.Add("[carbonlink]\nlisten = \":1\"\n", true)
	f.Fuzz(func(_ *testing.T, text string, isGo bool) { carbonSettings([]byte(text), isGo) })
}
