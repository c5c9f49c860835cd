package find

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTargets: the URLs of a command's words, with the name that its Host header gives.
func TestTargets(t *testing.T) {
	f := func(words, want string) {
		t.Helper()
		if got := strings.Join(Targets(strings.Split(words, "|")), ", "); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	f("wrk|-c|8|http://127.0.0.1/", "http://127.0.0.1/")
	f("wrk|-H|Host: shop.test|http://127.0.0.1/", "http://127.0.0.1/ shop.test")
	f("curl|-HHost:shop.test:80|http://127.0.0.1/a b", "http://127.0.0.1/a shop.test")
	f("vegeta|-header=host: shop.test|GET http://127.0.0.1/", "http://127.0.0.1/ shop.test")
	f("oha|--header|X-Host: a|http://127.0.0.1/", "http://127.0.0.1/")
	f("x|-H|Host: a|-H|Host: b|http://127.0.0.1/", "http://127.0.0.1/ a, http://127.0.0.1/ b")
	if got := Target("http://127.0.0.1/", http.Header{"host": {"{{int}}.test"}}); got != "http://127.0.0.1/ " {
		t.Errorf("a name for each request: %q", got)
	}
	for text, want := range map[string]string{
		"http://shop.test@127.0.0.1:81/": "127.0.0.1:81 127.0.0.1", "http://127.0.0.1 ": "127.0.0.1:80 ",
		"127.0.0.1:80": "127.0.0.1:80 ", "127.0.0.1:80 shop.test": "127.0.0.1:80 shop.test", "unix:/run/a shop.test": "/run/a shop.test",
	} {
		if p := placeOf(t.Context(), text); p.Address+" "+p.Host != want {
			t.Errorf("%s: %+v, want %s", text, p, want)
		}
	}
}

// TestListens: the words of a listen directive.
func TestListens(t *testing.T) {
	for text, want := range map[string]string{
		"80": "0.0.0.0:80", "*:81 default_server": "0.0.0.0:81!", "127.0.0.1": "127.0.0.1:80", "[::]:80 ipv6only=off": "[::]:80+",
		"[::1]": "[::1]:80", "localhost:82": "127.0.0.1:82 [::1]:82", "8000-8002": "0.0.0.0:8000-8002",
		"127.0.0.1:8000-8002": "127.0.0.1:8000-8002", "unix:/run/a.sock": "/run/a.sock", "shop.test:80": "10.1.1.1:80", "gone.test:80": "invalid AddrPort",
	} {
		var out []string
		for _, l := range listensOf(strings.Fields(text), func(host string) string { return strings.Replace(host, "shop.test", "10.1.1.1", 1) }) {
			s := l.Path
			if s == "" {
				s = l.At.String()
			}
			if l.Last > l.At.Port() {
				s += fmt.Sprint("-", l.Last)
			}
			if l.Both {
				s += "+"
			}
			if l.Default {
				s += "!"
			}
			out = append(out, s)
		}
		if got := strings.Join(out, " "); got != want {
			t.Errorf("listen %s: %s, want %s", text, got, want)
		}
	}
}

// sixSites is an nginx of sites on one port and two addresses; the last one is asked by the
// address that no other has.
const sixSites = `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log "{dir}/access.log";
server { listen 127.0.0.1:{port}; server_name *.shop.test; location / { proxy_pass http://{two}; } }
server { listen 127.0.0.1:{port} default_server; server_name b.test; location / { proxy_pass http://{two}; } }
server { listen 127.0.0.1:{port}; server_name www.shop.test www.shop.* .b.test; location / { proxy_pass http://{one}; } }
server { listen 127.0.0.1:{port}; server_name "~^(?<n>api\d{1,2})\.test$" *.eu.shop.test; location / { proxy_pass http://{one}; } }
server { listen 127.0.0.2:{port}; server_name shop.test; location / { proxy_pass http://{two}; } }
server { listen {port}; listen 127.0.0.2:{port}; server_name .shop.test ~web; location / { proxy_pass http://{one}; } }
}`

// TestFind_Sites: whichever name requests ask for, the application that nginx passes them on
// to is the member, and the other is none.
func TestFind_Sites(t *testing.T) {
	app := func() (at string) {
		dir := t.TempDir()
		at = free(t, dir, "tcp")
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		start(t, command.Spec{Path: exe, Env: []string{"KASOKU_TEST_FIND=1"}}, dir, at, "")
		return at
	}
	conf := strings.NewReplacer("{one}", app(), "{two}", app()).Replace(sixSites)
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: conf})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(web.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	answered := map[string]int{}
	for _, at := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		for _, host := range []string{"www.shop.test", "WWW.Shop.Test:80", "www.shop.test.", "shop.test", "a.shop.test", "a.eu.shop.test",
			"www.shop.org", "api1.test", "API12.test", "api123.test", "xapi1.test", "b.test", "c.b.test", "web.org", at, "other"} {
			url := "http://" + net.JoinHostPort(at, port) + "/"
			want := ask(t, url, host)
			r, err := Look(t.Context(), Ask{URLs: []string{Target(url, http.Header{"Host": {host}})}})
			if err != nil {
				t.Fatal(err)
			}
			answered[want]++
			var got []string
			for _, m := range r.Service.Of(kasoku.RoleApplication) {
				got = append(got, fmt.Sprint(m.Leader().PID))
			}
			if !slices.Equal(got, []string{want}) || len(r.Service.Unknown) > 0 {
				t.Errorf("%s at %s: members %v, answered %s; unknown %v", host, at, got, want, r.Service.Unknown)
			}
		}
	}
	if len(answered) != 2 {
		t.Errorf("answered: %v, want two applications", answered)
	}
}

// ask returns what a host's site answers.
func ask(t *testing.T, url, host string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
