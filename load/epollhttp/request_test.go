package epollhttp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
)

// A listener keeps the bytes of requests.
type listener struct {
	net.Listener
	mu  sync.Mutex
	got []string
}

func listen(t testing.TB) *listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: ln}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { l.serve(c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return l
}

func (l *listener) serve(c net.Conn) {
	defer c.Close()
	var raw bytes.Buffer
	br := bufio.NewReader(io.TeeReader(c, &raw))
	for {
		raw.Reset()
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		l.mu.Lock()
		l.got = append(l.got, raw.String())
		l.mu.Unlock()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// sent returns the bytes of the first n requests that the net/http engine sends.
func (l *listener) sent(t testing.TB, target load.Target, o Options, n int) ([]string, []load.Hit) {
	t.Helper()
	e, err := nethttp.New(nethttp.Options{
		MaxInFlight: 1, NoKeepAlive: o.NoKeepAlive, Chunked: o.Chunked, Header: o.Header, SeqHeader: o.SeqHeader,
	})
	if err != nil {
		t.Fatal(err)
	}
	sched, err := load.Constant(float64(n)*1000, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	var c loadtest.Collector
	if _, err := e.Run(context.Background(), load.Plan{Schedule: sched, Targets: []load.Target{target}}, time.Now(), &c); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	hits := c.All()
	if len(got) != n || len(hits) != n {
		t.Fatalf("%d requests came and %d were counted, want %d: %+v", len(got), len(hits), n, hits)
	}
	return got, hits
}

func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	l := listen(t)
	host := l.Addr().String()
	table, err := load.ReadTable(strings.NewReader("name,path,empty\nJ Doe,a/b,\n\u00e9 x,\u00e9 \u00e9, \n"), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	f := func(method, path string, header http.Header, body string, o Options) {
		t.Helper()
		target := load.Target{Method: method, URL: "http://" + host + path, Header: header, Body: []byte(body)}
		if strings.HasPrefix(path, "//") {
			target.URL = "http:" + strings.Replace(path, "HOST", host, 1)
		}
		fill, err := load.NewFill(load.FillOptions{URL: target.URL, Header: header, Body: target.Body, Seed: 1, Table: table})
		if err != nil {
			t.Fatal(err)
		}
		target.Fill = fill
		ts, err := newTemplates([]load.Target{target}, &o)
		if err != nil {
			t.Fatal(err)
		}
		const n = 4
		want, hits := l.sent(t, target, o, n)
		for i := range n {
			got, size := ts[0].append([]byte("before"), uint64(i))
			got = append(got, ts[0].bulk...)
			if string(got) != "before"+want[i] || size != hits[i].BytesOut {
				t.Errorf("request %d, with %d bytes of body:\n%q, want %d:\n%q", i, size, got, hits[i].BytesOut, want[i])
			}
		}
		if fixed, size, ok := ts[0].static(); ok != (fill == nil && o.SeqHeader == "") || ok && (string(fixed)+string(ts[0].bulk) != want[0] || size != hits[0].BytesOut) {
			t.Errorf("static: %v, %q", ok, fixed)
		}
		if ts[0].host != host {
			t.Errorf("host is %q", ts[0].host)
		}
	}
	long := strings.Repeat("0123456789", 700)
	f("GET", "", nil, "", Options{})
	f("GET", "/p/a%20b/../c?q=1&r=a+b#fragment", nil, "", Options{})
	f("GET", "?q", nil, "", Options{NoKeepAlive: true})
	f("GET", "/x", nil, "body of a get", Options{})
	f("GET", "/x", nil, "body of a get", Options{Chunked: true})
	f("GET", "/x", nil, "b", Options{Chunked: true})
	f("HEAD", "/x", nil, "", Options{})
	f("POST", "/x", nil, "", Options{})
	f("POST", "/x", nil, "", Options{Chunked: true})
	f("POST", "/x", nil, long, Options{})
	f("POST", "/x", nil, long, Options{Chunked: true})
	f("POST", "/x", nil, strings.Repeat(long, 9), Options{})
	f("POST", "/x?{{seq}}", nil, strings.Repeat(long, 9), Options{Chunked: true, SeqHeader: "X-Seq"})
	f("POST", "/x", nil, strings.Repeat(long, 9)+"{{seq}}", Options{})
	f("PUT", "/x", nil, "abc", Options{NoKeepAlive: true, SeqHeader: "X-Seq"})
	f("DELETE", "/x", http.Header{"Idempotency-Key": {"1"}}, "", Options{})
	f("WEIRD", "/x", nil, "abc", Options{})
	f("GET", "//me:secret@HOST/x", nil, "", Options{})
	f("GET", "/x", http.Header{"x-lower": {"1", "2 "}, "Host": {"other"}, "user-agent": {"me"}, "accept-encoding": {"br"}}, "", Options{Header: http.Header{"X-lower": {"0"}, "x-lower": {"9"}}})
	f("GET", "/x", http.Header{"User-Agent": {""}, "Range": {"bytes=0-1"}, "Connection": {"close"}, "Content-Length": {"7"}, "Transfer-Encoding": {"chunked"}}, "", Options{NoKeepAlive: true})
	f("GET", "/x", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}}, "", Options{NoKeepAlive: true})
	f("POST", "/x", http.Header{"Expect": {"100-continue"}, "content-length": {"3"}}, "abc", Options{})

	f("GET", "/u/{{uuid}}/{{csv.path}}?n={{csv.name}}&{{seq}}#{{no}}", nil, "", Options{})
	f("GET", "?{{seq}}", nil, "", Options{NoKeepAlive: true, SeqHeader: "A-Seq"})
	f("GET", "//me:secret@HOST/\u00e9 {{int 1 100000}}", nil, "", Options{})
	f("GET", "/x", http.Header{"X-A": {"{{csv.empty}} {{seq}} ", "two"}, "X-B": {"{{csv.name}}"}, "Host": {"h{{int 10 99}}"}, "User-Agent": {"{{hex 8}}"}, "Content-Length": {"{{seq}}"}}, "", Options{})
	f("GET", "/x", http.Header{"X-Seq": {"{{uuid}}"}}, "", Options{SeqHeader: "X-Seq"})
	f("POST", "/{{alnum 5}}", http.Header{"X-Z": {"{{seq}}"}}, "static", Options{})
	f("POST", "/x", http.Header{"X-Z": {"{{seq}}"}}, "{{alnum 7}} {{pick a|bcdefghijklmnopq|}}", Options{SeqHeader: "X-Seq"})
	f("POST", "/x", nil, "{{pick |a|ab}}", Options{})
	f("GET", "/x", nil, "{{pick |a|ab}}", Options{})
	f("POST", "/x", nil, "{{pick |a|ab|abcdefghijklmnopqrstuvwxyz}}", Options{Chunked: true, NoKeepAlive: true})
	f("GET", "/x", nil, "{{pick |a|ab|abcdefghijklmnopqrstuvwxyz}}", Options{Chunked: true})
}

func TestNewTemplates_Failure(t *testing.T) {
	f := func(target load.Target, want string) {
		t.Helper()
		if _, err := newTemplates([]load.Target{target}, &Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(load.Target{Method: "GET", URL: "https://h/"}, `target 1, GET "https://h/": bad URL scheme "https"`)
	f(load.Target{Method: "G T", URL: "http://h/"}, "invalid method")
	f(load.Target{Method: "GET", URL: "/path"}, `bad URL scheme ""`)
	f(load.Target{Method: "GET", URL: "http:///path"}, "no host")
	f(load.Target{Method: "GET", URL: "http://h/", Header: http.Header{"GET http": {"x"}}}, `bad header name "GET http"`)
	f(load.Target{Method: "GET", URL: "http://h/", Header: http.Header{"X": {"a\nb"}}}, `bad value "a\nb" of header "X"`)
}

func TestTemplate(t *testing.T) {
	f := func(method, url, host string, head, idempotent bool, header http.Header, wrapped string) {
		t.Helper()
		one, err := newTemplate(&load.Target{Method: method, URL: url, Header: header}, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		if one.host != host || one.head != head || one.idempotent != idempotent {
			t.Errorf("%s %s: host %q, head %v, idempotent %v", method, url, one.host, one.head, one.idempotent)
		}
		if got := one.wrap(0, io.EOF).Error(); got != wrapped {
			t.Errorf("%s, want %s", got, wrapped)
		}
	}
	f("GET", "http://h", "h:80", false, true, nil, `Get "http://h": EOF`)
	f("HEAD", "http://[::1]:8080/x", "[::1]:8080", true, true, nil, `Head "http://[::1]:8080/x": EOF`)
	f("POST", "http://me:secret@\u00e9.example/x", "xn--9ca.example:80", false, false, nil, `Post "http://me:***@%C3%A9.example/x": EOF`)
	f("GET", "http://\u00c9.example/x", "xn--9ca.example:80", false, true, nil, `Get "http://%C3%89.example/x": EOF`)
	f("PUT", "http://h:81/", "h:81", false, true, http.Header{"Idempotency-Key": {"1"}}, `Put "http://h:81/": EOF`)
	fill, err := load.NewFill(load.FillOptions{URL: "http://h/{{seq}}"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := newTemplate(&load.Target{Method: "GET", URL: "http://h/{{seq}}", Fill: fill}, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := one.wrap(7, io.EOF).Error(); got != `Get "http://h/7": EOF` {
		t.Error(got)
	}
}

func BenchmarkTemplate(b *testing.B) {
	fill, err := load.NewFill(load.FillOptions{
		URL: "http://h/users/{{int 1 100000}}", Header: http.Header{"X-Id": {"{{uuid}}"}}, Body: []byte(`{"name":"{{alnum 12}}"}`),
	})
	if err != nil {
		b.Fatal(err)
	}
	bench := func(name string, target load.Target, o Options) {
		b.Run(name, func(b *testing.B) {
			t, err := newTemplate(&target, &o)
			if err != nil {
				b.Fatal(err)
			}
			var dst []byte
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				dst, _ = t.append(dst[:0], n)
			}
		})
	}
	bench("places=none", load.Target{Method: "GET", URL: "http://h/users/1"}, Options{})
	bench("places=seq", load.Target{Method: "GET", URL: "http://h/users/1"}, Options{SeqHeader: "X-Seq"})
	bench("places=url,header,body", load.Target{Method: "POST", URL: "http://h/", Fill: fill}, Options{})
}
