//go:build amd64 || arm64

package epollhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
	"golang.org/x/sys/unix"
)

func get(url string) load.Target { return load.Target{Method: "GET", URL: url} }

func post(url, body string) load.Target {
	return load.Target{Method: "POST", URL: url, Body: []byte(body)}
}

func constant(t testing.TB, perSec float64, d time.Duration) load.Schedule {
	t.Helper()
	s, err := load.Constant(perSec, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// atOnce is a schedule of n requests that are due within a millisecond.
func atOnce(t testing.TB, n int) load.Schedule {
	t.Helper()
	return constant(t, float64(n)*1000, time.Millisecond)
}

// runLoad runs a load and returns what came of it, by number. Each request of an
// open loop is accounted for exactly once, and nothing remains open.
func runLoad(t testing.TB, ctx context.Context, o Options, sched load.Schedule, targets ...load.Target) (kasoku.LoadSummary, []load.Hit) {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	procs := runtime.GOMAXPROCS(0)
	var c loadtest.Collector
	sum, err := e.Run(ctx, load.Plan{Schedule: sched, Targets: targets}, time.Now(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("GOMAXPROCS is %d after the load and was %d before", n, procs)
	}
	checkHits(t, c.All(), sched, ctx.Err() == nil && o.Hard == nil)
	if want, bounded := sched.Total(); bounded && ctx.Err() == nil && uint64(len(c.All())) != want {
		t.Fatalf("%d requests are accounted for, want %d", len(c.All()), want)
	}
	return sum, c.All()
}

// checkHits fails when hits are missing, there twice or at odds with themselves.
// After a stop one shard may have sent one more than another.
func checkHits(t testing.TB, hits []load.Hit, sched load.Schedule, whole bool) {
	t.Helper()
	_, closed := sched.(*load.ClosedLoop)
	for i, h := range hits {
		if !closed && whole && h.N != uint64(i) || i > 0 && h.N == hits[i-1].N {
			t.Fatalf("request %d is accounted for at place %d", h.N, i)
		}
		if ok := h.Code >= 200 && h.Code < 400; ok != (h.Err == "") {
			t.Errorf("request %d: code %d, error %q", h.N, h.Code, h.Err)
		}
		if h.Sent < h.Due || h.Done < h.Sent {
			t.Errorf("request %d: due %s, sent %s, done %s", h.N, h.Due, h.Sent, h.Done)
		}
	}
}

// allGood fails unless every request was answered with 200.
func allGood(t testing.TB, hits []load.Hit) {
	t.Helper()
	for _, h := range hits {
		if h.Code != 200 {
			t.Fatalf("bad hit %+v", h)
		}
	}
}

// start serves with net/http.
func start(t testing.TB, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return srv
}

// talk serves each connection with f and returns host and port. conns counts them.
func talk(t testing.TB, f func(c *net.TCPConn, r *bufio.Reader, n int)) (addr string, conns *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns = new(atomic.Int64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			n := int(conns.Add(1)) - 1
			wg.Go(func() {
				defer c.Close()
				f(c.(*net.TCPConn), bufio.NewReader(c), n)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String(), conns
}

// readRequest reads a request with its body and returns its path, "" at the end.
func readRequest(r *bufio.Reader) string {
	req, err := http.ReadRequest(r)
	if err != nil {
		return ""
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return ""
	}
	return req.URL.Path
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

func TestOpenLoop(t *testing.T) {
	srv := start(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 1024)) })
	for _, pacing := range []load.Pacing{load.Precise, load.Economical} {
		for _, shards := range []int{1, 2} {
			sum, hits := runLoad(t, t.Context(), Options{Pacing: pacing, Shards: shards}, constant(t, 3000, 300*time.Millisecond), get(srv.URL+"/a"), post(srv.URL+"/b", "body"))
			allGood(t, hits)
			for _, h := range hits {
				if h.BytesIn != 1024 || h.BytesOut != 4*uint64(h.Target) || h.Step != 1 || h.Target != int(h.N%2) {
					t.Fatalf("bad hit %+v", h)
				}
			}
			if sum.Engine != "epollhttp" || sum.EngineWhy == "" || sum.Pacing != string(pacing) || sum.Shards != shards || sum.Model != load.ModelOpen ||
				sum.MaxInFlight == 0 || sum.PeakInFlight == 0 || sum.Connections == 0 || sum.Wall == 0 || sum.Stopped != "" || len(sum.Targets) != 2 {
				t.Errorf("bad summary %+v", sum)
			}
		}
	}
}

func TestStartLiesAhead(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) {})
	closed, err := load.Closed(300 * time.Millisecond) // a machine with other work begins late
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []load.Schedule{constant(t, 100, 20*time.Millisecond), closed} {
		e, err := New(Options{MaxInFlight: 2})
		if err != nil {
			t.Fatal(err)
		}
		var c loadtest.Collector
		began := time.Now()
		if _, err := e.Run(t.Context(), load.Plan{Schedule: s, Targets: []load.Target{get(srv.URL)}}, began.Add(50*time.Millisecond), &c); err != nil {
			t.Fatal(err)
		}
		checkHits(t, c.All(), s, false)
		if d := time.Since(began); d < 50*time.Millisecond || len(c.All()) < 2 {
			t.Errorf("%d requests in %s", len(c.All()), d)
		}
	}
}

func TestClosedLoop(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) {})
	f := func(o Options, s *load.ClosedLoop, least, most int) {
		t.Helper()
		sum, hits := runLoad(t, t.Context(), o, s, get(srv.URL))
		allGood(t, hits)
		for _, h := range hits {
			if h.Due != h.Sent || h.Step != 1 || h.Due >= s.End {
				t.Fatalf("bad hit %+v", h)
			}
		}
		if len(hits) < least || len(hits) > most || sum.PeakInFlight > o.MaxInFlight || sum.Pacing != "" || sum.Model != load.ModelClosed {
			t.Errorf("%d requests, want %d to %d; summary %+v", len(hits), least, most, sum)
		}
	}
	ms := time.Millisecond
	f(Options{MaxInFlight: 8}, &load.ClosedLoop{End: 100 * ms}, 16, 1e6)
	f(Options{MaxInFlight: 7, Shards: 2}, &load.ClosedLoop{End: 100 * ms}, 14, 1e6)
	f(Options{MaxInFlight: 8, Pipeline: 4}, &load.ClosedLoop{End: 100 * ms}, 16, 1e6)
	f(Options{MaxInFlight: 4}, &load.ClosedLoop{End: 100 * ms, ThinkMin: 30 * ms, ThinkMax: 40 * ms}, 8, 16)
	f(Options{MaxInFlight: 4}, &load.ClosedLoop{End: 50 * ms, ThinkMin: time.Hour, ThinkMax: time.Hour}, 4, 4)
}

