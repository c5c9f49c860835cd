package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/scenario"
)

// start starts a server of a function.
func start(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

// open returns an agent.
func open(t testing.TB, o Options) *Agent {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Minute // a test machine may be slow
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// get asks for a path and fails the test when that fails.
func get(t testing.TB, a *Agent, path string) *Response {
	t.Helper()
	return do(t, a, &Request{Path: path})
}

func do(t testing.TB, a *Agent, r *Request) *Response {
	t.Helper()
	res, err := a.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Proto", r.Proto)
	_ = json.NewEncoder(w).Encode(echoed{r.Method, r.RequestURI, r.Host, r.Header, string(body)})
}

type echoed struct {
	Method, URI, Host string
	Header            http.Header
	Body              string
}

func (e *echoed) of(t testing.TB, res *Response) *echoed {
	t.Helper()
	if err := res.JSON(e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRequest(t *testing.T) {
	plain := start(t, echo)
	tls := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	tls.EnableHTTP2 = true
	tls.StartTLS()
	t.Cleanup(tls.Close)
	long := strings.Repeat("long ", 100_000)
	for _, base := range []string{plain, tls.URL} {
		u, _ := url.Parse(base)
		u.User = url.UserPassword("me", "secret")
		a := open(t, Options{BaseURL: u.String(), Header: http.Header{"accept-language": {"ja"}, "X-Own": {"agent"}},
			TLS: tls.Client().Transport.(*http.Transport).TLSClientConfig})
		f := func(r *Request, want echoed) {
			t.Helper()
			for range 2 { // the second time on the connection of the first
				res := do(t, a, r)
				if proto := res.Header.Get("x-proto"); proto != map[bool]string{true: "HTTP/1.1", false: "HTTP/2.0"}[base == plain] {
					t.Errorf("by %s", proto)
				}
				got := new(echoed).of(t, res)
				if got.Method != want.Method || got.URI != want.URI || got.Host != u.Host || got.Body != want.Body {
					t.Errorf("%+v: got %.300v", r.Path, got)
				}
				want.Header["Accept-Language"] = []string{"ja"}
				for name, values := range want.Header {
					if !slices.Equal(got.Header[name], values) {
						t.Errorf("%s: got %s %q, want %q", r.Path, name, got.Header[name], values)
					}
				}
				if got.Header["Accept-Encoding"] == nil || len(got.Header["Authorization"]) != 1 {
					t.Errorf("%s: got header %v", r.Path, got.Header)
				}
				res.Release()
			}
		}
		f(&Request{Path: "/a?b=c"}, echoed{Method: "GET", URI: "/a?b=c", Header: http.Header{"User-Agent": {DefaultAgent}, "X-Own": {"agent"}, "Content-Length": nil}})
		f(&Request{Path: "/椅子 1?q=%20#part"}, echoed{Method: "GET", URI: "/%E6%A4%85%E5%AD%90%201?q=%20", Header: http.Header{}})
		f(&Request{Path: "x/../y"}, echoed{Method: "GET", URI: "/y", Header: http.Header{}})
		f(&Request{Path: "?q"}, echoed{Method: "GET", URI: "/?q", Header: http.Header{}})
		f(&Request{Method: "POST", Path: "/p", ContentType: "text/plain", Body: []byte("hi"), Header: http.Header{"User-Agent": {"me"}, "X-Own": {"1", "2"}, "Content-Type": {"x/y"}, "Host": {"other"}}},
			echoed{Method: "POST", URI: "/p", Body: "hi", Header: http.Header{"User-Agent": {"me"}, "X-Own": {"1", "2"}, "Content-Type": {"text/plain"}, "Content-Length": {"2"}}})
		f(&Request{Method: "PUT", Path: "/p"}, echoed{Method: "PUT", URI: "/p", Header: http.Header{"Content-Length": {"0"}}})
		f(&Request{Method: "DELETE", Path: "/p", Header: http.Header{"Cookie": {"a=b"}}}, echoed{Method: "DELETE", URI: "/p", Header: http.Header{"Cookie": {"a=b"}}})
		f(&Request{Method: "PURGE", Path: "/p", Body: []byte(long)}, echoed{Method: "PURGE", URI: "/p", Body: long, Header: http.Header{}})
		if n := a.Counts().Connections; n != 1 {
			t.Errorf("%s: %d connections were made, want 1", base, n)
		}
	}
}

func TestBadRequest(t *testing.T) {
	a := open(t, Options{BaseURL: start(t, echo)})
	for _, r := range []*Request{
		{Path: "%"}, {Path: "/a\x00"}, {Path: "/?a b"}, {Path: "ftp://127.0.0.1/"}, {Path: "http:///"}, {Path: "mailto:me"},
		{Path: "/", Method: "GE T"}, {Path: "/", Method: "\r\n"}, {Path: "/", ContentType: "a\r\nb: c"},
		{Path: "/", Header: http.Header{"a b": {"c"}}}, {Path: "/", Header: http.Header{"A": {"c\nd"}}},
	} {
		if res, err := a.Do(t.Context(), r); !scenario.Is(err, scenario.Internal) {
			t.Errorf("%+v: %+v, %v", r, res, err)
		}
	}
	if n := a.Counts().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{}, {BaseURL: "127.0.0.1:80"}, {BaseURL: "ftp://h"}, {BaseURL: "http://"}, {BaseURL: "http://h:x"}, {BaseURL: "http://me:secret@h:x/%"},
		{BaseURL: "http://h", MaxConns: -1}, {BaseURL: "http://h", MaxBody: -1}, {BaseURL: "http://h", MaxCache: -1},
		{BaseURL: "http://h", UserAgent: "a\n"}, {BaseURL: "http://h", Header: http.Header{"": {"x"}}}, {BaseURL: "http://h", Header: http.Header{"X": {"\r"}}},
	} {
		_, err := New(o)
		if err == nil {
			t.Errorf("%+v is taken", o)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is reported: %v", err)
		}
	}
}

// TestAddresses: nothing is dialled but what may be, wherever the request goes.
func TestAddresses(t *testing.T) {
	other := start(t, echo)
	for _, base := range []string{"http://192.0.2.1", "https://192.0.2.1", start(t, echo)} {
		a := open(t, Options{BaseURL: base})
		for _, path := range []string{"/", "http://192.0.2.1/", "https://192.0.2.1/"} {
			if base == a.base.String() && path == "/" && strings.Contains(base, "127.0.0.1") {
				continue
			}
			var forbidden *load.ForbiddenError
			if _, err := a.Get(t.Context(), "", path); !errors.As(err, &forbidden) {
				t.Errorf("%s, %s: %v", base, path, err)
			}
		}
		got := new(echoed).of(t, get(t, a, other+"/x"))
		if got.URI != "/x" || got.Header["Authorization"] != nil {
			t.Errorf("got %+v", got)
		}
	}
}

func TestHeader(t *testing.T) {
	h := Header{[]byte("Set-Cookie: a=b\r\nX:\r\nset-cookie:\tc=d \r\nETag: \"x:y\"\r\n")}
	if got := h.Get("SET-cookie"); got != "a=b" {
		t.Errorf("got %q", got)
	}
	if got := h.Values("Set-Cookie"); !slices.Equal(got, []string{"a=b", "c=d"}) {
		t.Errorf("got %q", got)
	}
	if h.Get("X") != "" || h.Get("Y") != "" || h.Values("Y") != nil || h.Get("etag") != `"x:y"` {
		t.Error("wrong values")
	}
	var all []string
	for name, value := range h.All() {
		all = append(all, name+"="+value)
	}
	if got := strings.Join(all, " "); got != `Set-Cookie=a=b X= set-cookie=c=d ETag="x:y"` {
		t.Errorf("got %s", got)
	}
}

func TestCookies(t *testing.T) {
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "17", Path: "/"})
			http.SetCookie(w, &http.Cookie{Name: "deep", Value: "x", Path: "/deep"})
			w.Header().Add("Set-Cookie", "=;;")
			return
		}
		echo(w, r)
	})
	a, without := open(t, Options{BaseURL: base}), open(t, Options{BaseURL: base, NoCookies: true})
	f := func(a *Agent, path, own, want string) {
		t.Helper()
		r := &Request{Path: path}
		if own != "" {
			r.Header = http.Header{"Cookie": {own}}
		}
		if got := strings.Join(new(echoed).of(t, do(t, a, r)).Header["Cookie"], "|"); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	f(a, "/", "", "")
	get(t, a, "/login")
	get(t, without, "/login")
	f(a, "/", "", "session=17")
	f(a, "/deep/er?x", "", "deep=x; session=17")
	f(a, "/", "own=1", "own=1; session=17")
	f(without, "/", "", "")
	f(without, "/", "own=1", "own=1")
}

