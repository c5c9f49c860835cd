//go:build linux && (amd64 || arm64)

package engine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
)

func get(url string) load.Target { return load.Target{Method: "GET", URL: url} }

func plan(t testing.TB, n int, targets ...load.Target) load.Plan {
	t.Helper()
	s, err := load.Constant(float64(n)*1000, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return load.Plan{Schedule: s, Targets: targets}
}

type emptyStream struct{}

func (emptyStream) Next() (*load.Target, error) { return nil, io.EOF }

func TestChoice(t *testing.T) {
	web := get("http://127.0.0.1:1/")
	f := func(o Options, p load.Plan, name, why string) {
		t.Helper()
		e, got, err := New(o, p)
		if err != nil {
			t.Fatal(err)
		}
		e.proxy = noProxy
		chosen, _, err := e.choose(&p)
		if err != nil || chosen != name || got != why {
			t.Errorf("chosen is %s, %q, %v; want %s, %q", chosen, got, err, name, why)
		}
	}
	byHTTP := func(h nethttp.Options, why string) {
		t.Helper()
		f(Options{HTTP: h}, plan(t, 1, web), NetHTTP, why)
	}
	f(Options{}, plan(t, 1, web), EpollHTTP, "all targets are cleartext HTTP/1.1")
	f(Options{Engine: Auto}, plan(t, 1, web, get("HTTP://127.0.0.1:1/x?y")), EpollHTTP, "all targets are cleartext HTTP/1.1")
	f(Options{Engine: EpollHTTP}, plan(t, 1, web), EpollHTTP, "asked for")
	f(Options{Engine: NetHTTP}, plan(t, 1, web), NetHTTP, "asked for")
	f(Options{}, plan(t, 1, web, web, get("https://127.0.0.1:1/")), NetHTTP, "target 3 is https")
	f(Options{}, plan(t, 1, load.Target{Method: "CONNECT", URL: "http://127.0.0.1:1/"}), NetHTTP, "target 1 asks for a tunnel with CONNECT")
	f(Options{}, load.Plan{Schedule: plan(t, 1).Schedule, Stream: emptyStream{}}, NetHTTP, "targets are read while the load runs")
	byHTTP(nethttp.Options{H2C: true}, "HTTP/2 without TLS was asked for")
	byHTTP(nethttp.Options{Dial: nethttp.Dial{UnixSocket: "s"}}, "the target is a Unix socket")
	byHTTP(nethttp.Options{Dial: nethttp.Dial{DNSTTL: time.Minute}}, "names are to be looked up again during the load")
	byHTTP(nethttp.Options{Dial: nethttp.Dial{DNSTTL: -1}}, "names are to be looked up again during the load")
	// What has no meaning for cleartext HTTP/1.1 does not matter.
	f(Options{HTTP: nethttp.Options{NoHTTP2: true, TLS: nethttp.TLS{Insecure: true, Tickets: true}, ProxyHeader: http.Header{"A": {"b"}}}},
		plan(t, 1, web), EpollHTTP, "all targets are cleartext HTTP/1.1")
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

func TestChoice_Proxy(t *testing.T) {
	e, _, err := New(Options{}, load.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	e.proxy = func(r *http.Request) (*url.URL, error) {
		if r.URL.Hostname() == "127.0.0.1" {
			return nil, nil
		}
		return url.Parse("http://me:secret@proxy.test:3128")
	}
	p := plan(t, 1, get("http://127.0.0.1/"), get("http://10.0.0.1/{{seq}}"))
	name, why, err := e.choose(&p)
	if name != NetHTTP || why != "target 2 goes through the proxy http://me:xxxxx@proxy.test:3128" || err != nil {
		t.Errorf("chosen is %s, %q, %v", name, why, err)
	}
}

func TestNew_Failure(t *testing.T) {
	f := func(o Options, want string, targets ...load.Target) {
		t.Helper()
		if _, _, err := New(o, plan(t, 1, targets...)); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(Options{Engine: EpollHTTP}, "engine epollhttp: target 1 is https", get("https://127.0.0.1/"))
	f(Options{Engine: "fast"}, `bad engine "fast": want auto, epollhttp or nethttp`, get("http://127.0.0.1/"))
	f(Options{Pipeline: -1}, "bad number of requests in flight on one connection -1", get("http://127.0.0.1/"))
	f(Options{Pipeline: 2}, "pipelining needs the engine epollhttp, and this load has nethttp: target 1 is https", get("https://127.0.0.1/"))
	f(Options{Pipeline: 2, Engine: NetHTTP}, "pipelining needs the engine epollhttp, and this load has nethttp: asked for", get("http://127.0.0.1/"))
	f(Options{HTTP: nethttp.Options{Redirects: -9}}, "http engine: bad number of redirects -9")
	f(Options{}, `target 1, GET "ftp://h/": bad URL scheme "ftp": want http or https`, get("ftp://h/"))
	_, _, err := New(Options{Engine: EpollHTTP}, plan(t, 1, get("https://127.0.0.1/")))
	var c *ChoiceError
	if !errors.As(err, &c) || c.Hint() == "" {
		t.Errorf("error is %v", err)
	}
}

// run sends the plan and returns the hits in their order, without times.
func run(t testing.TB, o Options, p load.Plan) (kasoku.LoadSummary, []load.Hit) {
	t.Helper()
	e, why, err := New(o, p)
	if err != nil {
		t.Fatal(err)
	}
	var c loadtest.Collector
	sum, err := e.Run(t.Context(), p, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if sum.EngineWhy != why || o.Engine != "" && sum.Engine != o.Engine {
		t.Errorf("summary is %+v, want %s, %q", sum, o.Engine, why)
	}
	for i := range c.All() {
		h := &c.All()[i]
		if h.Sent < h.Due || h.Done < h.Sent {
			t.Errorf("bad times in %+v", h)
		}
		h.Due, h.Sent, h.Done = 0, 0, 0
	}
	return sum, c.All()
}

// TestRedirects: both engines follow in the same way and count it so.
func TestRedirects(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/see":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/twice":
			http.Redirect(w, r, "/keep", http.StatusTemporaryRedirect)
		case "/keep":
			http.Redirect(w, r, "/end", http.StatusPermanentRedirect)
		case "/away":
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/choices":
			w.Header().Set("Location", "/end")
			w.WriteHeader(http.StatusMultipleChoices)
			fmt.Fprint(w, "choose")
		case "/end":
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("N"), body)
		}
	}))
	defer srv.Close()
	f := func(redirects int) {
		t.Helper()
		var targets []load.Target
		for _, path := range []string{"/see", "/twice", "/keep", "/away", "/loop", "/choices", "/end"} {
			targets = append(targets, get(srv.URL+path), load.Target{Method: "POST", URL: srv.URL + path, Body: []byte("body")})
		}
		h := nethttp.Options{Redirects: redirects, SeqHeader: "N"}
		fastSum, fast := run(t, Options{Engine: EpollHTTP, HTTP: h}, plan(t, 2*len(targets), targets...))
		slowSum, slow := run(t, Options{Engine: NetHTTP, HTTP: h}, plan(t, 2*len(targets), targets...))
		for i := range slow {
			if fast[i] != slow[i] {
				t.Errorf("redirects %d, %s %s:\nepollhttp %+v\nnethttp   %+v", redirects, targets[slow[i].Target].Method, targets[slow[i].Target].URL, fast[i], slow[i])
			}
		}
		if fastSum.Redirected != slowSum.Redirected || redirects == 0 && fastSum.Redirected == 0 {
			t.Errorf("redirects %d: %d were followed by epollhttp, %d by nethttp", redirects, fastSum.Redirected, slowSum.Redirected)
		}
	}
	f(0)
	f(1)
	f(nethttp.RefuseRedirects)
	f(nethttp.NoFollow)
}