func TestConnections(t *testing.T) {
	srv := start(t, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("hello")) })
	f := func(o Options, n int, least, most uint64) {
		t.Helper()
		sum, hits := runLoad(t, t.Context(), o, atOnce(t, n), get(srv.URL))
		allGood(t, hits)
		if sum.Connections < least || sum.Connections > most {
			t.Errorf("%d connections, want %d to %d", sum.Connections, least, most)
		}
	}
	f(Options{MaxInFlight: 1}, 20, 1, 1)
	f(Options{MaxInFlight: 1, NoKeepAlive: true}, 20, 20, 20)
	f(Options{MaxInFlight: 20, NoKeepAlive: true}, 200, 200, 200)
	f(Options{MaxConnections: 2}, 50, 1, 2)
	f(Options{MaxConnections: 1, Shards: 2}, 50, 1, 1)
	f(Options{MaxConnections: 5, Shards: 2}, 50, 2, 5)
	f(Options{MaxInFlight: 64, Pipeline: 16}, 640, 1, 4)
	f(Options{MaxInFlight: 64, Pipeline: 16, MaxConnections: 1}, 640, 1, 1)
	f(Options{MaxInFlight: 10, Shards: 3}, 1000, 1, 30)
}

func TestIdleConnections(t *testing.T) {
	var mu sync.Mutex
	idle, left := map[net.Conn]bool{}, -1
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		left = len(idle)
	}))
	srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		delete(idle, c)
		if s == http.StateIdle {
			idle[c] = true
		}
	}
	srv.Start()
	defer srv.Close()
	// Fifty at once, and one after a while: it sees what was kept.
	sched, err := load.Ladder([]float64{50_000, 1000}, time.Millisecond, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	_, hits := runLoad(t, t.Context(), Options{IdleConns: 3}, sched, get(srv.URL))
	allGood(t, hits)
	mu.Lock()
	defer mu.Unlock()
	if left > 2 {
		t.Errorf("%d more idle connections, want 2", left)
	}
}

