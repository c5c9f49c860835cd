package nethttp

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// TestMain silences net/http, which logs what hostile servers send.
func TestMain(m *testing.M) {
	if os.Getenv(sinkEnv) != "" {
		sink()
	}
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// attack sends n requests round robin, all at once, and returns what came of
// them in order.
func attack(t testing.TB, ctx context.Context, o Options, n int, targets ...load.Target) (kasoku.LoadSummary, []load.Hit) {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := load.Constant(float64(n)*1000, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	p := load.Plan{Schedule: sched, Targets: targets}
	var c loadtest.Collector
	rec := load.NewRecorder(p, 0)
	sum, err := e.Run(ctx, p, time.Now(), load.Tee(&c, rec))
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, c.All(), rec.Tally(0))
	if len(c.All()) != n {
		t.Fatalf("%d requests accounted for, want %d", len(c.All()), n)
	}
	return sum, c.All()
}

func checkAccounts(t testing.TB, hits []load.Hit, tally *kasoku.Tally) {
	t.Helper()
	for i, h := range hits {
		if h.N != uint64(i) {
			t.Fatalf("request %d is accounted for at place %d", h.N, i)
		}
		if ok := h.Code >= 200 && h.Code < 400; ok != (h.Err == "") {
			t.Errorf("request %d: code %d, error %q", i, h.Code, h.Err)
		}
		if h.Sent < h.Due || h.Done < h.Sent {
			t.Errorf("request %d: due %s, sent %s, done %s", i, h.Due, h.Sent, h.Done)
		}
	}
	var codes uint64
	for _, n := range tally.Codes {
		codes += n
	}
	if tally.Asked != codes || tally.Asked != uint64(len(hits)) {
		t.Errorf("asked %d, sum of codes %d, hits %d", tally.Asked, codes, len(hits))
	}
}

// first attacks once and returns the one hit.
func first(t testing.TB, o Options, target load.Target) load.Hit {
	t.Helper()
	_, hits := attack(t, t.Context(), o, 1, target)
	return hits[0]
}

func get(url string) load.Target { return load.Target{Method: "GET", URL: url} }

// TestHostileServer checks each way of failing by itself.
func TestHostileServer(t *testing.T) {
	s := loadtest.Start(t)
	f := func(path string, code int, want string) {
		t.Helper()
		timeout := DefaultTimeout
		if strings.Contains(want, "Timeout") {
			timeout = 500 * time.Millisecond
		}
		h := first(t, Options{Timeout: timeout}, get(s.URL(path)))
		want = strings.ReplaceAll(want, "URL", fmt.Sprintf("%q", s.URL(path)))
		if h.Code != code || !strings.Contains(h.Err, want) || (want == "") != (h.Err == "") {
			t.Errorf("%s: code %d, error %q; want %d, %q", path, h.Code, h.Err, code, want)
		}
	}
	f("/ok", 200, "")
	f("/fail", 500, "500 Internal Server Error")
	f("/teapot", 418, "418 \x1b[31mteapot")
	f("/reset", 0, "connection reset by peer")
	f("/half-body?end=reset", 0, "connection reset by peer")
	f("/hang", 0, "Get URL: context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
	f("/half-body?end=hang", 0, "context deadline exceeded (Client.Timeout or context cancellation while reading body)")
	f("/endless", 0, "context deadline exceeded (Client.Timeout or context cancellation while reading body)")
	f("/close", 0, "Get URL: EOF")
	f("/half-status", 0, "Get URL: ")
	f("/half-header", 0, "Get URL: ")
	f("/half-body", 0, "unexpected EOF")
	f("/half-chunk", 0, "unexpected EOF")
	f("/bad-chunk", 0, "invalid byte in chunk length")
	f("/garbage", 0, "malformed HTTP ")
	f("/negative", 0, "Content-Length")
	f("/two-lengths", 0, "Content-Length")
	f("/short-length", 200, "")
	f("/bad-header", 0, "malformed MIME header")
	f("/code-9999", 0, "malformed HTTP status code")
	f("/huge-header", 0, "Get URL: ")
	f("/many-continue", 0, "Get URL: ")
	f("/early", 200, "")
	f("/loop", 0, `Get "/loop": stopped after 10 redirects`)
	f("/bad-location", 0, "failed to parse Location header")
}

// TestHostileMix sends many requests to all wrong answers at once.
func TestHostileMix(t *testing.T) {
	s := loadtest.Start(t)
	targets := []load.Target{get(s.URL("/reset")), get(s.URL("/half-body?end=reset")), get(s.URL("/hang")), get(s.URL("/half-body?end=hang"))}
	for _, a := range loadtest.Answers() {
		if len(a.Bytes) < 1<<20 && !a.Surplus() {
			url := s.URL("/" + a.Name)
			targets = append(targets, get(url), load.Target{Method: "POST", URL: url, Body: []byte("x")})
		}
	}
	before := runtime.NumGoroutine()
	_, hits := attack(t, t.Context(), Options{Timeout: 300 * time.Millisecond, MaxInFlight: 64}, 10*len(targets), targets...)
	for _, h := range hits {
		// The server closes what it said it would keep, which a request may meet.
		excused := slices.ContainsFunc([]string{"not sent: ", "Timeout", "closed idle connection", ": EOF", "connection reset", "broken pipe"},
			func(s string) bool { return strings.Contains(h.Err, s) })
		if path := targets[h.Target].URL; strings.HasSuffix(path, "/ok") && h.Code != 200 && !excused {
			t.Errorf("a good answer counts as %d %q", h.Code, h.Err)
		}
	}
	waitForGoroutines(t, before+8) // the server's own may linger for its read deadline
}

func waitForGoroutines(t testing.TB, limit int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > limit; <-tick.C {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left, want at most %d:\n%s", runtime.NumGoroutine(), limit, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	h := first(t, Options{}, get("http://"+addr+"/x"))
	if want := fmt.Sprintf(`Get "http://%s/x": dial tcp %s: connect: connection refused`, addr, addr); h.Err != want || h.Code != 0 {
		t.Errorf("code %d, error %q, want %q", h.Code, h.Err, want)
	}
	h = first(t, Options{Dial: Dial{LocalAddr: "127.0.0.1"}}, get("http://"+addr+"/x"))
	if want := "dial tcp 127.0.0.1:0->" + addr + ": connect: connection refused"; !strings.HasSuffix(h.Err, want) {
		t.Errorf("error %q, want %q", h.Err, want)
	}
	h = first(t, Options{Timeout: 2 * time.Second}, get("http://no-such-host.invalid/"))
	if h.Code != 0 || h.Err == "" {
		t.Errorf("an unknown host gives %d %q", h.Code, h.Err)
	}
	h = first(t, Options{Dial: Dial{UnixSocket: filepath.Join(t.TempDir(), "none")}}, get("http://h/"))
	if h.Code != 0 || !strings.Contains(h.Err, "no such file") {
		t.Errorf("a missing socket gives %d %q", h.Code, h.Err)
	}
}

func TestReach(t *testing.T) {
	s := loadtest.Start(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + ln.Addr().String() + "/"
	ln.Close()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Reach(t.Context(), []load.Target{get(s.URL("/a")), get(s.URL("/b"))}); err != nil {
		t.Error(err)
	}
	err = e.Reach(t.Context(), []load.Target{get(s.URL("/a")), get(refused)})
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("target %q refuses: ", refused)) {
		t.Errorf("error is %v", err)
	}
	if h, ok := err.(interface{ Hint() string }); !ok || h.Hint() == "" {
		t.Error("no hint")
	}
	err = e.Reach(t.Context(), []load.Target{get(strings.Replace(refused, "http://", "http://me:secret@", 1))})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err = e.Reach(ctx, []load.Target{get("http://no-such-host.invalid/")})
	if h, ok := err.(interface{ Hint() string }); !ok || h.Hint() == "" {
		t.Errorf("an unknown host gives %v, without a hint", err)
	}
}

// echo answers with what it saw of the request.
func echo() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Proto, body)
	})
}