func TestRedirectIsTheAnswer(t *testing.T) {
	var n atomic.Int64
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	res := get(t, open(t, Options{BaseURL: base}), "/here")
	if res.Status != http.StatusFound || res.Header.Get("Location") != "/there" || n.Load() != 1 {
		t.Errorf("got %d, %d requests", res.Status, n.Load())
	}
}

func TestUpload(t *testing.T) {
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"chairs", "other"} {
			file, h, err := r.FormFile(name)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			b, _ := io.ReadAll(file)
			fmt.Fprintf(w, "%s %s %s\n", h.Filename, h.Header.Get("Content-Type"), b)
		}
		fmt.Fprintln(w, r.FormValue("note"))
	})
	res, err := open(t, Options{BaseURL: base}).Upload(t.Context(), "", "/api/chair",
		File{Field: "chairs", Name: "chairs.csv", ContentType: "text/csv", Data: []byte("1,2")},
		File{Field: "other", Name: "a\"b.bin", Data: []byte("x")}, File{Field: "note", Data: []byte("hi")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Body), "chairs.csv text/csv 1,2\na\"b.bin application/octet-stream x\nhi\n"; got != want && got != strings.Replace(want, `"`, "%22", 1) {
		t.Errorf("got %d %q", res.Status, got)
	}
}