func TestDialFailures(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	f := func(o Options, url, want string) {
		t.Helper()
		_, hits := runLoad(t, t.Context(), o, atOnce(t, 3), get(url))
		for _, h := range hits {
			if h.Code != 0 || h.Err != want {
				t.Errorf("error is %q, want %q", h.Err, want)
			}
		}
	}
	f(Options{}, "http://"+addr+"/x", fmt.Sprintf(`Get "http://%s/x": dial tcp %s: connect: connection refused`, addr, addr))
	f(Options{LocalAddr: "127.0.0.1"}, "http://"+addr, fmt.Sprintf(`Get "http://%s": dial tcp 127.0.0.1:0->%s: connect: connection refused`, addr, addr))
	f(Options{LocalAddr: "192.0.2.1"}, "http://"+addr, fmt.Sprintf(`Get "http://%s": dial tcp 192.0.2.1:0->%s: bind: cannot assign requested address`, addr, addr))
	f(Options{Resolve: func(context.Context, string) ([]netip.AddrPort, error) { return nil, errors.New("no idea") }}, "http://h:1/", `Get "http://h:1/": dial tcp: no idea`)
	f(Options{Resolve: func(context.Context, string) ([]netip.AddrPort, error) { return nil, nil }}, "http://h:1/", `Get "http://h:1/": dial tcp: missing address`)
}

func TestOutOfDescriptors(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) {})
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := before
	low.Cur = uint64(slices.Max(descriptors(t)) + 8)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var taken []int
	for {
		fd, err := unix.Dup(1)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	// Room for the shard's own, not for many connections.
	for _, fd := range taken[:8] {
		unix.Close(fd)
	}
	_, hits := runLoad(t, t.Context(), Options{MaxInFlight: 100, Timeout: time.Second}, atOnce(t, 100), get(srv.URL))
	for _, fd := range taken[8:] {
		unix.Close(fd)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	short := 0
	for _, h := range hits {
		if strings.HasSuffix(h.Err, ": socket: too many open files") {
			short++
		}
	}
	if short == 0 {
		t.Errorf("no request says that there are too many open files: %+v, limit %d", hits[:10], low.Cur)
	}
}

// descriptors are those that this process has open.
func descriptors(t testing.TB) (out []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var fd int
		fmt.Sscan(e.Name(), &fd)
		out = append(out, fd)
	}
	return out
}

func TestAddressesTakeTurns(t *testing.T) {
	serve := func(c *net.TCPConn, r *bufio.Reader, _ int) {
		for readRequest(r) != "" {
			io.WriteString(c, okAnswer)
		}
	}
	one, oneConns := talk(t, serve)
	two, twoConns := talk(t, serve)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := ln.Addr().String()
	ln.Close()
	o := Options{MaxInFlight: 1, NoKeepAlive: true, Resolve: func(_ context.Context, hostport string) ([]netip.AddrPort, error) {
		if hostport != "name:80" {
			t.Errorf("asked for %q", hostport)
		}
		return []netip.AddrPort{netip.MustParseAddrPort(one), netip.MustParseAddrPort(refused), netip.MustParseAddrPort(two)}, nil
	}}
	_, hits := runLoad(t, t.Context(), o, atOnce(t, 30), get("http://name/"))
	allGood(t, hits)
	if a, b := oneConns.Load(), twoConns.Load(); a != 10 || b != 20 {
		t.Errorf("%d and %d connections, want 10, and 20 with those that were refused elsewhere", a, b)
	}
}

func TestIPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) })}
	go srv.Serve(ln)
	defer srv.Close()
	_, hits := runLoad(t, t.Context(), Options{LocalAddr: "::1"}, atOnce(t, 5), get("http://"+ln.Addr().String()))
	allGood(t, hits)
}

func TestForbidden(t *testing.T) {
	asked := 0
	o := Options{Resolve: func(context.Context, string) ([]netip.AddrPort, error) {
		asked++
		return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("192.0.2.1:80")}, nil
	}}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var forbidden *load.ForbiddenError
	p := load.Plan{Schedule: atOnce(t, 1), Targets: []load.Target{get("http://h/"), get("http://h/2")}}
	if _, err := e.Run(t.Context(), p, time.Now(), &loadtest.Collector{}); !errors.As(err, &forbidden) || forbidden.Host != "h" {
		t.Errorf("error is %v", err)
	}
	if asked != 1 {
		t.Errorf("%d questions for one name", asked)
	}
}

func TestRun_Failure(t *testing.T) {
	f := func(o Options, p load.Plan, want string) {
		t.Helper()
		e, err := New(o)
		if err == nil {
			_, err = e.Run(t.Context(), p, time.Now(), &loadtest.Collector{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	s := atOnce(t, 1)
	f(Options{}, load.Plan{Schedule: s}, load.ErrNoTargets.Error())
	f(Options{}, load.Plan{Schedule: s, Stream: noStream{}}, "nethttp")
	f(Options{}, load.Plan{Schedule: s, Targets: []load.Target{get("https://h/")}}, "https")
	f(Options{MaxInFlight: -1}, load.Plan{}, "-1")
	f(Options{MaxConnections: -2}, load.Plan{}, "-2")
	f(Options{IdleConns: -3}, load.Plan{}, "-3")
	f(Options{Pipeline: -4}, load.Plan{}, "-4")
	f(Options{Shards: -5}, load.Plan{}, "-5")
	f(Options{Pacing: "lazy"}, load.Plan{}, `"lazy"`)
	f(Options{LocalAddr: "localhost"}, load.Plan{}, `"localhost"`)
}

type noStream struct{}

func (noStream) Next() (*load.Target, error) { return nil, io.EOF }

func TestResend(t *testing.T) {
	// Every connection answers once and is closed when it is used again.
	stale := func(c *net.TCPConn, r *bufio.Reader, _ int) {
		readRequest(r)
		io.WriteString(c, okAnswer)
		r.Peek(1)
	}
	addr, _ := talk(t, stale)
	one := Options{MaxInFlight: 1}
	sum, hits := runLoad(t, t.Context(), one, atOnce(t, 10), get("http://"+addr))
	allGood(t, hits)
	if sum.Resent != 9 || sum.Connections != 10 {
		t.Errorf("%d sent again, %d connections; want 9, 10", sum.Resent, sum.Connections)
	}
	// A request that may do harm twice is not sent twice.
	sum, hits = runLoad(t, t.Context(), one, atOnce(t, 10), post("http://"+addr, "body"))
	for i, h := range hits {
		if i%2 == 0 && h.Code != 200 || i%2 == 1 && !strings.Contains(h.Err, "EOF") && !strings.Contains(h.Err, "reset") {
			t.Errorf("bad hit %+v", h)
		}
	}
	if sum.Resent != 0 {
		t.Errorf("%d sent again", sum.Resent)
	}
	// Nor is one on a new connection, nor one whose answer had begun.
	addr, conns := talk(t, func(c *net.TCPConn, r *bufio.Reader, _ int) { readRequest(r) })
	sum, hits = runLoad(t, t.Context(), one, atOnce(t, 5), get("http://"+addr))
	if sum.Resent != 0 || conns.Load() != 5 || hits[0].Err != fmt.Sprintf(`Get "http://%s": EOF`, addr) {
		t.Errorf("%d sent again, %d connections, %q", sum.Resent, conns.Load(), hits[0].Err)
	}
	addr, _ = talk(t, func(c *net.TCPConn, r *bufio.Reader, _ int) {
		readRequest(r)
		io.WriteString(c, okAnswer)
		readRequest(r)
		io.WriteString(c, "H")
	})
	sum, hits = runLoad(t, t.Context(), one, atOnce(t, 4), get("http://"+addr))
	if sum.Resent != 0 || hits[1].Code != 0 || hits[2].Code != 200 {
		t.Errorf("%d sent again, %+v", sum.Resent, hits)
	}
	// Once is enough.
	addr, _ = talk(t, func(c *net.TCPConn, r *bufio.Reader, n int) {
		readRequest(r)
		if n == 0 {
			io.WriteString(c, okAnswer)
			r.Peek(1)
		}
	})
	sum, hits = runLoad(t, t.Context(), one, atOnce(t, 2), get("http://"+addr))
	if sum.Resent != 1 || sum.Connections != 2 || hits[1].Code != 0 {
		t.Errorf("summary %+v, %+v", sum, hits)
	}
}

func TestResendNeedsAConnection(t *testing.T) {
	// The second request finds its connection closed while the only other one that
	// is allowed is kept idle.
	addr, _ := talk(t, func(c *net.TCPConn, r *bufio.Reader, n int) {
		for i := 0; readRequest(r) != ""; i++ {
			if n == 0 && i == 1 {
				return
			}
			io.WriteString(c, okAnswer)
		}
	})
	_, hits := runLoad(t, t.Context(), Options{MaxConnections: 2, Timeout: 5 * time.Second}, atOnce(t, 40), get("http://"+addr))
	allGood(t, hits)
}

func TestPipeline(t *testing.T) {
	// The length of an answer says which request it belongs to.
	addr, conns := talk(t, func(c *net.TCPConn, r *bufio.Reader, n int) {
		for i := 0; ; i++ {
			path := readRequest(r)
			if path == "" {
				return
			}
			var size int
			fmt.Sscanf(path, "/%d", &size)
			last := n == 0 && i == 20
			head := ""
			if last {
				head = "Connection: close\r\n"
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, size, strings.Repeat("x", size))
			if last {
				return
			}
		}
	})
	targets := make([]load.Target, 7)
	for i := range targets {
		targets[i] = get(fmt.Sprintf("http://%s/%d", addr, i*i))
	}
	sum, hits := runLoad(t, t.Context(), Options{MaxInFlight: 10, Pipeline: 10}, atOnce(t, 700), targets...)
	allGood(t, hits)
	for _, h := range hits {
		if h.BytesIn != uint64(h.Target*h.Target) {
			t.Fatalf("request %d got the answer to another: %+v", h.N, h)
		}
	}
	if n := conns.Load(); n < 2 || n > 12 {
		t.Errorf("%d connections, %d sent again", conns.Load(), sum.Resent)
	}
}

func TestTimeout(t *testing.T) {
	h := loadtest.Start(t)
	o := Options{Timeout: time.Second} // the head of an answer comes in time also with other work
	_, hits := runLoad(t, t.Context(), o, atOnce(t, 8), get(h.URL("/hang")), get(h.URL("/ok?cut=39&end=hang")))
	for _, hit := range hits {
		want := fmt.Sprintf("Get %q: %v", h.URL("/hang"), nethttp.ErrTimeout)
		if hit.Target == 1 {
			want = nethttp.ErrBodyTimeout.Error()
		}
		if hit.Code != 0 || hit.Err != want || hit.Service() < o.Timeout {
			t.Errorf("bad hit %+v, want %q", hit, want)
		}
	}
	// Nothing accepts: the handshake itself gets no answer once the queue is full.
	ln := fullListener(t)
	o.Timeout = 150 * time.Millisecond
	_, hits = runLoad(t, t.Context(), o, atOnce(t, 600), get("http://"+ln))
	for _, hit := range hits {
		if hit.Code != 0 || !strings.HasSuffix(hit.Err, nethttp.ErrTimeout.Error()) {
			t.Errorf("bad hit %+v", hit)
		}
	}
}

// fullListener returns the address of a socket that accepts nothing.
func fullListener(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	return localAddr(int32(fd)).String()
}

func TestHandshakesAreBounded(t *testing.T) {
	h := fullListener(t)
	e, err := New(Options{Timeout: 200 * time.Millisecond, MaxInFlight: 5000, Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := len(descriptors(t))
	most := 0
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			most = max(most, len(descriptors(t)))
		}
	})
	var c loadtest.Collector
	_, err = e.Run(t.Context(), load.Plan{Schedule: atOnce(t, 5000), Targets: []load.Target{get("http://" + h)}}, time.Now(), &c)
	cancel()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.All()) != 5000 || most-before > maxDialing+20 {
		t.Errorf("%d hits, %d descriptors more than before", len(c.All()), most-before)
	}
}

// TestManyAtOnce: requests that come together are all on their way at once, also
// when they are more than the handshakes that may be under way.
func TestManyAtOnce(t *testing.T) {
	const n = 2*maxDialing + 50
	var mu sync.Mutex
	all := make(chan struct{})
	waiting := 0
	srv := start(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if waiting++; waiting == n {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-r.Context().Done():
		}
	})
	_, hits := runLoad(t, t.Context(), Options{Shards: 1, Timeout: 20 * time.Second}, atOnce(t, n), get(srv.URL))
	allGood(t, hits)
}

// TestManyFailAtOnce: no address, again and again, at once.
func TestManyFailAtOnce(t *testing.T) {
	_, hits := runLoad(t, t.Context(), Options{LocalAddr: "192.0.2.1"}, atOnce(t, 5000), get("http://127.0.0.1:1/"))
	for _, h := range hits {
		if !strings.HasSuffix(h.Err, "cannot assign requested address") {
			t.Fatalf("bad hit %+v", h)
		}
	}
}

func TestCapCountsTheWait(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) { <-time.After(20 * time.Millisecond) })
	for _, shards := range []int{1, 2} {
		sum, hits := runLoad(t, t.Context(), Options{MaxInFlight: 2, Shards: shards}, atOnce(t, 10), get(srv.URL))
		allGood(t, hits)
		var latency, delay time.Duration
		for _, h := range hits {
			latency, delay = max(latency, h.Latency()), max(delay, h.SendDelay())
		}
		if sum.PeakInFlight != 2 || latency < 80*time.Millisecond || delay < 60*time.Millisecond {
			t.Errorf("summary %+v, latency %s, send delay %s", sum, latency, delay)
		}
	}
}