func TestForbidden(t *testing.T) {
	for _, name := range []string{EpollHTTP, NetHTTP} {
		var sent loadtest.Collector
		p := plan(t, 1, get("http://192.0.2.1/"))
		e, _, err := New(Options{Engine: name}, p)
		if err != nil {
			t.Fatal(err)
		}
		var forbidden *load.ForbiddenError
		if _, err := e.Run(t.Context(), p, time.Now(), &sent); !errors.As(err, &forbidden) || len(sent.All()) > 0 {
			t.Errorf("%s: error of the load is %v", name, err)
		}
		if err := e.Reach(t.Context(), p.Targets); !errors.As(err, &forbidden) || forbidden.Hint() == "" {
			t.Errorf("%s: error is %v", name, err)
		}
		if err := e.Permitted(t.Context(), p.Targets); !errors.As(err, &forbidden) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// TestConnectTo: the destinations of one source share its load in both engines.
func TestConnectTo(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	srv := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.Context().Value(http.LocalAddrContextKey).(interface{ String() string }).String()]++
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	one, two := srv(), srv()
	for _, name := range []string{EpollHTTP, NetHTTP} {
		mu.Lock()
		clear(seen)
		mu.Unlock()
		h := nethttp.Options{NoKeepAlive: true, Dial: nethttp.Dial{ConnectTo: []string{"a.test:80:" + one, "a.test:80:" + two}}}
		_, hits := run(t, Options{Engine: name, HTTP: h}, plan(t, 20, get("http://a.test/")))
		for _, h := range hits {
			if h.Code != 200 {
				t.Errorf("%s: bad hit %+v", name, h)
			}
		}
		mu.Lock()
		if seen[one] == 0 || seen[two] == 0 {
			t.Errorf("%s: requests went to %v", name, seen)
		}
		mu.Unlock()
	}
}

// TestLocalAddr: any address is what Vegeta's -laddr has as its default.
func TestLocalAddr(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go srv.Serve(ln)
	defer srv.Close()
	for _, name := range []string{EpollHTTP, NetHTTP} {
		_, hits := run(t, Options{Engine: name, HTTP: nethttp.Options{Dial: nethttp.Dial{LocalAddr: "0.0.0.0"}}}, plan(t, 1, get("http://"+ln.Addr().String()+"/")))
		if hits[0].Code != 200 {
			t.Errorf("%s: bad hit %+v", name, hits[0])
		}
	}
}

// TestPlanDecides: an engine that was made for one plan runs another as that one
// needs it.
func TestPlanDecides(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	e, why, err := New(Options{HTTP: nethttp.Options{TLS: nethttp.TLS{Insecure: true}}}, load.Plan{})
	if err != nil || !strings.Contains(why, "cleartext") {
		t.Fatal(why, err)
	}
	var c loadtest.Collector
	sum, err := e.Run(t.Context(), plan(t, 1, get(secure.URL)), time.Now(), &c)
	if err != nil || sum.Engine != NetHTTP || sum.EngineWhy != "target 1 is https" || c.All()[0].Code != 200 {
		t.Errorf("summary is %+v, %v, hits %+v", sum, err, c.All())
	}
}