func TestJSON(t *testing.T) {
	a := open(t, Options{BaseURL: start(t, echo)})
	res, err := a.PostJSON(t.Context(), "", "/", map[string]string{"email": "a@b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := new(echoed).of(t, res); got.Body != `{"email":"a@b"}` || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %+v", got)
	}
	if _, err := a.PostJSON(t.Context(), "", "/", func() {}); err == nil {
		t.Error("a function is JSON")
	}
	if err := (&Response{Body: []byte("{} x")}).JSON(new(echoed)); err == nil {
		t.Error("what follows the value is ignored")
	}
}

// TestRecords: each request is counted once, with the words of the engines.
func TestRecords(t *testing.T) {
	h := loadtest.Start(t)
	var got []scenario.Record
	a := open(t, Options{BaseURL: h.URL(""), Timeout: 100 * time.Millisecond, Record: func(r scenario.Record) { got = append(got, r) }})
	f := func(r *Request, step string, code int, in, out uint64, text string) {
		t.Helper()
		got = nil
		if r.Timeout == 0 {
			r.Timeout = time.Minute
		}
		res, err := a.Do(t.Context(), r)
		if (err == nil) != (code > 0) || (res != nil) != (code > 0) {
			t.Errorf("%s: got %v, %v", step, res, err)
		}
		if len(got) != 1 {
			t.Fatalf("%s: %d records", step, len(got))
		}
		rec := got[0]
		if rec.Step != step || rec.Code != code || rec.BytesIn != in || rec.BytesOut != out || load.ErrorClass(rec.Err) != strings.ReplaceAll(text, "URL", h.URL("")) {
			t.Errorf("%s: got %+v", step, rec)
		}
		if rec.Sent.Before(rec.Due) || rec.Done.Before(rec.Sent) {
			t.Errorf("%s: due %s, sent %s, done %s", step, rec.Due, rec.Sent, rec.Done)
		}
	}
	f(&Request{Path: "/ok?x=y"}, "GET /ok", 200, 2, 0, "")
	f(&Request{Path: "/ok?x=y", Method: "POST", Body: []byte("body"), Step: "buy"}, "buy", 200, 2, 4, "")
	f(&Request{Path: "/not-found"}, "GET /not-found", 404, 2, 0, "404 Not Found")
	f(&Request{Path: "/to-ok"}, "GET /to-ok", 302, 0, 0, "")
	f(&Request{Path: "/half-body", Method: "POST", Body: []byte("body")}, "POST /half-body", 0, 4, 4, "unexpected EOF")
	f(&Request{Path: "/close", Method: "POST", Body: []byte("body")}, "POST /close", 0, 0, 0, `Post "URL/close": EOF`)
	f(&Request{Path: "/hang", Timeout: 50 * time.Millisecond}, "GET /hang", 0, 0, 0, `Get "URL/hang": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`)
	f(&Request{Path: "/half-body?end=hang", Timeout: time.Second}, "GET /half-body", 0, 4, 0, `context deadline exceeded (Client.Timeout or context cancellation while reading body)`)
	got = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Get(ctx, "", "/ok"); !scenario.Is(err, scenario.Canceled) || len(got) != 0 {
		t.Errorf("cancelled: %v, %v", err, got)
	}
}