func TestGiveUp(t *testing.T) {
	h := loadtest.Start(t)
	_, hits := runLoad(t, t.Context(), Options{MaxInFlight: 3, Timeout: 100 * time.Millisecond}, atOnce(t, 1000), get(h.URL("/hang")))
	late := 0
	for _, hit := range hits {
		if hit.Err == load.ErrNotSentLate.Error() {
			late++
		}
	}
	if late < 900 {
		t.Errorf("%d requests were given up", late)
	}
}

func TestLargeBodies(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	srv := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/big" && string(body) != big {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Write(body)
	})
	fill, err := load.NewFill(load.FillOptions{URL: srv.URL + "/", Body: []byte(big + "{{seq}}")})
	if err != nil {
		t.Fatal(err)
	}
	filled := post(srv.URL+"/", "")
	filled.Fill = fill
	for _, o := range []Options{{MaxInFlight: 4}, {MaxInFlight: 8, Pipeline: 4, SeqHeader: "N"}, {MaxInFlight: 4, Chunked: true}} {
		_, hits := runLoad(t, t.Context(), o, atOnce(t, 30), post(srv.URL+"/big", big), post(srv.URL+"/", "small"), filled)
		allGood(t, hits)
		for _, h := range hits {
			want := uint64([]int{len(big), 5, len(big) + len(strconv.FormatUint(h.N, 10))}[h.Target])
			if h.BytesIn != want || h.BytesOut != want {
				t.Errorf("bad hit %+v", h)
			}
		}
	}
}