func TestBytesAreCounted(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Write(make([]byte, 100_000))
	}))
	defer srv.Close()
	f := func(o Options, in, out uint64) {
		t.Helper()
		h := first(t, o, load.Target{Method: "POST", URL: srv.URL, Body: []byte("12345")})
		if h.Code != 200 || h.BytesIn != in || h.BytesOut != out {
			t.Errorf("%+v, want %d in, %d out", h, in, out)
		}
	}
	f(Options{}, 100_000, 5)
	f(Options{Chunked: true}, 100_000, 5)
	f(Options{MaxBody: 10}, 10, 5)
	f(Options{MaxBody: 1 << 20}, 100_000, 5)
	f(Options{MaxBody: -1}, 0, 5)
}

func TestConnectionsAreKept(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		conns[r.RemoteAddr]++
	}))
	defer srv.Close()
	attack(t, t.Context(), Options{MaxInFlight: 1}, 20, get(srv.URL))
	if len(conns) != 1 {
		t.Errorf("%d connections for one request after the other, want 1", len(conns))
	}
	clear(conns)
	attack(t, t.Context(), Options{MaxInFlight: 1, NoKeepAlive: true}, 20, get(srv.URL))
	if len(conns) != 20 {
		t.Errorf("%d connections without keep-alive, want 20", len(conns))
	}
	clear(conns)
	attack(t, t.Context(), Options{MaxConnections: 2}, 50, get(srv.URL))
	if len(conns) > 2 {
		t.Errorf("%d connections, want at most 2", len(conns))
	}
}