// TestErrors: an error says method and path, and has its code.
func TestErrors(t *testing.T) {
	h := loadtest.Start(t)
	a := open(t, Options{BaseURL: h.URL("")})
	f := func(r *Request, code scenario.Code, text string) {
		t.Helper()
		_, err := a.Do(t.Context(), r)
		if scenario.CodeOf(err) != code || err.Error() != text {
			t.Errorf("got %s: %v", scenario.CodeOf(err), err)
		}
	}
	f(&Request{Path: "/hang?q", Timeout: 20 * time.Millisecond}, scenario.Timeout, "GET /hang: no answer within 20ms")
	f(&Request{Path: "/hang", Step: "GET /:id", Timeout: 20 * time.Millisecond}, scenario.Timeout, "GET /:id: no answer within 20ms")
	f(&Request{Path: "/half-body?end=hang", Timeout: time.Second}, scenario.Timeout, "GET /half-body: answer not complete within 1s")
	f(&Request{Path: "/close"}, scenario.Application, "GET /close: EOF")
	f(&Request{Path: "/half-body"}, scenario.Application, "GET /half-body: unexpected EOF")
	f(&Request{Path: "/ssh"}, scenario.Application, `GET /ssh: net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH_9.2"`)

	small := open(t, Options{BaseURL: h.URL(""), MaxBody: 10})
	for _, path := range []string{"/nginx", "/long-body", "/until-close", "/tiny-chunks"} {
		var long *http1.BodyTooLongError
		if _, err := small.Get(t.Context(), "", path); !errors.As(err, &long) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if res := get(t, small, "/ok"); string(res.Body) != "hi" {
		t.Errorf("got %q", res.Body)
	}
}

// TestContext: a request ends soon after its context, wherever it is then.
func TestContext(t *testing.T) {
	h := loadtest.Start(t)
	full := fullListener(t)
	for name, base := range map[string]string{"hang": h.URL("/hang"), "body": h.URL("/half-body?end=hang"), "dial": full} {
		u, _ := url.Parse(base)
		for _, deadline := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				a := open(t, Options{BaseURL: u.Scheme + "://" + u.Host, Timeout: -1})
				ctx, cancel := context.WithCancel(t.Context())
				want := scenario.Canceled
				if deadline {
					want = scenario.Timeout
				}
				if again && name != "dial" { // the context is known then
					for range 2 {
						if _, err := a.Get(ctx, "", "/ok"); err != nil {
							t.Fatal(err)
						}
					}
				}
				if deadline {
					ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
				} else {
					time.AfterFunc(20*time.Millisecond, cancel)
				}
				if _, err := a.Get(ctx, "", u.RequestURI()); !scenario.Is(err, want) {
					t.Errorf("%s: %v, want %s", name, err, want)
				}
				cancel()
				if name != "dial" {
					get(t, a, "/ok") // the agent is as before
				}
			}
		}
	}
}

// TestSpentContexts: contexts that end after their request strike no other one.
func TestSpentContexts(t *testing.T) {
	a := open(t, Options{BaseURL: loadtest.Start(t).URL(""), Timeout: time.Minute})
	for i := range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		for range i%3 + 1 {
			if _, err := a.Get(ctx, "", "/ok"); err != nil {
				t.Fatal(err)
			}
		}
		if i%2 == 0 {
			cancel()
		} else {
			defer cancel()
		}
	}
	if n := a.Counts().Connections; n != 1 {
		t.Errorf("%d connections were made, want 1", n)
	}
}

// TestSpentDeadlines: a connection outlives the deadlines of its requests.
func TestSpentDeadlines(t *testing.T) {
	a := open(t, Options{BaseURL: loadtest.Start(t).URL("")})
	for i := range 20 {
		timeout := time.Millisecond
		if i%2 == 0 {
			timeout = time.Minute
		}
		end := time.Now().Add(timeout)
		_, err := a.Do(t.Context(), &Request{Path: "/ok", Timeout: timeout})
		if err != nil && timeout == time.Minute {
			t.Fatal(err)
		}
		if timeout == time.Millisecond {
			<-time.After(time.Until(end))
		}
	}
}