// TestUnsentBodies: what a server does not read is kept once, not for each request.
func TestUnsentBodies(t *testing.T) {
	addr, _ := talk(t, func(c *net.TCPConn, r *bufio.Reader, _ int) { <-t.Context().Done() })
	body := strings.Repeat("x", 8<<20)
	s := constant(t, 1000, 50*time.Millisecond)
	target := post("http://"+addr+"/", body)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, hits := runLoad(t, t.Context(), Options{SeqHeader: "N", Timeout: 500 * time.Millisecond}, s, target)
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; len(hits) != 50 || n > 100 {
		t.Errorf("%d hits allocate %d MiB", len(hits), n)
	}
}

func TestMaxBody(t *testing.T) {
	srv := start(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 1000)) })
	for maxBody, want := range map[int64]uint64{0: 1000, -1: 0, 10: 10, 5000: 1000} {
		_, hits := runLoad(t, t.Context(), Options{MaxBody: maxBody}, atOnce(t, 3), get(srv.URL))
		if hits[0].BytesIn != want {
			t.Errorf("%d: %d bytes, want %d", maxBody, hits[0].BytesIn, want)
		}
	}
}

func TestFollow(t *testing.T) {
	srv := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
		}
	})
	var at atomic.Int64
	o := Options{MaxInFlight: 3, Follow: func(ctx context.Context, h *load.Hit, code int, location string) {
		if now := at.Add(1); now > 3 {
			t.Errorf("%d redirects at once, beyond the cap", now)
		}
		defer at.Add(-1)
		if _, ok := ctx.Deadline(); !ok || code != 302 || location != "/to" || h.Code != 0 || h.BytesIn != 0 {
			t.Errorf("bad redirect %d %q %+v", code, location, h)
		}
		<-time.After(10 * time.Millisecond)
		h.Code, h.BytesIn = 200, 7
	}}
	sum, hits := runLoad(t, t.Context(), o, atOnce(t, 20), get(srv.URL+"/from"), get(srv.URL+"/to"))
	allGood(t, hits)
	for _, h := range hits {
		if h.Target == 0 && (h.BytesIn != 7 || h.Service() < 10*time.Millisecond) {
			t.Errorf("bad hit %+v", h)
		}
	}
	if sum.Redirected != 10 || sum.Connections > 3 {
		t.Errorf("summary %+v", sum)
	}
	// Without Follow the answer is the answer.
	sum, hits = runLoad(t, t.Context(), Options{}, atOnce(t, 3), get(srv.URL+"/from"))
	if hits[0].Code != 302 || sum.Redirected != 0 {
		t.Errorf("%+v", hits[0])
	}
}