func TestHeaders(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	raw := make(chan string, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			n, _ := c.Read(buf)
			raw <- string(buf[:n])
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}
	}()
	url := "http://" + ln.Addr().String() + "/p?q=1"
	f := func(o Options, header http.Header, want ...string) {
		t.Helper()
		first(t, o, load.Target{Method: "GET", URL: url, Header: header})
		got := strings.Split(strings.TrimSuffix(<-raw, "\r\n\r\n"), "\r\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	host := "Host: " + ln.Addr().String()
	f(Options{}, nil, "GET /p?q=1 HTTP/1.1", host, "User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip")
	f(Options{Header: http.Header{"X-a": {"0"}, "x-B": {"2"}}, SeqHeader: "X-Seq"},
		http.Header{"X-a": {"1", "1b"}, "accept-encoding": {"br"}},
		"GET /p?q=1 HTTP/1.1", host, "User-Agent: Go-http-client/1.1", "X-a: 1", "X-a: 1b", "x-B: 2", "accept-encoding: br", "X-Seq: 0")
	f(Options{}, http.Header{"host": {"example.com"}, "user-agent": {"me"}},
		"GET /p?q=1 HTTP/1.1", "Host: example.com", "user-agent: me", "Accept-Encoding: gzip")
}

func TestPasswordIsSentButNotShown(t *testing.T) {
	s := loadtest.Start(t)
	u := strings.Replace(s.URL("/close"), "http://", "http://me:secret@", 1)
	if h := first(t, Options{}, get(u)); strings.Contains(h.Err, "secret") || !strings.Contains(h.Err, "me:***@") {
		t.Errorf("error is %q", h.Err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); user != "me" || pass != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer srv.Close()
	if h := first(t, Options{}, get(strings.Replace(srv.URL, "http://", "http://me:secret@", 1))); h.Code != 200 {
		t.Errorf("code is %d", h.Code)
	}
}

func TestRedirects(t *testing.T) {
	srv := httptest.NewServer(redirector())
	defer srv.Close()
	f := func(path string, redirects, code int, in uint64, errText string) {
		t.Helper()
		h := first(t, Options{Redirects: redirects}, load.Target{Method: "POST", URL: srv.URL + path, Body: []byte("body")})
		if h.Code != code || h.BytesIn != in || h.Err != errText {
			t.Errorf("%s: code %d, %d bytes, error %q; want %d, %d, %q", path, h.Code, h.BytesIn, h.Err, code, in, errText)
		}
	}
	// The echo is "HTTP/1.1 " and the body, which a 303 takes away.
	f("/see", 0, 200, 9, "")
	f("/temporary", 0, 200, 9, "")
	f("/temporary", 2, 200, 9, "")
	f("/temporary", 1, 0, 0, `Post "/end": stopped after 1 redirects`)
	f("/keep", 0, 200, 13, "")
	f("/keep", NoFollow, 308, 0, "")
	f("/keep", RefuseRedirects, 0, 0, `Post "/end": stopped after 0 redirects`)
	f("/nowhere", 0, 302, 0, "")
}

func TestProtocols(t *testing.T) {
	plain := httptest.NewServer(echo())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(echo())
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	clear := httptest.NewUnstartedServer(echo())
	clear.Config.Protocols = new(http.Protocols)
	clear.Config.Protocols.SetUnencryptedHTTP2(true)
	clear.Start()
	defer clear.Close()

	f := func(o Options, url, proto string) {
		t.Helper()
		h := first(t, o, load.Target{Method: "POST", URL: url, Body: []byte("x")})
		// The size of the echo says which protocol was used.
		if want := uint64(len(proto + " x")); h.Code != 200 || h.BytesIn != want {
			t.Errorf("%+v, want code 200 and %d bytes", h, want)
		}
	}
	f(Options{}, plain.URL, "HTTP/1.1")
	f(Options{TLS: TLS{Insecure: true}}, secure.URL, "HTTP/2.0")
	f(Options{TLS: TLS{Insecure: true}, NoHTTP2: true}, secure.URL, "HTTP/1.1")
	f(Options{H2C: true}, clear.URL, "HTTP/2.0")

	if h := first(t, Options{}, get(secure.URL)); !strings.Contains(h.Err, "certificate") {
		t.Errorf("an unknown certificate gives %q", h.Err)
	}
	if h := first(t, Options{}, get(strings.Replace(plain.URL, "http:", "https:", 1))); !strings.HasSuffix(h.Err, ": http: server gave HTTP response to HTTPS client") {
		t.Errorf("HTTP on an HTTPS port gives %q", h.Err)
	}
	s := loadtest.Start(t)
	if h := first(t, Options{H2C: true, Timeout: time.Second}, get(s.URL("/ok"))); h.Code != 0 || h.Err == "" {
		t.Errorf("a server without h2c gives %d %q", h.Code, h.Err)
	}
}

func TestHTTP2ManyAtOnce(t *testing.T) {
	srv := httptest.NewUnstartedServer(echo())
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	_, hits := attack(t, t.Context(), Options{TLS: TLS{Insecure: true}, MaxConnections: 2}, 300, load.Target{Method: "POST", URL: srv.URL, Body: []byte("x")})
	for _, h := range hits {
		if h.Code != 200 {
			t.Fatalf("bad hit %+v", h)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "kasoku") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: echo()}
	go srv.Serve(ln)
	defer srv.Close()
	if h := first(t, Options{Dial: Dial{UnixSocket: filepath.Join(dir, "s")}}, get("http://no-such-host.invalid/")); h.Code != 200 {
		t.Errorf("bad hit %+v", h)
	}
}