// fullListener returns the URL of a server that accepts no more connections.
func fullListener(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	var held []net.Conn
	t.Cleanup(func() {
		for _, c := range held {
			c.Close()
		}
	})
	for range 1 << 14 {
		c, err := net.DialTimeout("tcp", ln.Addr().String(), 100*time.Millisecond)
		if err != nil {
			return "http://" + ln.Addr().String()
		}
		held = append(held, c)
	}
	t.Fatal("the listener takes everything")
	return ""
}

// TestMaxConns: requests beyond wait for their turn, and give up in time.
func TestMaxConns(t *testing.T) {
	var now, peak atomic.Int64
	release := make(chan struct{})
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		for n := now.Add(1); ; {
			p := peak.Load()
			if n <= p || peak.CompareAndSwap(p, n) {
				break
			}
		}
		defer now.Add(-1)
		if r.URL.Path == "/wait" {
			<-release
		}
	})
	a := open(t, Options{BaseURL: base, MaxConns: 3})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for range 20 {
				if _, err := a.Get(t.Context(), "", "/"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if p, n := peak.Load(), a.Counts().Connections; p > 3 || n > 3 {
		t.Errorf("%d requests at once on %d connections, at most 3 may be", p, n)
	}
	for range 3 {
		wg.Go(func() { _, _ = a.Get(t.Context(), "", "/wait") })
	}
	for now.Load() < 3 {
		runtime.Gosched()
	}
	if _, err := a.Do(t.Context(), &Request{Path: "/", Timeout: 10 * time.Millisecond}); !scenario.Is(err, scenario.Timeout) {
		t.Errorf("without a free connection: %v", err)
	}
	close(release)
	wg.Wait()
	get(t, a, "/")
}

// TestConcurrent: many goroutines share an agent, answers keep apart.
func TestConcurrent(t *testing.T) {
	base := start(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat(r.URL.Path, 1000))
	})
	a := open(t, Options{BaseURL: base})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for n := range 50 {
				path := fmt.Sprintf("/%d-%d", i, n)
				res, err := a.Get(t.Context(), "", path)
				if err != nil {
					t.Error(err)
					return
				}
				if string(res.Body) != strings.Repeat(path, 1000) {
					t.Errorf("%s: got %.20q", path, res.Body)
				}
				if n%2 == 0 {
					res.Release()
				}
			}
		})
	}
	wg.Wait()
}

// TestKept: what is not released stays as it is.
func TestKept(t *testing.T) {
	a := open(t, Options{BaseURL: start(t, echo)})
	var kept []*Response
	for i := range 100 {
		kept = append(kept, get(t, a, fmt.Sprintf("/%d", i)))
		res := get(t, a, "/other")
		res.Release()
		res.Release() // the second time it has no owner
	}
	for i, res := range kept {
		if got := new(echoed).of(t, res).URI; got != fmt.Sprintf("/%d", i) {
			t.Errorf("%d: got %s", i, got)
		}
	}
}

// TestClose: nothing is left, also of requests that end later.
func TestClose(t *testing.T) {
	h := loadtest.Start(t)
	before := runtime.NumGoroutine()
	a := open(t, Options{BaseURL: h.URL("")})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { get(t, a, "/ok") })
	}
	big := bytes.Repeat([]byte("x"), 4<<20)
	do(t, a, &Request{Method: "POST", Path: "/ok", Body: big})
	_, _ = a.Do(t.Context(), &Request{Method: "POST", Path: "/unread-reset", Body: big})
	_, _ = a.Do(t.Context(), &Request{Method: "POST", Path: "/hang", Body: big, Timeout: 20 * time.Millisecond})
	wg.Wait()
	a.Close()
	get(t, a, "/ok")
	a.site.mu.Lock()
	if a.site.open != 0 || len(a.site.idle) != 0 {
		t.Errorf("%d connections are open, %d idle", a.site.open, len(a.site.idle))
	}
	a.site.mu.Unlock()
	for runtime.NumGoroutine() > before { // those of the server end when they see it
		runtime.Gosched()
	}
}