// TestHandedOverSoon: hits do not wait for a batch to be full.
func TestHandedOverSoon(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) {})
	var first time.Duration
	began := time.Now()
	sink := sinkFunc(func([]load.Hit) {
		if first == 0 {
			first = time.Since(began)
		}
	})
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), load.Plan{Schedule: constant(t, 2, time.Second), Targets: []load.Target{get(srv.URL)}}, began, sink); err != nil {
		t.Fatal(err)
	}
	if first > 400*time.Millisecond {
		t.Errorf("the first hit came after %s", first)
	}
}

type sinkFunc func([]load.Hit)

func (f sinkFunc) Hits(hits []load.Hit) { f(hits) }

// TestWithoutPwait2 runs on the timer that older kernels need.
func TestWithoutPwait2(t *testing.T) {
	p, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := p.addTimer(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{0, 1, 100 * time.Microsecond, 3 * time.Millisecond, 20 * time.Millisecond} {
		began := time.Now()
		events := p.block(d)
		for len(events) == 0 { // a signal
			events = p.block(d)
		}
		if slept := time.Since(began); slept < d-longWaitLead || slept > 5*time.Second || len(events) != 1 || events[0].Fd != slotTimer {
			t.Errorf("slept %s instead of %s, %d events", slept, d, len(events))
		}
	}
	p.interrupt()
	began := time.Now()
	if events := p.block(time.Minute); len(events) != 1 || events[0].Fd != slotWake || time.Since(began) > 10*time.Second {
		t.Errorf("was not woken: %v", events)
	}
}
